//! Optics: units, grids, transfer functions, layers. Knows nothing of files or threads.

mod grid;
mod layer;
mod noise;
mod sincos;
mod units;

pub use grid::Grid;
pub use layer::{Image, LayerSource, Phasor, Samples};
pub use units::{Bytes, Length, UnitError};
