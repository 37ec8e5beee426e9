//! BMP: 8 bits with a gray palette, uncompressed, the top line first, lines padded to 4 bytes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::{Container, PlaneHeader, checked, wrong};
use crate::optics::Encoding;
use crate::storage::{ALIGNMENT, Element, StorageError};

/// Bytes of the two headers before the palette.
const HEADERS: usize = 14 + 40;

/// Gray levels of the palette, four bytes each.
const PALETTE: usize = 4 * 256;

/// The bytes before the first line.
///
/// [`Container::check`] has seen to it that the numbers fit in their 32 bits.
pub fn encode(header: &PlaneHeader) -> Vec<u8> {
    let long = |value: u64| u32::try_from(value).unwrap_or(u32::MAX).to_le_bytes();
    let data_bytes = header.file_bytes() - header.data_offset;
    let mut bytes = b"BM".to_vec();
    bytes.extend(long(header.file_bytes()));
    bytes.extend([0; 4]);
    bytes.extend(long(header.data_offset));
    bytes.extend(long(40));
    bytes.extend(long(header.width as u64));
    // A height below zero: the top line comes first.
    bytes.extend((-i32::try_from(header.height).unwrap_or(i32::MAX)).to_le_bytes());
    // One plane, 8 bits, no compression.
    bytes.extend([1, 0, 8, 0, 0, 0, 0, 0]);
    bytes.extend(long(data_bytes));
    // No resolution; all 256 entries of the palette.
    bytes.extend([0; 8]);
    bytes.extend(long(256));
    bytes.extend([0; 4]);
    for level in 0..=u8::MAX {
        bytes.extend([level, level, level, 0]);
    }
    bytes.resize(ALIGNMENT, 0);
    bytes
}

/// The header of a BMP whose lines can be read in place.
pub fn read(path: &Path, encoding: Option<Encoding>) -> Result<PlaneHeader, StorageError> {
    let file = File::open(path).map_err(|e| StorageError::file("open it", path, e))?;
    let mut head = Vec::new();
    file.take(ALIGNMENT as u64)
        .read_to_end(&mut head)
        .map_err(|e| StorageError::file("read its header", path, e))?;
    let damaged = || wrong(path, "has a damaged BMP header; save it again");
    let bytes = |at: usize| -> Result<[u8; 4], StorageError> {
        head.get(at..at + 4).and_then(|b| b.try_into().ok()).ok_or_else(damaged)
    };
    let long = |at: usize| bytes(at).map(u32::from_le_bytes);
    let (data_offset, info) = (long(10)?, long(14)? as usize);
    let signed = |at: usize| bytes(at).map(i32::from_le_bytes);
    let (width, height) = (signed(18)?, signed(22)?);
    let (bits, compression) = (long(26)? >> 16, long(30)?);
    let used = long(46)?;
    let gray = || {
        let palette = head.get(14 + info..14 + info + PALETTE)?;
        let entries = palette.as_chunks::<4>().0.iter().zip(0..=u8::MAX);
        Some(entries.into_iter().all(|(entry, level)| entry[..3] == [level; 3]))
    };
    if info < HEADERS - 14
        || bits != 8
        || compression != 0
        || !matches!(used, 0 | 256)
        || gray() != Some(true)
        || height >= 0
    {
        return Err(wrong(
            path,
            "is a BMP of another kind; a plane has 8 bits, a gray palette, no compression and its top line \
             first; save it as .npy or .tif",
        ));
    }
    let element = Element::of_type("|u1", encoding).map_err(|problem| wrong(path, problem))?;
    let width = usize::try_from(width).map_err(|_| damaged())?;
    let height = height.unsigned_abs() as usize;
    let (data_offset, line_bytes) = (u64::from(data_offset), width.next_multiple_of(4));
    checked(path, PlaneHeader { container: Container::Bmp, height, width, element, data_offset, line_bytes })
}
