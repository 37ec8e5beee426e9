//! A file on a drive, read and written past the system's cache where that is possible.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::aligned::block_offset;
use super::platform;
use super::{ALIGNMENT, StorageError, Store};

/// The largest single request.
const REQUEST: usize = 16 << 20;

/// A file with direct I/O for whole blocks and buffered I/O for the rest.
///
/// A request may have any offset and length. Where the buffer's address and the offset are equal
/// modulo [`ALIGNMENT`], its whole blocks go directly and only the ends that share a block with a
/// neighbour go through the system's cache; a block is thus never both.
#[derive(Debug)]
pub struct DirectFile {
    path: PathBuf,
    direct: Option<File>,
    buffered: File,
}

impl DirectFile {
    /// Opens an existing file for reading.
    pub fn open(path: &Path) -> Result<Self, StorageError> {
        let buffered = File::open(path).map_err(|e| StorageError::file("open it", path, e))?;
        Self::with_direct(path, buffered, false)
    }

    /// Creates a new file for reading and writing; one that exists is an error.
    pub fn create(path: &Path) -> Result<Self, StorageError> {
        let buffered = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
            .map_err(|e| StorageError::file("create it", path, e))?;
        Self::with_direct(path, buffered, true).inspect_err(|_| {
            // Nobody else knows of it yet.
            let _ = std::fs::remove_file(path);
        })
    }

    fn with_direct(path: &Path, buffered: File, write: bool) -> Result<Self, StorageError> {
        let direct = platform::open_direct(path, write)
            .map_err(|e| StorageError::file("open it for direct I/O", path, e))?;
        Ok(Self { path: path.into(), direct, buffered })
    }

    /// Whether whole blocks bypass the system's cache.
    #[must_use]
    pub const fn is_direct(&self) -> bool {
        self.direct.is_some()
    }

    /// Where the file is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Cuts or extends the file to `length` bytes.
    pub fn set_len(&self, length: u64) -> Result<(), StorageError> {
        self.buffered.set_len(length).map_err(|e| StorageError::file("set its length", &self.path, e))
    }

    /// The lengths of the buffered head and the direct body of a request; the rest is its tail.
    fn split(&self, address: usize, offset: u64, length: usize) -> (usize, usize) {
        let within = block_offset(offset);
        if self.direct.is_none() || address % ALIGNMENT != within {
            return (length, 0);
        }
        let head = ((ALIGNMENT - within) % ALIGNMENT).min(length);
        let body = (length - head) / ALIGNMENT * ALIGNMENT;
        (head, body)
    }

    /// Makes a request with the handle for it. Some file systems accept direct I/O at opening and
    /// refuse it here: they are served through the cache.
    fn either(&self, direct: bool, mut request: impl FnMut(&File) -> io::Result<usize>) -> io::Result<usize> {
        match &self.direct {
            Some(file) if direct => match request(file) {
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => request(&self.buffered),
                result => result,
            },
            _ => request(&self.buffered),
        }
    }

    fn transfer_error(
        &self,
        action: &'static str,
        offset: u64,
        length: usize,
        source: io::Error,
    ) -> StorageError {
        if source.kind() == io::ErrorKind::StorageFull {
            return StorageError::NoSpace { path: self.path.clone(), length: offset + length as u64, source };
        }
        StorageError::Transfer { action, path: self.path.clone(), offset, length, source }
    }
}

/// Calls `transfer(done)` until `length` bytes are done; zero bytes are an error.
fn repeat(length: usize, mut transfer: impl FnMut(usize) -> io::Result<usize>) -> io::Result<()> {
    let mut done = 0;
    while done < length {
        match transfer(done) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => done += bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl Store for DirectFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), StorageError> {
        let (head, body) = self.split(buffer.as_ptr().addr(), offset, buffer.len());
        let mut start = 0;
        for (length, direct) in [(head, false), (body, true), (buffer.len() - head - body, false)] {
            let part = &mut buffer[start..start + length];
            let at = offset + start as u64;
            repeat(length, |done| {
                let end = length.min(done + REQUEST);
                self.either(direct, |file| platform::read_at(file, &mut part[done..end], at + done as u64))
            })
            .map_err(|e| self.transfer_error("read", at, length, e))?;
            start += length;
        }
        Ok(())
    }

    fn write_at(&self, buffer: &[u8], offset: u64) -> Result<(), StorageError> {
        let (head, body) = self.split(buffer.as_ptr().addr(), offset, buffer.len());
        let mut start = 0;
        for (length, direct) in [(head, false), (body, true), (buffer.len() - head - body, false)] {
            let part = &buffer[start..start + length];
            let at = offset + start as u64;
            repeat(length, |done| {
                let end = length.min(done + REQUEST);
                self.either(direct, |file| platform::write_at(file, &part[done..end], at + done as u64))
            })
            .map_err(|e| self.transfer_error("write", at, length, e))?;
            start += length;
        }
        Ok(())
    }

    fn allocate(&self, length: u64) -> Result<(), StorageError> {
        let error = |source| StorageError::NoSpace { path: self.path.clone(), length, source };
        // fallocate finds a full disk now; setting the length alone would not.
        match fs4::FileExt::allocate(&self.buffered, length) {
            Ok(()) => {}
            // A file system that cannot reserve; a disk that fills up is then found while writing.
            Err(source) if source.kind() == io::ErrorKind::Unsupported => {}
            Err(source) => return Err(error(source)),
        }
        if self.len()? < length {
            self.set_len(length)?;
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), StorageError> {
        self.buffered.sync_all().map_err(|e| StorageError::file("sync it", &self.path, e))
    }

    fn len(&self) -> Result<u64, StorageError> {
        let metadata =
            self.buffered.metadata().map_err(|e| StorageError::file("read its length", &self.path, e))?;
        Ok(metadata.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::AlignedBuffer;

    fn pattern(length: usize) -> AlignedBuffer {
        let mut buffer = AlignedBuffer::new(length);
        for (i, byte) in buffer.iter_mut().enumerate() {
            *byte = u8::try_from((i * 31 + i / 251) % 256).unwrap();
        }
        buffer
    }

    #[test]
    fn any_offset_and_length_reads_back_what_neighbouring_writes_left() {
        let folder = tempfile::tempdir().unwrap();
        let file = DirectFile::create(&folder.path().join("plane")).unwrap();
        let whole = pattern(5 * ALIGNMENT + 777);
        file.allocate(whole.len() as u64).unwrap();
        // Pieces whose ends share blocks, in an order that is not ascending, address and offset congruent.
        let cuts = [0, 5, 4096, 4100, 9000, 12_288, 12_289, whole.len()];
        let mut pieces: Vec<_> = cuts.windows(2).map(|w| (w[0], w[1])).collect();
        pieces.reverse();
        for (start, end) in pieces {
            file.write_at(&whole[start..end], start as u64).unwrap();
        }
        file.sync().unwrap();
        assert_eq!(std::fs::read(file.path()).unwrap(), &whole[..]);
        for (start, end) in [(0, whole.len()), (1, 4095), (4096, 8192), (100, 12_300), (20_480, whole.len())]
        {
            let mut back = AlignedBuffer::new(end - start + start % ALIGNMENT);
            let part = &mut back[start % ALIGNMENT..];
            file.read_at(part, start as u64).unwrap();
            assert_eq!(part, &whole[start..end], "{start}..{end}");
            let mut unaligned = vec![0; end - start + 1];
            file.read_at(&mut unaligned[1..], start as u64).unwrap();
            assert_eq!(&unaligned[1..], &whole[start..end], "{start}..{end} at an odd address");
        }
    }

    #[test]
    fn all_whole_blocks_of_a_request_go_directly_where_address_and_offset_agree() {
        let folder = tempfile::tempdir().unwrap();
        let mut file = DirectFile::create(&folder.path().join("plane")).unwrap();
        // Whether or not this file system has direct I/O.
        file.direct = Some(File::open(file.path()).unwrap());
        for offset in [0u64, 1, 100, 4095, 4096, 5000, 1 << 40] {
            for length in [0, 1, 4095, 4096, 4097, 8191, 20_000] {
                let within = block_offset(offset);
                let (head, body) = file.split(ALIGNMENT * 7 + within, offset, length);
                assert!(head + body <= length && body.is_multiple_of(ALIGNMENT));
                assert!(body == 0 || block_offset(offset + head as u64) == 0, "{offset} {length}");
                assert!(length - body < 2 * ALIGNMENT, "{offset} {length}: only the ends are left");
                let (_, body) = file.split(ALIGNMENT * 7 + within + 8, offset, length);
                assert_eq!(body, 0, "an address that does not agree");
            }
        }
    }

    #[test]
    fn reading_past_the_end_names_file_offset_and_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("short");
        std::fs::write(&path, [1; 100]).unwrap();
        let file = DirectFile::open(&path).unwrap();
        let error = file.read_at(&mut [0; 64], 64).unwrap_err().to_string();
        assert!(
            error.contains("short") && error.contains("offset 64") && error.contains("64 bytes"),
            "{error}"
        );
    }

    #[test]
    fn an_existing_file_is_never_created_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mine");
        std::fs::write(&path, "keep").unwrap();
        assert!(DirectFile::create(&path).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"keep");
    }

    #[test]
    fn more_space_than_the_drive_has_is_refused_before_the_first_byte() {
        let folder = tempfile::tempdir().unwrap();
        let file = DirectFile::create(&folder.path().join("huge")).unwrap();
        let error = file.allocate(1 << 50).unwrap_err();
        assert!(matches!(error, StorageError::NoSpace { .. }), "{error}");
    }

    #[test]
    fn offsets_beyond_2_to_the_32_samples_land_where_they_should() {
        let folder = tempfile::tempdir().unwrap();
        let file = DirectFile::create(&folder.path().join("sparse")).unwrap();
        let offset = (1u64 << 35) + 8 * ALIGNMENT as u64;
        file.set_len(offset + 2 * ALIGNMENT as u64).unwrap();
        let block = pattern(ALIGNMENT);
        file.write_at(&block, offset).unwrap();
        let mut back = AlignedBuffer::new(3 * ALIGNMENT);
        file.read_at(&mut back, offset - ALIGNMENT as u64).unwrap();
        assert!(back[..ALIGNMENT].iter().all(|&b| b == 0));
        assert_eq!(back[ALIGNMENT..2 * ALIGNMENT], block[..]);
        assert!(back[2 * ALIGNMENT..].iter().all(|&b| b == 0));
    }
}
