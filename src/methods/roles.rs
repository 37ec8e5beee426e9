//! Which drive has which role.

use std::path::{Path, PathBuf};

use crate::project::{Drive, Role};
use crate::storage::folder_of;

/// The drives of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roles {
    /// A folder on each drive.
    pub drives: Vec<PathBuf>,
    /// Folders of the drives that are one striped volume, which is then the only drive.
    pub stripes: Vec<PathBuf>,
    /// The drive of each role, A to D.
    pub roles: [usize; 4],
    /// The drive the source is read from.
    pub source: usize,
    /// The drive the output is written to.
    pub output: usize,
}

impl Roles {
    /// Gives every role a drive.
    ///
    /// A role that is missing falls to another, so that each pass still reads from one drive and
    /// writes to another where there are two: B to A, C to B, D to A. Without any drive the folder
    /// of the output (or of the source) has all roles. `same_device` tells whether two folders are
    /// on one device: a source or output outside the drives' folders joins the drive that shares its
    /// device, and is a drive of its own if none does.
    #[must_use]
    pub fn assign(
        drives: &[Drive],
        source: Option<&Path>,
        output: Option<&Path>,
        same_device: impl Fn(&Path, &Path) -> bool,
    ) -> Self {
        let folder = |file: &Path| folder_of(file).to_path_buf();
        let (source, output) = (source.map(folder), output.map(folder));
        let mut folders: Vec<PathBuf> = Vec::new();
        let mut index = |path: &Path| {
            folders.iter().position(|f| f == path).unwrap_or_else(|| {
                folders.push(path.to_path_buf());
                folders.len() - 1
            })
        };
        let mut given = [None; 4];
        for drive in drives {
            given[drive.role as usize] = Some(index(&drive.path));
        }
        let first = given
            .iter()
            .flatten()
            .next()
            .copied()
            .unwrap_or_else(|| index(output.as_deref().or(source.as_deref()).unwrap_or(Path::new("."))));
        let a = given[Role::A as usize].unwrap_or(first);
        let b = given[Role::B as usize].unwrap_or(a);
        let c = given[Role::C as usize].unwrap_or(b);
        let d = given[Role::D as usize].unwrap_or(a);
        let mut place = |path: Option<PathBuf>, preferred: usize| {
            let Some(path) = path else { return preferred };
            // The deepest folder it lies in: another drive may be mounted within a drive's folder.
            let inside = (0..folders.len()).filter(|&i| path.starts_with(&folders[i]));
            if let Some(inside) = inside.max_by_key(|&i| folders[i].components().count()) {
                return inside;
            }
            // The preferred drive first, so that it is the one where several share the device.
            let mut order: Vec<_> = (0..folders.len()).collect();
            order.sort_by_key(|&i| i != preferred);
            order.into_iter().find(|&i| same_device(&folders[i], &path)).unwrap_or_else(|| {
                folders.push(path);
                folders.len() - 1
            })
        };
        let source = place(source, a);
        let output = place(output, b);
        Self { drives: folders, stripes: Vec::new(), roles: [a, b, c, d], source, output }
    }

    /// All roles on one volume that is striped over `drives`, of which there is at least one; it counts as a
    /// single drive, and source and output as being on it.
    #[must_use]
    pub fn striped(drives: &[Drive]) -> Self {
        let mut stripes: Vec<PathBuf> = Vec::new();
        for drive in drives {
            if !stripes.contains(&drive.path) {
                stripes.push(drive.path.clone());
            }
        }
        let first = stripes.first().cloned().unwrap_or_else(|| ".".into());
        Self { drives: vec![first], stripes, roles: [0; 4], source: 0, output: 0 }
    }

    /// The drive of `role`.
    #[must_use]
    pub const fn drive(&self, role: Role) -> usize {
        self.roles[role as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drives(list: &[(&str, Role)]) -> Vec<Drive> {
        list.iter().map(|&(path, role)| Drive { path: path.into(), role }).collect()
    }

    #[test]
    fn missing_roles_fall_so_that_each_pass_reads_one_drive_and_writes_another() {
        let roles = |list: &[(&str, Role)]| Roles::assign(&drives(list), None, None, |_, _| false).roles;
        assert_eq!(roles(&[("a", Role::A)]), [0, 0, 0, 0]);
        assert_eq!(roles(&[("a", Role::A), ("b", Role::B)]), [0, 1, 1, 0]);
        assert_eq!(roles(&[("a", Role::A), ("b", Role::B), ("c", Role::C)]), [0, 1, 2, 0]);
        let four = [("a", Role::A), ("b", Role::B), ("c", Role::C), ("d", Role::D)];
        assert_eq!(roles(&four), [0, 1, 2, 3]);
        assert_eq!(roles(&[("x", Role::A), ("y", Role::B), ("x", Role::C), ("y", Role::D)]), [0, 1, 0, 1]);
        assert_eq!(roles(&[("x", Role::C)]), [0, 0, 0, 0]);
    }

    #[test]
    fn files_join_the_drive_they_lie_on() {
        let list = drives(&[("/a", Role::A), ("/b", Role::B)]);
        let on_b = |folder: &Path, other: &Path| folder == Path::new("/b") && other == Path::new("/mnt");
        let inside =
            Roles::assign(&list, Some(Path::new("/b/in.npy")), Some(Path::new("/a/x/out.npy")), on_b);
        assert_eq!((inside.source, inside.output, inside.drives.len()), (1, 0, 2));
        let device =
            Roles::assign(&list, Some(Path::new("/mnt/in.npy")), Some(Path::new("/c/out.npy")), on_b);
        assert_eq!((device.source, device.output), (1, 2));
        assert_eq!(device.drives[2], Path::new("/c"));
        let nested = drives(&[("/mnt", Role::A), ("/mnt/fast", Role::B)]);
        let deep = Roles::assign(&nested, None, Some(Path::new("/mnt/fast/x/out.npy")), |_, _| false);
        assert_eq!(deep.output, 1);
        let alone = Roles::assign(&[], None, Some(Path::new("out.npy")), on_b);
        assert_eq!((alone.drives, alone.roles), (vec![PathBuf::from(".")], [0; 4]));
    }
}
