//! The drives' page: every device with its folders, measuring, and the roles.

mod dialog;
mod roles;
mod table;
mod view;
mod words;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::App;
use super::commands::Command;
use super::log::Level;
use super::needs::Needs;
use super::pages::Page;
use super::task::{Poll, Task};
use crate::engine::Cancel;
use crate::machine::{Bottleneck, MeasureStep, Place, Together};
use crate::optics::Bytes;
use crate::planner::{AssignError, Proposal};
use crate::run::RunError;
use crate::storage::DetectedDrive;

use dialog::Dialog;
use view::Seen;

/// What the user can ask for on the drives' page.
#[derive(Debug, Clone, PartialEq)]
pub enum DrivesCommand {
    /// Show the page, and ask there which folders to measure.
    ChooseMeasured,
    /// Take that question away.
    CloseDialog,
    /// Measure these folders with files of at most so many bytes.
    Measure(Vec<PathBuf>, Bytes),
    /// Stop measuring.
    StopMeasuring,
    /// Work out which folder should have which role.
    Propose,
    /// Take the proposal away.
    DismissProposal,
}

/// A measurement under way.
struct Measuring {
    folders: Vec<PathBuf>,
    task: Task<Result<Together, RunError>>,
    cancel: Cancel,
    step: Arc<Mutex<Option<MeasureStep>>>,
}

/// What a list of places is about.
#[derive(PartialEq)]
struct Subject {
    drives: Vec<DetectedDrive>,
    folders: Vec<PathBuf>,
}

/// What the page shows and does.
#[derive(Default)]
pub(super) struct DrivesPage {
    places: Vec<Place>,
    /// What `places`, or the look under way, is about.
    places_of: Option<Subject>,
    looking: Option<Task<(Vec<Place>, Vec<Bottleneck>)>>,
    dialog: Option<Dialog>,
    /// Whether the dialog is wanted as soon as the folders were looked at.
    asked_to_measure: bool,
    measuring: Option<Measuring>,
    bottlenecks: Vec<Bottleneck>,
    proposing: Option<Task<Result<Proposal, AssignError>>>,
    proposal: Option<Result<Proposal, String>>,
}

impl DrivesPage {
    /// Whether drives are being measured.
    pub const fn is_measuring(&self) -> bool {
        self.measuring.is_some()
    }

    /// Whether anything is being worked out.
    pub const fn busy(&self) -> bool {
        self.looking.is_some() || self.measuring.is_some() || self.proposing.is_some()
    }

    /// Forgets who shares a bottleneck, until that is read again: drives were measured anew.
    pub fn forget_bottlenecks(&mut self) {
        self.bottlenecks.clear();
    }

    /// Asks a measurement to stop.
    pub fn stop(&self) {
        if let Some(measuring) = &self.measuring {
            measuring.cancel.cancel();
        }
    }

    /// Stops a measurement and waits for it, so that no file stays on a drive.
    pub fn stop_and_wait(&self) {
        self.stop();
        while let Some(Poll::Pending) = self.measuring.as_ref().map(|measuring| measuring.task.poll()) {
            std::thread::sleep(super::running::TICK / 10);
        }
    }
}

impl App {
    /// Carries out a command of the drives' page.
    pub(super) fn carry_out_drives(&mut self, command: DrivesCommand) {
        match command {
            DrivesCommand::ChooseMeasured => {
                self.options.page = Page::Drives;
                self.drives_page.asked_to_measure = true;
            }
            DrivesCommand::CloseDialog => self.drives_page.dialog = None,
            DrivesCommand::Measure(folders, bytes) => {
                self.drives_page.dialog = None;
                self.measure_drives(folders, bytes);
            }
            DrivesCommand::StopMeasuring => self.drives_page.stop(),
            DrivesCommand::Propose => self.propose_roles(),
            DrivesCommand::DismissProposal => self.drives_page.proposal = None,
        }
    }

    /// Shows the page in the middle of the window.
    pub(super) fn show_drives_page(&mut self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let seen = Seen {
            project: &self.project,
            drives: self.drives.as_deref(),
            needs: &self.needs,
            blocked: self.measuring_blocked(),
            dialog_open: self.dialog.is_some(),
        };
        egui::CentralPanel::default().show(ui, |ui| self.drives_page.show(ui, &seen, commands));
    }

    /// Why drives cannot be measured now.
    pub(super) fn measuring_blocked(&self) -> Option<&'static str> {
        if self.is_running() {
            Some("A run is under way; it would spoil the figures")
        } else if self.lab.is_running() {
            Some("A comparison is under way in the lab; it would spoil the figures")
        } else if self.measure_task.is_some() || self.drives_page.is_measuring() {
            Some("A measurement is under way")
        } else {
            None
        }
    }

    fn measure_drives(&mut self, folders: Vec<PathBuf>, bytes: Bytes) {
        if self.measuring_blocked().is_some() || folders.is_empty() {
            return;
        }
        let (backend, wake) = (self.backend.clone(), self.wake.clone());
        let cancel = Cancel::default();
        let step: Arc<Mutex<Option<MeasureStep>>> = Arc::default();
        let work = {
            let (folders, cancel, step) = (folders.clone(), cancel.clone(), step.clone());
            move || {
                backend.measure_drives(&folders, bytes.0, &cancel, &|now| {
                    *step.lock().unwrap_or_else(PoisonError::into_inner) = Some(now);
                    wake.call();
                })
            }
        };
        let task = Task::spawn("measure drives", self.wake.clone(), work);
        self.drives_page.measuring = Some(Measuring { folders, task, cancel, step });
    }

    fn propose_roles(&mut self) {
        let (backend, project) = (self.backend.clone(), self.project.clone());
        let (places, bottlenecks) = (self.drives_page.places.clone(), self.drives_page.bottlenecks.clone());
        self.drives_page.proposal = None;
        self.drives_page.proposing = Some(Task::spawn("propose roles", self.wake.clone(), move || {
            backend.propose_roles(&project, &places, &bottlenecks)
        }));
    }

    /// Takes in what was worked out for the drives' page, and looks at its folders while it is shown.
    pub(super) fn poll_drives_page(&mut self) {
        self.poll_measured_drives();
        let page = &mut self.drives_page;
        match page.proposing.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => {}
            Some(Poll::Done(result)) => {
                page.proposal = Some(result.map_err(|error| error.to_string()));
                page.proposing = None;
            }
            Some(Poll::Lost) => {
                page.proposal = Some(Err("this is a defect of Gigafringe".into()));
                page.proposing = None;
            }
        }
        match page.looking.as_ref().map(Task::poll) {
            None => {}
            Some(Poll::Pending) => return,
            Some(Poll::Done((places, remembered))) => {
                page.places = places;
                // Where nothing can be remembered, what was measured in this window still holds.
                if !remembered.is_empty() {
                    page.bottlenecks = remembered;
                }
                page.looking = None;
            }
            Some(Poll::Lost) => page.looking = None,
        }
        if self.options.page == Page::Drives {
            self.look_at_places();
        }
    }

    /// Looks at the drives and folders again where they are not those that were looked at.
    fn look_at_places(&mut self) {
        let Some(drives) = &self.drives else { return };
        let mut folders: Vec<PathBuf> = Vec::new();
        let own = self.project.drives.iter().map(|drive| drive.path.clone());
        let used = match &self.needs {
            Needs::Known(estimate) => estimate.drives.iter().map(|drive| drive.path.clone().into()).collect(),
            _ => Vec::new(),
        };
        for folder in own.chain(self.folders.iter().cloned()).chain(used) {
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        let subject = Subject { drives: drives.clone(), folders };
        if self.drives_page.places_of.as_ref() != Some(&subject) {
            let backend = self.backend.clone();
            let (drives, folders) = (subject.drives.clone(), subject.folders.clone());
            self.drives_page.places_of = Some(subject);
            self.drives_page.looking = Some(Task::spawn("look at folders", self.wake.clone(), move || {
                let places = backend.places(&drives, &folders);
                let bottlenecks = backend.bottlenecks(&places);
                (places, bottlenecks)
            }));
        } else if std::mem::take(&mut self.drives_page.asked_to_measure) && self.measuring_blocked().is_none()
        {
            self.drives_page.dialog = Some(Dialog::new(&self.drives_page.places));
        }
    }

    /// Has what is remembered of drives read anew, and what rests on it worked out anew.
    pub(super) fn forget_drives(&mut self) {
        self.drives_page.places_of = None;
        self.needs_of = None;
        self.forget_tuning();
    }

    fn poll_measured_drives(&mut self) {
        let Some(measuring) = &self.drives_page.measuring else { return };
        let (level, text) = match measuring.task.poll() {
            Poll::Pending => return,
            Poll::Done(Ok(together)) => {
                self.drives_page.bottlenecks = together.bottlenecks(&measuring.folders);
                let text: String = match measuring.folders.len() {
                    1 => "Measured one drive".into(),
                    count => format!("Measured {count} drives"),
                };
                let text = format!(
                    "{text}: predictions use what was measured, and usual figures for the rest; “Measure this \
                     machine” measures that, too"
                );
                (Level::Info, text)
            }
            Poll::Done(Err(error)) if error.is_cancelled() => {
                (Level::Note, "Measuring was stopped; its files were removed".into())
            }
            Poll::Done(Err(error)) => (Level::Error, format!("Measuring failed: {error}")),
            Poll::Lost => (Level::Error, "Measuring failed: this is a defect of Gigafringe".into()),
        };
        self.drives_page.measuring = None;
        self.say(level, text);
        self.forget_drives();
    }
}
