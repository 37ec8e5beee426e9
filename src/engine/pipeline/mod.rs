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

mod coordinator;
mod stage;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use crossbeam_channel::{Sender, unbounded};

use super::{Cancel, EngineError, EventSink, Kind, Lane, Layout, Port};
use crate::project::Bypass;
use crate::storage::{AlignedBuffer, Store};
use coordinator::Coordinator;
pub use stage::panic_text;
use stage::{Stage, guarded};

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
    /// Whether a chunk is read only when the one before it is written.
    pub serial: bool,
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
    /// What is left out.
    pub bypass: Option<Bypass>,
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
        let drives = |ports: fn(&Lane) -> &[Port]| {
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
        let coordinator = Coordinator::new(lanes, buffers, context, readers, writers, compute);
        let result = coordinator.run(&reports, stop);
        if result.is_err() {
            stop.failed.store(true, Ordering::Relaxed);
        }
        result
    });
    Ok(PassUse { seconds: started.elapsed().as_secs_f64(), ..result? })
}
