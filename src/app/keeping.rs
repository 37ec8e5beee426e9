//! The window's side of recovery: when unsaved changes are kept, offered and forgotten.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use egui::Context;

use super::commands::Command;
use super::log::Level;
use super::questions::Question;
use super::recovery::{self, Found, Slot};
use super::task::{Poll, Task};
use super::{App, blank_project, clock, recent, text};
use crate::project::Project;

/// How often unsaved changes are kept.
pub const EVERY: Duration = Duration::from_secs(3);

/// The project as it was kept, and its file.
type Kept = (Project, Option<PathBuf>);

/// What a window keeps of its unsaved changes, and what others have left behind.
#[derive(Debug, Default)]
pub struct Keeping {
    /// Where; nowhere keeps nothing.
    folder: Option<PathBuf>,
    every: Duration,
    slot: Arc<Mutex<Option<Slot>>>,
    kept: Option<Kept>,
    kept_at: Option<Instant>,
    task: Option<Task<Result<(), String>>>,
    failed: bool,
    looking: Option<Task<(Vec<Found>, Vec<String>)>>,
    found: VecDeque<Found>,
}

/// The slot under its lock; a thread that panicked has left it whole.
fn locked(slot: &Mutex<Option<Slot>>) -> std::sync::MutexGuard<'_, Option<Slot>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the project, or forgets what was kept.
fn carry_out(folder: &Path, slot: &Mutex<Option<Slot>>, kept: Option<&Kept>) -> Result<(), String> {
    let mut slot = locked(slot);
    let Some((project, path)) = kept else {
        if let Some(slot) = slot.take() {
            slot.remove();
        }
        return Ok(());
    };
    if slot.is_none() {
        *slot = Some(Slot::new(folder).map_err(|error| error.to_string())?);
    }
    match slot.as_mut() {
        Some(slot) => slot.keep(project, path.as_deref()),
        None => Ok(()),
    }
}

impl App {
    /// Keeps unsaved changes, the list of recent projects and the history in `folder`, and offers what was left there.
    ///
    /// Unsaved changes are kept at most once in `every`. A window that is not told a folder writes nothing but
    /// what it is asked for.
    pub fn keep_in(&mut self, folder: &Path, every: Duration) {
        self.recent.keep_in(folder.join("recent.json"));
        self.history.keep_in(folder.join("history.json"));
        if let Some(path) = &self.path {
            self.recent.add(recent::Entry::of(path));
        }
        let folder = folder.join("recovery");
        self.keeping.every = every;
        self.keeping.folder = Some(folder.clone());
        self.keeping.looking =
            Some(Task::spawn("look for unsaved changes", self.wake.clone(), move || recovery::look(&folder)));
    }

    /// Keeps what has changed, and asks about what was found.
    pub(super) fn poll_keeping(&mut self, ctx: &Context) {
        self.take_found();
        if let Some(task) = &self.keeping.task {
            let result = match task.poll() {
                Poll::Pending => return,
                Poll::Done(result) => result,
                Poll::Lost => Err("this is a defect of Gigafringe".into()),
            };
            self.keeping.task = None;
            if let Err(error) = &result
                && !self.keeping.failed
            {
                self.say(Level::Note, format!("Unsaved changes cannot be kept for a recovery: {error}"));
            }
            self.keeping.failed = result.is_err();
        }
        let Some(folder) = self.keeping.folder.clone() else { return };
        let dirty = self.is_dirty();
        let known = match &self.keeping.kept {
            Some((project, path)) => dirty && *project == self.project && *path == self.path,
            None => !dirty,
        };
        if known {
            return;
        }
        let waited = self.keeping.kept_at.map_or(self.keeping.every, |at| at.elapsed());
        if dirty && waited < self.keeping.every {
            ctx.request_repaint_after(self.keeping.every.saturating_sub(waited));
            return;
        }
        let kept = dirty.then(|| (self.project.clone(), self.path.clone()));
        self.keeping.kept.clone_from(&kept);
        self.keeping.kept_at = Some(Instant::now());
        let slot = self.keeping.slot.clone();
        let work = move || carry_out(&folder, &slot, kept.as_ref());
        self.keeping.task = Some(Task::spawn("keep unsaved changes", self.wake.clone(), work));
    }

    fn take_found(&mut self) {
        match self.keeping.looking.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => {}
            Some(Poll::Lost) => self.keeping.looking = None,
            Some(Poll::Done((found, unreadable))) => {
                self.keeping.looking = None;
                self.keeping.found = found.into();
                for error in unreadable {
                    self.say(
                        Level::Note,
                        format!("Unsaved changes of an earlier window cannot be read: {error}"),
                    );
                }
            }
        }
        if self.question.is_none()
            && let Some(found) = self.keeping.found.front()
        {
            let name = found.path().map_or_else(|| "untitled".into(), text::file_name);
            let when = clock::moment(found.at, SystemTime::now());
            self.question = Some(Question::Recover { name, when });
        }
    }

    /// Opens the project with the unsaved changes that were asked about.
    pub(super) fn recover(&mut self) {
        if self.keeping.task.is_some() {
            // This window's own files are just being written or removed; a frame does not wait for that.
            self.commands.push(Command::Recover);
            return;
        }
        self.question = None;
        let Some(Found { slot, project, saved, at }) = self.keeping.found.pop_front() else { return };
        let path = slot.named_file();
        self.replace_project(project.clone(), path.clone());
        // What is left of the changes is what the file does not have.
        self.saved = saved.unwrap_or_else(blank_project);
        // From here on these files are this window's own.
        if let Some(own) = locked(&self.keeping.slot).replace(slot) {
            own.remove();
        }
        self.keeping.kept = Some((project, path));
        let when = clock::moment(at, SystemTime::now());
        self.say(Level::Info, format!("Recovered the unsaved changes from {when}; Save keeps them"));
    }

    /// Forgets the unsaved changes that were asked about.
    pub(super) fn discard_found(&mut self) {
        self.question = None;
        if let Some(found) = self.keeping.found.pop_front() {
            found.slot.remove();
        }
    }

    /// Leaves the unsaved changes that were asked about where they are, for another start.
    pub(super) fn leave_found(&mut self) {
        self.keeping.found.pop_front();
    }

    fn wait_for_keeping(&mut self) {
        while let Some(Poll::Pending) = self.keeping.task.as_ref().map(Task::poll) {
            std::thread::sleep(Duration::from_millis(2));
        }
        self.keeping.task = None;
    }

    /// The window closes: what was saved or discarded is forgotten. Changes that nobody was asked about, since
    /// a signal ended the program, are kept.
    pub(super) fn finish_keeping(&mut self) {
        self.wait_for_keeping();
        if let Some(folder) = &self.keeping.folder {
            let kept = self.is_dirty().then(|| (self.project.clone(), self.path.clone()));
            // There is no window left to say that it failed.
            let _ = carry_out(folder, &self.keeping.slot, kept.as_ref());
        }
        self.keeping.slot = Arc::default();
        let wake = self.wake.clone();
        self.recent.finish(&wake);
        self.history.finish(&wake);
    }
}
