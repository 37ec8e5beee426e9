//! Unsaved changes, kept beside the project's file so that a crash does not cost them.
//!
//! A window with unsaved changes has two files: a project file, and a lock file that it holds open and locked.
//! The system gives the lock back however the window ends, so a project whose lock is free was left behind.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::project::Project;

/// How a lock file's name ends.
const LOCK: &str = "lock";

/// The two files of one window, or of one that ended.
#[derive(Debug)]
pub struct Slot {
    /// The lock file, locked; it names the project's own file.
    lock: File,
    lock_path: PathBuf,
    /// What `lock` names.
    named: Option<PathBuf>,
}

impl Slot {
    /// A new one in `folder`, with nothing in it.
    pub fn new(folder: &Path) -> std::io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        let file = tempfile::Builder::new().prefix("unsaved-").suffix(".lock").tempfile_in(folder)?;
        let (lock, lock_path) = file.keep()?;
        lock.try_lock()?;
        Ok(Self { lock, lock_path, named: None })
    }

    /// The project file.
    fn kept(&self) -> PathBuf {
        self.lock_path.with_extension("json")
    }

    /// The project's own file.
    #[must_use]
    pub fn named_file(&self) -> Option<PathBuf> {
        self.named.clone()
    }

    /// Keeps `project`, whose own file is `path`.
    pub fn keep(&mut self, project: &Project, path: Option<&Path>) -> Result<(), String> {
        if self.named.as_deref() != path {
            self.name(path).map_err(|error| error.to_string())?;
            self.named = path.map(Path::to_path_buf);
        }
        project.save(&self.kept()).map_err(|error| error.to_string())
    }

    fn name(&mut self, path: Option<&Path>) -> std::io::Result<()> {
        let path = path.map(std::path::absolute).transpose()?;
        self.lock.set_len(0)?;
        self.lock.seek(SeekFrom::Start(0))?;
        self.lock.write_all(&serde_json::to_vec(&path)?)
    }

    /// Removes both files.
    pub fn remove(self) {
        // What cannot be removed is offered at the next start, and can be discarded there.
        let _ = std::fs::remove_file(self.kept());
        let _ = std::fs::remove_file(&self.lock_path);
    }

    /// Takes over what a window has left behind; none if that window still lives.
    fn take_over(kept: &Path) -> Option<Self> {
        let lock_path = kept.with_extension(LOCK);
        let mut lock =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&lock_path).ok()?;
        match lock.try_lock() {
            Ok(()) => {}
            // Where locks do not work nothing is offered, rather than what is in use.
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return None,
        }
        let mut text = String::new();
        // A project whose file is not known is offered as one without a file.
        let _ = lock.read_to_string(&mut text);
        let named = serde_json::from_str(&text).unwrap_or_default();
        Some(Self { lock, lock_path, named })
    }
}

/// Unsaved changes that were left behind; while this lives, no other window finds them.
#[derive(Debug)]
pub struct Found {
    /// Their files.
    pub slot: Slot,
    /// The project with the changes.
    pub project: Project,
    /// The project as its own file has it, if that can be read.
    pub saved: Option<Project>,
    /// When they were kept.
    pub at: SystemTime,
}

impl Found {
    /// The project's own file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.slot.named.as_deref()
    }
}

/// Looks for what windows that no longer live have left in `folder`; latest first, with what could not be read.
#[must_use]
pub fn look(folder: &Path) -> (Vec<Found>, Vec<String>) {
    let (mut all, mut unreadable) = (Vec::new(), Vec::new());
    // No folder: nothing was ever left.
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let kept = entry.path();
        if kept.extension().is_none_or(|ending| ending != "json") {
            continue;
        }
        let Some(slot) = Slot::take_over(&kept) else { continue };
        match Project::load(&kept) {
            Ok(project) => {
                let saved = slot.named.as_deref().and_then(|path| Project::load(path).ok());
                let at = entry.metadata().and_then(|m| m.modified()).unwrap_or_else(|_| SystemTime::now());
                all.push(Found { slot, project, saved, at });
            }
            // Another window has just removed it.
            Err(_) if !kept.exists() => slot.remove(),
            Err(error) => unreadable.push(error.to_string()),
        }
    }
    all.sort_by_key(|found| std::cmp::Reverse(found.at));
    (all, unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Edit, blank_project};

    fn changed() -> Project {
        let mut project = blank_project();
        Edit::AddLayer("/images/cat.png".into()).apply(&mut project);
        project.output.path = "/images/hologram.npy".into();
        project
    }

    fn files(folder: &Path) -> usize {
        std::fs::read_dir(folder).map_or(0, Iterator::count)
    }

    #[test]
    fn what_was_left_behind_is_found_once_and_what_is_in_use_never() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("made/recovery");
        assert!(look(&folder).0.is_empty());
        let own = home.path().join("own.json");
        blank_project().save(&own).unwrap();
        let mut slot = Slot::new(&folder).unwrap();
        let mut empty = Slot::new(&folder).unwrap();
        slot.keep(&changed(), Some(&own)).unwrap();
        assert!(look(&folder).0.is_empty(), "its window lives");

        drop(slot);
        let (mut found, unreadable) = look(&folder);
        assert_eq!((found.len(), unreadable.len()), (1, 0), "and the one with nothing in it is not offered");
        assert_eq!(found[0].path(), Some(own.as_path()));
        assert_eq!(found[0].project, changed());
        assert_eq!(found[0].saved.as_ref().unwrap().layers.len(), 0);
        assert!(look(&folder).0.is_empty(), "it is being offered");
        // The finder's changes are kept in the same files.
        found[0].slot.keep(&blank_project(), None).unwrap();
        assert!(look(&folder).0.is_empty());
        drop(found);
        let (found, _) = look(&folder);
        assert_eq!((found[0].path(), found[0].project.layers.len()), (None, 0));
        for found in found {
            found.slot.remove();
        }
        assert!(look(&folder).0.is_empty());
        empty.keep(&changed(), None).unwrap();
        empty.remove();
        assert_eq!(files(&folder), 0, "nothing is left");
    }

    #[test]
    fn a_project_without_its_lock_file_is_offered_and_a_damaged_one_is_told() {
        let folder = tempfile::tempdir().unwrap();
        changed().save(&folder.path().join("unsaved-a.json")).unwrap();
        std::fs::write(folder.path().join("unsaved-b.json"), "{ half of").unwrap();
        std::fs::write(folder.path().join("unsaved-c.lock"), "").unwrap();
        let (found, unreadable) = look(folder.path());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path(), &found[0].project), (None, &changed()));
        assert!(unreadable.len() == 1 && unreadable[0].contains("unsaved-b.json"), "{unreadable:?}");
    }

    #[test]
    fn paths_are_found_again_from_another_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mut slot = Slot::new(folder.path()).unwrap();
        let mut project = blank_project();
        Edit::AddLayer("relative/cat.png".into()).apply(&mut project);
        slot.keep(&project, Some(Path::new("relative/project.json"))).unwrap();
        drop(slot);
        let found = look(folder.path()).0.remove(0);
        let here = std::env::current_dir().unwrap();
        assert_eq!(found.project.layers[0].image, here.join("relative/cat.png"));
        assert_eq!(found.path(), Some(here.join("relative/project.json").as_path()));
    }
}
