//! What a folder's drive reads and writes, alone and at the same time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tempfile::TempPath;

use super::{Cache, MachineError};
use crate::optics::Bytes;
use crate::storage::{AlignedBuffer, DirectFile, Rates, StorageError, Store, free_space};

/// Bytes of the file that is measured with, where there is room.
pub const MEASURE_BYTES: u64 = 512 << 20;
/// A request, as the engine makes them.
const REQUEST: usize = 8 << 20;
/// The smallest file: a request for the reader and one for the writer.
const LEAST: u64 = 2 * REQUEST as u64;
/// How long one measurement may take; a drive so slow that a request takes longer has that one.
pub(super) const TIME: Duration = Duration::from_millis(700);

/// What a folder's drive can do, in bytes a second.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct DriveFigures {
    /// Reading alone.
    pub read: f64,
    /// Writing alone.
    pub write: f64,
    /// Reading while another thread writes.
    pub read_while_writing: f64,
    /// Writing while another thread reads.
    pub write_while_reading: f64,
    /// Whether the system's cache was bypassed; if not, these are mostly the cache's figures.
    pub direct: bool,
}

impl DriveFigures {
    /// The remembered figures of `folder`'s device, measured if there are none or if `refresh`.
    pub fn cached_or_measure(folder: &Path, refresh: bool) -> Result<Self, MachineError> {
        Cache::of_user().drive(folder, refresh, &|| false)
    }

    /// Measures with a file of at most `bytes` in `folder`, in less than three seconds; the file is gone
    /// again however this ends. `stop` is asked after every request.
    pub fn measure(
        folder: &Path,
        bytes: u64,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Self, MachineError> {
        TestFile::create(folder, bytes)?.measure(stop)
    }

    /// How much both directions get done at the same time, in parts of what each does alone: near 1 on a
    /// half-duplex drive, near 2 on a full-duplex one.
    #[must_use]
    pub fn duplex_index(&self) -> f64 {
        self.read_while_writing / self.read + self.write_while_reading / self.write
    }

    /// Seconds to read and write so many bytes at the same time.
    #[must_use]
    pub fn seconds(&self, read: f64, written: f64) -> f64 {
        let (both_read, both_written) = (read / self.read_while_writing, written / self.write_while_reading);
        if both_read < both_written {
            // The reader ends first; the rest is written alone.
            both_read + (written - both_read * self.write_while_reading) / self.write
        } else {
            both_written + (read - both_written * self.read_while_writing) / self.read
        }
    }

    /// The figures of a drive of `rates` that is emulated in this folder.
    #[must_use]
    pub fn emulated(&self, rates: &Rates) -> Self {
        let [read_while_writing, write_while_reading] = rates.both();
        Self {
            read: self.read.min(rates.read),
            write: self.write.min(rates.write),
            read_while_writing: self.read_while_writing.min(read_while_writing),
            write_while_reading: self.write_while_reading.min(write_while_reading),
            direct: self.direct,
        }
    }

    /// Whether these can be figures of a drive: what a damaged file holds need not be.
    pub(super) fn is_sound(&self) -> bool {
        [self.read, self.write, self.read_while_writing, self.write_while_reading]
            .into_iter()
            .all(|rate| rate > 0.0 && rate.is_finite())
    }
}

/// A file to measure with; dropping it removes it.
pub(super) struct TestFile {
    file: DirectFile,
    _path: TempPath,
    /// Bytes that may be used, whole requests.
    bytes: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Direction {
    Read,
    Write,
}

impl TestFile {
    /// Makes a file of at most `bytes` in `folder`, less where there is little room.
    pub fn create(folder: &Path, bytes: u64) -> Result<Self, MachineError> {
        let failed = |source| StorageError::file("measure its drive", folder, source);
        // A tenth of what is free: others need the room, too. Where the system does not tell, reserving will.
        let free = free_space(folder).unwrap_or(u64::MAX);
        if free < LEAST {
            let folder = PathBuf::from(folder);
            return Err(MachineError::Space { folder, needed: Bytes(LEAST), free: Bytes(free) });
        }
        let bytes = bytes.min(free / 10).max(LEAST) / LEAST * LEAST;
        let made = tempfile::Builder::new()
            .prefix(".gigafringe-measure-")
            .make_in(folder, |path| {
                DirectFile::create(path).map_err(|error| match error {
                    StorageError::File { source, .. } => source,
                    other => std::io::Error::other(other.to_string()),
                })
            })
            .map_err(failed)?;
        let (file, path) = made.into_parts();
        file.allocate(bytes)?;
        Ok(Self { file, _path: path, bytes })
    }

    /// Measures each direction alone, then both.
    pub fn measure(&mut self, stop: &(dyn Fn() -> bool + Sync)) -> Result<DriveFigures, MachineError> {
        let write = self.write(stop)?;
        let read = self.read(stop)?;
        let half = self.bytes / LEAST * REQUEST as u64;
        let deadline = Instant::now() + TIME;
        let (read_while_writing, write_while_reading) = std::thread::scope(|scope| {
            let both = |direction, start| {
                let file = &self.file;
                move || transfer(file, direction, (start, half), u64::MAX, deadline, stop)
            };
            let writer = std::thread::Builder::new()
                .name("measure-writer".into())
                .spawn_scoped(scope, both(Direction::Write, half))
                .map_err(MachineError::Threads)?;
            let read = both(Direction::Read, 0)();
            let write = writer
                .join()
                .map_err(|_| MachineError::Threads(std::io::Error::other("the writer ended early")))?;
            Ok::<_, MachineError>((read?, write?))
        })?;
        let direct = self.file.is_direct();
        Ok(DriveFigures { read, write, read_while_writing, write_while_reading, direct })
    }

    /// Fills the file, as far as it goes in the time; the rest is not used any more.
    pub fn write(&mut self, stop: &(dyn Fn() -> bool + Sync)) -> Result<f64, MachineError> {
        let deadline = Instant::now() + TIME;
        let started = Instant::now();
        let mut buffer = request_buffer();
        let mut done = 0;
        while done < self.bytes && (done < LEAST || Instant::now() < deadline) {
            step(&self.file, Direction::Write, &mut buffer, done, stop)?;
            done += REQUEST as u64;
        }
        self.bytes = done / LEAST * LEAST;
        Ok(done as f64 / started.elapsed().as_secs_f64())
    }

    /// Reads what was written.
    pub fn read(&self, stop: &(dyn Fn() -> bool + Sync)) -> Result<f64, MachineError> {
        let deadline = Instant::now() + TIME;
        // Short of a cache in the drive, once is enough.
        transfer(&self.file, Direction::Read, (0, self.bytes), self.bytes, deadline, stop)
    }
}

/// Bytes a second over the file's part `(start, length)`, again and again until `bytes` are moved or it is
/// time.
fn transfer(
    file: &DirectFile,
    direction: Direction,
    (start, length): (u64, u64),
    bytes: u64,
    deadline: Instant,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<f64, MachineError> {
    let mut buffer = request_buffer();
    let started = Instant::now();
    let mut done = 0;
    while done < bytes && (done == 0 || Instant::now() < deadline) {
        step(file, direction, &mut buffer, start + done % length, stop)?;
        done += REQUEST as u64;
    }
    Ok(done as f64 / started.elapsed().as_secs_f64())
}

/// Bytes that no drive can make less of.
fn request_buffer() -> AlignedBuffer {
    let mut buffer = AlignedBuffer::new(REQUEST);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for word in buffer.as_chunks_mut::<8>().0 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *word = state.to_le_bytes();
    }
    buffer
}

fn step(
    file: &DirectFile,
    direction: Direction,
    buffer: &mut [u8],
    offset: u64,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<(), MachineError> {
    if stop() {
        return Err(MachineError::Cancelled);
    }
    match direction {
        Direction::Read => file.read_at(buffer, offset)?,
        Direction::Write => file.write_at(buffer, offset)?,
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn is_empty(folder: &Path) -> bool {
        std::fs::read_dir(folder).unwrap().next().is_none()
    }

    #[test]
    fn a_folder_is_measured_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let figures = DriveFigures::measure(folder.path(), LEAST, &|| false).unwrap();
        assert!(figures.is_sound(), "{figures:?}");
        assert!(is_empty(folder.path()));
    }

    #[test]
    fn the_file_goes_whenever_the_user_stops() {
        // Eight requests at least: two each of writing and reading, and one of each at the same time.
        for last in 0..5 {
            let folder = tempfile::tempdir().unwrap();
            let asked = AtomicUsize::new(0);
            let stop = || asked.fetch_add(1, Ordering::Relaxed) >= last;
            let error = DriveFigures::measure(folder.path(), LEAST, &stop).unwrap_err();
            assert!(matches!(error, MachineError::Cancelled));
            assert!(is_empty(folder.path()), "stopped at request {last}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_measured_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("missing");
        let error = DriveFigures::measure(&missing, LEAST, &|| false).unwrap_err();
        assert!(error.to_string().contains("missing: cannot measure its drive"), "{error}");
    }

    #[test]
    fn an_emulated_drive_is_as_fast_as_the_slower_of_itself_and_the_real_one() {
        let real = DriveFigures {
            read: 300e6,
            write: 40e6,
            read_while_writing: 150e6,
            write_while_reading: 20e6,
            direct: true,
        };
        assert!((real.duplex_index() - 1.0).abs() < 1e-12);
        let expected = DriveFigures { read: 50e6, read_while_writing: 25e6, ..real };
        assert_eq!(real.emulated(&Rates::SATA), expected);
        assert_eq!(real.emulated(&Rates::NVME), real);
    }
}
