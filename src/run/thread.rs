//! A project's run on a thread of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::JoinHandle;

use crossbeam_channel::Receiver;

use super::hologram::{check_project, run_checked};
use super::{RunError, Settings};
use crate::engine::{Cancel, EngineError, Event, EventSink, panic_text};
use crate::project::Project;

/// A run in progress.
pub struct RunHandle {
    /// What it reports; the last event is `Finished`, `Cancelled` or `Failed`.
    pub events: Receiver<Event>,
    /// Stops it.
    pub cancel: Cancel,
    thread: JoinHandle<()>,
}

impl RunHandle {
    /// A run whose thread is `thread`.
    #[must_use]
    pub const fn new(events: Receiver<Event>, cancel: Cancel, thread: JoinHandle<()>) -> Self {
        Self { events, cancel, thread }
    }

    /// Waits until the run's thread has ended.
    pub fn join(self) {
        // A panic of the thread has already been reported as `Failed`.
        let _ = self.thread.join();
    }
}

/// Checks what can be checked at once, then runs `project` on a background thread.
///
/// `wake` is called after every event, from any thread, and should return at once.
pub fn start(
    project: &Project,
    force: bool,
    wake: impl Fn() + Send + Sync + 'static,
) -> Result<RunHandle, RunError> {
    let settings = Settings { force, ..Settings::from(project) };
    let plan = check_project(project, &settings)?;
    let (sink, events) = EventSink::channel(wake);
    let sink = sink.watching();
    let cancel = Cancel::default();
    let (project, stop) = (project.clone(), cancel.clone());
    let thread = std::thread::Builder::new()
        .name("engine".into())
        .spawn(move || {
            let run = || run_checked(&project, &settings, &plan, &sink, &stop);
            let last = match catch_unwind(AssertUnwindSafe(run)) {
                Ok(Ok(_)) => return,
                Ok(Err(error)) if error.is_cancelled() => Event::Cancelled { text: error.to_string() },
                Ok(Err(error)) => Event::Failed { text: error.to_string() },
                Err(panic) => Event::Failed { text: EngineError::Panicked(panic_text(&*panic)).to_string() },
            };
            sink.send(last);
        })
        .map_err(|e| EngineError::Threads(e.to_string()))?;
    Ok(RunHandle { events, cancel, thread })
}
