//! Optics: units, grids, transfer functions, layers. Knows nothing of files or threads.

mod grid;
mod real;
mod units;

pub use grid::Grid;
pub use real::Real;
pub use units::{Bytes, Length, UnitError};
