//! Runs a plan: its passes one after another, each as a pipeline.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::files::{JobFiles, device_notes};
use super::kernels::{Columns, RowsForward, RowsInverse, Transforms};
use super::pipeline::{ChunkKernel, DriveUse, PassContext, PassUse, run_pass};
use super::{Cancel, EngineError, Event, EventSink, Kernel, Pass, Place, Plan, Preview};
use crate::optics::{Encoder, Encoding, LayerSource, TransferReal};
use crate::project::Precision;
use crate::storage::{AlignedBuffer, Tiles, peak_memory};

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
    let mut energies = Energies::default();
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
            Kernel::RowsForward { source, layers, split, tiles } => {
                let layers = layers.iter().map(|&i| context.layers[i].clone()).collect();
                let mut kernel =
                    RowsForward::<T>::new(transforms.of(*split), *tiles, *source, layers, plan.threads);
                let used = run(&mut kernel)?;
                energies.start(kernel.energy(), tiles, plan)?;
                used
            }
            Kernel::Columns { transfer, split, streams, tiles } => {
                let mut kernel =
                    Columns::<T>::new(transforms.of(*split), *transfer, *streams, *tiles, plan.threads);
                let used = run(&mut kernel)?;
                energies.spectrum(kernel.energy() / transfer.padded[1] as f64, &pass.name, plan.precision)?;
                energies.between = kernel.written();
                used
            }
            Kernel::RowsInverse { split, tiles, base, preview, encoding } => {
                let encoder = Encoder { encoding: *encoding, full_scale: context.full_scale };
                let streams = transforms.of(*split);
                let mut kernel =
                    RowsInverse::<T>::new(streams, *tiles, *base, *preview, encoder, plan.threads);
                let used = run(&mut kernel)?;
                energies.end(kernel.read(), kernel.energy(), &pass.name)?;
                if *encoding == Encoding::Amplitude8 {
                    let share = kernel.clipped() as f64 / (tiles.height as f64 * split.length as f64);
                    report.full_scale = Some(context.full_scale);
                    report.clipped = Some(share);
                    if kernel.clipped() > 0 {
                        context.sink.send(clipped_note(kernel.clipped(), share, context.full_scale));
                    }
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
    report.energy = [energies.first.unwrap_or(0.0), energies.result];
    report.events_lost = context.sink.lost();
    // Taken while the buffers are held.
    report.peak_memory = peak_memory();
    Ok(report)
}

/// Says that samples were brighter than the full scale.
fn clipped_note(samples: u64, share: f64, full_scale: f64) -> Event {
    Event::Note {
        text: format!(
            "{samples} samples ({:.2e} %) are brighter than the full scale {full_scale:.6} and were stored as \
             255; set a larger output.full_scale to keep them",
            100.0 * share
        ),
    }
}

/// The energy checks: what a pass writes is, by Parseval's theorem or as it is, what the next one reads.
#[derive(Default)]
struct Energies {
    /// Of the job's first plane.
    first: Option<f64>,
    /// Of the plane of the latest phase 1.
    source: f64,
    /// Samples of a plane.
    samples: f64,
    /// Of what the latest phase 2 wrote.
    between: f64,
    /// Of the latest result.
    result: f64,
}

impl Energies {
    fn start(&mut self, source: f64, tiles: &Tiles, plan: &Plan) -> Result<(), EngineError> {
        if !source.is_finite() {
            let mut sources = plan.files.iter().filter_map(|file| match &file.place {
                Place::Source(path) | Place::Packed(path, _) => Some(path.display().to_string()),
                _ => None,
            });
            let source_name = sources.next().unwrap_or_else(|| "the layers".into());
            return Err(EngineError::NotFinite { source_name });
        }
        self.first.get_or_insert(source);
        self.source = source;
        self.samples = tiles.height as f64 * tiles.width as f64;
        Ok(())
    }

    /// Phase 2 found `found` in the spectrum of what phase 1 wrote.
    fn spectrum(&self, found: f64, pass: &str, precision: Precision) -> Result<(), EngineError> {
        // The transforms' own rounding is a hundred times smaller than the tolerance. Below the faintest
        // root mean square the numbers themselves lose their digits.
        let (tolerance, faintest) = match precision {
            Precision::F32 => (1e-4, 1e-30f64),
            Precision::F64 => (1e-11, 1e-150f64),
        };
        if !found.is_finite() {
            return Err(EngineError::TooLarge { pass: pass.into() });
        }
        if self.source < self.samples * faintest * faintest {
            return Ok(());
        }
        same(self.source, found, tolerance, pass)
    }

    /// Phase 3 read `read`, and its result has the energy `result`.
    fn end(&mut self, read: f64, result: f64, pass: &str) -> Result<(), EngineError> {
        // The same samples, added in another order.
        same(self.between, read, 1e-10, pass)?;
        if !result.is_finite() {
            return Err(EngineError::TooLarge { pass: pass.into() });
        }
        self.result = result;
        Ok(())
    }
}

fn same(expected: f64, found: f64, tolerance: f64, pass: &str) -> Result<(), EngineError> {
    // Written so that a NaN fails.
    if (found - expected).abs() <= tolerance * expected {
        return Ok(());
    }
    Err(EngineError::Energy { pass: pass.into(), expected, found })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn energies(source: f64, between: f64) -> Energies {
        Energies { source, between, samples: 100.0, ..Energies::default() }
    }

    #[test]
    fn data_that_changed_on_its_way_ends_the_job() {
        let ok = energies(50.0, 40.0);
        assert!(ok.spectrum(50.0 * (1.0 + 1e-6), "", Precision::F32).is_ok());
        for found in [50.1, 49.9, 0.0] {
            let error = ok.spectrum(found, "phase 2", Precision::F32).unwrap_err();
            assert!(matches!(error, EngineError::Energy { .. }), "{found}");
        }
        assert!(ok.spectrum(50.0 * (1.0 + 1e-6), "", Precision::F64).is_err(), "double precision is closer");
        assert!(matches!(ok.spectrum(f64::NAN, "", Precision::F32), Err(EngineError::TooLarge { .. })));
        assert!(energies(50.0, 40.0).end(40.0, 39.0, "").is_ok());
        assert!(energies(50.0, 40.0).end(40.001, 39.0, "").is_err());
        assert!(energies(50.0, 40.0).end(f64::NAN, 39.0, "").is_err());
        assert!(matches!(
            energies(50.0, 40.0).end(40.0, f64::INFINITY, ""),
            Err(EngineError::TooLarge { .. })
        ));
    }

    #[test]
    fn dark_and_very_faint_planes_are_no_alarm() {
        assert!(energies(0.0, 0.0).spectrum(0.0, "", Precision::F32).is_ok());
        assert!(energies(1e-80, 0.0).spectrum(3e-80, "", Precision::F32).is_ok());
        assert!(energies(0.0, 0.0).end(0.0, 0.0, "").is_ok());
    }
}
