//! What can go wrong between the program and its drives.

use std::path::{Path, PathBuf};

/// A failure of a file or folder; every variant names it.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// A request to a file failed.
    #[error("{path}: cannot {action} {length} bytes at offset {offset}: {source}")]
    Transfer {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// First byte of the request.
        offset: u64,
        /// Bytes of the request.
        length: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// An operation on a whole file or folder failed.
    #[error("{path}: cannot {action}: {source}")]
    File {
        /// For example `open it` or `create it`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file's drive has less room than the file needs.
    #[error("{path}: cannot reserve {length} bytes: {source}; free some space or choose another drive")]
    NoSpace {
        /// The file.
        path: PathBuf,
        /// Bytes wanted.
        length: u64,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file that is not a usable plane.
    #[error("{path}: {problem}")]
    Plane {
        /// The file.
        path: PathBuf,
        /// What is wrong and what would be right.
        problem: String,
    },
}

/// The folder that holds `path`; the working folder for a bare name.
#[must_use]
pub fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

impl StorageError {
    /// An operation on the whole of `path` that failed.
    pub fn file(action: &'static str, path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::File { action, path: path.into(), source }
    }
}
