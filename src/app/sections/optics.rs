//! The light and the plane's samples.

use egui::{RichText, Ui};

use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};
use super::super::presets::Presets;
use super::super::{terms, text};
use crate::optics::Length;
use crate::project::{Evanescent, Precision};

/// What becomes of evanescent waves, each with its name and what it means.
pub const EVANESCENT: [(Evanescent, &str, &str); 2] = [
    (Evanescent::Decay, "decay", "They decay with distance, in either direction"),
    (Evanescent::Drop, "drop", "They are set to zero"),
];

/// The arithmetics, each with its name and what it means.
pub const PRECISIONS: [(Precision, &str, &str); 2] = [
    (Precision::F32, "single (f32)", "8 bytes a complex sample; relative error near 1e-6"),
    (Precision::F64, "double (f64)", "16 bytes a complex sample; twice the traffic and memory"),
];

/// Shows the optical parameters.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, presets: &Presets) {
    super::section(ui, "Optics", |ui| {
        let project = sheet.project;
        let grid = project.grid;
        super::presets::show(ui, sheet, presets);
        length(
            ui,
            sheet,
            Field::Wavelength,
            terms::WAVELENGTH.words(),
            project.wavelength,
            "wavelength",
            Edit::Wavelength,
        );
        pitches(ui, sheet);
        samples(ui, sheet, Field::Width, ("Width", "Samples along x"), grid.width, "grid.width", Edit::Width);
        samples(
            ui,
            sheet,
            Field::Height,
            ("Height", "Samples along y"),
            grid.height,
            "grid.height",
            Edit::Height,
        );
        let side = |n: usize, pitch: Length| {
            let metres = format!("{:.4e}m", n as f64 * pitch.in_metres());
            text::length(metres.parse().unwrap_or(pitch))
        };
        let plane = grid.samples() * project.precision.sample_bytes() as u64;
        ui.label(
            RichText::new(format!(
                "Plane {} × {}, {} samples, {}",
                side(grid.width, grid.pitch_x),
                side(grid.height, grid.pitch_y),
                text::count(grid.samples()),
                text::amount(plane)
            ))
            .weak()
            .small(),
        )
        .on_hover_text("Size of the hologram, and bytes of one complex plane at the chosen precision");
        ui.collapsing("More optics", |ui| more(ui, sheet));
    });
}

fn pitches(ui: &mut Ui, sheet: &mut Sheet<'_>) {
    let grid = sheet.project.grid;
    let linked = sheet.options.pitch_linked;
    let both = move |value| if linked { Edit::Pitch(value) } else { Edit::PitchX(value) };
    let name = if linked { "Pitch" } else { "Pitch x" };
    length(ui, sheet, Field::PitchX, (name, terms::PITCH.line), grid.pitch_x, "grid.pitch_x", both);
    if !linked {
        length(
            ui,
            sheet,
            Field::PitchY,
            ("Pitch y", "Distance of neighbouring samples along y with its unit"),
            grid.pitch_y,
            "grid.pitch_y",
            Edit::PitchY,
        );
    }
    let mut same = linked;
    ui.horizontal(|ui| {
        fields::label(ui, "", "");
        let toggle = ui
            .checkbox(&mut same, "Same pitch on both axes")
            .on_hover_text("Untick to give x and y a pitch each");
        if toggle.changed() {
            sheet.send(Command::LinkPitches(same));
        }
    });
}

fn length(
    ui: &mut Ui,
    sheet: &mut Sheet<'_>,
    field: Field,
    words: (&str, &str),
    current: Length,
    name: &str,
    edit: impl FnOnce(Length) -> Edit,
) {
    fields::row(ui, sheet, field, words, &text::length(current), |sheet, text| {
        sheet.checked(name, edit(text.parse().map_err(|e| format!("{e}"))?))
    });
}

fn samples(
    ui: &mut Ui,
    sheet: &mut Sheet<'_>,
    field: Field,
    words: (&str, &str),
    current: usize,
    name: &str,
    edit: impl FnOnce(usize) -> Edit,
) {
    fields::row(ui, sheet, field, words, &current.to_string(), |sheet, text| {
        sheet.checked(name, edit(super::whole(text, "4096")?))
    });
}

fn more(ui: &mut Ui, sheet: &mut Sheet<'_>) {
    let project = sheet.project;
    if let Some(value) = fields::choice_row(ui, terms::PRECISION.words(), project.precision, &PRECISIONS) {
        sheet.send(Command::Edit(Edit::Precision(value)));
    }
    if let Some(value) = fields::choice_row(ui, terms::EVANESCENT.words(), project.evanescent, &EVANESCENT) {
        sheet.send(Command::Edit(Edit::Evanescent(value)));
    }
    let words = terms::ROLLOFF.words();
    let shown = project.rolloff.map_or_else(String::new, |value| value.to_string());
    fields::row(ui, sheet, Field::Rolloff, words, &shown, |sheet, text| {
        let value = match text.trim() {
            "" => None,
            text => {
                Some(text.parse().map_err(|_| format!("`{text}` is not a number; write for example 0.02"))?)
            }
        };
        sheet.checked("rolloff", Edit::Rolloff(value))
    });
    let words = terms::SEED.words();
    fields::row(ui, sheet, Field::Seed, words, &project.seed.to_string(), |_, text| {
        Ok(Command::Edit(Edit::Seed(super::whole(text, "1")?)))
    });
    let mut limit = project.band_limit;
    let toggle = ui.checkbox(&mut limit, "Band limit").on_hover_text(terms::BAND_LIMIT.line);
    if toggle.changed() {
        sheet.send(Command::Edit(Edit::BandLimit(limit)));
    }
}
