//! Folders that may have roles, with what is known of the drives they lie on.

use std::path::{Path, PathBuf};

use super::{Cache, DriveFigures};
use crate::storage::{
    DetectedDrive, DeviceId, description_of, device_of, existing, folder_on, free_space, has_direct_io,
    volume_of,
};

/// A folder, and what is known of its drive.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// The folder.
    pub folder: PathBuf,
    /// The device it lies on, or will lie on once it is made; none where the system does not tell.
    pub device: Option<DeviceId>,
    /// What the device is, as [`DetectedDrive::kind`].
    pub kind: String,
    /// How the device is connected, as [`DetectedDrive::bus`].
    pub bus: String,
    /// The kind of its file system.
    pub file_system: String,
    /// The volume: folders of equal ones share their free space.
    pub volume: Option<String>,
    /// Bytes free there.
    pub free: Option<u64>,
    /// Whether files there bypass the system's cache; none where no file can be made.
    pub direct: Option<bool>,
    /// What was measured of its device, now or earlier.
    pub figures: Option<DriveFigures>,
}

impl Place {
    /// Whether both lie on one device, or on volumes that share one.
    #[must_use]
    pub fn shares_device(&self, other: &Self) -> bool {
        matches!((&self.device, &other.device), (Some(one), Some(other)) if one.overlaps(other))
    }
}

/// What is known of `folders`, and of one more folder on each of `drives` that holds none of them.
#[must_use]
pub fn places(drives: &[DetectedDrive], folders: &[PathBuf], cache: &Cache) -> Vec<Place> {
    let mut places: Vec<Place> = Vec::new();
    for folder in folders {
        if places.iter().all(|place| place.folder != *folder) {
            places.push(place(drives, folder, cache));
        }
    }
    for drive in drives {
        let has_one = |place: &Place| place.device.as_ref().is_some_and(|d| d.to_string() == drive.device);
        if !places.iter().any(has_one) {
            places.extend(folder_on(drive).map(|folder| place(drives, &folder, cache)));
        }
    }
    places
}

fn place(drives: &[DetectedDrive], folder: &Path, cache: &Cache) -> Place {
    // One that is not there yet is judged by the folder it will be made in, but cannot be used now.
    let existing = existing(folder);
    let nearest = existing.as_deref().unwrap_or(folder);
    let device = device_of(nearest).ok();
    let name = device.as_ref().map(ToString::to_string);
    let drive = drives.iter().find(|drive| Some(&drive.device) == name.as_ref());
    let [kind, bus, file_system] = match drive {
        Some(drive) => [&drive.kind, &drive.bus, &drive.file_system].map(Clone::clone),
        None => description_of(nearest),
    };
    Place {
        folder: folder.into(),
        kind,
        bus,
        file_system,
        volume: volume_of(nearest).ok(),
        free: free_space(nearest).ok(),
        direct: has_direct_io(folder).ok(),
        figures: cache.known_drive(nearest),
        device,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_listed_once_with_what_is_remembered_of_their_drive() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(&folder.path().join("figures.json"));
        let figures = DriveFigures {
            read: 5e8,
            write: 4e8,
            read_while_writing: 3e8,
            write_while_reading: 2e8,
            direct: true,
        };
        let later = folder.path().join("not/yet");
        let folders = [folder.path().to_path_buf(), later.clone(), folder.path().to_path_buf()];
        let device = device_of(folder.path()).unwrap();
        let drive = DetectedDrive {
            device: device.to_string(),
            kind: "HDD".into(),
            bus: "USB".into(),
            file_system: "ext4".into(),
            mounts: vec![folder.path().into()],
            total: 2,
            free: 1,
        };
        let seen = places(&[], &folders, &cache);
        assert_eq!(seen.iter().map(|p| &p.folder).collect::<Vec<_>>(), [folder.path(), &later]);
        assert!(seen.iter().all(|p| p.figures.is_none() && p.kind != "HDD" && p.free.is_some()));
        assert!(seen[0].direct.is_some() && seen[1].direct.is_none());
        assert!(seen[0].shares_device(&seen[1]) && seen[0].volume == seen[1].volume);
        cache.remember_drive(folder.path(), figures);
        let seen = places(std::slice::from_ref(&drive), &folders, &cache);
        assert!(seen.iter().all(|p| p.figures.is_some() && p.kind == "HDD" && p.bus == "USB"), "{seen:?}");
        assert_eq!(seen.len(), 2, "a drive with a folder needs no other");
        let seen = places(&[drive], &[], &cache);
        assert_eq!(seen.iter().map(|p| &*p.folder).collect::<Vec<_>>(), [folder.path()]);
    }
}
