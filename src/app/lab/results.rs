//! What a comparison found: ratios, times, timelines and whether the planes agree.

use egui::{Align, Layout, RichText, ScrollArea, Sense, Ui, vec2};

use super::super::commands::Command;
use super::super::run_view::RunView;
use super::super::theme::{GAP, Tokens, tokens};
use super::super::timeline;
use super::EXPERIMENTS;
use crate::lab::{Comparison, Experiment, ExperimentReport, Section, Series, markdown};
use crate::optics::Bytes;

/// Width of a name, and of the longest bar, in points.
const NAME: f32 = 430.0;
const BAR: f32 = 300.0;

/// Shows a report.
pub fn show(
    ui: &mut Ui,
    report: &ExperimentReport,
    timelines: &[Vec<(String, RunView)>],
    commands: &mut Vec<Command>,
) {
    let machine = &report.machine;
    ui.horizontal_wrapped(|ui| {
        let name = EXPERIMENTS.iter().find(|one| one.0 == report.experiment).map_or("", |one| one.1);
        ui.strong(name);
        ui.weak(format!(
            "{}, {} threads; {}; {:.0} s",
            machine.processor,
            machine.threads,
            if report.rounds == 1 { "1 round".into() } else { format!("{} rounds", report.rounds) },
            report.seconds
        ));
        if ui.button("Copy as Markdown").on_hover_text("Tables of all that is shown here").clicked() {
            commands.push(Command::Copy(markdown(&[serde_json::json!(report)])));
        }
    });
    for (name, rates) in &report.emulated {
        ui.label(
            RichText::new(format!("Emulated {name} drives: {rates} each, {}", rates.duplex))
                .color(tokens(ui).warning),
        );
    }
    ratios(ui, &report.comparisons);
    for (index, section) in report.sections.iter().enumerate() {
        ui.add_space(GAP);
        ui.strong(&section.name);
        ui.label(RichText::new(&section.what).weak());
        if report.experiment == Experiment::Table2 {
            heat_map(ui, section);
        } else {
            times(ui, section);
        }
        if let Some([(name, view), (other_name, other)]) = timelines.get(index).map(Vec::as_slice) {
            ui.horizontal(timeline::legend);
            let [run, other] =
                [(name, view), (other_name, other)].map(|(name, view)| timeline::Shown { view, name });
            timeline::chart(ui, &format!("Timelines of section {}", index + 1), run, Some(other), false);
        }
        agreement(ui, section);
        for note in &section.notes {
            ui.label(note);
        }
        for skipped in &section.skipped {
            ui.weak(format!("{} cannot run: {}", skipped.name, skipped.reason));
        }
    }
    ui.add_space(GAP);
    for note in &report.notes {
        ui.weak(note);
    }
}

/// A name, a bar for each part of the longest, and words.
fn row(ui: &mut Ui, name: &str, parts: &[(f64, egui::Color32)], words: &str) {
    ui.horizontal(|ui| {
        ui.allocate_ui_with_layout(vec2(NAME, 18.0), Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(NAME);
            ui.add(egui::Label::new(name).truncate());
        });
        let height = 14.0 / parts.len().max(1) as f32;
        let (place, _) = ui.allocate_exact_size(vec2(BAR, 16.0), Sense::hover());
        for (index, (part, color)) in parts.iter().enumerate() {
            #[expect(clippy::cast_possible_truncation, reason = "a share of a width")]
            let width = (*part as f32).clamp(0.0, 1.0) * BAR;
            let top = place.top() + 1.0 + index as f32 * height;
            let bar =
                egui::Rect::from_min_size(egui::pos2(place.left(), top), vec2(width.max(1.0), height - 1.0));
            ui.painter().rect_filled(bar, 1.0, *color);
        }
        ui.label(words);
    });
}

fn label(series: &Series) -> String {
    match series.left_out {
        Some(out) => format!("{}, without {out}", series.name),
        None => series.name.clone(),
    }
}

fn times(ui: &mut Ui, section: &Section) {
    let longest = section.series.iter().map(|series| series.median).fold(1e-9, f64::max);
    let tokens = tokens(ui);
    for series in &section.series {
        let moved: u64 = series.bytes_moved.as_flattened().iter().sum();
        let spread = match series.seconds.len() {
            1 => String::new(),
            _ => format!(" ± {:.0} %", 50.0 * series.spread),
        };
        let words = format!("{:.2} s{spread}, {}, {} buffers", series.median, Bytes(moved), series.buffers);
        row(ui, &label(series), &[(series.median / longest, tokens.read)], &words);
    }
}

/// Seconds by buffers and chunk.
fn heat_map(ui: &mut Ui, section: &Section) {
    let mut buffers: Vec<_> = section.series.iter().map(|series| series.buffers).collect();
    let mut chunks: Vec<_> = section.series.iter().map(|series| series.chunk).collect();
    for values in [&mut buffers, &mut chunks] {
        values.sort_unstable();
        values.dedup();
    }
    let medians = || section.series.iter().map(|series| series.median);
    let (least, most) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
    let tokens = tokens(ui);
    ScrollArea::horizontal().id_salt("heat map").show(ui, |ui| {
        egui::Grid::new("heat map").spacing(vec2(2.0, 2.0)).show(ui, |ui| {
            ui.weak("buffers \\ lines");
            for chunk in &chunks {
                ui.weak(chunk.to_string());
            }
            ui.end_row();
            for buffer in &buffers {
                ui.weak(buffer.to_string());
                for chunk in &chunks {
                    let found = section.series.iter().find(|s| s.buffers == *buffer && s.chunk == *chunk);
                    match found {
                        Some(series) => cell(ui, series.median, (least, most), tokens),
                        None => {
                            ui.label("");
                        }
                    }
                }
                ui.end_row();
            }
        });
    });
    ui.weak("Seconds, the fastest brightest; a cell is empty where so many lines and buffers need more than the memory.");
}

fn cell(ui: &mut Ui, seconds: f64, (least, most): (f64, f64), tokens: &Tokens) {
    let (place, response) = ui.allocate_exact_size(vec2(58.0, 22.0), Sense::hover());
    #[expect(clippy::cast_possible_truncation, reason = "a share")]
    let share = ((most - seconds) / (most - least).max(1e-9)) as f32;
    ui.painter().rect_filled(place, 2.0, tokens.read.gamma_multiply(0.12 + 0.6 * share));
    ui.painter().text(
        place.center(),
        egui::Align2::CENTER_CENTER,
        format!("{seconds:.2}"),
        egui::FontId::proportional(12.5),
        ui.visuals().text_color(),
    );
    response.on_hover_text(format!("{seconds:.3} s"));
}

fn agreement(ui: &mut Ui, section: &Section) {
    let worst = section.agreement.iter().map(|plane| plane.difference).fold(0.0, f64::max);
    if section.agreement.iter().any(|plane| !plane.agrees) {
        ui.label(RichText::new("⚠ The methods gave different planes").color(tokens(ui).error));
    } else if !section.agreement.is_empty() {
        ui.weak(format!("All gave one plane, to {worst:.1e}"));
    }
}

fn ratios(ui: &mut Ui, comparisons: &[Comparison]) {
    if comparisons.is_empty() {
        return;
    }
    let tokens = tokens(ui);
    ui.add_space(GAP);
    ui.horizontal(|ui| {
        ui.strong("Times over the first");
        ui.colored_label(tokens.read, "■ measured");
        ui.colored_label(tokens.wait, "■ published (Lee & Kim 2023)");
    });
    let largest = comparisons
        .iter()
        .map(|ratio| ratio.measured.max(ratio.published.unwrap_or(0.0)))
        .fold(1e-9, f64::max);
    for ratio in comparisons {
        let mut parts = vec![(ratio.measured / largest, tokens.read)];
        parts.extend(ratio.published.map(|published| (published / largest, tokens.wait)));
        let published = ratio.published.map_or(String::new(), |p| format!(", published {p:.2}"));
        let [least, most] = ratio.rounds;
        let within = if most > least { format!(" ({least:.2} to {most:.2})") } else { String::new() };
        let words = format!("{:.2}{within}{published}", ratio.measured);
        row(ui, &ratio.what, &parts, &words);
    }
}
