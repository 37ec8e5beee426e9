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

use super::ALIGNMENT;

/// Columns of a panel.
pub const PANEL: usize = 8;

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
    /// Bytes of a sample.
    pub sample_bytes: usize,
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

    /// Samples of one panel, those beyond the plane included.
    #[must_use]
    pub const fn panel_samples(&self) -> usize {
        self.rows * PANEL
    }

    /// Bytes of a tile, padding included.
    #[must_use]
    pub const fn tile_bytes(&self) -> usize {
        let samples = self.columns.div_ceil(PANEL) * self.panel_samples();
        (samples * self.sample_bytes).next_multiple_of(ALIGNMENT)
    }

    /// Samples from one tile to the next, padding included.
    #[must_use]
    pub const fn tile_samples(&self) -> usize {
        self.tile_bytes() / self.sample_bytes
    }

    /// Bytes of a file that holds all tiles.
    #[must_use]
    pub const fn file_bytes(&self) -> u64 {
        self.row_chunks() as u64 * self.column_chunks() as u64 * self.tile_bytes() as u64
    }
}
