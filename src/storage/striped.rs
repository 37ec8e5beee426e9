//! One logical volume over several drives: RAID-0 without a driver.
//!
//! Stripe `s` of a file lies on drive `s mod n`, as stripe `s / n` of that drive's part. A request that
//! touches several drives goes to all of them at once, and to each as one request.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{StorageError, Store};

/// Bytes of a stripe.
pub const STRIPE: usize = 256 << 10;

/// A file on a striped volume.
pub struct StripedStore {
    parts: Vec<Arc<dyn Store>>,
    /// Where stripes lie in a part.
    places: Places,
    /// The length that was reserved.
    length: AtomicU64,
}

#[derive(Clone, Copy, PartialEq)]
enum Places {
    /// One after another: each part is a file of its own.
    Packed,
    /// Where they lie in the whole: all parts are the same file, on drives that are only emulated.
    Whole,
}

impl StripedStore {
    /// A volume of `parts`, each a file on a drive of its own.
    #[must_use]
    pub fn new(parts: Vec<Arc<dyn Store>>) -> Self {
        Self { parts, places: Places::Packed, length: AtomicU64::new(0) }
    }

    /// A whole file as if it were striped: `parts` are all that file, each on an emulated drive of its own.
    #[must_use]
    pub fn of_whole(parts: Vec<Arc<dyn Store>>) -> Self {
        Self { parts, places: Places::Whole, length: AtomicU64::new(0) }
    }

    /// Tells the length of a file that has its room already.
    pub fn set_len(&self, length: u64) {
        self.length.store(length, Ordering::Release);
    }

    /// Bytes of the part on drive `part` of a file of `length` over `parts` drives: whole stripes.
    #[must_use]
    pub const fn part_bytes(length: u64, part: usize, parts: usize) -> u64 {
        let stripes = length.div_ceil(STRIPE as u64);
        (stripes + (parts - 1 - part) as u64) / parts as u64 * STRIPE as u64
    }

    /// The drive of the stripe at `offset`, where that byte lies in its part, and how many bytes of a request of
    /// `length` lie in the stripe.
    fn piece(&self, offset: u64, length: usize) -> (usize, u64, usize) {
        let (stripe, within) = (offset / STRIPE as u64, offset % STRIPE as u64);
        let parts = self.parts.len() as u64;
        let place = match self.places {
            Places::Packed => stripe / parts * STRIPE as u64 + within,
            Places::Whole => offset,
        };
        let left = STRIPE as u64 - within;
        let count = usize::try_from(left).unwrap_or(STRIPE).min(length);
        (usize::try_from(stripe % parts).unwrap_or(0), place, count)
    }

    /// Calls `request` with the pieces of each drive that has any, all drives at once.
    fn on_all<P: Send>(
        &self,
        pieces: Vec<Vec<P>>,
        request: impl Fn(&dyn Store, Vec<P>) -> Result<(), StorageError> + Sync,
    ) -> Result<(), StorageError> {
        let mut busy: Vec<_> =
            self.parts.iter().zip(pieces).filter(|(_, pieces)| !pieces.is_empty()).collect();
        let Some((first, own)) = busy.pop() else { return Ok(()) };
        let request = &request;
        std::thread::scope(|scope| {
            let others: Vec<_> = busy
                .into_iter()
                .map(|(part, pieces)| scope.spawn(move || request(&**part, pieces)))
                .collect();
            let mut result = request(&**first, own);
            for other in others {
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                result = result.and(other);
            }
            result
        })
    }

    fn no_pieces<P>(&self) -> Vec<Vec<P>> {
        self.parts.iter().map(|_| Vec::new()).collect()
    }
}

impl Store for StripedStore {
    fn read_at(&self, mut buffer: &mut [u8], mut offset: u64) -> Result<(), StorageError> {
        let mut pieces = self.no_pieces();
        while !buffer.is_empty() {
            let (part, place, count) = self.piece(offset, buffer.len());
            let (piece, rest) = buffer.split_at_mut(count);
            pieces[part].push((place, piece));
            (buffer, offset) = (rest, offset + count as u64);
        }
        self.on_all(pieces, |part, mut pieces| part.read_pieces(&mut pieces))
    }

    fn write_at(&self, mut buffer: &[u8], mut offset: u64) -> Result<(), StorageError> {
        let mut pieces = self.no_pieces();
        while !buffer.is_empty() {
            let (part, place, count) = self.piece(offset, buffer.len());
            let (piece, rest) = buffer.split_at(count);
            pieces[part].push((place, piece));
            (buffer, offset) = (rest, offset + count as u64);
        }
        self.on_all(pieces, |part, pieces| part.write_pieces(&pieces))
    }

    fn allocate(&self, length: u64) -> Result<(), StorageError> {
        if self.places == Places::Whole {
            return self.parts[0].allocate(length);
        }
        let parts = self.parts.len();
        for (index, part) in self.parts.iter().enumerate() {
            part.allocate(Self::part_bytes(length, index, parts))?;
        }
        self.length.fetch_max(length, Ordering::AcqRel);
        Ok(())
    }

    fn sync(&self) -> Result<(), StorageError> {
        self.parts.iter().try_for_each(|part| part.sync())
    }

    fn len(&self) -> Result<u64, StorageError> {
        match self.places {
            Places::Packed => Ok(self.length.load(Ordering::Acquire)),
            Places::Whole => self.parts[0].len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::MemoryStore;

    fn byte(i: usize) -> u8 {
        u8::try_from(i * 31 % 251).unwrap()
    }

    #[test]
    fn stripes_go_to_the_drives_in_turn_and_come_back() {
        for drives in 1..=4 {
            let memory: Vec<_> = (0..drives).map(|_| Arc::new(MemoryStore::default())).collect();
            let store = StripedStore::new(memory.iter().map(|m| m.clone() as Arc<dyn Store>).collect());
            let length = 7 * STRIPE + 1234;
            store.allocate(length as u64).unwrap();
            assert_eq!(store.len().unwrap(), length as u64);
            let bytes: Vec<u8> = (0..length).map(byte).collect();
            // In requests that begin and end within stripes.
            for (start, end) in [(0, 5), (5, STRIPE + 9), (STRIPE + 9, 5 * STRIPE), (5 * STRIPE, length)] {
                store.write_at(&bytes[start..end], start as u64).unwrap();
            }
            for (index, part) in memory.iter().enumerate() {
                let own = (index..8).step_by(drives);
                let expected = (own.clone().count() * STRIPE) as u64;
                assert_eq!(part.len().unwrap(), expected, "{drives} {index}");
                assert_eq!(StripedStore::part_bytes(length as u64, index, drives), expected);
                let part = part.bytes();
                for (place, stripe) in own.enumerate() {
                    let there = &bytes[stripe * STRIPE..length.min((stripe + 1) * STRIPE)];
                    assert!(part[place * STRIPE..][..there.len()] == *there, "{drives} {index} {stripe}");
                }
            }
            let mut back = vec![0; length - 100];
            store.read_at(&mut back, 77).unwrap();
            assert!(back == bytes[77..length - 23]);
            assert!(store.read_at(&mut back[..10], 9 * STRIPE as u64).is_err(), "beyond the end");
        }
    }

    #[test]
    fn a_whole_file_is_the_same_whatever_drives_it_is_spread_over() {
        let length = 3 * STRIPE + 5;
        let bytes: Vec<u8> = (0..length).map(byte).collect();
        let file: Arc<dyn Store> = Arc::new(MemoryStore::new(&bytes));
        let store = StripedStore::of_whole(vec![file.clone(), file.clone(), file]);
        let mut back = vec![0; length - 3];
        store.read_at(&mut back, 3).unwrap();
        assert!(back == bytes[3..]);
        let nines = vec![9; STRIPE];
        store.write_at(&nines, 100).unwrap();
        store.read_at(&mut back, 3).unwrap();
        assert!(back[97..97 + STRIPE] == nines && back[..97] == bytes[3..100]);
        assert_eq!(store.len().unwrap(), length as u64);
    }
}
