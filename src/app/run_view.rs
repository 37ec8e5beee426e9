//! A run as the window shows it: everything is computed from its events.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::chunk_bins::ChunkBins;
use super::rates::Rates;
use super::timeline::{Bar, Timeline};
use crate::engine::{ChunkEvent, Event, Kind, PassInfo, Preview, Track};

/// Where a run stands.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum RunState {
    /// None was started.
    #[default]
    Idle,
    /// Being checked, before its first event.
    Starting,
    /// Working.
    Running,
    /// Complete, after so many seconds.
    Finished(f64),
    /// Stopped on request; the text says what is left.
    Cancelled(String),
    /// Failed, with the reason.
    Failed(String),
}

/// One pass of a job.
#[derive(Debug, Clone)]
pub struct PassView {
    /// The job it belongs to.
    pub job: usize,
    /// Its index within the job.
    pub pass: usize,
    /// What the engine announced.
    pub info: PassInfo,
    /// Whether it has begun.
    pub started: bool,
    /// Seconds from the run's start to its own.
    pub at: f64,
    /// Seconds it took, once it has ended.
    pub seconds: Option<f64>,
    /// Bytes moved so far.
    pub bytes_done: u64,
    /// Seconds per chunk of each of the run's drives (shorter when the last ones did nothing).
    pub drives: Vec<ChunkBins>,
    /// Seconds per chunk of the processor.
    pub processor: ChunkBins,
}

/// One job of the run.
#[derive(Debug, Clone)]
pub struct JobView {
    /// For example `hologram`.
    pub name: String,
    /// The method, as the command line names it.
    pub method: String,
    /// Seconds from the run's start to the job's.
    offset: f64,
    /// The run's index of each of the job's drives.
    drives: Vec<usize>,
    /// Index of its first pass in [`RunView::passes`].
    first_pass: usize,
    /// Seconds it was expected to take.
    predicted: Option<f64>,
    /// Lines of a chunk.
    pub chunk: usize,
    /// Chunks a stage may hold ahead.
    pub buffers: usize,
    /// Bytes of memory set aside.
    pub memory: u64,
}

/// A drive over the whole run.
#[derive(Debug, Clone, Default)]
pub struct DriveView {
    /// Its folder.
    pub name: String,
    /// Bytes read over time.
    pub read: Rates,
    /// Bytes written over time.
    pub write: Rates,
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Between 0 and 1.
    pub fraction: f64,
    /// Seconds since the start.
    pub elapsed: f64,
    /// Seconds that are likely left, once they can be told.
    pub left: Option<f64>,
}

/// Before this fraction of the bytes has moved, the time left is a guess and not shown.
const FRACTION_TO_TELL: f64 = 0.01;

/// A run as its events have told it so far.
///
/// Memory stays bounded however long the run: chunk events are added to bars and steps at once
/// ([`ChunkBins`], [`Rates`]) and not kept. Times `now` are seconds of any steady clock.
#[derive(Debug, Clone, Default)]
pub struct RunView {
    state: RunState,
    began: f64,
    ended: Option<f64>,
    jobs: Vec<JobView>,
    jobs_total: usize,
    passes: Vec<PassView>,
    current: Option<usize>,
    drives: Vec<DriveView>,
    previews: BTreeMap<usize, Arc<Preview>>,
    timeline: Timeline,
    /// The end of the latest event, in seconds from the run's start.
    latest: f64,
}

impl RunView {
    /// A run that is about to start.
    #[must_use]
    pub fn starting(now: f64) -> Self {
        Self { state: RunState::Starting, began: now, ..Self::default() }
    }

    /// Takes one event in.
    pub fn apply(&mut self, event: Event, now: f64) {
        match event {
            Event::JobStarted {
                name,
                jobs,
                method,
                drives,
                passes,
                predicted,
                chunk,
                buffers,
                memory,
                ..
            } => {
                self.state = RunState::Running;
                self.jobs_total = jobs;
                let drives = self.indices_of(drives);
                let (offset, first_pass) = (self.latest, self.passes.len());
                self.start_passes(passes);
                self.jobs.push(JobView {
                    name,
                    method,
                    offset,
                    drives,
                    first_pass,
                    predicted,
                    chunk,
                    buffers,
                    memory,
                });
            }
            Event::PassStarted { pass, at } => {
                self.reach(at);
                if let Some(index) = self.index_of(pass) {
                    self.passes[index].started = true;
                    self.passes[index].at = self.jobs.last().map_or(0.0, |job| job.offset) + at;
                    self.current = Some(index);
                }
            }
            Event::Chunk(chunk) => self.chunk(&chunk),
            Event::PassFinished { pass, seconds } => {
                if let Some(index) = self.index_of(pass) {
                    let view = &mut self.passes[index];
                    view.seconds = Some(seconds);
                    // Chunk events may be lost when the window is slow; the pass is done all the same.
                    view.bytes_done = view.info.bytes;
                }
            }
            Event::Preview { layer, preview } => {
                if let Some(preview) = preview {
                    self.previews.insert(layer, preview);
                }
            }
            Event::Note { .. } => {}
            Event::Finished { seconds } => self.end(RunState::Finished(seconds), now),
            Event::Cancelled { text } => self.end(RunState::Cancelled(text), now),
            Event::Failed { text } => self.end(RunState::Failed(text), now),
        }
    }

    /// Ends the run in `state`.
    pub fn end(&mut self, state: RunState, now: f64) {
        self.state = state;
        self.ended = Some(now);
    }

    /// Lets the clock of a run that was read from a file end with its last event.
    pub fn end_after_its_events(&mut self) {
        self.began = 0.0;
        self.ended = Some(self.latest);
    }

    /// The run without its pictures, to be kept for its charts.
    #[must_use]
    pub fn without_previews(&self) -> Self {
        Self { previews: BTreeMap::new(), ..self.clone() }
    }

    /// The run's index of each drive of a job; a new one for those not seen before.
    fn indices_of(&mut self, drives: Vec<String>) -> Vec<usize> {
        let index = |name: String| {
            self.drives.iter().position(|drive| drive.name == name).unwrap_or_else(|| {
                self.drives.push(DriveView { name, ..DriveView::default() });
                self.drives.len() - 1
            })
        };
        drives.into_iter().map(index).collect()
    }

    /// Announces the passes of the job that begins.
    fn start_passes(&mut self, passes: Vec<PassInfo>) {
        let job = self.jobs.len();
        self.passes.extend(passes.into_iter().enumerate().map(|(pass, info)| PassView {
            job,
            pass,
            info,
            started: false,
            at: 0.0,
            seconds: None,
            bytes_done: 0,
            drives: Vec::new(),
            processor: ChunkBins::default(),
        }));
        self.current = None;
    }

    /// The index in `passes` of the latest job's pass.
    fn index_of(&self, pass: usize) -> Option<usize> {
        let index = self.jobs.last()?.first_pass + pass;
        (index < self.passes.len()).then_some(index)
    }

    fn reach(&mut self, seconds_of_job: f64) {
        if let Some(job) = self.jobs.last() {
            self.latest = self.latest.max(job.offset + seconds_of_job);
        }
    }

    fn chunk(&mut self, event: &ChunkEvent) {
        let (Some(index), Some(job)) = (self.index_of(event.pass), self.jobs.last()) else { return };
        let offset = job.offset;
        let drive = event.drive.and_then(|d| job.drives.get(d).copied());
        self.reach(event.end);
        if let Some(track) = Track::of(&ChunkEvent { drive, ..event.clone() }) {
            let bar = Bar {
                start: offset + event.start,
                end: offset + event.end.max(event.start),
                pass: index,
                stream: event.stream,
                chunk: event.chunk,
                chunks: 1,
                bytes: event.bytes,
            };
            self.timeline.add(track, event.kind, bar);
        }
        let pass = &mut self.passes[index];
        let seconds = (event.end - event.start).max(0.0);
        match drive {
            None => pass.processor.add(event.chunk, event.kind, seconds),
            Some(drive) => {
                if drive >= pass.drives.len() {
                    pass.drives.resize_with(drive + 1, ChunkBins::default);
                }
                pass.drives[drive].add(event.chunk, event.kind, seconds);
                let view = &mut self.drives[drive];
                match event.kind {
                    Kind::Read => view.read.add(offset + event.start, offset + event.end, event.bytes),
                    Kind::Write => view.write.add(offset + event.start, offset + event.end, event.bytes),
                    Kind::Compute | Kind::Wait => {}
                }
            }
        }
        pass.bytes_done = pass.bytes_done.saturating_add(event.bytes);
    }

    /// Where the run stands.
    #[must_use]
    pub const fn state(&self) -> &RunState {
        &self.state
    }

    /// Whether it is under way.
    #[must_use]
    pub const fn is_active(&self) -> bool {
        matches!(self.state, RunState::Starting | RunState::Running)
    }

    /// The jobs announced so far.
    #[must_use]
    pub fn jobs(&self) -> &[JobView] {
        &self.jobs
    }

    /// The number of jobs of the whole run.
    #[must_use]
    pub const fn jobs_total(&self) -> usize {
        self.jobs_total
    }

    /// The passes announced so far, of all jobs in order.
    #[must_use]
    pub fn passes(&self) -> &[PassView] {
        &self.passes
    }

    /// The pass that runs, or the last that did.
    #[must_use]
    pub fn current(&self) -> Option<usize> {
        self.current.or_else(|| self.passes.iter().rposition(|pass| pass.started))
    }

    /// The pass whose charts tell most: the one that runs, or, after a complete run, the one of the
    /// first job, the hologram, that took the longest. (The last one writes nothing.)
    #[must_use]
    pub fn telling(&self) -> Option<usize> {
        let seconds = |pass: &PassView| pass.seconds.unwrap_or(0.0);
        let finished = matches!(self.state, RunState::Finished(_));
        let hologram = self.passes.iter().enumerate().filter(|(_, pass)| finished && pass.job == 0);
        let longest = hologram.max_by(|(_, one), (_, other)| seconds(one).total_cmp(&seconds(other)));
        longest.map(|(index, _)| index).or_else(|| self.current())
    }

    /// The drives of the run.
    #[must_use]
    pub fn drives(&self) -> &[DriveView] {
        &self.drives
    }

    /// The reconstructions so far, by layer.
    #[must_use]
    pub const fn previews(&self) -> &BTreeMap<usize, Arc<Preview>> {
        &self.previews
    }

    /// What each drive and stream did when.
    #[must_use]
    pub const fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The end of the latest event, in seconds from the run's start.
    #[must_use]
    pub const fn latest(&self) -> f64 {
        self.latest
    }

    /// How far the run is, by bytes moved.
    ///
    /// A job that is not announced yet counts as the latest reconstruction, or, before there is
    /// one, as one of the hologram's propagations: its share of the layers, or three passes if that is more.
    #[must_use]
    pub fn progress(&self, now: f64) -> Progress {
        let elapsed = (self.ended.unwrap_or(now) - self.began).max(0.0);
        if matches!(self.state, RunState::Finished(_)) {
            return Progress { fraction: 1.0, elapsed, left: None };
        }
        let done: f64 = self.passes.iter().map(|p| p.bytes_done.min(p.info.bytes) as f64).sum();
        let announced: f64 = self.passes.iter().map(|p| p.info.bytes as f64).sum();
        let last_job: Vec<_> = self.passes.iter().filter(|p| p.job + 1 == self.jobs.len()).collect();
        let last_bytes: f64 = last_job.iter().map(|p| p.info.bytes as f64).sum();
        let per_job = if self.jobs.len() > 1 {
            last_bytes
        } else {
            // A reconstruction for each layer follows the hologram. Blocks propagate in one pass.
            let share = 1.0 / self.jobs_total.saturating_sub(1).max(1) as f64;
            let blocks = last_job.iter().any(|pass| pass.info.streams.iter().any(|name| name == "blocks"));
            let passes = if blocks { 1.0 } else { 3.0 };
            last_bytes * (passes / last_job.len().max(1) as f64).clamp(share, 1.0)
        };
        let total = announced + per_job * self.jobs_total.saturating_sub(self.jobs.len()) as f64;
        let fraction = if total > 0.0 { (done / total).clamp(0.0, 1.0) } else { 0.0 };
        let left =
            (self.is_active() && fraction >= FRACTION_TO_TELL).then(|| elapsed * (1.0 - fraction) / fraction);
        Progress { fraction, elapsed, left }
    }

    /// A pass's name with its job's: `Hologram, pass 2 of 3: phase 2: columns`.
    #[must_use]
    pub fn pass_name(&self, index: usize) -> String {
        let Some(pass) = self.passes.get(index) else { return String::new() };
        let of = self.passes.iter().filter(|p| p.job == pass.job).count();
        format!(
            "{}, pass {} of {of}: {}",
            capitalised(&self.jobs[pass.job].name),
            pass.pass + 1,
            pass.info.name
        )
    }

    /// Seconds that the job under way was expected to take.
    #[must_use]
    pub fn predicted(&self) -> Option<f64> {
        self.jobs.last()?.predicted
    }

    /// Seconds that the passes of a complete run took, and what was expected of all its jobs.
    #[must_use]
    pub fn compared(&self) -> Option<(f64, f64)> {
        if !matches!(self.state, RunState::Finished(_)) || self.jobs.is_empty() {
            return None;
        }
        let took = self.passes.iter().map(|pass| pass.seconds).sum::<Option<f64>>()?;
        let predicted = self.jobs.iter().map(|job| job.predicted).sum::<Option<f64>>()?;
        Some((took, predicted))
    }

    /// What is being done, in words.
    #[must_use]
    pub fn activity(&self) -> String {
        match &self.state {
            RunState::Idle => "Ready".into(),
            RunState::Starting => "Checking the project, the files and the drives".into(),
            RunState::Running => {
                let job = format!("Job {} of {}", self.jobs.len(), self.jobs_total);
                let name = self.jobs.last().map_or("", |j| j.name.as_str());
                match self.current.map(|i| &self.passes[i]) {
                    Some(pass) => format!("{job}: {name}, {}", pass.info.name),
                    None => format!("{job}: {name}"),
                }
            }
            RunState::Finished(_) => "Finished".into(),
            RunState::Cancelled(_) => "Stopped".into(),
            RunState::Failed(_) => "Failed".into(),
        }
    }
}

/// `text` with a capital first letter.
fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, jobs: usize, drives: &[&str], bytes: &[u64]) -> Event {
        Event::JobStarted {
            name: name.into(),
            job: 0,
            jobs,
            method: "implicit".into(),
            drives: drives.iter().map(|&d| d.into()).collect(),
            passes: bytes
                .iter()
                .enumerate()
                .map(|(i, &bytes)| PassInfo {
                    name: format!("phase {}", i + 1),
                    streams: vec!["even".into(), "odd".into()],
                    chunks: 4,
                    bytes,
                })
                .collect(),
            predicted: Some(2.0),
            chunk: 64,
            buffers: 3,
            memory: 1 << 20,
        }
    }

    fn chunk(pass: usize, drive: Option<usize>, kind: Kind, start: f64, end: f64, bytes: u64) -> Event {
        Event::Chunk(ChunkEvent { pass, stream: 0, chunk: 0, drive, kind, start, end, bytes })
    }

    #[test]
    fn progress_counts_bytes_and_the_time_left_follows() {
        let mut view = RunView::starting(10.0);
        assert!(view.progress(11.0).left.is_none());
        view.apply(job("hologram", 1, &["/a"], &[100, 100]), 10.0);
        view.apply(chunk(0, Some(0), Kind::Read, 0.0, 1.0, 50), 15.0);
        let progress = view.progress(15.0);
        assert!((progress.fraction - 0.25).abs() < 1e-12);
        assert!((progress.elapsed - 5.0).abs() < 1e-12);
        assert!((progress.left.unwrap() - 15.0).abs() < 1e-9);
    }

    #[test]
    fn jobs_not_yet_announced_count_as_one_propagation_each() {
        let mut view = RunView::starting(0.0);
        // Two layers: six passes; then two reconstructions of three passes each.
        view.apply(job("hologram", 3, &["/a"], &[10; 6]), 0.0);
        for pass in 0..6 {
            view.apply(Event::PassFinished { pass, seconds: 1.0 }, 6.0);
        }
        assert!((view.progress(6.0).fraction - 0.5).abs() < 1e-12);
        view.apply(job("reconstruction", 3, &["/a"], &[10; 3]), 6.0);
        assert!((view.progress(6.0).fraction - 0.5).abs() < 1e-12);
    }

    #[test]
    fn what_a_complete_run_took_stands_beside_what_was_expected() {
        let mut view = RunView::starting(0.0);
        for name in ["hologram", "reconstruction"] {
            view.apply(job(name, 2, &["/a"], &[10; 3]), 0.0);
            assert_eq!((view.predicted(), view.compared()), (Some(2.0), None));
            for pass in 0..3 {
                view.apply(Event::PassFinished { pass, seconds: 1.0 }, 1.0);
            }
        }
        view.apply(Event::Finished { seconds: 7.0 }, 7.0);
        assert_eq!(view.compared(), Some((6.0, 4.0)));
    }

    #[test]
    fn a_finished_pass_is_whole_even_when_chunk_events_were_lost() {
        let mut view = RunView::starting(0.0);
        view.apply(job("hologram", 1, &["/a"], &[100, 300]), 0.0);
        view.apply(Event::PassFinished { pass: 0, seconds: 1.0 }, 1.0);
        assert!((view.progress(1.0).fraction - 0.25).abs() < 1e-12);
        // More bytes than announced never count as more than the pass.
        view.apply(chunk(1, Some(0), Kind::Write, 1.0, 2.0, 5000), 2.0);
        assert!((view.progress(2.0).fraction - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_second_jobs_times_follow_the_first_and_drives_are_matched_by_folder() {
        let mut view = RunView::starting(0.0);
        view.apply(job("hologram", 2, &["/a", "/b"], &[100]), 0.0);
        view.apply(chunk(0, Some(1), Kind::Write, 1.0, 2.0, 100), 2.0);
        view.apply(job("reconstruction", 2, &["/b", "/a"], &[100]), 2.0);
        view.apply(chunk(0, Some(0), Kind::Write, 0.5, 1.0, 60), 3.0);
        assert_eq!(view.drives().len(), 2);
        assert_eq!(view.drives()[1].name, "/b");
        assert_eq!(view.drives()[1].write.total(), 160);
        assert_eq!(view.drives()[0].write.total(), 0);
        assert!((view.latest() - 3.0).abs() < 1e-12);
        let last = view.drives()[1].write.steps(10.0).filter(|s| s.rate > 0.0).last().unwrap();
        assert!(last.at > 2.5 && last.at < 3.01, "{last:?}");
    }

    #[test]
    fn seconds_go_to_the_pass_and_the_drive_or_the_processor() {
        let mut view = RunView::starting(0.0);
        view.apply(job("hologram", 1, &["/a", "/b"], &[100, 100]), 0.0);
        view.apply(Event::PassStarted { pass: 1, at: 0.0 }, 0.0);
        view.apply(chunk(1, Some(1), Kind::Read, 0.0, 2.0, 50), 2.0);
        view.apply(chunk(1, None, Kind::Compute, 2.0, 5.0, 0), 5.0);
        assert_eq!(view.current(), Some(1));
        let pass = &view.passes()[1];
        assert!((pass.drives[1].total().read - 2.0).abs() < 1e-12);
        assert!(pass.drives[0].is_empty());
        assert!((pass.processor.total().compute - 3.0).abs() < 1e-12);
        assert!(view.passes()[0].processor.is_empty());
    }

    #[test]
    fn after_a_complete_run_the_holograms_longest_pass_tells_most() {
        let mut view = RunView::starting(0.0);
        let run = |view: &mut RunView, name, seconds: &[f64]| {
            view.apply(job(name, 2, &["/a"], &vec![10; seconds.len()]), 0.0);
            for (pass, &seconds) in seconds.iter().enumerate() {
                view.apply(Event::PassStarted { pass, at: 0.0 }, 0.0);
                view.apply(Event::PassFinished { pass, seconds }, 0.0);
            }
        };
        assert_eq!(view.telling(), None);
        run(&mut view, "hologram", &[1.0, 3.0, 2.0]);
        assert_eq!(view.telling(), Some(2));
        run(&mut view, "reconstruction", &[9.0]);
        assert_eq!(view.telling(), Some(3));
        let mut stopped = view.clone();
        stopped.apply(Event::Cancelled { text: "scratch is gone".into() }, 0.0);
        assert_eq!(stopped.telling(), Some(3));
        view.apply(Event::Finished { seconds: 15.0 }, 0.0);
        assert_eq!(view.telling(), Some(1));
    }

    #[test]
    fn strange_events_are_survived() {
        let mut view = RunView::starting(0.0);
        view.apply(chunk(7, Some(3), Kind::Read, 0.0, 1.0, 5), 0.0);
        view.apply(Event::PassStarted { pass: 9, at: 0.0 }, 0.0);
        view.apply(job("hologram", 1, &[], &[]), 0.0);
        view.apply(chunk(0, Some(3), Kind::Read, 0.0, 1.0, 5), 0.0);
        assert!(view.progress(1.0).fraction.abs() < 1e-12);
        view.apply(Event::Failed { text: "drive /a is full".into() }, 4.0);
        assert_eq!(view.state(), &RunState::Failed("drive /a is full".into()));
        assert!((view.progress(100.0).elapsed - 4.0).abs() < 1e-12);
        assert!(!view.is_active());
    }

    #[test]
    fn words_say_job_and_phase() {
        let mut view = RunView::starting(0.0);
        view.apply(job("hologram", 4, &["/a"], &[1, 1, 1]), 0.0);
        view.apply(Event::PassStarted { pass: 1, at: 0.0 }, 0.0);
        assert_eq!(view.activity(), "Job 1 of 4: hologram, phase 2");
        assert_eq!(view.pass_name(1), "Hologram, pass 2 of 3: phase 2");
    }
}
