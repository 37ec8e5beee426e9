//! The desktop window.
//!
//! Panels read the project and the run, and send [`Command`]s; those are carried out in one place
//! (`commands.rs`). The engine works on threads of its own; its events are taken in by
//! [`eframe::App::logic`] and gathered in a [`RunView`], from which everything is drawn. Nothing
//! here computes optics, and nothing waits: what may take time is a [`Task`](task::Task).

mod actions;
mod backend;
mod charts;
mod chunk_bins;
mod clock;
mod commands;
mod drives_page;
mod edits;
mod fields;
mod frame;
mod growing;
mod help;
mod history;
mod images;
mod inspector;
mod keeping;
mod kept;
mod lab;
mod log;
mod needs;
mod pages;
mod palette;
mod plots;
mod presets;
mod preview_images;
mod previews;
mod questions;
mod rates;
mod recent;
mod records;
mod recovery;
mod remembered;
mod run_bar;
mod run_view;
mod running;
mod scene;
mod screenshot;
mod sections;
mod status;
mod task;
mod terms;
mod text;
mod theme;
mod timeline;
mod toolbar;
mod undo;
mod window;

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use egui::Context;

pub use backend::{Ask, Backend, Engine};
pub use commands::Command;
pub use drives_page::DrivesCommand;
pub use edits::Edit;
pub use inspector::{Export, ExportTo};
pub use pages::Page;
pub use preview_images::Contrast;
pub use records::RecordsCommand;
pub use run_view::{RunState, RunView};
pub use screenshot::{Scheme, Screenshot};
pub use window::{run, run_with};

use crate::lab::Comparing;
use crate::optics::{Grid, Length};
use crate::project::{Encoding, Evanescent, Layering, Method, Output, Precision, Project};
use crate::run::{RunError, RunHandle};
use crate::storage::DetectedDrive;
use fields::{Drafts, Options};
use log::{Level, Log};
use needs::Needs;
use presets::Presets;
use questions::Question;
use running::Activity;
use screenshot::Shooter;
use sections::plans::Measurement;
use task::{Poll, Task, Wake};

/// A dialog that answers faster than a person can was never shown.
const NO_DIALOG: Duration = Duration::from_millis(50);

/// A file dialog that is open.
struct Dialog {
    ask: Ask,
    shown: Instant,
    task: Task<Option<Vec<PathBuf>>>,
}

/// The window's state.
///
/// Made by [`run`], or by a test with a [`Backend`] of its own.
pub struct App {
    backend: Arc<dyn Backend>,
    wake: Wake,
    opened: Instant,
    project: Project,
    /// The project as its file has it.
    saved: Project,
    path: Option<PathBuf>,
    drafts: Drafts,
    options: Options,
    /// Folders offered for the roles, beside those the project uses.
    folders: Vec<PathBuf>,
    commands: Vec<Command>,
    question: Option<Question>,
    log: Log,
    steps: undo::Steps,
    recent: recent::Recent,
    keeping: keeping::Keeping,
    palette: Option<palette::Palette>,
    help: help::Help,
    needs: Needs,
    /// The project that `needs`, or the estimate under way, is about.
    needs_of: Option<Project>,
    needs_task: Option<Task<Needs>>,
    measure_task: Option<Task<Result<(), RunError>>>,
    lab: lab::LabPage,
    scene: scene::ScenePage,
    drives_page: drives_page::DrivesPage,
    tuning: sections::tuning::Tuning,
    drives: Option<Vec<DetectedDrive>>,
    drives_task: Option<Task<Vec<DetectedDrive>>>,
    presets: Presets,
    presets_task: Option<Task<(Presets, Option<String>)>>,
    dialog: Option<Dialog>,
    activity: Activity,
    /// The last run, whose thread may still be tidying up.
    ended: Option<RunHandle>,
    view: RunView,
    records: records::Records,
    history: history::History,
    /// What was shown before the run that is being checked.
    before_run: Option<(RunView, Option<Project>)>,
    /// The project as it was when the last run began; what is shown of that run is about this one.
    ran: Option<Project>,
    selected_pass: Option<usize>,
    stopping: bool,
    images: images::Images,
    pictures: preview_images::PreviewImages,
    inspector: inspector::Inspector,
    growing: growing::GrowingPicture,
    title: String,
    /// Points that the charts would fill, as of the last frame.
    charts_height: f32,
    may_close: bool,
    close_when_stopped: bool,
    /// Set when the system, or a terminal, asks the program to end.
    interrupted: Arc<AtomicBool>,
    shooter: Option<Shooter>,
}

/// A project with nothing in it yet.
#[must_use]
pub fn blank_project() -> Project {
    let pitch = Length::metres(4e-6);
    Project {
        grid: Grid { width: 2048, height: 2048, pitch_x: pitch, pitch_y: pitch },
        wavelength: Length::metres(532e-9),
        layers: Vec::new(),
        layering: Layering::default(),
        method: Method::default(),
        precision: Precision::default(),
        streams: None,
        at_once: None,
        scratch_precision: None,
        evanescent: Evanescent::default(),
        band_limit: false,
        rolloff: None,
        tolerance: None,
        seed: 0,
        memory: Project::DEFAULT_MEMORY,
        chunk: None,
        buffers: Project::DEFAULT_BUFFERS,
        drives: Vec::new(),
        output: Output {
            path: "hologram.npy".into(),
            encoding: Encoding::Complex,
            full_scale: None,
            previews: true,
        },
    }
}

impl App {
    /// A window on `project`, whose file is `path`.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>, project: Project, path: Option<PathBuf>, ctx: &Context) -> Self {
        theme::install(ctx);
        let pitch_linked = project.grid.pitch_x == project.grid.pitch_y;
        let mut app = Self {
            backend,
            wake: Wake::new(ctx),
            opened: Instant::now(),
            saved: project.clone(),
            project,
            path,
            drafts: Drafts::default(),
            options: Options {
                pitch_linked,
                force: false,
                project_hidden: false,
                log_open: false,
                log_filter: log::Filter::default(),
                page: Page::default(),
            },
            folders: Vec::new(),
            commands: Vec::new(),
            question: None,
            log: Log::default(),
            steps: undo::Steps::default(),
            recent: recent::Recent::default(),
            keeping: keeping::Keeping::default(),
            palette: None,
            help: help::Help::default(),
            needs: Needs::Unknown,
            needs_of: None,
            needs_task: None,
            measure_task: None,
            lab: lab::LabPage::default(),
            scene: scene::ScenePage::default(),
            drives_page: drives_page::DrivesPage::default(),
            tuning: sections::tuning::Tuning::default(),
            drives: None,
            drives_task: None,
            presets: Presets::default(),
            presets_task: None,
            dialog: None,
            activity: Activity::Idle,
            ended: None,
            view: RunView::default(),
            records: records::Records::default(),
            history: history::History::default(),
            before_run: None,
            ran: None,
            selected_pass: None,
            stopping: false,
            images: images::Images::default(),
            pictures: preview_images::PreviewImages::default(),
            inspector: inspector::Inspector::default(),
            growing: growing::GrowingPicture::default(),
            title: String::new(),
            charts_height: 0.0,
            may_close: false,
            close_when_stopped: false,
            interrupted: Arc::default(),
            shooter: None,
        };
        app.detect_drives();
        app.load_presets();
        app
    }

    /// The project as it is edited.
    #[must_use]
    pub const fn project(&self) -> &Project {
        &self.project
    }

    /// The run, as its events have told it.
    #[must_use]
    pub const fn view(&self) -> &RunView {
        &self.view
    }

    /// Whether a run is being started or under way.
    #[must_use]
    pub const fn is_running(&self) -> bool {
        self.view.is_active()
    }

    /// Whether the project differs from its file.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.project != self.saved
    }

    /// Asks for something as a panel would; it is done in the next frame.
    pub fn send(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// Where to say that the program has to end: a run is stopped tidily and the window closes,
    /// without a question. Seen in the next frame, which has to be asked for.
    #[must_use]
    pub fn interrupted(&self) -> Arc<AtomicBool> {
        self.interrupted.clone()
    }

    /// The window's title: program and file, with a dot while there are unsaved changes.
    #[must_use]
    pub fn title(&self) -> String {
        let name = self.path.as_deref().map_or_else(|| "untitled".into(), text::file_name);
        let dot = if self.is_dirty() { " •" } else { "" };
        format!("Gigafringe — {name}{dot}")
    }

    fn now(&self) -> f64 {
        self.opened.elapsed().as_secs_f64()
    }

    fn say(&mut self, level: Level, text: impl Into<String>) {
        self.log.add(level, text, SystemTime::now());
    }

    fn detect_drives(&mut self) {
        let backend = self.backend.clone();
        self.drives_task =
            Some(Task::spawn("detect drives", self.wake.clone(), move || backend.detect_drives()));
    }

    /// Shows a file dialog, unless one is open.
    fn ask(&mut self, ask: Ask) {
        if self.dialog.is_none() {
            let backend = self.backend.clone();
            let task = Task::spawn("file dialog", self.wake.clone(), move || backend.ask(ask));
            self.dialog = Some(Dialog { ask, shown: Instant::now(), task });
        }
    }

    fn poll_dialog(&mut self) {
        let Some(Dialog { ask, shown, task }) = &self.dialog else { return };
        let (ask, quick) = (*ask, shown.elapsed() < NO_DIALOG);
        let paths = match task.poll() {
            Poll::Pending => return,
            Poll::Done(Some(paths)) => paths,
            Poll::Done(None) | Poll::Lost => {
                self.dialog = None;
                if quick {
                    self.say(
                        Level::Note,
                        "No file dialog is available: install xdg-desktop-portal, or type a path in the field",
                    );
                }
                return;
            }
        };
        self.dialog = None;
        for path in paths {
            self.commands.push(match ask {
                Ask::OpenProject => Command::Open(path),
                // The dialog has asked about this very file; a name that is completed is another one.
                Ask::SaveProject if path.extension().is_some() => Command::Replace(path),
                Ask::SaveProject => Command::SaveAs(path),
                Ask::AddImages => Command::Edit(Edit::AddLayer(path)),
                Ask::AddFolder => Command::AddFolder(path),
                Ask::OpenEvents => Command::Records(RecordsCommand::Open(path)),
                // The dialog has asked about these very files; a name that is completed is another one.
                Ask::SaveEvents => {
                    let force = path.extension().is_some();
                    Command::Records(RecordsCommand::Save(path, force))
                }
                Ask::HistoryFile => {
                    let force = path.extension().is_some();
                    Command::Records(RecordsCommand::Export(path, force))
                }
                Ask::ExportFile(what) => Command::Export(ExportTo::chosen(what, path)),
                Ask::OutputFile(_) => Command::Edit(Edit::OutputPath(path)),
            });
        }
    }

    fn poll_drives(&mut self) {
        match self.drives_task.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => return,
            Some(Poll::Done(drives)) => self.drives = Some(drives),
            Some(Poll::Lost) => {
                self.drives = Some(Vec::new());
                self.say(Level::Note, "The drives could not be listed; type folders instead");
            }
        }
        self.drives_task = None;
    }

    fn load_presets(&mut self) {
        let backend = self.backend.clone();
        let load = move || Presets::load(backend.presets_file());
        self.presets_task = Some(Task::spawn("presets", self.wake.clone(), load));
    }

    fn poll_presets(&mut self) {
        match self.presets_task.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => return,
            Some(Poll::Done((presets, problem))) => {
                self.presets = presets;
                if let Some(problem) = problem {
                    self.say(Level::Note, problem);
                }
            }
            Some(Poll::Lost) => self.say(Level::Note, "The presets could not be read"),
        }
        self.presets_task = None;
    }

    /// Keeps the estimate up with the project, one at a time.
    fn poll_needs(&mut self) {
        if let Some(task) = &self.needs_task {
            self.needs = match task.poll() {
                Poll::Pending => return,
                Poll::Done(needs) => needs,
                Poll::Lost => Needs::defect(),
            };
            self.needs_task = None;
        }
        if self.needs_of.as_ref() != Some(&self.project) {
            let (backend, project) = (self.backend.clone(), self.project.clone());
            self.needs_of = Some(project.clone());
            self.needs_task =
                Some(Task::spawn("estimate", self.wake.clone(), move || Needs::of(&*backend, &project)));
        }
    }

    /// Measures this machine, unless that is under way or a run would spoil it.
    fn measure(&mut self) {
        if self.measurement() == Measurement::Possible {
            // Whatever method is chosen, and whether it can run.
            let project = Project { method: Method::Auto, ..self.project.clone() };
            let backend = self.backend.clone();
            let work = move || backend.measure(&project).map(|_| ());
            self.measure_task = Some(Task::spawn("measure", self.wake.clone(), work));
        }
    }

    fn measurement(&self) -> Measurement {
        if self.measure_task.is_some() || self.drives_page.is_measuring() {
            Measurement::UnderWay
        } else if self.is_running() || self.lab.is_running() {
            Measurement::RunUnderWay
        } else {
            Measurement::Possible
        }
    }

    /// Starts a comparison, unless something is under way that it would spoil.
    fn compare(&mut self, comparing: Comparing) {
        let measuring = self.measure_task.is_some() || self.drives_page.is_measuring();
        if self.is_running() || measuring || self.lab.is_running() {
            return;
        }
        self.say(Level::Info, "Comparing in the lab");
        let (backend, wake) = (self.backend.clone(), self.wake.clone());
        self.lab.start(comparing, move |comparing, cancel, progress| {
            let heard = wake.clone();
            Task::spawn("lab", wake, move || {
                backend.compare(&comparing, &cancel, &|told| {
                    progress.lock().unwrap_or_else(PoisonError::into_inner).hear(told, Instant::now());
                    heard.call();
                })
            })
        });
    }

    fn poll_measure(&mut self) {
        let (level, text) = match self.measure_task.as_ref().map(Task::poll) {
            None | Some(Poll::Pending) => return,
            Some(Poll::Done(Ok(()))) => (Level::Info, "Measured this machine; the predictions use it".into()),
            Some(Poll::Done(Err(error))) => (Level::Error, format!("Measuring failed: {error}")),
            Some(Poll::Lost) => (Level::Error, "Measuring failed: this is a defect of Gigafringe".into()),
        };
        self.measure_task = None;
        self.say(level, text);
        self.drives_page.forget_bottlenecks();
        self.forget_drives();
    }

    /// What the inspector looks at.
    fn inspected<'a>(
        ran: Option<&'a Project>,
        view: &'a RunView,
        wake: &'a Wake,
        dialog_open: bool,
    ) -> inspector::Sources<'a> {
        inspector::Sources { ran, previews: view.previews(), running: view.is_active(), dialog_open, wake }
    }

    /// Saves what is inspected, asking first about a file that exists.
    fn export(&mut self, to: ExportTo) {
        self.question = None;
        if !to.replace && to.path.exists() {
            self.question = Some(Question::ReplaceExport(to));
            return;
        }
        let sources = Self::inspected(self.ran.as_ref(), &self.view, &self.wake, self.dialog.is_some());
        if let Err(error) = self.inspector.export(to, &sources) {
            self.say(Level::Error, error);
        }
    }

    fn poll_export(&mut self) {
        match self.inspector.poll_export() {
            None => {}
            Some(Ok(path)) => self.say(Level::Info, format!("Exported {}", path.display())),
            Some(Err(error)) => self.say(Level::Error, error),
        }
    }

    fn update_pictures(&mut self, ctx: &Context) {
        let wanted = self.project.layers.iter().map(|layer| layer.image.as_path());
        self.images.update(ctx, &self.wake, wanted);
        self.pictures.update(ctx, &self.wake, self.view.previews());
        self.growing.update(ctx, &self.view);
    }

    /// An error with what is needed to report it.
    fn details(&self, error: &str) -> String {
        let project = serde_json::to_string_pretty(&self.project).unwrap_or_default();
        let path = self.path.as_deref().unwrap_or(Path::new("(not saved)"));
        format!(
            "{error}\n\nGigafringe {}, {} {}\nProject {}:\n{project}\n",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH,
            path.display(),
        )
    }
}
