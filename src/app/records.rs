//! What is kept of runs: their events in files, and the history.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::App;
use super::fields::Field;
use super::history;
use super::log::Level;
use super::run_view::{RunState, RunView};
use super::task::{Poll, Task};
use super::text;
use crate::engine::Event;
use crate::run::{RunError, load_events, save_events};

/// The most events kept of a run, to be saved; some hundred bytes each.
const MOST: usize = 400_000;

/// The events of the run that is shown, and the files they go to and come from.
#[derive(Default)]
pub(super) struct Records {
    events: Arc<Vec<Event>>,
    /// Events beyond [`MOST`], which are not kept.
    beyond: usize,
    saving: Option<Task<Result<PathBuf, RunError>>>,
    loading: Option<Task<Loaded>>,
}

/// A file, and its events.
type Loaded = (PathBuf, Result<Vec<Event>, RunError>);

impl Records {
    /// Forgets the last run's events.
    pub fn clear(&mut self) {
        self.events = Arc::default();
        self.beyond = 0;
    }

    /// Keeps an event, pictures aside.
    pub fn keep(&mut self, event: &Event) {
        if matches!(event, Event::Preview { .. }) {
            return;
        }
        if self.events.len() < MOST || !matches!(event, Event::Chunk(_)) {
            Arc::make_mut(&mut self.events).push(event.clone());
        } else {
            self.beyond += 1;
        }
    }

    /// Whether a file is being read or written.
    pub const fn busy(&self) -> bool {
        self.saving.is_some() || self.loading.is_some()
    }
}

impl App {
    /// Writes the events of the run that is shown to a file.
    pub(super) fn save_events(&mut self, path: PathBuf, force: bool) {
        if self.records.saving.is_some() {
            return;
        }
        if self.records.events.is_empty() {
            self.say(
                Level::Note,
                "The events of this run are not kept any more; only those of the last one are",
            );
            return;
        }
        let path = with_ending(path, "jsonl");
        let events = self.records.events.clone();
        self.records.saving = Some(Task::spawn("save events", self.wake.clone(), move || {
            save_events(&path, &events, force).map(|()| path)
        }));
    }

    /// Reads a run's events from a file, to show it.
    pub(super) fn open_events(&mut self, path: &Path) {
        if self.is_running() || self.records.loading.is_some() {
            self.say(Level::Note, "Events can be opened when the run has ended");
            return;
        }
        let path = path.to_path_buf();
        self.records.loading = Some(Task::spawn("open events", self.wake.clone(), move || {
            let events = load_events(&path);
            (path, events)
        }));
    }

    pub(super) fn poll_records(&mut self) {
        match self.records.saving.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => {}
            Some(done) => {
                self.records.saving = None;
                self.events_saved(done);
            }
        }
        match self.records.loading.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => {}
            Some(done) => {
                self.records.loading = None;
                match done {
                    Poll::Done((path, Ok(events))) if !self.is_running() => self.show_events(&path, events),
                    Poll::Done((_, Err(error))) => self.say(Level::Error, error.to_string()),
                    _ => self.say(Level::Error, "The events were not opened"),
                }
            }
        }
    }

    fn events_saved(&mut self, done: Poll<Result<PathBuf, RunError>>) {
        match done {
            Poll::Done(Ok(path)) => {
                self.drafts.forget(Field::EventsFile);
                let beyond = match self.records.beyond {
                    0 => String::new(),
                    count => format!(", without the last {count} chunks' events, which were not kept"),
                };
                self.say(Level::Info, format!("Saved the events to {}{beyond}", path.display()));
            }
            Poll::Done(Err(error)) => self.say(Level::Error, written(&error)),
            Poll::Lost | Poll::Pending => self.say(Level::Error, "The events were not saved"),
        }
    }

    /// Shows a run that was saved.
    fn show_events(&mut self, path: &Path, events: Vec<Event>) {
        let mut view = RunView::starting(0.0);
        for event in &events {
            view.apply(event.clone(), 0.0);
        }
        if view.is_active() {
            view.end(RunState::Failed("the file ends before the run did".into()), 0.0);
        }
        view.end_after_its_events();
        self.records.clear();
        self.records.events = Arc::new(events);
        self.forget_last_run();
        self.ran = None;
        self.history.add(&view, None, Some(text::file_name(path)));
        self.view = view;
        self.drafts.forget(Field::EventsFile);
        self.say(Level::Info, format!("Opened {}", path.display()));
    }

    /// Adds the run that has just ended to the history.
    pub(super) fn remember_run(&mut self) {
        if !self.view.jobs().is_empty() {
            self.history.add(&self.view, self.ran.as_ref(), None);
        }
    }

    /// Shows the charts of an earlier run.
    pub(super) fn show_run(&mut self, id: usize) {
        if self.is_running() {
            self.say(Level::Note, "An earlier run can be shown when this one has ended");
            return;
        }
        if let Some(view) = self.history.entry(id).and_then(history::Entry::view) {
            self.view = view.clone();
            self.ran = None;
            self.records.clear();
            self.forget_last_run();
            self.history.show(Some(id));
        }
    }

    /// Writes the history to a file.
    pub(super) fn export_history(&mut self, path: PathBuf, force: bool) {
        let path = with_ending(path, "csv");
        if path.exists() && !force {
            self.say(Level::Error, exists(&path));
            return;
        }
        // Some hundred lines: written at once.
        let written = history::csv(self.history.entries().iter())
            .map_err(std::io::Error::other)
            .and_then(|table| std::fs::write(&path, table));
        match written {
            Ok(()) => {
                self.drafts.forget(Field::HistoryFile);
                self.say(Level::Info, format!("Wrote the history to {}", path.display()));
            }
            Err(error) => {
                let text = format!("{}: cannot be written ({error}); choose another file", path.display());
                self.say(Level::Error, text);
            }
        }
    }

    /// Sorts the history by a column, the other way round if it was sorted by it.
    pub(super) const fn sort_history(&mut self, column: history::Column) {
        let (now, down) = self.history.sorted;
        self.history.sorted = (column, now as u8 == column as u8 && !down);
    }
}

fn with_ending(mut path: PathBuf, ending: &str) -> PathBuf {
    if path.extension().is_none() {
        path.set_extension(ending);
    }
    path
}

fn exists(path: &Path) -> String {
    format!("{} exists; type another name, or choose it in the file dialog to replace it", path.display())
}

fn written(error: &RunError) -> String {
    match error {
        RunError::Exists { path } => exists(path),
        other => other.to_string(),
    }
}
