//! Inspection: what a plane's samples look like to the eye, and their numbers. Knows nothing of the window.

mod comparison;
mod histogram;
mod picture;
mod profile;
mod raster;
mod statistics;
mod table;
mod target;
mod tone;

pub use comparison::{Agreement, Comparison};
pub use histogram::Histogram;
pub use picture::Picture;
pub use profile::{Cut, ProfilePoint, profile};
pub use raster::Raster;
pub use statistics::{Region, Statistics, statistics};
pub use table::{histogram_table, numbers_table, profile_table};
pub use target::target;
pub use tone::{Curve, Tone, percentile};
