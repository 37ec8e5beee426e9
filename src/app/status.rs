//! The bottom of the window: errors, the latest message, the log.

use egui::{Align, Label, Layout, RichText, ScrollArea, Ui};

use super::clock;
use super::commands::Command;
use super::log::{Filter, Level, Log};
use super::theme::tokens;

/// Shows the strip of errors and the status line.
pub fn show(
    ui: &mut Ui,
    log: &Log,
    open: bool,
    details: impl FnOnce(&str) -> String,
    commands: &mut Vec<Command>,
) {
    if let Some(error) = log.error() {
        strip(ui, error, details, commands);
    }
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let name = if open { "Hide log" } else { "Show log" };
        if ui.small_button(name).on_hover_text("Everything that has happened, oldest first").clicked() {
            commands.push(Command::ShowLog(!open));
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let last = log.entries().next_back().map_or("Ready", |entry| entry.text.as_str());
            ui.add(Label::new(last).truncate()).on_hover_text(last);
        });
    });
}

/// Shows the log.
pub fn show_log(ui: &mut Ui, log: &Log, filter: Filter, commands: &mut Vec<Command>) {
    ui.horizontal(|ui| {
        for (level, name, hover) in Level::ALL {
            let mut shown = filter.shows(level);
            let name = format!("{name} ({})", log.count(level));
            if ui.checkbox(&mut shown, name).on_hover_text(hover).changed() {
                commands.push(Command::FilterLog(filter.with(level, shown)));
            }
        }
        let hover = "Put all entries with their times on the clipboard, also those that are hidden";
        if ui.small_button("Copy all").on_hover_text(hover).clicked() {
            commands.push(Command::CopyLog);
        }
    });
    ScrollArea::vertical().auto_shrink(false).stick_to_bottom(true).show(ui, |ui| {
        for entry in log.entries().filter(|entry| filter.shows(entry.level)) {
            let (sign, color) = match entry.level {
                Level::Info => ("", ui.visuals().text_color()),
                Level::Note => ("ℹ ", tokens(ui).warning),
                Level::Error => ("⚠ ", tokens(ui).error),
            };
            let text = format!("{}  {sign}{}", clock::time(entry.at), entry.text);
            ui.add(Label::new(RichText::new(text).color(color)).wrap().selectable(true));
        }
    });
}

fn strip(ui: &mut Ui, error: &str, details: impl FnOnce(&str) -> String, commands: &mut Vec<Command>) {
    let tokens = tokens(ui);
    egui::Frame::new().fill(tokens.error_fill).corner_radius(4.0).inner_margin(6.0).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if ui.button("Dismiss").on_hover_text("Take this message away; the log keeps it").clicked() {
                    commands.push(Command::DismissError);
                }
                if ui
                    .button("Copy details")
                    .on_hover_text("Copy the message with version, system and project, to report it")
                    .clicked()
                {
                    commands.push(Command::Copy(details(error)));
                }
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(
                        Label::new(RichText::new(format!("⚠ {error}")).color(tokens.error))
                            .wrap()
                            .selectable(true),
                    );
                });
            });
        });
    });
}
