//! Runs: a plane propagated, or a project from its layers to its previews.

mod error;
mod propagation;

pub use error::RunError;
pub use propagation::{Propagation, Settings, default_threads, propagate};
