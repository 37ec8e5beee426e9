//! A stand-in for the engine: it sends what a real run sends, and computes nothing.

// Not every test uses all of it.
#![allow(dead_code, reason = "each file of tests uses a part of it")]

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gigafringe::app::{Ask, Backend};
use gigafringe::engine::{Cancel, ChunkEvent, Event, EventSink, Kind, Lines, PassInfo, Preview};
use gigafringe::machine::{Bottleneck, DriveFigures, MachineError, MeasureStep, Place, Together};
use gigafringe::methods::PlanError;
use gigafringe::optics::Bytes;
use gigafringe::planner::ChoiceRow;
use gigafringe::project::{Method, Project};
use gigafringe::run::{DriveEstimate, Estimate, RunError, RunHandle};
use gigafringe::storage::{DetectedDrive, DeviceId};

/// How the fake run ends.
#[derive(Debug, Clone)]
pub enum Ending {
    /// Completely.
    Finish,
    /// In the second pass, with this message.
    Fail(String),
    /// In the second pass, by a panic of its thread.
    Panic,
}

/// The stand-in; every answer can be made slow.
pub struct FakeEngine {
    /// Time that checking, estimating and looking for drives take.
    pub delay: Duration,
    /// Time one chunk takes.
    pub pace: Duration,
    /// Seconds that a chunk is said to take, where it is not what it really takes.
    pub told: Option<f64>,
    /// Chunks of a pass's stream.
    pub chunks: usize,
    /// How runs end.
    pub ending: Ending,
    /// How the file dialog answers.
    pub picked: Option<Vec<PathBuf>>,
    /// Runs started so far.
    pub runs: Arc<AtomicUsize>,
    /// Estimates asked for so far.
    pub estimates: Arc<AtomicUsize>,
    /// Whether the machine was measured.
    pub measured: AtomicBool,
    /// What is wrong with measuring.
    pub unmeasurable: bool,
    /// The user's file of presets.
    pub presets: Option<PathBuf>,
    /// Folders whose drives were measured, with what was measured.
    pub figures: Mutex<Vec<(PathBuf, DriveFigures)>>,
    /// Which drives share a bottleneck, as far as it was measured; outlives a window.
    pub bottlenecks: Arc<Mutex<Vec<Bottleneck>>>,
    /// The devices there are.
    pub drives: Vec<&'static str>,
    /// Passes of the hologram, where they are not three for a layer.
    pub passes: Option<usize>,
}

impl Default for FakeEngine {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            pace: Duration::from_millis(1),
            told: None,
            chunks: 4,
            ending: Ending::Finish,
            picked: None,
            runs: Arc::default(),
            estimates: Arc::default(),
            measured: AtomicBool::default(),
            unmeasurable: false,
            presets: None,
            figures: Mutex::default(),
            bottlenecks: Arc::default(),
            drives: vec!["nvme0n1", "sda", "sdb"],
            passes: None,
        }
    }
}

impl Backend for FakeEngine {
    fn start(
        &self,
        project: &Project,
        force: bool,
        wake: Box<dyn Fn() + Send + Sync>,
    ) -> Result<RunHandle, RunError> {
        std::thread::sleep(self.delay);
        project.validate()?;
        if project.output.path.exists() && !force {
            return Err(RunError::Exists { path: project.output.path.clone() });
        }
        self.runs.fetch_add(1, Ordering::Relaxed);
        let (sink, events) = EventSink::channel(wake);
        let cancel = Cancel::default();
        let run = Run {
            project: project.clone(),
            pace: self.pace,
            clock: Clock { begun: Instant::now(), told: self.told, now: Cell::default() },
            chunks: self.chunks,
            passes: self.passes,
            ending: self.ending.clone(),
            cancel: cancel.clone(),
            sink,
        };
        let thread = std::thread::Builder::new().name("fake engine".into()).spawn(move || run.all());
        Ok(RunHandle::new(events, cancel, thread.expect("a thread")))
    }

    fn estimate(&self, project: &Project) -> Result<Estimate, RunError> {
        self.estimates.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(self.delay);
        project.validate()?;
        if project.method == Method::Blocks {
            return Err(PlanError::Streams { streams: 7 }.into());
        }
        if let Some(chunk) = project.chunk.filter(|&chunk| chunk > LARGEST) {
            let (needed, memory) = (Bytes(2 * project.memory.0), project.memory);
            let error = PlanError::ChunkTooLarge {
                chunk,
                buffers: project.buffers,
                needed,
                memory,
                largest: LARGEST,
            };
            return Err(error.into());
        }
        let plane = project.grid.samples() * project.precision.sample_bytes() as u64;
        let passes = 3 * project.enabled_layers().count() as u64;
        let paths: Vec<_> = project.drives.iter().map(|d| &d.path).collect();
        let pairs =
            paths.iter().enumerate().flat_map(|(i, one)| paths[i + 1..].iter().map(move |o| (one, o)));
        Ok(Estimate {
            // The fake drives' folders are on one drive when one holds the other.
            notes: pairs
                .filter(|(one, other)| one != other && other.starts_with(one))
                .map(|(one, other)| {
                    format!("{} and {} are on one device, says the engine", one.display(), other.display())
                })
                .collect(),
            method: choices(project, plane).into_iter().find(|row| row.chosen).unwrap().method.to_string(),
            memory: project
                .chunk
                .map_or(project.memory.0 / 2, |chunk| (chunk * project.buffers) as u64 * LINE),
            chunk: project.chunk.unwrap_or(128),
            scratch_bytes: 4 * plane,
            output_bytes: plane,
            bytes_moved: 10 * plane * passes / 3,
            // The fastest chunk has 256 lines.
            seconds: Some(project.chunk.map_or(2.0, |chunk| 1.9 + (chunk as f64 / 256.0).log2().abs())),
            drives: drives(project, plane),
            measured: self.measured.load(Ordering::Relaxed),
            choices: choices(project, plane),
            ..Estimate::default()
        })
    }

    fn measure(&self, project: &Project) -> Result<Estimate, RunError> {
        std::thread::sleep(self.delay);
        if self.unmeasurable {
            return Err(RunError::Folder { path: "/fake/disk".into(), problem: "is away".into() });
        }
        self.measured.store(true, Ordering::Relaxed);
        self.estimate(project)
    }

    fn detect_drives(&self) -> Vec<DetectedDrive> {
        std::thread::sleep(self.delay);
        let drive = |device: &str, kind: &str, mount: &str, free: u64| DetectedDrive {
            device: device.into(),
            kind: kind.into(),
            bus: if device.starts_with("nvme") { "NVMe" } else { "SATA" }.into(),
            file_system: "ext4".into(),
            mounts: vec![mount.into()],
            total: 2 * free,
            free,
        };
        let all = vec![
            drive("nvme0n1", "SSD", "/fake/fast", 800 << 30),
            drive("sda", "SSD", "/fake/sata", 400 << 30),
            drive("sdb", "HDD", "/fake/disk", 3 << 40),
        ];
        all.into_iter().filter(|drive| self.drives.contains(&&*drive.device)).collect()
    }

    fn places(&self, drives: &[DetectedDrive], folders: &[PathBuf]) -> Vec<Place> {
        std::thread::sleep(self.delay);
        let mounts = drives.iter().map(|drive| drive.mounts[0].clone());
        let mut all: Vec<PathBuf> = folders.to_vec();
        // A drive is offered by its mount where nothing on it is used.
        all.extend(mounts.filter(|mount| !folders.iter().any(|folder| folder.starts_with(mount))));
        let figures = self.figures.lock().unwrap();
        let place = |folder: PathBuf| {
            let drive = drives.iter().find(|drive| folder.starts_with(&drive.mounts[0]));
            let of_drive = |other: &Path| drive.is_some_and(|drive| other.starts_with(&drive.mounts[0]));
            Place {
                device: drive.map(|drive| DeviceId::of_names(&[&drive.device])),
                kind: drive.map_or("unknown".into(), |drive| drive.kind.clone()),
                bus: drive.map_or("unknown".into(), |drive| drive.bus.clone()),
                file_system: "ext4".into(),
                volume: drive.map(|drive| drive.device.clone()),
                free: drive.map(|drive| drive.free),
                direct: drive.map(|drive| drive.device != "sdb"),
                figures: figures.iter().find(|(other, _)| of_drive(other)).map(|(_, figures)| *figures),
                folder,
            }
        };
        all.into_iter().map(place).collect()
    }

    /// The solid-state drives share a bottleneck.
    fn measure_drives(
        &self,
        folders: &[PathBuf],
        bytes: u64,
        cancel: &Cancel,
        tell: &dyn Fn(MeasureStep),
    ) -> Result<Together, RunError> {
        assert_eq!(bytes, 1 << 30, "what the window says it measures with");
        let steps = MeasureStep::most(folders.len());
        for (done, folder) in folders.iter().enumerate() {
            tell(MeasureStep { done, steps, now: format!("{} alone", folder.display()) });
            std::thread::sleep(self.delay);
            if cancel.is_cancelled() {
                return Err(MachineError::Cancelled.into());
            }
        }
        if self.unmeasurable {
            return Err(RunError::Folder { path: "/fake/disk".into(), problem: "is away".into() });
        }
        let alone: Vec<_> = folders.iter().map(|folder| figures_of(folder)).collect();
        self.figures.lock().unwrap().extend(folders.iter().cloned().zip(alone.iter().copied()));
        let solid = |&i: &usize| !folders[i].starts_with("/fake/disk");
        let shared: Vec<_> = (0..folders.len()).filter(solid).collect();
        let together = alone.iter().map(|figures| figures.read / 2.0).collect();
        let shared = if shared.len() > 1 { vec![shared] } else { Vec::new() };
        let parts = vec![0.52; shared.len()];
        let measured = Together { alone, together, shared, parts };
        *self.bottlenecks.lock().unwrap() = measured.bottlenecks(folders);
        Ok(measured)
    }

    fn bottlenecks(&self, _: &[Place]) -> Vec<Bottleneck> {
        self.bottlenecks.lock().unwrap().clone()
    }

    fn presets_file(&self) -> Option<PathBuf> {
        self.presets.clone()
    }

    fn ask(&self, _: Ask) -> Option<Vec<PathBuf>> {
        std::thread::sleep(self.delay);
        self.picked.clone()
    }
}

/// The most lines of a chunk that fit in any memory here, and the bytes a line of a chunk takes.
pub const LARGEST: usize = 1024;
const LINE: u64 = 256 << 10;

/// A quarter of the scratch on each role's folder; on the disk there is little room.
fn drives(project: &Project, plane: u64) -> Vec<DriveEstimate> {
    let mut drives: Vec<DriveEstimate> = Vec::new();
    for drive in &project.drives {
        let path = drive.path.display().to_string();
        let free = if path == "/fake/disk" { plane / 2 } else { 400 << 30 };
        match drives.iter_mut().find(|other| other.path == path) {
            Some(other) => other.scratch_bytes += plane,
            None => drives.push(DriveEstimate {
                path,
                scratch_bytes: plane,
                output_bytes: 0,
                free_bytes: Some(free),
            }),
        }
    }
    drives
}

/// Fast and full duplex, slow and half duplex, or slower still.
fn figures_of(folder: &Path) -> DriveFigures {
    let (rate, both) = match folder {
        path if path.starts_with("/fake/fast") => (2e9, 1.9e9),
        path if path.starts_with("/fake/sata") => (500e6, 255e6),
        _ => (150e6, 60e6),
    };
    DriveFigures {
        read: rate,
        write: rate,
        read_while_writing: both,
        write_while_reading: both,
        direct: true,
    }
}

/// Every method; padded is the fastest, and no blocks fit.
fn choices(project: &Project, plane: u64) -> Vec<ChoiceRow> {
    let wanted = if project.method == Method::Auto { Method::Padded } else { project.method };
    let row = |method, seconds: f64, planes: u64| ChoiceRow {
        method,
        chosen: method == wanted,
        seconds: Some(seconds),
        bytes_moved: Some(planes * plane),
        scratch_bytes: Some(4 * plane),
        memory: Some(project.memory.0 / 2),
        error_bound: Some(2e-6),
        drives: vec![("/fake/fast".into(), planes * plane / 2, planes * plane / 2)],
        remark: "2 streams, padded to 4608 × 4608".into(),
    };
    let refused = ChoiceRow {
        method: Method::Blocks,
        chosen: wanted == Method::Blocks,
        remark: NO_BLOCKS.into(),
        ..ChoiceRow::default()
    };
    vec![row(Method::Padded, 2.0, 6), row(Method::Streamed, 2.5, 4), row(Method::Implicit, 3.0, 10), refused]
}

/// Why the fake engine cannot work in blocks.
pub const NO_BLOCKS: &str = "memory: 1GiB is too little; the smallest that works here is 3.20GiB (chunks of 1 \
                             lines, 2 buffers)";

/// The time of a run, or what is told of it.
struct Clock {
    begun: Instant,
    told: Option<f64>,
    now: Cell<f64>,
}

impl Clock {
    /// Seconds since the run began.
    fn now(&self) -> f64 {
        if self.told.is_some() { self.now.get() } else { self.begun.elapsed().as_secs_f64() }
    }

    /// Lets a chunk's time pass.
    fn pass(&self, pace: Duration) {
        std::thread::sleep(pace);
        self.now.set(self.now.get() + self.told.unwrap_or_default());
    }
}

struct Run {
    project: Project,
    pace: Duration,
    clock: Clock,
    chunks: usize,
    passes: Option<usize>,
    ending: Ending,
    cancel: Cancel,
    sink: EventSink,
}

/// Bytes that one chunk of the fake run moves, each way.
const CHUNK_BYTES: u64 = 4 << 20;

impl Run {
    fn all(&self) {
        let enabled: Vec<_> = self.project.enabled_layers().collect();
        let layers = enabled.len();
        let previews = if self.project.output.previews { layers } else { 0 };
        self.sink.send(Event::Note { text: "/fake/disk: no direct I/O, buffered instead".into() });
        for job in 0..=previews {
            let (name, passes) = match job {
                0 => ("hologram".into(), self.passes.unwrap_or(3 * layers)),
                _ => (format!("reconstruction at {}", enabled[job - 1].1.distance), 3),
            };
            if !self.job(name, job, previews + 1, passes) {
                return;
            }
            if job > 0 {
                let layer = enabled[job - 1].0;
                let preview = Some(Arc::new(picture(&self.project, layer + 1)));
                self.sink.send(Event::Preview { layer, preview });
            }
        }
        self.sink.send(Event::Finished { seconds: self.clock.now() });
    }

    /// The lines that chunk `chunk` of the last phase makes.
    fn lines(&self, chunk: usize, result: bool) -> Lines {
        let grid = self.project.grid;
        let scale = Lines::scale_of(grid.width, grid.height);
        let (columns, rows) = (grid.width.div_ceil(scale), grid.height.div_ceil(scale));
        let of = |chunk: usize| chunk * rows / self.chunks;
        let rows = of(chunk)..of(chunk + 1);
        let made = (rows.end * scale).min(grid.height);
        Lines {
            width: grid.width,
            height: grid.height,
            scale,
            result,
            columns: 0..columns,
            mean: rows
                .clone()
                .flat_map(|y| (0..columns).map(move |x| ((x * 7 + y * 13) % 29) as f32))
                .collect(),
            rows,
            samples: made as u64 * grid.width as u64,
            whole_lines: true,
        }
    }

    /// Whether the run goes on.
    fn job(&self, name: String, job: usize, jobs: usize, passes: usize) -> bool {
        let mut drives: Vec<String> = Vec::new();
        for drive in &self.project.drives {
            let path = drive.path.display().to_string();
            if !drives.contains(&path) {
                drives.push(path);
            }
        }
        if drives.is_empty() {
            drives.push("/fake/output".into());
        }
        let n = drives.len();
        let info = |pass: usize| PassInfo {
            name: ["phase 1: rows", "phase 2: columns", "phase 3: rows"][pass % 3].into(),
            streams: if pass % 3 == 1 { vec!["even".into(), "odd".into()] } else { vec!["plane".into()] },
            chunks: self.chunks,
            bytes: 2 * CHUNK_BYTES * self.chunks as u64,
        };
        self.sink.send(Event::JobStarted {
            name,
            job,
            jobs,
            method: "implicit".into(),
            drives,
            passes: (0..passes).map(info).collect(),
            predicted: Some(2.0),
            chunk: 128,
            buffers: self.project.buffers,
            memory: self.project.memory.0 / 2,
        });
        let started = self.clock.now();
        let at = || self.clock.now() - started;
        for pass in 0..passes {
            let began = at();
            self.sink.send(Event::PassStarted { pass, at: began });
            for chunk in 0..self.chunks {
                if pass == 1 {
                    match &self.ending {
                        Ending::Finish => {}
                        Ending::Fail(text) => {
                            self.sink.send(Event::Failed { text: text.clone() });
                            return false;
                        }
                        Ending::Panic => panic!("the fake engine panics on purpose"),
                    }
                }
                if self.cancel.is_cancelled() {
                    self.sink.send(Event::Cancelled {
                        text: "stopped on request; scratch files were removed".into(),
                    });
                    return false;
                }
                let start = at();
                self.clock.pass(self.pace);
                let step = (at() - start).max(1e-4);
                let stream = if pass % 3 == 1 { chunk % 2 } else { 0 };
                let wobble = 1.0 + 0.3 * (chunk as f64 * 1.7 + pass as f64).sin();
                let (read, write) = ((2 * pass + stream) % n, (2 * pass + stream + 1) % n);
                for (drive, kind, from, to, bytes) in [
                    (Some(read), Kind::Read, 0.0, 0.45 * wobble, CHUNK_BYTES),
                    (None, Kind::Compute, 0.3, 0.3 + 0.5 * wobble, 0),
                    (Some(write), Kind::Write, 0.5, 0.5 + 0.38 * wobble, CHUNK_BYTES),
                    (Some(write), Kind::Wait, 0.0, 0.25, 0),
                ] {
                    self.sink.send(Event::Chunk(ChunkEvent {
                        pass,
                        stream,
                        chunk,
                        drive,
                        kind,
                        start: start + from * step,
                        end: start + to * step,
                        bytes,
                    }));
                }
                if pass % 3 == 2 {
                    self.sink.send(Event::Lines {
                        pass,
                        lines: Some(Arc::new(self.lines(chunk, pass + 1 == passes))),
                    });
                }
            }
            self.sink.send(Event::PassFinished { pass, seconds: at() - began });
        }
        true
    }
}

/// A ring with speckle, of a size that differs from layer to layer, on the project's plane.
fn picture(project: &Project, layer: usize) -> Preview {
    let grid = project.grid;
    let scale = grid.width.max(grid.height).div_ceil(512);
    let (width, height) = (grid.width.div_ceil(scale), grid.height.div_ceil(scale));
    let mean = (0..width * height)
        .map(|i| {
            let x = (i % width) as f32 - width as f32 / 2.0;
            let y = (i / width) as f32 - height as f32 / 2.0;
            let radius = x.hypot(y);
            let ring = (-((radius - 60.0 * layer as f32) / 14.0).powi(2)).exp();
            (ring + 0.04) / layer as f32
        })
        .collect();
    let distance = project.layers[layer - 1].distance.in_metres();
    Preview { width, height, scale, distance, mean }
}
