//! The planner: every plan that a job can have, what each will take on this machine, and which to choose.

mod assign;
mod cost;

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

pub use assign::{AssignError, Proposal, Shortage, assign};
pub use cost::{PassPrediction, Prediction, predict};

use crate::engine::Plan;
use crate::machine::{Cache, DriveFigures, Figures, LineFigures, MachineError};
use crate::methods::{self, Job, PlanError};
use crate::project::Method;
use crate::storage::{Rates, same_device};

/// The methods that are weighed, in the order they are shown.
pub const METHODS: [Method; 5] =
    [Method::Implicit, Method::Padded, Method::Streamed, Method::Blocks, Method::InCore];

/// What computing and a job's drives take here.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Computing.
    pub figures: Figures,
    /// Each of the job's drives, in the order of its roles' folders.
    drives: Vec<DriveFigures>,
    /// For each drive the first one on the same device.
    device_of: Vec<usize>,
    /// Emulated drives' real devices, which they share: figures of all of them together.
    beneath: Option<DriveFigures>,
    /// Whether all of it was measured here.
    pub measured: bool,
}

/// Whether figures may be measured, which takes seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measuring {
    /// Only what is remembered; else figures of a usual machine.
    Never,
    /// What is not remembered.
    Missing,
    /// All of it again.
    Again,
}

impl Machine {
    /// The figures of this machine with `threads` computing threads and of the drives of `folders`, which are
    /// emulated if that is given.
    pub fn of(
        threads: usize,
        folders: &[PathBuf],
        emulation: Option<Rates>,
        measuring: Measuring,
    ) -> Result<Self, MachineError> {
        let cache = Cache::of_user();
        let refresh = measuring == Measuring::Again;
        let mut measured = true;
        let figures = match measuring {
            Measuring::Never => cache.known_figures(threads).unwrap_or_else(|| {
                measured = false;
                usual_figures(threads)
            }),
            _ => cache.figures(threads, refresh)?,
        };
        let mut real = Vec::new();
        for folder in folders {
            real.push(match measuring {
                Measuring::Never => cache.known_drive(folder).unwrap_or_else(|| {
                    measured = false;
                    USUAL_DRIVE
                }),
                _ => cache.drive(folder, refresh, &|| false)?,
            });
        }
        let first = |i: usize| (0..i).find(|&j| same_device(&folders[j], &folders[i])).unwrap_or(i);
        let real_device_of: Vec<_> = (0..folders.len()).map(first).collect();
        let Some(rates) = emulation else {
            return Ok(Self { figures, drives: real, device_of: real_device_of, beneath: None, measured });
        };
        // All on one device: what they do together is no more than it can.
        let one_device = real_device_of.iter().all(|&device| device == 0);
        Ok(Self {
            figures,
            beneath: real.first().copied().filter(|_| one_device),
            drives: real.iter().map(|drive| drive.emulated(&rates)).collect(),
            device_of: (0..folders.len()).collect(),
            measured,
        })
    }

    /// Seconds of the device that is busy longest with `bytes`: read and written on each drive.
    fn io_seconds(&self, bytes: &BTreeMap<usize, [u64; 2]>) -> f64 {
        let mut devices: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
        let mut all = [0; 2];
        for (&drive, [read, written]) in bytes {
            let device = self.device_of.get(drive).copied().unwrap_or(drive);
            for sum in [devices.entry(device).or_default(), &mut all] {
                sum[0] += read;
                sum[1] += written;
            }
        }
        let seconds =
            |drive: &DriveFigures, [read, written]: [u64; 2]| drive.seconds(read as f64, written as f64);
        let each = devices
            .iter()
            .map(|(device, &bytes)| seconds(self.drives.get(*device).unwrap_or(&USUAL_DRIVE), bytes));
        let together = self.beneath.map_or(0.0, |drive| seconds(&drive, all));
        each.fold(together, f64::max)
    }
}

/// A usual solid-state drive.
const USUAL_DRIVE: DriveFigures = DriveFigures {
    read: 1.5e9,
    write: 1.5e9,
    read_while_writing: 0.9e9,
    write_while_reading: 0.9e9,
    direct: true,
};

/// A usual desktop's computing, shared by `threads` threads.
fn usual_figures(threads: usize) -> Figures {
    // One thread of a processor with wide vectors; memory is shared, so copies gain less from more threads.
    let share = 1.0 / threads.max(1) as f64;
    let lines = |factor: f64| LineFigures {
        transform: vec![(1024, 0.1 * factor * share), (65_536, 0.12 * factor * share)],
        smooth: 1.2,
        rough: 5.0,
        transfer: 0.8 * factor * share,
        copy: (0.8 * factor * share).max(0.1 * factor),
    };
    Figures { threads, single: lines(1.0), double: lines(2.0), layer: 1.7 * share, steady: false }
}

/// A method for a job: its plan and what that takes, or why there is none.
pub struct Choice {
    /// The method.
    pub method: Method,
    /// The plan with its prediction.
    pub plan: Result<(Plan, Prediction), PlanError>,
}

/// A choice as it is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ChoiceRow {
    /// The method.
    pub method: Method,
    /// Whether it is the one that runs.
    pub chosen: bool,
    /// Seconds it is expected to take.
    pub seconds: Option<f64>,
    /// Bytes read and written over all passes.
    pub bytes_moved: Option<u64>,
    /// Bytes of scratch on all drives.
    pub scratch_bytes: Option<u64>,
    /// Memory in bytes.
    pub memory: Option<u64>,
    /// Bound on the relative L2 error.
    pub error_bound: Option<f64>,
    /// The drives' bytes read and written, each with its folder.
    pub drives: Vec<(String, u64, u64)>,
    /// How it is cut, for example `8 streams` or `2 × 3 blocks`; or why it cannot be.
    pub remark: String,
}

/// Every method's best plan for `job`, with the roll-off that `rolloff` gives it; those that can run first, the
/// fastest first of all.
#[must_use]
pub fn choices(job: &Job, machine: &Machine, rolloff: impl Fn(Method) -> f64) -> Vec<Choice> {
    let seconds = |plan: &Plan| predict(plan, machine).seconds;
    let choice = |method| {
        let mut job = job.clone();
        job.optics.rolloff = rolloff(method);
        let plan = methods::plan(&job, method, &seconds).map(|plan| with_prediction(plan, machine));
        Choice { method, plan }
    };
    let mut all: Vec<_> = METHODS.map(choice).into();
    let seconds = |choice: &Choice| choice.plan.as_ref().map_or(f64::INFINITY, |plan| plan.1.seconds);
    all.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    all
}

/// The plan of `method` for `job`, of the fastest one for [`Method::Auto`], with its prediction.
pub fn plan(job: &Job, method: Method, machine: &Machine) -> Result<(Plan, Prediction), PlanError> {
    let seconds = |plan: &Plan| predict(plan, machine).seconds;
    if method != Method::Auto {
        return Ok(with_prediction(methods::plan(job, method, &seconds)?, machine));
    }
    let mut all = choices(job, machine, |_| job.optics.rolloff);
    // None can run: why the one that needs least cannot.
    let needs = |choice: &Choice| match &choice.plan {
        Err(PlanError::TooLittleMemory { needed, .. }) => needed.0,
        _ => u64::MAX,
    };
    if all.iter().all(|choice| choice.plan.is_err()) {
        all.sort_by_key(needs);
    }
    all.swap_remove(0).plan
}

fn with_prediction(mut plan: Plan, machine: &Machine) -> (Plan, Prediction) {
    let prediction = predict(&plan, machine);
    plan.predicted = Some((prediction.passes.iter().map(|pass| pass.seconds).collect(), prediction.seconds));
    (plan, prediction)
}

impl Choice {
    /// The choice as it is shown; `chosen` is the method that runs.
    #[must_use]
    pub fn row(&self, chosen: Method) -> ChoiceRow {
        let empty = ChoiceRow { method: self.method, chosen: self.method == chosen, ..ChoiceRow::default() };
        match &self.plan {
            Err(error) => ChoiceRow { remark: error.to_string(), ..empty },
            Ok((plan, prediction)) => ChoiceRow {
                seconds: Some(prediction.seconds),
                bytes_moved: Some(plan.bytes_moved()),
                scratch_bytes: Some((0..plan.drives.len()).map(|drive| plan.new_bytes(drive).0).sum()),
                memory: Some(plan.memory().total()),
                error_bound: Some(plan.error_bound),
                drives: plan.bytes_by_drive(),
                remark: plan.cut(),
                ..empty
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::example::job;
    use crate::storage::ScratchPrecision;

    fn machine(rate: f64) -> Machine {
        let drive = DriveFigures {
            read: rate,
            write: rate,
            read_while_writing: rate / 2.0,
            write_while_reading: rate / 2.0,
            direct: true,
        };
        let figures = usual_figures(2);
        Machine { figures, drives: vec![drive], device_of: vec![0], beneath: None, measured: true }
    }

    fn optics(mut job: Job) -> Job {
        job.optics.rolloff = 0.05;
        job.tolerance = 1e-4;
        job
    }

    #[test]
    fn the_fastest_that_fits_is_chosen_and_what_cannot_run_comes_last_with_its_reason() {
        let job = optics(job(4096, 4096, 100 << 20));
        let all = choices(&job, &machine(1e9), |_| job.optics.rolloff);
        assert_eq!(all.len(), METHODS.len());
        let seconds: Vec<_> = all.iter().map(|c| c.plan.as_ref().ok().map(|plan| plan.1.seconds)).collect();
        assert!(
            seconds[0].is_some() && seconds.is_sorted_by_key(|s| s.unwrap_or(f64::INFINITY)),
            "{seconds:?}"
        );
        let in_core = all.iter().find(|choice| choice.method == Method::InCore).unwrap();
        assert!(matches!(in_core.plan, Err(PlanError::TooLittleMemory { .. })));
        let row = in_core.row(Method::Padded);
        assert!(row.seconds.is_none() && row.remark.contains("too little") && !row.chosen);
        let (plan, prediction) = plan(&job, Method::Auto, &machine(1e9)).unwrap();
        assert!(plan.method == all[0].method && prediction.seconds > 0.0);
        assert!(plan.memory().total() <= job.memory.0);
        // With memory for everything nothing is faster.
        let large = optics(crate::methods::example::job(4096, 4096, 2 << 30));
        assert_eq!(super::plan(&large, Method::Auto, &machine(1e9)).unwrap().0.method, Method::InCore);
    }

    #[test]
    fn a_pass_takes_as_long_as_its_bytes_or_its_arithmetic() {
        let job = optics(job(4096, 4096, 64 << 20));
        // So slow a drive that nothing else matters: reads and writes share it.
        let slow = machine(1e6);
        let (plan, prediction) = plan(&job, Method::Padded, &slow).unwrap();
        let files: u64 = plan.files.iter().map(|file| file.bytes).sum();
        let expected = plan.bytes_moved() as f64 / 1e6;
        let outside = files as f64 * 1e-10;
        assert!(
            (prediction.seconds / (expected + outside) - 1.0).abs() < 0.02,
            "{} {expected}",
            prediction.seconds
        );
        // Half the bytes, half the time.
        let halved = Job { scratch_precision: ScratchPrecision::B16, ..job.clone() };
        let (b16, b16_prediction) = super::plan(&halved, Method::Padded, &slow).unwrap();
        let bytes = b16.bytes_moved() as f64 / plan.bytes_moved() as f64;
        assert!((b16_prediction.seconds / prediction.seconds / bytes - 1.0).abs() < 0.02 && bytes < 0.65);
        // So fast a drive that only the arithmetic is left.
        let (_, fast) = super::plan(&job, Method::Padded, &machine(1e15)).unwrap();
        let compute: f64 = fast.passes.iter().map(|pass| pass.compute).sum();
        // Beside it only what chunks and passes cost by themselves.
        let beside = fast.passes.iter().map(|pass| pass.seconds).sum::<f64>() - compute;
        assert!(compute > 0.05 && beside > 0.0 && beside < 0.1, "{compute} {beside}");
    }

    #[test]
    fn drives_on_one_device_take_turns_and_others_do_not() {
        let bytes: BTreeMap<usize, [u64; 2]> = [(0, [1_000_000_000, 0]), (1, [0, 1_000_000_000])].into();
        let seconds = |device_of| {
            let one = machine(1e9);
            let both = Machine { drives: vec![one.drives[0]; 2], device_of, ..one };
            both.io_seconds(&bytes)
        };
        assert!((seconds(vec![0, 0]) - 2.0).abs() < 1e-9);
        assert!((seconds(vec![0, 1]) - 1.0).abs() < 1e-9);
    }
}
