//! Runs a plan: its passes one after another, each as a pipeline.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::energy::Energies;
use super::files::{JobFiles, device_notes};
use super::flush::Flushing;
use super::kernels::{BlockKernel, Columns, RowsForward, RowsInverse, Transforms};
use super::pipeline::{ChunkKernel, DriveUse, PassContext, PassUse, run_pass};
use super::{Cancel, EngineError, Event, EventSink, Kernel, Pass, Plan, Preview};
use crate::optics::{Encoder, Encoding, LayerSource, TransferReal};
use crate::project::{Bypass, Precision};
use crate::storage::{AlignedBuffer, Rates, peak_memory};

/// What a pass took.
#[derive(Debug, Clone, Serialize)]
pub struct PassReport {
    /// The pass's name.
    pub name: String,
    /// Seconds from its first request to its last.
    pub seconds: f64,
    /// Seconds it was expected to take, if that was predicted.
    pub predicted: Option<f64>,
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
    /// Seconds it was expected to take, if that was predicted.
    pub predicted: Option<f64>,
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
    /// What is left out; then nothing is kept.
    pub bypass: Option<Bypass>,
    /// Whether reading, computing and writing take turns, to measure what their overlap gives.
    pub serial: bool,
    /// Whether an existing output is replaced.
    pub force: bool,
    /// What each drive is to be emulated as, if not what it is.
    pub emulation: Option<Rates>,
}

/// Runs `plan` to its end; on an error, or when cancelled, nothing of it is left on any drive.
pub fn execute(plan: &Plan, context: &JobContext<'_>) -> Result<JobReport, EngineError> {
    let started = Instant::now();
    context.sink.send(Event::JobStarted {
        name: plan.name.clone(),
        job: context.job.0,
        jobs: context.job.1,
        method: plan.method.to_string(),
        drives: plan.drive_names(context.emulation),
        passes: plan.passes.iter().map(Pass::info).collect(),
        predicted: plan.predicted.as_ref().map(|predicted| predicted.1),
        chunk: plan.chunk,
        buffers: plan.buffers,
        memory: plan.memory().total(),
    });
    let mut files = JobFiles::create(plan, context.cancel)?;
    if let Some(rates) = context.emulation {
        files.emulate(plan, rates);
    }
    // The jobs of a run use the same folders: said once.
    if context.job.0 == 0 {
        for text in device_notes(&plan.folders(), context.emulation).iter().chain(files.notes()) {
            context.sink.send(Event::Note { text: text.clone() });
        }
    }
    // What is written to be kept goes on its way to the medium at once.
    let flushing = Flushing::of(if context.bypass.is_none() { files.outputs() } else { Vec::new() })?;
    let mut report = match plan.precision {
        Precision::F32 => run_passes::<f32>(plan, &files, context)?,
        Precision::F64 => run_passes::<f64>(plan, &files, context)?,
    };
    flushing.finish()?;
    if context.cancel.is_cancelled() {
        return Err(EngineError::Cancelled);
    }
    if context.bypass.is_some() {
        report.seconds = started.elapsed().as_secs_f64();
        return Ok(report);
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
    let mut buffers = Vec::new();
    let drive_of: Vec<_> = plan.files.iter().map(|f| f.drive).collect();
    let clock = Instant::now();
    let mut report = JobReport {
        name: plan.name.clone(),
        method: plan.method,
        chunk: plan.chunk,
        buffers: plan.buffers,
        seconds: 0.0,
        predicted: plan.predicted.as_ref().map(|predicted| predicted.1),
        passes: Vec::new(),
        drives: plan.drive_names(context.emulation),
        memory_planned: plan.memory().total(),
        peak_memory: None,
        energy: [0.0; 2],
        error_bound: plan.error_bound,
        full_scale: None,
        clipped: None,
        events_lost: 0,
        preview: None,
    };
    let mut computing = Computing::<T>::new(plan, context);
    for (index, pass) in plan.passes.iter().enumerate() {
        let pass_context = PassContext {
            serial: context.serial,
            pass: index,
            stores: files.stores(),
            drive_of: &drive_of,
            drives: plan.drives.len(),
            clock,
            sink: context.sink,
            cancel: context.cancel,
            bypass: context.bypass,
            pool: &pool,
        };
        refit(&mut buffers, &pass.buffer_sizes());
        context.sink.send(Event::PassStarted { pass: index, at: clock.elapsed().as_secs_f64() });
        let used =
            computing.pass(pass, &mut |kernel| run_pass(&pass.lanes, kernel, &mut buffers, &pass_context))?;
        context.sink.send(Event::PassFinished { pass: index, seconds: used.seconds });
        report.passes.push(PassReport {
            name: pass.name.clone(),
            seconds: used.seconds,
            predicted: plan.predicted.as_ref().and_then(|predicted| predicted.0.get(index).copied()),
            compute_seconds: used.compute_seconds,
            drives: used.drives,
        });
    }
    report.energy = computing.energies.ends();
    if let Some((clipped, samples)) = computing.clipped {
        report.clip(clipped, samples, context);
    }
    report.preview = computing.preview;
    report.events_lost = context.sink.lost();
    // Taken while the buffers are held.
    report.peak_memory = peak_memory();
    Ok(report)
}

/// Makes `buffers` fit for a pass that needs these `sizes`, the largest first. They stay where each is large
/// enough, for making new ones takes time.
fn refit(buffers: &mut Vec<AlignedBuffer>, sizes: &[usize]) {
    buffers.sort_unstable_by_key(|buffer| std::cmp::Reverse(buffer.len()));
    let fit = buffers.len() >= sizes.len() && buffers.iter().zip(sizes).all(|(b, &size)| b.len() >= size);
    if !fit {
        // Gone before there are new ones.
        buffers.clear();
        buffers.extend(sizes.iter().map(|&size| AlignedBuffer::new(size)));
    }
}

/// What the passes of a job compute, and what they hand on from one to the next.
struct Computing<'a, T: TransferReal> {
    plan: &'a Plan,
    layers: &'a [Arc<LayerSource>],
    transforms: Transforms<T>,
    energies: Energies,
    preview: Option<Preview>,
    full_scale: f64,
    /// Samples of the output that did not fit in its levels, and all of them.
    clipped: Option<(u64, usize)>,
}

/// Runs a kernel over the chunks of a pass.
type Run<'r> = dyn FnMut(&mut dyn ChunkKernel) -> Result<PassUse, EngineError> + 'r;

impl<'a, T: TransferReal> Computing<'a, T> {
    fn new(plan: &'a Plan, context: &'a JobContext<'_>) -> Self {
        let energies = Energies::new(plan.precision, plan.scratch_precision, context.bypass.is_none());
        Self {
            plan,
            layers: context.layers,
            transforms: Transforms::new(),
            energies,
            preview: None,
            full_scale: context.full_scale,
            clipped: None,
        }
    }

    /// Makes the kernel of `pass`, has it run, and checks the energies it found.
    fn pass(&mut self, pass: &Pass, run: &mut Run<'_>) -> Result<PassUse, EngineError> {
        let plan = self.plan;
        match &pass.kernel {
            Kernel::RowsForward { source, layers, split, part, tiles } => {
                let layers = layers.iter().map(|&i| self.layers[i].clone()).collect();
                let streams = self.transforms.of(*split);
                let mut kernel =
                    RowsForward::<T>::new(streams, part.clone(), *tiles, *source, layers, self.plan.threads);
                let used = run(&mut kernel)?;
                // The first streams are made of the same plane as the later ones.
                if part.streams.start == 0 {
                    let samples = tiles.height as f64 * tiles.width as f64;
                    self.energies.add_source(kernel.energy(), samples, || plan.source_name())?;
                }
                Ok(used)
            }
            Kernel::Columns { terms, split, lanes, streams, tiles } => {
                let transforms = self.transforms.of(*split);
                let mut kernel =
                    Columns::<T>::new(transforms, terms, *tiles, lanes.clone(), *streams, self.plan.threads);
                let used = run(&mut kernel)?;
                let padded = *streams as f64 * tiles.width as f64;
                self.energies.add_spectrum(kernel.energy() / padded, kernel.written());
                if lanes.end == *streams {
                    self.energies.check_spectrum(&pass.name)?;
                }
                Ok(used)
            }
            Kernel::Blocks(blocks) => {
                let layers = |layers: &Vec<usize>| layers.iter().map(|&i| self.layers[i].clone()).collect();
                let layers = blocks.waves.iter().map(|wave| layers(&wave.layers)).collect();
                let mut kernel = BlockKernel::<T>::new(
                    blocks,
                    pass.places(blocks),
                    layers,
                    &mut self.transforms,
                    self.full_scale,
                    self.plan.threads,
                );
                let used = run(&mut kernel)?;
                if blocks.encoding == Encoding::Amplitude8 {
                    let [y, x] = blocks.blocks;
                    self.clipped = Some((kernel.clipped(), y.length * x.length));
                }
                let [source, result] = kernel.energies();
                self.energies.add_source(source, 0.0, || plan.source_name())?;
                self.energies.add_result(source, result, &pass.name)?;
                self.preview = kernel.into_preview();
                Ok(used)
            }
            Kernel::RowsInverse { split, streams, tiles, base, preview, encoding } => {
                let encoder = Encoder { encoding: *encoding, full_scale: self.full_scale };
                let (all, read) = (self.transforms.of(*split), streams.clone());
                let mut kernel =
                    RowsInverse::<T>::new(all, read, *tiles, *base, *preview, encoder, self.plan.threads);
                let used = run(&mut kernel)?;
                self.energies.end(kernel.read(), kernel.energy(), &pass.name)?;
                if *encoding == Encoding::Amplitude8 {
                    self.clipped = Some((kernel.clipped(), tiles.height * split.length));
                }
                self.preview = kernel.into_preview();
                Ok(used)
            }
        }
    }
}
