//! The four roles' slots, and the proposal that fills them.

use std::path::Path;

use egui::{Align, Button, Layout, RichText, Stroke, Ui};

use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields;
use super::super::theme::{SPACE, tokens};
use super::DrivesCommand;
use super::table::DraggedFolder;
use super::words;
use crate::machine::Place;
use crate::planner::Proposal;
use crate::project::{Drive, Role};

/// The least height of a slot's content.
const SLOT_HEIGHT: f32 = 92.0;

/// A slot's texts: the role, its list's name and its heading.
const SLOTS: [(Role, &str, &str); 4] = [
    (Role::A, "Folder of role A", "A"),
    (Role::B, "Folder of role B", "B"),
    (Role::C, "Folder of role C", "C"),
    (Role::D, "Folder of role D", "D"),
];

/// Shows the slots.
pub fn slots(ui: &mut Ui, drives: &[Drive], places: &[Place], commands: &mut Vec<Command>) {
    let mut offered: Vec<&Path> = Vec::new();
    for folder in drives.iter().map(|drive| &drive.path).chain(places.iter().map(|place| &place.folder)) {
        if !offered.contains(&folder.as_path()) {
            offered.push(folder);
        }
    }
    ui.columns(SLOTS.len(), |columns| {
        for (ui, (role, name, heading)) in columns.iter_mut().zip(SLOTS) {
            let frame = tokens(ui).card_frame();
            // The slot under a dragged folder.
            let accent = tokens(ui).accent;
            let held = &mut ui.visuals_mut().widgets.active;
            held.bg_fill = accent.gamma_multiply(0.25);
            held.bg_stroke = Stroke::new(2.0, accent);
            let current = drives.iter().find(|drive| drive.role == role).map(|drive| drive.path.as_path());
            let (zone, dropped) = ui.dnd_drop_zone::<DraggedFolder, _>(frame, |ui| {
                ui.set_min_size(egui::vec2(ui.available_width(), SLOT_HEIGHT));
                // Columns justify their text.
                let layout = Layout::top_down(Align::Min);
                ui.with_layout(layout, |ui| slot(ui, (role, name, heading), current, &offered)).inner
            });
            let dropped = dropped.map(|folder| Edit::Role(role, Some(folder.0.clone())));
            commands.extend(dropped.or(zone.inner).map(Command::Edit));
        }
    });
}

/// One slot; returns what was chosen in its list, if anything was.
fn slot(
    ui: &mut Ui,
    (role, name, heading): (Role, &str, &str),
    current: Option<&Path>,
    offered: &[&Path],
) -> Option<Edit> {
    ui.label(RichText::new(heading).strong().size(17.0)).on_hover_text(fields::role_hover(role));
    let names: Vec<String> = offered.iter().map(|folder| folder.display().to_string()).collect();
    let hover = "Leave it to the engine: on the drives of the other roles, or in the output's folder";
    let mut options: Vec<(Option<&Path>, &str, &str)> = vec![(None, "automatic", hover)];
    for (folder, name) in offered.iter().zip(&names) {
        options.push((Some(folder), name, name));
    }
    let width = ui.available_width();
    let chosen = fields::choice(ui, name, name, width, current, &options);
    ui.label(RichText::new(does(role)).weak().small());
    chosen.map(|folder| Edit::Role(role, folder.map(Path::to_path_buf)))
}

/// What a role does, phase by phase.
const fn does(role: Role) -> &'static str {
    match role {
        Role::A => "Source, read in phase 1; odd stream, written in 2 and read in 3",
        Role::B => "Even stream, written in phase 1 and read in 2; result, written in 3",
        Role::C => "Odd stream, written in phase 1 and read in 2",
        Role::D => "Even stream, written in phase 2 and read in 3",
    }
}

/// Shows a proposal, or why there is none.
pub fn proposal(ui: &mut Ui, proposal: &Result<Proposal, String>, commands: &mut Vec<Command>) {
    tokens(ui).card_frame().show(ui, |ui| {
        ui.set_min_width(ui.available_width());
        match proposal {
            Err(error) => {
                ui.label(RichText::new(format!("⚠ No roles are proposed: {error}")).color(tokens(ui).error));
            }
            Ok(proposal) => {
                ui.label(RichText::new(format!("Proposed: {}", in_words(&proposal.drives))).strong());
                for reason in &proposal.reasons {
                    ui.label(reason);
                }
            }
        }
        ui.add_space(SPACE);
        ui.horizontal(|ui| {
            if let Ok(proposal) = proposal {
                let accent = tokens(ui).accent;
                let button = Button::new(RichText::new("Use these roles").color(tokens(ui).on_accent));
                if ui.add(button.fill(accent)).on_hover_text("Give the folders these roles").clicked() {
                    commands.push(Command::Edit(Edit::Roles(proposal.drives.clone())));
                    commands.push(Command::Drives(DrivesCommand::DismissProposal));
                }
            }
            if ui.button("Keep the roles").on_hover_text("Take the proposal away").clicked() {
                commands.push(Command::Drives(DrivesCommand::DismissProposal));
            }
        });
    });
}

/// `A and D on /x, B and C on /y`.
fn in_words(drives: &[Drive]) -> String {
    let mut folders: Vec<&Path> = Vec::new();
    for drive in drives {
        if !folders.contains(&drive.path.as_path()) {
            folders.push(&drive.path);
        }
    }
    let each = folders.into_iter().map(|folder| {
        let roles = drives.iter().filter(|drive| drive.path == folder).map(|drive| drive.role.to_string());
        format!("{} on {}", words::listed(&roles.collect::<Vec<_>>()), folder.display())
    });
    each.collect::<Vec<_>>().join("; ")
}
