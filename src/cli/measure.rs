//! `drives --measure` and `--assign`: what the drives of some folders can do, and which should have which role.

use std::path::PathBuf;

use serde::Serialize;

use crate::machine::{Bottleneck, Cache, DriveFigures, MEASURE_BYTES, Together, measure_together, places};
use crate::planner::{self, Proposal};
use crate::run::RunError;
use crate::storage::{DetectedDrive, device_of};

/// What was measured of a folder's drive.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The folder.
    pub folder: PathBuf,
    /// The device it lies on.
    pub device: String,
    #[serde(flatten)]
    figures: DriveFigures,
    /// Near 1 on a half-duplex drive, near 2 on a full-duplex one.
    duplex_index: f64,
    /// Bytes a second it reads while all others are read.
    read_together: f64,
    /// Whether these are remembered, for plans to come.
    remembered: bool,
}

/// Measures `folders` with files of `bytes`. Returns also which share a bottleneck.
pub fn measure(
    folders: &[PathBuf],
    bytes: Option<u64>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(Vec<Measured>, Vec<Bottleneck>), RunError> {
    let measured = measure_together(folders, bytes.unwrap_or(MEASURE_BYTES), stop)?;
    let bottlenecks = measured.bottlenecks(folders);
    let Together { alone, together, .. } = measured;
    // A file smaller than usual tells less.
    let remembered = bytes.is_none_or(|bytes| bytes >= MEASURE_BYTES);
    let measured = folders.iter().zip(alone).zip(together).map(|((folder, figures), read_together)| {
        if remembered {
            Cache::of_user().remember_drive(folder, figures);
        }
        Measured {
            folder: folder.clone(),
            device: device_of(folder).map_or("unknown".into(), |device| device.to_string()),
            figures,
            duplex_index: figures.duplex_index(),
            read_together,
            remembered,
        }
    });
    let measured = measured.collect();
    // After the drives' figures, with which earlier ones are forgotten.
    if remembered {
        Cache::of_user().remember_bottlenecks(&bottlenecks);
    }
    Ok((measured, bottlenecks))
}

/// Roles for `folders`, which lie on `drives`, with the reasons. What was `measured` just now counts before what
/// is remembered. The space that a project needs is not known here.
pub fn assign(
    folders: &[PathBuf],
    drives: &[DetectedDrive],
    measured: &[Measured],
    bottlenecks: &[Bottleneck],
) -> Result<Proposal, RunError> {
    let mut places = places(drives, folders, &Cache::of_user());
    places.retain(|place| folders.contains(&place.folder));
    for place in &mut places {
        let now = measured.iter().find(|measured| measured.folder == place.folder);
        place.figures = now.map(|measured| measured.figures).or(place.figures);
    }
    planner::assign(&places, bottlenecks, |_| Vec::new())
        .map_err(|error| RunError::Value { field: "drives", problem: error.to_string() })
}

/// A proposal in words, with the option that uses it.
pub fn proposal(proposal: &Proposal) -> String {
    let roles = proposal.drives.iter().map(|drive| format!("role {}  {}", drive.role, drive.path.display()));
    let folders: Vec<_> = proposal.drives.iter().map(|drive| drive.path.display().to_string()).collect();
    let option = format!("--drives={}", folders.join(","));
    let lines: Vec<_> = roles.chain(proposal.reasons.iter().cloned()).chain([option]).collect();
    lines.join("\n") + "\n"
}

/// The table of what was measured.
pub fn table(measured: &[Measured], shared: &[Bottleneck]) -> String {
    let rate = |rate: f64| format!("{:.0}", rate / 1e6);
    let row = |device: &str, [read, write, both_read, both_write]: [&str; 4], duplex: &str, folder: &str| {
        format!(
            "{device:<16}  {read:>9}  {write:>9}  {both_read:>13}  {both_write:>13}  {duplex:>6}  {folder}\n"
        )
    };
    let mut text = row("device", ["read", "write", "read in both", "write in both"], "duplex", "folder");
    for drive in measured {
        let DriveFigures { read, write, read_while_writing, write_while_reading, direct } = drive.figures;
        let rates = [read, write, read_while_writing, write_while_reading].map(rate);
        let cached = if direct { "" } else { " (through the system's cache)" };
        text += &row(
            &drive.device,
            rates.each_ref().map(|rate| &**rate),
            &format!("{:.2}", drive.duplex_index),
            &format!("{}{cached}", drive.folder.display()),
        );
    }
    text += "MB/s; duplex is near 1 where reading and writing share the drive's time, near 2 where not\n";
    for group in shared {
        let names: Vec<_> = group.folders.iter().map(|folder| folder.display().to_string()).collect();
        let (names, part) = (names.join(", "), 100.0 * group.part);
        let line =
            format!("{names} share a bottleneck: together they reach {part:.0} % of what they reach alone\n");
        text += &line;
    }
    text
}
