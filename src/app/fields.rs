//! Text fields that are checked when the user has finished with them.

use std::collections::HashMap;

use egui::{ComboBox, Id, Key, Response, RichText, TextEdit, Ui, vec2};

use super::commands::Command;
use super::edits::Edit;
use super::log::Filter;
use super::pages::Page;
use super::text;
use super::theme::{LABEL_WIDTH, tokens};
use crate::project::{Project, Role};

/// Every text field of the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

    /// What it holds, in a sentence.
    fn name(self) -> String {
        let name = match self {
            Self::Wavelength => "wavelength",
            Self::PitchX => "pitch",
            Self::PitchY => "pitch along y",
            Self::Width => "width",
            Self::Height => "height",
            Self::Rolloff => "roll-off",
            Self::Seed => "seed",
            Self::Memory => "memory",
            Self::Chunk => "chunk",
            Self::Buffers => "number of buffers",
            Self::Tolerance => "tolerance",
            Self::Streams => "number of streams",
            Self::AtOnce => "number of streams at once",
            Self::Distance(layer) => return format!("depth of layer {}", layer + 1),
            Self::Amplitude(layer) => return format!("amplitude of layer {}", layer + 1),
            Self::Output => "hologram's file",
            Self::FullScale => "full scale",
            Self::ProjectFile => "project's file",
            Self::NewLayer => "image's path",
            Self::NewFolder => "folder's path",
            Self::EventsFile => "events' file",
            Self::HistoryFile => "table's file",
        };
        name.into()
    }

    /// A value for example, where the field must not be empty.
    const fn example(self) -> Option<&'static str> {
        Some(match self {
            Self::Wavelength => "532 nm",
            Self::PitchX | Self::PitchY => "1 µm",
            Self::Width | Self::Height => "4096",
            Self::Seed => "1",
            Self::Memory => "2 GiB",
            Self::Buffers => "2",
            Self::Distance(_) => "3 mm",
            Self::Amplitude(_) => "0.5",
            Self::Output => "hologram.npy",
            _ => return None,
        })
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

    /// Which of the project's fields hold a value that was refused, in a sentence. A path that was not added,
    /// opened or written is none of them.
    #[must_use]
    pub fn refused(&self) -> Option<String> {
        let refused = |(field, draft): &(&Field, &Draft)| !field.is_of_a_path() && draft.error.is_some();
        let count = self.0.iter().filter(refused).count();
        let (field, draft) = self.0.iter().filter(refused).min_by_key(|(field, _)| **field)?;
        let (name, typed) = (field.name(), draft.text.trim());
        let what = match typed {
            "" => format!("The {name} is empty"),
            _ => format!("The {name} cannot be `{typed}`"),
        };
        let more = match count {
            1 => String::new(),
            2 => ", and one more value is wrong".into(),
            _ => format!(", and {} more values are wrong", count - 1),
        };
        Some(format!("{what}{more}: correct it, or press Escape in its field"))
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
    words: (&str, &str),
    current: &str,
    commit: impl FnOnce(&Sheet<'_>, &str) -> Result<Command, String>,
) {
    line(ui, sheet, field, words, current, commit);
    error_under(ui, sheet.drafts, field);
}

/// A [`row`] whose error the caller shows elsewhere, with [`error_under`].
pub fn line(
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
    // What is edited, and copied from here, has the spaces that keyboards have.
    let current = &*text::plain(current);
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
            let result = match (text.trim(), field.example()) {
                ("", Some(example)) => {
                    Err(format!("the {} is empty: write for example {example}", field.name()))
                }
                (typed, _) => commit(sheet, typed),
            };
            match result {
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
        let error = text::bound(&text::grouped(error));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_that_block_a_run_are_named() {
        let mut drafts = Drafts::default();
        let refuse = |drafts: &mut Drafts, field, text: &str| drafts.refuse(field, text.into(), "so".into());
        refuse(&mut drafts, Field::NewLayer, "none.png");
        assert_eq!(drafts.refused(), None, "a path is no value of the project");
        refuse(&mut drafts, Field::Distance(1), "far");
        let end = "correct it, or press Escape in its field";
        assert_eq!(drafts.refused(), Some(format!("The depth of layer 2 cannot be `far`: {end}")));
        refuse(&mut drafts, Field::PitchX, " ");
        let words = format!("The pitch is empty, and one more value is wrong: {end}");
        assert_eq!(drafts.refused(), Some(words));
        refuse(&mut drafts, Field::Width, "0");
        assert!(drafts.refused().unwrap().contains("2 more values are wrong"));
        drafts.clear();
        assert_eq!(drafts.refused(), None);
    }
}
