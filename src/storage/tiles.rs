//! The layout of scratch files: tiles, so that both rows and columns come in large pieces.
//!
//! A plane `[y, x]` of complex samples is cut into tiles of `rows × columns` samples. A tile is
//! contiguous, padded to whole blocks, and holds its samples by *panels*: [`PANEL`] neighbouring
//! columns, row after row,
//!
//! ```text
//! tile = [panel][row][column within the panel]
//! ```
//!
//! so that a row is written or gathered a panel's width (64 bytes in f32, a cache line) at a time
//! and a panel is read as one sequential run. Tiles at the right and lower edge keep the full
//! size; what lies beyond the plane is never looked at.
//!
//! In [`ScratchPrecision::B16`] a sample is two 16-bit integers, and a panel's samples are followed by one
//! `f32` for every [`SCALE_ROWS`] rows: what a step of their integers is worth.

use serde::{Deserialize, Serialize};

use super::ALIGNMENT;

/// Columns of a panel.
pub const PANEL: usize = 8;

/// Rows of a panel that share a scale in [`ScratchPrecision::B16`].
pub const SCALE_ROWS: usize = 16;

/// How scratch keeps a complex sample between passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ScratchPrecision {
    /// Two f64.
    F64,
    /// Two f32.
    F32,
    /// Two 16-bit integers, with a common scale for every 16 × 8 samples.
    B16,
}

impl ScratchPrecision {
    /// Bytes of one complex sample, scales left out.
    #[must_use]
    pub const fn sample_bytes(self) -> usize {
        match self {
            Self::F64 => 16,
            Self::F32 => 8,
            Self::B16 => 4,
        }
    }

    /// The relative L2 error of keeping a plane once, in the worst case of light that fills the band.
    ///
    /// For b16: a block of 128 samples of a complex Gaussian field has its largest part at about 2.9
    /// standard deviations, so a step is 2.9/32767 and its rounding error that over √12.
    #[must_use]
    pub const fn error(self) -> f64 {
        match self {
            Self::F64 => 0.0,
            Self::F32 => 6e-8,
            Self::B16 => 4e-5,
        }
    }
}

impl std::fmt::Display for ScratchPrecision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::B16 => "b16",
        })
    }
}

/// How a plane is cut into tiles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiles {
    /// Rows of the plane.
    pub height: usize,
    /// Columns of the plane.
    pub width: usize,
    /// Rows of a tile.
    pub rows: usize,
    /// Columns of a tile.
    pub columns: usize,
    /// How samples are kept.
    pub precision: ScratchPrecision,
}

impl Tiles {
    /// Chunks of rows, each as high as a tile.
    #[must_use]
    pub const fn row_chunks(&self) -> usize {
        self.height.div_ceil(self.rows)
    }

    /// Chunks of columns, each as wide as a tile.
    #[must_use]
    pub const fn column_chunks(&self) -> usize {
        self.width.div_ceil(self.columns)
    }

    /// Rows of the plane in row chunk `chunk`.
    #[must_use]
    pub fn rows_in(&self, chunk: usize) -> usize {
        self.rows.min(self.height - chunk * self.rows)
    }

    /// Columns of the plane in column chunk `chunk`.
    #[must_use]
    pub fn columns_in(&self, chunk: usize) -> usize {
        self.columns.min(self.width - chunk * self.columns)
    }

    /// Bytes of a panel's samples.
    #[must_use]
    pub const fn panel_sample_bytes(&self) -> usize {
        self.rows * PANEL * self.precision.sample_bytes()
    }

    /// Bytes from one panel to the next.
    #[must_use]
    pub const fn panel_bytes(&self) -> usize {
        let scales = match self.precision {
            ScratchPrecision::B16 => self.rows.div_ceil(SCALE_ROWS) * 4,
            _ => 0,
        };
        self.panel_sample_bytes() + scales
    }

    /// Bytes of a tile, padding included.
    #[must_use]
    pub const fn tile_bytes(&self) -> usize {
        (self.columns.div_ceil(PANEL) * self.panel_bytes()).next_multiple_of(ALIGNMENT)
    }

    /// Bytes of a file that holds all tiles.
    #[must_use]
    pub const fn file_bytes(&self) -> u64 {
        self.row_chunks() as u64 * self.column_chunks() as u64 * self.tile_bytes() as u64
    }
}
