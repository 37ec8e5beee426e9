//! What the lab found, as it is printed and as JSON.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::bench::Stage;
use super::scipy::ScipyReport;
use super::series::{Series, median};
use crate::machine::{DriveFigures, Figures};
use crate::storage::{Rates, device_of};

/// All that was measured.
#[derive(Debug, Clone, Serialize)]
pub struct SpeedReport {
    /// The machine.
    pub machine: MachineReport,
    /// What computing takes on it.
    pub figures: Option<Figures>,
    /// The folder's drive.
    pub drive: DriveReport,
    /// What was asked for.
    pub parameters: Parameters,
    /// Every run.
    pub sections: Vec<Section>,
    /// What was aimed at.
    pub targets: Vec<Target>,
    /// Seconds of the whole measurement.
    pub seconds: f64,
}

/// The machine.
#[derive(Debug, Clone, Serialize)]
pub struct MachineReport {
    /// This program's version.
    pub gigafringe: &'static str,
    /// Whether it was compiled without optimisation: then no time means anything.
    pub debug_build: bool,
    /// The processor's name.
    pub processor: String,
    /// Computing threads.
    pub threads: usize,
    /// Bytes of memory.
    pub memory: u64,
    /// The operating system.
    pub system: String,
    /// The one-minute load before and after: near zero before if nothing else ran.
    pub load: [Option<f64>; 2],
}

impl MachineReport {
    /// This machine.
    pub(super) fn new(threads: usize, load_before: Option<f64>) -> Self {
        use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};
        let kinds = RefreshKind::nothing()
            .with_cpu(CpuRefreshKind::nothing())
            .with_memory(MemoryRefreshKind::nothing().with_ram());
        let machine = System::new_with_specifics(kinds).ok();
        let processor = machine.as_ref().and_then(|machine| machine.cpus().first());
        Self {
            gigafringe: env!("CARGO_PKG_VERSION"),
            debug_build: cfg!(debug_assertions),
            processor: processor.map(|cpu| cpu.brand().trim().to_owned()).unwrap_or_default(),
            threads,
            memory: machine.as_ref().map_or(0, System::total_memory),
            system: System::long_os_version().unwrap_or_default(),
            load: [load_before, load()],
        }
    }

    /// Whether something else ran.
    #[must_use]
    pub fn was_busy(&self) -> bool {
        self.load[0].is_some_and(|load| load > 0.25 * self.threads as f64)
    }
}

/// The one-minute load, where the system tells.
pub fn load() -> Option<f64> {
    sysinfo::System::load_average().ok().map(|load| load.one)
}

/// The drive of the folder.
#[derive(Debug, Clone, Serialize)]
pub struct DriveReport {
    /// The device.
    pub device: String,
    /// The median of each figure.
    pub median: Option<DriveFigures>,
    /// Each time it was measured: at the start, and in each round of the propagation.
    pub measured: Vec<DriveFigures>,
}

impl DriveReport {
    /// The drive of `folder`, measured some times.
    pub(super) fn of(folder: impl AsRef<Path>, measured: Vec<DriveFigures>) -> Self {
        let each =
            |figure: fn(&DriveFigures) -> f64| median(&measured.iter().map(figure).collect::<Vec<_>>());
        let middle = measured.first().map(|first| DriveFigures {
            read: each(|drive| drive.read),
            write: each(|drive| drive.write),
            read_while_writing: each(|drive| drive.read_while_writing),
            write_while_reading: each(|drive| drive.write_while_reading),
            direct: first.direct,
        });
        let device = device_of(folder.as_ref()).map_or("unknown".into(), |device| device.to_string());
        Self { device, median: middle, measured }
    }
}

/// What was asked for.
#[derive(Debug, Clone, Serialize)]
pub struct Parameters {
    /// Samples along each side.
    pub size: usize,
    /// Bound on each job's memory, in bytes.
    pub memory: u64,
    /// Rounds.
    pub rounds: usize,
    /// Rounds with emulated drives.
    pub slow_rounds: usize,
    /// Whether it is only a trial.
    pub quick: bool,
    /// The targets.
    pub targets: Vec<u8>,
    /// The folder.
    pub folder: PathBuf,
    /// The arithmetic.
    pub precision: &'static str,
}

/// Jobs that were run in turn, and what they say.
#[derive(Debug, Clone, Serialize)]
pub struct Section {
    /// For example `hologram`.
    pub name: String,
    /// What was done, in words.
    pub what: String,
    /// Samples along each side.
    pub size: usize,
    /// Bound on each job's memory, in bytes.
    pub memory: u64,
    /// Rounds.
    pub rounds: usize,
    /// What drives were emulated.
    pub emulated: Option<Rates>,
    /// Runs that showed what suits the baseline.
    pub tuning: Vec<Tuning>,
    /// The runs, in the order of a round; the baseline first.
    pub series: Vec<Series>,
    /// How much faster than the baseline each was.
    pub ratios: Vec<Ratio>,
    /// Each plane against the baseline's.
    pub agreement: Vec<Agreement>,
    /// What could not run.
    pub skipped: Vec<Skipped>,
    /// The baseline in Python.
    pub scipy: Option<ScipyReport>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

impl Section {
    /// The section of a stage that has not run yet.
    pub(super) fn new(stage: &Stage) -> Self {
        Self {
            name: stage.name.into(),
            what: stage.what.clone(),
            size: stage.size,
            memory: stage.memory.0,
            rounds: stage.rounds,
            emulated: stage.emulated,
            tuning: Vec::new(),
            series: Vec::new(),
            ratios: Vec::new(),
            agreement: Vec::new(),
            skipped: Vec::new(),
            scipy: stage.scipy.as_ref().map(|_| ScipyReport::default()),
            notes: stage.notes.clone(),
        }
    }
}

/// A run that showed what suits the baseline.
#[derive(Debug, Clone, Serialize)]
pub struct Tuning {
    /// The baseline.
    pub name: String,
    /// Chunks a stage may hold ahead.
    pub buffers: usize,
    /// Lines of a chunk: the most that fit.
    pub chunk: usize,
    /// What it took.
    pub seconds: f64,
}

/// How much faster than a baseline something was.
#[derive(Debug, Clone, Serialize)]
pub struct Ratio {
    /// What.
    pub name: String,
    /// The baseline.
    pub baseline: String,
    /// The baseline's median over this one's.
    pub ratio: f64,
    /// The ratio within each round.
    pub rounds: Vec<f64>,
}

impl Ratio {
    /// The ratio of a baseline's seconds to a series'; none without either.
    pub(super) fn of(baseline: &str, seconds: &[f64], series: &Series) -> Option<Self> {
        let ratio = median(seconds) / series.median;
        ratio.is_finite().then(|| Self {
            name: series.name.clone(),
            baseline: baseline.into(),
            ratio,
            rounds: seconds.iter().zip(&series.seconds).map(|(base, own)| base / own).collect(),
        })
    }
}

/// A plane against the baseline's.
#[derive(Debug, Clone, Serialize)]
pub struct Agreement {
    /// Whose plane.
    pub name: String,
    /// Relative L2 difference.
    pub difference: f64,
    /// What both state as their error, together.
    pub bound: f64,
    /// Whether it is within.
    pub agrees: bool,
}

/// What could not run.
#[derive(Debug, Clone, Serialize)]
pub struct Skipped {
    /// What.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// What was aimed at.
#[derive(Debug, Clone, Serialize)]
pub struct Target {
    /// Its number; none for what is told beside them.
    pub number: Option<u8>,
    /// What is measured.
    pub what: String,
    /// The measurement, if there is one.
    pub measured: Option<f64>,
    /// The aim.
    pub aim: f64,
    /// Whether less is better.
    pub at_most: bool,
    /// Whether it was met, if that was measured.
    pub met: Option<bool>,
    /// What else to know.
    pub detail: String,
}
