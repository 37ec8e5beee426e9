//! What this machine can do: how fast it computes, and how fast its drives are. Measured, and remembered.

mod cache;
mod drives;
mod error;
mod figures;
mod places;
mod rate;
mod together;

pub use cache::Cache;
pub use drives::{DriveFigures, MEASURE_BYTES};
pub use error::MachineError;
pub use figures::{Figures, LineFigures};
pub use places::{Place, places};
pub use together::{Bottleneck, MeasureStep, Together, measure_together, measure_together_telling};
