//! The lab's page: a comparison is chosen, runs in the background, and is drawn as bars.

mod progress;
mod replay;
mod results;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use egui::{Button, DragValue, RichText, ScrollArea, TextEdit, Ui};

use super::commands::Command;
use super::fields;
use super::log::Level;
use super::run_view::RunView;
use super::task::{Poll, Task};
use super::text;
use super::theme::{SPACE, tokens};
use crate::engine::Cancel;
use crate::lab::{Comparing, Experiment, ExperimentReport};
use crate::project::Project;
use crate::run::RunError;
use progress::Progress;

const EXPERIMENTS: [(Experiment, &str, &str); 9] = [
    (Experiment::Table1, "All methods", "Every method in both precisions on SATA and NVMe drives (Table 1)"),
    (Experiment::Io, "Drives alone", "The same without the arithmetic (Fig. 6)"),
    (Experiment::Breakdown, "Phases", "What each phase takes (Fig. 7)"),
    (Experiment::Memory, "Memory", "The same job in less and more memory (Fig. 8)"),
    (Experiment::Table2, "Chunk and buffers", "Chunk against buffers in the same memory (Table 2)"),
    (Experiment::Drives, "Number of drives", "One to four drives (Fig. 9)"),
    (Experiment::Overlap, "Overlap", "With and without overlap of drives and arithmetic"),
    (Experiment::Hologram, "Hologram", "A hologram of three layers (section 5)"),
    (Experiment::Real, "Your drives", "Every method on the drives of the project"),
];

/// What the page shows and does.
pub(super) struct LabPage {
    experiment: Experiment,
    size: usize,
    rounds: usize,
    folder: String,
    task: Option<Task<Result<ExperimentReport, RunError>>>,
    cancel: Cancel,
    progress: Arc<Mutex<Progress>>,
    report: Option<ExperimentReport>,
    /// The runs of each section whose timelines were kept.
    timelines: Vec<Vec<(String, RunView)>>,
    failure: Option<String>,
}

/// A comparison that takes seconds.
pub(super) fn small() -> Comparing {
    let page = LabPage { size: 1024, rounds: 1, ..LabPage::default() };
    page.comparing(&super::blank_project())
}

impl Default for LabPage {
    fn default() -> Self {
        Self {
            experiment: Experiment::Table1,
            size: 1536,
            rounds: 3,
            folder: std::env::temp_dir().display().to_string(),
            task: None,
            cancel: Cancel::default(),
            progress: Arc::default(),
            report: None,
            timelines: Vec::new(),
            failure: None,
        }
    }
}

impl LabPage {
    /// Whether a comparison is under way.
    pub const fn is_running(&self) -> bool {
        self.task.is_some()
    }

    /// Starts what is chosen; `start` does the work with a place to tell its progress.
    pub fn start(
        &mut self,
        comparing: Comparing,
        spawn: impl FnOnce(Comparing, Cancel, Arc<Mutex<Progress>>) -> Task<Result<ExperimentReport, RunError>>,
    ) {
        self.cancel = Cancel::default();
        self.progress = Arc::default();
        self.failure = None;
        self.task = Some(spawn(comparing, self.cancel.clone(), self.progress.clone()));
    }

    /// Asks the comparison to stop.
    pub fn stop(&self) {
        self.cancel.cancel();
    }

    /// Takes the result in, if there is one; what became of it is returned for the log.
    pub fn poll(&mut self) -> Option<(Level, String)> {
        let mut level = Level::Error;
        match self.task.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => return None,
            Some(Poll::Done(Ok(report))) => {
                self.timelines = report.sections.iter().map(replay::replayed).collect();
                let done = format!("Compared in {}", text::seconds(report.seconds));
                self.report = Some(report);
                self.task = None;
                return Some((Level::Info, done));
            }
            Some(Poll::Done(Err(error))) => {
                if error.is_cancelled() {
                    level = Level::Note;
                }
                self.failure = Some(error.to_string());
            }
            Some(Poll::Lost) => {
                self.failure = Some("this is a defect of Gigafringe".into());
            }
        }
        self.task = None;
        self.failure.as_ref().map(|failure| (level, format!("The comparison ended early: {failure}")))
    }

    fn comparing(&self, project: &Project) -> Comparing {
        let real = self.experiment == Experiment::Real;
        let drives = project.drives.iter().filter(|_| real).map(|drive| drive.path.clone()).collect();
        Comparing {
            experiment: self.experiment,
            size: self.size,
            memory: None,
            repeat: self.rounds,
            folder: PathBuf::from(self.folder.trim()),
            drives,
        }
    }

    /// Shows the page; `run_under_way` is why none can start.
    pub fn show(&mut self, ui: &mut Ui, project: &Project, run_under_way: bool, commands: &mut Vec<Command>) {
        ui.add_space(SPACE);
        ui.horizontal(|ui| {
            ui.heading("Lab");
            ui.label("The published methods against each other, on this machine");
        });
        ui.add_space(SPACE);
        self.controls(ui, project, run_under_way, commands);
        if let Some(error) = &self.failure {
            ui.label(RichText::new(format!("⚠ {error}")).color(tokens(ui).error));
        }
        if self.is_running() {
            ui.add_space(SPACE);
            self.progress.lock().unwrap_or_else(PoisonError::into_inner).show(ui, Instant::now());
        }
        ui.separator();
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| match &self.report {
            Some(report) => results::show(ui, report, &self.timelines, commands),
            None if self.is_running() => {}
            None => {
                ui.weak("Nothing has been compared yet. A comparison makes its own plane in the folder and removes it.");
            }
        });
    }

    fn controls(&mut self, ui: &mut Ui, project: &Project, run_under_way: bool, commands: &mut Vec<Command>) {
        let running = self.is_running();
        ui.horizontal_wrapped(|ui| {
            ui.add_enabled_ui(!running, |ui| {
                if let Some(chosen) =
                    fields::choice(ui, "experiment", "Comparison", 170.0, self.experiment, &EXPERIMENTS)
                {
                    self.experiment = chosen;
                }
                let size = ui.label("Size");
                ui.add(DragValue::new(&mut self.size).range(256..=65_536).speed(16.0))
                    .labelled_by(size.id)
                    .on_hover_text("Samples along each side of the plane");
                let rounds = ui.label("Rounds");
                ui.add(DragValue::new(&mut self.rounds).range(1..=9))
                    .labelled_by(rounds.id)
                    .on_hover_text("Every way runs so many times, in turn; medians are compared");
                let folder = ui.label("Folder");
                ui.add(TextEdit::singleline(&mut self.folder).desired_width(220.0))
                    .labelled_by(folder.id)
                    .on_hover_text("Where all files lie while it runs, but for a comparison of your drives");
            });
            let reason = if run_under_way {
                Some("A run is under way; it would spoil the comparison")
            } else if self.experiment == Experiment::Real && project.drives.is_empty() {
                Some("Give the project's drives their roles first")
            } else {
                None
            };
            let button = if running {
                ui.button("Stop").on_hover_text("Stop the comparison; nothing is left behind")
            } else {
                let accent = tokens(ui).accent;
                ui.add_enabled(
                    reason.is_none(),
                    Button::new(RichText::new("Compare").color(tokens(ui).on_accent)).fill(accent),
                )
                .on_hover_text("Run every way in turn")
                .on_disabled_hover_text(reason.unwrap_or_default())
            };
            if button.clicked() {
                commands.push(if running {
                    Command::StopComparing
                } else {
                    Command::Compare(Box::new(self.comparing(project)))
                });
            }
        });
    }
}
