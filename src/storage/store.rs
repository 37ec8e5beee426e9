//! The one small trait that stands between the engine and its files.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use super::StorageError;

/// A file-like thing with positional access, shared by several threads.
///
/// Behaviours (throttled, faulty, striped, …) are added by wrapping one store in another.
pub trait Store: Send + Sync {
    /// Fills `buffer` with the bytes from `offset` on; fewer bytes are an error.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), StorageError>;

    /// Writes all of `buffer` at `offset`. Requests that do not overlap may run at the same time.
    fn write_at(&self, buffer: &[u8], offset: u64) -> Result<(), StorageError>;

    /// Fills several buffers, each from an offset of its own, as one request.
    fn read_pieces(&self, pieces: &mut [(u64, &mut [u8])]) -> Result<(), StorageError> {
        pieces.iter_mut().try_for_each(|(offset, buffer)| self.read_at(buffer, *offset))
    }

    /// Writes several buffers, each at an offset of its own, as one request.
    fn write_pieces(&self, pieces: &[(u64, &[u8])]) -> Result<(), StorageError> {
        pieces.iter().try_for_each(|(offset, buffer)| self.write_at(buffer, *offset))
    }

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

/// A store in memory: scratch that needs no drive.
///
/// It is held in pages that are locked one at a time, so that several threads read and write it at once.
#[derive(Debug, Default)]
pub struct MemoryStore {
    pages: RwLock<Vec<Mutex<Box<[u8]>>>>,
    length: AtomicU64,
}

/// Bytes of a page.
const PAGE: usize = 1 << 20;

impl MemoryStore {
    /// A store that holds `bytes`.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        let pages = bytes.chunks(PAGE).map(|page| Mutex::new(page.into())).collect();
        Self { pages: RwLock::new(pages), length: AtomicU64::new(bytes.len() as u64) }
    }

    /// A copy of all bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let pages = self.pages.read().unwrap_or_else(PoisonError::into_inner);
        pages.iter().flat_map(|page| lock(page).to_vec()).collect()
    }

    /// Calls `part` with each piece of the request's range in a page, and where it lies in the request.
    fn each_page(
        &self,
        action: &'static str,
        offset: u64,
        length: usize,
        mut part: impl FnMut(&mut [u8], Range<usize>),
    ) -> Result<(), StorageError> {
        let end = usize::try_from(offset).ok().and_then(|start| start.checked_add(length));
        let within = end.filter(|&end| end as u64 <= self.length.load(Ordering::Acquire));
        let Some(end) = within else {
            return Err(StorageError::Transfer {
                action,
                path: PathBuf::from("memory"),
                offset,
                length,
                source: std::io::ErrorKind::UnexpectedEof.into(),
            });
        };
        let pages = self.pages.read().unwrap_or_else(PoisonError::into_inner);
        let start = end - length;
        let mut at = start;
        while at < end {
            let within = at % PAGE;
            let count = (PAGE - within).min(end - at);
            part(&mut lock(&pages[at / PAGE])[within..within + count], at - start..at - start + count);
            at += count;
        }
        Ok(())
    }
}

fn lock(page: &Mutex<Box<[u8]>>) -> MutexGuard<'_, Box<[u8]>> {
    page.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for MemoryStore {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), StorageError> {
        self.each_page("read", offset, buffer.len(), |page, range| buffer[range].copy_from_slice(page))
    }

    fn write_at(&self, buffer: &[u8], offset: u64) -> Result<(), StorageError> {
        self.each_page("write", offset, buffer.len(), |page, range| page.copy_from_slice(&buffer[range]))
    }

    fn allocate(&self, length: u64) -> Result<(), StorageError> {
        let mut pages = self.pages.write().unwrap_or_else(PoisonError::into_inner);
        let now = self.length.load(Ordering::Acquire);
        if length > now {
            let whole = usize::try_from(length.div_ceil(PAGE as u64)).unwrap_or(usize::MAX);
            // The last page may be shorter than a page; it grows to its full size.
            if let Some(last) = pages.last() {
                let mut last = lock(last);
                let mut bytes = last.to_vec();
                bytes.resize(PAGE, 0);
                *last = bytes.into();
            }
            pages.resize_with(whole, || Mutex::new(vec![0; PAGE].into()));
            self.length.store(length, Ordering::Release);
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), StorageError> {
        Ok(())
    }

    fn len(&self) -> Result<u64, StorageError> {
        Ok(self.length.load(Ordering::Acquire))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_in_memory_keeps_what_is_written_across_its_pages() {
        let store = MemoryStore::default();
        let length = 3 * PAGE + 777;
        store.allocate(length as u64).unwrap();
        let bytes: Vec<u8> = (0..length).map(|i| u8::try_from(i * 31 % 251).unwrap()).collect();
        for (start, end) in [(2 * PAGE - 5, length), (0, 3), (3, 2 * PAGE - 5)] {
            store.write_at(&bytes[start..end], start as u64).unwrap();
        }
        let mut back = vec![0; 2 * PAGE];
        store.read_at(&mut back, 900).unwrap();
        assert!(back == bytes[900..900 + 2 * PAGE]);
        let beyond = (length - back.len() + 1) as u64;
        assert!(store.read_at(&mut back, beyond).is_err(), "beyond the end");
        assert_eq!(store.len().unwrap(), length as u64);
    }
}
