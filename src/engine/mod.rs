//! The engine: plans as data, one executor that owns threads, buffers and cancellation, events.

mod cancel;
mod energy;
mod error;
mod events;
mod executor;
mod files;
mod flush;
mod kernels;
mod layout;
mod lines;
mod memory;
mod pipeline;
mod plan;
mod preview;
mod timeline;

pub use cancel::Cancel;
pub use error::EngineError;
pub use events::{ChunkEvent, Event, EventSink, Kind, PassInfo};
pub use executor::{JobContext, JobReport, PassReport, execute};
pub use files::device_notes;
pub use kernels::{BlockPlan, BlockWave, RowsOf, Term};
pub use layout::{Axis, Layout, Order, Rect, Segment};
pub use lines::Lines;
pub use memory::Memory;
pub use pipeline::{ChunkKernel, DriveUse, PassContext, PassUse, Stop, panic_text, run_pass};
pub use plan::{Kernel, Lane, Pass, Place, Plan, PlanFile, Port};
pub use preview::Preview;
pub use timeline::Track;
