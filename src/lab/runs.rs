//! One way to do a job, planned and timed.

use std::path::Path;
use std::time::Instant;

use crate::engine::{Cancel, ChunkEvent, Event, EventSink, JobReport, Kind, Plan};
use crate::planner::Measuring;
use crate::project::{Bypass, Method, Project};
use crate::run::{Propagation, RunError, Settings, plan_project, propagate, run_project};
use crate::storage::ScratchPrecision;

/// A job.
#[derive(Debug, Clone)]
pub enum Work {
    /// A plane in a file, propagated.
    Propagation(Propagation),
    /// A hologram of layers.
    Hologram(Box<Project>),
}

/// One way to do a job.
#[derive(Debug, Clone)]
pub struct Entry {
    /// For example `padded b16`.
    pub name: String,
    /// The job.
    pub work: Work,
    /// How it is done.
    pub settings: Settings,
}

/// What one run took.
#[derive(Debug, Clone)]
pub struct Run {
    /// Seconds of the whole call: checks, planning, files and all.
    pub seconds: f64,
    /// What the job itself tells.
    pub job: JobReport,
    /// What was done when, if that was to be kept; without the waiting.
    pub timeline: Vec<ChunkEvent>,
}

impl Entry {
    /// A propagation by `method`.
    pub fn propagation(
        propagation: Propagation,
        settings: Settings,
        method: Method,
        scratch: Option<ScratchPrecision>,
    ) -> Self {
        let mut propagation = propagation;
        propagation.optics.rolloff = method.rolloff();
        Self {
            name: name(method, scratch),
            work: Work::Propagation(propagation),
            settings: Settings {
                method,
                scratch_precision: scratch,
                measuring: Some(Measuring::Never),
                ..settings
            },
        }
    }

    /// A hologram of `project`, whose figures of the machine are known.
    pub fn hologram(project: Project, emulation: Option<crate::storage::Rates>) -> Self {
        let settings = Settings { emulation, measuring: Some(Measuring::Never), ..Settings::from(&project) };
        let layering = match project.layering {
            crate::project::Layering::Stepwise => "stepwise",
            crate::project::Layering::Fused => "fused",
        };
        let name = format!("{} {layering}", name(project.method, project.scratch_precision));
        Self { name, work: Work::Hologram(project.into()), settings }
    }

    /// The same with so many buffers.
    pub fn with_buffers(&self, buffers: usize) -> Self {
        let mut entry = self.clone();
        entry.settings.buffers = buffers;
        if let Work::Hologram(project) = &mut entry.work {
            project.buffers = buffers;
        }
        entry
    }

    /// The same with something left out.
    pub fn without(&self, bypass: Bypass) -> Self {
        let mut entry = self.clone();
        entry.settings.bypass = Some(bypass);
        entry
    }

    /// What is left out, in words.
    pub const fn left_out(&self) -> Option<&'static str> {
        match self.settings.bypass {
            None => None,
            Some(Bypass::Compute) => Some("compute"),
            Some(Bypass::Io) => Some("io"),
        }
    }

    /// The plan that a run will have.
    pub fn plan(&self) -> Result<Plan, RunError> {
        match &self.work {
            Work::Propagation(propagation) => propagation.plan(&self.settings),
            Work::Hologram(project) => plan_project(project, &self.settings),
        }
    }

    /// The file that it makes.
    pub fn target(&self) -> &Path {
        match &self.work {
            Work::Propagation(propagation) => &propagation.target,
            Work::Hologram(project) => &project.output.path,
        }
    }

    /// Runs it; its file stays. Its events are kept if it is to have a timeline, up to
    /// [`EventSink::LONGEST_QUEUE`] of them.
    pub fn run(&self, cancel: &Cancel, timeline: bool) -> Result<Run, RunError> {
        let (sink, events) = EventSink::channel(|| {});
        // Else nobody listens: events are dropped as they are sent.
        let events = timeline.then_some(events);
        let started = Instant::now();
        let job = match &self.work {
            Work::Propagation(propagation) => propagate(propagation, &self.settings, (0, 1), &sink, cancel)?,
            Work::Hologram(project) => run_project(project, &self.settings, &sink, cancel)?.jobs.remove(0),
        };
        let seconds = started.elapsed().as_secs_f64();
        let done = |event| match event {
            Event::Chunk(chunk) if chunk.kind != Kind::Wait => Some(chunk),
            _ => None,
        };
        let timeline = events.iter().flat_map(|events| events.try_iter().filter_map(done)).collect();
        Ok(Run { seconds, job, timeline })
    }
}

/// A method's name, with that of its scratch where that is not the usual one.
fn name(method: Method, scratch: Option<ScratchPrecision>) -> String {
    scratch.map_or_else(|| method.to_string(), |scratch| format!("{method} {scratch}"))
}

/// Bytes that a plan puts on its drives beside what is there.
pub fn new_bytes(plan: &Plan) -> u64 {
    (0..plan.drives.len()).map(|drive| plan.new_bytes(drive)).map(|(scratch, output)| scratch + output).sum()
}

/// Bytes read and written on drives by each pass of a plan.
pub fn pass_bytes(plan: &Plan) -> Vec<[u64; 2]> {
    let sum = |sum: [u64; 2], bytes: [u64; 2]| [sum[0] + bytes[0], sum[1] + bytes[1]];
    let pass = |pass| plan.drive_bytes(pass).into_values().fold([0; 2], sum);
    plan.passes.iter().map(pass).collect()
}
