//! The stages of a pass: threads that read, compute and write.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crossbeam_channel::{Receiver, Sender};

use super::{ChunkKernel, Done, Moved, PassContext, Stop, Transfer, Work};
use crate::engine::plan::{Lane, Port};
use crate::engine::{ChunkEvent, EngineError, Event, Kind};
use crate::project::Bypass;
use crate::storage::{AlignedBuffer, StorageError, Store};

/// Requests larger than this are cut, so that a slow drive still stops within a second.
const PIECE: usize = 16 << 20;
/// Parts of a request smaller than this are moved several at a time.
const SMALL: usize = 1 << 20;
/// How many small parts a drive is asked for at once.
const SMALL_AT_ONCE: usize = 4;
/// Waits shorter than this are not worth an event.
const SHORT: f64 = 1e-4;

/// A thread of a pass.
pub struct Stage<'a> {
    /// What it does.
    pub kind: Kind,
    /// The drive it serves; none for computing.
    pub drive: Option<usize>,
    /// The pass.
    pub context: &'a PassContext<'a>,
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
    pub fn transfer(&self, requests: &Receiver<Transfer>, done: &Sender<Done>, stop: &Stop) {
        let mut idle = self.now();
        for mut request in requests {
            if stop.is_set() {
                return;
            }
            let what = (request.lane, request.chunk);
            let start = self.waited(idle, what);
            let result = if self.context.bypass == Some(Bypass::Io) {
                Ok(0)
            } else {
                pieces(&mut request, self.kind, stop)
            };
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
    pub fn compute(
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
            if self.context.bypass != Some(Bypass::Compute) {
                self.context.pool.install(|| {
                    kernel.compute(work.lane, work.chunk, &mut inputs, &mut outputs, stop);
                });
            }
            idle = self.now();
            self.report(Kind::Compute, what, start, idle, 0);
            if done.send(Done::Computed(work, idle - start)).is_err() {
                return;
            }
        }
    }
}

/// Runs a stage; a panic in it ends the pass with its message.
pub fn guarded(done: &Sender<Done>, stage: impl FnOnce()) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(stage)) {
        // A coordinator that is gone has its reason already.
        let _ = done.send(Done::Failed(EngineError::Panicked(panic_text(&*panic))));
    }
}

/// The parts of `buffers` that hold chunk `chunk`.
fn trim<'b>(ports: &[Port], chunk: usize, buffers: &'b mut [AlignedBuffer]) -> Vec<&'b mut [u8]> {
    ports.iter().zip(buffers).map(|(port, buffer)| &mut buffer[port.layout.range(chunk)]).collect()
}

/// Moves all bytes of a request, a piece at a time; a request to stop leaves the rest.
fn pieces(request: &mut Transfer, kind: Kind, stop: &Stop) -> Result<u64, StorageError> {
    let segments = request.layout.segments(request.chunk);
    let (store, mut rest, mut at) = (&*request.store, &mut request.buffer[..], 0);
    let mut parts = Vec::with_capacity(segments.len());
    for segment in segments {
        let (part, after) = rest.split_at_mut(segment.buffer.end - at);
        parts.push((segment.offset, &mut part[segment.buffer.start - at..]));
        (rest, at) = (after, segment.buffer.end);
    }
    let bytes: usize = parts.iter().map(|(_, part)| part.len()).sum();
    if parts.len() < 2 * SMALL_AT_ONCE || bytes / parts.len() >= SMALL {
        return move_parts(store, kind, &mut parts, stop);
    }
    // A drive answers many small requests faster when it has several at a time.
    let share = parts.len().div_ceil(SMALL_AT_ONCE);
    std::thread::scope(|scope| {
        let movers: Vec<_> = parts
            .chunks_mut(share)
            .map(|parts| scope.spawn(move || move_parts(store, kind, parts, stop)))
            .collect();
        let moved = movers.into_iter().map(|mover| mover.join().unwrap_or_else(|panic| resume_unwind(panic)));
        moved.sum()
    })
}

/// Moves parts of a request, one after another, to or from their offsets.
fn move_parts(
    store: &dyn Store,
    kind: Kind,
    parts: &mut [(u64, &mut [u8])],
    stop: &Stop,
) -> Result<u64, StorageError> {
    let mut bytes = 0;
    for (offset, part) in parts {
        for piece in part.chunks_mut(PIECE) {
            if stop.is_set() {
                return Ok(bytes);
            }
            match kind {
                Kind::Read => store.read_at(piece, *offset)?,
                _ => store.write_at(piece, *offset)?,
            }
            *offset += piece.len() as u64;
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
