//! The runs of one entry, and what they say together.

use serde::Serialize;

use super::runs::{Entry, Run, pass_bytes};
use crate::engine::{ChunkEvent, PassReport, Plan};
use crate::project::Method;
use crate::storage::ScratchPrecision;

/// All runs of one way to do a job.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    /// For example `padded b16`.
    pub name: String,
    /// What was left out: `compute`, `io` or nothing.
    pub left_out: Option<&'static str>,
    /// The method that ran.
    pub method: Method,
    /// How scratch keeps samples.
    pub scratch: ScratchPrecision,
    /// How planes are cut, for example `2 streams, padded to 5832 × 5832`.
    pub cut: String,
    /// Lines of a chunk.
    pub chunk: usize,
    /// Chunks a stage may hold ahead.
    pub buffers: usize,
    /// Memory the plan sets aside, in bytes.
    pub memory_planned: u64,
    /// Bound on the relative L2 error.
    pub error_bound: f64,
    /// Seconds of each whole call, in the order of the rounds.
    pub seconds: Vec<f64>,
    /// Their median.
    pub median: f64,
    /// The largest less the smallest, in parts of the median.
    pub spread: f64,
    /// Seconds of each job alone, without reading images and planning.
    pub job_seconds: Vec<f64>,
    /// Seconds of each job's passes, without making, syncing and removing files.
    pub pass_seconds: Vec<f64>,
    /// Seconds that the planner expected of the job.
    pub predicted: Option<f64>,
    /// The median of the jobs' seconds over that; only where nothing is left out.
    pub measured_over_predicted: Option<f64>,
    /// Bytes that each drive reads and writes by the plan.
    pub bytes_planned: Vec<[u64; 2]>,
    /// Bytes that each drive read and wrote, in the run that is farthest from the plan.
    pub bytes_moved: Vec<[u64; 2]>,
    /// How far that is, in parts of the plan's bytes.
    pub bytes_off: f64,
    /// What each pass of the latest run took.
    pub passes: Vec<PassReport>,
    /// Bytes read and written on drives by each pass.
    pub pass_bytes: Vec<[u64; 2]>,
    /// What was done when in the latest run, where timelines are compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<ChunkEvent>,
    /// Which of the plan's drives are not memory.
    #[serde(skip)]
    on_drive: Vec<bool>,
}

impl Series {
    /// A series without runs yet.
    pub(super) fn new(entry: &Entry, plan: &Plan) -> Self {
        let on_drive: Vec<_> = (0..plan.drives.len()).map(|drive| !plan.is_memory(drive)).collect();
        let planned = plan.bytes_by_drive().into_iter().zip(&on_drive).filter(|drive| *drive.1);
        let bytes_planned = planned.map(|((_, read, wrote), _)| [read, wrote]).collect();
        Self {
            name: entry.name.clone(),
            left_out: entry.left_out(),
            method: plan.method,
            scratch: plan.scratch_precision,
            cut: plan.cut(),
            chunk: plan.chunk,
            buffers: plan.buffers,
            memory_planned: plan.memory().total(),
            error_bound: plan.error_bound,
            seconds: Vec::new(),
            median: f64::NAN,
            spread: 0.0,
            job_seconds: Vec::new(),
            pass_seconds: Vec::new(),
            predicted: plan.predicted.as_ref().map(|predicted| predicted.1),
            measured_over_predicted: None,
            bytes_planned,
            bytes_moved: Vec::new(),
            bytes_off: 0.0,
            passes: Vec::new(),
            pass_bytes: pass_bytes(plan),
            timeline: Vec::new(),
            on_drive,
        }
    }

    /// Adds a run.
    pub(super) fn add(&mut self, run: &Run) {
        self.seconds.push(run.seconds);
        self.passes.clone_from(&run.job.passes);
        self.timeline.clone_from(&run.timeline);
        self.job_seconds.push(run.job.seconds);
        self.pass_seconds.push(run.job.passes.iter().map(|pass| pass.seconds).sum());
        self.median = median(&self.seconds);
        let longest = self.seconds.iter().copied().fold(0.0, f64::max);
        let shortest = self.seconds.iter().copied().fold(f64::INFINITY, f64::min);
        self.spread = (longest - shortest) / self.median;
        if self.left_out.is_none() {
            self.measured_over_predicted =
                self.predicted.map(|predicted| median(&self.job_seconds) / predicted);
        }
        self.add_bytes(run);
    }

    fn add_bytes(&mut self, run: &Run) {
        let mut all = vec![[0; 2]; self.on_drive.len()];
        for pass in &run.job.passes {
            for (sum, used) in all.iter_mut().zip(&pass.drives) {
                sum[0] += used.read_bytes;
                sum[1] += used.written_bytes;
            }
        }
        let on_drive = all.into_iter().zip(&self.on_drive).filter(|drive| *drive.1);
        let moved: Vec<_> = on_drive.map(|drive| drive.0).collect();
        let off = self
            .bytes_planned
            .as_flattened()
            .iter()
            .zip(moved.as_flattened())
            .map(|(&plan, &moved)| plan.abs_diff(moved) as f64 / plan.max(1) as f64);
        let off = off.fold(0.0, f64::max);
        if self.bytes_moved.is_empty() || off > self.bytes_off {
            self.bytes_moved = moved;
            // Without the drives nothing moves.
            self.bytes_off = if self.left_out == Some("io") { 0.0 } else { off };
        }
    }
}

/// The middle value, the mean of two where there are two.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => f64::NAN,
        (n, half) if n % 2 == 0 => f64::midpoint(sorted[half - 1], sorted[half]),
        (_, half) => sorted[half],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        let same = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} {b}");
        same(median(&[3.0, 1.0, 2.0]), 2.0);
        same(median(&[4.0, 1.0]), 2.5);
        assert!(median(&[]).is_nan());
    }
}
