//! What a plan will take: the larger of moving its bytes and computing, for each pass.

use super::Machine;
use crate::engine::{BlockPlan, Kernel, Place, Plan};
use crate::machine::LineFigures;
use crate::project::Precision;
use crate::spectral::Split;
use crate::storage::ScratchPrecision;

/// What a job is expected to take.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Prediction {
    /// Seconds of the whole job.
    pub seconds: f64,
    /// Each pass.
    pub passes: Vec<PassPrediction>,
}

/// What a pass is expected to take, in seconds.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct PassPrediction {
    /// All of it.
    pub seconds: f64,
    /// Computing.
    pub compute: f64,
    /// The drive that is busy longest.
    pub io: f64,
}

/// Seconds that a file takes to be reserved, synced and removed, for each byte; about what ext4 takes on a
/// solid-state drive.
const FILE_SECONDS: f64 = 0.08e-9;
/// Seconds that a pass takes to begin and end, and a chunk to go from hand to hand.
const PASS_SECONDS: f64 = 3e-3;
const CHUNK_SECONDS: f64 = 0.1e-3;
/// How much longer a sample takes that is rounded to 16-bit integers on its way, or widened again.
const B16_FACTOR: f64 = 1.6;

/// What computing takes, for one precision.
struct Compute<'a> {
    lines: &'a LineFigures,
    layer: f64,
    scratch: ScratchPrecision,
}

impl Compute<'_> {
    /// Seconds of transforms of `lines` lines of `length` samples.
    fn transforms(&self, length: usize, lines: f64) -> f64 {
        lines * length as f64 * self.lines.transform_of(length) * 1e-9
    }

    fn streams(&self, split: &Split, lines: f64, streams: usize) -> f64 {
        self.transforms(split.stream_length(), lines * streams as f64)
    }

    fn transfer(&self, samples: f64) -> f64 {
        samples * self.lines.transfer * 1e-9
    }

    fn layers(&self, samples: f64) -> f64 {
        samples * self.layer * 1e-9
    }

    /// Samples to or from panels.
    fn panels(&self, samples: f64) -> f64 {
        let factor = if self.scratch == ScratchPrecision::B16 { B16_FACTOR } else { 1.0 };
        samples * self.lines.copy * factor * 1e-9
    }

    /// Seconds that `kernel` computes.
    fn kernel(&self, kernel: &Kernel) -> f64 {
        match kernel {
            Kernel::RowsForward { layers, split, part, tiles, .. } => {
                let height = tiles.height as f64;
                let streams = part.streams.len();
                self.streams(split, height, streams)
                    + self.layers(layers.len() as f64 * height * split.length as f64)
                    + self.panels(height * (tiles.width * streams) as f64)
            }
            Kernel::Columns { terms, split, lanes, tiles, .. } => {
                let columns = (tiles.width * lanes.len()) as f64;
                let terms = terms.len() as f64;
                (terms + 1.0) * self.streams(split, columns, split.streams)
                    + self.transfer(terms * columns * split.padded as f64)
                    + self.panels((terms + 1.0) * columns * tiles.height as f64)
            }
            Kernel::RowsInverse { split, streams, tiles, .. } => {
                let height = tiles.height as f64;
                self.streams(split, height, streams.len())
                    + self.panels(height * (tiles.width * streams.len()) as f64)
            }
            Kernel::Blocks(blocks) => self.blocks(blocks).iter().sum(),
        }
    }

    /// Rows and columns of all blocks.
    fn blocks(&self, plan: &BlockPlan) -> [f64; 2] {
        (0..plan.count())
            .map(|block| self.block(plan, block))
            .fold([0.0; 2], |sum, block| [sum[0] + block[0], sum[1] + block[1]])
    }

    /// Rows and columns of one block.
    fn block(&self, plan: &BlockPlan, block: usize) -> [f64; 2] {
        let [y, x] = plan.blocks;
        let [by, bx] = plan.index(block);
        let (input, columns) = (y.input(by), x.input(bx));
        let (width, height) = (x.transform as f64, y.transform as f64);
        let spectrum = width * height;
        let mut sums = [0.0; 2];
        let mut made = 0.0;
        for wave in &plan.waves {
            let lit = &wave.window.rows;
            let rows = if plan.source.is_some() {
                plan.fresh(by).len()
            } else {
                lit.end.min(input.end).saturating_sub(lit.start.max(input.start))
            };
            let dark = wave.window.columns.end <= columns.start || wave.window.columns.start >= columns.end;
            if rows == 0 || (plan.source.is_none() && dark) {
                continue;
            }
            made += 1.0;
            let rows = rows as f64;
            sums[0] += self.transforms(x.transform, rows)
                + self.panels(rows * width)
                + self.layers((wave.layers.len() * columns.len()) as f64 * rows);
            sums[1] += self.transforms(y.transform, width) + self.transfer(spectrum) + self.panels(spectrum);
        }
        if made > 0.0 {
            let rows = y.output(by).len() as f64;
            sums[0] += self.transforms(x.transform, rows) + self.panels(rows * width);
            sums[1] +=
                self.transforms(y.transform, width) + self.panels(2.0 * (made - 1.0) * spectrum + spectrum);
        }
        sums
    }
}

/// What `plan` will take on `machine`, whose drives are the plan's.
#[must_use]
pub fn predict(plan: &Plan, machine: &Machine) -> Prediction {
    let figures = &machine.figures;
    let (lines, factor) = match plan.precision {
        Precision::F32 => (&figures.single, 1.0),
        Precision::F64 => {
            (&figures.double, figures.double.transform_of(4096) / figures.single.transform_of(4096))
        }
    };
    let compute = Compute { lines, layer: figures.layer * factor, scratch: plan.scratch_precision };
    let passes: Vec<_> = plan
        .passes
        .iter()
        .map(|pass| {
            let seconds = compute.kernel(&pass.kernel);
            let io = machine.io_seconds(&plan.drive_bytes(pass));
            // The first chunk is only read, the last only written; a block's columns wait for all of its rows,
            // and drives that have filled the buffers wait for the columns.
            let chunks = pass.lanes.iter().map(|lane| lane.chunks).max().unwrap_or(1).max(1) as f64;
            let alone = match &pass.kernel {
                Kernel::Blocks(blocks) if blocks.source.is_some() => {
                    let [rows, columns] = compute.blocks(blocks);
                    columns + rows.max(io) - seconds.max(io)
                }
                _ => seconds.min(io) / chunks,
            };
            PassPrediction {
                seconds: seconds.max(io) + alone + PASS_SECONDS + CHUNK_SECONDS * chunks,
                compute: seconds,
                io,
            }
        })
        .collect();
    let made = plan.files.iter().filter(|file| matches!(file.place, Place::Scratch | Place::Output(..)));
    let files = made.map(|file| file.bytes as f64 * FILE_SECONDS).sum::<f64>();
    Prediction { seconds: passes.iter().map(|pass| pass.seconds).sum::<f64>() + files, passes }
}
