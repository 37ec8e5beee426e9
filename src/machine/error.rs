//! Why the machine could not be measured.

use std::path::PathBuf;

use crate::optics::Bytes;
use crate::storage::StorageError;

/// Why the machine could not be measured.
#[derive(Debug, thiserror::Error)]
pub enum MachineError {
    /// A folder where no file can be made, written or read.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A folder without room for a test file.
    #[error(
        "{folder}: {free} are free, and measuring needs a file of {needed}; free some space or choose \
         another folder"
    )]
    Space {
        /// The folder.
        folder: PathBuf,
        /// The smallest test file.
        needed: Bytes,
        /// What is free.
        free: Bytes,
    },
    /// The system gave no thread to measure with.
    #[error("the system refuses to start threads: {0}; end other programs, or use fewer threads")]
    Threads(std::io::Error),
    /// The user asked to stop.
    #[error("stopped")]
    Cancelled,
}
