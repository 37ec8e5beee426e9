//! What a running job reports: everything drawn or saved is computed from these events.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_channel::{Receiver, Sender};
use serde::{Deserialize, Serialize};

use super::preview::Preview;

/// What a stretch of time was spent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A drive delivered a chunk.
    Read,
    /// A chunk was computed.
    Compute,
    /// A drive took a chunk.
    Write,
    /// A drive's reader or writer had nothing it could do.
    Wait,
}

/// One stretch of work on one chunk.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChunkEvent {
    /// Index of the pass within the job.
    pub pass: usize,
    /// Index of the stream within the pass (0 where the pass has one).
    pub stream: usize,
    /// Index of the chunk within the stream.
    pub chunk: usize,
    /// Index into the job's drives; none for computing.
    pub drive: Option<usize>,
    /// What was done.
    pub kind: Kind,
    /// Seconds from the job's start.
    pub start: f64,
    /// Seconds from the job's start.
    pub end: f64,
    /// Bytes moved (0 for computing and waiting).
    pub bytes: u64,
}

/// A pass, as announced before it runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PassInfo {
    /// For example `phase 1: rows`.
    pub name: String,
    /// Names of the pass's streams.
    pub streams: Vec<String>,
    /// Chunks over all streams.
    pub chunks: usize,
    /// Bytes it will read and write.
    pub bytes: u64,
}

/// One thing that happened; saved as one JSON line each.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// A job of the run begins; a run is one hologram and its reconstructions.
    JobStarted {
        /// For example `hologram` or `reconstruction at 3mm`.
        name: String,
        /// Index of the job within the run.
        job: usize,
        /// Number of jobs in the run.
        jobs: usize,
        /// The method, as the command line names it.
        method: String,
        /// Folders of the drives, in the order of [`ChunkEvent::drive`].
        drives: Vec<String>,
        /// The passes in order.
        passes: Vec<PassInfo>,
        /// Seconds the job is expected to take, if that was predicted.
        #[serde(default)]
        predicted: Option<f64>,
        /// Lines of a chunk.
        #[serde(default)]
        chunk: usize,
        /// Chunks a stage may hold ahead.
        #[serde(default)]
        buffers: usize,
        /// Bytes of memory set aside.
        #[serde(default)]
        memory: u64,
    },
    /// A pass begins.
    PassStarted {
        /// Index of the pass within the job.
        pass: usize,
        /// Seconds from the job's start.
        at: f64,
    },
    /// A stretch of work ended.
    Chunk(ChunkEvent),
    /// A pass ended.
    PassFinished {
        /// Index of the pass within the job.
        pass: usize,
        /// Seconds the pass took.
        seconds: f64,
    },
    /// A reduced intensity image of a layer's reconstruction is ready.
    Preview {
        /// Index of the layer in the project.
        layer: usize,
        /// The image; not saved with the events.
        #[serde(skip)]
        preview: Option<Arc<Preview>>,
    },
    /// Something the user should know, such as a folder without direct I/O.
    Note {
        /// The sentence.
        text: String,
    },
    /// The run is complete.
    Finished {
        /// Seconds the whole run took.
        seconds: f64,
    },
    /// The run was stopped on request; what is left behind is said.
    Cancelled {
        /// For example which files were removed or kept.
        text: String,
    },
    /// The run failed.
    Failed {
        /// What went wrong and the remedy.
        text: String,
    },
}

impl Event {
    /// Whether nothing follows this event.
    #[must_use]
    pub const fn is_last(&self) -> bool {
        matches!(self, Self::Finished { .. } | Self::Cancelled { .. } | Self::Failed { .. })
    }
}

/// Sends events without ever waiting for the receiver.
///
/// A receiver that falls [`EventSink::LONGEST_QUEUE`] events behind loses chunk events (counted), never
/// the others, of which a run has few; and the engine never slows down for it.
#[derive(Clone)]
pub struct EventSink {
    sender: Sender<Event>,
    wake: Arc<dyn Fn() + Send + Sync>,
    lost: Arc<AtomicU64>,
}

impl EventSink {
    /// Events a slow receiver may fall behind.
    pub const LONGEST_QUEUE: usize = 1 << 16;

    /// A sink and its receiver; `wake` is called after each event and should return at once.
    #[must_use]
    pub fn channel(wake: impl Fn() + Send + Sync + 'static) -> (Self, Receiver<Event>) {
        let (sender, receiver) = crossbeam_channel::unbounded();
        (Self { sender, wake: Arc::new(wake), lost: Arc::default() }, receiver)
    }

    /// Sends `event`, or counts it as lost.
    pub fn send(&self, event: Event) {
        if matches!(event, Event::Chunk(_)) && self.sender.len() >= Self::LONGEST_QUEUE {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // A receiver that is gone needs no events.
        let _ = self.sender.send(event);
        (self.wake)();
    }

    /// Events that did not fit.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}
