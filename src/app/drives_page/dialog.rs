//! The question which folders to measure.

use std::path::PathBuf;

use egui::{Button, Id, Modal, RichText, ScrollArea, Ui};

use super::super::commands::Command;
use super::super::fields;
use super::super::text;
use super::super::theme::{GAP, tokens};
use super::DrivesCommand;
use crate::machine::{MeasureStep, Place};
use crate::optics::Bytes;

/// Sizes of the file that can be chosen; smaller ones tell too little to be remembered.
const SIZES: [(u64, &str, &str); 3] = [
    (512 << 20, "512 MiB", "Enough for SATA drives and disks"),
    (1 << 30, "1 GiB", "Enough for most drives"),
    (4 << 30, "4 GiB", "For drives with a large cache of their own"),
];

/// What the dialog asks.
pub(super) struct Dialog {
    /// Folders with the names of their devices, and whether they are to be measured.
    folders: Vec<(PathBuf, String, bool)>,
    bytes: u64,
}

impl Dialog {
    /// A question about `places`, with the first folder on each device chosen.
    pub fn new(places: &[Place]) -> Self {
        let mut folders = Vec::new();
        let can = |place: &Place| place.direct.is_some();
        for (i, place) in places.iter().enumerate().filter(|(_, place)| can(place)) {
            let is_first = !places[..i].iter().any(|other| can(other) && other.shares_device(place));
            let device = place.device.as_ref().map_or("unknown device".into(), ToString::to_string);
            folders.push((place.folder.clone(), device, is_first && place.kind != "memory"));
        }
        Self { folders, bytes: 1 << 30 }
    }

    /// Shows the question.
    pub fn show(&mut self, ui: &Ui, commands: &mut Vec<Command>) {
        let mut answer = None;
        let response = Modal::new(Id::unique("measure drives")).show(ui.ctx(), |ui| {
            ui.set_max_width(480.0);
            ui.heading("Measure the drives");
            ui.add_space(GAP / 2.0);
            ui.label(
                "In each chosen folder a file is made, written, read, and both at once. Then all files are read \
                 together, and pair by pair where that is slow, which shows who shares a bottleneck. The files \
                 are removed at the end.",
            );
            ui.add_space(GAP / 2.0);
            self.choices(ui);
            ui.add_space(GAP);
            answer = self.buttons(ui);
        });
        if let Some(command) = answer {
            commands.push(Command::Drives(command));
        } else if response.should_close() {
            commands.push(Command::Drives(DrivesCommand::CloseDialog));
        }
    }

    fn choices(&mut self, ui: &mut Ui) {
        if self.folders.is_empty() {
            ui.label(
                RichText::new("⚠ There is no folder in which a file can be made; add one first")
                    .color(tokens(ui).error),
            );
        }
        ScrollArea::vertical().max_height(260.0).show(ui, |ui| {
            for (folder, device, chosen) in &mut self.folders {
                ui.checkbox(chosen, format!("{} ({device})", folder.display()))
                    .on_hover_text("Measure the drive of this folder");
            }
        });
        ui.horizontal(|ui| {
            ui.label("File of up to").on_hover_text("Less where little is free: a tenth of that at most");
            if let Some(bytes) = fields::choice(ui, "measure size", "File size", 90.0, self.bytes, &SIZES) {
                self.bytes = bytes;
            }
        });
        let seconds = MeasureStep::most_seconds(self.chosen().len());
        ui.label(RichText::new(text::bound(&format!("Takes up to about {seconds:.0} s"))).weak());
    }

    fn buttons(&self, ui: &mut Ui) -> Option<DrivesCommand> {
        let mut answer = None;
        ui.horizontal(|ui| {
            let chosen = self.chosen();
            let accent = tokens(ui).accent;
            let button = Button::new(RichText::new("Measure").color(tokens(ui).on_accent)).fill(accent);
            let button = ui
                .add_enabled(!chosen.is_empty(), button)
                .on_hover_text("Measure the chosen folders' drives and remember the figures")
                .on_disabled_hover_text("Choose a folder first");
            if button.clicked() {
                answer = Some(DrivesCommand::Measure(chosen, Bytes(self.bytes)));
            }
            if ui.button("Back").on_hover_text("Measure nothing").clicked() {
                answer = Some(DrivesCommand::CloseDialog);
            }
        });
        answer
    }

    fn chosen(&self) -> Vec<PathBuf> {
        self.folders.iter().filter(|folder| folder.2).map(|folder| folder.0.clone()).collect()
    }
}
