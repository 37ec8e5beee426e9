//! The projects that were opened or saved last.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::App;
use super::kept::{Kept, Listed};
use super::log::Level;

/// A project that was open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "PathBuf", into = "PathBuf")]
pub struct Entry {
    /// Its file.
    pub path: PathBuf,
    /// Whether the file is gone.
    pub missing: bool,
}

impl Entry {
    /// A project's file, wherever the program is started next.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        Self { path: std::path::absolute(path).unwrap_or_else(|_| path.into()), missing: false }
    }
}

impl From<PathBuf> for Entry {
    fn from(path: PathBuf) -> Self {
        Self { path, missing: false }
    }
}

impl From<Entry> for PathBuf {
    fn from(entry: Entry) -> Self {
        entry.path
    }
}

impl Listed for Entry {
    const MOST: usize = 10;

    fn is(&self, other: &Self) -> bool {
        self.path == other.path
    }

    fn look(&mut self) {
        self.missing = !self.path.is_file();
    }
}

/// The list, latest first.
pub type Recent = Kept<Entry>;

impl App {
    /// Keeps the list of recent projects up.
    pub(super) fn poll_recent(&mut self) {
        if let (_, Some(error)) = self.recent.poll(&self.wake) {
            self.say(Level::Note, format!("The list of recent projects could not be kept: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_files_are_told_from_those_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let there = folder.path().join("a.json");
        std::fs::write(&there, "{}").unwrap();
        let missing = |path: &Path| {
            let mut entry = Entry::of(path);
            entry.look();
            entry.missing
        };
        assert!(!missing(&there));
        assert!(missing(Path::new("/no/such/project.json")) && missing(folder.path()));
    }

    #[test]
    fn a_project_is_listed_by_its_whole_path_alone() {
        let entry = Entry::of(Path::new("a.json"));
        assert!(entry.path.is_absolute());
        let text = serde_json::to_string(&entry).unwrap();
        assert_eq!(text, serde_json::to_string(&entry.path).unwrap());
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
    }
}
