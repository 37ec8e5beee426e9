//! Where the chunks of a pass lie in its files: lines or rectangles of a plane, tiles of scratch.

use std::ops::Range;
use std::sync::Arc;

use crate::storage::{Tiles, block_offset};

/// Where chunks lie in a file.
#[derive(Debug, Clone)]
pub enum Layout {
    /// Consecutive lines, as in a `.npy` plane.
    Lines {
        /// Offset of the first line.
        offset: u64,
        /// Bytes of a line.
        line_bytes: usize,
        /// Number of lines.
        lines: usize,
        /// Lines of a chunk.
        chunk: usize,
    },
    /// Tiles of a scratch file.
    Tiles {
        /// How the plane is cut.
        tiles: Tiles,
        /// In which order the tiles lie.
        order: Order,
        /// What a chunk is: all tiles of one row chunk, or of one column chunk.
        axis: Axis,
    },
    /// Rectangles of a `.npy` plane.
    Rects {
        /// Offset of the plane's first line.
        offset: u64,
        /// Bytes of a line of the plane.
        line_bytes: usize,
        /// Bytes of a sample.
        sample_bytes: usize,
        /// The rectangle of each chunk; it may be empty.
        rects: Arc<[Rect]>,
    },
}

/// A rectangle of a plane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rect {
    /// Its rows.
    pub rows: Range<usize>,
    /// Its columns.
    pub columns: Range<usize>,
}

impl Rect {
    /// Whether there is no sample in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() || self.columns.is_empty()
    }
}

/// The order of the tiles in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Row chunk after row chunk.
    ByRows,
    /// Column chunk after column chunk.
    ByColumns,
}

/// What a chunk of a tiled file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Consecutive rows.
    Rows,
    /// Consecutive columns.
    Columns,
}

/// A contiguous piece of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Where it lies in the file.
    pub offset: u64,
    /// Where it lies in the chunk's buffer.
    pub buffer: Range<usize>,
}

impl Layout {
    /// Where chunk `chunk` lies in its buffer; the start is congruent with the file's offset.
    #[must_use]
    pub fn range(&self, chunk: usize) -> Range<usize> {
        match *self {
            Self::Lines { offset, line_bytes, lines, chunk: height } => {
                let first = chunk * height;
                let head = block_offset(offset + first as u64 * line_bytes as u64);
                head..head + height.min(lines - first) * line_bytes
            }
            Self::Tiles { tiles, axis, .. } => {
                let count = match axis {
                    Axis::Rows => tiles.column_chunks(),
                    Axis::Columns => tiles.row_chunks(),
                };
                0..count * tiles.tile_bytes()
            }
            Self::Rects { .. } => {
                let rows = self.rect_rows(chunk);
                rows.first().map_or(0, |first| first.buffer.start)
                    ..rows.last().map_or(0, |last| last.buffer.end)
            }
        }
    }

    /// Each row of a chunk's rectangle; the next one follows directly, or on a block of its own.
    fn rect_rows(&self, chunk: usize) -> Vec<Segment> {
        let Self::Rects { offset, line_bytes, sample_bytes, rects } = self else { return Vec::new() };
        let Rect { rows, columns } = &rects[chunk];
        let bytes = columns.len() * sample_bytes;
        let at =
            |row: usize| offset + row as u64 * *line_bytes as u64 + (columns.start * sample_bytes) as u64;
        let mut next = 0;
        let mut segments: Vec<Segment> = Vec::with_capacity(rows.len());
        if rects[chunk].is_empty() {
            return segments;
        }
        for row in rows.clone() {
            let offset = at(row);
            let follows = segments.last().is_some_and(|last| last.offset + bytes as u64 == offset);
            let start = if follows { next } else { crate::storage::align_up(next) + block_offset(offset) };
            next = start + bytes;
            segments.push(Segment { offset, buffer: start..next });
        }
        segments
    }

    /// Where each row of a chunk's rectangle lies in the chunk, from the start of [`Self::range`].
    #[must_use]
    pub fn rows(&self, chunk: usize) -> Vec<Range<usize>> {
        let start = self.range(chunk).start;
        let rows = self.rect_rows(chunk).into_iter();
        rows.map(|row| row.buffer.start - start..row.buffer.end - start).collect()
    }

    /// The contiguous pieces of chunk `chunk`, ascending in the buffer.
    #[must_use]
    pub fn segments(&self, chunk: usize) -> Vec<Segment> {
        let buffer = self.range(chunk);
        match *self {
            Self::Lines { offset, line_bytes, chunk: height, .. } => {
                vec![Segment { offset: offset + (chunk * height) as u64 * line_bytes as u64, buffer }]
            }
            Self::Rects { .. } => {
                let mut merged: Vec<Segment> = Vec::new();
                for row in self.rect_rows(chunk) {
                    match merged.last_mut() {
                        Some(last)
                            if last.buffer.end == row.buffer.start
                                && last.offset + last.buffer.len() as u64 == row.offset =>
                        {
                            last.buffer.end = row.buffer.end;
                        }
                        _ => merged.push(row),
                    }
                }
                merged
            }
            Self::Tiles { tiles, order, axis } => {
                let bytes = tiles.tile_bytes();
                match (order, axis) {
                    (Order::ByRows, Axis::Rows) | (Order::ByColumns, Axis::Columns) => {
                        vec![Segment { offset: chunk as u64 * buffer.len() as u64, buffer }]
                    }
                    (order, _) => {
                        let (stride, count) = match order {
                            Order::ByColumns => (tiles.row_chunks(), tiles.column_chunks()),
                            Order::ByRows => (tiles.column_chunks(), tiles.row_chunks()),
                        };
                        (0..count)
                            .map(|i| Segment {
                                offset: (i as u64 * stride as u64 + chunk as u64) * bytes as u64,
                                buffer: i * bytes..(i + 1) * bytes,
                            })
                            .collect()
                    }
                }
            }
        }
    }

    /// Bytes of all `chunks` chunks that are read or written.
    #[must_use]
    pub fn bytes(&self, chunks: usize) -> u64 {
        match self {
            Self::Rects { sample_bytes, rects, .. } => {
                let bytes = |rect: &Rect| (rect.rows.len() * rect.columns.len() * sample_bytes) as u64;
                rects.iter().map(bytes).sum()
            }
            Self::Lines { line_bytes, lines, .. } => *line_bytes as u64 * *lines as u64,
            Self::Tiles { .. } => self.range(0).len() as u64 * chunks as u64,
        }
    }

    /// Bytes of a buffer that can hold any chunk.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        match *self {
            Self::Lines { line_bytes, lines, chunk, .. } => {
                // Room for a start anywhere in the first block.
                crate::storage::align_up(chunk.min(lines) * line_bytes) + crate::storage::ALIGNMENT
            }
            Self::Tiles { .. } => self.range(0).end,
            Self::Rects { line_bytes, sample_bytes, ref rects, .. } => {
                let bytes = rects.iter().map(|Rect { rows, columns }| {
                    let row = columns.len() * sample_bytes;
                    // Each row may begin anywhere in a block of its own, unless they are all one piece.
                    let separate = crate::storage::align_up(row) + crate::storage::ALIGNMENT;
                    rows.len() * if row == line_bytes { row } else { separate }
                });
                crate::storage::align_up(bytes.max().unwrap_or(0)) + crate::storage::ALIGNMENT
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::ScratchPrecision;

    fn tiles(height: usize, width: usize, rows: usize, columns: usize) -> Tiles {
        Tiles { height, width, rows, columns, precision: ScratchPrecision::F32 }
    }

    /// Every tile of both views of a file, as (tile row, tile column) by offset.
    fn cover(tiles: Tiles, order: Order, axis: Axis) -> Vec<(u64, usize, usize)> {
        let layout = Layout::Tiles { tiles, order, axis };
        let chunks = if axis == Axis::Rows { tiles.row_chunks() } else { tiles.column_chunks() };
        let mut all = Vec::new();
        for chunk in 0..chunks {
            for segment in layout.segments(chunk) {
                let bytes = tiles.tile_bytes();
                for (i, start) in segment.buffer.clone().step_by(bytes).enumerate() {
                    let other = start / bytes;
                    let (row, column) = if axis == Axis::Rows { (chunk, other) } else { (other, chunk) };
                    all.push((segment.offset + i as u64 * bytes as u64, row, column));
                }
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn a_file_written_by_rows_is_the_same_tiles_read_by_columns() {
        for tiles in [tiles(30, 50, 8, 16), tiles(7, 9, 10, 10), tiles(64, 64, 16, 16), tiles(5, 100, 1, 7)] {
            for order in [Order::ByRows, Order::ByColumns] {
                let rows = cover(tiles, order, Axis::Rows);
                assert_eq!(rows, cover(tiles, order, Axis::Columns));
                assert_eq!(rows.len(), tiles.row_chunks() * tiles.column_chunks());
                let bytes = tiles.tile_bytes() as u64;
                assert!(rows.iter().enumerate().all(|(i, tile)| tile.0 == i as u64 * bytes), "no gaps");
                assert_eq!(rows.len() as u64 * bytes, tiles.file_bytes());
            }
        }
    }

    #[test]
    fn beyond_2_to_the_32_samples_the_last_tile_ends_at_the_end_of_the_file() {
        // 200000² and 262144² in f64: 640 GB and 1 TiB, indices far above 2³².
        for n in [200_000, 262_144] {
            let tiles =
                Tiles { height: n, width: n, rows: 1000, columns: 1000, precision: ScratchPrecision::F64 };
            for (order, axis) in [(Order::ByColumns, Axis::Rows), (Order::ByRows, Axis::Columns)] {
                let last = Layout::Tiles { tiles, order, axis }.segments(tiles.row_chunks() - 1);
                let last = last.last().unwrap();
                assert_eq!(last.offset + last.buffer.len() as u64, tiles.file_bytes());
                assert!(tiles.file_bytes() >= (n * n * 16) as u64);
            }
            let lines = Layout::Lines { offset: 4096, line_bytes: n * 16, lines: n, chunk: 999 };
            let last = n.div_ceil(999) - 1;
            let segment = &lines.segments(last)[0];
            assert_eq!(segment.offset + segment.buffer.len() as u64, 4096 + (n * n * 16) as u64);
        }
    }

    #[test]
    fn rows_of_a_rectangle_start_where_their_blocks_do_and_whole_lines_are_one_piece() {
        for (offset, width, sample_bytes) in [(128, 1000, 8), (4096, 4096, 8), (4096, 4096, 1), (64, 33, 16)]
        {
            let rects: Arc<[Rect]> = [
                Rect { rows: 3..9, columns: 1..width - 4 },
                Rect { rows: 0..5, columns: 0..width },
                Rect { rows: 2..2, columns: 0..width },
                Rect { rows: 7..8, columns: width - 1..width },
            ]
            .into();
            let line_bytes = width * sample_bytes;
            let layout = Layout::Rects { offset, line_bytes, sample_bytes, rects: rects.clone() };
            for (chunk, rect) in rects.iter().enumerate() {
                let (segments, range) = (layout.segments(chunk), layout.range(chunk));
                let expected = if rect.columns.len() == width { 1 } else { rect.rows.len() };
                assert_eq!(segments.len(), if rect.is_empty() { 0 } else { expected });
                for segment in &segments {
                    assert_eq!(segment.offset % 4096, segment.buffer.start as u64 % 4096);
                    assert!(segment.buffer.start >= range.start && segment.buffer.end <= range.end);
                }
                assert!(range.end <= layout.buffer_bytes());
                // Every row, found in the buffer, is the row of the file.
                for (row, place) in rect.rows.clone().zip(layout.rows(chunk)) {
                    let at = offset + (row * line_bytes + rect.columns.start * sample_bytes) as u64;
                    let start = range.start + place.start;
                    let found = segments.iter().find(|s| s.buffer.contains(&start)).unwrap();
                    assert_eq!(found.offset + (start - found.buffer.start) as u64, at);
                    assert_eq!(place.len(), rect.columns.len() * sample_bytes);
                }
            }
        }
    }

    #[test]
    fn a_chunk_of_lines_starts_in_its_buffer_where_it_starts_in_its_block() {
        let lines = Layout::Lines { offset: 128, line_bytes: 45 * 8, lines: 31, chunk: 7 };
        let mut next = 128;
        for chunk in 0..5 {
            let [segment] = &lines.segments(chunk)[..] else { panic!("one piece") };
            assert_eq!(segment.offset, next);
            assert_eq!(segment.offset % 4096, segment.buffer.start as u64 % 4096);
            assert!(segment.buffer.end <= lines.buffer_bytes());
            next += segment.buffer.len() as u64;
        }
        assert_eq!(next, 128 + 31 * 45 * 8);
    }
}
