//! Runs: a plane propagated, or a project from its layers to its previews.

mod error;
mod estimate;
mod events;
mod hologram;
mod propagation;
mod sampling;
mod thread;

pub use error::{RunError, check_apart, check_folder, check_output};
pub use estimate::{DriveEstimate, Estimate, estimate};
pub use events::{load_events, save_events, write_event};
pub use hologram::{RunReport, check_project, outputs, plan_project, preview_path, run_project};
pub use propagation::{Kept, Propagation, Settings, default_threads, propagate};
pub use sampling::{Finding, Verdict, needs_findings, sampling, sampling_findings, time_verdict};
pub use thread::{RunHandle, start};
