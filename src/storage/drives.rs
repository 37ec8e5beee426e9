//! The drives of this machine, and which of them a folder lies on.
//!
//! The system lists mounts, not drives: one disk can be mounted several times, whole or in parts.
//! What matters for speed is the device, so mounts of one device are one drive here.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use sysinfo::{DiskKind, Disks};

use super::platform::{bus_of, device_names, file_system, file_system_kind, is_virtual};
use super::{DirectFile, StorageError};

/// The physical device, or devices, that a folder lies on.
///
/// Two folders with equal identities share all their bandwidth. (Devices can share a cable or a
/// controller all the same: only measuring shows that.)
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceId(Vec<String>);

impl DeviceId {
    /// The identity of the devices with these names.
    #[must_use]
    pub fn of_names(names: &[&str]) -> Self {
        let mut names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        names.sort_unstable();
        Self(names)
    }

    /// Whether a device belongs to both: volumes striped over several can share some of them.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.iter().any(|name| other.0.contains(name))
    }
}

impl fmt::Display for DeviceId {
    /// The devices' names as the system has them, for example `nvme0n1` or `sda + sdb`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" + "))
    }
}

/// The device that holds `folder`, which must exist.
pub fn device_of(folder: &Path) -> io::Result<DeviceId> {
    device_names(folder).map(DeviceId)
}

/// Whether two folders lie on the same device, or on volumes that share one.
///
/// A folder that does not exist yet counts as the one it will be made in. Where the system does not
/// tell, the answer is no.
#[must_use]
pub fn same_device(one: &Path, other: &Path) -> bool {
    let device = |folder: &Path| device_of(&existing(folder)?).ok();
    match (device(one), device(other)) {
        (Some(one), Some(other)) => one.overlaps(&other),
        _ => false,
    }
}

/// The folder itself, or the nearest above it that exists: the one it will be made in.
#[must_use]
pub fn existing(folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    folder.ancestors().find(|f| f.exists()).map(Path::to_path_buf)
}

/// A name of the file system of `folder`, which must exist: folders with equal names share their free space.
pub fn volume_of(folder: &Path) -> io::Result<String> {
    file_system(folder)
}

/// What is told of the device under `folder`, which must exist, where no list of drives has it: its kind, its bus
/// and its file system, as a [`DetectedDrive`] has them.
#[must_use]
pub fn description_of(folder: &Path) -> [String; 3] {
    let system = file_system_kind(folder).unwrap_or_else(|| "unknown".into());
    match device_of(folder) {
        Ok(device) => [kind(DiskKind::Unknown(0), &system, &device).into(), bus(&system, &device), system],
        Err(_) => ["unknown".into(), "unknown".into(), system],
    }
}

/// Whether files in `folder` bypass the system's cache; an error where none can be made there. A small file
/// is made and removed.
pub fn has_direct_io(folder: &Path) -> io::Result<bool> {
    let made = tempfile::Builder::new().prefix(".gigafringe-probe-").make_in(folder, |path| {
        DirectFile::create(path).map_err(|error| match error {
            StorageError::File { source, .. } => source,
            other => io::Error::other(other.to_string()),
        })
    })?;
    Ok(made.as_file().is_direct())
}

/// A folder on `drive` in which files can be made: where it is mounted, or one of the user's own on it.
#[must_use]
pub fn folder_on(drive: &DetectedDrive) -> Option<PathBuf> {
    let on_drive = |folder: &&PathBuf| device_of(folder).is_ok_and(|d| d.to_string() == drive.device);
    let own = own_folders();
    let mut folders = drive.mounts.iter().chain(&own).filter(on_drive);
    folders.find(|folder| is_writable(folder)).cloned()
}

/// For each drive a [`folder_on`] it; one of the user's own where no drive is shown, as in a sandbox.
#[must_use]
pub fn one_on_each(drives: &[DetectedDrive]) -> Vec<PathBuf> {
    let mut folders: Vec<_> = drives.iter().filter_map(folder_on).collect();
    if folders.is_empty() {
        folders.extend(own_folders().into_iter().find(|folder| is_writable(folder)));
    }
    folders
}

fn own_folders() -> Vec<PathBuf> {
    let own = [std::env::current_dir().ok(), std::env::home_dir(), Some(std::env::temp_dir())];
    own.into_iter().flatten().collect()
}

fn is_writable(folder: &Path) -> bool {
    tempfile::tempfile_in(folder).is_ok()
}

/// Whether two folders share their free space; not when the system does not tell.
#[must_use]
pub fn same_file_system(one: &Path, other: &Path) -> bool {
    matches!((file_system(one), file_system(other)), (Ok(one), Ok(other)) if one == other)
}

/// Bytes that can still be written to the file system of `folder` without special rights.
pub fn free_space(folder: &Path) -> io::Result<u64> {
    fs4::available_space(folder)
}

/// A drive that the system has, with all the places it is mounted at.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DetectedDrive {
    /// The device's name, as [`DeviceId`] shows it.
    pub device: String,
    /// `SSD`, `HDD`, `virtual`, `memory`, `network` or `unknown`.
    pub kind: String,
    /// How it is connected: `NVMe`, `SATA`, `USB`, `virtio`, `memory`, `network` and others, or `unknown`.
    pub bus: String,
    /// The file system; several, separated by commas, when its parts differ.
    pub file_system: String,
    /// Where it is mounted, the shortest path first.
    pub mounts: Vec<PathBuf>,
    /// Size of its mounted parts together, in bytes.
    pub total: u64,
    /// Bytes free on its mounted parts together; [`free_space`] tells it for a folder.
    pub free: u64,
}

/// The drives with a file system that can be written to, in the order of their first mount.
#[must_use]
pub fn detect() -> Vec<DetectedDrive> {
    // Without a list there is nothing to offer; folders can still be named.
    let disks = Disks::new_with_refreshed_list();
    let mounts = disks
        .iter()
        .flatten()
        .filter(|disk| !disk.is_read_only())
        .filter_map(|disk| {
            let point = disk.mount_point();
            let device = device_of(point).ok()?;
            // Containers mount single files over others.
            point.is_dir().then(|| Mount {
                kind: kind(disk.kind(), &disk.file_system().to_string_lossy(), &device),
                bus: bus(&disk.file_system().to_string_lossy(), &device),
                device,
                source: disk.name().to_string_lossy().into_owned(),
                file_system: disk.file_system().to_string_lossy().into_owned(),
                point: point.to_path_buf(),
                total: disk.total_space(),
                free: disk.available_space(),
            })
        })
        .collect();
    joined(mounts)
}

/// One mount, as the system lists them.
#[derive(Debug, Clone)]
struct Mount {
    device: DeviceId,
    /// What is mounted: a partition, a volume, a share.
    source: String,
    kind: &'static str,
    bus: String,
    file_system: String,
    point: PathBuf,
    total: u64,
    free: u64,
}

/// What a drive is, from what the system calls it.
fn kind(kind: DiskKind, file_system: &str, device: &DeviceId) -> &'static str {
    match file_system {
        "tmpfs" | "ramfs" => return "memory",
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "afpfs" | "webdav" | "fuse.sshfs" | "ceph" => {
            return "network";
        }
        "9p" | "virtiofs" | "overlay" | "vboxsf" => return "virtual",
        _ => {}
    }
    if device.0.iter().any(|name| name.starts_with("zram") || name.starts_with("ram")) {
        return "memory";
    }
    // What virtual disks say about rotation means nothing.
    if device.0.iter().any(|name| is_virtual(name)) {
        return "virtual";
    }
    match kind {
        DiskKind::SSD => "SSD",
        DiskKind::HDD => "HDD",
        DiskKind::Unknown(_) => "unknown",
    }
}

/// How a drive is connected; several ways, joined by `+`, when its devices differ.
fn bus(file_system: &str, device: &DeviceId) -> String {
    match kind(DiskKind::Unknown(0), file_system, device) {
        kind @ ("memory" | "network") => return kind.into(),
        _ if file_system == "virtiofs" => return "virtio".into(),
        _ => {}
    }
    let mut buses: Vec<_> = device.0.iter().map(|name| bus_of(name)).collect();
    buses.dedup();
    buses.join(" + ")
}

/// File systems that hold no files of the user's.
fn is_pseudo(file_system: &str) -> bool {
    matches!(
        file_system,
        "autofs"
            | "binfmt_misc"
            | "bpf"
            | "configfs"
            | "debugfs"
            | "devfs"
            | "devtmpfs"
            | "efivarfs"
            | "fuse.gvfsd-fuse"
            | "fuse.lxcfs"
            | "fuse.portal"
            | "fuse.snapfuse"
            | "fusectl"
            | "iso9660"
            | "nsfs"
            | "proc"
            | "securityfs"
            | "squashfs"
            | "sysfs"
            | "tracefs"
            | "udf"
    )
}

/// Mounts as drives.
fn joined(mounts: Vec<Mount>) -> Vec<DetectedDrive> {
    let root = Path::new("/");
    // In a container an overlay is all there is; elsewhere it repeats the drive below it.
    let root_is_covered = mounts.iter().any(|m| m.point == root && m.file_system != "overlay");
    let mut mounts: Vec<_> = mounts
        .into_iter()
        .filter(|m| m.total > 0 && !is_pseudo(&m.file_system))
        .filter(|m| m.file_system != "overlay" || (m.point == root && !root_is_covered))
        // Parts of macOS itself; `/` and `/System/Volumes/Data` remain.
        .filter(|m| !m.point.starts_with("/System/Volumes") || m.point.ends_with("Data"))
        .collect();
    mounts.sort_by_key(|m| (m.point.components().count(), m.point.clone()));

    let mut drives: Vec<(DeviceId, Vec<Mount>)> = Vec::new();
    for mount in mounts {
        match drives.iter_mut().find(|(device, _)| *device == mount.device) {
            Some((_, of_drive)) => of_drive.push(mount),
            None => drives.push((mount.device.clone(), vec![mount])),
        }
    }
    drives.into_iter().map(|(device, mounts)| drive(&device, mounts)).collect()
}

/// The drive `device` from all its mounts, of which there is at least one.
fn drive(device: &DeviceId, mounts: Vec<Mount>) -> DetectedDrive {
    let (mut total, mut free) = (0, 0);
    let mut file_systems: Vec<&str> = Vec::new();
    for (i, mount) in mounts.iter().enumerate() {
        if !file_systems.contains(&&*mount.file_system) {
            file_systems.push(&mount.file_system);
        }
        // Mounted twice is there once.
        if mounts[..i].iter().all(|other| other.source != mount.source) {
            total += mount.total;
            free += mount.free;
        }
    }
    DetectedDrive {
        device: device.to_string(),
        kind: mounts[0].kind.to_owned(),
        bus: mounts[0].bus.clone(),
        file_system: file_systems.join(", "),
        total,
        free,
        mounts: mounts.into_iter().map(|m| m.point).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(names: &[&str]) -> DeviceId {
        DeviceId(names.iter().map(|&name| name.to_owned()).collect())
    }

    fn mount(device: &str, source: &str, file_system: &str, point: &str, total: u64) -> Mount {
        Mount {
            device: id(&[device]),
            source: source.into(),
            kind: "SSD",
            bus: "SATA".into(),
            file_system: file_system.into(),
            point: point.into(),
            total,
            free: total / 2,
        }
    }

    fn paths(points: &[&str]) -> Vec<PathBuf> {
        points.iter().map(PathBuf::from).collect()
    }

    #[test]
    fn mounts_of_one_device_are_one_drive() {
        let drives = joined(vec![
            mount("sdb", "/dev/sdb1", "xfs", "/data/scratch", 800),
            mount("sda", "/dev/sda2", "btrfs", "/home", 100),
            mount("sda", "/dev/sda1", "vfat", "/boot/efi", 10),
            mount("sda", "/dev/sda2", "btrfs", "/", 100),
        ]);
        assert_eq!(drives.len(), 2);
        assert_eq!(drives[0].device, "sda");
        assert_eq!(drives[0].mounts, paths(&["/", "/home", "/boot/efi"]));
        assert_eq!(drives[0].file_system, "btrfs, vfat");
        // The subvolumes of sda2 are counted once.
        assert_eq!((drives[0].total, drives[0].free), (110, 55));
        assert_eq!((&*drives[1].device, drives[1].total), ("sdb", 800));
    }

    #[test]
    fn what_holds_no_files_is_left_out() {
        let drives = joined(vec![
            mount("vda", "/dev/vda", "ext4", "/", 100),
            mount("loop3", "/dev/loop3", "squashfs", "/snap/core", 10),
            mount("volume 0:40", "overlay", "overlay", "/var/lib/containers/x/merged", 100),
            mount("volume 0:41", "portal", "fuse.portal", "/home/u/doc", 10),
            mount("sr0", "/dev/sr0", "iso9660", "/media/cd", 0),
            mount("sdx", "/dev/sdx", "ext4", "/mnt/empty", 0),
        ]);
        assert_eq!(drives.iter().map(|d| &*d.device).collect::<Vec<_>>(), ["vda"]);
    }

    #[test]
    fn in_a_container_the_overlay_is_the_drive() {
        let overlay = mount("volume 0:40", "overlay", "overlay", "/", 100);
        let drives = joined(vec![overlay, mount("sda", "/dev/sda1", "ext4", "/work", 50)]);
        assert_eq!(drives.len(), 2);
        assert_eq!(drives[0].mounts, paths(&["/"]));
    }

    #[test]
    fn kinds_follow_the_file_system_before_the_rotation() {
        assert_eq!(kind(DiskKind::HDD, "tmpfs", &id(&["volume 0:3"])), "memory");
        assert_eq!(kind(DiskKind::HDD, "nfs4", &id(&["volume 0:3"])), "network");
        assert_eq!(kind(DiskKind::SSD, "xfs", &id(&["nvme7n9"])), "SSD");
        assert_eq!(kind(DiskKind::HDD, "ext4", &id(&["sdzz"])), "HDD");
        assert_eq!(kind(DiskKind::Unknown(-1), "ext4", &id(&["sdzz"])), "unknown");
        #[cfg(target_os = "linux")]
        assert_eq!(kind(DiskKind::HDD, "ext4", &id(&["vdz"])), "virtual");
    }

    #[test]
    fn the_bus_is_the_file_systems_where_that_has_no_disk() {
        assert_eq!(bus("tmpfs", &id(&["volume 0:3"])), "memory");
        assert_eq!(bus("ext4", &id(&["zram0"])), "memory");
        assert_eq!(bus("nfs4", &id(&["volume 0:3"])), "network");
        assert_eq!(bus("virtiofs", &id(&["volume 0:3"])), "virtio");
        assert_eq!(bus("overlay", &id(&["volume 0:3"])), "unknown");
        assert_eq!(bus("ext4", &id(&["nosuchdisk"])), "unknown");
    }

    #[test]
    fn a_folder_can_be_probed_and_is_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        assert!(has_direct_io(folder.path()).is_ok());
        assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none());
        let later = folder.path().join("a/b");
        assert!(has_direct_io(&later).is_err());
        assert_eq!(existing(&later).unwrap(), folder.path());
        assert_eq!(volume_of(folder.path()).unwrap(), volume_of(folder.path().parent().unwrap()).unwrap());
        assert!(volume_of(&later).is_err());
        let gone = DetectedDrive {
            device: "nosuchdisk".into(),
            kind: "SSD".into(),
            bus: "SATA".into(),
            file_system: "ext4".into(),
            mounts: vec![later],
            total: 1,
            free: 1,
        };
        assert_eq!(folder_on(&gone), None);
        // Nowhere to go on that drive: a folder of the user's own.
        assert!(one_on_each(&[gone]).iter().all(|folder| folder.is_dir()));
    }

    #[test]
    fn striped_volumes_overlap_with_their_disks() {
        let stripe = id(&["sda", "sdb"]);
        assert_eq!(stripe.to_string(), "sda + sdb");
        assert!(stripe.overlaps(&id(&["sdb"])) && id(&["sdb"]).overlaps(&stripe));
        assert!(!stripe.overlaps(&id(&["sdc"])));
        assert_ne!(stripe, id(&["sda"]));
    }

    #[test]
    fn folders_side_by_side_are_on_one_device_with_room() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::create_dir(&a).unwrap();
        std::fs::create_dir(&b).unwrap();
        assert_eq!(device_of(&a).unwrap(), device_of(&b).unwrap());
        assert!(!device_of(&a).unwrap().to_string().is_empty());
        assert!(free_space(&a).unwrap() > 0);
        assert_eq!(device_of(&folder.path().join("c")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(free_space(&folder.path().join("c")).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_memory_file_system_is_a_device_of_its_own() {
        let shared = Path::new("/dev/shm");
        if shared.is_dir() {
            assert_ne!(device_of(shared).unwrap(), device_of(Path::new("/")).unwrap());
            assert!(device_of(shared).unwrap().to_string().starts_with("volume "));
            assert!(!same_device(shared, Path::new("/")));
            assert!(same_device(&shared.join("not/there/yet"), shared));
            assert_eq!(description_of(shared), ["memory", "memory", "tmpfs"]);
        }
    }

    /// Every drive once, with a size, and nothing of another drive at its mounts.
    fn check(drives: &[DetectedDrive]) {
        for (i, drive) in drives.iter().enumerate() {
            assert!(drive.total > 0 && drive.free <= drive.total && !drive.mounts.is_empty(), "{drive:?}");
            assert!(drives[..i].iter().all(|other| other.device != drive.device), "{drives:?}");
            for mount in &drive.mounts {
                let of_mount: Vec<_> = drives.iter().filter(|d| d.mounts.contains(mount)).collect();
                assert_eq!(of_mount, [drive]);
            }
        }
    }

    #[test]
    fn every_drive_is_listed_once_and_has_a_size_however_it_is_mounted() {
        // Three disks, mounted in every order, whole, in parts and twice.
        let mounts = [
            mount("nvme0n1", "/dev/nvme0n1p2", "ext4", "/", 900),
            mount("nvme0n1", "/dev/nvme0n1p1", "vfat", "/boot", 100),
            mount("sda", "/dev/sda1", "xfs", "/data", 800),
            mount("sdb", "/dev/sdb1", "ntfs3", "/media/usb", 400),
            mount("sda", "/dev/sda1", "xfs", "/srv/data", 800),
        ];
        for first in 0..mounts.len() {
            let mut turned = mounts.to_vec();
            turned.rotate_left(first);
            let drives = joined(turned);
            check(&drives);
            let sizes: Vec<_> = drives.iter().map(|d| (&*d.device, d.total)).collect();
            assert_eq!(sizes, [("nvme0n1", 1000), ("sda", 800), ("sdb", 400)]);
        }
    }

    #[test]
    fn what_is_detected_here_is_where_it_is_said_to_be() {
        // A sandbox may show no drive at all, so the rules themselves are tested above.
        let drives = detect();
        check(&drives);
        for drive in &drives {
            assert_eq!(device_of(&drive.mounts[0]).unwrap().to_string(), drive.device);
        }
    }
}
