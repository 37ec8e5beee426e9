//! The light and the plane's samples.

use egui::{RichText, Ui};

use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};
use super::super::presets::Presets;
use super::super::text;
use crate::optics::Length;
use crate::project::{Evanescent, Precision};

const EVANESCENT: [(Evanescent, &str, &str); 2] = [
    (Evanescent::Decay, "decay", "They decay with distance, in either direction"),
    (Evanescent::Drop, "drop", "They are set to zero"),
];

const PRECISIONS: [(Precision, &str, &str); 2] = [
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
            ("Wavelength λ", "The light's wavelength with its unit, for example 660 nm"),
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
                text::bytes(plane)
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
    length(
        ui,
        sheet,
        Field::PitchX,
        (name, "Distance of neighbouring samples with its unit, for example 5 µm"),
        grid.pitch_x,
        "grid.pitch_x",
        both,
    );
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
    let words = ("Precision", "The arithmetic of the samples");
    if let Some(value) = fields::choice_row(ui, words, project.precision, &PRECISIONS) {
        sheet.send(Command::Edit(Edit::Precision(value)));
    }
    let words = ("Evanescent", "What becomes of frequencies beyond 1/λ, which do not travel");
    if let Some(value) = fields::choice_row(ui, words, project.evanescent, &EVANESCENT) {
        sheet.send(Command::Edit(Edit::Evanescent(value)));
    }
    let words = (
        "Roll-off",
        "Fraction of each axis's band over which the transfer function falls to zero, 0 to 1. Empty: the \
         method's own, 0.02 for automatic and all fast methods, which need it to be exact with less padding; \
         0 for implicit",
    );
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
    let words = ("Seed", "Key of the random phases: the same seed gives the same hologram");
    fields::row(ui, sheet, Field::Seed, words, &project.seed.to_string(), |_, text| {
        Ok(Command::Edit(Edit::Seed(super::whole(text, "1")?)))
    });
    let mut limit = project.band_limit;
    let toggle = ui.checkbox(&mut limit, "Band limit").on_hover_text(
        "Remove frequencies that the padded window cannot carry (Matsushima & Shimobaba 2009)",
    );
    if toggle.changed() {
        sheet.send(Command::Edit(Edit::BandLimit(limit)));
    }
}
