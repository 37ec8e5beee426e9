//! Which physical devices a folder lies on.

use std::io;
use std::path::Path;

/// Names of the physical devices that hold `folder`, sorted; at least one.
///
/// Folders with equal names share a device. Where the system does not tell (file systems without a
/// device, macOS, Windows) the name stands for the volume.
pub fn device_names(folder: &Path) -> io::Result<Vec<String>> {
    #[cfg(target_os = "linux")]
    return linux::device_names(folder);
    #[cfg(not(target_os = "linux"))]
    file_system(folder).map(|volume| vec![volume])
}

/// A name of the file system that holds `folder`: folders with equal names share their free space.
pub fn file_system(folder: &Path) -> io::Result<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Ok(format!("volume {}", std::fs::metadata(folder)?.dev()))
    }
    #[cfg(windows)]
    {
        use std::path::{Component, Prefix};
        let full = std::fs::canonicalize(folder)?;
        Ok(match full.components().next() {
            Some(Component::Prefix(prefix)) => match prefix.kind() {
                Prefix::Disk(letter) | Prefix::VerbatimDisk(letter) => {
                    format!("{}:", char::from(letter.to_ascii_uppercase()))
                }
                _ => prefix.as_os_str().to_string_lossy().to_lowercase(),
            },
            _ => full.display().to_string(),
        })
    }
}

/// Whether the device of this name is made by a hypervisor or is a file in disguise.
pub fn is_virtual(name: &str) -> bool {
    #[cfg(target_os = "linux")]
    return linux::is_virtual(Path::new("/sys/class/block"), name);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = name;
        false
    }
}

/// The kind of file system that holds `folder`, as the system calls it; none where it does not tell.
pub fn file_system_kind(folder: &Path) -> Option<String> {
    #[cfg(target_os = "linux")]
    return linux::file_system_kind(folder);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = folder;
        None
    }
}

/// How the device of this name is connected, in a word; `unknown` where the system does not tell.
pub fn bus_of(name: &str) -> &'static str {
    #[cfg(target_os = "linux")]
    return linux::bus_of(Path::new("/sys/class/block"), name);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = name;
        "unknown"
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeSet;
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};
    use std::{fs, io};

    use rustix::fs::{major, minor};

    /// Layers of volumes upon volumes that are followed; more is a loop.
    const DEPTH: usize = 16;

    pub fn device_names(folder: &Path) -> io::Result<Vec<String>> {
        let sysfs = Path::new("/sys/dev/block");
        let folder = fs::canonicalize(folder)?;
        let number = fs::metadata(&folder)?.dev();
        let disks = disks_of(sysfs, number);
        if !disks.is_empty() {
            return Ok(disks);
        }
        // btrfs and ZFS give each subvolume a number of its own that leads to no device; the table
        // of mounts knows where they come from.
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        if let Some(mount) = mount_of(&table, &folder) {
            if let Ok(source) = fs::metadata(&mount.source) {
                let disks = disks_of(sysfs, source.rdev());
                if !disks.is_empty() {
                    return Ok(disks);
                }
            }
            if mount.file_system == "zfs" {
                let pool =
                    mount.source.components().next().map(|c| c.as_os_str().to_string_lossy().into_owned());
                return Ok(vec![format!("pool {}", pool.unwrap_or_default())]);
            }
        }
        Ok(vec![format!("volume {}:{}", major(number), minor(number))])
    }

    /// Names of the disks under block device `number`, sorted; empty if `root` (`/sys/dev/block`)
    /// does not have it.
    fn disks_of(root: &Path, number: u64) -> Vec<String> {
        let mut disks = BTreeSet::new();
        if let Ok(device) = fs::canonicalize(root.join(format!("{}:{}", major(number), minor(number)))) {
            collect_disks(&device, DEPTH, &mut disks);
        }
        disks.into_iter().collect()
    }

    /// Adds the disks under the device with the sysfs folder `device`: itself, the disk it is a
    /// partition of, or all that a mapped or striped volume consists of.
    fn collect_disks(device: &Path, depth: usize, disks: &mut BTreeSet<String>) {
        let device = match device.parent() {
            Some(disk) if device.join("partition").exists() => disk,
            _ => device,
        };
        let parts: Vec<PathBuf> = fs::read_dir(device.join("slaves"))
            .map(|entries| entries.flatten().filter_map(|e| fs::canonicalize(e.path()).ok()).collect())
            .unwrap_or_default();
        if parts.is_empty() || depth == 0 {
            disks.extend(device.file_name().map(|name| name.to_string_lossy().into_owned()));
        } else {
            for part in parts {
                collect_disks(&part, depth - 1, disks);
            }
        }
    }

    /// A line of the table of mounts.
    #[derive(Debug, PartialEq)]
    struct Mount {
        file_system: String,
        source: PathBuf,
    }

    /// The mount that holds `folder`, an absolute path, in a table as `/proc/self/mountinfo` has it.
    fn mount_of(table: &str, folder: &Path) -> Option<Mount> {
        let lines = table.lines().filter_map(|line| {
            let (mount, origin) = line.split_once(" - ")?;
            let point = PathBuf::from(unescaped(mount.split(' ').nth(4)?));
            let mut origin = origin.split(' ');
            let file_system = origin.next()?.to_owned();
            let source = PathBuf::from(unescaped(origin.next()?));
            folder.starts_with(&point).then_some((point.components().count(), Mount { file_system, source }))
        });
        // Of mounts on the same point the last one hides the others; `max_by_key` takes the last.
        lines.max_by_key(|(depth, _)| *depth).map(|(_, mount)| mount)
    }

    pub fn file_system_kind(folder: &Path) -> Option<String> {
        let table = fs::read_to_string("/proc/self/mountinfo").ok()?;
        mount_of(&table, &fs::canonicalize(folder).ok()?).map(|mount| mount.file_system)
    }

    /// A field of the table of mounts with its octal escapes undone.
    fn unescaped(field: &str) -> String {
        ["\\040", "\\011", "\\012", "\\134"]
            .iter()
            .zip([" ", "\t", "\n", "\\"])
            .fold(field.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
    }

    /// `root` is `/sys/class/block`.
    pub fn is_virtual(root: &Path, name: &str) -> bool {
        let by_name = ["vd", "xvd", "loop", "nbd", "rbd"].iter().any(|prefix| {
            // `vda`, `loop0`; not a word that merely begins so.
            name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty() && rest.len() <= 4)
        });
        let model = fs::read_to_string(root.join(name).join("device/model")).unwrap_or_default();
        let model = model.to_lowercase();
        by_name || ["qemu", "vbox", "virtual", "vmware"].iter().any(|maker| model.contains(maker))
    }

    /// `root` is `/sys/class/block`, whose links lead through every controller on the way to the disk.
    pub fn bus_of(root: &Path, name: &str) -> &'static str {
        let Ok(device) = fs::canonicalize(root.join(name)) else { return "unknown" };
        let steps: Vec<String> = device.iter().map(|step| step.to_string_lossy().into_owned()).collect();
        let step = |prefix: &str| {
            // `ata1`, `usb2`; not a word that merely begins so.
            let numbered = |step: &String| {
                step.strip_prefix(prefix)
                    .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
            };
            steps.iter().any(numbered)
        };
        // A disk in a USB case is behind a SCSI host as well: the slowest cable comes first.
        for (prefix, bus) in [
            ("usb", "USB"),
            ("mmc", "MMC"),
            ("virtio", "virtio"),
            ("nvme", "NVMe"),
            ("nvme-subsys", "NVMe"),
            ("ata", "SATA"),
            ("zram", "memory"),
            ("ram", "memory"),
            ("loop", "loop"),
            ("nbd", "network"),
            ("rbd", "network"),
            ("host", "SCSI"),
        ] {
            if step(prefix) {
                return bus;
            }
        }
        "unknown"
    }

    #[cfg(test)]
    mod tests {
        use std::os::unix::fs::symlink;

        use rustix::fs::makedev;
        use tempfile::TempDir;

        use super::*;

        /// A made-up sysfs: devices under `devices`, links to them by number under `dev/block`.
        struct Sysfs(TempDir);

        impl Sysfs {
            fn new() -> Self {
                let folder = tempfile::tempdir().unwrap();
                fs::create_dir_all(folder.path().join("dev/block")).unwrap();
                Self(folder)
            }

            fn root(&self) -> PathBuf {
                self.0.path().join("dev/block")
            }

            fn add(&self, path: &str, number: (u32, u32), parts: &[&str]) {
                let device = self.0.path().join("devices").join(path);
                fs::create_dir_all(device.join("slaves")).unwrap();
                for part in parts {
                    let target = self.0.path().join("devices").join(part);
                    symlink(&target, device.join("slaves").join(target.file_name().unwrap())).unwrap();
                }
                symlink(&device, self.root().join(format!("{}:{}", number.0, number.1))).unwrap();
            }

            fn add_partition(&self, path: &str, number: (u32, u32)) {
                self.add(path, number, &[]);
                fs::write(self.0.path().join("devices").join(path).join("partition"), "1\n").unwrap();
            }

            fn disks(&self, number: (u32, u32)) -> Vec<String> {
                disks_of(&self.root(), makedev(number.0, number.1))
            }
        }

        fn example() -> Sysfs {
            let sysfs = Sysfs::new();
            sysfs.add("pci/sda", (8, 0), &[]);
            sysfs.add_partition("pci/sda/sda1", (8, 1));
            sysfs.add_partition("pci/sda/sda2", (8, 2));
            sysfs.add("pci/sdb", (8, 16), &[]);
            sysfs.add_partition("pci/sdb/sdb1", (8, 17));
            sysfs.add("pci/nvme0n1", (259, 0), &[]);
            // An encrypted partition; a logical volume on a partition and on a whole disk.
            sysfs.add("virtual/dm-0", (253, 0), &["pci/sda/sda2"]);
            sysfs.add("virtual/dm-1", (253, 1), &["pci/sda/sda1", "pci/nvme0n1"]);
            // A stripe over two disks, with a partition on it, and a volume on that.
            sysfs.add("virtual/md0", (9, 0), &["pci/sdb/sdb1", "pci/nvme0n1"]);
            sysfs.add_partition("virtual/md0/md0p1", (259, 7));
            sysfs.add("virtual/dm-2", (253, 2), &["virtual/md0/md0p1"]);
            sysfs
        }

        #[test]
        fn a_partition_is_its_disk() {
            let sysfs = example();
            assert_eq!(sysfs.disks((8, 1)), ["sda"]);
            assert_eq!(sysfs.disks((8, 1)), sysfs.disks((8, 2)));
            assert_eq!(sysfs.disks((8, 0)), ["sda"]);
            assert_ne!(sysfs.disks((8, 17)), sysfs.disks((8, 1)));
            assert_eq!(sysfs.disks((259, 0)), ["nvme0n1"]);
        }

        #[test]
        fn a_mapped_or_striped_volume_is_all_the_disks_below_it() {
            let sysfs = example();
            assert_eq!(sysfs.disks((253, 0)), ["sda"]);
            assert_eq!(sysfs.disks((253, 1)), ["nvme0n1", "sda"]);
            assert_eq!(sysfs.disks((9, 0)), ["nvme0n1", "sdb"]);
            assert_eq!(sysfs.disks((259, 7)), ["nvme0n1", "sdb"]);
            assert_eq!(sysfs.disks((253, 2)), ["nvme0n1", "sdb"]);
        }

        #[test]
        fn an_unknown_number_has_no_disk_and_a_ring_of_volumes_ends() {
            let sysfs = example();
            assert!(sysfs.disks((0, 42)).is_empty());
            sysfs.add("virtual/dm-8", (253, 8), &["virtual/dm-9"]);
            sysfs.add("virtual/dm-9", (253, 9), &["virtual/dm-8"]);
            assert_eq!(sysfs.disks((253, 8)).len(), 1);
        }

        const TABLE: &str = "\
25 1 0:23 / / rw,relatime shared:1 - btrfs /dev/sda2 rw,subvol=/root
26 25 0:23 /home /home rw shared:2 - btrfs /dev/sda2 rw,subvol=/home
27 25 0:50 / /data/fast\\040one rw - zfs tank/fast rw
28 27 0:51 / /data/fast\\040one/ram rw master:3 shared:4 - tmpfs tmpfs rw
29 25 8:17 / /mnt rw - ext4 /dev/sdb1 rw
30 25 8:33 / /mnt rw - xfs /dev/sdc1 rw
";

        #[test]
        fn the_deepest_and_latest_mount_holds_a_folder() {
            let source = |folder| {
                let mount = mount_of(TABLE, Path::new(folder)).unwrap();
                (mount.file_system, mount.source.display().to_string())
            };
            let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
            assert_eq!(source("/"), pair("btrfs", "/dev/sda2"));
            assert_eq!(source("/home/someone"), pair("btrfs", "/dev/sda2"));
            assert_eq!(source("/data/fast one/a"), pair("zfs", "tank/fast"));
            assert_eq!(source("/data/fast one/ram"), pair("tmpfs", "tmpfs"));
            assert_eq!(source("/data/fast one/ramp"), pair("zfs", "tank/fast"));
            assert_eq!(source("/mnt/x"), pair("xfs", "/dev/sdc1"));
        }

        #[test]
        fn virtual_disks_are_told_by_name_or_by_model() {
            let folder = tempfile::tempdir().unwrap();
            for (name, model) in
                [("sda", "QEMU HARDDISK   \n"), ("sdb", "Samsung SSD 870\n"), ("sdc", "Virtual Disk\n")]
            {
                fs::create_dir_all(folder.path().join(name).join("device")).unwrap();
                fs::write(folder.path().join(name).join("device/model"), model).unwrap();
            }
            let named = |name| is_virtual(folder.path(), name);
            assert!(named("sda") && !named("sdb") && named("sdc"));
            assert!(named("vda") && named("xvdb") && named("loop12") && !named("nvme0n1") && !named("vd"));
        }

        #[test]
        fn the_bus_is_read_off_the_way_to_the_disk() {
            let folder = tempfile::tempdir().unwrap();
            let root = folder.path().join("class");
            fs::create_dir(&root).unwrap();
            for (path, bus) in [
                ("pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda", "SATA"),
                ("pci0000:00/0000:01:00.0/nvme/nvme0/nvme0n1", "NVMe"),
                ("virtual/nvme-subsystem/nvme-subsys0/nvme1n1", "NVMe"),
                ("pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host6/target6:0:0/6:0:0:0/block/sdb", "USB"),
                ("pci0000:00/0000:00:04.0/virtio1/block/vda", "virtio"),
                ("pci0000:00/0000:00:05.0/virtio2/host2/target2:0:0/2:0:0:0/block/sdc", "virtio"),
                ("platform/mmc_host/mmc0/mmc0:0001/block/mmcblk0", "MMC"),
                ("pci0000:00/0000:02:00.0/host3/port-3:0/end_device-3:0/target3:0:0/block/sdd", "SCSI"),
                ("virtual/block/zram0", "memory"),
                ("virtual/block/loop4", "loop"),
                ("vio/viodasd", "unknown"),
            ] {
                let device = folder.path().join("devices").join(path);
                fs::create_dir_all(&device).unwrap();
                let name = device.file_name().unwrap();
                symlink(&device, root.join(name)).unwrap();
                assert_eq!(bus_of(&root, name.to_str().unwrap()), bus, "{path}");
            }
            assert_eq!(bus_of(&root, "nosuchdisk"), "unknown");
        }
    }
}
