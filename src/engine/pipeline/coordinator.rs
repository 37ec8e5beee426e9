//! The coordinator of a pass: moves buffers between the stages and owns all state.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::{Done, DriveUse, PassContext, PassUse, Stop, Transfer, Work};
use crate::engine::plan::{Lane, Port};
use crate::engine::{EngineError, Kind};
use crate::storage::AlignedBuffer;

/// How often the coordinator looks for a request to stop.
const TICK: Duration = Duration::from_millis(20);

/// How far a lane has come.
struct LaneState {
    next: usize,
    written: usize,
    free_inputs: usize,
    free_outputs: usize,
    /// Bytes that any chunk of each input and output port fits in.
    bytes: [Vec<usize>; 2],
    /// Chunks of which some ports have been read.
    reading: BTreeMap<usize, Vec<Option<AlignedBuffer>>>,
    /// Ports still being written, by chunk.
    writing: BTreeMap<usize, usize>,
}

impl LaneState {
    fn new(lane: &Lane) -> Self {
        let bytes = |ports: &[Port]| ports.iter().map(|port| port.layout.buffer_bytes()).collect();
        Self {
            next: 0,
            written: 0,
            free_inputs: lane.input_sets,
            free_outputs: lane.output_sets,
            bytes: [bytes(&lane.inputs), bytes(&lane.outputs)],
            reading: BTreeMap::new(),
            writing: BTreeMap::new(),
        }
    }
}

/// Moves buffers between the stages.
pub struct Coordinator<'a> {
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

impl<'a> Coordinator<'a> {
    /// A coordinator of `lanes`, whose buffers are `free`, with a sender for each drive's stages.
    pub fn new(
        plan: &'a [Lane],
        free: &'a mut Vec<AlignedBuffer>,
        context: &'a PassContext<'a>,
        readers: Vec<Option<Sender<Transfer>>>,
        writers: Vec<Option<Sender<Transfer>>>,
        compute: Sender<Work>,
    ) -> Self {
        Self {
            lanes: plan.iter().map(LaneState::new).collect(),
            plan,
            free,
            context,
            readers,
            writers,
            compute,
            waiting: VecDeque::new(),
            used: PassUse { drives: vec![DriveUse::default(); context.drives], ..PassUse::default() },
        }
    }

    /// Runs until every chunk is written.
    pub fn run(mut self, reports: &Receiver<Done>, stop: &Stop) -> Result<PassUse, EngineError> {
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
            if self.context.serial && self.lanes.iter().any(|state| state.next > state.written) {
                return;
            }
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
                        let buffer = self.take(self.lanes[index].bytes[0][port]);
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
                for port in 0..lane.outputs.len() {
                    outputs.push(self.take(self.lanes[index].bytes[1][port]));
                }
            }
            // A stage that is gone has reported why, or is about to be missed.
            let _ = self.compute.send(Work { lane: index, chunk, inputs, outputs });
        }
    }

    /// The smallest free buffer of at least `needed` bytes. There is one: every port of every set has its own,
    /// and larger ports leave it alone.
    fn take(&mut self, needed: usize) -> AlignedBuffer {
        let fitting = self.free.iter().enumerate().filter(|(_, buffer)| buffer.len() >= needed);
        let smallest = fitting.min_by_key(|(_, buffer)| buffer.len()).map(|(index, _)| index);
        self.free.swap_remove(smallest.expect("a buffer for every port of every set"))
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
