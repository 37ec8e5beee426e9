//! Chunk and buffers, with what they cost and what they bring.

use egui::{Grid, ProgressBar, RichText, Slider, Ui};

use super::super::App;
use super::super::backend::Backend;
use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};
use super::super::needs::Needs;
use super::super::task::{Poll, Task};
use super::super::text;
use super::super::theme::tokens;
use super::method::optional;
use crate::methods::PlanError;
use crate::planner::METHODS;
use crate::project::Project;
use crate::run::{Estimate, RunError};
use crate::storage::PANEL;

/// The most buffers the slider offers; the field takes more.
const BUFFERS: usize = 16;
/// Halvings of the largest chunk that are compared.
const HALVINGS: u32 = 6;

/// What a setting costs and brings, or why it cannot run.
#[derive(Debug, Clone, PartialEq)]
struct Outcome {
    /// Lines of a chunk.
    chunk: usize,
    /// Memory in bytes.
    memory: u64,
    /// Seconds that are predicted.
    seconds: Option<f64>,
}

impl Outcome {
    const fn of(estimate: &Estimate) -> Self {
        Self { chunk: estimate.chunk, memory: estimate.memory, seconds: estimate.seconds }
    }
}

/// What is known of other chunks.
#[derive(Debug, Default, PartialEq)]
struct Ladder {
    /// The largest chunk that fits in the memory.
    largest: usize,
    /// The chunk that is taken where none is set.
    automatic: Option<usize>,
    /// Chunks that can run, by size.
    rungs: Vec<Outcome>,
}

impl Ladder {
    /// Chunks of `project`, whose own chunk does not matter.
    fn of(backend: &dyn Backend, project: &Project) -> Self {
        let longest = project.grid.width.max(project.grid.height);
        let with = |chunk| Project { chunk, ..project.clone() };
        let Ok(automatic) = backend.estimate(&with(None)) else {
            return Self { largest: longest, ..Self::default() };
        };
        // Left to the planner, a chunk too large for one method would only change the method.
        let method = METHODS.into_iter().find(|method| method.to_string() == automatic.method);
        let all = Project { method: method.unwrap_or(project.method), ..with(Some(longest)) };
        let largest = match backend.estimate(&all) {
            Err(RunError::Plan(PlanError::ChunkTooLarge { largest, .. })) => largest,
            _ => longest,
        };
        let rungs = chunks(largest, automatic.chunk)
            .into_iter()
            .filter_map(|chunk| Some(Outcome::of(&backend.estimate(&with(Some(chunk))).ok()?)))
            .collect();
        Self { largest, automatic: Some(automatic.chunk), rungs }
    }

    fn fastest(&self) -> Option<usize> {
        let timed = self.rungs.iter().filter_map(|rung| Some((rung.chunk, rung.seconds?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|rung| rung.0)
    }
}

/// The chunks that are compared: the largest halved again and again, and the automatic one.
fn chunks(largest: usize, automatic: usize) -> Vec<usize> {
    let mut all: Vec<_> = (0..=HALVINGS).map(|i| whole_panels(largest >> i)).collect();
    all.push(automatic);
    all.retain(|&chunk| chunk > 0);
    all.sort_unstable();
    all.dedup();
    all
}

/// Lines in whole panels, as far as there are some: others leave parts of blocks empty.
const fn whole_panels(lines: usize) -> usize {
    if lines < PANEL { lines } else { lines / PANEL * PANEL }
}

/// What the section remembers between frames.
#[derive(Debug, Default)]
pub struct Tuning {
    /// Whether it is shown.
    open: bool,
    /// Chunk and buffers while a slider is being moved.
    moved: Option<(Option<usize>, usize)>,
    /// What `trial`, or its task, is about.
    trial_of: Option<Project>,
    trial: Option<Result<Outcome, String>>,
    trial_task: Option<Task<Result<Outcome, String>>>,
    /// What `ladder`, or its task, is about.
    ladder_of: Option<Project>,
    ladder: Option<Ladder>,
    ladder_task: Option<Task<Ladder>>,
}

impl Tuning {
    /// Whether anything is being worked out.
    pub const fn busy(&self) -> bool {
        self.trial_task.is_some() || self.ladder_task.is_some()
    }

    fn poll(&mut self) {
        match self.trial_task.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => {}
            Some(result) => {
                self.trial_task = None;
                self.trial = Some(match result {
                    Poll::Done(outcome) => outcome,
                    _ => Err("the estimate failed: this is a defect of Gigafringe".into()),
                });
            }
        }
        match self.ladder_task.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => {}
            Some(result) => {
                self.ladder_task = None;
                self.ladder = if let Poll::Done(ladder) = result { Some(ladder) } else { None };
            }
        }
    }

    /// The project with the sliders as they stand.
    fn tried(&self, project: &Project) -> Project {
        let (chunk, buffers) = self.moved.unwrap_or((project.chunk, project.buffers));
        Project { chunk, buffers, ..project.clone() }
    }
}

impl App {
    /// Keeps what is known of other chunks up with the project, after its own estimate.
    pub(in super::super) fn poll_tuning(&mut self) {
        self.tuning.poll();
        let measuring = self.measure_task.is_some() || self.drives_page.is_measuring();
        if !self.tuning.open || self.needs_task.is_some() || measuring {
            return;
        }
        let tried = self.tuning.tried(&self.project);
        if self.tuning.moved.is_some()
            && self.tuning.trial_task.is_none()
            && self.tuning.trial_of.as_ref() != Some(&tried)
        {
            let (backend, project) = (self.backend.clone(), tried.clone());
            self.tuning.trial_of = Some(tried.clone());
            self.tuning.trial_task = Some(Task::spawn("estimate a setting", self.wake.clone(), move || {
                backend.estimate(&project).map(|e| Outcome::of(&e)).map_err(|error| error.to_string())
            }));
        }
        let subject = Project { chunk: None, ..tried };
        if self.tuning.ladder_task.is_none() && self.tuning.ladder_of.as_ref() != Some(&subject) {
            let (backend, project) = (self.backend.clone(), subject.clone());
            self.tuning.ladder_of = Some(subject);
            let work = move || Ladder::of(&*backend, &project);
            self.tuning.ladder_task = Some(Task::spawn("estimate chunks", self.wake.clone(), work));
        }
    }

    /// Has the settings estimated anew, after something was measured.
    pub(in super::super) fn forget_tuning(&mut self) {
        self.tuning.trial_of = None;
        self.tuning.ladder_of = None;
    }
}

/// Shows the section.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, tuning: &mut Tuning, needs: &Needs, running: bool) {
    let was_open = std::mem::take(&mut tuning.open);
    super::section(ui, "Tuning", |ui| {
        tuning.open = true;
        let project = sheet.project;
        if running {
            let words = "ℹ Changes here apply to the next run, not to the one under way";
            ui.label(RichText::new(words).color(tokens(ui).warning).small());
        }
        let words = ("Chunk", "Lines handled at once; leave it empty to fill the memory");
        optional(ui, sheet, Field::Chunk, words, project.chunk, ("chunk", "128"), Edit::Chunk);
        chunk_slider(ui, sheet, tuning, needs);
        let words = ("Buffers", "Chunks a stage may hold ahead, so that drives and processor need not wait");
        fields::row(ui, sheet, Field::Buffers, words, &project.buffers.to_string(), |sheet, text| {
            sheet.checked("buffers", Edit::Buffers(super::whole(text, "2")?))
        });
        buffers_slider(ui, sheet, tuning);
        costs(ui, project, tuning, needs);
        ladder(ui, sheet, tuning);
    });
    if tuning.open != was_open {
        // What it shows is worked out once it is seen.
        ui.ctx().request_repaint();
    }
}

fn chunk_slider(ui: &mut Ui, sheet: &mut Sheet<'_>, tuning: &mut Tuning, needs: &Needs) {
    let project = sheet.project;
    let (set, buffers) = tuning.moved.unwrap_or((project.chunk, project.buffers));
    let automatic = match (&tuning.ladder, needs) {
        (Some(Ladder { automatic: Some(chunk), .. }), _) => *chunk,
        (_, Needs::Known(estimate)) => estimate.chunk,
        _ => 1,
    };
    let longest = project.grid.width.max(project.grid.height);
    let largest = tuning.ladder.as_ref().map_or(longest, |ladder| ladder.largest).max(1);
    let mut chunk = set.unwrap_or(automatic).clamp(1, largest);
    let response = slider(ui, "Chunk slider", |ui| {
        ui.add(Slider::new(&mut chunk, 1..=largest).logarithmic(true).show_value(false))
            .on_hover_text(format!("Lines of a chunk, up to {largest}, the most that fit in the memory"))
    });
    if response.changed() {
        tuning.moved = Some((Some(if chunk == largest { chunk } else { whole_panels(chunk) }), buffers));
    }
    settle(sheet, tuning, &response);
    let mut fill = set.is_none();
    ui.horizontal(|ui| {
        fields::label(ui, "", "");
        let words = "Chunk as large as suits the memory; else it is fixed at its size now";
        if ui.checkbox(&mut fill, "Automatic chunk").on_hover_text(words).changed() {
            sheet.drafts.forget(Field::Chunk);
            sheet.send(Command::Edit(Edit::Chunk(if fill { None } else { Some(automatic) })));
        }
        if let Some((Some(chunk), _)) = tuning.moved {
            ui.label(format!("{chunk} lines"));
        }
    });
}

fn buffers_slider(ui: &mut Ui, sheet: &mut Sheet<'_>, tuning: &mut Tuning) {
    let project = sheet.project;
    let (chunk, mut buffers) = tuning.moved.unwrap_or((project.chunk, project.buffers));
    let most = BUFFERS.max(project.buffers);
    let response = slider(ui, "Buffers slider", |ui| {
        ui.add(Slider::new(&mut buffers, 1..=most).show_value(false))
            .on_hover_text("Chunks a stage may hold ahead; more of them leave less memory for each chunk")
    });
    if response.changed() {
        tuning.moved = Some((chunk, buffers));
    }
    settle(sheet, tuning, &response);
}

/// A slider as wide as a field.
fn slider(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui) -> egui::Response) -> egui::Response {
    ui.horizontal(|ui| {
        fields::label(ui, "", "");
        ui.spacing_mut().slider_width = ui.available_width() - 8.0;
        add(ui).accessible_name(name)
    })
    .inner
}

/// Makes what a slider was moved to the project's, once it is let go.
fn settle(sheet: &mut Sheet<'_>, tuning: &mut Tuning, slider: &egui::Response) {
    if slider.dragged() || !(slider.changed() || slider.drag_stopped()) {
        return;
    }
    let Some((chunk, buffers)) = tuning.moved.take() else { return };
    if chunk != sheet.project.chunk {
        sheet.drafts.forget(Field::Chunk);
        sheet.send(Command::Edit(Edit::Chunk(chunk)));
    }
    if buffers != sheet.project.buffers {
        sheet.drafts.forget(Field::Buffers);
        sheet.send(Command::Edit(Edit::Buffers(buffers)));
    }
}

/// The memory and the time of the setting that is shown.
fn costs(ui: &mut Ui, project: &Project, tuning: &Tuning, needs: &Needs) {
    let outcome = match (&tuning.moved, needs) {
        (Some(_), _) => tuning.trial.clone(),
        (None, Needs::Known(estimate)) => Some(Ok(Outcome::of(estimate))),
        (None, Needs::Refused(refusal)) => Some(Err(refusal.reason.clone())),
        (None, Needs::Unknown) => None,
    };
    match outcome {
        None => {
            ui.label(RichText::new("Working out what this needs…").weak());
        }
        Some(Err(reason)) => {
            ui.label(RichText::new(format!("⚠ {reason}")).color(tokens(ui).error).small());
        }
        Some(Ok(Outcome { chunk, memory, seconds })) => {
            ui.horizontal(|ui| {
                fields::label(ui, "Memory used", "All buffers together, and the bound on them");
                let (used, bound) = (text::bytes(memory), text::bytes(project.memory.0));
                #[expect(clippy::cast_possible_truncation, reason = "a part of one")]
                let part = (memory as f64 / project.memory.0.max(1) as f64) as f32;
                let bar = ProgressBar::new(part).desired_width(70.0).corner_radius(2.0);
                ui.add(bar.fill(tokens(ui).accent)).accessible_name("Part of the memory");
                ui.label(format!("{used} of {bound}"));
            });
            let time = seconds.map_or_else(|| "not predicted".into(), text::seconds);
            ui.horizontal(|ui| {
                fields::label(ui, "Time", "Predicted time of the hologram with this setting");
                ui.label(format!("{time} with chunks of {} lines", text::count(chunk as u64)));
            });
        }
    }
}

/// Other chunks with their times; a click takes one.
fn ladder(ui: &mut Ui, sheet: &mut Sheet<'_>, tuning: &Tuning) {
    let Some(ladder) = tuning.ladder.as_ref().filter(|ladder| !ladder.rungs.is_empty()) else { return };
    let current = tuning.moved.map_or(sheet.project.chunk, |moved| moved.0).or(ladder.automatic);
    let longest = ladder.rungs.iter().filter_map(|rung| rung.seconds).fold(0.0, f64::max);
    let fastest = ladder.fastest();
    ui.label(RichText::new("Other chunks").weak())
        .on_hover_text("Predicted for the same project and buffers");
    Grid::new("chunks").num_columns(4).spacing([10.0, 2.0]).min_row_height(20.0).show(ui, |ui| {
        for (name, hover) in [
            ("Lines", "Lines of a chunk; click to take it"),
            ("Memory", "All buffers together"),
            ("Time", "Predicted time of the hologram"),
        ] {
            ui.label(RichText::new(name).weak().small()).on_hover_text(hover);
        }
        ui.end_row();
        for rung in &ladder.rungs {
            let lines = text::count(rung.chunk as u64);
            let button = ui.selectable_label(current == Some(rung.chunk), lines.clone());
            let button = button.accessible_name(format!("Chunk of {lines} lines"));
            if button.on_hover_text("Take chunks of this size").clicked() {
                sheet.drafts.forget(Field::Chunk);
                sheet.send(Command::Edit(Edit::Chunk(Some(rung.chunk))));
            }
            ui.label(RichText::new(text::bytes(rung.memory)).small());
            let time = rung.seconds.map_or_else(|| "–".into(), text::seconds);
            ui.label(RichText::new(time).small());
            bar(ui, rung.seconds.unwrap_or(0.0) / longest.max(f64::MIN_POSITIVE));
            let mut words = Vec::new();
            if fastest == Some(rung.chunk) {
                words.push("fastest");
            }
            if ladder.automatic == Some(rung.chunk) {
                words.push("automatic");
            }
            ui.label(RichText::new(words.join(", ")).weak().small());
            ui.end_row();
        }
    });
}

/// A bar for a part of one.
fn bar(ui: &mut Ui, part: f64) {
    let (rect, _) = ui.allocate_exact_size(egui::vec2(60.0, 10.0), egui::Sense::hover());
    #[expect(clippy::cast_possible_truncation, reason = "a part of one")]
    let width = rect.width() * part.clamp(0.0, 1.0) as f32;
    let filled = egui::Rect::from_min_size(rect.min, egui::vec2(width.max(1.0), rect.height()));
    ui.painter().rect_filled(filled, 1.0, tokens(ui).accent.gamma_multiply(0.6));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_halved_in_whole_panels() {
        assert_eq!(chunks(1000, 512), [8, 24, 56, 120, 248, 496, 512, 1000]);
        assert_eq!(chunks(1024, 512), [16, 32, 64, 128, 256, 512, 1024]);
        assert_eq!(chunks(5, 5), [1, 2, 5]);
    }

    #[test]
    fn the_fastest_is_named_among_those_with_a_time() {
        let rung = |chunk, seconds| Outcome { chunk, memory: 1, seconds };
        let rungs = vec![rung(8, None), rung(16, Some(3.0)), rung(32, Some(2.0)), rung(64, Some(2.5))];
        assert_eq!(Ladder { largest: 64, automatic: None, rungs }.fastest(), Some(32));
        assert_eq!(Ladder::default().fastest(), None);
    }
}
