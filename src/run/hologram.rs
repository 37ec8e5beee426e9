//! A project's run: its hologram, then its reconstruction at each layer's depth.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use super::error::check_output;
use super::{Propagation, RunError, Settings, default_threads, propagate};
use crate::engine::{Cancel, Event, EventSink, JobContext, JobReport, Plan, execute};
use crate::inspect::Tone;
use crate::methods::{Job, Optics, plan, stepwise};
use crate::optics::{LayerSource, Length};
use crate::project::{Project, ProjectError};
use crate::storage::{open_layer, probe, save_gray_png};

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
            drives: project.drives.clone(),
            memory: project.memory,
            chunk: project.chunk,
            buffers: project.buffers,
            threads: default_threads(),
            force: false,
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
fn hologram_job(project: &Project, settings: &Settings) -> Result<Job, RunError> {
    project.validate()?;
    settings.check()?;
    let mut layer_bytes = 0;
    for layer in &project.layers {
        let (width, height, bytes) = probe(&layer.image)?;
        // A larger image is reduced to the plane, with two bytes a sample.
        let (width, height) = (width.max(1), height.max(1));
        let kept = (width.min(project.grid.width) * height.min(project.grid.height)) as u64;
        layer_bytes += bytes.min(2 * kept.max(1)) + (project.grid.width * 8 + height) as u64 + (1 << 18);
    }
    let distances: Vec<_> = project.layers.iter().map(|l| l.distance.in_metres()).collect();
    if let Some(index) = distances.iter().position(|z| !z.is_finite()) {
        return Err(ProjectError::value(format!("layers[{index}].distance"), "is not a finite length").into());
    }
    Ok(Job {
        name: "hologram".into(),
        grid: project.grid,
        optics: Optics::from(project),
        precision: project.precision,
        source: None,
        chains: stepwise(&distances),
        output: Some(project.output.path.clone()),
        preview: None,
        roles: settings.roles(None, Some(&project.output.path)),
        memory: project.memory,
        layer_bytes,
        chunk: project.chunk,
        buffers: project.buffers,
        threads: settings.threads,
    })
}

/// The plan of a project's hologram, without running it.
pub fn plan_project(project: &Project, settings: &Settings) -> Result<Plan, RunError> {
    Ok(plan(&hologram_job(project, settings)?, project.method)?)
}

/// Checks everything about `project` that can be checked without decoding its images.
pub fn check_project(project: &Project, settings: &Settings) -> Result<Plan, RunError> {
    let plan = plan_project(project, settings)?;
    let output = &project.output.path;
    check_output(output, settings.force)?;
    if project.output.previews {
        for layer in 0..project.layers.len() {
            check_output(&preview_path(output, layer), settings.force)?;
        }
    }
    Ok(plan)
}

/// Makes the hologram of `project` and, if it asks for them, the previews.
///
/// On an error nothing of the job that failed is left behind; a hologram that was complete stays.
pub fn run_project(
    project: &Project,
    settings: &Settings,
    sink: &EventSink,
    cancel: &Cancel,
) -> Result<RunReport, RunError> {
    let started = Instant::now();
    let plan = check_project(project, settings)?;
    let layers = load_layers(project, sink)?;
    let jobs = 1 + if project.output.previews { project.layers.len() } else { 0 };
    let context = JobContext { layers: &layers, job: (0, jobs), sink, cancel, force: settings.force };
    let scalings = layers.iter().map(|l| l.scaling().to_owned()).collect();
    let hologram = execute(&plan, &context)?;
    let mut report = RunReport {
        seconds: 0.0,
        method: hologram.method.to_string(),
        files: vec![project.output.path.clone()],
        layers: scalings,
        peak_memory: None,
        error_bound: hologram.error_bound,
        jobs: vec![hologram],
    };
    drop(layers);
    for layer in 0..jobs - 1 {
        let (job, file) = reconstruct_layer(project, settings, layer, sink, cancel).map_err(|source| {
            RunError::AfterHologram { path: project.output.path.clone(), source: Box::new(source) }
        })?;
        report.jobs.push(job);
        report.files.push(file);
    }
    report.peak_memory = report.jobs.last().and_then(|job| job.peak_memory);
    report.seconds = started.elapsed().as_secs_f64();
    sink.send(Event::Finished { seconds: report.seconds });
    Ok(report)
}

fn load_layers(project: &Project, sink: &EventSink) -> Result<Vec<Arc<LayerSource>>, RunError> {
    let mut layers = Vec::new();
    for (index, layer) in project.layers.iter().enumerate() {
        let image = open_layer(&layer.image, project.memory.0)?;
        let key = u32::try_from(index).unwrap_or(u32::MAX);
        let source = LayerSource::new(image, layer.values, layer.phase, &project.grid, project.seed, key);
        sink.send(Event::Note { text: format!("layer {}: {}", index + 1, source.scaling()) });
        layers.push(Arc::new(source));
    }
    Ok(layers)
}

/// Reconstructs the finished hologram at the depth of `layer` and saves the reduced image.
fn reconstruct_layer(
    project: &Project,
    settings: &Settings,
    layer: usize,
    sink: &EventSink,
    cancel: &Cancel,
) -> Result<(JobReport, PathBuf), RunError> {
    let distance = project.layers[layer].distance;
    let propagation = Propagation {
        source: project.output.path.clone(),
        output: None,
        preview: Some(distance.in_metres()),
        pitch: [project.grid.pitch_y, project.grid.pitch_x],
        optics: Optics::from(project),
        distance,
        name: format!("reconstruction at {}", Length::metres(distance.in_metres())),
    };
    let jobs = (layer + 1, 1 + project.layers.len());
    let mut job = propagate(&propagation, settings, jobs, sink, cancel)?;
    let path = preview_path(&project.output.path, layer);
    let preview = job.preview.take().map(Arc::new);
    if let Some(preview) = &preview {
        let levels = Tone::of(&preview.mean).levels(&preview.mean);
        save_gray_png(&path, preview.width, preview.height, &levels, settings.force)?;
    }
    sink.send(Event::Preview { layer, preview });
    Ok((job, path))
}
