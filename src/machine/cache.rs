//! The figures of earlier measurements, in the user's cache folder.
//!
//! One JSON file. What is missing, damaged or of another machine is measured again; a file that cannot be
//! written only costs the next measurement.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use serde::{Deserialize, Serialize};

use super::{Bottleneck, DriveFigures, Figures, MEASURE_BYTES, MachineError, Place};
use crate::storage::{DeviceId, device_of};

/// Where figures are remembered.
#[derive(Debug, Clone)]
pub struct Cache {
    /// The file; none where the user has no cache folder.
    file: Option<PathBuf>,
}

/// What the file holds.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Remembered {
    #[serde(default)]
    machines: BTreeMap<String, Figures>,
    #[serde(default)]
    drives: BTreeMap<String, DriveFigures>,
    #[serde(default)]
    bottlenecks: Vec<Shared>,
}

/// Drives that share a bottleneck, by the keys of `Remembered::drives`.
#[derive(Debug, Serialize, Deserialize)]
struct Shared {
    drives: BTreeSet<String>,
    part: f64,
}

impl Shared {
    /// Whether this can have been measured: what a damaged file holds need not be.
    fn is_sound(&self) -> bool {
        self.drives.len() > 1 && self.part > 0.0 && self.part.is_finite()
    }
}

impl Cache {
    /// The user's: `gigafringe/figures.json` in the system's cache folder (`XDG_CACHE_HOME` where it is set).
    #[must_use]
    pub fn of_user() -> Self {
        let folder = etcetera::choose_base_strategy().ok().map(|strategy| strategy.cache_dir());
        Self { file: folder.map(|folder| folder.join("gigafringe").join("figures.json")) }
    }

    /// One in `file`.
    #[must_use]
    pub fn at(file: &Path) -> Self {
        Self { file: Some(file.into()) }
    }

    /// The figures for `threads` threads, measured if none are remembered or if `refresh`.
    pub fn figures(&self, threads: usize, refresh: bool) -> Result<Figures, MachineError> {
        self.figures_or(threads, refresh, || Figures::measure(threads))
    }

    fn figures_or(
        &self,
        threads: usize,
        refresh: bool,
        measure: impl FnOnce() -> Result<Figures, MachineError>,
    ) -> Result<Figures, MachineError> {
        if let Some(figures) = self.known_figures(threads).filter(|_| !refresh) {
            return Ok(figures);
        }
        let figures = measure()?;
        self.change(|remembered| {
            remembered.machines.insert(machine_key(threads), figures.clone());
        });
        Ok(figures)
    }

    /// The figures for `threads` threads, if they are remembered.
    #[must_use]
    pub fn known_figures(&self, threads: usize) -> Option<Figures> {
        let known = self.read().machines.remove(&machine_key(threads));
        known.filter(|figures| figures.threads == threads && figures.is_sound())
    }

    /// The figures of the drive that holds `folder`, if they are remembered.
    #[must_use]
    pub fn known_drive(&self, folder: &Path) -> Option<DriveFigures> {
        let known = drive_key(folder).and_then(|key| self.read().drives.remove(&key));
        known.filter(DriveFigures::is_sound)
    }

    /// The figures of the drive that holds `folder`, measured if none are remembered or if `refresh`.
    pub fn drive(
        &self,
        folder: &Path,
        refresh: bool,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<DriveFigures, MachineError> {
        self.drive_or(folder, refresh, || DriveFigures::measure(folder, MEASURE_BYTES, stop))
    }

    fn drive_or(
        &self,
        folder: &Path,
        refresh: bool,
        measure: impl FnOnce() -> Result<DriveFigures, MachineError>,
    ) -> Result<DriveFigures, MachineError> {
        if let Some(figures) = self.known_drive(folder).filter(|_| !refresh) {
            return Ok(figures);
        }
        let figures = measure()?;
        self.remember_drive(folder, figures);
        Ok(figures)
    }

    /// Remembers figures of the drive that holds `folder`, and forgets the bottlenecks that were measured with
    /// its former ones.
    pub fn remember_drive(&self, folder: &Path, figures: DriveFigures) {
        if let Some(key) = drive_key(folder) {
            self.change(|remembered| {
                remembered.bottlenecks.retain(|shared| !shared.drives.contains(&key));
                remembered.drives.insert(key, figures);
            });
        }
    }

    /// Remembers which drives share a bottleneck, after the figures of each; folders of one drive tell nothing.
    pub fn remember_bottlenecks(&self, bottlenecks: &[Bottleneck]) {
        let shared = |group: &Bottleneck| {
            let drives = group.folders.iter().map(|folder| drive_key(folder)).collect::<Option<_>>()?;
            Some(Shared { drives, part: group.part }).filter(Shared::is_sound)
        };
        let new: Vec<_> = bottlenecks.iter().filter_map(shared).collect();
        if !new.is_empty() {
            self.change(|remembered| {
                remembered.bottlenecks.retain(|old| new.iter().all(|new| new.drives != old.drives));
                remembered.bottlenecks.extend(new);
            });
        }
    }

    /// The bottlenecks that the drives of `places` were found to share, each by the first folder on a drive.
    /// Those of a drive that is none of these are forgotten: another may get its name.
    #[must_use]
    pub fn bottlenecks(&self, places: &[Place]) -> Vec<Bottleneck> {
        let mut folder_of = BTreeMap::new();
        for place in places {
            if let Some(device) = &place.device {
                folder_of.entry(key_of(device)).or_insert_with(|| place.folder.clone());
            }
        }
        let here = key_of_name("");
        let is_gone = |shared: &Shared| {
            shared.drives.iter().any(|key| key.starts_with(&here) && !folder_of.contains_key(key))
        };
        let remembered = self.read().bottlenecks;
        if remembered.iter().any(is_gone) {
            self.change(|remembered| remembered.bottlenecks.retain(|shared| !is_gone(shared)));
        }
        let found = |shared: &Shared| {
            let folders = shared.drives.iter().map(|key| folder_of.get(key).cloned());
            Some(Bottleneck { folders: folders.collect::<Option<_>>()?, part: shared.part })
        };
        remembered.iter().filter(|shared| shared.is_sound()).filter_map(found).collect()
    }

    /// What is remembered; nothing where that cannot be read.
    fn read(&self) -> Remembered {
        let text = self.file.as_ref().and_then(|file| std::fs::read(file).ok());
        text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    fn change(&self, change: impl FnOnce(&mut Remembered)) {
        let Some(file) = &self.file else { return };
        let mut remembered = self.read();
        change(&mut remembered);
        // Not an error: it is measured again the next time.
        let _ = write(file, &remembered);
    }
}

/// Replaces `file` in one step: another process sees the old figures or the new ones.
fn write(file: &Path, remembered: &Remembered) -> std::io::Result<()> {
    let folder = crate::storage::folder_of(file);
    std::fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(&serde_json::to_vec_pretty(remembered)?)?;
    temporary.persist(file)?;
    Ok(())
}

/// Raised when what is measured, or how, changes between two versions of the program.
const REVISION: u32 = 2;

/// This machine, and the program whose figures these are: another version may compute otherwise.
fn machine() -> String {
    use sysinfo::{CpuRefreshKind, RefreshKind, System};
    let kinds = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
    // Without the name, other figures of this host count as its own.
    let system = System::new_with_specifics(kinds).ok();
    let processor = system
        .as_ref()
        .and_then(|system| system.cpus().first())
        .map(|cpu| cpu.brand().trim().to_owned())
        .unwrap_or_default();
    let host = System::host_name().unwrap_or_default();
    format!("{host} | {processor} | gigafringe {}, figures {REVISION}", env!("CARGO_PKG_VERSION"))
}

/// This machine with so many threads.
fn machine_key(threads: usize) -> String {
    format!("{} | {threads} threads", machine())
}

/// The device of `folder` on this machine: the user's cache folder may be on a server.
fn drive_key(folder: &Path) -> Option<String> {
    // A folder that is not there is an error of its measurement.
    device_of(folder).ok().map(|device| key_of(&device))
}

fn key_of(device: &DeviceId) -> String {
    key_of_name(&device.to_string())
}

fn key_of_name(device: &str) -> String {
    format!("{} | {device}", sysinfo::System::host_name().unwrap_or_default())
}

#[cfg(test)]
mod tests;
