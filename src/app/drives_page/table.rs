//! The table of devices with the folders that lie on them.

use std::path::PathBuf;

use egui::accesskit::Role;
use egui::{Align, Color32, Id, Label, Layout, RichText, Ui, WidgetInfo, vec2};

use super::super::text;
use super::super::theme::{SPACE, tokens};
use super::words;
use crate::machine::{DriveFigures, Place};
use crate::planner::Shortage;
use crate::project::Drive;
use crate::storage::DetectedDrive;

/// A folder that is being dragged to a role.
#[derive(Debug, Clone)]
pub struct DraggedFolder(pub PathBuf);

/// A device with the folders on it.
#[derive(Debug, Default, PartialEq)]
struct Row<'a> {
    device: String,
    kind: &'a str,
    bus: &'a str,
    file_system: &'a str,
    /// Bytes free and in all, where the system tells.
    space: Option<(u64, u64)>,
    mounts: &'a [PathBuf],
    places: Vec<&'a Place>,
}

impl Row<'_> {
    fn figures(&self) -> Option<DriveFigures> {
        self.places.iter().find_map(|place| place.figures)
    }
}

/// The devices that were found, then those that only folders are known of.
fn rows<'a>(drives: &'a [DetectedDrive], places: &'a [Place]) -> Vec<Row<'a>> {
    let mut rows: Vec<_> = drives
        .iter()
        .map(|drive| Row {
            device: drive.device.clone(),
            kind: &drive.kind,
            bus: &drive.bus,
            file_system: &drive.file_system,
            space: Some((drive.free, drive.total)),
            mounts: &drive.mounts,
            places: Vec::new(),
        })
        .collect();
    for place in places {
        let device = place.device.as_ref().map_or("unknown device".into(), ToString::to_string);
        if let Some(row) = rows.iter_mut().find(|row| row.device == device) {
            row.places.push(place);
        } else {
            let (kind, bus, file_system) = (&*place.kind, &*place.bus, &*place.file_system);
            rows.push(Row { device, kind, bus, file_system, places: vec![place], ..Row::default() });
        }
    }
    rows
}

const DEVICE: f32 = 112.0;
const SPACE_LEFT: f32 = 150.0;
const RATE: f32 = 62.0;
const BOTH: f32 = 92.0;

/// The columns: name, width, and what it means.
const COLUMNS: [(&str, f32, &str); 9] = [
    ("Device", DEVICE, "The physical device's name; folders on one device share its speed"),
    ("Kind", 58.0, "SSD, HDD, virtual, memory or network"),
    ("Bus", 62.0, "How the device is connected"),
    ("File system", 82.0, "How files are kept on it"),
    ("Free", SPACE_LEFT, "Free space of its mounted parts, and their size"),
    ("Read, MB/s", RATE, "Megabytes a second when it only reads; – where it was not measured"),
    ("Write, MB/s", RATE, "Megabytes a second when it only writes"),
    ("Both, MB/s", BOTH, "Megabytes a second read / written when it does both at once"),
    (
        "Duplex",
        126.0,
        "Half duplex: reading and writing share its time (near 1). Full duplex: they do not (near 2)",
    ),
];

/// Shows the table.
pub fn show(
    ui: &mut Ui,
    drives: &[DetectedDrive],
    places: &[Place],
    roles: &[Drive],
    shortages: &[Shortage],
) {
    ui.horizontal(|ui| {
        ui.add_space(9.0);
        for (name, width, hover) in COLUMNS {
            cell(ui, width, RichText::new(name).weak().small(), hover);
        }
    });
    for row in rows(drives, places) {
        tokens(ui).card_frame().show(ui, |ui| {
            ui.set_min_width(ui.available_width());
            device(ui, &row);
            for &place in &row.places {
                let short = shortages.iter().find(|short| short.folder == place.folder);
                folder(ui, place, roles, short);
            }
            if row.places.is_empty() {
                ui.label(RichText::new("No folder on it can be written; add one to use it").weak().small());
            }
        });
    }
}

fn cell(ui: &mut Ui, width: f32, words: RichText, hover: &str) {
    let size = vec2(width, 18.0);
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
        ui.set_min_width(width);
        ui.add(Label::new(words).truncate()).on_hover_text(hover);
    });
}

fn device(ui: &mut Ui, row: &Row<'_>) {
    let figures = row.figures();
    let rate =
        |of: fn(&DriveFigures) -> f64| figures.map_or("–".into(), |f| format!("{:.0}", of(&f) / 1e6));
    let both = match figures {
        Some(_) => format!("{} / {}", rate(|f| f.read_while_writing), rate(|f| f.write_while_reading)),
        None => "–".into(),
    };
    let space = match row.space {
        Some((free, total)) => format!("{} of {}", text::amount(free), text::amount(total)),
        None => "–".into(),
    };
    let mounts: Vec<_> = row.mounts.iter().map(|mount| mount.display().to_string()).collect();
    let mounted =
        if mounts.is_empty() { String::new() } else { format!("\nMounted at {}", mounts.join(", ")) };
    let words = [
        row.device.clone(),
        row.kind.into(),
        row.bus.into(),
        row.file_system.into(),
        space,
        rate(|f| f.read),
        rate(|f| f.write),
        both,
        figures.as_ref().map_or("not measured".into(), words::duplex),
    ];
    ui.horizontal(|ui| {
        for (i, ((name, width, hover), text)) in COLUMNS.into_iter().zip(words).enumerate() {
            let more = match (i, &figures) {
                (0, _) => mounted.clone(),
                (_, Some(figures)) if i + 1 == COLUMNS.len() => {
                    format!("\n{}", words::duplex_in_words(figures))
                }
                _ => String::new(),
            };
            let hover = format!("{name}: {text}\n{hover}{more}");
            let text = RichText::new(text);
            cell(ui, width, if i == 0 { text.strong() } else { text }, &hover);
        }
    });
}

/// A folder with its roles, to be dragged to another, and what is wrong with it.
fn folder(ui: &mut Ui, place: &Place, roles: &[Drive], short: Option<&Shortage>) {
    let shown = place.folder.display().to_string();
    let of_folder = roles.iter().filter(|drive| drive.path == place.folder);
    let held: Vec<String> = of_folder.map(|drive| drive.role.to_string()).collect();
    ui.horizontal_wrapped(|ui| {
        ui.add_space(SPACE);
        let source = Id::unique(("folder chip", &place.folder));
        let payload = DraggedFolder(place.folder.clone());
        let chip = ui.dnd_drag_source(source, payload, |ui| chip(ui, &shown, &held)).response;
        chip.widget_info(|| WidgetInfo::labeled(Role::Label, true, format!("Drag {shown} to a role")));
        chip.on_hover_text("Drag it onto a role, or choose it in a role's list");
        let small = |ui: &mut Ui, text: String, color: Color32| {
            ui.label(RichText::new(text).color(color).small());
        };
        let (weak, warning, error) = (tokens(ui).text_weak, tokens(ui).warning, tokens(ui).error);
        if let Some(short) = short {
            small(ui, format!("✖ {}", words::shortage(short)), error);
        } else if let Some(free) = place.free {
            small(ui, format!("{} free", text::amount(free)), weak);
        }
        match place.direct {
            None => small(ui, "✖ no file can be made here".into(), error),
            Some(false) => small(ui, "⚠ no direct I/O here".into(), warning),
            Some(true) => {}
        }
    });
}

fn chip(ui: &mut Ui, folder: &str, held: &[String]) {
    let visuals = ui.visuals().widgets.inactive;
    egui::Frame::new()
        .fill(visuals.weak_bg_fill)
        .stroke(visuals.bg_stroke)
        .corner_radius(visuals.corner_radius)
        .inner_margin(egui::Margin::symmetric(7, 2))
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.label(folder);
                if !held.is_empty() {
                    ui.label(RichText::new(format!("role {}", held.join(", "))).strong().small());
                }
            });
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::DeviceId;

    #[test]
    fn folders_appear_under_their_device_and_a_device_once() {
        let drive = |device: &str| DetectedDrive {
            device: device.into(),
            kind: "SSD".into(),
            bus: "NVMe".into(),
            file_system: "ext4".into(),
            mounts: vec!["/".into(), "/boot".into()],
            total: 9,
            free: 4,
        };
        let place = |folder: &str, device: Option<&str>| Place {
            folder: folder.into(),
            device: device.map(|device| DeviceId::of_names(&[device])),
            kind: "HDD".into(),
            bus: "USB".into(),
            file_system: "ext4".into(),
            volume: None,
            free: None,
            direct: None,
            figures: None,
        };
        let drives = [drive("nvme0n1"), drive("sda")];
        let places = [
            place("/x", Some("sda")),
            place("/y", Some("sdz")),
            place("/z", Some("sda")),
            place("/w", None),
            place("/v", Some("sdz")),
        ];
        let rows = rows(&drives, &places);
        let shown: Vec<_> = rows
            .iter()
            .map(|row| {
                let folders: Vec<_> = row.places.iter().map(|p| p.folder.to_str().unwrap()).collect();
                (&*row.device, row.bus, folders.join(" "))
            })
            .collect();
        let expected = [
            ("nvme0n1", "NVMe", ""),
            ("sda", "NVMe", "/x /z"),
            ("sdz", "USB", "/y /v"),
            ("unknown device", "USB", "/w"),
        ];
        assert_eq!(shown, expected.map(|(device, bus, folders)| (device, bus, folders.to_owned())));
    }
}
