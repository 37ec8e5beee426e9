//! Runs a plan: its passes one after another, each as a pipeline.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::energy::Energies;
use super::files::{JobFiles, device_notes};
use super::kernels::{Columns, RowsForward, RowsInverse, Transforms};
use super::pipeline::{ChunkKernel, DriveUse, PassContext, PassUse, run_pass};
use super::{Cancel, EngineError, Event, EventSink, Kernel, Pass, Plan, Preview};
use crate::optics::{Encoder, Encoding, LayerSource, TransferReal};
use crate::project::Precision;
use crate::storage::{AlignedBuffer, peak_memory};

/// What a pass took.
#[derive(Debug, Clone, Serialize)]
pub struct PassReport {
    /// The pass's name.
    pub name: String,
    /// Seconds from its first request to its last.
    pub seconds: f64,
    /// Seconds of it in which a chunk was being computed.
    pub compute_seconds: f64,
    /// What it did on each drive.
    pub drives: Vec<DriveUse>,
}

/// What a job took and gave.
#[derive(Debug, Clone, Serialize)]
pub struct JobReport {
    /// The job's name.
    pub name: String,
    /// The method, as the command line names it.
    pub method: crate::project::Method,
    /// Lines of a chunk.
    pub chunk: usize,
    /// Chunks a stage may hold ahead.
    pub buffers: usize,
    /// Seconds of the whole job, its files' creation and removal included.
    pub seconds: f64,
    /// Each pass.
    pub passes: Vec<PassReport>,
    /// Folders of the drives, in the order of [`PassReport::drives`].
    pub drives: Vec<String>,
    /// Memory the plan set aside, in bytes.
    pub memory_planned: u64,
    /// The process's largest resident size so far, in bytes, where the system tells.
    pub peak_memory: Option<u64>,
    /// Σ|u|² of the first step's plane (its layers included), and of the result.
    pub energy: [f64; 2],
    /// Bound on the relative L2 error.
    pub error_bound: f64,
    /// The amplitude of level 255, where the result is stored as amplitudes in 8 bits.
    pub full_scale: Option<f64>,
    /// The share of samples that are brighter than that, and were stored as 255.
    pub clipped: Option<f64>,
    /// Events that a slow receiver lost.
    pub events_lost: u64,
    /// The reduced image of the result, if the plan asks for one.
    #[serde(skip)]
    pub preview: Option<Preview>,
}

impl JobReport {
    /// Tells that `clipped` of `samples` samples were brighter than the full scale.
    fn clip(&mut self, clipped: u64, samples: usize, context: &JobContext<'_>) {
        let (share, full_scale) = (clipped as f64 / samples as f64, context.full_scale);
        self.full_scale = Some(full_scale);
        self.clipped = Some(share);
        if clipped > 0 {
            context.sink.send(Event::Note {
                text: format!(
                    "{clipped} samples ({:.2e} %) are brighter than the full scale {full_scale:.6} and were \
                     stored as 255; set a larger output.full_scale to keep them",
                    100.0 * share
                ),
            });
        }
    }
}

/// What a job needs beside its plan.
pub struct JobContext<'a> {
    /// The project's layers, by their index.
    pub layers: &'a [Arc<LayerSource>],
    /// The amplitude of level 255, where the result is stored as amplitudes in 8 bits; above zero.
    pub full_scale: f64,
    /// Index of this job and number of jobs in the run.
    pub job: (usize, usize),
    /// Where events go.
    pub sink: &'a EventSink,
    /// The user's request to stop.
    pub cancel: &'a Cancel,
    /// Whether an existing output is replaced.
    pub force: bool,
}

/// Runs `plan` to its end; on an error, or when cancelled, nothing of it is left on any drive.
pub fn execute(plan: &Plan, context: &JobContext<'_>) -> Result<JobReport, EngineError> {
    let started = Instant::now();
    context.sink.send(Event::JobStarted {
        name: plan.name.clone(),
        job: context.job.0,
        jobs: context.job.1,
        method: plan.method.to_string(),
        drives: plan.drives.iter().map(|d| d.display().to_string()).collect(),
        passes: plan.passes.iter().map(Pass::info).collect(),
    });
    let files = JobFiles::create(plan, context.cancel)?;
    // The jobs of a run use the same folders: said once.
    if context.job.0 == 0 {
        for text in device_notes(&plan.drives).iter().chain(files.notes()) {
            context.sink.send(Event::Note { text: text.clone() });
        }
    }
    let mut report = match plan.precision {
        Precision::F32 => run_passes::<f32>(plan, &files, context)?,
        Precision::F64 => run_passes::<f64>(plan, &files, context)?,
    };
    if context.cancel.is_cancelled() {
        return Err(EngineError::Cancelled);
    }
    files.finish(context.force, context.cancel)?;
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

fn run_passes<T: TransferReal>(
    plan: &Plan,
    files: &JobFiles,
    context: &JobContext<'_>,
) -> Result<JobReport, EngineError> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(plan.threads)
        .thread_name(|i| format!("compute-{i}"))
        .build()
        .map_err(|e| EngineError::Threads(e.to_string()))?;
    let bytes = plan.buffer_bytes();
    let mut buffers: Vec<_> = (0..plan.buffer_count()).map(|_| AlignedBuffer::new(bytes)).collect();
    let drive_of: Vec<_> = plan.files.iter().map(|f| f.drive).collect();
    let clock = Instant::now();
    let mut report = JobReport {
        name: plan.name.clone(),
        method: plan.method,
        chunk: plan.chunk,
        buffers: plan.buffers,
        seconds: 0.0,
        passes: Vec::new(),
        drives: plan.drives.iter().map(|d| d.display().to_string()).collect(),
        memory_planned: plan.memory().total(),
        peak_memory: None,
        energy: [0.0; 2],
        error_bound: plan.error_bound,
        full_scale: None,
        clipped: None,
        events_lost: 0,
        preview: None,
    };
    let mut energies = Energies::new(plan.precision, plan.scratch_precision);
    let mut transforms = Transforms::<T>::new();
    for (index, pass) in plan.passes.iter().enumerate() {
        let pass_context = PassContext {
            pass: index,
            stores: files.stores(),
            drive_of: &drive_of,
            drives: plan.drives.len(),
            clock,
            sink: context.sink,
            cancel: context.cancel,
            pool: &pool,
        };
        context.sink.send(Event::PassStarted { pass: index, at: clock.elapsed().as_secs_f64() });
        let mut run = |kernel: &mut dyn ChunkKernel| -> Result<PassUse, EngineError> {
            run_pass(&pass.lanes, kernel, &mut buffers, &pass_context)
        };
        let used = match &pass.kernel {
            Kernel::RowsForward { source, layers, split, part, tiles } => {
                let layers = layers.iter().map(|&i| context.layers[i].clone()).collect();
                let streams = transforms.of(*split);
                let mut kernel =
                    RowsForward::<T>::new(streams, part.clone(), *tiles, *source, layers, plan.threads);
                let used = run(&mut kernel)?;
                // The first streams are made of the same plane as the later ones.
                if part.streams.start == 0 {
                    let samples = tiles.height as f64 * tiles.width as f64;
                    energies.add_source(kernel.energy(), samples, || plan.source_name())?;
                }
                used
            }
            Kernel::Columns { terms, split, lanes, streams, tiles } => {
                let transforms = transforms.of(*split);
                let mut kernel =
                    Columns::<T>::new(transforms, terms, *tiles, lanes.clone(), *streams, plan.threads);
                let used = run(&mut kernel)?;
                let padded = *streams as f64 * tiles.width as f64;
                energies.add_spectrum(kernel.energy() / padded, kernel.written());
                if lanes.end == *streams {
                    energies.check_spectrum(&pass.name)?;
                }
                used
            }
            Kernel::RowsInverse { split, streams, tiles, base, preview, encoding } => {
                let encoder = Encoder { encoding: *encoding, full_scale: context.full_scale };
                let (all, read) = (transforms.of(*split), streams.clone());
                let mut kernel =
                    RowsInverse::<T>::new(all, read, *tiles, *base, *preview, encoder, plan.threads);
                let used = run(&mut kernel)?;
                energies.end(kernel.read(), kernel.energy(), &pass.name)?;
                if *encoding == Encoding::Amplitude8 {
                    report.clip(kernel.clipped(), tiles.height * split.length, context);
                }
                report.preview = kernel.into_preview();
                used
            }
        };
        context.sink.send(Event::PassFinished { pass: index, seconds: used.seconds });
        report.passes.push(PassReport {
            name: pass.name.clone(),
            seconds: used.seconds,
            compute_seconds: used.compute_seconds,
            drives: used.drives,
        });
    }
    report.energy = energies.ends();
    report.events_lost = context.sink.lost();
    // Taken while the buffers are held.
    report.peak_memory = peak_memory();
    Ok(report)
}
