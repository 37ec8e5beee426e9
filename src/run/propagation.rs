//! One plane, propagated once.

use std::path::{Path, PathBuf};

use super::RunError;
use super::error::{check_apart, check_folder, check_output};
use crate::engine::{Cancel, EventSink, JobContext, JobReport, Plan, execute};
use crate::inspect::Tone;
use crate::methods::{Job, Optics, Roles, Source, Step};
use crate::optics::{Bytes, Encoding, Grid, Length, Real as _};
use crate::planner::{self, Machine, Measuring};
use crate::project::{
    Bypass, Drive, Method, Precision, Role, validate_distance, validate_grid, validate_light,
    validate_scratch, validate_streams, validate_tolerance, validate_tuning,
};
use crate::storage::{PlaneHeader, Rates, ScratchPrecision, same_device, save_gray_png};

/// How a plane is computed: what a user may tune without changing the result.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The method.
    pub method: Method,
    /// The arithmetic.
    pub precision: Precision,
    /// Streams along x; the method's own number if not given.
    pub streams: Option<usize>,
    /// Streams of `padded` that are worked on together.
    pub at_once: Option<usize>,
    /// How scratch keeps samples; as the arithmetic has them if not given.
    pub scratch_precision: Option<ScratchPrecision>,
    /// The drives and their roles; the output's folder alone when empty.
    pub drives: Vec<Drive>,
    /// Whether the drives are one striped volume instead (RAID-0).
    pub striped: bool,
    /// Bound on all memory.
    pub memory: Bytes,
    /// Lines of a chunk; the most that fit if not given.
    pub chunk: Option<usize>,
    /// Chunks a stage may hold ahead.
    pub buffers: usize,
    /// Computing threads.
    pub threads: usize,
    /// The relative error that a padding may add; the precision's own if not given.
    pub tolerance: Option<f64>,
    /// What is left out, to measure the rest; then no file is kept.
    pub bypass: Option<Bypass>,
    /// Whether reading, computing and writing take turns instead of overlapping, to measure what that gives.
    pub serial: bool,
    /// Whether the machine's figures may be measured for the choice of a plan; decided by the job's size if
    /// not given.
    pub measuring: Option<Measuring>,
    /// Whether existing files are replaced.
    pub force: bool,
    /// What each drive's folder is to be emulated as, if not what it is.
    pub emulation: Option<Rates>,
}

/// More threads than any machine has processors only cost memory.
const MOST_THREADS: usize = 4096;

/// As many computing threads as the machine has processors.
#[must_use]
pub fn default_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What is kept of a propagation's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The plane.
    Plane,
    /// A reduced intensity image; the plane is not written.
    Preview,
}

/// One propagation of a plane in a file.
#[derive(Debug, Clone)]
pub struct Propagation {
    /// The plane: `.npy`, or an encoded one in a TIFF, BMP or PNG.
    pub source: PathBuf,
    /// How its samples are stored, where the file does not tell.
    pub encoding: Option<Encoding>,
    /// The amplitude of level 255, where they are amplitudes in 8 bits.
    pub full_scale: f64,
    /// Where the result goes: the plane, or the picture that is made of it. Its folder takes the scratch
    /// where no drive is given.
    pub target: PathBuf,
    /// What is kept of the result.
    pub result: Kept,
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
        let mut header = PlaneHeader::read(&self.source, self.encoding)?;
        header.element = header.element.scaled(f32::rounded(self.full_scale));
        let grid = Grid {
            width: header.width,
            height: header.height,
            pitch_y: self.pitch[0],
            pitch_x: self.pitch[1],
        };
        let wavelength = Length::metres(self.optics.wavelength);
        validate_grid(&grid, "")?;
        validate_light(wavelength, self.optics.rolloff)?;
        validate_distance("distance", self.distance, wavelength)?;
        settings.check()?;
        check_output(&self.target, settings.force)?;
        check_apart(&self.target, [&*self.source])?;
        let step = Step::one(Vec::new(), self.distance.in_metres(), String::new());
        let job = Job {
            name: self.name.clone(),
            grid,
            optics: self.optics,
            precision: settings.precision,
            source: Some(Source { path: self.source.clone(), header }),
            chains: vec![vec![step]],
            output: (self.result == Kept::Plane).then(|| self.target.clone()),
            encoding: Encoding::Complex,
            preview: (self.result == Kept::Preview).then_some(self.distance.in_metres()),
            roles: settings.roles(Some(&self.source), &self.target),
            memory: settings.memory,
            scratch_precision: settings.scratch_precision(),
            layer_windows: Vec::new(),
            layer_bytes: 0,
            chunk: settings.chunk,
            buffers: settings.buffers,
            threads: settings.threads,
            tolerance: settings.tolerance(),
            streams: settings.streams,
            at_once: settings.at_once,
        };
        settings.plan(&job)
    }
}

impl Settings {
    /// Checks the values and the drives' folders.
    pub fn check(&self) -> Result<(), RunError> {
        self.check_values()?;
        self.drives.iter().try_for_each(|drive| check_folder(&drive.path))
    }

    /// Checks the values alone; touches no file.
    pub fn check_values(&self) -> Result<(), RunError> {
        validate_tuning(self.buffers, self.chunk)?;
        validate_tolerance(self.tolerance)?;
        validate_scratch(self.scratch_precision, self.precision)?;
        validate_streams(self.streams, self.at_once)?;
        if self.drives.len() > Role::ALL.len() {
            return Err(RunError::Value {
                field: "drives",
                problem: format!(
                    "{} are given, and there are four roles; give one to four",
                    self.drives.len()
                ),
            });
        }
        if self.striped && self.drives.is_empty() {
            return Err(RunError::Value {
                field: "striped",
                problem: "no drive is given to stripe over; give two to four with --drive".into(),
            });
        }
        if self.threads == 0 || self.threads > MOST_THREADS {
            return Err(RunError::Value {
                field: "threads",
                problem: format!(
                    "{} cannot be used; it lies between 1 and {MOST_THREADS}, leave it out to use every processor",
                    self.threads
                ),
            });
        }
        Ok(())
    }

    /// The relative error that a padding may add: where none is given, about what the arithmetic and the scratch
    /// add themselves.
    #[must_use]
    pub fn tolerance(&self) -> f64 {
        // Scratch in fewer bits adds more than a close margin would.
        let usual = match self.scratch_precision() {
            ScratchPrecision::B16 => 2e-5,
            _ => self.precision.tolerance(),
        };
        self.tolerance.unwrap_or(usual)
    }

    /// What computing and the drives of `job` take here. For a large job whose method is to be chosen, what is
    /// not known is measured; else that would take longer than it saves.
    pub(super) fn machine(&self, job: &Job) -> Result<Machine, RunError> {
        const LARGE: u64 = 1 << 30;
        let large = job.grid.samples() * job.precision.sample_bytes() as u64 >= LARGE;
        let measuring = self.measuring.unwrap_or(if large && self.method == Method::Auto {
            Measuring::Missing
        } else {
            Measuring::Never
        });
        // The drives of a striped volume work as one.
        let emulation = self.emulation.map(|rates| rates.times(job.roles.stripes.len().max(1)));
        Ok(Machine::of(self.threads, &job.roles.drives, emulation, measuring)?)
    }

    /// The plan of `job`.
    pub(super) fn plan(&self, job: &Job) -> Result<Plan, RunError> {
        Ok(planner::plan(job, self.method, &self.machine(job)?)?.0)
    }

    /// How scratch keeps samples.
    #[must_use]
    pub fn scratch_precision(&self) -> ScratchPrecision {
        self.scratch_precision.unwrap_or(self.precision.scratch())
    }

    /// The drives of a job that reads `source` and writes `output`.
    pub(super) fn roles(&self, source: Option<&Path>, output: &Path) -> Roles {
        // An emulated drive has no device that a file elsewhere could share: such files join A and B.
        if self.striped {
            return Roles::striped(&self.drives);
        }
        let emulated = self.emulation.is_some();
        Roles::assign(&self.drives, source, Some(output), |one, other| emulated || same_device(one, other))
    }
}

/// Runs `propagation` and makes its target; on an error nothing is left behind.
pub fn propagate(
    propagation: &Propagation,
    settings: &Settings,
    job: (usize, usize),
    sink: &EventSink,
    cancel: &Cancel,
) -> Result<JobReport, RunError> {
    let plan = propagation.plan(settings)?;
    let Settings { force, emulation, bypass, serial, .. } = *settings;
    let context =
        JobContext { layers: &[], full_scale: 1.0, job, sink, cancel, force, emulation, bypass, serial };
    let report = execute(&plan, &context)?;
    if let Some(preview) = report.preview.as_ref().filter(|_| settings.bypass.is_none()) {
        let levels = Tone::of(&preview.mean).levels(&preview.mean);
        save_gray_png(&propagation.target, preview.width, preview.height, &levels, settings.force)?;
    }
    Ok(report)
}
