//! What ends a job before its time.

use std::path::PathBuf;

use crate::optics::Bytes;
use crate::storage::StorageError;

/// Why a job did not complete.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A drive failed or is full.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A drive has less room than the job needs.
    #[error(
        "{folder}: the job puts {scratch} of scratch and {output} of output on this drive, and {free} is free; \
         free some space, or give more roles to other drives"
    )]
    Space {
        /// The drive's folder.
        folder: PathBuf,
        /// Scratch on the device.
        scratch: Bytes,
        /// Output on the device.
        output: Bytes,
        /// What is free.
        free: Bytes,
    },
    /// The user asked for it.
    #[error("stopped on request; scratch and unfinished files were removed")]
    Cancelled,
    /// The threads of the job could not be started.
    #[error("cannot start the computing threads: {0}; try a smaller --threads")]
    Threads(String),
    /// A fault of the program.
    #[error("internal fault while computing: {0}; please report it")]
    Panicked(String),
    /// The source holds samples that are no numbers.
    #[error("{pass}: the source has samples that are NaN, infinite, or too large to square; mend the file")]
    NotFinite {
        /// The pass that noticed.
        pass: String,
    },
    /// The data changed between being written and being read.
    #[error(
        "{pass}: the energy of the samples is {found:.9e} where {expected:.9e} was written; \
         a drive or the memory returned wrong data, run the job again"
    )]
    Energy {
        /// The pass that noticed.
        pass: String,
        /// Sum of |u|² in phase 1.
        expected: f64,
        /// The same by Parseval's theorem in phase 2.
        found: f64,
    },
}
