//! Runs a project: one hologram and its reconstructions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::Receiver;

use crate::engine::Event;
use crate::project::{Project, ProjectError};

/// Asks a run to stop; clones ask the same run.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the run to stop soon.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to stop.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A run on its own thread.
#[derive(Debug)]
pub struct RunHandle {
    /// What happens, in order; the last one satisfies [`Event::is_last`].
    pub events: Receiver<Event>,
    /// Stops the run.
    pub cancel: Cancel,
    thread: JoinHandle<()>,
}

impl RunHandle {
    /// A handle on the run that `thread` carries out.
    #[must_use]
    pub const fn new(events: Receiver<Event>, cancel: Cancel, thread: JoinHandle<()>) -> Self {
        Self { events, cancel, thread }
    }

    /// Waits until the run's thread has ended.
    pub fn join(self) {
        drop(self.events);
        // A panic was already seen by the receiver: the events ended without a last one.
        drop(self.thread.join());
    }
}

/// Why a project cannot be run: one sentence with the field or file and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The project itself is at fault.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// There is no engine yet.
    #[error("method: this build has no engine; only the window can be tried")]
    NoEngine,
}

/// What a project would need.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Estimate {
    /// Bytes of memory for all buffers.
    pub memory: u64,
    /// Lines handled at once.
    pub chunk: usize,
    /// Bytes of intermediate files.
    pub scratch_bytes: u64,
    /// Bytes of the hologram's file.
    pub output_bytes: u64,
    /// Bytes read and written over the whole run.
    pub bytes_moved: u64,
    /// What the user should know beforehand.
    pub notes: Vec<String>,
}

/// Checks everything that can be checked, then runs on a background thread.
pub fn start(
    project: &Project,
    _force: bool,
    _wake: impl Fn() + Send + Sync + 'static,
) -> Result<RunHandle, RunError> {
    project.validate()?;
    Err(RunError::NoEngine)
}

/// Memory, scratch and bytes of a project without running it.
pub fn estimate(project: &Project) -> Result<Estimate, RunError> {
    project.validate()?;
    Err(RunError::NoEngine)
}
