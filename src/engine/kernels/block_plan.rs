//! How a plane is cut into blocks, and which chunk brings and takes which samples of it.

use std::ops::Range;

use crate::engine::Rect;
use crate::optics::{Encoding, Transfer};
use crate::spectral::{Blocks, Split};
use crate::storage::{Element, ScratchPrecision, Tiles};

/// Layers that start together, and how their light moves.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockWave {
    /// The layers, by their index in the project.
    pub layers: Vec<usize>,
    /// The samples that they cover.
    pub window: Rect,
    /// The transfer function on a block.
    pub transfer: Transfer,
}

/// What is computed block by block.
#[derive(Debug, Clone, PartialEq)]
pub struct BlockPlan {
    /// The samples of the source, if there is one; it belongs to the first wave.
    pub source: Option<Element>,
    /// What is propagated and added; at least one, and no more with a source.
    pub waves: Vec<BlockWave>,
    /// The blocks along y and x.
    pub blocks: [Blocks; 2],
    /// Rows of a strip, a multiple of [`SCALE_ROWS`].
    pub strip: usize,
    /// How blocks are kept in memory between their rows and columns.
    pub kept: ScratchPrecision,
    /// The samples of a plane to add, if there is one: the last input port.
    pub base: Option<Element>,
    /// The distance of the plane from the hologram, when a preview is wanted.
    pub preview: Option<f64>,
    /// What is written for each sample.
    pub encoding: Encoding,
}

impl BlockPlan {
    /// Number of blocks.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.blocks[0].count() * self.blocks[1].count()
    }

    /// Strips of a block.
    #[must_use]
    pub fn strips(&self) -> usize {
        let y = &self.blocks[0];
        let block = |by| if self.source.is_some() { self.fresh(by).len() } else { y.output(by).len() };
        (0..y.count()).map(block).max().unwrap_or(1).div_ceil(self.strip)
    }

    /// Number of chunks: the strips of all blocks, and with a source once more those of the last one.
    #[must_use]
    pub fn chunks(&self) -> usize {
        (self.count() + usize::from(self.source.is_some())) * self.strips()
    }

    /// Whether a block keeps the spectra of the rows that it shares with the one before, which is above it.
    #[must_use]
    pub const fn slides(&self) -> bool {
        self.source.is_some() && self.blocks[0].count() > 1
    }

    /// The rows of a source that block `by` along y needs and the one before did not.
    #[must_use]
    pub fn fresh(&self, by: usize) -> Range<usize> {
        let input = self.blocks[0].input(by);
        match by.checked_sub(1) {
            Some(before) if self.slides() => self.blocks[0].input(before).end..input.end,
            _ => input,
        }
    }

    /// Where row `row` of the result of block `by` along y is kept: a block that slides makes room for fresh
    /// rows where it gives results away.
    pub(super) const fn kept_at(&self, by: usize, row: usize) -> usize {
        let place = self.blocks[0].place(by, row);
        if self.slides() { place + self.blocks[0].guard } else { place }
    }

    /// Block `block` along y and x: columns of blocks one after another.
    pub(crate) const fn index(&self, block: usize) -> [usize; 2] {
        [block % self.blocks[0].count(), block / self.blocks[0].count()]
    }

    /// Strip `strip` of `all`, from its start.
    fn strip_of(&self, all: &Range<usize>, strip: usize) -> Range<usize> {
        let start = (all.start + strip * self.strip).min(all.end);
        start..all.end.min(start + self.strip)
    }

    /// The samples that chunk `chunk` brings.
    #[must_use]
    pub fn brought(&self, chunk: usize) -> Rect {
        let (block, strip) = (chunk / self.strips(), chunk % self.strips());
        if self.source.is_none() || block == self.count() {
            return Rect::default();
        }
        let [by, bx] = self.index(block);
        Rect { rows: self.strip_of(&self.fresh(by), strip), columns: self.blocks[1].input(bx) }
    }

    /// The samples that chunk `chunk` takes away.
    #[must_use]
    pub fn taken(&self, chunk: usize) -> Rect {
        let (block, strip) = (chunk / self.strips(), chunk % self.strips());
        let Some(block) = block.checked_sub(usize::from(self.source.is_some())) else {
            return Rect::default();
        };
        let [by, bx] = self.index(block);
        Rect { rows: self.strip_of(&self.blocks[0].output(by), strip), columns: self.blocks[1].output(bx) }
    }

    /// How a block is kept in memory: one tile.
    pub(super) const fn tiles(&self) -> Tiles {
        let [height, width] = [self.blocks[0].transform, self.blocks[1].transform];
        Tiles { height, width, rows: height, columns: width, precision: self.kept }
    }

    /// Bytes of a block in memory.
    pub(super) const fn block_bytes(&self) -> usize {
        self.tiles().tile_bytes()
    }

    pub(super) const fn splits(&self) -> [Split; 2] {
        let [y, x] = [self.blocks[0].transform, self.blocks[1].transform];
        [Split { length: y, padded: y, streams: 1 }, Split { length: x, padded: x, streams: 1 }]
    }
}
