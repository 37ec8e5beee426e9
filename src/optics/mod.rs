//! Optics: units, grids, transfer functions, layers. Knows nothing of files or threads.

mod encoding;
mod grid;
mod layer;
mod noise;
mod reach;
mod real;
mod sampling;
mod sincos;
mod transfer;
mod units;

pub use encoding::{Encoder, Encoding, full_scale};
pub use grid::Grid;
pub use layer::{Image, LayerSource, Phase, Samples, Values};
pub use reach::{Tail, reach};
pub use real::Real;
pub use sampling::{Sampled, Sampling, largest_angle};
pub use transfer::{Evanescent, Transfer, TransferLines, TransferReal};
pub use units::{Bytes, Length, UnitError};
