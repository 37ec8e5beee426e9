//! Plans: what a job reads, computes and writes, as data. A method makes one; the executor runs it.

use std::ops::Range;
use std::path::PathBuf;

use super::PassInfo;
use super::kernels::{RowsOf, Term};
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
    /// Bound on the relative L2 error against the exact convolution.
    pub error_bound: f64,
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
        }
    }

    /// The contiguous pieces of chunk `chunk`, ascending in the buffer.
    #[must_use]
    pub fn segments(&self, chunk: usize) -> Vec<Segment> {
        let buffer = self.range(chunk);
        match *self {
            Self::Lines { offset, line_bytes, chunk: height, .. } => {
                vec![Segment { offset: offset + (chunk * height) as u64 * line_bytes as u64, buffer }]
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

    /// Bytes of a buffer that can hold any chunk.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        match *self {
            Self::Lines { line_bytes, lines, chunk, .. } => {
                // Room for a start anywhere in the first block.
                crate::storage::align_up(chunk.min(lines) * line_bytes) + crate::storage::ALIGNMENT
            }
            Self::Tiles { .. } => self.range(0).end,
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
}

impl Pass {
    /// Bytes read and written over all chunks.
    #[must_use]
    pub fn bytes(&self) -> (u64, u64) {
        let sum = |lane: &Lane, ports: &[Port]| -> u64 {
            let chunk = |c| ports.iter().map(|p| p.layout.range(c).len() as u64).sum::<u64>();
            (0..lane.chunks).map(chunk).sum()
        };
        let reads = self.lanes.iter().map(|lane| sum(lane, &lane.inputs)).sum();
        let writes = self.lanes.iter().map(|lane| sum(lane, &lane.outputs)).sum();
        (reads, writes)
    }

    /// Buffers the pass holds at once.
    #[must_use]
    pub fn buffers(&self) -> usize {
        let lane = |l: &Lane| l.input_sets * l.inputs.len() + l.output_sets * l.outputs.len();
        self.lanes.iter().map(lane).sum()
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
    /// Bytes of one buffer: any chunk of any port fits.
    #[must_use]
    pub fn buffer_bytes(&self) -> usize {
        let ports = self.passes.iter().flat_map(|p| &p.lanes).flat_map(|l| l.inputs.iter().chain(&l.outputs));
        ports.map(|p| p.layout.buffer_bytes()).max().unwrap_or(0)
    }

    /// Buffers of the job.
    #[must_use]
    pub fn buffer_count(&self) -> usize {
        self.passes.iter().map(Pass::buffers).max().unwrap_or(0)
    }

    /// Bytes read and written over all passes.
    #[must_use]
    pub fn bytes_moved(&self) -> u64 {
        self.passes.iter().map(Pass::bytes).map(|(reads, writes)| reads + writes).sum()
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
