//! Text fields that are checked when the user has finished with them.

use std::collections::HashMap;

use egui::{ComboBox, Id, Key, Response, RichText, TextEdit, Ui, vec2};

use super::commands::Command;
use super::edits::Edit;
use super::log::Filter;
use super::pages::Page;
use super::theme::{LABEL_WIDTH, tokens};
use crate::project::{Project, Role};

/// Every text field of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Field {
    /// The light's wavelength.
    Wavelength,
    /// The pitch along x.
    PitchX,
    /// The pitch along y.
    PitchY,
    /// Samples along x.
    Width,
    /// Samples along y.
    Height,
    /// The roll-off's fraction of the band.
    Rolloff,
    /// The key of the random phases.
    Seed,
    /// The bound on all buffers.
    Memory,
    /// Lines of a chunk.
    Chunk,
    /// Chunks a stage may hold ahead.
    Buffers,
    /// The error that a padding may add.
    Tolerance,
    /// Streams along x.
    Streams,
    /// Streams worked on together.
    AtOnce,
    /// A layer's depth.
    Distance(usize),
    /// The factor on a layer's amplitude.
    Amplitude(usize),
    /// The hologram's file.
    Output,
    /// The amplitude that is stored as 255.
    FullScale,
    /// The project's file.
    ProjectFile,
    /// An image to add.
    NewLayer,
    /// A folder to add.
    NewFolder,
    /// A run's events.
    EventsFile,
    /// The history as a table.
    HistoryFile,
}

impl Field {
    /// Whether it holds a path for a command, and nothing of the project.
    const fn is_of_a_path(self) -> bool {
        matches!(
            self,
            Self::ProjectFile | Self::NewLayer | Self::NewFolder | Self::EventsFile | Self::HistoryFile
        )
    }
}

/// What the user has typed and not committed, or what was refused.
#[derive(Debug, Clone)]
struct Draft {
    text: String,
    error: Option<String>,
}

/// The fields that show something other than the project's value.
#[derive(Debug, Default)]
pub struct Drafts(HashMap<Field, Draft>);

impl Drafts {
    /// Forgets all that was typed.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Forgets what was typed in the layers, whose numbers have changed.
    pub fn clear_layers(&mut self) {
        self.0.retain(|field, _| !matches!(field, Field::Distance(_) | Field::Amplitude(_)));
    }

    /// Forgets one field's text.
    pub fn forget(&mut self, field: Field) {
        self.0.remove(&field);
    }

    /// The text typed into a field, if it differs from the project's value.
    #[must_use]
    pub fn text(&self, field: Field) -> Option<&str> {
        self.0.get(&field).map(|draft| draft.text.as_str())
    }

    /// Shows `error` under a field.
    pub fn refuse(&mut self, field: Field, text: String, error: String) {
        self.0.insert(field, Draft { text, error: Some(error) });
    }

    /// How many of the project's fields hold a value that was refused. A path that was not added, opened or
    /// written is none of them.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.0.iter().filter(|(field, draft)| !field.is_of_a_path() && draft.error.is_some()).count()
    }

    fn error(&self, field: Field) -> Option<&str> {
        self.0.get(&field)?.error.as_deref()
    }
}

/// The project as panels see it: read it, keep drafts, and send commands.
pub struct Sheet<'a> {
    /// The project.
    pub project: &'a Project,
    /// What is being typed.
    pub drafts: &'a mut Drafts,
    /// What the user wants done.
    pub commands: &'a mut Vec<Command>,
    /// Whether a file dialog is open.
    pub dialog_open: bool,
    /// What the window remembers beside the project.
    pub options: Options,
}

impl Sheet<'_> {
    /// Asks for `command` to be carried out.
    pub fn send(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// A command that changes the project, if the change leaves the field called `name` valid.
    pub fn checked(&self, name: &str, edit: Edit) -> Result<Command, String> {
        edit.checked(name, self.project).map(Command::Edit)
    }
}

/// What the window remembers beside the project.
#[expect(clippy::struct_excessive_bools, reason = "switches that do not depend on each other")]
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Whether one pitch is used for both axes.
    pub pitch_linked: bool,
    /// Whether an existing output file may be replaced.
    pub force: bool,
    /// Whether the project is hidden beside the pages.
    pub project_hidden: bool,
    /// Whether the log is shown.
    pub log_open: bool,
    /// Which of its entries are shown.
    pub log_filter: Filter,
    /// What is shown beside the project.
    pub page: Page,
}

/// A label of the common width, whose hover text explains the term.
pub fn label(ui: &mut Ui, text: &str, hover: &str) -> Response {
    let height = ui.spacing().interact_size.y;
    ui.allocate_ui_with_layout(
        vec2(LABEL_WIDTH, height),
        egui::Layout::left_to_right(egui::Align::Center),
        |ui| {
            ui.set_min_width(LABEL_WIDTH);
            ui.label(text).on_hover_text(hover)
        },
    )
    .inner
}

/// A labelled text field on a row of its own.
///
/// Enter, or leaving the field, hands the text to `commit`: its command is sent, or its error is
/// shown under the field. Escape gives the value back.
pub fn row(
    ui: &mut Ui,
    sheet: &mut Sheet<'_>,
    field: Field,
    (name, hover): (&str, &str),
    current: &str,
    commit: impl FnOnce(&Sheet<'_>, &str) -> Result<Command, String>,
) {
    ui.horizontal(|ui| {
        let label = label(ui, name, hover);
        let width = ui.available_width();
        input(ui, sheet, field, current, width, commit).labelled_by(label.id).on_hover_text(hover);
    });
    error_under(ui, sheet.drafts, field);
}

/// The field alone; the caller names it and shows [`error_under`] below.
pub fn input(
    ui: &mut Ui,
    sheet: &mut Sheet<'_>,
    field: Field,
    current: &str,
    width: f32,
    commit: impl FnOnce(&Sheet<'_>, &str) -> Result<Command, String>,
) -> Response {
    let mut text = sheet.drafts.text(field).unwrap_or(current).to_owned();
    let refused = sheet.drafts.error(field).is_some();
    let response = ui
        .scope(|ui| {
            if refused {
                let stroke = egui::Stroke::new(1.5, tokens(ui).error);
                ui.visuals_mut().widgets.inactive.bg_stroke = stroke;
            }
            ui.add(
                TextEdit::singleline(&mut text)
                    .id(Id::unique(("field", field)))
                    .desired_width(width)
                    .align(egui::Align2::LEFT_CENTER)
                    .hint_text(hint(field)),
            )
        })
        .inner;
    if response.changed() {
        sheet.drafts.0.insert(field, Draft { text: text.clone(), error: None });
    }
    if response.lost_focus() && sheet.drafts.text(field).is_some() {
        if text.trim() == current || ui.input(|i| i.key_pressed(Key::Escape)) {
            sheet.drafts.forget(field);
        } else {
            match commit(sheet, text.trim()) {
                Ok(command) => {
                    sheet.drafts.forget(field);
                    sheet.send(command);
                }
                Err(error) => sheet.drafts.refuse(field, text, error),
            }
        }
    }
    response
}

/// Why a field's text was refused.
pub fn error_under(ui: &mut Ui, drafts: &Drafts, field: Field) {
    if let Some(error) = drafts.error(field) {
        ui.label(RichText::new(format!("⚠ {error}")).color(tokens(ui).error).small());
    }
}

/// A choice of one of a few values; each option is a value, its name and what it means.
pub fn choice<T: Copy + PartialEq>(
    ui: &mut Ui,
    id: impl std::hash::Hash + std::fmt::Debug,
    name: &str,
    width: f32,
    current: T,
    options: &[(T, &str, &str)],
) -> Option<T> {
    let now = options.iter().find(|(value, _, _)| *value == current);
    let (text, hover) = now.map_or(("", ""), |(_, text, hover)| (*text, *hover));
    let mut picked = None;
    ComboBox::from_id_salt(id)
        .width(width)
        .truncate()
        .selected_text(text)
        .show_ui(ui, |ui| {
            for (value, text, hover) in options {
                let option = ui.selectable_label(*value == current, *text).on_hover_text(*hover);
                if option.clicked() && *value != current {
                    picked = Some(*value);
                }
            }
        })
        .response
        .accessible_name(name)
        .on_hover_text(format!("{name}: {hover}"));
    picked
}

/// A labelled [`choice`] on a row of its own.
pub fn choice_row<T: Copy + PartialEq>(
    ui: &mut Ui,
    (name, hover): (&str, &str),
    current: T,
    options: &[(T, &str, &str)],
) -> Option<T> {
    ui.horizontal(|ui| {
        label(ui, name, hover);
        let width = ui.available_width();
        choice(ui, name, name, width, current, options)
    })
    .inner
}

/// What an empty field stands for.
const fn hint(field: Field) -> &'static str {
    match field {
        Field::Chunk => "as many as fit in memory",
        Field::Tolerance => "the precision's own",
        Field::Rolloff | Field::Streams | Field::AtOnce => "the method's own",
        Field::FullScale => "four times the root mean square",
        Field::NewLayer => "path of an image",
        Field::NewFolder => "path of a folder",
        Field::EventsFile => "path ending in .jsonl",
        Field::HistoryFile => "path ending in .csv",
        Field::ProjectFile => "path of the project file, ending in .json",
        _ => "",
    }
}

/// What a role does, in one line.
#[must_use]
pub const fn role_hover(role: Role) -> &'static str {
    match role {
        Role::A => "Role A: the source, read in phase 1; takes the odd stream in phase 2",
        Role::B => "Role B: takes the even stream in phase 1; takes the result in phase 3",
        Role::C => "Role C: takes the odd stream in phase 1, read again in phase 2",
        Role::D => "Role D: takes the even stream in phase 2, read again in phase 3",
    }
}
