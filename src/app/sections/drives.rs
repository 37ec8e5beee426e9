//! The drives: what was found, and which folder has which role.

use std::path::{Path, PathBuf};

use egui::{RichText, Ui};

use super::super::backend::Ask;
use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};
use super::super::needs::Needs;
use super::super::pages::Page;
use super::super::text;
use super::super::theme::tokens;
use crate::project::Role;
use crate::storage::DetectedDrive;

/// Shows the drives and their roles.
pub fn show(
    ui: &mut Ui,
    sheet: &mut Sheet<'_>,
    detected: Option<&[DetectedDrive]>,
    folders: &[PathBuf],
    needs: &Needs,
) {
    super::section(ui, "Drives", |ui| {
        ui.label(
            RichText::new("Scratch files go to these folders. The more drives, the more is moved at once.")
                .weak(),
        );
        roles(ui, sheet, detected.unwrap_or_default(), folders);
        if let Needs::Known(estimate) = needs {
            for note in &estimate.notes {
                ui.label(RichText::new(format!("ℹ {note}")).color(tokens(ui).warning).small());
            }
        }
        let page = ui
            .small_button("Show the page Drives")
            .on_hover_text("Every drive with its speed, and a proposal of roles");
        if page.clicked() {
            sheet.send(Command::Show(Page::Drives));
        }
        ui.horizontal(|ui| {
            let button = ui
                .add_enabled(!sheet.dialog_open, egui::Button::new("Add folder…"))
                .on_hover_text("Choose a folder on a drive, to give it roles")
                .on_disabled_hover_text("A file dialog is open");
            if button.clicked() {
                sheet.send(Command::Ask(Ask::AddFolder));
            }
            let width = ui.available_width();
            fields::input(ui, sheet, Field::NewFolder, "", width, |_, text| {
                if Path::new(text).is_dir() {
                    Ok(Command::AddFolder(text.into()))
                } else {
                    Err(format!("{text}: there is no such folder"))
                }
            })
            .accessible_name("Folder path")
            .on_hover_text("Type the path of a folder and press Enter to offer it for the roles");
        });
        fields::error_under(ui, sheet.drafts, Field::NewFolder);
        found(ui, sheet, detected);
    });
}

fn roles(ui: &mut Ui, sheet: &mut Sheet<'_>, detected: &[DetectedDrive], folders: &[PathBuf]) {
    let project = sheet.project;
    let mut offered: Vec<&Path> = Vec::new();
    let mounts = detected.iter().filter_map(|d| d.mounts.first());
    for path in project.drives.iter().map(|d| &d.path).chain(folders).chain(mounts) {
        if !offered.contains(&path.as_path()) {
            offered.push(path);
        }
    }
    for role in Role::ALL {
        let current = project.drives.iter().find(|d| d.role == role).map(|d| d.path.as_path());
        let names: Vec<String> = offered.iter().map(|path| offer(path, detected)).collect();
        let hover = "Leave it to the engine: on the drives above, or in the output's folder if none is set";
        let mut options: Vec<(Option<&Path>, &str, &str)> = vec![(None, "automatic", hover)];
        for (path, name) in offered.iter().zip(&names) {
            options.push((Some(path), name, path.to_str().unwrap_or_default()));
        }
        let words = (role_name(role), fields::role_hover(role));
        if let Some(path) = fields::choice_row(ui, words, current, &options) {
            sheet.send(Command::Edit(Edit::Role(role, path.map(Path::to_path_buf))));
        }
    }
}

const fn role_name(role: Role) -> &'static str {
    match role {
        Role::A => "Role A",
        Role::B => "Role B",
        Role::C => "Role C",
        Role::D => "Role D",
    }
}

/// A folder as the roles' lists show it; a drive's own folder with what is known of the drive.
fn offer(path: &Path, detected: &[DetectedDrive]) -> String {
    match detected.iter().find(|drive| drive.mounts.iter().any(|mount| mount == path)) {
        Some(drive) => {
            // On one line in any case.
            let free = text::bytes(drive.free);
            format!("{} ({}, {free} free)", path.display(), drive.kind)
        }
        None => path.display().to_string(),
    }
}

fn found(ui: &mut Ui, sheet: &mut Sheet<'_>, detected: Option<&[DetectedDrive]>) {
    ui.horizontal(|ui| {
        ui.label("Found on this machine");
        if ui.small_button("Refresh").on_hover_text("Look for drives again").clicked() {
            sheet.send(Command::DetectDrives);
        }
    });
    match detected {
        None => {
            ui.label(RichText::new("Looking for drives…").weak());
        }
        Some([]) => {
            ui.label(RichText::new("None was found; add a folder instead.").weak());
        }
        Some(drives) => {
            for drive in drives {
                let mounts: Vec<String> = drive.mounts.iter().map(|m| m.display().to_string()).collect();
                let first = mounts.first().map_or("not mounted", String::as_str);
                ui.label(
                    RichText::new(format!(
                        "{first}: {} {}, {}, {} free of {}",
                        drive.kind,
                        drive.device,
                        drive.file_system,
                        text::amount(drive.free),
                        text::amount(drive.total)
                    ))
                    .small(),
                )
                .on_hover_text(format!("Mounted at {}", mounts.join(", ")));
            }
        }
    }
}
