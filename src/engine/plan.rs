//! Plans: what a job reads, computes and writes, as data. A method makes one; the executor runs it.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use super::kernels::{BlockPlan, Places, RowsOf, Term};
use super::{Layout, PassInfo};
use crate::optics::Encoding;
use crate::project::{Method, Precision};
use crate::spectral::Split;
use crate::storage::{Element, PlaneHeader, Rates, ScratchPrecision, Tiles};

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
    /// Folders of the drives that are one striped volume, which is then the only drive; none for drives by
    /// themselves.
    pub stripes: Vec<PathBuf>,
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

    /// The folders of the drives, each of a striped volume's; what stands for memory is none.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        if !self.stripes.is_empty() {
            return self.stripes.clone();
        }
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
        let mut sums: Vec<_> = self.drive_names(None).into_iter().map(|name| (name, 0, 0)).collect();
        for (file, [read, written]) in self.passes.iter().flat_map(Pass::file_bytes) {
            let sum = &mut sums[self.files[file].drive];
            sum.1 += read;
            sum.2 += written;
        }
        sums
    }

    /// The drives' names, with their rates where they are emulated.
    #[must_use]
    pub fn drive_names(&self, emulation: Option<Rates>) -> Vec<String> {
        let emulated = emulation.map_or_else(String::new, |rates| format!(" (emulated {rates})"));
        let shown = |path: &PathBuf| path.display().to_string();
        if self.stripes.is_empty() {
            return self.drives.iter().map(|path| shown(path) + &emulated).collect();
        }
        let all = self.stripes.iter().map(shown).collect::<Vec<_>>().join(" + ");
        vec![format!("{all}, striped{emulated}")]
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
                let noun = if *streams == 1 { "stream" } else { "streams" };
                Some(format!("{streams} {noun}{one}, padded to {x} × {y}"))
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
