//! Everything that can be asked for by name.
//!
//! The toolbar's buttons, the keyboard shortcuts, the command palette and the overview of shortcuts all come
//! from this list.

use egui::{
    Context, Key, KeyboardShortcut, Modifiers, Theme, ThemePreference, gui_zoom::kb_shortcuts as zoom,
};

use super::backend::Ask;
use super::commands::{Command, Zoom};
use super::drives_page::DrivesCommand;
use super::help::{self, Topic};
use super::pages::Page;
use super::sections::plans::Measurement;
use super::{App, text};

/// What can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    New,
    Open,
    Save,
    SaveAs,
    Undo,
    Redo,
    AddImages,
    AddFolder,
    Run,
    Cancel,
    Measure,
    MeasureDrives,
    FindDrives,
    Show(Page),
    Project,
    Log,
    CopyLog,
    Palette,
    Shortcuts,
    Terms,
    ZoomIn,
    ZoomOut,
    ZoomReset,
    SwitchTheme,
    SystemTheme,
    ResetLayout,
    Close,
}

/// An action as it stands now.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its name.
    pub name: String,
    /// What it does, in one line.
    pub about: String,
    /// The shortcuts, the usual one first.
    pub keys: Vec<KeyboardShortcut>,
    /// Why it cannot be done now.
    pub blocked: Option<String>,
    /// What it sends.
    pub command: Command,
}

impl Item {
    /// Its line with the usual shortcut behind it, for a hover.
    #[must_use]
    pub fn hint(&self, ctx: &Context) -> String {
        match self.keys.first() {
            Some(keys) => format!("{} ({})", self.about, in_words(ctx, *keys)),
            None => self.about.clone(),
        }
    }
}

/// Where the overview lists an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Project,
    Run,
    Pages,
    Window,
}

impl Group {
    /// All of them with their headings, in the overview's order.
    pub const ALL: [(Self, &'static str); 4] =
        [(Self::Project, "Project"), (Self::Run, "Run"), (Self::Pages, "Pages"), (Self::Window, "Window")];
}

/// The keys of the pages, in their order.
const PAGE_KEYS: [Key; 9] =
    [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5, Key::Num6, Key::Num7, Key::Num8, Key::Num9];

const fn ctrl(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn ctrl_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

impl Action {
    /// All of them, in the palette's order.
    pub fn all() -> impl Iterator<Item = Self> {
        let first = [
            Self::New,
            Self::Open,
            Self::Save,
            Self::SaveAs,
            Self::Undo,
            Self::Redo,
            Self::AddImages,
            Self::AddFolder,
            Self::Run,
            Self::Cancel,
            Self::Measure,
            Self::MeasureDrives,
            Self::FindDrives,
        ];
        let last = [
            Self::Palette,
            Self::Shortcuts,
            Self::Terms,
            Self::Project,
            Self::Log,
            Self::CopyLog,
            Self::ZoomIn,
            Self::ZoomOut,
            Self::ZoomReset,
            Self::SwitchTheme,
            Self::SystemTheme,
            Self::ResetLayout,
            Self::Close,
        ];
        first.into_iter().chain(Page::ALL.iter().map(|page| Self::Show(page.0))).chain(last)
    }

    /// Where the overview lists it.
    #[must_use]
    pub const fn group(self) -> Group {
        match self {
            Self::New
            | Self::Open
            | Self::Save
            | Self::SaveAs
            | Self::Undo
            | Self::Redo
            | Self::AddImages
            | Self::AddFolder => Group::Project,
            Self::Run | Self::Cancel | Self::Measure | Self::MeasureDrives | Self::FindDrives => Group::Run,
            Self::Show(_) => Group::Pages,
            Self::Project
            | Self::Log
            | Self::CopyLog
            | Self::Palette
            | Self::Shortcuts
            | Self::Terms
            | Self::ZoomIn
            | Self::ZoomOut
            | Self::ZoomReset
            | Self::SwitchTheme
            | Self::SystemTheme
            | Self::ResetLayout
            | Self::Close => Group::Window,
        }
    }

    /// Its name, and what it does in one line.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::New => ("New", "Begin an empty project"),
            Self::Open => ("Open…", "Open a project file"),
            Self::Save => ("Save", "Write the project to its file"),
            Self::SaveAs => ("Save as…", "Write the project to another file"),
            Self::Undo => {
                ("Undo", "Take the last change of the project back; files on disk stay as they are")
            }
            Self::Redo => ("Redo", "Make the change again that was taken back last"),
            Self::AddImages => ("Add images…", "Choose image files; each becomes a layer"),
            Self::AddFolder => ("Add folder…", "Choose a folder on a drive, to give it roles"),
            Self::Run => ("Run", "Compute the hologram and reconstruct its layers"),
            Self::Cancel => ("Cancel the run", "Stop the run; the log says what is left behind"),
            Self::Measure => {
                ("Measure this machine", "Time computing and the project's drives, for the predictions")
            }
            Self::MeasureDrives => {
                ("Measure drives…", "Choose folders, and time reading and writing on their drives")
            }
            Self::FindDrives => ("Find drives again", "Look for the drives of this machine again"),
            Self::Show(page) => page_words(page),
            Self::Project => {
                ("Show or hide the project", "Layers, optics and all settings; hidden, pages have more room")
            }
            Self::Log => ("Show or hide the log", "Everything that has happened, oldest first"),
            Self::CopyLog => ("Copy the log", "Put all entries with their times on the clipboard"),
            Self::Palette => ("Commands…", "Find any command, page or recent project by its name"),
            Self::Shortcuts => ("Keyboard shortcuts", "List every command that has a shortcut"),
            Self::Terms => ("Terms", "Explain each term of the window in one line"),
            Self::ZoomIn => ("Zoom in", "Make everything in the window larger"),
            Self::ZoomOut => ("Zoom out", "Make everything in the window smaller"),
            Self::ZoomReset => ("Reset zoom", "Show everything in its usual size"),
            Self::SwitchTheme => ("Switch theme", "From dark to light, or from light to dark"),
            Self::SystemTheme => ("System theme", "Dark or light as the system says"),
            Self::ResetLayout => {
                ("Reset layout", "Panels, sections, zoom and the window's size as at the first start")
            }
            Self::Close => ("Close", "Close the window, asking first if something would be lost"),
        }
    }

    /// Its shortcuts, the usual one first.
    #[must_use]
    pub fn keys(self) -> Vec<KeyboardShortcut> {
        match self {
            Self::New => vec![ctrl(Key::N)],
            Self::Open => vec![ctrl(Key::O)],
            Self::Save => vec![ctrl(Key::S)],
            Self::SaveAs => vec![ctrl_shift(Key::S)],
            Self::Undo => vec![ctrl(Key::Z)],
            Self::Redo => vec![ctrl_shift(Key::Z), ctrl(Key::Y)],
            Self::Run => vec![ctrl(Key::R), plain(Key::F5)],
            Self::Cancel => vec![ctrl(Key::Period)],
            Self::Show(page) => {
                let place = Page::ALL.iter().position(|one| one.0 == page);
                place.and_then(|place| PAGE_KEYS.get(place)).map(|&key| ctrl(key)).into_iter().collect()
            }
            Self::Project => vec![ctrl(Key::B)],
            Self::Log => vec![ctrl(Key::L)],
            Self::Palette => vec![ctrl_shift(Key::P), ctrl(Key::K)],
            Self::Shortcuts => vec![plain(Key::F1)],
            Self::SwitchTheme => vec![ctrl_shift(Key::L)],
            Self::ZoomIn => vec![zoom::ZOOM_IN, zoom::ZOOM_IN_SECONDARY],
            Self::ZoomOut => vec![zoom::ZOOM_OUT],
            Self::ZoomReset => vec![zoom::ZOOM_RESET],
            Self::Close => vec![ctrl(Key::Q)],
            Self::AddImages
            | Self::AddFolder
            | Self::Measure
            | Self::MeasureDrives
            | Self::FindDrives
            | Self::CopyLog
            | Self::Terms
            | Self::SystemTheme
            | Self::ResetLayout => Vec::new(),
        }
    }

    /// Whether the toolkit answers to its keys by itself.
    const fn is_built_in(self) -> bool {
        matches!(self, Self::ZoomIn | Self::ZoomOut | Self::ZoomReset | Self::Close)
    }

    /// Whether `keys` mean something else to a text field that is being edited.
    fn is_of_text(self, keys: KeyboardShortcut) -> bool {
        matches!(self, Self::Undo | Self::Redo) || keys == ctrl(Key::K)
    }
}

/// A shortcut as keyboards have it: `Ctrl+.` rather than `Ctrl+Period`.
#[must_use]
pub fn in_words(ctx: &Context, keys: KeyboardShortcut) -> String {
    let words = ctx.format_shortcut(&keys);
    let sign = match keys.logical_key {
        Key::Period => ".",
        Key::Plus => "+",
        Key::Minus => "−",
        Key::Equals => "=",
        _ => return words,
    };
    match words.strip_suffix(keys.logical_key.name()) {
        Some(modifiers) => format!("{modifiers}{sign}"),
        None => words,
    }
}

fn page_words(page: Page) -> (&'static str, &'static str) {
    Page::ALL.iter().find(|one| one.0 == page).map_or(("", ""), |one| (one.1, one.2))
}

/// The commands of the shortcuts that were pressed; one that cannot be carried out says why.
pub fn pressed(ctx: &Context, item: impl Fn(Action) -> Item, commands: &mut Vec<Command>) {
    // A question, or the palette, is answered first; the help may stay open.
    let top = ctx.memory(egui::Memory::top_modal_layer);
    if top.is_some_and(|top| top != help::layer()) {
        return;
    }
    let editing = ctx.text_edit_focused();
    let mut all: Vec<(Action, KeyboardShortcut)> = Action::all()
        .filter(|action| !action.is_built_in())
        .flat_map(|action| action.keys().into_iter().map(move |keys| (action, keys)))
        .collect();
    // Those with Shift first, since the others match them too.
    all.sort_by_key(|(_, keys)| !keys.modifiers.shift);
    for (action, keys) in all {
        if (editing && action.is_of_text(keys)) || !ctx.input_mut(|i| i.consume_shortcut(&keys)) {
            continue;
        }
        let Item { name, blocked, command, .. } = item(action);
        commands.push(match blocked {
            Some(reason) => Command::Tell(format!("{}: {reason}", name.trim_end_matches('…'))),
            None => command,
        });
    }
}

impl App {
    /// Every action as it stands now.
    pub(super) fn items(&self, ctx: &Context) -> Vec<(Action, Item)> {
        Action::all().map(|action| (action, self.item(ctx, action))).collect()
    }

    /// One action as it stands now.
    pub(super) fn item(&self, ctx: &Context, action: Action) -> Item {
        let (name, about) = action.words();
        let (command, blocked) = self.offer(ctx, action);
        let name = match (action, self.steps.undo_name(), self.steps.redo_name()) {
            (Action::Undo, Some(edit), _) | (Action::Redo, _, Some(edit)) => format!("{name} {edit}"),
            (Action::Show(_), ..) => format!("Page {name}"),
            _ => name.into(),
        };
        Item { name, about: about.into(), keys: action.keys(), blocked, command }
    }

    /// What an action sends, and why it cannot be carried out now.
    fn offer(&self, ctx: &Context, action: Action) -> (Command, Option<String>) {
        let always = |command| (command, None);
        let unless = |blocked: bool, why: &str, command| (command, blocked.then(|| why.to_owned()));
        let ask = |ask| unless(self.dialog.is_some(), "a file dialog is open", Command::Ask(ask));
        match action {
            Action::New => always(Command::New),
            Action::Open => ask(Ask::OpenProject),
            Action::Save => always(Command::Save),
            Action::SaveAs => ask(Ask::SaveProject),
            Action::AddImages => ask(Ask::AddImages),
            Action::AddFolder => ask(Ask::AddFolder),
            Action::Undo => unless(self.steps.undo_name().is_none(), "nothing was changed", Command::Undo),
            Action::Redo => unless(self.steps.redo_name().is_none(), "nothing was undone", Command::Redo),
            Action::Run if self.is_running() => {
                (Command::Run, Some("a run is under way; cancel it first".into()))
            }
            Action::Run => (Command::Run, self.blocked()),
            Action::Cancel => unless(!self.is_running(), "no run is under way", Command::Cancel),
            Action::Measure => match self.measurement() {
                Measurement::Possible => always(Command::Measure),
                Measurement::UnderWay => (Command::Measure, Some("it is being measured".into())),
                Measurement::RunUnderWay => {
                    (Command::Measure, Some("a run is under way; it would spoil the figures".into()))
                }
            },
            Action::MeasureDrives => {
                let blocked = self.measuring_blocked().map(str::to_lowercase);
                (Command::Drives(DrivesCommand::ChooseMeasured), blocked)
            }
            Action::FindDrives => always(Command::DetectDrives),
            Action::Show(page) => always(Command::Show(page)),
            Action::Project => always(Command::ShowProject(self.options.project_hidden)),
            Action::Log => always(Command::ShowLog(!self.options.log_open)),
            Action::CopyLog => always(Command::CopyLog),
            Action::Palette => always(Command::ShowPalette(true)),
            Action::Shortcuts => always(Command::ShowHelp(Some(Topic::Shortcuts))),
            Action::Terms => always(Command::ShowHelp(Some(Topic::Terms))),
            Action::ZoomIn => always(Command::Zoom(Zoom::In)),
            Action::ZoomOut => always(Command::Zoom(Zoom::Out)),
            Action::ZoomReset => always(Command::Zoom(Zoom::Reset)),
            Action::SwitchTheme => always(Command::SetTheme(match ctx.theme() {
                Theme::Dark => ThemePreference::Light,
                Theme::Light => ThemePreference::Dark,
            })),
            Action::SystemTheme => always(Command::SetTheme(ThemePreference::System)),
            Action::ResetLayout => always(Command::ResetLayout),
            Action::Close => always(Command::Close),
        }
    }

    /// The recent projects, as the palette shows them.
    pub(super) fn recent_items(&self) -> Vec<Item> {
        let entries = self.recent.entries().iter();
        entries
            .map(|entry| Item {
                name: format!("Open {}", text::file_name(&entry.path)),
                about: entry.path.display().to_string(),
                keys: Vec::new(),
                blocked: entry.missing.then(|| format!("{}: the file is missing", entry.path.display())),
                command: Command::Open(entry.path.clone()),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    #[test]
    fn no_two_actions_share_keys_or_a_name() {
        let mut keys = HashMap::new();
        let mut names = HashMap::new();
        for action in Action::all() {
            for shortcut in action.keys() {
                let held = (shortcut.modifiers.command, shortcut.modifiers.shift, shortcut.logical_key);
                assert_eq!(keys.insert(held, action), None, "{shortcut:?}");
            }
            let (name, about) = action.words();
            let page = matches!(action, Action::Show(_));
            assert_eq!(names.insert((page, name), action), None, "{name}");
            assert!(!name.is_empty() && about.len() > 10 && !about.ends_with('.'), "{name}: {about}");
        }
        assert!(keys.len() > 20);
    }

    #[test]
    fn signs_are_written_as_signs() {
        let ctx = Context::default();
        let words = |action: Action| in_words(&ctx, action.keys()[0]).replace('⌘', "Ctrl+");
        let shown = [Action::Cancel, Action::ZoomIn, Action::ZoomOut, Action::ZoomReset].map(words);
        assert_eq!(shown, ["Ctrl+.", "Ctrl++", "Ctrl+−", "Ctrl+0"]);
    }

    #[test]
    fn every_page_has_its_number() {
        for (i, page) in Page::ALL.iter().enumerate().take(9) {
            let keys = Action::Show(page.0).keys();
            assert_eq!(keys[0].logical_key.name(), (i + 1).to_string());
        }
    }
}
