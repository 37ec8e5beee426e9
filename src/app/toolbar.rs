//! The row at the top: the project's file and the theme.

use std::path::Path;

use egui::{Align, Button, Context, Key, KeyboardShortcut, Layout, Modifiers, ThemePreference, Ui};

use super::backend::Ask;
use super::commands::Command;
use super::fields::{self, Field, Sheet};

const NEW: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::N);
const OPEN: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::O);
const SAVE: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND, Key::S);
const SAVE_AS: KeyboardShortcut = KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), Key::S);

const THEMES: [(ThemePreference, &str, &str); 3] = [
    (ThemePreference::System, "System theme", "Dark or light as the system says"),
    (ThemePreference::Dark, "Dark theme", "Light text on a dark background"),
    (ThemePreference::Light, "Light theme", "Dark text on a light background"),
];

/// The commands of the shortcuts that were pressed.
pub fn shortcuts(ctx: &Context, commands: &mut Vec<Command>) {
    // The longer one first, since the shorter matches it too.
    for (shortcut, command) in [
        (SAVE_AS, Command::Ask(Ask::SaveProject)),
        (NEW, Command::New),
        (OPEN, Command::Ask(Ask::OpenProject)),
        (SAVE, Command::Save),
    ] {
        if ctx.input_mut(|i| i.consume_shortcut(&shortcut)) {
            commands.push(command);
        }
    }
}

/// Shows the row.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, path: Option<&Path>, dirty: bool) {
    ui.horizontal(|ui| {
        let closed = !sheet.dialog_open;
        for (name, shortcut, enabled, command, hover) in [
            ("New", NEW, true, Command::New, "Begin an empty project"),
            ("Open…", OPEN, closed, Command::Ask(Ask::OpenProject), "Open a project file"),
            ("Save", SAVE, true, Command::Save, "Write the project to its file"),
            (
                "Save as…",
                SAVE_AS,
                closed,
                Command::Ask(Ask::SaveProject),
                "Write the project to another file",
            ),
        ] {
            let keys = ui.ctx().format_shortcut(&shortcut);
            let button = ui
                .add_enabled(enabled, Button::new(name))
                .on_hover_text(format!("{hover} ({keys})"))
                .on_disabled_hover_text("A file dialog is open");
            if button.clicked() {
                sheet.send(command);
            }
        }
        ui.separator();
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
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

/// Opens the typed file; one that does not exist is only kept as the name to save under.
fn open(_: &Sheet<'_>, text: &str) -> Result<Command, String> {
    if Path::new(text).is_file() {
        Ok(Command::Open(text.into()))
    } else {
        Err(format!("{text}: there is no such file yet; Save writes the project there"))
    }
}
