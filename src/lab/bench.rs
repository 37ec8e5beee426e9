//! Runs stages one after another in one temporary folder.

use std::cell::Cell;
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
use super::{Speed, Step, Tell, Told, targets};
use crate::engine::{Cancel, EngineError};
use crate::machine::{Cache, DriveFigures, Figures, MEASURE_BYTES};
use crate::optics::Bytes;
use crate::project::Bypass;
use crate::run::{RunError, check_folder, default_threads};
use crate::storage::{Rates, free_space};

/// Rows that are compared where planes are.
const ROWS: usize = 256;

/// Numbers of buffers, and parts of the largest chunk, that are tried out.
const BUFFERS: [usize; 3] = [2, 3, 4];
const PARTS: [usize; 2] = [2, 4];

/// Whose number of buffers is tried out before the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tune {
    /// Nobody's.
    None,
    /// The baseline's.
    Baseline,
    /// Everybody's, and then the chunk.
    All,
}

impl Tune {
    /// The most runs that trying out takes, of so many ways.
    const fn most(self, ways: usize) -> usize {
        match self {
            Self::None => 0,
            Self::Baseline => BUFFERS.len(),
            Self::All => ways * (BUFFERS.len() + PARTS.len()),
        }
    }
}

/// What is to be run and compared.
#[expect(clippy::struct_excessive_bools, reason = "each is a choice by itself")]
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
    /// Whose number of buffers is tried out first.
    pub tune: Tune,
    /// Whether the planes of the first round are compared with the baseline's.
    pub verify: bool,
    /// Whether it is kept what each run did when.
    pub timelines: bool,
    /// What drives are emulated.
    pub emulated: Option<Rates>,
    /// The baseline in Python.
    pub scipy: Option<Scipy>,
    /// What the reader should know.
    pub notes: Vec<String>,
}

impl Stage {
    /// The most runs that it takes, of so many ways.
    fn runs(&self, ways: usize) -> usize {
        let parts = if self.parts { 3 } else { 1 };
        let rounds = if self.planes { ways } else { ways * parts * self.rounds };
        rounds + self.tune.most(ways)
    }
}

/// What all stages share.
pub struct Bench<'a> {
    /// The folder that was asked for.
    parent: PathBuf,
    /// Computing threads.
    pub threads: usize,
    cancel: &'a Cancel,
    tell: &'a Tell<'a>,
    /// Runs that are done, and how many there will be at most.
    runs: Cell<[usize; 2]>,
    folder: TempDir,
    figures: Option<Figures>,
    drive: Vec<DriveFigures>,
    /// Buffers that suited the baseline best in an earlier stage of its name.
    tuned: Option<usize>,
    started: Instant,
    load_before: Option<f64>,
}

impl<'a> Bench<'a> {
    /// A bench with a temporary folder in `parent`.
    pub fn new(parent: &Path, cancel: &'a Cancel, tell: &'a Tell<'a>) -> Result<Self, RunError> {
        check_folder(parent)?;
        let folder = temporary_folder(parent)?;
        Ok(Self {
            parent: parent.into(),
            threads: default_threads(),
            cancel,
            tell,
            runs: Cell::default(),
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

    /// Checks, before anything large is written, that the largest of `stages` has room, and counts their runs, of
    /// which is then told how many are done. A stage whose baseline
    /// cannot run is an error.
    pub fn check_space(&self, stages: &[Stage]) -> Result<(), RunError> {
        let (mut needed, mut runs) = (0, 0);
        for stage in stages {
            stage.inputs.iter().try_for_each(Input::outline)?;
            let inputs: u64 = stage.inputs.iter().map(Input::bytes).sum();
            let mut most = stage.baseline.as_ref().map(Entry::plan).transpose()?.map_or(0, |p| new_bytes(&p));
            let mut ways = usize::from(stage.baseline.is_some());
            for entry in &stage.entries {
                if let Ok(plan) = plan_of(entry)? {
                    most = most.max(new_bytes(&plan));
                    ways += 1;
                }
            }
            runs += stage.runs(ways);
            // Where planes are compared two outputs are there at the same time.
            let kept = if stage.planes { inputs } else { 0 };
            needed = needed.max(inputs + most + kept);
            stage.inputs.iter().for_each(Input::remove);
        }
        self.runs.set([0, runs]);
        // The planner may still choose otherwise.
        let needed = Bytes(needed + needed / 20).rounded_up();
        match free_space(self.folder()) {
            Ok(free) if free < needed.0 => Err(RunError::Folder {
                path: self.parent.clone(),
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

    /// Measures computing (again, if it is `fresh`) and the drive, so that every plan rests on figures of this
    /// machine.
    pub fn measure_machine(&mut self, fresh: bool) -> Result<(), RunError> {
        (self.tell)(Told::Line("measuring this machine"));
        let cache = Cache::of_user();
        self.figures = Some(cache.figures(self.threads, fresh)?);
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
        (self.tell)(Told::Line(&format!("{}: {}", stage.name, stage.what)));
        for input in &stage.inputs {
            self.check_cancel()?;
            input.fill(self.cancel)?;
        }
        let mut section = Section::new(stage);
        let mut entries = Vec::new();
        let everybody = stage.tune == Tune::All;
        let [before, _] = self.runs.get();
        if let Some(baseline) = &stage.baseline {
            let tuned = self.tune(baseline, stage, &mut section)?;
            entries.push(if everybody { self.tuned_chunk(&tuned, stage, &mut section)? } else { tuned });
        }
        for entry in &stage.entries {
            match plan_of(entry)? {
                Ok(_) if everybody => {
                    let tuned = self.tuned_entry(entry, stage, &mut section)?.0;
                    entries.push(self.tuned_chunk(&tuned, stage, &mut section)?);
                }
                Ok(_) => entries.push(entry.clone()),
                Err(reason) => section.skipped.push(Skipped { name: entry.name.clone(), reason }),
            }
        }
        // Some need not be tried out.
        let [done, most] = self.runs.get();
        let not_tried = stage.tune.most(entries.len()).saturating_sub(done - before);
        self.runs.set([done, most.saturating_sub(not_tried)]);
        if stage.planes {
            self.compare_planes(&entries, stage, &mut section)?;
        } else {
            self.rounds(&entries, stage, &mut section)?;
        }
        stage.inputs.iter().for_each(Input::remove);
        Ok(section)
    }

    /// The baseline with the number of buffers that suits it best.
    fn tune(&mut self, baseline: &Entry, stage: &Stage, section: &mut Section) -> Result<Entry, RunError> {
        if stage.tune == Tune::None {
            return Ok(self.tuned.map_or_else(|| baseline.clone(), |buffers| baseline.with_buffers(buffers)));
        }
        let (entry, buffers) = self.tuned_entry(baseline, stage, section)?;
        self.tuned = Some(buffers);
        Ok(entry)
    }

    /// An entry with the number of buffers that suits it best, and that number.
    fn tuned_entry(
        &self,
        tried: &Entry,
        stage: &Stage,
        section: &mut Section,
    ) -> Result<(Entry, usize), RunError> {
        let mut best = (f64::INFINITY, tried.settings.buffers);
        for buffers in BUFFERS {
            let entry = tried.with_buffers(buffers);
            let Ok(plan) = plan_of(&entry)? else { continue };
            let seconds = self.run_once(&entry, stage, None, false, &mut Series::new(&entry, &plan))?;
            if seconds < best.0 {
                best = (seconds, buffers);
            }
            section.tuning.push(Tuning { name: entry.name.clone(), buffers, chunk: plan.chunk, seconds });
        }
        Ok((tried.with_buffers(best.1), best.1))
    }

    /// An entry with the chunk that suits it best: the largest that fits, a half or a quarter of it.
    fn tuned_chunk(&self, tried: &Entry, stage: &Stage, section: &mut Section) -> Result<Entry, RunError> {
        let Ok(largest) = plan_of(tried)? else { return Ok(tried.clone()) };
        let known = section.tuning.iter().filter(|t| t.name == tried.name && t.buffers == largest.buffers);
        let mut best = (known.map(|tuning| tuning.seconds).fold(f64::INFINITY, f64::min), tried.clone());
        for part in PARTS {
            let mut entry = tried.clone();
            entry.settings.chunk = Some((largest.chunk / part).max(1));
            let Ok(plan) = plan_of(&entry)? else { continue };
            let seconds = self.run_once(&entry, stage, None, false, &mut Series::new(&entry, &plan))?;
            let (name, buffers) = (entry.name.clone(), plan.buffers);
            section.tuning.push(Tuning { name, buffers, chunk: plan.chunk, seconds });
            if seconds >= best.0 {
                break;
            }
            best = (seconds, entry);
        }
        Ok(best.1)
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
            let turn = Some([round + 1, stage.rounds]);
            if stage.parts {
                self.check_cancel()?;
                self.measure_drive()?;
            }
            for (entry, series) in entries.iter().zip(&mut section.series) {
                let timeline = stage.timelines && series.left_out.is_none();
                if stage.verify && round == 0 && series.left_out.is_none() {
                    self.run_and_keep(entry, stage, turn, timeline, series)?;
                    section.agreement.extend(Self::compare(entry, &entries[0], series.error_bound, stage)?);
                } else {
                    self.run_once(entry, stage, turn, timeline, series)?;
                }
            }
            // Only the first round's is compared with.
            let _ = entries.first().map(|first| std::fs::remove_file(reference(first)));
            if let (Some(scipy), Some(report)) = (&stage.scipy, &mut section.scipy) {
                report.run(scipy, &label(turn), self.cancel, self.tell)?;
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
    fn run_once(
        &self,
        entry: &Entry,
        stage: &Stage,
        turn: Option<[usize; 2]>,
        timeline: bool,
        series: &mut Series,
    ) -> Result<f64, RunError> {
        let run = self.run_and_keep(entry, stage, turn, timeline, series);
        // Nothing is there where something was left out.
        let _ = std::fs::remove_file(entry.target());
        Ok(run?.seconds)
    }

    fn run_and_keep(
        &self,
        entry: &Entry,
        stage: &Stage,
        turn: Option<[usize; 2]>,
        timeline: bool,
        series: &mut Series,
    ) -> Result<Run, RunError> {
        self.check_cancel()?;
        let without = entry.left_out().map_or(String::new(), |what| format!(" without {what}"));
        let way = format!("{}{without}, {} buffers", entry.name, entry.settings.buffers);
        let [done, most] = self.runs.get();
        let step = Step {
            stage: format!("{}: {}", stage.name, stage.what),
            turn,
            way,
            done,
            of: most.max(done + 1),
        };
        (self.tell)(Told::Step(&step));
        let run = entry.run(self.cancel, timeline)?;
        series.add(&run);
        self.runs.set([done + 1, most]);
        let (way, label) = (step.way, label(turn));
        (self.tell)(Told::Line(&format!("  {label}: {way}: {:.2} s", run.seconds)));
        Ok(run)
    }

    /// Each entry's plane against the first one's.
    fn compare_planes(
        &self,
        entries: &[Entry],
        stage: &Stage,
        section: &mut Section,
    ) -> Result<(), RunError> {
        for entry in entries {
            let mut series = Series::new(entry, &entry.plan()?);
            self.run_and_keep(entry, stage, Some([1, 1]), false, &mut series)?;
            section.agreement.extend(Self::compare(entry, &entries[0], series.error_bound, stage)?);
            section.series.push(series);
        }
        let _ = entries.first().map(|first| std::fs::remove_file(reference(first)));
        Ok(())
    }

    /// Takes the plane that `entry` made: as the reference if it is the first, else it is compared with that and
    /// removed.
    fn compare(
        entry: &Entry,
        first: &Entry,
        error_bound: f64,
        stage: &Stage,
    ) -> Result<Option<Agreement>, RunError> {
        let reference = reference(first);
        if entry.name == first.name {
            std::fs::rename(entry.target(), &reference).map_err(|error| {
                EngineError::from(crate::storage::StorageError::file("rename it", entry.target(), error))
            })?;
            return Ok(None);
        }
        let difference = difference(entry.target(), &reference, stage.size, ROWS)?;
        // The reference is no better.
        let bound = 2.0 * error_bound;
        let _ = std::fs::remove_file(entry.target());
        let name = entry.name.clone();
        Ok(Some(Agreement { name, difference, bound, agrees: difference <= bound }))
    }

    fn check_cancel(&self) -> Result<(), RunError> {
        if self.cancel.is_cancelled() { Err(EngineError::Cancelled.into()) } else { Ok(()) }
    }

    /// The machine, what computing takes on it, and its drive.
    pub fn machine(&self) -> (MachineReport, Option<Figures>, DriveReport) {
        let drive = DriveReport::of(&self.folder, self.drive.clone());
        (MachineReport::new(self.threads, self.load_before), self.figures.clone(), drive)
    }

    /// Seconds since the bench was made.
    pub fn seconds(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// What all sections of `speed` say.
    pub fn report(self, speed: &Speed, sections: Vec<Section>) -> SpeedReport {
        let (machine, figures, drive) = self.machine();
        SpeedReport {
            machine,
            figures,
            targets: targets::all(&sections, drive.median.as_ref(), speed),
            drive,
            parameters: Parameters {
                size: speed.size,
                memory: speed.memory.0,
                rounds: speed.rounds(),
                slow_rounds: speed.slow_rounds(),
                quick: speed.quick,
                targets: speed.targets.clone(),
                folder: speed.folder.clone(),
                precision: "f32",
            },
            sections,
            seconds: self.seconds(),
        }
    }
}

/// Where the first plane of a stage is kept that others are compared with: beside them.
fn reference(entry: &Entry) -> PathBuf {
    entry.target().with_file_name("reference.npy")
}

/// A new folder in `parent` that goes with what is returned.
pub fn temporary_folder(parent: &Path) -> Result<TempDir, RunError> {
    let unusable = |problem: String| RunError::Folder { path: parent.into(), problem };
    // Its path goes to other programs, too.
    let absolute = std::path::absolute(parent).map_err(|e| unusable(e.to_string()))?;
    tempfile::Builder::new()
        .prefix("gigafringe-lab-")
        .tempdir_in(absolute)
        .map_err(|error| unusable(format!("cannot be written ({error}); choose another")))
}

/// How a run is called: by its round, or that it was tried out.
fn label(turn: Option<[usize; 2]>) -> String {
    turn.map_or_else(|| "tried".into(), |[round, rounds]| format!("{round} of {rounds}"))
}

/// The plan of an entry, or why there is none that fits.
fn plan_of(entry: &Entry) -> Result<Result<crate::engine::Plan, String>, RunError> {
    match entry.plan() {
        Ok(plan) => Ok(Ok(plan)),
        Err(RunError::Plan(reason)) => Ok(Err(reason.to_string())),
        Err(other) => Err(other),
    }
}
