//! The engine: plans as data, one executor that owns threads, buffers and cancellation, events.

mod events;
mod preview;

pub use events::{ChunkEvent, Event, EventSink, Kind, PassInfo};
pub use preview::Preview;
