//! Line transforms: streams of a padded spectrum, and the transposition between rows and columns.
//! Knows nothing of holograms or files.

mod blocks;
mod lengths;
mod panels;
mod streams;

pub use blocks::Blocks;
pub use lengths::{fast_length, is_smooth};
pub use panels::{columns_to_panel, panel_to_columns, panel_to_rows, rows_to_panel};
pub use streams::{Split, Streams};
