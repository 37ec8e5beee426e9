//! `drives --measure`: what the drives of some folders can do.

use std::path::PathBuf;

use serde::Serialize;

use crate::machine::{Cache, DriveFigures, MEASURE_BYTES, Together, measure_together};
use crate::run::RunError;
use crate::storage::{DetectedDrive, device_of, one_on_each};

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

/// Measures `folders`, or one on each of `drives`, with files of `bytes`. Returns also which share a
/// bottleneck.
pub fn measure(
    folders: &[PathBuf],
    drives: &[DetectedDrive],
    bytes: Option<u64>,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(Vec<Measured>, Vec<Vec<PathBuf>>), RunError> {
    let folders = if folders.is_empty() { one_on_each(drives) } else { folders.to_vec() };
    let Together { alone, together, shared, .. } =
        measure_together(&folders, bytes.unwrap_or(MEASURE_BYTES), stop)?;
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
    let names = |group: Vec<usize>| group.into_iter().map(|i| folders[i].clone()).collect();
    Ok((measured.collect(), shared.into_iter().map(names).collect()))
}

/// The table of what was measured.
pub fn table(measured: &[Measured], shared: &[Vec<PathBuf>]) -> String {
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
        let names: Vec<_> = group.iter().map(|folder| folder.display().to_string()).collect();
        text += &names.join(", ");
        text += " share a bottleneck: together they are much slower than alone\n";
    }
    text
}
