//! Optics: units, grids, transfer functions, layers. Knows nothing of files or threads.

mod grid;
mod sincos;
mod units;

pub use grid::Grid;
pub use units::{Bytes, Length, UnitError};
