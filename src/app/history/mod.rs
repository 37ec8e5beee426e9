//! The runs that have ended: what they were, what they took, and which one another is compared with.

mod entry;
mod page;
mod table;

pub use entry::{DriveRate, Ended, Entry};
pub use page::show;
pub use table::{Column, csv};

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::App;
use super::kept::{Kept, Listed as _};
use super::log::Level;
use super::run_view::RunView;
use super::task::Wake;
use crate::project::Project;

/// Runs whose charts are kept.
const WITH_CHARTS: usize = 12;
/// Runs that are listed.
const MOST: usize = 500;
/// The highest number that is believed when it is read from a file.
const HIGHEST: usize = 1_000_000_000;

/// The runs, oldest first.
#[derive(Debug, Default)]
pub struct History {
    entries: Vec<Entry>,
    /// The list of all windows and starts.
    kept: Kept<Entry>,
    /// Whether that list was read.
    is_read: bool,
    next: usize,
    compared: Option<usize>,
    /// The run that is shown, if it has ended.
    current: Option<usize>,
    /// The column that the table is sorted by, and whether from the largest.
    pub sorted: (Column, bool),
}

impl History {
    /// Adds a run that has ended; `name` is that of the file it came from, if it did not run here.
    pub fn add(&mut self, view: &RunView, project: Option<&Project>, name: Option<String>) {
        self.next += 1;
        // A file of events can be opened again.
        let ran_here = name.is_none();
        let entry = Entry::of(self.next, view, project, name);
        if ran_here && self.kept.has_file() {
            let mut kept = entry.clone();
            kept.forget_charts();
            self.kept.add(kept);
        }
        self.entries.push(entry);
        self.current = Some(self.next);
        let charts = self.entries.iter().filter(|entry| entry.view().is_some()).count();
        if charts > WITH_CHARTS {
            let compared = self.compared;
            let oldest = self.entries.iter_mut().find(|e| e.view().is_some() && Some(e.id) != compared);
            oldest.into_iter().for_each(Entry::forget_charts);
        }
        if self.entries.len() > MOST {
            let first = self.entries.remove(0);
            self.compared = self.compared.filter(|&id| id != first.id);
        }
    }

    /// Keeps the list in `file`, and reads what is there.
    pub fn keep_in(&mut self, file: PathBuf) {
        self.kept.keep_in(file);
    }

    /// Takes in what the file has of earlier starts; an error is new.
    fn poll(&mut self, wake: &Wake) -> Option<String> {
        let (taken, error) = self.kept.poll(wake);
        if taken && !self.is_read {
            self.is_read = true;
            self.take_in_earlier();
        }
        error
    }

    /// Puts the runs of earlier starts before those of this one.
    fn take_in_earlier(&mut self) {
        let earlier = self.kept.entries().iter().rev().cloned();
        let mut own = std::mem::take(&mut self.entries);
        self.entries = earlier.filter(|run| !own.iter().any(|other| other.is(run))).collect();
        let mut used: BTreeSet<usize> = own.iter().map(|run| run.id).collect();
        for run in &mut self.entries {
            // Two windows may have given the same number, and a file may say anything.
            if run.id > HIGHEST || !used.insert(run.id) {
                run.id = (1..HIGHEST).find(|&number| used.insert(number)).unwrap_or(HIGHEST);
            }
        }
        self.next = used.last().copied().unwrap_or(0);
        self.entries.append(&mut own);
    }

    /// Waits until everything is in the file.
    pub fn finish(&mut self, wake: &Wake) {
        self.kept.finish(wake);
    }

    /// The runs, oldest first.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// A run by its number.
    #[must_use]
    pub fn entry(&self, id: usize) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// Takes a run off the list.
    pub fn remove(&mut self, id: usize) {
        if let Some(entry) = self.entry(id).filter(|_| self.kept.has_file()) {
            self.kept.remove(entry.clone());
        }
        self.entries.retain(|entry| entry.id != id);
        self.compared = self.compared.filter(|&compared| compared != id);
    }

    /// Compares the others with this run, or with none.
    pub fn compare(&mut self, id: Option<usize>) {
        self.compared = id;
    }

    /// The run that others are compared with.
    #[must_use]
    pub fn compared(&self) -> Option<&Entry> {
        self.compared.and_then(|id| self.entry(id))
    }

    /// A run begins, or one is shown.
    pub fn show(&mut self, id: Option<usize>) {
        self.current = id;
    }

    /// The number of the run that is shown, if it has ended.
    #[must_use]
    pub const fn current(&self) -> Option<usize> {
        self.current
    }

    /// The name of the run that is shown.
    #[must_use]
    pub fn name_of_current(&self) -> String {
        self.current.and_then(|id| self.entry(id)).map_or_else(|| "this run".into(), Entry::short_name)
    }
}

impl App {
    /// Keeps the history up.
    pub(super) fn poll_history(&mut self) {
        if let Some(error) = self.history.poll(&self.wake) {
            self.say(Level::Note, format!("The history could not be kept for the next start: {error}"));
        }
    }
}
