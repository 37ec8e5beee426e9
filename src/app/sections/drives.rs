//! The drives: what was found, and which folder has which role.

use std::path::{Path, PathBuf};

use egui::{RichText, Ui};

use super::super::backend::Ask;
use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};
use super::super::text;
use super::super::theme::tokens;
use crate::project::{Drive, Role};
use crate::storage::DetectedDrive;

/// Shows the drives and their roles.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, detected: Option<&[DetectedDrive]>, folders: &[PathBuf]) {
    super::section(ui, "Drives", |ui| {
        ui.label(
            RichText::new("Scratch files go to these folders. The more drives, the more is moved at once.")
                .weak(),
        );
        roles(ui, sheet, detected.unwrap_or_default(), folders);
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
    for note in shared_devices(&project.drives, detected) {
        ui.label(RichText::new(format!("ℹ {note}")).color(tokens(ui).warning).small());
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

/// A folder as the roles' lists show it, with the device it is on.
fn offer(path: &Path, detected: &[DetectedDrive]) -> String {
    match device_of(path, detected) {
        Some(drive) => format!("{} ({}, {} free)", path.display(), drive.kind, text::bytes(drive.free)),
        None => path.display().to_string(),
    }
}

/// The drive that holds `path`: the one whose mount is the longest beginning of it.
fn device_of<'a>(path: &Path, detected: &'a [DetectedDrive]) -> Option<&'a DetectedDrive> {
    let path = std::path::absolute(path).ok()?;
    detected
        .iter()
        .filter_map(|drive| {
            let mounts = drive.mounts.iter().filter(|mount| path.starts_with(mount));
            mounts.map(|mount| mount.components().count()).max().map(|depth| (depth, drive))
        })
        .max_by_key(|(depth, _)| *depth)
        .map(|(_, drive)| drive)
}

/// One sentence for each device that has several roles, though the project names several folders.
fn shared_devices(drives: &[Drive], detected: &[DetectedDrive]) -> Vec<String> {
    let mut shared: Vec<(&str, Vec<Role>)> = Vec::new();
    for drive in drives {
        let Some(device) = device_of(&drive.path, detected) else { continue };
        match shared.iter_mut().find(|(name, _)| *name == device.device) {
            Some((_, roles)) => roles.push(drive.role),
            None => shared.push((&device.device, vec![drive.role])),
        }
    }
    shared.retain(|(_, roles)| roles.len() > 1);
    shared
        .into_iter()
        .map(|(device, roles)| {
            let roles: Vec<String> = roles.iter().map(Role::to_string).collect();
            let names = roles.split_last().map(|(last, first)| format!("{} and {last}", first.join(", ")));
            let names = names.unwrap_or_default();
            format!("Roles {names} share one device ({device}): their reads and writes wait for each other.")
        })
        .collect()
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
                        text::bytes(drive.free),
                        text::bytes(drive.total)
                    ))
                    .small(),
                )
                .on_hover_text(format!("Mounted at {}", mounts.join(", ")));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(device: &str, mounts: &[&str]) -> DetectedDrive {
        DetectedDrive {
            device: device.into(),
            kind: "SSD".into(),
            file_system: "ext4".into(),
            mounts: mounts.iter().map(PathBuf::from).collect(),
            total: 1 << 40,
            free: 1 << 39,
        }
    }

    #[test]
    fn a_folder_is_on_the_drive_with_the_longest_mount() {
        let drives = [drive("sda", &["/", "/home"]), drive("sdb", &["/mnt/fast"])];
        assert_eq!(device_of(Path::new("/mnt/fast/x"), &drives).unwrap().device, "sdb");
        assert_eq!(device_of(Path::new("/mnt/faster"), &drives).unwrap().device, "sda");
        assert!(device_of(Path::new("/x"), &drives[1..]).is_none());
    }

    #[test]
    fn roles_on_one_device_are_told_even_in_different_folders() {
        let drives = [drive("sda", &["/"]), drive("sdb", &["/mnt/fast"])];
        let give = |role, path: &str| Drive { path: path.into(), role };
        let apart = [give(Role::A, "/tmp/a"), give(Role::B, "/mnt/fast")];
        assert!(shared_devices(&apart, &drives).is_empty());
        let together =
            [give(Role::A, "/a"), give(Role::B, "/mnt/fast"), give(Role::C, "/c"), give(Role::D, "/d")];
        let notes = shared_devices(&together, &drives);
        assert_eq!(notes.len(), 1);
        assert!(notes[0].starts_with("Roles A, C and D share one device (sda)"), "{}", notes[0]);
    }
}
