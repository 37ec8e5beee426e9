//! How the hologram is computed, and what that needs.

use egui::{Grid, RichText, Ui};

use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};
use super::super::text;
use super::super::theme::tokens;
use crate::optics::Bytes;
use crate::project::Method;
use crate::run::Estimate;

const METHODS: [(Method, &str, &str); 4] = [
    (Method::Auto, "automatic", "The planner picks the fastest method that fits"),
    (
        Method::Implicit,
        "implicit zero padding",
        "Three phases, even and odd streams, four roles of drives (Lee & Kim 2023)",
    ),
    (
        Method::Padded,
        "padded by the reach",
        "The same phases with no more padding than the light's reach needs; with a small roll-off",
    ),
    (Method::InCore, "in memory", "As padded by the reach, with all scratch in memory; only where it fits"),
];

/// What is known of the project's needs.
#[derive(Debug, Default)]
pub enum Needs {
    /// Being worked out.
    #[default]
    Unknown,
    /// Worked out.
    Known(Box<Estimate>),
    /// It cannot run, with the reason.
    Refused(String),
}

/// Shows the method and its needs.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, needs: &Needs) {
    super::section(ui, "Method", |ui| {
        let project = sheet.project;
        let words = ("Method", "How planes are propagated between depths");
        if let Some(value) = fields::choice_row(ui, words, project.method, &METHODS) {
            sheet.send(Command::Edit(Edit::Method(value)));
        }
        let words = ("Memory", "Bound on all buffers with its unit, for example 2 GiB");
        let memory = exact(project.memory);
        fields::row(ui, sheet, Field::Memory, words, &memory, |_, text| {
            let value: Bytes = text.parse().map_err(|e| format!("{e}"))?;
            if value.0 == 0 {
                return Err("0 leaves no buffer to work with; write for example 2 GiB".into());
            }
            Ok(Command::Edit(Edit::Memory(value)))
        });
        let words = ("Chunk", "Lines handled at once; leave it empty to fill the memory");
        let chunk = project.chunk.map(|lines| lines.to_string()).unwrap_or_default();
        fields::row(ui, sheet, Field::Chunk, words, &chunk, |sheet, text| {
            let lines = if text.is_empty() { None } else { Some(super::whole(text, "128")?) };
            sheet.checked("chunk", Edit::Chunk(lines))
        });
        let words = ("Buffers", "Chunks a stage may hold ahead, so that drives and processor need not wait");
        fields::row(ui, sheet, Field::Buffers, words, &project.buffers.to_string(), |sheet, text| {
            sheet.checked("buffers", Edit::Buffers(super::whole(text, "2")?))
        });
        show_needs(ui, needs);
    });
}

/// The amount with its unit, exact.
fn exact(bytes: Bytes) -> String {
    let text = text::bytes(bytes.0);
    if text.parse() == Ok(bytes) { text } else { format!("{} B", bytes.0) }
}

fn show_needs(ui: &mut Ui, needs: &Needs) {
    match needs {
        Needs::Unknown => {
            ui.label(RichText::new("Working out what this needs…").weak());
        }
        Needs::Refused(reason) => {
            ui.label(RichText::new(format!("⚠ {reason}")).color(tokens(ui).error));
        }
        Needs::Known(estimate) => {
            tokens(ui).card_frame().show(ui, |ui| {
                ui.set_min_width(ui.available_width());
                Grid::new("needs").num_columns(2).spacing([16.0, 2.0]).show(ui, |ui| {
                    for (name, value, hover) in [
                        ("Memory used", text::bytes(estimate.memory), "All buffers together"),
                        (
                            "Chunk size",
                            format!("{} lines", text::count(estimate.chunk as u64)),
                            "Lines handled at once",
                        ),
                        (
                            "Scratch space",
                            text::bytes(estimate.scratch_bytes),
                            "Intermediate files, removed at the end",
                        ),
                        ("Output file", text::bytes(estimate.output_bytes), "The hologram's file"),
                        (
                            "Bytes to move",
                            text::bytes(estimate.bytes_moved),
                            "Bytes read and written over the whole run",
                        ),
                    ] {
                        ui.label(RichText::new(name).weak()).on_hover_text(hover);
                        ui.label(value).on_hover_text(hover);
                        ui.end_row();
                    }
                });
            });
        }
    }
}
