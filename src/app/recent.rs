//! The projects that were opened or saved last, kept in a file of the user's.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::App;
use super::log::Level;
use super::task::{Poll, Task, Wake};

/// Projects remembered.
const MOST: usize = 10;

/// A project that was open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its file.
    pub path: PathBuf,
    /// Whether the file is gone.
    pub missing: bool,
}

/// What is done to the list, all off the window's thread.
#[derive(Debug)]
enum Change {
    /// Nothing but a look at which files are there.
    Look,
    /// A project was opened or saved.
    Add(PathBuf),
    /// The user does not want it listed.
    Remove(PathBuf),
}

/// The list after its changes, and why it could not be kept.
type Outcome = (Vec<Entry>, Option<String>);

/// The list, latest first.
#[derive(Debug, Default)]
pub struct Recent {
    /// The file; without one the list is the window's own.
    file: Option<PathBuf>,
    entries: Vec<Entry>,
    waiting: Vec<Change>,
    task: Option<Task<Outcome>>,
}

impl Recent {
    /// The projects, latest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Keeps the list in `file`, and reads what is there.
    pub fn keep_in(&mut self, file: PathBuf) {
        self.file = Some(file);
        self.look();
    }

    /// Looks which files are there.
    pub fn look(&mut self) {
        self.waiting.push(Change::Look);
    }

    /// Puts a project first.
    pub fn add(&mut self, path: &Path) {
        self.waiting.push(Change::Add(path.into()));
    }

    /// Takes a project off the list.
    pub fn remove(&mut self, path: PathBuf) {
        self.waiting.push(Change::Remove(path));
    }

    /// Takes the list in when it is ready, and starts on what is waiting; an error is new.
    pub fn poll(&mut self, wake: &Wake) -> Option<String> {
        let mut error = None;
        if let Some(task) = &self.task {
            match task.poll() {
                Poll::Pending => return None,
                Poll::Done((entries, failed)) => (self.entries, error) = (entries, failed),
                Poll::Lost => error = Some("this is a defect of Gigafringe".into()),
            }
            self.task = None;
        }
        if !self.waiting.is_empty() {
            let (file, changes) = (self.file.clone(), std::mem::take(&mut self.waiting));
            let known = self.entries.iter().map(|entry| entry.path.clone()).collect();
            let work = move || carry_out(file.as_deref(), known, changes);
            self.task = Some(Task::spawn("recent projects", wake.clone(), work));
        }
        error
    }

    /// Waits until everything is in the file.
    pub fn finish(&mut self, wake: &Wake) {
        while self.task.is_some() || !self.waiting.is_empty() {
            self.poll(wake);
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
    }
}

/// Makes the changes to what the file has, where another window may have added something.
fn carry_out(file: Option<&Path>, known: Vec<PathBuf>, changes: Vec<Change>) -> Outcome {
    let before = file.map_or_else(|| known, read);
    let mut paths = before.clone();
    for change in changes {
        match change {
            Change::Look => {}
            Change::Add(path) => {
                let path = std::path::absolute(&path).unwrap_or(path);
                paths.retain(|other| *other != path);
                paths.insert(0, path);
            }
            Change::Remove(path) => paths.retain(|other| *other != path),
        }
    }
    paths.truncate(MOST);
    let written = match file {
        Some(file) if paths != before => write(file, &paths),
        _ => Ok(()),
    };
    let entries = paths.into_iter().map(|path| Entry { missing: !path.is_file(), path }).collect();
    (entries, written.err().map(|error| error.to_string()))
}

/// What the file has; nothing where it is missing or damaged.
fn read(file: &Path) -> Vec<PathBuf> {
    std::fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
}

fn write(file: &Path, paths: &[PathBuf]) -> std::io::Result<()> {
    let folder = crate::storage::folder_of(file);
    std::fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(&serde_json::to_vec_pretty(paths)?)?;
    temporary.persist(file)?;
    Ok(())
}

impl App {
    /// Keeps the list of recent projects up.
    pub(super) fn poll_recent(&mut self) {
        if let Some(error) = self.recent.poll(&self.wake) {
            self.say(Level::Note, format!("The list of recent projects could not be kept: {error}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(outcome: &Outcome) -> Vec<&str> {
        outcome.0.iter().map(|entry| entry.path.to_str().unwrap()).collect()
    }

    fn add(file: &Path, path: &str) -> Outcome {
        carry_out(Some(file), Vec::new(), vec![Change::Add(path.into())])
    }

    #[test]
    fn the_latest_is_first_once_and_ten_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made/recent.json");
        for i in 0..12 {
            add(&file, &format!("/p/{i}.json"));
        }
        let outcome = add(&file, "/p/5.json");
        let expected = [5, 11, 10, 9, 8, 7, 6, 4, 3, 2].map(|i| format!("/p/{i}.json"));
        assert_eq!(paths(&outcome), expected);
        assert_eq!(outcome.1, None);
        // Another window reads the same.
        assert_eq!(carry_out(Some(&file), Vec::new(), vec![Change::Look]), outcome);
        let outcome = carry_out(Some(&file), Vec::new(), vec![Change::Remove("/p/11.json".into())]);
        assert_eq!(paths(&outcome).len(), 9);
        assert!(!paths(&outcome).contains(&"/p/11.json"));
    }

    #[test]
    fn missing_files_are_told_from_those_that_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("recent.json");
        let there = folder.path().join("a.json");
        std::fs::write(&there, "{}").unwrap();
        add(&file, "/no/such/project.json");
        let (entries, _) = add(&file, there.to_str().unwrap());
        assert_eq!(entries.iter().map(|entry| entry.missing).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn a_damaged_file_is_begun_anew_and_one_that_cannot_be_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("recent.json");
        for text in ["", "{]", "[1, 2]", "\0"] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(paths(&add(&file, "/a.json")), ["/a.json"], "{text}");
        }
        let taken = file.join("recent.json");
        let outcome = add(&taken, "/a.json");
        assert_eq!(paths(&outcome), ["/a.json"]);
        assert!(outcome.1.is_some());
    }

    #[test]
    fn without_a_file_the_window_has_a_list_of_its_own() {
        let outcome = carry_out(None, vec!["/a.json".into()], vec![Change::Add("/b.json".into())]);
        assert_eq!(paths(&outcome), ["/b.json", "/a.json"]);
    }
}
