//! Everything the user can ask for, and the one place where it is carried out.

use std::path::{Path, PathBuf};

use egui::{Context, ThemePreference, ViewportCommand, gui_zoom};

use super::backend::Ask;
use super::drives_page::DrivesCommand;
use super::edits::Edit;
use super::fields::Field;
use super::help::Topic;
use super::inspector::ExportTo;
use super::log::{Filter, Level};
use super::pages::Page;
use super::palette::Palette;
use super::preview_images::Contrast;
use super::questions::Question;
use super::records::RecordsCommand;
use super::{App, blank_project, recent, text};
use crate::lab::Comparing;
use crate::project::Project;

/// One thing the user asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Begin an empty project.
    New,
    /// Open a project file.
    Open(PathBuf),
    /// Write the project to its file.
    Save,
    /// Write the project to another file.
    SaveAs(PathBuf),
    /// Write the project over a file that exists.
    Replace(PathBuf),
    /// Show a file dialog.
    Ask(Ask),
    /// Change the project.
    Edit(Edit),
    /// Take the latest change back.
    Undo,
    /// Make the change again that was undone last.
    Redo,
    /// Look which of the recent projects are there.
    LookAtRecent,
    /// Take a project off the list of recent ones.
    ForgetRecent(PathBuf),
    /// Open the project with the unsaved changes that were left behind.
    Recover,
    /// Forget the unsaved changes that were left behind.
    DiscardFound,
    /// Whether one pitch is used for both axes.
    LinkPitches(bool),
    /// Whether an existing output file may be replaced.
    SetForce(bool),
    /// Offer a folder for the roles.
    AddFolder(PathBuf),
    /// Look for drives again.
    DetectDrives,
    /// Measure what computing and the project's drives take here.
    Measure,
    /// Measure drives, or propose their roles.
    Drives(DrivesCommand),
    /// Start a run.
    Run,
    /// Start a run that may overwrite its output.
    RunOver,
    /// Stop the run.
    Cancel,
    /// Show a pass's charts; none follows the run.
    SelectPass(Option<usize>),
    /// Set the previews' contrast.
    SetContrast(Contrast),
    /// Show a layer's reconstruction in the inspector.
    Inspect(usize),
    /// Save what is inspected.
    Export(ExportTo),
    /// Dark, light or the system's choice.
    SetTheme(ThemePreference),
    /// Show or hide the log.
    ShowLog(bool),
    /// Show or hide the project beside the pages.
    ShowProject(bool),
    /// Show the log's entries of these levels.
    FilterLog(Filter),
    /// Put the whole log on the clipboard.
    CopyLog,
    /// Say something in the log.
    Tell(String),
    /// Open or close the command palette.
    ShowPalette(bool),
    /// Open the window of shortcuts and terms; none closes it.
    ShowHelp(Option<Topic>),
    /// Make everything larger or smaller.
    Zoom(Zoom),
    /// Arrange the window as at the first start.
    ResetLayout,
    /// Show a page beside the project.
    Show(Page),
    /// Start a comparison in the lab.
    Compare(Box<Comparing>),
    /// Stop the comparison.
    StopComparing,
    /// Save, open, compare or list runs.
    Records(RecordsCommand),
    /// Take the error strip away.
    DismissError,
    /// Put a text on the clipboard.
    Copy(String),
    /// Close the window, asking first if something would be lost.
    Close,
    /// Stop the run and close the window when it has ended.
    StopAndClose,
    /// Forget unsaved changes and go on.
    Discard(Box<Self>),
    /// Save and go on.
    SaveThen(Box<Self>),
    /// Leave a question without doing anything.
    DismissQuestion,
}

/// What a zoom does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zoom {
    /// Larger.
    In,
    /// Smaller.
    Out,
    /// The usual size.
    Reset,
}

impl App {
    /// Carries out one command.
    pub(super) fn carry_out(&mut self, ctx: &Context, command: Command) {
        match command {
            Command::New if self.is_dirty() => self.ask_about_changes(Command::New),
            Command::New => self.replace_project(blank_project(), None),
            Command::Open(path) if self.is_dirty() => self.ask_about_changes(Command::Open(path)),
            Command::Open(path) => self.open(&path),
            Command::Save => self.save_typed(),
            Command::SaveAs(path) => self.save_as(path),
            Command::Replace(path) => {
                self.question = None;
                self.save(path);
            }
            Command::Ask(ask) => self.ask(ask),
            Command::Edit(edit) => self.edit(edit),
            Command::Undo => self.undo(),
            Command::Redo => self.redo(),
            Command::LookAtRecent => self.recent.look(),
            Command::ForgetRecent(path) => self.recent.remove(path.into()),
            Command::Recover if self.is_dirty() => self.ask_about_changes(Command::Recover),
            Command::Recover => self.recover(),
            Command::DiscardFound => self.discard_found(),
            Command::LinkPitches(linked) => {
                self.options.pitch_linked = linked;
                if linked {
                    self.drafts.forget(Field::PitchY);
                    self.change("pitch y".into(), true, |project| {
                        project.grid.pitch_y = project.grid.pitch_x;
                    });
                }
            }
            Command::SetForce(force) => self.options.force = force,
            Command::AddFolder(folder) => {
                if !self.folders.contains(&folder) {
                    self.folders.push(folder);
                }
            }
            Command::DetectDrives => self.detect_drives(),
            Command::Measure => self.measure(),
            Command::Drives(command) => self.carry_out_drives(command),
            Command::Run => self.start_run(self.options.force),
            Command::RunOver => {
                self.question = None;
                self.start_run(true);
            }
            Command::Cancel => self.cancel_run(),
            Command::SelectPass(pass) => self.selected_pass = pass,
            Command::SetContrast(contrast) => self.pictures.contrast = contrast,
            Command::Inspect(layer) => {
                self.inspector.open(layer);
                self.options.page = Page::Inspect;
            }
            Command::Export(to) => self.export(to),
            Command::SetTheme(theme) => ctx.set_theme(theme),
            Command::ShowLog(show) => self.options.log_open = show,
            Command::ShowProject(show) => self.options.project_hidden = !show,
            Command::FilterLog(filter) => self.options.log_filter = filter,
            Command::CopyLog => ctx.copy_text(text::plain(&self.log.text())),
            Command::Tell(text) => self.tell(text),
            Command::ShowPalette(show) => {
                self.palette = show.then(Palette::default);
                self.recent.look();
            }
            Command::ShowHelp(topic) => self.help.show(topic),
            Command::Zoom(zoom) => match zoom {
                Zoom::In => gui_zoom::zoom_in(ctx),
                Zoom::Out => gui_zoom::zoom_out(ctx),
                Zoom::Reset => ctx.set_zoom_factor(1.0),
            },
            Command::ResetLayout => self.reset_layout(ctx),
            Command::Show(page) => self.options.page = page,
            Command::Compare(comparing) => self.compare(*comparing),
            Command::StopComparing => self.lab.stop(),
            Command::Records(command) => self.carry_out_records(command),
            Command::DismissError => self.log.dismiss(),
            Command::Copy(copied) => ctx.copy_text(text::plain(&copied)),
            Command::Close if self.is_running() => self.question = Some(Question::CloseDuringRun),
            Command::Close if self.is_dirty() => self.ask_about_changes(Command::Close),
            // A comparison leaves nothing behind if it may end itself.
            Command::Close if self.lab.is_running() => self.stop_and_close(),
            Command::Close => self.close(ctx),
            Command::StopAndClose if self.is_dirty() => self.ask_about_changes(Command::StopAndClose),
            Command::StopAndClose => self.stop_and_close(),
            Command::Discard(next) => {
                self.question = None;
                self.saved = self.project.clone();
                self.carry_out(ctx, *next);
            }
            Command::SaveThen(next) => {
                self.question = None;
                self.save_typed();
                if !self.is_dirty() {
                    self.carry_out(ctx, *next);
                }
            }
            Command::DismissQuestion => {
                if let Some(Question::Recover { .. }) = self.question.take() {
                    self.leave_found();
                }
            }
        }
    }

    /// Says why something was not done, once however often it was asked for.
    fn tell(&mut self, text: String) {
        if self.log.entries().next_back().is_none_or(|last| last.text != text) {
            self.say(Level::Note, text);
        }
    }

    /// Stops a run and closes the window when it has ended, without a question.
    pub(super) fn stop_and_close(&mut self) {
        self.question = None;
        self.close_when_stopped = true;
        self.lab.stop();
        self.cancel_run();
    }

    fn ask_about_changes(&mut self, next: Command) {
        self.question = Some(Question::Unsaved(next));
    }

    pub(super) fn close(&mut self, ctx: &Context) {
        self.may_close = true;
        ctx.send_viewport_cmd(ViewportCommand::Close);
    }

    fn open(&mut self, path: &Path) {
        match Project::load(path) {
            Ok(project) => {
                self.say(Level::Info, format!("Opened {}", path.display()));
                self.recent.add(recent::Entry::of(path));
                self.replace_project(project, Some(path.to_path_buf()));
            }
            Err(error) => {
                self.recent.look();
                self.say(Level::Error, error.to_string());
            }
        }
    }

    pub(super) fn replace_project(&mut self, project: Project, path: Option<PathBuf>) {
        self.options.pitch_linked = project.grid.pitch_x == project.grid.pitch_y;
        self.saved = project.clone();
        self.project = project;
        self.path = path;
        self.steps.clear();
        self.drafts.clear();
        self.images.clear();
        self.folders.clear();
        if !self.is_running() {
            self.view = super::RunView::default();
            self.ran = None;
            self.pictures.clear();
            self.selected_pass = None;
        }
    }

    /// Saves under the name in the path field, if one was typed, else under the project's own.
    fn save_typed(&mut self) {
        let typed = self.drafts.text(Field::ProjectFile).map(|text| PathBuf::from(text.trim()));
        match typed.filter(|path| !path.as_os_str().is_empty()).or_else(|| self.path.clone()) {
            Some(path) => self.save_as(path),
            None => self.ask(Ask::SaveProject),
        }
    }

    fn save_as(&mut self, mut path: PathBuf) {
        if path.extension().is_none() {
            path.set_extension("json");
        }
        if self.path.as_ref() != Some(&path) && path.exists() {
            self.question = Some(Question::Replace(path));
        } else {
            self.save(path);
        }
    }

    fn save(&mut self, path: PathBuf) {
        match self.project.save(&path) {
            Ok(()) => {
                self.say(Level::Info, format!("Saved {}", path.display()));
                self.saved = self.project.clone();
                self.recent.add(recent::Entry::of(&path));
                self.path = Some(path);
                self.drafts.forget(Field::ProjectFile);
            }
            Err(error) => self.say(Level::Error, error.to_string()),
        }
    }

    /// Adds what was dropped on the window: a project or a file of events is opened, all else becomes layers.
    pub(super) fn take_files(&mut self, paths: Vec<PathBuf>) {
        for path in paths {
            let is_project = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
            let is_record = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("jsonl"));
            self.commands.push(if is_project {
                Command::Open(path)
            } else if is_record {
                Command::Records(RecordsCommand::Open(path))
            } else if path.is_dir() {
                Command::AddFolder(path)
            } else {
                Command::Edit(Edit::AddLayer(path))
            });
        }
    }
}
