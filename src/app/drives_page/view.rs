//! The page as it is drawn.

use std::sync::PoisonError;

use egui::{ProgressBar, RichText, ScrollArea, Ui};

use super::super::backend::Ask;
use super::super::commands::Command;
use super::super::needs::Needs;
use super::super::theme::{GAP, SPACE, tokens};
use super::words::{self, Weight};
use super::{DrivesCommand, DrivesPage, Measuring, roles, table};
use crate::planner::Shortage;
use crate::project::Project;
use crate::storage::DetectedDrive;

/// What the page reads beside its own state.
pub struct Seen<'a> {
    /// The project.
    pub project: &'a Project,
    /// The drives, once they were looked for.
    pub drives: Option<&'a [DetectedDrive]>,
    /// What the project needs.
    pub needs: &'a Needs,
    /// Why nothing can be measured now.
    pub blocked: Option<&'a str>,
    /// Whether a file dialog is open.
    pub dialog_open: bool,
}

/// The least width of the table; a narrower window scrolls.
const LEAST_WIDTH: f32 = 880.0;

impl DrivesPage {
    /// Shows the page.
    pub fn show(&mut self, ui: &mut Ui, seen: &Seen<'_>, commands: &mut Vec<Command>) {
        ui.add_space(SPACE);
        ui.horizontal(|ui| {
            ui.heading("Drives");
            ui.label("Where scratch files go, and how fast these drives are");
        });
        ui.add_space(SPACE);
        self.buttons(ui, seen, commands);
        if let Some(measuring) = &self.measuring {
            progress(ui, measuring, commands);
        }
        ui.separator();
        let shortages = match seen.needs {
            Needs::Known(estimate) => estimate.shortages(&self.places),
            _ => Vec::new(),
        };
        let narrow = ui.available_width() < LEAST_WIDTH;
        ScrollArea::new([narrow, true]).auto_shrink(false).show(ui, |ui| {
            if narrow {
                ui.set_width(LEAST_WIDTH);
            }
            self.roles(ui, seen, &shortages, commands);
            ui.add_space(GAP);
            ui.strong("Devices");
            match seen.drives {
                None => {
                    ui.weak("Looking for drives…");
                }
                Some(drives) => table::show(ui, drives, &self.places, &seen.project.drives, &shortages),
            }
            if self.places.iter().any(|place| place.figures.is_some()) {
                ui.label(RichText::new(words::DUPLEX).weak().small());
            }
            ui.add_space(GAP);
        });
        if let Some(dialog) = &mut self.dialog {
            dialog.show(ui, commands);
        }
    }

    fn buttons(&self, ui: &mut Ui, seen: &Seen<'_>, commands: &mut Vec<Command>) {
        let looking = seen.drives.is_none() || self.looking.is_some();
        ui.horizontal_wrapped(|ui| {
            let measure = ui
                .add_enabled(seen.blocked.is_none() && !looking, egui::Button::new("Measure drives…"))
                .on_hover_text("Choose folders, and time reading and writing on their drives")
                .on_disabled_hover_text(seen.blocked.unwrap_or("Looking at the folders"));
            if measure.clicked() {
                commands.push(Command::Drives(DrivesCommand::ChooseMeasured));
            }
            let assign = ui
                .add_enabled(!looking && self.proposing.is_none(), egui::Button::new("Assign for me"))
                .on_hover_text("Propose roles for these folders; nothing changes before you agree")
                .on_disabled_hover_text("Looking at the folders");
            if assign.clicked() {
                commands.push(Command::Drives(DrivesCommand::Propose));
            }
            let add = ui
                .add_enabled(!seen.dialog_open, egui::Button::new("Add a folder…"))
                .on_hover_text("Choose a folder on a drive, to give it roles")
                .on_disabled_hover_text("A file dialog is open");
            if add.clicked() {
                commands.push(Command::Ask(Ask::AddFolder));
            }
            if ui.button("Look again").on_hover_text("Look for drives and free space again").clicked() {
                commands.push(Command::DetectDrives);
            }
            if looking {
                ui.weak("Looking at the folders…");
            } else if self.proposing.is_some() {
                ui.weak("Working out roles…");
            }
        });
    }

    fn roles(&self, ui: &mut Ui, seen: &Seen<'_>, shortages: &[Shortage], commands: &mut Vec<Command>) {
        ui.add_space(SPACE);
        ui.horizontal(|ui| {
            ui.strong("Roles").on_hover_text("What a drive does in the three phases");
            ui.weak("Choose a folder, or drag one here from the table below");
        });
        let drives = &seen.project.drives;
        roles::slots(ui, drives, &self.places, commands);
        if let Some(proposal) = &self.proposal {
            roles::proposal(ui, proposal, commands);
        }
        for finding in words::findings(drives, &self.places, &self.bottlenecks, shortages) {
            let (sign, color) = match finding.weight {
                Weight::Slower => ("⚠ Slower:", tokens(ui).warning),
                Weight::Problem => ("✖ Problem:", tokens(ui).error),
            };
            ui.label(RichText::new(format!("{sign} {}", finding.text)).color(color));
        }
    }
}

fn progress(ui: &mut Ui, measuring: &Measuring, commands: &mut Vec<Command>) {
    let step = measuring.step.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let (done, words) = match step {
        Some(step) => {
            #[expect(clippy::cast_possible_truncation, reason = "a part of one")]
            let done = (step.done as f64 / step.steps.max(1) as f64) as f32;
            (done, format!("Measuring {}", step.now))
        }
        None => (0.0, "Measuring…".into()),
    };
    ui.add_space(SPACE);
    ui.horizontal(|ui| {
        let stopping = measuring.cancel.is_cancelled();
        let stop = ui
            .add_enabled(!stopping, egui::Button::new("Stop measuring"))
            .on_hover_text("Stop; the files are removed")
            .on_disabled_hover_text("Stopping");
        if stop.clicked() {
            commands.push(Command::Drives(DrivesCommand::StopMeasuring));
        }
        let bar = ProgressBar::new(done).desired_width(180.0).corner_radius(2.0);
        ui.add(bar.fill(tokens(ui).accent)).accessible_name("Measured so far");
        ui.label(if stopping { "Stopping…".into() } else { words });
    });
}
