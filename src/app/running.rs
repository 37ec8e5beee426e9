//! The window's side of a run: starting it, taking its events in, stopping it.

use std::time::{Duration, Instant};

use crossbeam_channel::TryRecvError;
use egui::Context;

use super::App;
use super::log::Level;
use super::questions::Question;
use super::run_view::{RunState, RunView};
use super::task::{Poll, Task};
use super::text;
use crate::engine::Event;
use crate::run::{RunError, RunHandle};

/// The time a frame may spend on events; the rest waits for the next frame.
const DRAIN_TIME: Duration = Duration::from_millis(3);
/// Events between two looks at the clock.
const DRAIN_BATCH: usize = 256;
/// How often the elapsed time is drawn during a run.
pub(super) const TICK: Duration = Duration::from_millis(200);

/// The run's thread, as far as there is one.
#[derive(Default)]
pub(super) enum Activity {
    /// None.
    #[default]
    Idle,
    /// The project is being checked.
    Starting(Task<Result<RunHandle, RunError>>),
    /// Under way.
    Running(RunHandle),
}

impl App {
    pub(super) fn start_run(&mut self, force: bool) {
        if self.is_running() || self.blocked().is_some() {
            return;
        }
        let starting = RunView::starting(self.now());
        let view = std::mem::replace(&mut self.view, starting);
        let ran = self.ran.replace(self.project.clone());
        self.before_run = Some((view, ran));
        self.stopping = false;
        self.log.dismiss();
        self.say(Level::Info, "Checking the project");
        let (backend, project) = (self.backend.clone(), self.project.clone());
        let wake = self.wake.clone();
        let wake_run = self.wake.clone();
        self.activity = Activity::Starting(Task::spawn("start run", wake, move || {
            backend.start(&project, force, Box::new(move || wake_run.call()))
        }));
    }

    pub(super) fn forget_last_run(&mut self) {
        self.before_run = None;
        self.pictures.clear();
        self.selected_pass = None;
    }

    pub(super) fn cancel_run(&mut self) {
        self.stopping = self.is_running();
        if let Activity::Running(handle) = &self.activity {
            handle.cancel.cancel();
        }
    }

    /// Why a run cannot start now.
    pub(super) fn blocked(&self) -> Option<String> {
        if let Some(refused) = self.drafts.refused() {
            return Some(refused);
        }
        if self.measure_task.is_some() || self.drives_page.is_measuring() {
            return Some(
                "This machine is being measured, which takes some seconds; a run would spoil it".into(),
            );
        }
        if self.lab.is_running() {
            return Some("A comparison is under way in the lab; a run would spoil it".into());
        }
        if self.project.layers.is_empty() {
            return Some("Add at least one image as a layer first".into());
        }
        self.project.validate().err().map(|error| error.to_string())
    }

    /// Takes in what the run has reported, for a bounded time.
    pub(super) fn drain_run(&mut self, ctx: &Context) {
        if let Activity::Starting(task) = &self.activity {
            match task.poll() {
                Poll::Pending => {}
                Poll::Done(Ok(handle)) => {
                    if self.stopping {
                        handle.cancel.cancel();
                    }
                    self.forget_last_run();
                    self.records.clear();
                    self.history.show(None);
                    self.activity = Activity::Running(handle);
                }
                Poll::Done(Err(RunError::Exists { path })) => {
                    // Nothing has happened yet: the last run stays in view behind the question.
                    (self.view, self.ran) = self.before_run.take().unwrap_or_default();
                    self.activity = Activity::Idle;
                    self.say(Level::Note, format!("Not started: {} exists", path.display()));
                    self.question = Some(Question::Overwrite(path));
                }
                Poll::Done(Err(error)) => {
                    self.forget_last_run();
                    self.end_run(RunState::Failed(error.to_string()));
                }
                Poll::Lost => self.end_run(RunState::Failed(
                    "the check of the project ended without a result: this is a defect of Gigafringe".into(),
                )),
            }
        }
        let deadline = Instant::now() + DRAIN_TIME;
        while let Activity::Running(handle) = &self.activity {
            let mut batch = Vec::with_capacity(DRAIN_BATCH);
            let mut gone = false;
            while batch.len() < DRAIN_BATCH {
                match handle.events.try_recv() {
                    Ok(event) => batch.push(event),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Disconnected) => {
                        gone = true;
                        break;
                    }
                }
            }
            let more = batch.len() == DRAIN_BATCH;
            for event in batch {
                self.take_event(event);
            }
            if gone && self.view.is_active() {
                self.end_run(RunState::Failed(
                    "the engine ended without a result: this is a defect of Gigafringe".into(),
                ));
            }
            if !more {
                break;
            }
            if Instant::now() > deadline {
                ctx.request_repaint();
                break;
            }
        }
        if self.view.is_active() {
            ctx.request_repaint_after(TICK);
        }
    }

    fn take_event(&mut self, event: Event) {
        let now = self.now();
        if event.is_last() {
            self.records.keep(&event);
        }
        match &event {
            Event::Note { text } => self.say(Level::Note, text.clone()),
            Event::JobStarted { name, job, jobs, method, .. } => {
                self.say(Level::Info, format!("Job {} of {jobs}: {name}, method {method}", job + 1));
            }
            Event::Finished { seconds } => return self.end_run(RunState::Finished(*seconds)),
            Event::Cancelled { text } => return self.end_run(RunState::Cancelled(text.clone())),
            Event::Failed { text } => return self.end_run(RunState::Failed(text.clone())),
            Event::PassStarted { .. }
            | Event::PassFinished { .. }
            | Event::Chunk(_)
            | Event::Preview { .. }
            | Event::Lines { .. } => {}
        }
        self.records.keep(&event);
        self.view.apply(event, now);
    }

    fn end_run(&mut self, state: RunState) {
        match &state {
            RunState::Finished(seconds) => {
                let path = &self.ran.as_ref().unwrap_or(&self.project).output.path;
                let text = format!("Finished in {}: {}", text::seconds(*seconds), path.display());
                self.say(Level::Info, text);
            }
            RunState::Cancelled(text) => self.say(Level::Note, text::sentence(text)),
            RunState::Failed(text) => self.say(Level::Error, format!("The run failed: {text}")),
            RunState::Idle | RunState::Starting | RunState::Running => {}
        }
        let now = self.now();
        self.view.end(state, now);
        self.remember_run();
        self.stopping = false;
        // Not joined here: the thread may still be removing files, and a frame must not wait.
        if let Activity::Running(handle) = std::mem::take(&mut self.activity) {
            self.ended = Some(handle);
        }
    }

    /// Waits for a measurement, so that its file does not stay on a drive.
    pub(super) fn wait_for_measure(&self) {
        self.drives_page.stop_and_wait();
        while let Some(Poll::Pending) = self.measure_task.as_ref().map(Task::poll) {
            std::thread::sleep(TICK / 10);
        }
    }

    /// Stops a run that is still under way when the window is gone, and waits for it.
    pub(super) fn wait_for_run(&mut self) {
        if let Some(handle) = self.ended.take() {
            handle.join();
        }
        if let Activity::Running(handle) = std::mem::take(&mut self.activity) {
            handle.cancel.cancel();
            handle.join();
        }
    }
}
