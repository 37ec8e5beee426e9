//! Runs stages one after another in one temporary folder.

use std::path::{Path, PathBuf};
use std::time::Instant;

use tempfile::TempDir;

use super::inputs::{Input, difference};
use super::report::{
    Agreement, DriveReport, MachineReport, Parameters, Ratio, Section, Skipped, SpeedReport, Tuning, load,
};
use super::runs::{Entry, Run, new_bytes};
use super::scipy::Scipy;
use super::series::Series;
use super::{Speed, targets};
use crate::engine::{Cancel, EngineError};
use crate::machine::{Cache, DriveFigures, Figures, MEASURE_BYTES};
use crate::optics::Bytes;
use crate::project::Bypass;
use crate::run::{RunError, check_folder, default_threads};
use crate::storage::{Rates, free_space};

/// Rows that are compared where planes are.
const ROWS: usize = 256;

/// What is to be run and compared.
pub struct Stage {
    /// For example `hologram`.
    pub name: &'static str,
    /// What is done, in words.
    pub what: String,
    /// Samples along each side.
    pub size: usize,
    /// Bound on each job's memory.
    pub memory: Bytes,
    /// Rounds.
    pub rounds: usize,
    /// Files that are made before and removed after.
    pub inputs: Vec<Input>,
    /// What the others are compared with, if it is one of this program's methods.
    pub baseline: Option<Entry>,
    /// The others.
    pub entries: Vec<Entry>,
    /// Whether every run is repeated without the arithmetic, and without the drives.
    pub parts: bool,
    /// Whether planes are compared instead of times.
    pub planes: bool,
    /// Whether the baseline's number of buffers is tried out first.
    pub tune: bool,
    /// What drives are emulated.
    pub emulated: Option<Rates>,
    /// The baseline in Python.
    pub scipy: Option<Scipy>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

/// What all stages share.
pub struct Bench<'a> {
    /// What was asked for.
    pub speed: &'a Speed,
    /// Computing threads.
    pub threads: usize,
    cancel: &'a Cancel,
    tell: &'a dyn Fn(&str),
    folder: TempDir,
    figures: Option<Figures>,
    drive: Vec<DriveFigures>,
    /// Buffers that suited the baseline best in an earlier stage of its name.
    tuned: Option<usize>,
    started: Instant,
    load_before: Option<f64>,
}

impl<'a> Bench<'a> {
    /// A bench with a temporary folder in `speed.folder`.
    pub fn new(speed: &'a Speed, cancel: &'a Cancel, tell: &'a dyn Fn(&str)) -> Result<Self, RunError> {
        check_folder(&speed.folder)?;
        let unusable = |problem: String| RunError::Folder { path: speed.folder.clone(), problem };
        // Its path goes to another program, too.
        let parent = std::path::absolute(&speed.folder).map_err(|e| unusable(e.to_string()))?;
        let folder = tempfile::Builder::new()
            .prefix("gigafringe-lab-")
            .tempdir_in(parent)
            .map_err(|error| unusable(format!("cannot be written ({error}); choose another")))?;
        Ok(Self {
            speed,
            threads: default_threads(),
            cancel,
            tell,
            folder,
            figures: None,
            drive: Vec::new(),
            tuned: None,
            started: Instant::now(),
            load_before: load(),
        })
    }

    /// The temporary folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A folder in it that is there.
    pub fn sub_folder(&self, name: &str) -> Result<PathBuf, RunError> {
        let path = self.folder().join(name);
        std::fs::create_dir_all(&path).map_err(|error| RunError::Folder {
            path: path.clone(),
            problem: format!("cannot be made ({error}); choose another folder"),
        })?;
        Ok(path)
    }

    /// Checks, before anything large is written, that the largest of `stages` has room. A stage whose baseline
    /// cannot run is an error.
    pub fn check_space(&self, stages: &[Stage]) -> Result<(), RunError> {
        let mut needed = 0;
        for stage in stages {
            stage.inputs.iter().try_for_each(Input::outline)?;
            let inputs: u64 = stage.inputs.iter().map(Input::bytes).sum();
            let mut most = stage.baseline.as_ref().map(Entry::plan).transpose()?.map_or(0, |p| new_bytes(&p));
            for entry in &stage.entries {
                most = most.max(plan_of(entry)?.map_or(0, |plan| new_bytes(&plan)));
            }
            // Where planes are compared two outputs are there at the same time.
            let kept = if stage.planes { inputs } else { 0 };
            needed = needed.max(inputs + most + kept);
            stage.inputs.iter().for_each(Input::remove);
        }
        // The planner may still choose otherwise.
        let needed = Bytes(needed + needed / 20).rounded_up();
        match free_space(self.folder()) {
            Ok(free) if free < needed.0 => Err(RunError::Folder {
                path: self.speed.folder.clone(),
                problem: format!(
                    "{} are free, and this needs {needed}; free some space, give another --folder, or a smaller \
                     --size",
                    Bytes(free)
                ),
            }),
            // Where the system does not tell, the runs will.
            _ => Ok(()),
        }
    }

    /// Measures computing and the drive, so that every plan rests on fresh figures.
    pub fn measure_machine(&mut self) -> Result<(), RunError> {
        (self.tell)("measuring this machine");
        let cache = Cache::of_user();
        self.figures = Some(cache.figures(self.threads, !self.speed.quick)?);
        let figures = self.measure_drive()?;
        cache.remember_drive(self.folder(), figures);
        Ok(())
    }

    fn measure_drive(&mut self) -> Result<DriveFigures, RunError> {
        let cancel = self.cancel;
        let figures = DriveFigures::measure(self.folder.path(), MEASURE_BYTES, &|| cancel.is_cancelled())?;
        self.drive.push(figures);
        Ok(figures)
    }

    /// Runs a stage.
    pub fn run(&mut self, stage: &Stage) -> Result<Section, RunError> {
        (self.tell)(&format!("{}: {}", stage.name, stage.what));
        for input in &stage.inputs {
            self.check_cancel()?;
            input.fill(self.cancel)?;
        }
        let mut section = Section::new(stage);
        let mut entries = Vec::new();
        if let Some(baseline) = &stage.baseline {
            entries.push(self.tune(baseline, stage.tune, &mut section)?);
        }
        for entry in &stage.entries {
            match plan_of(entry)? {
                Ok(_) => entries.push(entry.clone()),
                Err(reason) => section.skipped.push(Skipped { name: entry.name.clone(), reason }),
            }
        }
        if stage.planes {
            self.compare_planes(&entries, stage, &mut section)?;
        } else {
            self.rounds(&entries, stage, &mut section)?;
        }
        stage.inputs.iter().for_each(Input::remove);
        Ok(section)
    }

    /// The baseline with the number of buffers that suits it best.
    fn tune(&mut self, baseline: &Entry, tune: bool, section: &mut Section) -> Result<Entry, RunError> {
        if !tune {
            return Ok(self.tuned.map_or_else(|| baseline.clone(), |buffers| baseline.with_buffers(buffers)));
        }
        let mut best = (f64::INFINITY, baseline.settings.buffers);
        for buffers in [2, 3, 4] {
            let entry = baseline.with_buffers(buffers);
            let Ok(plan) = plan_of(&entry)? else { continue };
            let seconds = self.run_once(&entry, "tried", &mut Series::new(&entry, &plan))?;
            if seconds < best.0 {
                best = (seconds, buffers);
            }
            section.tuning.push(Tuning { name: entry.name.clone(), buffers, chunk: plan.chunk, seconds });
        }
        self.tuned = Some(best.1);
        Ok(baseline.with_buffers(best.1))
    }

    /// All entries in turn, again and again.
    fn rounds(&mut self, entries: &[Entry], stage: &Stage, section: &mut Section) -> Result<(), RunError> {
        let parts = |entry: &Entry| {
            let mut all = vec![entry.clone()];
            if stage.parts {
                all.extend([Bypass::Compute, Bypass::Io].map(|bypass| entry.without(bypass)));
            }
            all
        };
        let entries: Vec<_> = entries.iter().flat_map(parts).collect();
        for entry in &entries {
            section.series.push(Series::new(entry, &entry.plan()?));
        }
        for round in 0..stage.rounds {
            let label = format!("{} of {}", round + 1, stage.rounds);
            if stage.parts {
                self.check_cancel()?;
                self.measure_drive()?;
            }
            for (entry, series) in entries.iter().zip(&mut section.series) {
                self.run_once(entry, &label, series)?;
            }
            if let (Some(scipy), Some(report)) = (&stage.scipy, &mut section.scipy) {
                report.run(scipy, &label, self.cancel, self.tell)?;
            }
        }
        let baseline = match (&section.scipy, &stage.baseline) {
            (Some(scipy), _) => Some(("scipy".to_owned(), scipy.seconds.clone())),
            (None, Some(_)) => section.series.first().map(|s| (s.name.clone(), s.seconds.clone())),
            (None, None) => None,
        };
        if let Some((name, seconds)) = baseline {
            let others = section.series.iter().filter(|s| s.left_out.is_none() && s.name != name);
            section.ratios = others.filter_map(|s| Ratio::of(&name, &seconds, s)).collect();
        }
        Ok(())
    }

    /// Runs an entry, and removes what it made.
    fn run_once(&self, entry: &Entry, label: &str, series: &mut Series) -> Result<f64, RunError> {
        let run = self.run_and_keep(entry, label, series);
        // Nothing is there where something was left out.
        let _ = std::fs::remove_file(entry.target());
        Ok(run?.seconds)
    }

    fn run_and_keep(&self, entry: &Entry, label: &str, series: &mut Series) -> Result<Run, RunError> {
        self.check_cancel()?;
        let run = entry.run(self.cancel)?;
        series.add(&run);
        let without = entry.left_out().map_or(String::new(), |what| format!(" without {what}"));
        let (name, buffers) = (&entry.name, entry.settings.buffers);
        (self.tell)(&format!("  {label}: {name}{without}, {buffers} buffers: {:.2} s", run.seconds));
        Ok(run)
    }

    /// Each entry's plane against the first one's.
    fn compare_planes(
        &self,
        entries: &[Entry],
        stage: &Stage,
        section: &mut Section,
    ) -> Result<(), RunError> {
        let reference = self.folder().join("reference.npy");
        let mut reference_bound = 0.0;
        for (index, entry) in entries.iter().enumerate() {
            let mut series = Series::new(entry, &entry.plan()?);
            self.run_and_keep(entry, "1 of 1", &mut series)?;
            if index == 0 {
                reference_bound = series.error_bound;
                std::fs::rename(entry.target(), &reference).map_err(|error| {
                    EngineError::from(crate::storage::StorageError::file("rename it", entry.target(), error))
                })?;
            } else {
                let difference = difference(entry.target(), &reference, stage.size, ROWS)?;
                let bound = series.error_bound + reference_bound;
                let agrees = difference <= bound;
                section.agreement.push(Agreement { name: entry.name.clone(), difference, bound, agrees });
                let _ = std::fs::remove_file(entry.target());
            }
            section.series.push(series);
        }
        let _ = std::fs::remove_file(&reference);
        Ok(())
    }

    fn check_cancel(&self) -> Result<(), RunError> {
        if self.cancel.is_cancelled() { Err(EngineError::Cancelled.into()) } else { Ok(()) }
    }

    /// What all sections say.
    pub fn report(self, sections: Vec<Section>) -> SpeedReport {
        let drive = DriveReport::of(&self.folder, self.drive);
        SpeedReport {
            machine: MachineReport::new(self.threads, self.load_before),
            figures: self.figures,
            targets: targets::all(&sections, drive.median.as_ref(), self.speed),
            drive,
            parameters: Parameters {
                size: self.speed.size,
                memory: self.speed.memory.0,
                rounds: self.speed.rounds(),
                slow_rounds: self.speed.slow_rounds(),
                quick: self.speed.quick,
                targets: self.speed.targets.clone(),
                folder: self.speed.folder.clone(),
                precision: "f32",
            },
            sections,
            seconds: self.started.elapsed().as_secs_f64(),
        }
    }
}

/// The plan of an entry, or why there is none that fits.
fn plan_of(entry: &Entry) -> Result<Result<crate::engine::Plan, String>, RunError> {
    match entry.plan() {
        Ok(plan) => Ok(Ok(plan)),
        Err(RunError::Plan(reason)) => Ok(Err(reason.to_string())),
        Err(other) => Err(other),
    }
}
