//! What the window needs from outside: the engine, the drives and the system's file dialogs.

use std::path::PathBuf;

use super::inspector::Export;
use crate::engine::Cancel;
use crate::lab::{self, Comparing, ExperimentReport};
use crate::machine::{self, Bottleneck, Cache, MeasureStep, Place, Together};
use crate::planner::{self, AssignError, Measuring, Proposal};
use crate::project::{Encoding, Project};
use crate::run::{self, Estimate, RunError, RunHandle, Settings};
use crate::storage::{self, Container, DetectedDrive};

/// A question that the system's file dialog answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// Which project to open.
    OpenProject,
    /// Where to save the project.
    SaveProject,
    /// Which images become layers.
    AddImages,
    /// Which folder may hold scratch files.
    AddFolder,
    /// Where the hologram goes that is stored so.
    OutputFile(Encoding),
    /// Which run's events to show.
    OpenEvents,
    /// Where a run's events go.
    SaveEvents,
    /// Where the history's table goes.
    HistoryFile,
    /// Where the inspector saves something.
    ExportFile(Export),
}

/// Everything the window asks of the rest of the program; tests put a stand-in here.
///
/// The window calls these from threads of its own, so they may take their time.
pub trait Backend: Send + Sync + 'static {
    /// Starts a run; `force` allows an existing output file to be replaced.
    fn start(
        &self,
        project: &Project,
        force: bool,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Result<RunHandle, RunError>;

    /// What a project would need.
    fn estimate(&self, project: &Project) -> Result<Estimate, RunError>;

    /// The same, after what computing and the project's drives take was measured here, which takes seconds
    /// and is remembered.
    fn measure(&self, project: &Project) -> Result<Estimate, RunError>;

    /// Makes a comparison; `tell` hears of each step.
    fn compare(
        &self,
        comparing: &Comparing,
        cancel: &Cancel,
        tell: &lab::Tell<'_>,
    ) -> Result<ExperimentReport, RunError> {
        lab::compare(comparing, cancel, tell)
    }

    /// The drives of this machine.
    fn detect_drives(&self) -> Vec<DetectedDrive>;

    /// The user's file of presets, which need not exist; none where there is no folder for it.
    fn presets_file(&self) -> Option<PathBuf> {
        None
    }

    /// What is known of folders, and of one more on each drive that holds none of them.
    fn places(&self, drives: &[DetectedDrive], folders: &[PathBuf]) -> Vec<Place> {
        machine::places(drives, folders, &Cache::of_user())
    }

    /// Measures the drives of folders, each alone and together, with files of at most `bytes`, and remembers
    /// the figures; `tell` hears of each step.
    fn measure_drives(
        &self,
        folders: &[PathBuf],
        bytes: u64,
        cancel: &Cancel,
        tell: &dyn Fn(MeasureStep),
    ) -> Result<Together, RunError> {
        let stop = || cancel.is_cancelled();
        let measured = machine::measure_together_telling(folders, bytes, &stop, tell)?;
        for (folder, figures) in folders.iter().zip(&measured.alone) {
            Cache::of_user().remember_drive(folder, *figures);
        }
        Cache::of_user().remember_bottlenecks(&measured.bottlenecks(folders));
        Ok(measured)
    }

    /// Which drives of `places` were found to share a bottleneck, now or earlier.
    fn bottlenecks(&self, places: &[Place]) -> Vec<Bottleneck> {
        Cache::of_user().bottlenecks(places)
    }

    /// Proposes roles for `places`; folders where `project` would not fit are left out.
    fn propose_roles(
        &self,
        project: &Project,
        places: &[Place],
        bottlenecks: &[Bottleneck],
    ) -> Result<Proposal, AssignError> {
        planner::assign(places, bottlenecks, |drives| {
            // What cannot be planned at all is said beside the method; its space is not known.
            let project = Project { drives: drives.to_vec(), ..project.clone() };
            self.estimate(&project).map(|estimate| estimate.shortages(places)).unwrap_or_default()
        })
    }

    /// Shows a file dialog and waits for its answer; none when it was cancelled or cannot be shown.
    fn ask(&self, ask: Ask) -> Option<Vec<PathBuf>>;
}

/// The program's own engine.
#[derive(Debug, Clone, Copy, Default)]
pub struct Engine;

impl Backend for Engine {
    fn start(
        &self,
        project: &Project,
        force: bool,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Result<RunHandle, RunError> {
        run::start(project, force, wake)
    }

    fn estimate(&self, project: &Project) -> Result<Estimate, RunError> {
        // A window answers at once: with what is remembered of the machine.
        let settings = Settings { measuring: Some(Measuring::Never), ..Settings::from(project) };
        run::estimate(project, &settings)
    }

    fn measure(&self, project: &Project) -> Result<Estimate, RunError> {
        let settings = Settings { measuring: Some(Measuring::Again), ..Settings::from(project) };
        run::estimate(project, &settings)
    }

    fn detect_drives(&self) -> Vec<DetectedDrive> {
        storage::detect()
    }

    fn presets_file(&self) -> Option<PathBuf> {
        super::presets::user_file()
    }

    fn ask(&self, ask: Ask) -> Option<Vec<PathBuf>> {
        let dialog = rfd::FileDialog::new();
        let events = |dialog: rfd::FileDialog| dialog.add_filter("Events", &["jsonl"]);
        let projects = |dialog: rfd::FileDialog| dialog.add_filter("Gigafringe project", &["json"]);
        match ask {
            Ask::OpenProject => {
                projects(dialog).set_title("Open a project").pick_file().map(|path| vec![path])
            }
            Ask::SaveProject => projects(dialog)
                .set_title("Save the project as")
                .set_file_name("project.json")
                .save_file()
                .map(|path| vec![path]),
            Ask::AddImages => dialog
                .set_title("Add images as layers")
                .add_filter("Images", &["png", "jpg", "jpeg", "tif", "tiff", "bmp"])
                .pick_files(),
            Ask::AddFolder => {
                dialog.set_title("Choose a folder on a drive").pick_folder().map(|path| vec![path])
            }
            Ask::OpenEvents => {
                events(dialog).set_title("Open a run's events").pick_file().map(|path| vec![path])
            }
            Ask::SaveEvents => events(dialog)
                .set_title("Save the run's events as")
                .set_file_name("run.jsonl")
                .save_file()
                .map(|path| vec![path]),
            Ask::HistoryFile => dialog
                .add_filter("Table", &["csv"])
                .set_title("Save the history as")
                .set_file_name("history.csv")
                .save_file()
                .map(|path| vec![path]),
            Ask::OutputFile(encoding) => hologram_filters(dialog, encoding)
                .set_title("Save the hologram as")
                .set_file_name("hologram.npy")
                .save_file()
                .map(|path| vec![path]),
            Ask::ExportFile(what) => {
                let (ending, name) = what.ending();
                dialog
                    .add_filter(ending.to_uppercase(), &[ending])
                    .set_title("Export as")
                    .set_file_name(format!("{name}.{ending}"))
                    .save_file()
                    .map(|path| vec![path])
            }
        }
    }
}

/// A filter for each container that can hold samples in `encoding`.
fn hologram_filters(mut dialog: rfd::FileDialog, encoding: Encoding) -> rfd::FileDialog {
    const KINDS: [(&str, &[&str]); 4] =
        [("NumPy array", &["npy"]), ("TIFF", &["tif", "tiff"]), ("BMP", &["bmp"]), ("PNG", &["png"])];
    for (name, endings) in KINDS {
        if Container::endings(encoding).contains(&endings[0]) {
            dialog = dialog.add_filter(name, endings);
        }
    }
    dialog
}
