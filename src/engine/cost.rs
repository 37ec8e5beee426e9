//! What a plan will take: the larger of moving its bytes and computing, for each pass.

use std::collections::BTreeMap;

use super::{Kernel, Pass, Place, Plan};
use crate::project::Precision;
use crate::spectral::Split;
use crate::storage::ScratchPrecision;

/// What a machine computes in a second, all threads together.
#[derive(Debug, Clone, PartialEq)]
pub struct ComputeRates {
    /// Samples a second of line transforms by their length, in f32: ascending lengths.
    pub transforms: Vec<(usize, f64)>,
    /// How many times longer f64 takes than f32.
    pub double: f64,
    /// Values of the transfer function a second.
    pub transfer: f64,
    /// Layer samples a second.
    pub layers: f64,
    /// Samples a second to or from the panels of scratch.
    pub panels: f64,
}

/// What a drive moves in a second, in bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriveRates {
    /// Reading alone.
    pub read: f64,
    /// Writing alone.
    pub write: f64,
    /// Reading while it is written.
    pub read_beside: f64,
    /// Writing while it is read.
    pub write_beside: f64,
}

impl DriveRates {
    /// Seconds to read and write so many bytes at the same time.
    #[must_use]
    pub fn seconds(&self, read: f64, written: f64) -> f64 {
        let (both_read, both_written) = (read / self.read_beside, written / self.write_beside);
        if both_read < both_written {
            // The reader ends first; the rest is written alone.
            both_read + (written - both_read * self.write_beside) / self.write
        } else {
            both_written + (read - both_written * self.read_beside) / self.read
        }
    }
}

/// What a job is expected to take.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Prediction {
    /// Seconds of the whole job.
    pub seconds: f64,
    /// Seconds of each pass.
    pub passes: Vec<PassPrediction>,
}

/// What a pass is expected to take.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct PassPrediction {
    /// Seconds of it all.
    pub seconds: f64,
    /// Seconds of computing.
    pub compute: f64,
    /// Seconds of the drive that is busy longest.
    pub io: f64,
}

/// Seconds that a file takes to be reserved, synced and removed, for each byte.
const FILE_SECONDS: f64 = 0.06e-9;

impl ComputeRates {
    /// Seconds of transforms over `samples` samples in lines of `length`.
    fn transforms(&self, length: usize, samples: f64) -> f64 {
        let rate = match self.transforms.iter().position(|&(n, _)| n >= length) {
            _ if self.transforms.is_empty() => 1e9,
            Some(0) => self.transforms[0].1,
            None => self.transforms[self.transforms.len() - 1].1,
            Some(i) => {
                // Between two lengths, linear in the logarithm.
                let ((n0, r0), (n1, r1)) = (self.transforms[i - 1], self.transforms[i]);
                let share = (length as f64 / n0 as f64).ln() / (n1 as f64 / n0 as f64).ln();
                r0 + (r1 - r0) * share
            }
        };
        samples / rate
    }

    /// Seconds that `kernel` computes.
    fn kernel(&self, kernel: &Kernel, plan: &Plan) -> f64 {
        let lines = |split: &Split, lines: f64, streams: usize| {
            let m = split.stream_length();
            self.transforms(m, lines * (m * streams) as f64)
        };
        let panels = |samples: f64| {
            // Rounding to integers and back costs about as much again.
            samples * if plan.scratch_precision == ScratchPrecision::B16 { 2.0 } else { 1.0 } / self.panels
        };
        match kernel {
            Kernel::RowsForward { layers, split, part, tiles, .. } => {
                let height = tiles.height as f64;
                let made = height * (tiles.width * part.streams.len()) as f64;
                lines(split, height, part.streams.len())
                    + layers.len() as f64 * height * split.length as f64 / self.layers
                    + panels(made)
            }
            Kernel::Columns { terms, split, lanes, tiles, .. } => {
                let columns = (tiles.width * lanes.len()) as f64;
                let spectrum = columns * split.padded as f64;
                let terms = terms.len() as f64;
                let samples = columns * tiles.height as f64;
                (terms + 1.0) * lines(split, columns, split.streams)
                    + terms * spectrum / self.transfer
                    + panels((terms + 1.0) * samples)
            }
            Kernel::RowsInverse { split, streams, tiles, .. } => {
                let height = tiles.height as f64;
                lines(split, height, streams.len()) + panels(height * (tiles.width * streams.len()) as f64)
            }
            Kernel::Blocks(blocks) => {
                let [y, x] = blocks.blocks;
                let spectrum = (y.transform * x.transform) as f64;
                let mut seconds = 0.0;
                for block in 0..blocks.count() {
                    let (by, bx) = (block / x.count(), block % x.count());
                    let (input, columns) = (y.input(by), x.input(bx));
                    let mut made = 0.0;
                    for wave in &blocks.waves {
                        let rows = if blocks.source.is_some() {
                            input.len()
                        } else {
                            wave.window
                                .rows
                                .end
                                .min(input.end)
                                .saturating_sub(wave.window.rows.start.max(input.start))
                        };
                        if rows == 0 {
                            continue;
                        }
                        made += 1.0;
                        let rows = rows as f64;
                        seconds += self.transforms(x.transform, rows * x.transform as f64)
                            + self.transforms(y.transform, spectrum)
                            + spectrum / self.transfer
                            + panels(rows * x.transform as f64 + spectrum)
                            + (wave.layers.len() * columns.len()) as f64 * rows / self.layers;
                    }
                    if made > 0.0 {
                        let rows = y.output(by).len() as f64;
                        seconds += self.transforms(x.transform, rows * x.transform as f64)
                            + self.transforms(y.transform, spectrum)
                            + panels(2.0 * (made - 1.0) * spectrum + spectrum + rows * x.transform as f64);
                    }
                }
                seconds
            }
        }
    }
}

/// Bytes of a pass on each drive: read and written.
fn drive_bytes(pass: &Pass, plan: &Plan) -> BTreeMap<usize, (f64, f64)> {
    let mut bytes: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for lane in &pass.lanes {
        for (ports, written) in [(&lane.inputs, false), (&lane.outputs, true)] {
            for port in ports {
                let file = &plan.files[port.file];
                if matches!(file.place, Place::Memory) {
                    continue;
                }
                let moved = (0..lane.chunks).map(|chunk| port.layout.bytes(chunk) as f64).sum::<f64>();
                let entry = bytes.entry(file.drive).or_default();
                if written {
                    entry.1 += moved;
                } else {
                    entry.0 += moved;
                }
            }
        }
    }
    bytes
}

/// What `plan` will take on a machine; `drives` are the rates of each of its drives, `device_of` tells which
/// drives share a device.
#[must_use]
pub fn predict(
    plan: &Plan,
    compute: &ComputeRates,
    drives: &[DriveRates],
    device_of: &[usize],
) -> Prediction {
    let factor = if plan.precision == Precision::F64 { compute.double } else { 1.0 };
    let passes: Vec<_> = plan
        .passes
        .iter()
        .map(|pass| {
            let seconds = factor * compute.kernel(&pass.kernel, plan);
            let mut devices: BTreeMap<usize, (usize, f64, f64)> = BTreeMap::new();
            for (drive, (read, written)) in drive_bytes(pass, plan) {
                let device = device_of.get(drive).copied().unwrap_or(drive);
                let entry = devices.entry(device).or_insert((drive, 0.0, 0.0));
                entry.1 += read;
                entry.2 += written;
            }
            let io = devices
                .values()
                .filter_map(|&(drive, read, written)| Some(drives.get(drive)?.seconds(read, written)))
                .fold(0.0, f64::max);
            // The first chunk is only read, the last only written; a block's columns wait for all of its rows.
            let chunks = pass.lanes.iter().map(|lane| lane.chunks).max().unwrap_or(1).max(1) as f64;
            let alone = match &pass.kernel {
                Kernel::Blocks(blocks) if blocks.source.is_some() => 0.5 * seconds.min(io),
                _ => seconds.min(io) / chunks,
            };
            PassPrediction { seconds: seconds.max(io) + alone, compute: seconds, io }
        })
        .collect();
    let files: u64 = plan
        .files
        .iter()
        .filter(|f| !matches!(f.place, Place::Source(_) | Place::Memory))
        .map(|f| f.bytes)
        .sum();
    let seconds = passes.iter().map(|pass| pass.seconds).sum::<f64>() + FILE_SECONDS * files as f64;
    Prediction { seconds, passes }
}
