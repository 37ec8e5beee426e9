//! Run or cancel, and how far the run is.

use egui::{Button, ProgressBar, RichText, Ui, vec2};

use super::commands::Command;
use super::run_view::{RunState, RunView};
use super::text;
use super::theme::{GAP, tokens};

const COMPARED: &str = "The planner's prediction, made before each job began: the hologram is the first job, \
                        then comes one for each layer's reconstruction. The section Method says what it rests on; \
                        measuring this machine there makes it better";

/// How the run stands to the project.
#[derive(Debug, Clone, Copy)]
pub struct Standing<'a> {
    /// Why a run cannot start.
    pub blocked: Option<&'a str>,
    /// Whether a stop was asked for.
    pub stopping: bool,
    /// Whether the project is not any more what was run.
    pub changed: bool,
}

/// Shows the row: the button, the progress and the words.
pub fn show(ui: &mut Ui, view: &RunView, now: f64, standing: Standing<'_>, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        button(ui, view, standing.blocked, standing.stopping, commands);
        ui.add_space(GAP / 2.0);
        ui.vertical(|ui| progress(ui, view, now, standing));
    });
}

fn button(ui: &mut Ui, view: &RunView, blocked: Option<&str>, stopping: bool, commands: &mut Vec<Command>) {
    let size = vec2(112.0, 40.0);
    let tokens = tokens(ui);
    if view.is_active() {
        let text = RichText::new(if stopping { "Stopping…" } else { "Cancel" }).size(16.0);
        let button = ui
            .add_enabled(!stopping, Button::new(text).min_size(size))
            .on_hover_text("Stop the run; the log says what is left behind");
        // The second click of a double click on Run is not meant for what has taken its place.
        if button.clicked() && !button.double_clicked() {
            commands.push(Command::Cancel);
        }
    } else {
        let text = RichText::new("▶ Run").size(16.0);
        // White on a faded accent could not be read.
        let button = match blocked {
            None => Button::new(text.color(tokens.on_accent)).fill(tokens.accent),
            Some(_) => Button::new(text),
        };
        let button = ui
            .add_enabled(blocked.is_none(), button.min_size(size))
            .accessible_name("Run")
            .on_hover_text("Compute the hologram and reconstruct its layers")
            .on_disabled_hover_text(blocked.unwrap_or_default());
        if button.clicked() {
            commands.push(Command::Run);
        }
    }
}

fn progress(ui: &mut Ui, view: &RunView, now: f64, standing: Standing<'_>) {
    let Standing { blocked, stopping, changed } = standing;
    let tokens = tokens(ui);
    let progress = view.progress(now);
    if *view.state() == RunState::Idle {
        ui.add_space(2.0);
        ui.label(RichText::new("Not run yet").strong());
        match blocked {
            Some(reason) => ui.label(RichText::new(format!("⚠ {reason}")).color(tokens.warning)),
            None => {
                ui.label(RichText::new("Run computes the hologram; it does not block the window.").weak())
            }
        };
        return;
    }
    #[expect(clippy::cast_possible_truncation, reason = "a fraction for the screen")]
    let fraction = progress.fraction as f32;
    let color = match view.state() {
        RunState::Finished(_) if changed => tokens.wait,
        RunState::Finished(_) => tokens.success,
        RunState::Failed(_) => tokens.error,
        RunState::Cancelled(_) => tokens.wait,
        RunState::Idle | RunState::Starting | RunState::Running => tokens.accent,
    };
    ui.add(ProgressBar::new(fraction).desired_height(14.0).fill(color))
        .accessible_name("Progress")
        .on_hover_text("Share of the bytes of all jobs that have been read and written");
    ui.horizontal(|ui| {
        let percent = format!("{:.0} %", (progress.fraction * 100.0).floor());
        ui.label(RichText::new(percent).strong());
        let mut words = if stopping { "Stopping after the current chunks".into() } else { view.activity() };
        match view.state() {
            RunState::Finished(seconds) => {
                let since = if changed { "; the project has changed since" } else { "" };
                words = format!("Finished in {}{since}", text::seconds(*seconds));
            }
            RunState::Failed(reason) => words = format!("Failed: {reason}"),
            RunState::Cancelled(what) => words = text::sentence(what),
            RunState::Idle | RunState::Starting | RunState::Running => {}
        }
        if view.is_active() {
            let left =
                progress.left.map_or_else(|| "–".into(), |left| format!("about {}", text::seconds(left)));
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                ui.label(format!("Elapsed {}, left {left} (whole run)", text::seconds(progress.elapsed)))
                    .on_hover_text("Of all jobs: the hologram and the reconstruction of each layer");
                if let Some(predicted) = view.predicted() {
                    ui.label(
                        RichText::new(format!("This job: predicted {}", text::seconds(predicted))).weak(),
                    )
                    .on_hover_text(COMPARED);
                }
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    ui.add(egui::Label::new(words).truncate());
                });
            });
        } else {
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if let Some((took, predicted)) = view.compared() {
                    let [took, predicted] = [took, predicted].map(text::seconds);
                    let compared = format!("Passes took {took}, predicted {predicted} (whole run)");
                    ui.label(RichText::new(compared).weak()).on_hover_text(COMPARED);
                }
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    ui.add(egui::Label::new(words).truncate());
                });
            });
        }
    });
    if let (false, Some(reason)) = (view.is_active(), blocked) {
        ui.label(RichText::new(reason).color(tokens.warning).small());
    }
}
