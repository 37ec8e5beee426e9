//! The row at the top: the project's file, what can be done with it, and the theme.

use std::path::Path;

use egui::{Align, Button, Layout, RichText, ThemePreference, Ui};

use super::actions::{Action, Item};
use super::commands::Command;
use super::fields::{self, Field, Sheet};
use super::recent::Entry;
use super::text;
use super::theme::tokens;

const THEMES: [(ThemePreference, &str, &str); 3] = [
    (ThemePreference::System, "System theme", "Dark or light as the system says"),
    (ThemePreference::Dark, "Dark theme", "Light text on a dark background"),
    (ThemePreference::Light, "Light theme", "Dark text on a light background"),
];

/// Shows the row.
pub fn show(
    ui: &mut Ui,
    sheet: &mut Sheet<'_>,
    items: &[(Action, Item)],
    recent: &[Entry],
    path: Option<&Path>,
    dirty: bool,
) {
    ui.horizontal(|ui| {
        button(ui, items, Action::New, None, sheet.commands);
        button(ui, items, Action::Open, None, sheet.commands);
        recent_menu(ui, recent, sheet.commands);
        button(ui, items, Action::Save, None, sheet.commands);
        button(ui, items, Action::SaveAs, None, sheet.commands);
        button(ui, items, Action::Undo, Some("⟲"), sheet.commands);
        button(ui, items, Action::Redo, Some("⟳"), sheet.commands);
        ui.separator();
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            button(ui, items, Action::Shortcuts, Some("?"), sheet.commands);
            button(ui, items, Action::Palette, Some("☰"), sheet.commands);
            let theme = ui.ctx().options(|o| o.theme_preference);
            if let Some(theme) = fields::choice(ui, "theme", "Theme", 130.0, theme, &THEMES) {
                sheet.send(Command::SetTheme(theme));
            }
            if dirty {
                ui.label("• unsaved").on_hover_text("The project has changes that are not in its file");
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let label = ui.label("Project");
                let current = path.map(|p| p.display().to_string()).unwrap_or_default();
                let width = ui.available_width();
                fields::input(ui, sheet, Field::ProjectFile, &current, width, open)
                    .labelled_by(label.id)
                    .on_hover_text("Type a path: Enter opens that file, Save writes to it");
            });
        });
    });
    fields::error_under(ui, sheet.drafts, Field::ProjectFile);
}

/// The button of an action, with its name or a sign on it.
fn button(
    ui: &mut Ui,
    items: &[(Action, Item)],
    action: Action,
    sign: Option<&str>,
    commands: &mut Vec<Command>,
) {
    let Some((_, item)) = items.iter().find(|one| one.0 == action) else { return };
    let (name, _) = action.words();
    let mut hint = item.hint(ui.ctx());
    if sign.is_some() {
        hint = format!("{}: {hint}", item.name);
    }
    let button = ui
        .add_enabled(item.blocked.is_none(), Button::new(sign.unwrap_or(name)))
        .accessible_name(name)
        .on_hover_text(hint)
        .on_disabled_hover_text(text::sentence(item.blocked.as_deref().unwrap_or_default()));
    if button.clicked() {
        commands.push(item.command.clone());
    }
}

/// The projects that were open lately.
fn recent_menu(ui: &mut Ui, recent: &[Entry], commands: &mut Vec<Command>) {
    let menu = ui.menu_button("Recent", |ui| {
        if recent.is_empty() {
            ui.label("No project was opened or saved yet");
        }
        for entry in recent {
            recent_entry(ui, entry, commands);
        }
    });
    let button = menu.response.on_hover_text("Open a project that was open lately");
    if button.clicked() {
        commands.push(Command::LookAtRecent);
    }
}

fn recent_entry(ui: &mut Ui, entry: &Entry, commands: &mut Vec<Command>) {
    let path = entry.path.display().to_string();
    ui.horizontal(|ui| {
        let forget = ui
            .small_button("×")
            .accessible_name(format!("Remove {path} from the list"))
            .on_hover_text("Take it off this list; the file stays");
        if forget.clicked() {
            commands.push(Command::ForgetRecent(entry.path.clone()));
        }
        let words = if entry.missing { format!("⚠ {path} is missing") } else { path };
        let words = if entry.missing { RichText::new(words).color(tokens(ui).warning) } else { words.into() };
        let button = ui
            .add_enabled(!entry.missing, Button::new(words).frame(false))
            .on_hover_text("Open this project")
            .on_disabled_hover_text("The file is not there; × takes it off this list");
        if button.clicked() {
            commands.push(Command::Open(entry.path.clone()));
        }
    });
}

/// Opens the typed file; one that does not exist is only kept as the name to save under.
fn open(_: &Sheet<'_>, text: &str) -> Result<Command, String> {
    if Path::new(text).is_file() {
        Ok(Command::Open(text.into()))
    } else {
        Err(format!("{text}: there is no such file yet; Save writes the project there"))
    }
}
