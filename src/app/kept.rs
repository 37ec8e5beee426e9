//! A list in a file of the user's, latest first; several windows may share it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::task::{Poll, Task, Wake};

/// What such a list holds.
pub trait Listed: Serialize + DeserializeOwned + Clone + Send + 'static {
    /// The most that are kept.
    const MOST: usize;

    /// Whether the two are one thing, of which only the later is kept.
    fn is(&self, other: &Self) -> bool;

    /// Looks at what may have changed on disk; called off the window's thread.
    fn look(&mut self) {}
}

/// What is done to the list, all off the window's thread.
#[derive(Debug)]
enum Change<T> {
    /// Nothing but a look.
    Look,
    Add(T),
    Remove(T),
}

/// The list after its changes, and why it could not be kept.
type Outcome<T> = (Vec<T>, Option<String>);

/// The list.
#[derive(Debug)]
pub struct Kept<T> {
    /// The file; without one the list is the window's own.
    file: Option<PathBuf>,
    entries: Vec<T>,
    waiting: Vec<Change<T>>,
    task: Option<Task<Outcome<T>>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self { file: None, entries: Vec::new(), waiting: Vec::new(), task: None }
    }
}

impl<T: Listed> Kept<T> {
    /// What is listed, latest first.
    #[must_use]
    pub fn entries(&self) -> &[T] {
        &self.entries
    }

    /// Keeps the list in `file`, and reads what is there.
    pub fn keep_in(&mut self, file: PathBuf) {
        self.file = Some(file);
        self.look();
    }

    /// Whether there is a file.
    #[must_use]
    pub const fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Looks what the file has by now.
    pub fn look(&mut self) {
        self.waiting.push(Change::Look);
    }

    /// Puts an entry first.
    pub fn add(&mut self, entry: T) {
        self.waiting.push(Change::Add(entry));
    }

    /// Takes an entry off the list.
    pub fn remove(&mut self, entry: T) {
        self.waiting.push(Change::Remove(entry));
    }

    /// Takes the list in when it is ready, and starts on what is waiting; an error is new.
    ///
    /// Returns whether the list was taken in.
    pub fn poll(&mut self, wake: &Wake) -> (bool, Option<String>) {
        let (mut taken, mut error) = (false, None);
        if let Some(task) = &self.task {
            match task.poll() {
                Poll::Pending => return (false, None),
                Poll::Done((entries, failed)) => (self.entries, error, taken) = (entries, failed, true),
                Poll::Lost => error = Some("this is a defect of Gigafringe".into()),
            }
            self.task = None;
        }
        if !self.waiting.is_empty() {
            let (file, changes) = (self.file.clone(), std::mem::take(&mut self.waiting));
            let known = self.entries.clone();
            let work = move || carry_out(file.as_deref(), known, changes);
            self.task = Some(Task::spawn("kept list", wake.clone(), work));
        }
        (taken, error)
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
fn carry_out<T: Listed>(file: Option<&Path>, known: Vec<T>, changes: Vec<Change<T>>) -> Outcome<T> {
    let before = file.map_or(known, read);
    let mut entries = before.clone();
    for change in changes {
        match change {
            Change::Look => {}
            Change::Add(entry) => {
                entries.retain(|other| !other.is(&entry));
                entries.insert(0, entry);
            }
            Change::Remove(entry) => entries.retain(|other| !other.is(&entry)),
        }
    }
    entries.truncate(T::MOST);
    let changed =
        entries.len() != before.len() || entries.iter().zip(&before).any(|(now, then)| !now.is(then));
    let written = match file {
        Some(file) if changed => write(file, &entries),
        _ => Ok(()),
    };
    entries.iter_mut().for_each(T::look);
    (entries, written.err().map(|error| error.to_string()))
}

/// What the file has: nothing where it is missing or damaged, and of its entries those that can be understood.
fn read<T: DeserializeOwned>(file: &Path) -> Vec<T> {
    let values: Option<Vec<serde_json::Value>> =
        std::fs::read(file).ok().and_then(|text| serde_json::from_slice(&text).ok());
    values.into_iter().flatten().filter_map(|value| serde_json::from_value(value).ok()).collect()
}

fn write<T: Serialize>(file: &Path, entries: &[T]) -> std::io::Result<()> {
    let folder = crate::storage::folder_of(file);
    std::fs::create_dir_all(folder)?;
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(&serde_json::to_vec_pretty(entries)?)?;
    temporary.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Listed for String {
        const MOST: usize = 10;

        fn is(&self, other: &Self) -> bool {
            self == other
        }
    }

    fn add(file: &Path, entry: &str) -> Outcome<String> {
        carry_out(Some(file), Vec::new(), vec![Change::Add(entry.into())])
    }

    #[test]
    fn the_latest_is_first_once_and_so_many_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made/list.json");
        for i in 0..12 {
            add(&file, &format!("/p/{i}.json"));
        }
        let outcome = add(&file, "/p/5.json");
        let expected = [5, 11, 10, 9, 8, 7, 6, 4, 3, 2].map(|i| format!("/p/{i}.json"));
        assert_eq!(outcome.0, expected);
        assert_eq!(outcome.1, None);
        // Another window reads the same.
        assert_eq!(carry_out(Some(&file), Vec::new(), vec![Change::Look]), outcome);
        let outcome = carry_out(Some(&file), Vec::new(), vec![Change::Remove("/p/11.json".to_owned())]);
        assert_eq!(outcome.0.len(), 9);
        assert!(!outcome.0.contains(&"/p/11.json".to_owned()));
    }

    #[test]
    fn a_damaged_file_is_begun_anew_and_one_that_cannot_be_written_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("list.json");
        for text in ["", "{]", "[1, 2]", "\0"] {
            std::fs::write(&file, text).unwrap();
            assert_eq!(add(&file, "/a.json").0, ["/a.json"], "{text}");
        }
        std::fs::write(&file, r#"["/b.json", 7, "/c.json"]"#).unwrap();
        assert_eq!(add(&file, "/a.json").0, ["/a.json", "/b.json", "/c.json"]);
        let taken = file.join("list.json");
        let outcome = add(&taken, "/a.json");
        assert_eq!(outcome.0, ["/a.json"]);
        assert!(outcome.1.is_some());
    }

    #[test]
    fn without_a_file_the_window_has_a_list_of_its_own() {
        let outcome = carry_out(None, vec!["/a.json".to_owned()], vec![Change::Add("/b.json".to_owned())]);
        assert_eq!(outcome.0, ["/b.json", "/a.json"]);
    }
}
