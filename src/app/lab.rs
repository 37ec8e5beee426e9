//! The lab's page: a comparison is chosen, runs in the background, and is drawn as bars.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use egui::{Align, Button, DragValue, Layout, RichText, ScrollArea, Sense, Spinner, TextEdit, Ui, vec2};

use super::commands::Command;
use super::fields;
use super::task::{Poll, Task};
use super::theme::{GAP, SPACE, Tokens, tokens};
use crate::engine::Cancel;
use crate::lab::{Comparing, Comparison, Experiment, ExperimentReport, Section, Series, markdown};
use crate::optics::Bytes;
use crate::project::Project;
use crate::run::RunError;

const EXPERIMENTS: [(Experiment, &str, &str); 9] = [
    (Experiment::Table1, "All methods", "Every method in both precisions on SATA and NVMe drives (Table 1)"),
    (Experiment::Io, "Drives alone", "The same without the arithmetic (Fig. 6)"),
    (Experiment::Breakdown, "Phases", "What each phase takes (Fig. 7)"),
    (Experiment::Memory, "Memory", "The same job in less and more memory (Fig. 8)"),
    (Experiment::Table2, "Chunk and buffers", "Chunk against buffers in the same memory (Table 2)"),
    (Experiment::Drives, "Number of drives", "One to four drives (Fig. 9)"),
    (Experiment::Overlap, "Overlap", "With and without overlap of drives and arithmetic"),
    (Experiment::Hologram, "Hologram", "A hologram of three layers (section 5)"),
    (Experiment::Real, "Your drives", "Every method on the drives of the project"),
];

/// Lines of progress that are shown.
const LINES: usize = 8;
/// Width of a name, and of the longest bar, in points.
const NAME: f32 = 430.0;
const BAR: f32 = 300.0;

/// What the page shows and does.
pub(super) struct LabPage {
    experiment: Experiment,
    size: usize,
    rounds: usize,
    folder: String,
    task: Option<Task<Result<ExperimentReport, RunError>>>,
    cancel: Cancel,
    lines: Arc<Mutex<Vec<String>>>,
    report: Option<ExperimentReport>,
    failure: Option<String>,
}

/// A comparison that takes seconds.
pub(super) fn small() -> Comparing {
    let page = LabPage { size: 1024, rounds: 1, ..LabPage::default() };
    page.comparing(&super::blank_project())
}

impl Default for LabPage {
    fn default() -> Self {
        Self {
            experiment: Experiment::Table1,
            size: 1536,
            rounds: 3,
            folder: std::env::temp_dir().display().to_string(),
            task: None,
            cancel: Cancel::default(),
            lines: Arc::default(),
            report: None,
            failure: None,
        }
    }
}

impl LabPage {
    /// Whether a comparison is under way.
    pub const fn is_running(&self) -> bool {
        self.task.is_some()
    }

    /// Starts what is chosen; `start` does the work with a place to tell its progress.
    pub fn start(
        &mut self,
        comparing: Comparing,
        spawn: impl FnOnce(Comparing, Cancel, Arc<Mutex<Vec<String>>>) -> Task<Result<ExperimentReport, RunError>>,
    ) {
        self.cancel = Cancel::default();
        self.lines = Arc::default();
        self.failure = None;
        self.task = Some(spawn(comparing, self.cancel.clone(), self.lines.clone()));
    }

    /// Asks the comparison to stop.
    pub fn stop(&self) {
        self.cancel.cancel();
    }

    /// Takes the result in, if there is one.
    pub fn poll(&mut self) {
        match self.task.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => return,
            Some(Poll::Done(Ok(report))) => self.report = Some(report),
            Some(Poll::Done(Err(error))) => self.failure = Some(error.to_string()),
            Some(Poll::Lost) => {
                self.failure = Some("The comparison ended early: this is a defect of Gigafringe".into());
            }
        }
        self.task = None;
    }

    fn comparing(&self, project: &Project) -> Comparing {
        let real = self.experiment == Experiment::Real;
        let drives = project.drives.iter().filter(|_| real).map(|drive| drive.path.clone()).collect();
        Comparing {
            experiment: self.experiment,
            size: self.size,
            memory: None,
            repeat: self.rounds,
            folder: PathBuf::from(self.folder.trim()),
            drives,
        }
    }

    /// Shows the page; `run_under_way` is why none can start.
    pub fn show(&mut self, ui: &mut Ui, project: &Project, run_under_way: bool, commands: &mut Vec<Command>) {
        ui.add_space(SPACE);
        ui.horizontal(|ui| {
            ui.heading("Lab");
            ui.label("The published methods against each other, on this machine");
        });
        ui.add_space(SPACE);
        self.controls(ui, project, run_under_way, commands);
        if let Some(error) = &self.failure {
            ui.label(RichText::new(format!("⚠ {error}")).color(tokens(ui).error));
        }
        if self.is_running() {
            self.progress(ui);
        }
        ui.separator();
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| match &self.report {
            Some(report) => results(ui, report, commands),
            None => {
                ui.weak("Nothing has been compared yet. A comparison makes its own plane in the folder and removes it.");
            }
        });
    }

    fn controls(&mut self, ui: &mut Ui, project: &Project, run_under_way: bool, commands: &mut Vec<Command>) {
        let running = self.is_running();
        ui.horizontal_wrapped(|ui| {
            ui.add_enabled_ui(!running, |ui| {
                if let Some(chosen) =
                    fields::choice(ui, "experiment", "Comparison", 170.0, self.experiment, &EXPERIMENTS)
                {
                    self.experiment = chosen;
                }
                let size = ui.label("Size");
                ui.add(DragValue::new(&mut self.size).range(256..=65_536).speed(16.0))
                    .labelled_by(size.id)
                    .on_hover_text("Samples along each side of the plane");
                let rounds = ui.label("Rounds");
                ui.add(DragValue::new(&mut self.rounds).range(1..=9))
                    .labelled_by(rounds.id)
                    .on_hover_text("Every way runs so many times, in turn; medians are compared");
                let folder = ui.label("Folder");
                ui.add(TextEdit::singleline(&mut self.folder).desired_width(220.0))
                    .labelled_by(folder.id)
                    .on_hover_text("Where all files lie while it runs, but for a comparison of your drives");
            });
            let reason = if run_under_way {
                Some("A run is under way; it would spoil the comparison")
            } else if self.experiment == Experiment::Real && project.drives.is_empty() {
                Some("Give the project's drives their roles first")
            } else {
                None
            };
            let button = if running {
                ui.button("Stop").on_hover_text("Stop the comparison; nothing is left behind")
            } else {
                let accent = tokens(ui).accent;
                ui.add_enabled(
                    reason.is_none(),
                    Button::new(RichText::new("Compare").color(tokens(ui).on_accent)).fill(accent),
                )
                .on_hover_text("Run every way in turn")
                .on_disabled_hover_text(reason.unwrap_or_default())
            };
            if button.clicked() {
                commands.push(if running {
                    Command::StopComparing
                } else {
                    Command::Compare(Box::new(self.comparing(project)))
                });
            }
        });
    }

    fn progress(&self, ui: &mut Ui) {
        ui.add_space(SPACE);
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        ui.horizontal(|ui| {
            ui.add(Spinner::new());
            ui.vertical(|ui| {
                for line in lines.iter().skip(lines.len().saturating_sub(LINES)) {
                    ui.small(line);
                }
            });
        });
    }
}

fn results(ui: &mut Ui, report: &ExperimentReport, commands: &mut Vec<Command>) {
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
    for section in &report.sections {
        ui.add_space(GAP);
        ui.strong(&section.name);
        ui.label(RichText::new(&section.what).weak());
        if report.experiment == Experiment::Table2 {
            heat_map(ui, section);
        } else {
            times(ui, section);
        }
        agreement(ui, section);
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
