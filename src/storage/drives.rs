//! The drives of this machine.

use std::path::PathBuf;

use sysinfo::{DiskKind, Disks};

/// A drive that was found, with the places it is mounted at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedDrive {
    /// The device's name, for example `sda`.
    pub device: String,
    /// `SSD`, `HDD`, `virtual`, `memory` or `unknown`.
    pub kind: String,
    /// The file system, for example `ext4`.
    pub file_system: String,
    /// Where it is mounted.
    pub mounts: Vec<PathBuf>,
    /// Its size in bytes.
    pub total: u64,
    /// Bytes that are free.
    pub free: u64,
}

/// Lists the mounted drives, each device once.
#[must_use]
pub fn detect() -> Vec<DetectedDrive> {
    let mut found: Vec<DetectedDrive> = Vec::new();
    let Ok(disks) = Disks::new_with_refreshed_list() else { return found };
    for disk in &disks {
        let device = disk.name().to_string_lossy().into_owned();
        let mount = disk.mount_point().to_path_buf();
        if let Some(known) = found.iter_mut().find(|d| d.device == device) {
            known.mounts.push(mount);
            continue;
        }
        found.push(DetectedDrive {
            device,
            kind: match disk.kind() {
                DiskKind::SSD => "SSD",
                DiskKind::HDD => "HDD",
                DiskKind::Unknown(_) => "unknown",
            }
            .into(),
            file_system: disk.file_system().to_string_lossy().into_owned(),
            mounts: vec![mount],
            total: disk.total_space(),
            free: disk.available_space(),
        });
    }
    found
}
