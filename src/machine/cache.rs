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
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::machine::figures::tests::HASTY;

    const DRIVE: DriveFigures = DriveFigures {
        read: 500e6,
        write: 400e6,
        read_while_writing: 300e6,
        write_while_reading: 200e6,
        direct: true,
    };

    /// A cache, and how often it had to measure.
    struct Bench {
        folder: tempfile::TempDir,
        measured: Cell<usize>,
    }

    impl Bench {
        fn new() -> Self {
            Self { folder: tempfile::tempdir().unwrap(), measured: Cell::new(0) }
        }

        fn file(&self) -> PathBuf {
            self.folder.path().join("made/figures.json")
        }

        fn figures(&self, threads: usize, refresh: bool) -> Figures {
            let measure = || {
                self.measured.set(self.measured.get() + 1);
                // Too hasty to be steady by itself.
                Figures::measure_in(threads, HASTY).map(|figures| Figures { steady: true, ..figures })
            };
            Cache::at(&self.file()).figures_or(threads, refresh, measure).unwrap()
        }

        fn drive(&self, refresh: bool) -> DriveFigures {
            let measure = || {
                self.measured.set(self.measured.get() + 1);
                Ok(DRIVE)
            };
            Cache::at(&self.file()).drive_or(self.folder.path(), refresh, measure).unwrap()
        }
    }

    #[test]
    fn figures_are_measured_once_for_each_number_of_threads() {
        let bench = Bench::new();
        assert_eq!([1, 2].map(|threads| bench.figures(threads, false).threads), [1, 2]);
        assert_eq!(bench.measured.get(), 2);
        // As they are read; the file's decimals may end in another digit than what was measured.
        let (one, two) = (bench.figures(1, false), bench.figures(2, false));
        assert_eq!((bench.figures(1, false), bench.figures(2, false)), (one.clone(), two));
        assert_eq!(bench.measured.get(), 2);
        assert_ne!(bench.figures(1, true), one, "measured again when that is asked for");
        assert_eq!(bench.drive(false), DRIVE);
        assert_eq!(bench.drive(false), DRIVE);
        assert_eq!(bench.measured.get(), 4);
        bench.drive(true);
        assert_eq!(bench.measured.get(), 5);
        let left = std::fs::read_dir(bench.file().parent().unwrap()).unwrap().count();
        assert_eq!(left, 1, "no temporary files");
    }

    #[test]
    fn what_a_busy_machine_gave_is_remembered_as_such() {
        let bench = Bench::new();
        let cache = Cache::at(&bench.file());
        let busy = || Figures::measure_in(1, HASTY).map(|figures| Figures { steady: false, ..figures });
        assert_eq!(cache.figures_or(1, false, busy).unwrap().threads, 1);
        assert!(!bench.figures(1, false).steady);
        assert_eq!(bench.measured.get(), 0);
        assert!(bench.figures(1, true).threads == 1 && bench.measured.get() == 1);
    }

    #[test]
    fn a_damaged_file_costs_a_measurement_and_no_more() {
        let bench = Bench::new();
        bench.figures(1, false);
        let whole = std::fs::read_to_string(bench.file()).unwrap();
        let cut = whole[..whole.len() / 2].to_owned();
        let wrong = whole.replace("\"layer\": ", "\"layer\": -");
        assert_ne!(wrong, whole);
        for text in [String::new(), "[1, 2]".into(), cut, wrong, "\0\0\0".into()] {
            std::fs::write(bench.file(), &text).unwrap();
            let before = bench.measured.get();
            bench.figures(1, false);
            assert_eq!(bench.measured.get(), before + 1, "{text}");
            bench.figures(1, false);
            assert_eq!(bench.measured.get(), before + 1, "mended");
        }
    }

    /// A folder on a device of its own.
    fn place(device: &str) -> Place {
        Place {
            folder: format!("/{device}").into(),
            device: Some(DeviceId::of_names(&[device])),
            kind: "SSD".into(),
            bus: "SATA".into(),
            file_system: "ext4".into(),
            volume: None,
            free: None,
            direct: None,
            figures: None,
        }
    }

    /// A cache with two groups of drives that share something, and the drive of `folder` in the second.
    fn with_bottlenecks(folder: &Path) -> (Cache, Vec<Place>) {
        let cache = Cache::at(&folder.join("figures.json"));
        let own = device_of(folder).unwrap();
        let places = ["sdx", "sdy", &own.to_string(), "sdz"].map(place);
        let key = |place: &Place| key_of(place.device.as_ref().unwrap());
        cache.change(|remembered| {
            for (group, part) in [([0, 1], 0.52), ([2, 3], 0.6)] {
                let drives = group.map(|i| key(&places[i])).into();
                remembered.bottlenecks.push(Shared { drives, part });
            }
        });
        (cache, places.into())
    }

    #[test]
    fn bottlenecks_are_remembered_until_a_drive_is_gone_or_measured_anew() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, places) = with_bottlenecks(folder.path());
        let found = |places: &[Place]| -> Vec<_> {
            let mut found: Vec<_> =
                cache.bottlenecks(places).into_iter().map(|b| (b.folders, b.part)).collect();
            for group in &mut found {
                group.0.sort();
            }
            found
        };
        let mut second = vec![places[2].folder.clone(), places[3].folder.clone()];
        second.sort();
        let first = (vec![PathBuf::from("/sdx"), "/sdy".into()], 0.52);
        // Whatever the order, and wherever else the drives' folders are.
        let mut turned = places.clone();
        turned.reverse();
        assert_eq!(found(&turned), [first.clone(), (second, 0.6)]);
        cache.remember_drive(folder.path(), DRIVE);
        assert_eq!(found(&places), std::slice::from_ref(&first), "of former figures");
        assert_eq!(found(&places[1..]), [], "a drive is gone");
        assert_eq!(found(&places), [], "and another may have its name now");
        assert_eq!(cache.known_drive(folder.path()), Some(DRIVE));
    }

    #[test]
    fn folders_of_one_drive_are_no_bottleneck_to_remember() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("figures.json"));
        let group = |folders: [&Path; 2], part| Bottleneck { folders: folders.map(Into::into).into(), part };
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        let nowhere = folder.path().join("nowhere");
        cache.remember_bottlenecks(&[
            group([folder.path(), &inner], 0.5),
            group([folder.path(), &nowhere], 0.5),
        ]);
        assert!(cache.read().bottlenecks.is_empty());
        let proc = Path::new("/proc");
        if device_of(proc).is_ok_and(|device| device != device_of(folder.path()).unwrap()) {
            for part in [f64::NAN, 0.5, 0.6] {
                cache.remember_bottlenecks(&[group([folder.path(), proc], part)]);
            }
            let kept = cache.read().bottlenecks;
            assert!(kept.len() == 1 && (kept[0].part - 0.6).abs() < 1e-12, "the last: {kept:?}");
        }
    }

    #[test]
    fn damaged_bottlenecks_are_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, places) = with_bottlenecks(folder.path());
        let file = folder.path().join("figures.json");
        let whole = std::fs::read_to_string(&file).unwrap();
        assert_eq!(cache.bottlenecks(&places).len(), 2);
        let key = key_of_name("sdy");
        for (text, left) in [
            (whole.replace("0.52", "-0.52"), 1),
            (whole.replace(&format!(",\n        \"{key}\""), ""), 1),
            (whole.replace("0.52", "\"half\""), 0),
            (whole[..whole.len() / 2].to_owned(), 0),
            (String::new(), 0),
        ] {
            assert_ne!(text, whole);
            std::fs::write(&file, &text).unwrap();
            assert_eq!(cache.bottlenecks(&places).len(), left, "{text}");
            cache.remember_drive(folder.path(), DRIVE);
            assert_eq!(cache.known_drive(folder.path()), Some(DRIVE), "mended");
        }
    }

    #[test]
    fn without_a_place_to_remember_figures_are_measured_each_time() {
        let folder = tempfile::tempdir().unwrap();
        // A file where the cache's folder should be.
        std::fs::write(folder.path().join("taken"), "").unwrap();
        for cache in [Cache { file: None }, Cache::at(&folder.path().join("taken/figures.json"))] {
            assert_eq!(cache.drive_or(folder.path(), false, || Ok(DRIVE)).unwrap(), DRIVE);
            assert!(cache.read().drives.is_empty());
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("figures.json"));
        let error = cache.drive(&folder.path().join("nowhere"), false, &|| false).unwrap_err();
        assert!(error.to_string().contains("nowhere"), "{error}");
        assert!(!folder.path().join("figures.json").exists());
    }
}
