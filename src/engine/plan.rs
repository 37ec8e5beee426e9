//! Plans: what a job reads, computes and writes, as data. A method makes one; the executor runs it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::PassInfo;
use super::kernels::{BlockPlan, Places, RowsOf, Term};
use crate::optics::Encoding;
use crate::project::{Method, Precision};
use crate::spectral::Split;
use crate::storage::{Element, PlaneHeader, ScratchPrecision, Tiles, block_offset};

/// A job: passes over files on drives.
pub struct Plan {
    /// For example `hologram` or `reconstruction at 3mm`.
    pub name: String,
    /// The method that made it.
    pub method: Method,
    /// The arithmetic.
    pub precision: Precision,
    /// How scratch keeps samples.
    pub scratch_precision: ScratchPrecision,
    /// A folder on each drive, in the order of [`PlanFile::drive`].
    pub drives: Vec<PathBuf>,
    /// All files, in the order of [`Port::file`].
    pub files: Vec<PlanFile>,
    /// The passes, one after another.
    pub passes: Vec<Pass>,
    /// Memory that the layers hold, in bytes.
    pub layer_bytes: u64,
    /// Lines of a chunk.
    pub chunk: usize,
    /// Chunks a stage may hold ahead.
    pub buffers: usize,
    /// Computing threads.
    pub threads: usize,
    /// Bound on the relative L2 error against the exact convolution, for light that fills the plane.
    pub error_bound: f64,
    /// Seconds that each pass is expected to take, and the whole job, if that was asked.
    pub predicted: Option<(Vec<f64>, f64)>,
}

/// A file of a job.
#[derive(Debug, Clone)]
pub struct PlanFile {
    /// Index of its drive.
    pub drive: usize,
    /// Its length.
    pub bytes: u64,
    /// What it is.
    pub place: Place,
}

impl PlanFile {
    /// Bytes that it puts on its file system: scratch, and output.
    #[must_use]
    pub const fn new_bytes(&self) -> (u64, u64) {
        match &self.place {
            Place::Source(_) | Place::Memory => (0, 0),
            Place::Scratch | Place::Packed(..) => (self.bytes, 0),
            // The lines are there until they are packed.
            Place::Output(_, header) if header.is_packed() => (self.bytes, self.bytes),
            Place::Output(..) => (0, self.bytes),
        }
    }
}

/// What a file of a job is to the user.
#[derive(Debug, Clone)]
pub enum Place {
    /// A plane of the user's, only read.
    Source(PathBuf),
    /// The same with compressed lines: they are unpacked to scratch first.
    Packed(PathBuf, PlaneHeader),
    /// Private; removed when the job ends.
    Scratch,
    /// Private, and on no drive.
    Memory,
    /// The result; appears under its name when it is complete.
    Output(PathBuf, PlaneHeader),
}

/// One sweep over chunks: read, compute, write.
#[derive(Debug, Clone)]
pub struct Pass {
    /// For example `phase 1: rows`.
    pub name: String,
    /// What is computed.
    pub kernel: Kernel,
    /// The streams that are in flight at the same time.
    pub lanes: Vec<Lane>,
}

/// One stream of chunks through a pass.
#[derive(Debug, Clone)]
pub struct Lane {
    /// For example `even`.
    pub name: String,
    /// Number of chunks.
    pub chunks: usize,
    /// Where a chunk comes from: one buffer for each port.
    pub inputs: Vec<Port>,
    /// Where a chunk goes to: one buffer for each port, or the inputs' when `in_place`.
    pub outputs: Vec<Port>,
    /// Whether the result takes the place of the input in memory.
    pub in_place: bool,
    /// Sets of input buffers.
    pub input_sets: usize,
    /// Sets of output buffers; none when `in_place`.
    pub output_sets: usize,
}

/// A file as a lane reads or writes it.
#[derive(Debug, Clone)]
pub struct Port {
    /// Index of the file.
    pub file: usize,
    /// Where a chunk lies in it.
    pub layout: Layout,
}

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

/// What a pass computes. Planes are `[y, x]`; x is split into streams between the passes.
#[derive(Debug, Clone)]
pub enum Kernel {
    /// Rows of a plane, layers added, to the streams of their spectra.
    RowsForward {
        /// The samples of the source, if there is one.
        source: Option<Element>,
        /// Layers to add, by their index in the project.
        layers: Vec<usize>,
        /// Padding and streams along x.
        split: Split,
        /// The rows and streams that are made.
        part: RowsOf,
        /// How each stream is cut into tiles.
        tiles: Tiles,
    },
    /// Columns of streams: transform, transfer function, inverse transform.
    Columns {
        /// The planes that are convolved and added, an input each.
        terms: Vec<Term>,
        /// Padding and streams along y, all within the pass.
        split: Split,
        /// The streams along x that are convolved; a lane each.
        lanes: Range<usize>,
        /// Streams along x, all of them.
        streams: usize,
        /// How the result's streams are cut into tiles.
        tiles: Tiles,
    },
    /// Streams of rows back to a plane.
    RowsInverse {
        /// Padding and streams along x.
        split: Split,
        /// The streams that are read, an input each.
        streams: Range<usize>,
        /// How each stream is cut into tiles.
        tiles: Tiles,
        /// The samples of a plane to add, if there is one: the last input port.
        base: Option<Element>,
        /// The distance of the plane from the hologram, when a preview is wanted.
        preview: Option<f64>,
        /// What is written for each sample.
        encoding: Encoding,
    },
    /// Blocks of a plane, each from its samples to its result in memory.
    Blocks(BlockPlan),
}

impl Pass {
    /// Where a pass of blocks reads and writes: its lane's ports in order.
    pub(super) fn places(&self, blocks: &BlockPlan) -> Places {
        let lane = &self.lanes[0];
        let mut inputs = lane.inputs.iter().map(|port| port.layout.clone());
        Places {
            source: blocks.source.and_then(|_| inputs.next()),
            base: blocks.base.and_then(|_| inputs.next()),
            result: lane.outputs.first().map(|port| port.layout.clone()),
        }
    }

    /// Bytes read and written over all chunks.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        self.file_bytes().fold((0, 0), |sum, (_, [read, written])| (sum.0 + read, sum.1 + written))
    }

    /// Each file that a lane reads or writes, with the bytes over all chunks: read and written.
    fn file_bytes(&self) -> impl Iterator<Item = (usize, [u64; 2])> {
        self.lanes.iter().flat_map(|lane| {
            let read = lane.inputs.iter().map(|port| (port.file, [port.layout.bytes(lane.chunks), 0]));
            let written = lane.outputs.iter().map(|port| (port.file, [0, port.layout.bytes(lane.chunks)]));
            read.chain(written)
        })
    }

    /// The sizes of the buffers the pass holds at once, the largest first: one for each port of each set.
    #[must_use]
    pub fn buffer_sizes(&self) -> Vec<usize> {
        let mut sizes = Vec::new();
        for lane in &self.lanes {
            for (ports, sets) in [(&lane.inputs, lane.input_sets), (&lane.outputs, lane.output_sets)] {
                for port in ports {
                    sizes.extend(std::iter::repeat_n(port.layout.buffer_bytes(), sets));
                }
            }
        }
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        sizes
    }

    /// The pass as it is announced.
    #[must_use]
    pub fn info(&self) -> PassInfo {
        let (reads, writes) = self.bytes();
        PassInfo {
            name: self.name.clone(),
            streams: self.lanes.iter().map(|l| l.name.clone()).collect(),
            chunks: self.lanes.iter().map(|l| l.chunks).sum(),
            bytes: reads + writes,
        }
    }
}

impl Plan {
    /// Bytes of all buffers of the pass that holds most.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        self.passes.iter().map(|pass| pass.buffer_sizes().iter().sum()).max().unwrap_or(0)
    }

    /// Bytes read from and written to drives over all passes.
    #[must_use]
    pub fn bytes_moved(&self) -> u64 {
        let pass =
            |pass| self.drive_bytes(pass).into_iter().map(|(_, [read, written])| read + written).sum::<u64>();
        self.passes.iter().map(pass).sum()
    }

    /// Whether drive `drive` stands for memory.
    #[must_use]
    pub fn is_memory(&self, drive: usize) -> bool {
        self.files.iter().any(|file| file.drive == drive && matches!(file.place, Place::Memory))
    }

    /// The folders of the drives; what stands for memory is none.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let drives = self.drives.iter().enumerate().filter(|drive| !self.is_memory(drive.0));
        drives.map(|(_, path)| path.clone()).collect()
    }

    /// Bytes that `pass` reads and writes on each of the drives it uses, by the drive's index; memory is none.
    #[must_use]
    pub fn drive_bytes(&self, pass: &Pass) -> BTreeMap<usize, [u64; 2]> {
        let mut sums: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
        for (file, [read, written]) in pass.file_bytes() {
            let PlanFile { drive, place, .. } = &self.files[file];
            if !matches!(place, Place::Memory) {
                let sum = sums.entry(*drive).or_default();
                *sum = [sum[0] + read, sum[1] + written];
            }
        }
        sums
    }

    /// Bytes read and written on each drive, with its folder.
    #[must_use]
    pub fn bytes_by_drive(&self) -> Vec<(String, u64, u64)> {
        let mut sums: Vec<_> = self.drives.iter().map(|path| (path.display().to_string(), 0, 0)).collect();
        for (file, [read, written]) in self.passes.iter().flat_map(Pass::file_bytes) {
            let sum = &mut sums[self.files[file].drive];
            sum.1 += read;
            sum.2 += written;
        }
        sums
    }

    /// How planes are cut, for example `8 streams` or `2 × 3 blocks`.
    #[must_use]
    pub fn cut(&self) -> String {
        let cut = self.passes.iter().find_map(|pass| match &pass.kernel {
            Kernel::Blocks(plan) => {
                let [ny, nx] = plan.blocks.map(|axis| axis.count());
                Some(format!("{ny} × {nx} blocks"))
            }
            Kernel::Columns { streams, lanes, terms, .. } => {
                let [y, x] = terms[0].transfer.padded;
                let one = if lanes.len() < *streams { ", one after another" } else { "" };
                Some(format!("{streams} streams{one}, padded to {x} × {y}"))
            }
            _ => None,
        });
        cut.unwrap_or_default()
    }

    /// What the job's first planes come from, in words.
    #[must_use]
    pub fn source_name(&self) -> String {
        let mut sources = self.files.iter().filter_map(|file| match &file.place {
            Place::Source(path) | Place::Packed(path, _) => Some(path.display().to_string()),
            _ => None,
        });
        sources.next().unwrap_or_else(|| "the layers".into())
    }

    /// Bytes of new files on drive `drive`: scratch, and output.
    #[must_use]
    pub fn new_bytes(&self, drive: usize) -> (u64, u64) {
        let mut sums = (0, 0);
        for file in self.files.iter().filter(|f| f.drive == drive) {
            let (scratch, output) = file.new_bytes();
            sums.0 += scratch;
            sums.1 += output;
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
