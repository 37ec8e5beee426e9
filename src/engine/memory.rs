//! How much memory a plan needs, known before it runs.

use serde::Serialize;

use super::kernels::{Columns, RowsForward, RowsInverse};
use super::{Kernel, Place, Plan};
use crate::project::Precision;

/// The memory of a job, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Memory {
    /// Chunk buffers.
    pub buffers: u64,
    /// Tables and working lines of the pass that needs most.
    pub work: u64,
    /// Decoded layers.
    pub layers: u64,
    /// Scratch that is held in memory.
    pub scratch: u64,
}

impl Memory {
    /// All of it.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.buffers + self.work + self.layers + self.scratch
    }
}

impl Plan {
    /// The memory this plan needs.
    #[must_use]
    pub fn memory(&self) -> Memory {
        let work = self.passes.iter().map(|p| self.kernel_bytes(&p.kernel)).max().unwrap_or(0);
        Memory {
            buffers: self.buffer_bytes() as u64 * self.buffer_count() as u64,
            work: work as u64,
            layers: self.layer_bytes,
            scratch: self.files.iter().filter(|f| matches!(f.place, Place::Memory)).map(|f| f.bytes).sum(),
        }
    }

    fn kernel_bytes(&self, kernel: &Kernel) -> usize {
        let bytes = self.precision.sample_bytes();
        match kernel {
            Kernel::RowsForward { split, tiles, .. } => match self.precision {
                Precision::F32 => RowsForward::<f32>::bytes(*split, tiles.rows, bytes, self.threads),
                Precision::F64 => RowsForward::<f64>::bytes(*split, tiles.rows, bytes, self.threads),
            },
            Kernel::Columns { split, tiles, .. } => match self.precision {
                Precision::F32 => Columns::<f32>::bytes(*split, tiles, self.threads),
                Precision::F64 => Columns::<f64>::bytes(*split, tiles, self.threads),
            },
            Kernel::RowsInverse { split, tiles, preview, .. } => match self.precision {
                Precision::F32 => RowsInverse::<f32>::bytes(*split, tiles, preview.is_some(), self.threads),
                Precision::F64 => RowsInverse::<f64>::bytes(*split, tiles, preview.is_some(), self.threads),
            },
        }
    }
}
