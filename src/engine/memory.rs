//! How much memory a plan needs, known before it runs.

use serde::Serialize;

use super::kernels::{BlockKernel, Columns, RowsForward, RowsInverse};
use super::{Kernel, Place, Plan};
use crate::optics::TransferReal;
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
            buffers: self.buffer_bytes() as u64,
            work: work as u64,
            layers: self.layer_bytes,
            scratch: self.files.iter().filter(|f| matches!(f.place, Place::Memory)).map(|f| f.bytes).sum(),
        }
    }

    fn kernel_bytes(&self, kernel: &Kernel) -> usize {
        match self.precision {
            Precision::F32 => self.kernel_bytes_in::<f32>(kernel),
            Precision::F64 => self.kernel_bytes_in::<f64>(kernel),
        }
    }

    fn kernel_bytes_in<T: TransferReal>(&self, kernel: &Kernel) -> usize {
        match kernel {
            Kernel::RowsForward { split, part, tiles, .. } => {
                RowsForward::<T>::bytes(*split, part.streams.len(), tiles.rows, self.threads)
            }
            Kernel::Columns { terms, split, tiles, .. } => {
                Columns::<T>::bytes(*split, terms.len(), tiles, self.threads)
            }
            Kernel::Blocks(plan) => BlockKernel::<T>::bytes(plan, self.threads),
            Kernel::RowsInverse { split, tiles, preview, .. } => {
                RowsInverse::<T>::bytes(*split, tiles, preview.is_some(), self.threads)
            }
        }
    }
}
