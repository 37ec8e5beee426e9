//! How the hologram is computed, and what that needs.

use egui::{Grid, RichText, Ui};

use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};
use super::super::needs::Needs;
use super::super::theme::tokens;
use super::super::{terms, text};
use super::plans::{self, Measurement};
use crate::optics::Bytes;
use crate::project::{Layering, Method};
use crate::run::Estimate;
use crate::storage::ScratchPrecision;

/// The methods, each with its name and what it means.
pub const METHODS: [(Method, &str, &str); 7] = [
    (Method::Auto, "automatic", "Takes the plan that should finish first"),
    (
        Method::Implicit,
        "implicit",
        "Three passes over four drives, with full padding: the most traffic, and the least to go wrong (Lee & \
         Kim 2023)",
    ),
    (
        Method::Padded,
        "padded",
        "The same three passes with only as much padding as the light can reach: less traffic",
    ),
    (
        Method::Streamed,
        "streamed",
        "Part of the spectrum after part, each kept in memory between two passes: less scratch, the source is \
         read again",
    ),
    (
        Method::Blocks,
        "blocks",
        "The plane in blocks that overlap, each done in memory in one pass: least traffic where light reaches \
         only a little way",
    ),
    (Method::InCore, "in-core", "As padded, with all scratch in memory: for planes that fit"),
    (
        Method::ZeroPadded,
        "zero-padded",
        "Explicit zeros, one stream: what was usual before, to compare with (Blinder & Shimobaba 2019)",
    ),
];

/// The layerings, each with its name and what it means.
pub const LAYERINGS: [(Layering, &str, &str); 2] = [
    (
        Layering::Stepwise,
        "stepwise",
        "From the farthest layer to the next, adding each on the way, and last to the hologram",
    ),
    (
        Layering::Fused,
        "fused",
        "Each layer straight to the hologram; their spectra are added, so only one transform leads back",
    ),
];

/// An option of what scratch keeps.
pub type Scratch = (Option<ScratchPrecision>, &'static str, &'static str);

/// How scratch may keep samples, each with its name and what it means.
pub const SCRATCH: [Scratch; 3] = [
    (None, "as the arithmetic", "Scratch files keep every digit"),
    (
        Some(ScratchPrecision::F32),
        "f32, 8 bytes a sample",
        "Single precision: half of the scratch of double precision, the same in single",
    ),
    (
        Some(ScratchPrecision::B16),
        "b16, 4 bytes a sample",
        "16-bit numbers with a scale for every 128 samples: half of the traffic of f32, for a relative error \
         of about 4e-5 each time a plane is kept",
    ),
];

/// Shows the method and its needs.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, needs: &Needs, measurement: Measurement) {
    super::section(ui, "Method", |ui| {
        let project = sheet.project;
        let words = terms::METHOD.words();
        if let Some(value) = fields::choice_row(ui, words, project.method, &METHODS) {
            sheet.send(Command::Edit(Edit::Method(value)));
        }
        help(ui, &METHODS, project.method, &chosen(project.method, needs));
        let words = terms::LAYERING.words();
        if let Some(value) = fields::choice_row(ui, words, project.layering, &LAYERINGS) {
            sheet.send(Command::Edit(Edit::Layering(value)));
        }
        help(ui, &LAYERINGS, project.layering, "");
        let words = terms::MEMORY.words();
        let memory = exact(project.memory);
        fields::row(ui, sheet, Field::Memory, words, &memory, |_, text| {
            let value: Bytes = text.parse().map_err(|e| format!("{e}"))?;
            if value.0 == 0 {
                return Err("0 leaves no buffer to work with; write for example 2 GiB".into());
            }
            Ok(Command::Edit(Edit::Memory(value)))
        });
        ui.collapsing("Advanced", |ui| advanced(ui, sheet));
        show_needs(ui, sheet, needs, measurement);
    });
}

/// The one-line help of the value that is chosen, with `more` behind it.
fn help<T: Copy + PartialEq>(ui: &mut Ui, options: &[(T, &str, &str)], current: T, more: &str) {
    if let Some((_, _, words)) = options.iter().find(|(value, _, _)| *value == current) {
        ui.label(RichText::new(format!("{words}{more}")).weak().small());
    }
}

/// What the planner has taken, where that is its choice.
fn chosen(method: Method, needs: &Needs) -> String {
    match needs {
        Needs::Known(estimate) if method == Method::Auto => {
            let chosen = estimate.choices.iter().find(|row| row.chosen);
            chosen.map(|row| format!("; here {}", row.method)).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// A row for a whole number that may be left out.
fn optional(
    ui: &mut Ui,
    sheet: &mut Sheet<'_>,
    field: Field,
    words: (&str, &str),
    current: Option<usize>,
    (name, example): (&str, &str),
    edit: impl FnOnce(Option<usize>) -> Edit,
) {
    let shown = current.map(|value| value.to_string()).unwrap_or_default();
    fields::row(ui, sheet, field, words, &shown, |sheet, text| {
        let value = if text.is_empty() { None } else { Some(super::whole(text, example)?) };
        sheet.checked(name, edit(value))
    });
}

fn advanced(ui: &mut Ui, sheet: &mut Sheet<'_>) {
    let project = sheet.project;
    let words = terms::SCRATCH_KEEPS.words();
    let mut options = SCRATCH.to_vec();
    if project.scratch_precision == Some(ScratchPrecision::F64) {
        options.push((Some(ScratchPrecision::F64), "f64, 16 bytes a sample", "Double precision"));
    }
    if let Some(value) = fields::choice_row(ui, words, project.scratch_precision, &options) {
        sheet.send(Command::Edit(Edit::Scratch(value)));
    }
    help(ui, &options, project.scratch_precision, "");
    let words = terms::TOLERANCE.words();
    let shown = project.tolerance.map(|value| format!("{value:e}")).unwrap_or_default();
    fields::row(ui, sheet, Field::Tolerance, words, &shown, |sheet, text| {
        let value = match text {
            "" => None,
            text => {
                Some(text.parse().map_err(|_| format!("`{text}` is not a number; write for example 1e-6"))?)
            }
        };
        sheet.checked("tolerance", Edit::Tolerance(value))
    });
    let words = terms::STREAMS.words();
    optional(ui, sheet, Field::Streams, words, project.streams, ("streams", "4"), Edit::Streams);
    let words = terms::AT_ONCE.words();
    optional(ui, sheet, Field::AtOnce, words, project.at_once, ("at_once", "2"), Edit::AtOnce);
}

/// The amount with its unit, exact.
fn exact(bytes: Bytes) -> String {
    let text = text::amount(bytes.0);
    if text.parse() == Ok(bytes) { text } else { format!("{} B", bytes.0) }
}

fn show_needs(ui: &mut Ui, sheet: &mut Sheet<'_>, needs: &Needs, measurement: Measurement) {
    let (choices, measured) = match needs {
        Needs::Unknown => {
            ui.label(RichText::new("Working out what this needs…").weak());
            return;
        }
        Needs::Refused(refusal) => {
            let reason = text::bound(&refusal.reason);
            ui.label(RichText::new(format!("⚠ {reason}")).color(tokens(ui).error));
            (&refusal.choices, refusal.measured)
        }
        Needs::Known(estimate) => {
            tokens(ui).card_frame().show(ui, |ui| {
                ui.set_min_width(ui.available_width());
                show_estimate(ui, estimate);
            });
            (&estimate.choices, estimate.measured)
        }
    };
    if !choices.is_empty() {
        plans::show(ui, sheet, choices, measured, measurement);
    }
}

fn show_estimate(ui: &mut Ui, estimate: &Estimate) {
    let basis = if estimate.measured { "" } else { " (usual figures)" };
    let time = estimate.seconds.map(|seconds| format!("{}{basis}", text::seconds(seconds)));
    let lines = text::lines(estimate.chunk);
    let bound = plans::error(estimate.error_bound);
    Grid::new("needs").num_columns(2).spacing([16.0, 2.0]).min_row_height(18.0).show(ui, |ui| {
        for (name, value, hover) in [
            ("Memory used", Some(text::amount(estimate.memory)), "All buffers together"),
            ("Chunk size", Some(lines), "Lines handled at once"),
            (
                "Scratch space",
                Some(text::amount(estimate.scratch_bytes)),
                "Intermediate files, removed at the end",
            ),
            ("Output file", Some(text::amount(estimate.output_bytes)), "The hologram's file"),
            (
                "Bytes to move",
                Some(text::amount(estimate.bytes_moved)),
                "Bytes read and written until the hologram is done",
            ),
            (
                "Predicted time",
                time,
                "Until the hologram is done; its reconstructions come on top. Usual figures: not all was \
                 measured on this machine",
            ),
            (
                "Error at most",
                Some(bound),
                "Bound on the hologram's relative error, for light that fills the plane",
            ),
        ] {
            let Some(value) = value else { continue };
            ui.label(RichText::new(name).weak()).on_hover_text(hover);
            ui.label(value).on_hover_text(hover);
            ui.end_row();
        }
    });
}
