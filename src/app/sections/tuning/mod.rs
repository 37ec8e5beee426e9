//! Chunk and buffers, with what they cost and what they bring.

mod estimates;

use std::sync::Arc;

use egui::style::ScrollAnimation;
use egui::{Grid, ProgressBar, Rect, RichText, Slider, Ui, vec2};

use super::super::App;
use super::super::backend::Backend;
use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};
use super::super::needs::Needs;
use super::super::task::{Poll, Task, Wake};
use super::super::theme::tokens;
use super::super::{terms, text};
use crate::engine::Cancel;
use crate::project::Project;

use estimates::{Answer, Asking, Known, Ladder, Outcome, Refused, subject, whole_panels};

/// The most buffers the slider offers; the field takes more.
const BUFFERS: usize = 16;

/// What the section remembers between frames.
#[derive(Debug, Default)]
pub struct Tuning {
    /// Whether it is shown.
    open: bool,
    /// Chunk and buffers while a slider is being moved.
    moved: Option<(Option<usize>, usize)>,
    /// Where it was drawn, and its distance from the panel's top.
    place: Option<(Rect, f32)>,
    /// What settings take.
    known: Arc<Known>,
    /// The setting that is being estimated for a slider.
    trial: Option<(Project, Task<Answer>)>,
    /// What `ladder`, or its task, is about: the project without its chunk.
    ladder_of: Option<Project>,
    ladder: Option<Ladder>,
    ladder_task: Option<(Cancel, Task<Option<Ladder>>)>,
}

impl Tuning {
    /// Whether anything is being worked out.
    pub const fn busy(&self) -> bool {
        self.trial.is_some() || self.ladder_task.is_some()
    }

    /// The fastest chunk that fits `project`, with its seconds, as far as that is known.
    pub fn fastest(&self, project: &Project) -> Option<(usize, f64)> {
        let current = self.ladder_task.is_none() && self.ladder_of.as_ref() == Some(&any_chunk(project));
        self.ladder.as_ref().filter(|_| current).and_then(Ladder::fastest)
    }

    fn poll(&mut self) {
        if let Some((project, task)) = self.trial.take() {
            match task.poll() {
                Poll::Pending => self.trial = Some((project, task)),
                Poll::Done(_) => {}
                Poll::Lost => {
                    let reason = "the estimate failed: this is a defect of Gigafringe".into();
                    self.known.put(&project, Err(Refused::because(reason)));
                }
            }
        }
        if let Some((cancel, task)) = self.ladder_task.take() {
            match task.poll() {
                Poll::Pending => self.ladder_task = Some((cancel, task)),
                Poll::Done(Some(ladder)) => self.ladder = Some(ladder),
                // Superseded: what is there is of an earlier project still.
                Poll::Done(None) => self.ladder_of = None,
                Poll::Lost => self.ladder = None,
            }
        }
    }

    /// The project with the sliders as they stand.
    fn tried(&self, project: &Project) -> Project {
        let (chunk, buffers) = self.moved.unwrap_or((project.chunk, project.buffers));
        Project { chunk, buffers, ..project.clone() }
    }

    /// Has worked out what is not known of `project` and of what the sliders are moved to.
    fn work_out(&mut self, project: &Project, backend: &Arc<dyn Backend>, wake: &Wake) {
        let tried = self.tried(project);
        if self.moved.is_some() && self.trial.is_none() && self.known.get(&tried).is_none() {
            let (asking, subject) = (Asking::new(&self.known, backend), tried.clone());
            let work = move || asking.find(&subject);
            self.trial = Some((tried, Task::spawn("estimate a setting", wake.clone(), work)));
        }
        let subject = any_chunk(project);
        if self.ladder_of.as_ref() == Some(&subject) {
            return;
        }
        if let Some((cancel, _)) = &self.ladder_task {
            // Of a project that is no more; the next begins when this has ended.
            cancel.cancel();
            return;
        }
        let (asking, cancel) = (Asking::new(&self.known, backend), Cancel::default());
        self.ladder_of = Some(subject.clone());
        let work = {
            let cancel = cancel.clone();
            move || Ladder::of(&asking, &subject, &cancel)
        };
        self.ladder_task = Some((cancel, Task::spawn("estimate chunks", wake.clone(), work)));
    }
}

/// The project with the chunk left open, and without what changes no plan.
fn any_chunk(project: &Project) -> Project {
    let (method, buffers) = (project.method, project.buffers);
    Project { method, buffers, ..subject(project) }
}

impl App {
    /// Keeps what is known of other chunks up with the project, after its own estimate.
    pub(in super::super) fn poll_tuning(&mut self) {
        self.tuning.poll();
        let measuring = self.measure_task.is_some() || self.drives_page.is_measuring();
        // A chunk that was set is compared with others whether or not these are shown.
        let wanted = self.tuning.open || self.project.chunk.is_some();
        if !wanted || self.needs_task.is_some() || measuring {
            return;
        }
        self.tuning.known.be_about(subject(&self.project));
        if let (Needs::Known(estimate), true) = (&self.needs, self.needs_of.as_ref() == Some(&self.project)) {
            self.tuning.known.put(&self.project, Ok(Outcome::of(estimate)));
        }
        self.tuning.work_out(&self.project, &self.backend, &self.wake);
    }

    /// Has the settings estimated anew, after something was measured.
    pub(in super::super) fn forget_tuning(&mut self) {
        self.tuning.known.forget();
        self.tuning.ladder_of = None;
    }
}

/// Shows the section.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, tuning: &mut Tuning, needs: &Needs, running: bool) {
    let was_open = std::mem::take(&mut tuning.open);
    let top = ui.cursor().top();
    hold(ui, tuning, top);
    super::section(ui, "Tuning", |ui| {
        tuning.open = true;
        let project = sheet.project;
        let shown = project.chunk.map(|chunk| chunk.to_string()).unwrap_or_default();
        fields::line(ui, sheet, Field::Chunk, terms::CHUNK.words(), &shown, |sheet, text| {
            let value = if text.is_empty() { None } else { Some(super::whole(text, "128")?) };
            sheet.checked("chunk", Edit::Chunk(value))
        });
        chunk_slider(ui, sheet, tuning, needs);
        let words = terms::BUFFERS.words();
        fields::line(ui, sheet, Field::Buffers, words, &project.buffers.to_string(), |sheet, text| {
            sheet.checked("buffers", Edit::Buffers(super::whole(text, "2")?))
        });
        buffers_slider(ui, sheet, tuning);
        // Below the sliders, which stay where they are under the pointer.
        fields::error_under(ui, sheet.drafts, Field::Chunk);
        fields::error_under(ui, sheet.drafts, Field::Buffers);
        if running {
            let words = "ℹ Changes here apply to the next run, not to the one under way";
            ui.label(RichText::new(words).color(tokens(ui).warning).small());
        }
        costs(ui, project, tuning, needs);
        ladder(ui, sheet, tuning);
    });
    let (left, right) = (ui.max_rect().left(), ui.max_rect().right());
    let rect = Rect::from_x_y_ranges(left..=right, top..=ui.cursor().top());
    tuning.place = Some((rect, top - ui.min_rect().top()));
    if tuning.open != was_open {
        // What it shows is worked out once it is seen.
        ui.ctx().request_repaint();
    }
}

/// Keeps the section under a pointer that rests on it, however much is said above it.
fn hold(ui: &Ui, tuning: &Tuning, top: f32) {
    let Some((rect, below)) = tuning.place else { return };
    let moved = top - ui.min_rect().top() - below;
    if moved.abs() > 0.5 && ui.rect_contains_pointer(rect) {
        ui.scroll_with_delta_animation(vec2(0.0, -moved), ScrollAnimation::none());
        ui.ctx().request_discard("the panel has grown above the tuning");
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
        ui.add(Slider::new(&mut chunk, 1..=largest).logarithmic(true).show_value(false)).on_hover_text(
            format!(
                "Lines of a chunk, up to {}, the most that fit in the memory",
                text::count(largest as u64)
            ),
        )
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
            ui.label(text::lines(chunk));
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
        (Some(_), _) => {
            tuning.known.get(&tuning.tried(project)).map(|answer| answer.map_err(|refused| refused.reason))
        }
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
        Some(Ok(Outcome { chunk, memory, seconds, .. })) => {
            ui.horizontal(|ui| {
                fields::label(ui, "Memory used", "All buffers together, and the bound on them");
                let (used, bound) = (text::amount(memory), text::amount(project.memory.0));
                #[expect(clippy::cast_possible_truncation, reason = "a part of one")]
                let part = (memory as f64 / project.memory.0.max(1) as f64) as f32;
                let bar = ProgressBar::new(part).desired_width(70.0).corner_radius(2.0);
                ui.add(bar.fill(tokens(ui).accent)).accessible_name("Part of the memory");
                ui.label(format!("{used} of {bound}"));
            });
            let time = seconds.map_or_else(|| "not predicted".into(), text::seconds);
            ui.horizontal(|ui| {
                fields::label(ui, "Time", "Predicted time of the hologram with this setting");
                ui.label(format!("{time} with chunks of {}", text::lines(chunk)));
            });
        }
    }
}

/// Other chunks with their times; a click takes one.
fn ladder(ui: &mut Ui, sheet: &mut Sheet<'_>, tuning: &Tuning) {
    let Some(ladder) = tuning.ladder.as_ref().filter(|ladder| !ladder.rungs.is_empty()) else { return };
    let current = tuning.moved.map_or(sheet.project.chunk, |moved| moved.0).or(ladder.automatic);
    let longest = ladder.rungs.iter().filter_map(|rung| rung.seconds).fold(0.0, f64::max);
    let fastest = ladder.fastest().map(|fastest| fastest.0);
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
            ui.label(RichText::new(text::amount(rung.memory)).small());
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
    let (rect, _) = ui.allocate_exact_size(vec2(60.0, 10.0), egui::Sense::hover());
    #[expect(clippy::cast_possible_truncation, reason = "a part of one")]
    let width = rect.width() * part.clamp(0.0, 1.0) as f32;
    let filled = Rect::from_min_size(rect.min, vec2(width.max(1.0), rect.height()));
    ui.painter().rect_filled(filled, 1.0, tokens(ui).accent.gamma_multiply(0.6));
}
