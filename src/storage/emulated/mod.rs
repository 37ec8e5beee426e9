//! Drives that are slower than the real one below them: a store whose requests wait.
//!
//! Each direction has a schedule, or both have one on a half-duplex drive. A request takes the next
//! free time on it, does its work on the real store, and waits until its time is over; so the real
//! store's own time is within the emulated one, and counts alone where it is longer. How late a thread
//! woke up is made good at its next request, so that the rate is right whatever the size of requests;
//! time in which nobody asked is not.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Duplex, Rates, StorageError, Store};

/// The most lateness that is made good: more means that the machine was busy with something else.
const CREDIT: Duration = Duration::from_millis(5);

/// A clock that can be waited for; tests have one that needs no time.
pub trait Clock: Send + Sync {
    /// Time since some start.
    fn now(&self) -> Duration;

    /// Returns when it is `time`, or a little later.
    fn sleep_until(&self, time: Duration);
}

/// The system's clock.
struct SystemClock(Instant);

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep_until(&self, time: Duration) {
        if let Some(left) = time.checked_sub(self.now()) {
            std::thread::sleep(left);
        }
    }
}

/// When one direction of a drive, or both, has time for a request.
#[derive(Debug, Default)]
struct Schedule {
    next_free: Duration,
    /// By how much the latest request came back late.
    late: Duration,
}

/// An emulated drive; the stores on it share its time.
pub struct EmulatedDrive {
    rates: Rates,
    clock: Box<dyn Clock>,
    /// Of reading and writing; the first is both's on a half-duplex drive.
    schedules: [Mutex<Schedule>; 2],
}

#[derive(Clone, Copy)]
enum Direction {
    Read,
    Write,
}

impl EmulatedDrive {
    /// A drive of these rates.
    #[must_use]
    pub fn new(rates: Rates) -> Self {
        Self::with_clock(rates, Box::new(SystemClock(Instant::now())))
    }

    /// A drive that goes by `clock`.
    #[must_use]
    pub fn with_clock(rates: Rates, clock: Box<dyn Clock>) -> Self {
        Self { rates, clock, schedules: Default::default() }
    }

    /// Its rates.
    #[must_use]
    pub const fn rates(&self) -> Rates {
        self.rates
    }

    fn schedule(&self, direction: Direction) -> MutexGuard<'_, Schedule> {
        let index = match (self.rates.duplex, direction) {
            (Duplex::Half, _) | (_, Direction::Read) => 0,
            (Duplex::Full, Direction::Write) => 1,
        };
        self.schedules[index].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a request of `bytes`, and lets it take the drive's time.
    fn request<R>(&self, direction: Direction, bytes: usize, request: impl FnOnce() -> R) -> R {
        let rate = match direction {
            Direction::Read => self.rates.read,
            Direction::Write => self.rates.write,
        };
        let transfer = Duration::from_secs_f64(bytes as f64 / rate);
        // One transfer at a time waits for each request; many in flight hide their latencies.
        let (busy, after) = match self.rates.duplex {
            Duplex::Half => (self.rates.latency + transfer, Duration::ZERO),
            Duplex::Full => (transfer, self.rates.latency),
        };
        let asked = self.clock.now();
        let (begun, end) = {
            let mut schedule = self.schedule(direction);
            let idle = asked.saturating_sub(schedule.next_free);
            let begun = asked.saturating_sub(idle.min(schedule.late));
            schedule.late = Duration::ZERO;
            let start = begun.max(schedule.next_free);
            schedule.next_free = start + busy;
            (begun, start + busy + after)
        };
        let result = request();
        let done = begun + (self.clock.now().saturating_sub(asked));
        self.clock.sleep_until(end);
        // Against a drive that is exact, and a request that had begun when it should.
        let late = self.clock.now().saturating_sub(end.max(done)).min(CREDIT);
        self.schedule(direction).late = late;
        result
    }
}

/// A store on an emulated drive.
pub struct EmulatedStore {
    inner: Arc<dyn Store>,
    drive: Arc<EmulatedDrive>,
}

impl EmulatedStore {
    /// `inner` as if it were on `drive`.
    #[must_use]
    pub const fn new(inner: Arc<dyn Store>, drive: Arc<EmulatedDrive>) -> Self {
        Self { inner, drive }
    }
}

impl Store for EmulatedStore {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), StorageError> {
        self.drive.request(Direction::Read, buffer.len(), || self.inner.read_at(buffer, offset))
    }

    fn write_at(&self, buffer: &[u8], offset: u64) -> Result<(), StorageError> {
        self.drive.request(Direction::Write, buffer.len(), || self.inner.write_at(buffer, offset))
    }

    fn read_pieces(&self, pieces: &mut [(u64, &mut [u8])]) -> Result<(), StorageError> {
        let bytes = pieces.iter().map(|piece| piece.1.len()).sum();
        self.drive.request(Direction::Read, bytes, || self.inner.read_pieces(pieces))
    }

    fn write_pieces(&self, pieces: &[(u64, &[u8])]) -> Result<(), StorageError> {
        let bytes = pieces.iter().map(|piece| piece.1.len()).sum();
        self.drive.request(Direction::Write, bytes, || self.inner.write_pieces(pieces))
    }

    fn allocate(&self, length: u64) -> Result<(), StorageError> {
        self.inner.allocate(length)
    }

    fn sync(&self) -> Result<(), StorageError> {
        self.inner.sync()
    }

    fn len(&self) -> Result<u64, StorageError> {
        self.inner.len()
    }
}

#[cfg(test)]
mod tests;
