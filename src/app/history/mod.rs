//! The runs of this window: what they were, what they took, and which one another is compared with.

mod entry;
mod page;
mod table;

pub use entry::{DriveRate, Entry};
pub use page::show;
pub use table::{Column, csv};

use super::run_view::RunView;
use crate::project::Project;

/// Runs whose charts are kept.
const WITH_CHARTS: usize = 12;
/// Runs that are listed.
const MOST: usize = 500;

/// The runs, oldest first.
#[derive(Debug, Default)]
pub struct History {
    entries: Vec<Entry>,
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
        self.entries.push(Entry::of(self.next, view, project, name));
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
