//! A project's run: its hologram, then its reconstruction at each layer's depth.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::error::{check_apart, check_output};
use super::{Kept, Propagation, RunError, Settings, default_threads, propagate};
use crate::engine::{Cancel, EngineError, Event, EventSink, JobContext, JobReport, Plan, execute};
use crate::methods::{Job, Optics, fused, stepwise};
use crate::optics::{Bytes, Encoding, LayerSource, full_scale};
use crate::project::{Layering, Project, ProjectError};
use crate::storage::{open_layer, probe};

/// What a run took and gave.
#[derive(Debug, Clone, Serialize)]
pub struct RunReport {
    /// Seconds of the whole run.
    pub seconds: f64,
    /// The method, as the command line names it.
    pub method: String,
    /// The files that were made.
    pub files: Vec<PathBuf>,
    /// How each layer's image came to the plane.
    pub layers: Vec<String>,
    /// The process's largest resident size in bytes, where the system tells.
    pub peak_memory: Option<u64>,
    /// Bound on the output's relative L2 error.
    pub error_bound: f64,
    /// Each job: the hologram, then the reconstructions.
    pub jobs: Vec<JobReport>,
}

/// The settings a project stands for.
impl From<&Project> for Settings {
    fn from(project: &Project) -> Self {
        Self {
            method: project.method,
            precision: project.precision,
            streams: project.streams,
            at_once: project.at_once,
            scratch_precision: project.scratch_precision,
            drives: project.drives.clone(),
            striped: false,
            memory: project.memory,
            chunk: project.chunk,
            buffers: project.buffers,
            threads: default_threads(),
            tolerance: project.tolerance,
            bypass: None,
            serial: false,
            measuring: None,
            force: false,
            emulation: None,
        }
    }
}

/// The preview image of layer `layer` (from 0) of a hologram at `output`.
#[must_use]
pub fn preview_path(output: &Path, layer: usize) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    output.with_file_name(format!("{stem}-layer{}.png", layer + 1))
}

/// The hologram's job, as far as it can be known from the files' headers.
pub(super) fn hologram_job(project: &Project, settings: &Settings) -> Result<Job, RunError> {
    project.validate()?;
    settings.check_values()?;
    let mut layer_bytes = 0;
    let mut layer_windows = Vec::new();
    for (_, layer) in project.enabled_layers() {
        let (width, height, bytes) = probe(&layer.image)?;
        layer_windows.push(LayerSource::window_of(width, height, &project.grid));
        layer_bytes += LayerSource::bytes_of(width, height, bytes, &project.grid);
    }
    let distances: Vec<_> = project.enabled_layers().map(|(_, l)| l.distance.in_metres()).collect();
    Ok(Job {
        name: "hologram".into(),
        grid: project.grid,
        optics: Optics::from(project),
        precision: project.precision,
        source: None,
        chains: match project.layering {
            Layering::Stepwise => stepwise(&distances),
            Layering::Fused => fused(&distances),
        },
        output: Some(project.output.path.clone()),
        encoding: project.output.encoding,
        preview: None,
        roles: settings.roles(None, &project.output.path),
        memory: project.memory,
        scratch_precision: settings.scratch_precision(),
        layer_windows,
        layer_bytes,
        chunk: project.chunk,
        buffers: project.buffers,
        threads: settings.threads,
        tolerance: settings.tolerance(),
        streams: settings.streams,
        at_once: settings.at_once,
    })
}

/// The plan of a project's hologram, without running it.
pub fn plan_project(project: &Project, settings: &Settings) -> Result<Plan, RunError> {
    settings.plan(&hologram_job(project, settings)?)
}

/// The files a run of `project` makes: the hologram, and the previews it asks for.
#[must_use]
pub fn outputs(project: &Project) -> Vec<PathBuf> {
    let output = &project.output.path;
    let previews = project.enabled_layers().filter(|_| project.output.previews);
    std::iter::once(output.clone()).chain(previews.map(|(layer, _)| preview_path(output, layer))).collect()
}

/// Checks everything about `project` that can be checked without decoding its images.
pub fn check_project(project: &Project, settings: &Settings) -> Result<Plan, RunError> {
    let plan = plan_project(project, settings)?;
    settings.check()?;
    for output in outputs(project) {
        check_output(&output, settings.force)?;
        check_apart(&output, project.layers.iter().map(|layer| &*layer.image))?;
    }
    Ok(plan)
}

/// Makes the hologram of `project` and, if it asks for them, the previews.
///
/// On an error nothing of the job that failed is left behind; what was complete stays.
pub fn run_project(
    project: &Project,
    settings: &Settings,
    sink: &EventSink,
    cancel: &Cancel,
) -> Result<RunReport, RunError> {
    let plan = check_project(project, settings)?;
    run_checked(project, settings, &plan, sink, cancel)
}

/// As [`run_project`], for a project that [`check_project`] has made `plan` of.
pub(super) fn run_checked(
    project: &Project,
    settings: &Settings,
    plan: &Plan,
    sink: &EventSink,
    cancel: &Cancel,
) -> Result<RunReport, RunError> {
    let started = Instant::now();
    let layers = load_layers(project, sink, cancel)?;
    // What is bypassed leaves nothing to look at.
    let made = if settings.bypass.is_some() { Vec::new() } else { outputs(project) };
    let jobs = made.len().max(1);
    let mut files = made.into_iter();
    let full_scale = match project.output.full_scale {
        Some(given) => given,
        // Light keeps its energy on its way, and that of several layers adds up.
        None if project.output.encoding == Encoding::Amplitude8 => {
            full_scale(layers.iter().map(|layer| layer.mean_square()).sum())
        }
        None => 1.0,
    };
    let Settings { force, emulation, bypass, serial, .. } = *settings;
    let context = JobContext {
        layers: &layers,
        full_scale,
        job: (0, jobs),
        sink,
        cancel,
        force,
        emulation,
        bypass,
        serial,
    };
    let scalings = layers.iter().map(|l| l.scaling().to_owned()).collect();
    let hologram = execute(plan, &context)?;
    let mut report = RunReport {
        seconds: 0.0,
        method: hologram.method.to_string(),
        files: files.next().into_iter().collect(),
        layers: scalings,
        peak_memory: None,
        error_bound: hologram.error_bound,
        jobs: vec![hologram],
    };
    drop(layers);
    for (place, ((layer, _), file)) in project.enabled_layers().zip(files).enumerate() {
        let wanted = Wanted { layer, file: &file, job: (place + 1, jobs) };
        match reconstruct_layer(project, settings, full_scale, wanted, sink, cancel) {
            Ok(job) => report.jobs.push(job),
            Err(source) => {
                return Err(RunError::AfterHologram { files: report.files, source: Box::new(source) });
            }
        }
        report.files.push(file);
    }
    report.peak_memory = report.jobs.iter().filter_map(|job| job.peak_memory).max();
    report.seconds = started.elapsed().as_secs_f64();
    sink.send(Event::Finished { seconds: report.seconds });
    Ok(report)
}

fn load_layers(
    project: &Project,
    sink: &EventSink,
    cancel: &Cancel,
) -> Result<Vec<Arc<LayerSource>>, RunError> {
    let mut layers: Vec<Arc<LayerSource>> = Vec::new();
    for (index, layer) in project.enabled_layers() {
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled.into());
        }
        // What decoding, and then reducing, may take beside the layers that are held already.
        let held: u64 = layers.iter().map(|layer| layer.bytes()).sum();
        let left = project.memory.0.saturating_sub(held);
        let (width, height, bytes) = probe(&layer.image)?;
        let reduced = LayerSource::bytes_of(width, height, bytes, &project.grid);
        if bytes + reduced > left {
            return Err(ProjectError::value(
                "memory",
                format!(
                    "{} is too little for {}: reading it takes {} beside the layers before it",
                    project.memory,
                    layer.image.display(),
                    Bytes(bytes + reduced)
                ),
            )
            .into());
        }
        let image = open_layer(&layer.image, left)?;
        // By its place among those that take part: a disabled layer changes nothing.
        let key = u32::try_from(layers.len()).unwrap_or(u32::MAX);
        let source = LayerSource::new(image, layer.values, layer.phase, &project.grid, project.seed, key)
            .with_amplitude(layer.amplitude);
        sink.send(Event::Note { text: format!("layer {}: {}", index + 1, source.scaling()) });
        layers.push(Arc::new(source));
    }
    Ok(layers)
}

/// A preview that is to be made.
#[derive(Clone, Copy)]
struct Wanted<'a> {
    /// The layer, by its index in the project.
    layer: usize,
    /// The image it becomes.
    file: &'a Path,
    /// The number of the job that makes it, and of all jobs.
    job: (usize, usize),
}

/// Reconstructs the finished hologram at the depth of a layer and saves the reduced image.
fn reconstruct_layer(
    project: &Project,
    settings: &Settings,
    full_scale: f64,
    wanted: Wanted<'_>,
    sink: &EventSink,
    cancel: &Cancel,
) -> Result<JobReport, RunError> {
    let Wanted { layer, file, job } = wanted;
    let distance = project.layers[layer].distance;
    let propagation = Propagation {
        source: project.output.path.clone(),
        encoding: Some(project.output.encoding),
        full_scale,
        target: file.into(),
        result: Kept::Preview,
        pitch: [project.grid.pitch_y, project.grid.pitch_x],
        optics: Optics::from(project),
        distance,
        name: format!("reconstruction at {distance}"),
    };
    let mut job = propagate(&propagation, settings, job, sink, cancel)?;
    let preview = job.preview.take().map(Arc::new);
    sink.send(Event::Preview { layer, preview });
    Ok(job)
}
