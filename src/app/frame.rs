//! One frame of the window: what has arrived is taken in, the panels are drawn, commands carried out.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use egui::{Context, ViewportCommand};

use super::fields::Sheet;
use super::pages::{self, Page};
use super::previews::{self, Sources};
use super::screenshot::{Shooter, Step};
use super::{App, Command, RunState};
use super::{
    actions, charts, growing, history, palette, questions, run_bar, sections, status, theme, timeline,
    toolbar,
};

/// What a panel adds to the height of its content.
const PANEL_MARGIN: f32 = 8.0;

impl App {
    fn update_title(&mut self, ctx: &Context) {
        let title = self.title();
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    fn watch_close(&mut self, ctx: &Context) {
        if self.interrupted.swap(false, Ordering::Relaxed) {
            // Whoever sent the signal does not see a question.
            self.stop_and_close();
        }
        if self.close_when_stopped && !self.is_running() && !self.lab.is_running() {
            self.close_when_stopped = false;
            self.close(ctx);
        }
        let asked = ctx.input(|i| i.viewport().close_requested());
        let busy = self.is_running() || self.lab.is_running();
        if asked && !self.may_close && (busy || self.is_dirty()) {
            ctx.send_viewport_cmd(ViewportCommand::CancelClose);
            self.commands.push(Command::Close);
        }
    }

    /// Whether a run goes on, or anything else is being worked out in the background.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        let pictures_missing = self.view.previews().keys().any(|&layer| self.pictures.get(layer).is_none());
        self.is_running()
            || self.images.busy()
            || self.pictures.busy()
            || pictures_missing
            || self.needs_task.is_some()
            || self.measure_task.is_some()
            || self.records.busy()
            || self.drives_page.busy()
            || self.tuning.busy()
            || self.lab.is_running()
            || self.presets_task.is_some()
            || self.inspector.busy()
            || self.drives_task.is_some()
    }

    fn shoot(&mut self, ctx: &Context) {
        let busy = self.is_busy();
        let failure = match self.view.state() {
            RunState::Failed(text) => Some(text.clone()),
            _ => None,
        };
        let Some(shooter) = &mut self.shooter else { return };
        match shooter.step(ctx, busy, failure.as_deref()) {
            Step::PressRun => self.commands.push(Command::Run),
            Step::Wait => {}
            Step::Close => self.close(ctx),
        }
    }

    fn draw(&mut self, ui: &mut egui::Ui) {
        let mut commands = std::mem::take(&mut self.commands);
        let dialog_open = self.dialog.is_some();
        let dirty = self.is_dirty();
        let blocked = self.blocked();
        let now = self.now();
        let measurement = self.measurement();
        let to_method = self.shooter.as_ref().is_some_and(Shooter::shows_method);
        actions::pressed(ui.ctx(), |action| self.item(ui.ctx(), action), &mut commands);
        let items = self.items(ui.ctx());
        // What lies beneath keeps its hover texts to itself: one that is open would stay open above.
        let covered = self.question.is_some() || self.help.is_open() || self.palette.is_some();
        let pointer = covered.then(|| ui.input_mut(|i| std::mem::take(&mut i.pointer)));
        {
            let details = |error: &str| self.details(error);
            egui::Panel::bottom("status").show(ui, |ui| {
                status::show(ui, &self.log, self.options.log_open, details, &mut commands);
            });
        }
        if self.options.log_open {
            egui::Panel::bottom("log")
                .resizable(true)
                .default_size(130.0)
                .size_range(60.0..=320.0)
                .show(ui, |ui| status::show_log(ui, &self.log, self.options.log_filter, &mut commands));
        }
        let mut sheet = Sheet {
            project: &self.project,
            drafts: &mut self.drafts,
            commands: &mut commands,
            dialog_open,
            options: self.options,
        };
        egui::Panel::top("toolbar").show(ui, |ui| {
            ui.add_space(2.0);
            toolbar::show(ui, &mut sheet, &items, self.recent.entries(), self.path.as_deref(), dirty);
            ui.add_space(2.0);
        });
        if !self.options.project_hidden {
            egui::Panel::left("project").default_size(theme::PROJECT_WIDTH).size_range(324.0..=560.0).show(
                ui,
                |ui| {
                    egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                        ui.add_space(4.0);
                        sections::layers::show(ui, &mut sheet, &self.images);
                        sections::optics::show(ui, &mut sheet, &self.presets);
                        let fastest = self.tuning.fastest(&self.project);
                        sections::sampling::show(ui, &self.project, &self.needs, fastest);
                        let drives = self.drives.as_deref();
                        sections::drives::show(ui, &mut sheet, drives, &self.folders, &self.needs);
                        if to_method {
                            ui.scroll_to_cursor(Some(egui::Align::TOP));
                        }
                        sections::method::show(ui, &mut sheet, &self.needs, measurement);
                        let running = self.view.is_active();
                        sections::tuning::show(ui, &mut sheet, &mut self.tuning, &self.needs, running);
                        sections::output::show(ui, &mut sheet);
                    });
                },
            );
        }
        egui::Panel::top("run").show(ui, |ui| {
            ui.add_space(4.0);
            let changed = self.ran.as_ref().is_some_and(|ran| *ran != self.project);
            let standing =
                run_bar::Standing { blocked: blocked.as_deref(), stopping: self.stopping, changed };
            run_bar::show(ui, &self.view, now, standing, &mut commands);
            ui.add_space(2.0);
            ui.separator();
            pages::tabs(ui, self.options.page, self.options.project_hidden, &mut commands);
            ui.add_space(2.0);
        });
        self.central(ui, dialog_open, &mut commands);
        if let Some(pointer) = pointer {
            ui.input_mut(|i| i.pointer = pointer);
        }
        if let Some(question) = &self.question {
            questions::show(ui, question, &mut commands);
        }
        self.help.ui(ui, &items);
        if let Some(mut shown) = self.palette.take() {
            let items = items.into_iter().map(|(_, item)| item).chain(self.recent_items()).collect();
            palette::show(ui, &mut shown, items, &mut commands);
            self.palette = Some(shown);
        }
        drop_hint(ui);
        self.commands = commands;
    }

    /// The page beside the project.
    fn central(&mut self, ui: &mut egui::Ui, dialog_open: bool, commands: &mut Vec<Command>) {
        match self.options.page {
            Page::Lab => {
                let running = self.view.is_active();
                egui::CentralPanel::default()
                    .show(ui, |ui| self.lab.show(ui, &self.project, running, commands));
            }
            Page::Scene => {
                egui::CentralPanel::default()
                    .show(ui, |ui| self.scene.show(ui, &self.project, &self.images, commands));
            }
            Page::Drives => self.show_drives_page(ui, commands),
            Page::Timeline | Page::History => {
                let mut sheet = Sheet {
                    project: &self.project,
                    drafts: &mut self.drafts,
                    commands,
                    dialog_open,
                    options: self.options,
                };
                egui::CentralPanel::default().show(ui, |ui| match self.options.page {
                    Page::History => history::show(ui, &mut sheet, &self.history),
                    _ => timeline::show(ui, &mut sheet, &self.view, &self.history),
                });
            }
            Page::Inspect => {
                let sources = Self::inspected(self.ran.as_ref(), &self.view, &self.wake, dialog_open);
                self.inspector.show(ui, &sources, commands);
            }
            Page::Run => self.run_page(ui, commands),
        }
    }

    /// The run's charts and the previews.
    fn run_page(&mut self, ui: &mut egui::Ui, commands: &mut Vec<Command>) {
        let sources = Sources {
            project: &self.project,
            view: &self.view,
            ran: self.ran.as_ref(),
            images: &self.images,
            pictures: &self.pictures,
        };
        let compared = self.history.compared().filter(|run| self.history.current() != Some(run.id));
        let other = compared.map(|run| (run.short_name(), run.view()));
        let other = other.as_ref().and_then(|(name, view)| Some(charts::Other { name, view: (*view)? }));
        // The charts take what they need, the previews all the rest; in a low window both give way.
        let space = ui.available_height();
        let kept = (0.48 * space).clamp(180.0, theme::PREVIEWS_HEIGHT);
        let usual = if *self.view.state() == RunState::Idle { 0.0 } else { charts::usual_height(ui) };
        let charts = self.charts_height.max(usual).min(space - kept).max(80.0);
        let needed = egui::Panel::top("charts")
            .exact_size(charts)
            .show(ui, |ui| {
                let charts = egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                    ui.add_space(4.0);
                    let project = self.ran.as_ref().unwrap_or(&self.project);
                    charts::show(ui, &self.view, project, self.selected_pass, other, commands);
                    ui.add_space(4.0);
                });
                charts.content_size.y
            })
            .inner;
        let needed = needed.ceil() + PANEL_MARGIN;
        if (needed - self.charts_height).abs() > 0.5 {
            self.charts_height = needed;
            ui.ctx().request_repaint();
        }
        if self.view.is_active() {
            let space = ui.available_size();
            let project = self.ran.as_ref().unwrap_or(&self.project);
            egui::Panel::right("growing")
                .exact_size(growing::card_width(space.x, space.y))
                .show(ui, |ui| growing::show(ui, &self.view, project, &self.growing));
        }
        egui::CentralPanel::default().show(ui, |ui| previews::show(ui, &sources, commands));
    }
}

/// Says what a drop would do, while files hover over the window.
fn drop_hint(ui: &egui::Ui) {
    if ui.input(|i| i.raw.hovered_files.is_empty()) {
        return;
    }
    let place = ui.ctx().content_rect();
    let layer = egui::LayerId::new(egui::Order::Foreground, egui::Id::unique("drop hint"));
    let painter = ui.ctx().layer_painter(layer);
    painter.rect_filled(place, 0.0, egui::Color32::from_black_alpha(190));
    painter.text(
        place.center(),
        egui::Align2::CENTER_CENTER,
        "Drop images to add them as layers, a folder to offer it for the drives, or a project to open it",
        egui::FontId::proportional(20.0),
        egui::Color32::WHITE,
    );
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &Context, _frame: &mut eframe::Frame) {
        // Before the channels are looked at: what comes later wakes the window again.
        self.wake.clear();
        self.poll_dialog();
        self.poll_drives();
        self.poll_presets();
        // Before the estimate, which is made anew after it.
        self.poll_measure();
        self.poll_records();
        self.poll_export();
        if let Some((level, text)) = self.lab.poll() {
            self.say(level, text);
        }
        self.poll_drives_page();
        self.poll_needs();
        self.poll_tuning();
        self.poll_recent();
        self.poll_history();
        self.poll_keeping(ctx);
        self.drain_run(ctx);
        self.update_pictures(ctx);
        self.watch_close(ctx);
        self.shoot(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        let dropped: Vec<PathBuf> =
            ui.input(|i| i.raw.dropped_files.iter().map(|file| file.path().to_path_buf()).collect());
        self.take_files(dropped);
        self.draw(ui);
        let ctx = ui.ctx().clone();
        let commands = std::mem::take(&mut self.commands);
        if !commands.is_empty() {
            // What was changed is drawn in the next frame.
            ctx.request_repaint();
        }
        for command in commands {
            self.carry_out(&ctx, command);
        }
        self.update_title(&ctx);
    }

    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        self.wait_for_run();
        self.wait_for_measure();
        self.finish_keeping();
    }

    fn save(&mut self, storage: &mut dyn eframe::Storage) {
        if self.shooter.is_none() {
            self.remember(storage);
        }
    }

    fn persist_egui_memory(&self) -> bool {
        self.shooter.is_none()
    }
}
