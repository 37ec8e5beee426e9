//! The lab: measurements that anyone can run again, of this program against its baselines, and of the published
//! methods against each other.
//!
//! `speed` makes its own inputs below one folder, runs every method in turn (A B C, A B C, …), and compares
//! medians. Nothing but the job is timed. All files are in one temporary folder that goes on every path out.

mod bench;
mod experiments;
mod hologram;
mod inputs;
mod propagation;
mod report;
mod runs;
mod scipy;
mod series;
mod table;
mod targets;

use std::path::PathBuf;

use crate::engine::Cancel;
use crate::optics::Bytes;
use crate::run::RunError;

pub use experiments::{Comparing, Comparison, Experiment, ExperimentReport, compare, html, markdown, text};
pub use report::{
    Agreement, MachineReport, Parameters, Ratio, Section, Skipped, SpeedReport, Target, Tuning,
};
pub use series::Series;
pub use table::table;

/// What `lab speed` is to measure.
#[derive(Debug, Clone)]
pub struct Speed {
    /// Samples along each side of the planes of targets 1 to 3.
    pub size: usize,
    /// Bound on the memory of each of their jobs.
    pub memory: Bytes,
    /// Rounds; if not given three, or one where drives are emulated.
    pub repeat: Option<usize>,
    /// The folder that takes all files while it runs.
    pub folder: PathBuf,
    /// Targets to measure, of [`TARGETS`].
    pub targets: Vec<u8>,
    /// Whether target 4 may run Python.
    pub scipy: bool,
    /// Whether small planes and one round are enough.
    pub quick: bool,
}

/// The targets that can be asked for.
pub const TARGETS: std::ops::RangeInclusive<u8> = 1..=5;

/// The least memory that a part of the measurement is given.
const LEAST_MEMORY: u64 = 16 << 20;

impl Speed {
    fn has(&self, target: u8) -> bool {
        self.targets.contains(&target)
    }

    fn rounds(&self) -> usize {
        self.repeat.unwrap_or(if self.quick { 1 } else { 3 })
    }

    /// Rounds with emulated drives, which are slow.
    fn slow_rounds(&self) -> usize {
        self.repeat.unwrap_or(1)
    }

    /// Memory for a plane of `size`: as much of it as the large one has.
    fn memory_for(&self, size: usize) -> Bytes {
        let part = (size as f64 / self.size as f64).powi(2);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a size")]
        let bytes = (self.memory.0 as f64 * part) as u64;
        Bytes(bytes.max(LEAST_MEMORY).min(self.memory.0))
    }

    fn check(&self) -> Result<(), RunError> {
        let value = |field, problem| Err(RunError::Value { field, problem });
        if self.size < 256 || self.size > 1 << 20 {
            return value(
                "size",
                format!("{} is not measured; it lies between 256 and {}", self.size, 1 << 20),
            );
        }
        if self.repeat.is_some_and(|rounds| rounds == 0 || rounds > 99) {
            return value("repeat", "lies between 1 and 99".into());
        }
        match self.targets.iter().find(|target| !TARGETS.contains(target)) {
            Some(target) => value("target", format!("there is no target {target}; they are 1 to 5")),
            None if self.targets.is_empty() => value("target", "none is given; they are 1 to 5".into()),
            None => Ok(()),
        }
    }
}

/// A run that begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What is being compared.
    pub stage: String,
    /// The number of the round, from 1, and of all rounds; none while something is tried out first.
    pub turn: Option<[usize; 2]>,
    /// The way that is run, for example `padded b16, 3 buffers`.
    pub way: String,
    /// Runs that are done.
    pub done: usize,
    /// Runs in all; less where some turn out not to be needed.
    pub of: usize,
}

/// What is told while something is measured.
#[derive(Debug, Clone, Copy)]
pub enum Told<'a> {
    /// What was done or found, for a list.
    Line(&'a str),
    /// What begins now.
    Step(&'a Step),
}

/// Hears what is told.
pub type Tell<'a> = dyn Fn(Told<'_>) + 'a;

/// Measures what `speed` asks for; `tell` hears of each step. On an error, and when cancelled, nothing
/// is left behind.
pub fn speed(speed: &Speed, cancel: &Cancel, tell: &Tell<'_>) -> Result<SpeedReport, RunError> {
    speed.check()?;
    let mut bench = bench::Bench::new(&speed.folder, cancel, tell)?;
    let mut stages = propagation::stages(&bench, speed);
    stages.extend(hologram::stages(&bench, speed)?);
    stages.extend(scipy::stage(&bench, speed));
    bench.check_space(&stages)?;
    bench.measure_machine(!speed.quick)?;
    let mut sections = Vec::new();
    for stage in &stages {
        sections.push(bench.run(stage)?);
    }
    Ok(bench.report(speed, sections))
}
