//! One pass: reading, computing and writing overlap.
//!
//! Every drive that is read has a reader thread, every drive that is written a writer; one thread
//! hands chunks to the computing pool. A coordinator moves buffers between them and owns all state:
//!
//! ```text
//! free inputs → reader(s) → compute → writer(s) → free outputs
//! ```
//!
//! While chunk k is computed, k+1 is being read and k−1 written, as far as the lane's sets of
//! buffers allow. All streams of a pass are in flight at the same time.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use super::plan::{Lane, Layout};
use super::{Cancel, ChunkEvent, EngineError, Event, EventSink, Kind};
use crate::storage::{AlignedBuffer, StorageError, Store};

/// Computes chunks of a pass, one at a time.
pub trait ChunkKernel: Send {
    /// Computes chunk `chunk` of lane `lane`. `inputs` and `outputs` are in the order of the lane's ports;
    /// a lane computed in place has no `outputs` and leaves its results in `inputs`. Returns early,
    /// with anything in the buffers, when `stop` says so.
    fn compute(
        &mut self,
        lane: usize,
        chunk: usize,
        inputs: &mut [&mut [u8]],
        outputs: &mut [&mut [u8]],
        stop: &Stop,
    );
}

/// Whether a pass should end early.
pub struct Stop {
    cancel: Cancel,
    failed: AtomicBool,
}

impl Stop {
    /// A stop that follows `cancel`.
    #[must_use]
    pub fn new(cancel: &Cancel) -> Self {
        Self { cancel: cancel.clone(), failed: AtomicBool::new(false) }
    }

    /// Whether the user cancelled or a stage failed.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.cancel.is_cancelled() || self.failed.load(Ordering::Relaxed)
    }
}

/// What a pass did on one drive.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct DriveUse {
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Seconds its reader was busy.
    pub read_seconds: f64,
    /// Seconds its writer was busy.
    pub write_seconds: f64,
}

/// What a pass took.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PassUse {
    /// Seconds from its first request to its last.
    pub seconds: f64,
    /// Seconds spent computing.
    pub compute_seconds: f64,
    /// What it did on each drive.
    pub drives: Vec<DriveUse>,
}

/// What a pass needs beside its lanes.
pub struct PassContext<'a> {
    /// Index of the pass within the job, for its events.
    pub pass: usize,
    /// The job's files.
    pub stores: &'a [Arc<dyn Store>],
    /// The drive of each file.
    pub drive_of: &'a [usize],
    /// Number of drives.
    pub drives: usize,
    /// The job's start.
    pub clock: Instant,
    /// Where events go.
    pub sink: &'a EventSink,
    /// The user's request to stop.
    pub cancel: &'a Cancel,
    /// Threads that compute a chunk together.
    pub pool: &'a rayon::ThreadPool,
}

/// A chunk's bytes to or from one file.
struct Transfer {
    lane: usize,
    chunk: usize,
    port: usize,
    file: usize,
    store: Arc<dyn Store>,
    layout: Layout,
    buffer: AlignedBuffer,
}

/// A chunk on its way through the computing stage.
struct Work {
    lane: usize,
    chunk: usize,
    inputs: Vec<AlignedBuffer>,
    outputs: Vec<AlignedBuffer>,
}

/// What a stage tells the coordinator.
enum Done {
    Moved(Kind, Transfer, Moved),
    Computed(Work, f64),
    Failed(EngineError),
}

/// What a request moved, and how long it took.
struct Moved {
    bytes: u64,
    seconds: f64,
}

/// Requests larger than this are cut, so that a slow drive still stops within a second.
const PIECE: usize = 16 << 20;
/// How often the coordinator looks for a request to stop.
const TICK: Duration = Duration::from_millis(20);
/// Waits shorter than this are not worth an event.
const SHORT: f64 = 1e-4;

/// Runs all chunks of all `lanes` through `kernel`; `buffers` are taken and given back.
pub fn run_pass(
    lanes: &[Lane],
    kernel: &mut dyn ChunkKernel,
    buffers: &mut Vec<AlignedBuffer>,
    context: &PassContext<'_>,
) -> Result<PassUse, EngineError> {
    let stop = Stop::new(context.cancel);
    let started = Instant::now();
    let result = std::thread::scope(|scope| {
        let (done, reports) = unbounded();
        let mut readers: Vec<Option<Sender<Transfer>>> = vec![None; context.drives];
        let mut writers = readers.clone();
        let drives = |ports: fn(&Lane) -> &[super::plan::Port]| {
            let mut drives: Vec<_> = lanes.iter().flat_map(ports).map(|p| context.drive_of[p.file]).collect();
            drives.sort_unstable();
            drives.dedup();
            drives
        };
        let threads = |error: std::io::Error| EngineError::Threads(error.to_string());
        for (kind, drives, senders) in [
            (Kind::Read, drives(|l| &l.inputs), &mut readers),
            (Kind::Write, drives(|l| &l.outputs), &mut writers),
        ] {
            for drive in drives {
                let (sender, requests) = unbounded();
                let (done, stop) = (done.clone(), &stop);
                let stage = Stage { kind, drive: Some(drive), context };
                std::thread::Builder::new()
                    .name(format!("{kind:?}-{drive}"))
                    .spawn_scoped(scope, move || {
                        guarded(&done, || stage.transfer(&requests, &done, stop));
                    })
                    .map_err(threads)?;
                senders[drive] = Some(sender);
            }
        }
        let (compute, requests) = unbounded();
        let stage = Stage { kind: Kind::Compute, drive: None, context };
        let stop = &stop;
        // The last sender goes to the last stage: when all stages are gone, the coordinator sees it.
        std::thread::Builder::new()
            .name("compute".into())
            .spawn_scoped(scope, move || {
                guarded(&done, || stage.compute(lanes, kernel, &requests, &done, stop));
            })
            .map_err(threads)?;
        let coordinator = Coordinator {
            lanes: lanes.iter().map(|lane| LaneState::new(lane.input_sets, lane.output_sets)).collect(),
            plan: lanes,
            free: buffers,
            context,
            readers,
            writers,
            compute,
            waiting: VecDeque::new(),
            used: PassUse { drives: vec![DriveUse::default(); context.drives], ..PassUse::default() },
        };
        let result = coordinator.run(&reports, stop);
        if result.is_err() {
            stop.failed.store(true, Ordering::Relaxed);
        }
        result
    });
    Ok(PassUse { seconds: started.elapsed().as_secs_f64(), ..result? })
}

/// How far a lane has come.
struct LaneState {
    next: usize,
    written: usize,
    free_inputs: usize,
    free_outputs: usize,
    /// Chunks of which some ports have been read.
    reading: BTreeMap<usize, Vec<Option<AlignedBuffer>>>,
    /// Ports still being written, by chunk.
    writing: BTreeMap<usize, usize>,
}

impl LaneState {
    const fn new(inputs: usize, outputs: usize) -> Self {
        Self {
            next: 0,
            written: 0,
            free_inputs: inputs,
            free_outputs: outputs,
            reading: BTreeMap::new(),
            writing: BTreeMap::new(),
        }
    }
}

/// Moves buffers between the stages.
struct Coordinator<'a> {
    plan: &'a [Lane],
    lanes: Vec<LaneState>,
    free: &'a mut Vec<AlignedBuffer>,
    context: &'a PassContext<'a>,
    readers: Vec<Option<Sender<Transfer>>>,
    writers: Vec<Option<Sender<Transfer>>>,
    compute: Sender<Work>,
    /// Chunks that are read and wait for output buffers.
    waiting: VecDeque<(usize, usize, Vec<AlignedBuffer>)>,
    used: PassUse,
}

impl Coordinator<'_> {
    /// Runs until every chunk is written.
    fn run(mut self, reports: &Receiver<Done>, stop: &Stop) -> Result<PassUse, EngineError> {
        loop {
            self.issue_reads();
            self.issue_work();
            if self.lanes.iter().zip(self.plan).all(|(state, lane)| state.written == lane.chunks) {
                return Ok(self.used);
            }
            match reports.recv_timeout(TICK) {
                Ok(Done::Failed(error)) => return Err(error),
                Ok(done) => self.accept(done),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(EngineError::Panicked("a stage ended early".into()));
                }
            }
            if stop.is_set() {
                return Err(EngineError::Cancelled);
            }
        }
    }

    /// Asks for the next chunks while there are buffers, lane by lane in turn.
    fn issue_reads(&mut self) {
        loop {
            let mut issued = false;
            for (index, lane) in self.plan.iter().enumerate() {
                let state = &mut self.lanes[index];
                if state.next == lane.chunks || state.free_inputs == 0 {
                    continue;
                }
                let chunk = state.next;
                if lane.inputs.is_empty() {
                    // Nothing to read: the chunk only waits for buffers to go to.
                    if state.free_outputs == 0 || self.waiting.iter().any(|w| w.0 == index) {
                        continue;
                    }
                    self.waiting.push_back((index, chunk, Vec::new()));
                } else {
                    state.free_inputs -= 1;
                    state.reading.insert(chunk, lane.inputs.iter().map(|_| None).collect());
                    for port in 0..lane.inputs.len() {
                        let buffer = self.free.pop().expect("as many buffers as sets");
                        self.send(Kind::Read, index, chunk, port, buffer);
                    }
                }
                self.lanes[index].next += 1;
                issued = true;
            }
            if !issued {
                return;
            }
        }
    }

    /// Hands chunks that are read to the computing stage while there are output buffers.
    fn issue_work(&mut self) {
        for _ in 0..self.waiting.len() {
            let Some((index, chunk, inputs)) = self.waiting.pop_front() else { return };
            let (lane, state) = (&self.plan[index], &mut self.lanes[index]);
            if !lane.in_place && state.free_outputs == 0 {
                self.waiting.push_back((index, chunk, inputs));
                continue;
            }
            let mut outputs = Vec::new();
            if !lane.in_place {
                state.free_outputs -= 1;
                for _ in 0..lane.outputs.len() {
                    outputs.push(self.free.pop().expect("as many buffers as sets"));
                }
            }
            // A stage that is gone has reported why, or is about to be missed.
            let _ = self.compute.send(Work { lane: index, chunk, inputs, outputs });
        }
    }

    fn send(&self, kind: Kind, lane: usize, chunk: usize, port: usize, buffer: AlignedBuffer) {
        let (ports, stages) = match kind {
            Kind::Read => (&self.plan[lane].inputs, &self.readers),
            _ => (&self.plan[lane].outputs, &self.writers),
        };
        let port_of = &ports[port];
        let transfer = Transfer {
            lane,
            chunk,
            port,
            file: port_of.file,
            store: self.context.stores[port_of.file].clone(),
            layout: port_of.layout.clone(),
            buffer,
        };
        if let Some(stage) = &stages[self.context.drive_of[port_of.file]] {
            // A stage that is gone has reported why, or is about to be missed.
            let _ = stage.send(transfer);
        }
    }

    fn accept(&mut self, done: Done) {
        match done {
            Done::Moved(Kind::Read, transfer, moved) => {
                let drive = &mut self.used.drives[self.context.drive_of[transfer.file]];
                drive.read_bytes += moved.bytes;
                drive.read_seconds += moved.seconds;
                let Transfer { lane, chunk, port, buffer, .. } = transfer;
                let state = &mut self.lanes[lane];
                let Some(ports) = state.reading.get_mut(&chunk) else { return };
                ports[port] = Some(buffer);
                if ports.iter().all(Option::is_some) {
                    let inputs = state.reading.remove(&chunk).into_iter().flatten().flatten().collect();
                    self.waiting.push_back((lane, chunk, inputs));
                }
            }
            Done::Computed(work, seconds) => {
                self.used.compute_seconds += seconds;
                let Work { lane, chunk, inputs, outputs } = work;
                let in_place = self.plan[lane].in_place;
                let results = if in_place {
                    inputs
                } else {
                    self.lanes[lane].free_inputs += usize::from(!inputs.is_empty());
                    self.free.extend(inputs);
                    outputs
                };
                if results.is_empty() {
                    self.lanes[lane].free_outputs += usize::from(!in_place);
                    self.lanes[lane].written += 1;
                    return;
                }
                self.lanes[lane].writing.insert(chunk, results.len());
                for (port, buffer) in results.into_iter().enumerate() {
                    self.send(Kind::Write, lane, chunk, port, buffer);
                }
            }
            Done::Moved(_, transfer, moved) => {
                let drive = &mut self.used.drives[self.context.drive_of[transfer.file]];
                drive.written_bytes += moved.bytes;
                drive.write_seconds += moved.seconds;
                let Transfer { lane, chunk, buffer, .. } = transfer;
                self.free.push(buffer);
                let state = &mut self.lanes[lane];
                let Some(left) = state.writing.get_mut(&chunk) else { return };
                *left -= 1;
                if *left == 0 {
                    state.writing.remove(&chunk);
                    state.written += 1;
                    if self.plan[lane].in_place {
                        state.free_inputs += 1;
                    } else {
                        state.free_outputs += 1;
                    }
                }
            }
            Done::Failed(_) => {}
        }
    }
}

/// A thread of a pass.
struct Stage<'a> {
    kind: Kind,
    drive: Option<usize>,
    context: &'a PassContext<'a>,
}

impl Stage<'_> {
    fn now(&self) -> f64 {
        self.context.clock.elapsed().as_secs_f64()
    }

    fn report(&self, kind: Kind, (lane, chunk): (usize, usize), start: f64, end: f64, bytes: u64) {
        self.context.sink.send(Event::Chunk(ChunkEvent {
            pass: self.context.pass,
            stream: lane,
            chunk,
            drive: self.drive,
            kind,
            start,
            end,
            bytes,
        }));
    }

    /// Reports that the stage was idle from `since` until it got `what`, and returns the present.
    fn waited(&self, since: f64, what: (usize, usize)) -> f64 {
        let now = self.now();
        if now - since > SHORT {
            self.report(Kind::Wait, what, since, now, 0);
        }
        now
    }

    /// Serves the requests of one drive in one direction until there are no more.
    fn transfer(&self, requests: &Receiver<Transfer>, done: &Sender<Done>, stop: &Stop) {
        let mut idle = self.now();
        for mut request in requests {
            if stop.is_set() {
                return;
            }
            let what = (request.lane, request.chunk);
            let start = self.waited(idle, what);
            let result = pieces(&mut request, self.kind, stop);
            idle = self.now();
            let report = match result {
                Ok(bytes) => {
                    self.report(self.kind, what, start, idle, bytes);
                    Done::Moved(self.kind, request, Moved { bytes, seconds: idle - start })
                }
                Err(error) => Done::Failed(error.into()),
            };
            if done.send(report).is_err() {
                return;
            }
        }
    }

    /// Computes chunks until there are no more.
    fn compute(
        &self,
        lanes: &[Lane],
        kernel: &mut dyn ChunkKernel,
        requests: &Receiver<Work>,
        done: &Sender<Done>,
        stop: &Stop,
    ) {
        let mut idle = self.now();
        for mut work in requests {
            if stop.is_set() {
                return;
            }
            let what = (work.lane, work.chunk);
            let start = self.waited(idle, what);
            let lane = &lanes[work.lane];
            let mut inputs = trim(&lane.inputs, work.chunk, &mut work.inputs);
            let mut outputs = trim(&lane.outputs, work.chunk, &mut work.outputs);
            self.context.pool.install(|| {
                kernel.compute(work.lane, work.chunk, &mut inputs, &mut outputs, stop);
            });
            idle = self.now();
            self.report(Kind::Compute, what, start, idle, 0);
            if done.send(Done::Computed(work, idle - start)).is_err() {
                return;
            }
        }
    }
}

/// Runs a stage; a panic in it ends the pass with its message.
fn guarded(done: &Sender<Done>, stage: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(stage)) {
        // A coordinator that is gone has its reason already.
        let _ = done.send(Done::Failed(EngineError::Panicked(panic_text(&*panic))));
    }
}

/// The parts of `buffers` that hold chunk `chunk`.
fn trim<'b>(
    ports: &[super::plan::Port],
    chunk: usize,
    buffers: &'b mut [AlignedBuffer],
) -> Vec<&'b mut [u8]> {
    ports.iter().zip(buffers).map(|(port, buffer)| &mut buffer[port.layout.range(chunk)]).collect()
}

/// Moves all bytes of a request, a piece at a time; a request to stop leaves the rest.
fn pieces(request: &mut Transfer, kind: Kind, stop: &Stop) -> Result<u64, StorageError> {
    let mut bytes = 0;
    for segment in request.layout.segments(request.chunk) {
        let mut offset = segment.offset;
        for piece in request.buffer[segment.buffer].chunks_mut(PIECE) {
            if stop.is_set() {
                return Ok(bytes);
            }
            match kind {
                Kind::Read => request.store.read_at(piece, offset)?,
                _ => request.store.write_at(piece, offset)?,
            }
            offset += piece.len() as u64;
            bytes += piece.len() as u64;
        }
    }
    Ok(bytes)
}

/// What a panic said.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
