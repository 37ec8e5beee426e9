//! One plane, propagated once.

use std::path::PathBuf;

use super::RunError;
use super::error::{check_folder, check_output};
use crate::engine::{Cancel, EventSink, JobContext, JobReport, Plan, execute};
use crate::methods::{Job, Optics, Roles, Source, Step, plan};
use crate::optics::{Bytes, Grid, Length};
use crate::project::{Drive, Method, Precision};
use crate::storage::NpyHeader;

/// How a plane is computed: what a user may tune without changing the result.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The method.
    pub method: Method,
    /// The arithmetic.
    pub precision: Precision,
    /// The drives and their roles; the output's folder alone when empty.
    pub drives: Vec<Drive>,
    /// Bound on all memory.
    pub memory: Bytes,
    /// Lines of a chunk; the most that fit if not given.
    pub chunk: Option<usize>,
    /// Chunks a stage may hold ahead.
    pub buffers: usize,
    /// Computing threads.
    pub threads: usize,
    /// Whether existing files are replaced.
    pub force: bool,
}

/// As many computing threads as the machine has processors.
#[must_use]
pub fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// One propagation of a plane in a file.
#[derive(Debug, Clone)]
pub struct Propagation {
    /// The `.npy` plane.
    pub source: PathBuf,
    /// Where the result goes, if it is kept.
    pub output: Option<PathBuf>,
    /// The distance of the result from the hologram in metres, if a preview is wanted.
    pub preview: Option<f64>,
    /// Pitch along y and x.
    pub pitch: [Length; 2],
    /// The light.
    pub optics: Optics,
    /// Signed distance.
    pub distance: Length,
    /// For example `propagation` or `reconstruction at 3mm`.
    pub name: String,
}

impl Propagation {
    /// Checks everything that can be checked before the first byte moves, and plans.
    pub fn plan(&self, settings: &Settings) -> Result<Plan, RunError> {
        let header = NpyHeader::read(&self.source)?;
        let grid = Grid {
            width: header.width,
            height: header.height,
            pitch_y: self.pitch[0],
            pitch_x: self.pitch[1],
        };
        crate::project::validate_grid(&grid)?;
        let positive = self.optics.wavelength.is_finite() && self.optics.wavelength > 0.0;
        if !positive {
            return Err(RunError::Value {
                field: "wavelength",
                problem: "must be above zero, for example 660nm".into(),
            });
        }
        settings.check()?;
        if let Some(output) = &self.output {
            check_output(output, settings.force)?;
            let same = |p: &PathBuf| std::fs::canonicalize(p).ok();
            if same(output).is_some() && same(output) == same(&self.source) {
                return Err(RunError::Value {
                    field: "output",
                    problem: format!("{} is the source itself; choose another name", output.display()),
                });
            }
        }
        let step = Step { layers: Vec::new(), distance: self.distance.in_metres(), name: String::new() };
        let job = Job {
            name: self.name.clone(),
            grid,
            optics: self.optics,
            precision: settings.precision,
            source: Some(Source { path: self.source.clone(), header }),
            chains: vec![vec![step]],
            output: self.output.clone(),
            preview: self.preview,
            roles: settings.roles(Some(&self.source), self.output.as_deref()),
            memory: settings.memory,
            layer_bytes: 0,
            chunk: settings.chunk,
            buffers: settings.buffers,
            threads: settings.threads,
        };
        Ok(plan(&job, settings.method)?)
    }
}

impl Settings {
    /// Checks the values and the drives' folders.
    pub fn check(&self) -> Result<(), RunError> {
        let value = |field, problem: &str| Err(RunError::Value { field, problem: problem.into() });
        if self.buffers == 0 {
            return value("buffers", "0 leaves no buffer to work with; 2 is a good start");
        }
        if self.chunk == Some(0) {
            return value("chunk", "0 lines cannot be processed; leave it out to fill the memory");
        }
        if self.threads == 0 {
            return value("threads", "0 threads compute nothing; leave it out to use every processor");
        }
        self.drives.iter().try_for_each(|drive| check_folder(&drive.path))
    }

    /// The drives of a job that reads `source` and writes `output`.
    pub(super) fn roles(&self, source: Option<&std::path::Path>, output: Option<&std::path::Path>) -> Roles {
        Roles::assign(&self.drives, source, output, crate::storage::same_device)
    }
}

/// Runs `propagation`; on an error nothing is left behind.
pub fn propagate(
    propagation: &Propagation,
    settings: &Settings,
    job: (usize, usize),
    sink: &EventSink,
    cancel: &Cancel,
) -> Result<JobReport, RunError> {
    let plan = propagation.plan(settings)?;
    let context = JobContext { layers: &[], job, sink, cancel, force: settings.force };
    Ok(execute(&plan, &context)?)
}
