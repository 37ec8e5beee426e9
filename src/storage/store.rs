//! The one small trait that stands between the engine and its files.

use std::path::PathBuf;
use std::sync::RwLock;

use super::StorageError;

/// A file-like thing with positional access, shared by several threads.
///
/// Behaviours (throttled, faulty, striped, …) are added by wrapping one store in another.
pub trait Store: Send + Sync {
    /// Fills `buffer` with the bytes from `offset` on; fewer bytes are an error.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), StorageError>;

    /// Writes all of `buffer` at `offset`. Requests that do not overlap may run at the same time.
    fn write_at(&self, buffer: &[u8], offset: u64) -> Result<(), StorageError>;

    /// Reserves room for `length` bytes from the start, so that later writes there do not fail for space.
    fn allocate(&self, length: u64) -> Result<(), StorageError>;

    /// Returns when all that was written is on the medium.
    fn sync(&self) -> Result<(), StorageError>;

    /// The length in bytes.
    fn len(&self) -> Result<u64, StorageError>;

    /// Whether there is nothing in it.
    fn is_empty(&self) -> Result<bool, StorageError> {
        Ok(self.len()? == 0)
    }
}

/// A store in memory, for tests.
#[derive(Debug, Default)]
pub struct MemoryStore(RwLock<Vec<u8>>);

impl MemoryStore {
    /// A store that holds `bytes`.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(RwLock::new(bytes))
    }

    /// A copy of all bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// The range of a request within `len` bytes, or the error of a request beyond them.
fn range(
    action: &'static str,
    offset: u64,
    length: usize,
    len: usize,
) -> Result<std::ops::Range<usize>, StorageError> {
    usize::try_from(offset)
        .ok()
        .and_then(|start| Some(start..start.checked_add(length)?))
        .filter(|range| range.end <= len)
        .ok_or_else(|| StorageError::Transfer {
            action,
            path: PathBuf::from("memory"),
            offset,
            length,
            source: std::io::ErrorKind::UnexpectedEof.into(),
        })
}

impl Store for MemoryStore {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), StorageError> {
        let bytes = self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        buffer.copy_from_slice(&bytes[range("read", offset, buffer.len(), bytes.len())?]);
        Ok(())
    }

    fn write_at(&self, buffer: &[u8], offset: u64) -> Result<(), StorageError> {
        let mut bytes = self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let range = range("write", offset, buffer.len(), bytes.len())?;
        bytes[range].copy_from_slice(buffer);
        Ok(())
    }

    fn allocate(&self, length: u64) -> Result<(), StorageError> {
        let mut bytes = self.0.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let range = range("write", 0, usize::try_from(length).unwrap_or(usize::MAX), usize::MAX - 1)?;
        if bytes.len() < range.end {
            bytes.resize(range.end, 0);
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), StorageError> {
        Ok(())
    }

    fn len(&self) -> Result<u64, StorageError> {
        Ok(self.0.read().unwrap_or_else(std::sync::PoisonError::into_inner).len() as u64)
    }
}
