//! The comparisons of Lee & Kim (2023), section 4, made again here: the same executor, stores, transforms and
//! memory for every method, on emulated drives that are to this machine's arithmetic as theirs were to
//! theirs, or on the user's own.

mod cases;
mod html;
mod overlap;
mod published;
mod text;

use std::path::PathBuf;

use serde::Serialize;

use super::Tell;
use super::bench::{Bench, Stage};
use super::report::{DriveReport, MachineReport, Section};
use crate::engine::Cancel;
use crate::machine::Figures;
use crate::optics::Bytes;
use crate::run::RunError;
use crate::storage::Rates;

pub use html::{html, markdown};
pub use published::Comparison;
pub use text::text;

/// A comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Experiment {
    /// All methods, both precisions, SATA and `NVMe`: the whole job (Table 1).
    Table1,
    /// The same without the arithmetic (Fig. 6).
    Io,
    /// What each phase does on each drive (Fig. 7).
    Breakdown,
    /// The same job in less and more memory (Fig. 8).
    Memory,
    /// Chunk against buffers in the same memory (Table 2).
    Table2,
    /// One to four drives (Fig. 9).
    Drives,
    /// With and without overlap of drives and arithmetic.
    Overlap,
    /// A hologram of three layers (section 5).
    Hologram,
    /// All methods on drives that are there.
    Real,
}

impl Experiment {
    /// As the command line names it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Table1 => "table1",
            Self::Io => "io",
            Self::Breakdown => "breakdown",
            Self::Memory => "memory",
            Self::Table2 => "table2",
            Self::Drives => "drives",
            Self::Overlap => "overlap",
            Self::Hologram => "hologram",
            Self::Real => "real",
        }
    }
}

/// What is to be compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparing {
    /// Which comparison.
    pub experiment: Experiment,
    /// Samples along each side of the plane.
    pub size: usize,
    /// Bound on each job's memory; half of a plane in f32 if not given.
    pub memory: Option<Bytes>,
    /// Rounds.
    pub repeat: usize,
    /// The folder that takes all files while it runs.
    pub folder: PathBuf,
    /// The user's drives, for [`Experiment::Real`].
    pub drives: Vec<PathBuf>,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct ExperimentReport {
    /// Which comparison.
    pub experiment: Experiment,
    /// The machine.
    pub machine: MachineReport,
    /// What computing takes on it.
    pub figures: Option<Figures>,
    /// The drive below the folder.
    pub drive: DriveReport,
    /// What drives were emulated, by name.
    pub emulated: Vec<(&'static str, Rates)>,
    /// Samples along each side.
    pub size: usize,
    /// Bound on each job's memory, in bytes.
    pub memory: u64,
    /// Rounds.
    pub rounds: usize,
    /// Every run.
    pub sections: Vec<Section>,
    /// Ratios, beside what was published.
    pub comparisons: Vec<Comparison>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// Seconds of the whole comparison.
    pub seconds: f64,
}

impl Comparing {
    fn check(&self) -> Result<(), RunError> {
        let value = |field, problem| Err(RunError::Value { field, problem });
        if self.size < 256 || self.size > 1 << 20 {
            return value(
                "size",
                format!("{} is not compared; it lies between 256 and {}", self.size, 1 << 20),
            );
        }
        if self.repeat == 0 || self.repeat > 99 {
            return value("repeat", "lies between 1 and 99".into());
        }
        match (self.experiment, self.drives.len()) {
            (Experiment::Real, 1..=4) => Ok(()),
            (Experiment::Real, count) => value(
                "drives",
                format!("{count} are given; `real` needs folders on one to four drives: --drives /a,/b"),
            ),
            (_, 0) => Ok(()),
            _ => value("drives", "only `real` has drives of yours; the others emulate theirs".into()),
        }
    }

    fn memory(&self) -> Bytes {
        self.memory.unwrap_or(Bytes(((self.size * self.size * 4) as u64).max(super::LEAST_MEMORY)))
    }
}

/// A drive of the paper's, in the ratio to this machine's arithmetic that it had to theirs.
///
/// Their machine had 24 cores beside SATA drives of 500 MB/s and `NVMe` drives ten times as fast; two cores
/// that take [`TWO_CORES`] have a twelfth of its arithmetic, and about a tenth of its transforms.
fn preset(of: Rates, figures: &Figures) -> Rates {
    let faster = TWO_CORES / figures.single.transform_of(4096);
    let rate = |rate: f64| ((rate * faster) / 1e5).round().max(1.0) * 1e5;
    Rates { read: rate(of.read), write: rate(of.write), ..of }
}

/// Nanoseconds for a sample of 4096-sample transforms in f32 on the two cores for which [`Rates::SATA`] and
/// [`Rates::NVME`] were worked out, both at work.
const TWO_CORES: f64 = 0.58;

/// Runs a comparison; `tell` hears of each step. On an error, and when cancelled, nothing is left
/// behind.
pub fn compare(
    comparing: &Comparing,
    cancel: &Cancel,
    tell: &Tell<'_>,
) -> Result<ExperimentReport, RunError> {
    comparing.check()?;
    let mut bench = Bench::new(&comparing.folder, cancel, tell)?;
    bench.measure_machine(false)?;
    let (machine, figures, drive) = bench.machine();
    let presets: Vec<_> = figures
        .iter()
        .flat_map(|figures| {
            [("SATA", Rates::SATA), ("NVMe", Rates::NVME)].map(|(n, r)| (n, preset(r, figures)))
        })
        .collect();
    let cases::Cases { stages, mut notes, folders } = cases::of(comparing, &bench, &presets)?;
    bench.check_space(&stages)?;
    let mut sections = Vec::new();
    for stage in &stages {
        let mut section = bench.run(stage)?;
        section.notes.extend(overlap::words(&section).filter(|_| stage.timelines));
        sections.push(section);
    }
    drop(folders);
    let used: Vec<_> =
        presets.into_iter().filter(|(_, rates)| stages.iter().any(|s| s.emulated == Some(*rates))).collect();
    notes.extend(too_slow(&stages, &drive));
    Ok(ExperimentReport {
        experiment: comparing.experiment,
        machine,
        figures,
        drive,
        emulated: used,
        size: comparing.size,
        memory: comparing.memory().0,
        rounds: comparing.repeat,
        comparisons: published::all(comparing.experiment, &sections),
        sections,
        notes,
        seconds: bench.seconds(),
    })
}

/// Whether the drive below the emulated ones cannot keep up with all of them.
fn too_slow(stages: &[Stage], drive: &DriveReport) -> Option<String> {
    let fastest = stages.iter().filter_map(|stage| stage.emulated).map(|rates| {
        let [read, write] = rates.both();
        cases::DRIVES as f64 * (read + write)
    });
    let needed = fastest.fold(0.0, f64::max);
    let real = drive.median.as_ref().map(|drive| drive.read_while_writing + drive.write_while_reading)?;
    (needed > real).then(|| {
        format!(
            "four emulated drives move up to {:.0} MB/s together, and the drive below them {:.0}: use a --folder in \
             memory, for example /dev/shm",
            needed / 1e6,
            real / 1e6
        )
    })
}
