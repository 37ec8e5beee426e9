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
        "{folder}: the job puts {scratch} of scratch and {output} of output on its file system, and {free} is free; \
         free some space, or give more roles to other drives"
    )]
    Space {
        /// The drive's folder.
        folder: PathBuf,
        /// Scratch on its file system.
        scratch: Bytes,
        /// Output on its file system.
        output: Bytes,
        /// What is free.
        free: Bytes,
    },
    /// The output is complete but could not be given its name.
    #[error("{path}: cannot give the finished output its name ({source}); it was kept as {kept}")]
    Unnamed {
        /// The name it should have.
        path: PathBuf,
        /// Where it is.
        kept: PathBuf,
        /// What the system said.
        source: std::io::Error,
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
    #[error("{source_name}: has samples that are NaN, infinite, or too large to square; mend the file")]
    NotFinite {
        /// The file, or what else the samples come from.
        source_name: String,
    },
    /// The arithmetic left the range of its numbers.
    #[error(
        "{pass}: the samples are too large for this precision; scale the plane down, or use --precision f64"
    )]
    TooLarge {
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
        /// Sum of |u|² that was written.
        expected: f64,
        /// Sum of |u|² that was read.
        found: f64,
    },
}
