//! `BigTIFF` (TIFF with 64-bit offsets, 2007): 8-bit or 32-bit float gray, uncompressed, in strips that lie
//! one after another.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use tiff::ColorType;
use tiff::decoder::Decoder;
use tiff::tags::Tag;

use super::{Container, PlaneHeader, checked, wrong};
use crate::optics::Encoding;
use crate::storage::{ALIGNMENT, Element, StorageError};

/// Bytes of a strip, at least: readers take a strip at a time.
pub const STRIP_BYTES: usize = 64 << 20;

/// The most strips, whose offsets and lengths fit in the header's block.
const MOST_STRIPS: usize = 200;

/// Where the strips' offsets lie, and behind them their lengths.
const TABLE: usize = 512;

const SHORT: u16 = 3;
const LONG: u16 = 4;
const LONG8: u16 = 16;

/// The bytes before the first line, with strips of about `strip_bytes`.
pub fn encode(header: &PlaneHeader, strip_bytes: usize) -> Vec<u8> {
    let PlaneHeader { height, line_bytes, data_offset, .. } = *header;
    let least = height.div_ceil(MOST_STRIPS).max(1);
    let rows = (strip_bytes / line_bytes.max(1)).clamp(least, height.max(1));
    let strips = height.div_ceil(rows);
    let bytes_of = |strip: usize| (rows.min(height - strip * rows) * line_bytes) as u64;
    let float = header.element.bytes() == 4;
    // One value is written in its entry, several where the entry says.
    let (offsets, counts) =
        if strips == 1 { (data_offset, bytes_of(0)) } else { (TABLE as u64, (TABLE + 8 * strips) as u64) };
    let strips_u64 = strips as u64;
    let entries: [(u16, u16, u64, u64); 10] = [
        (256, LONG, 1, header.width as u64),
        (257, LONG, 1, height as u64),
        // Bits of a sample; no compression; black is zero.
        (258, SHORT, 1, if float { 32 } else { 8 }),
        (259, SHORT, 1, 1),
        (262, SHORT, 1, 1),
        (273, LONG8, strips_u64, offsets),
        // Samples of a pixel; rows of a strip.
        (277, SHORT, 1, 1),
        (278, LONG, 1, rows as u64),
        (279, LONG8, strips_u64, counts),
        // Unsigned, or floating point.
        (339, SHORT, 1, if float { 3 } else { 1 }),
    ];
    let mut bytes = b"II\x2b\0\x08\0\0\0".to_vec();
    bytes.extend_from_slice(&16u64.to_le_bytes());
    bytes.extend_from_slice(&(entries.len() as u64).to_le_bytes());
    for (tag, kind, count, value) in entries {
        bytes.extend_from_slice(&tag.to_le_bytes());
        bytes.extend_from_slice(&kind.to_le_bytes());
        bytes.extend_from_slice(&count.to_le_bytes());
        // Little-endian: a short value is the first bytes of a long one.
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    // No further image.
    bytes.extend_from_slice(&0u64.to_le_bytes());
    if strips > 1 {
        bytes.resize(TABLE, 0);
        for strip in 0..strips {
            let offset = data_offset + (strip * rows) as u64 * line_bytes as u64;
            bytes.extend_from_slice(&offset.to_le_bytes());
        }
        for strip in 0..strips {
            bytes.extend_from_slice(&bytes_of(strip).to_le_bytes());
        }
    }
    bytes.resize(ALIGNMENT, 0);
    bytes
}

/// The header of a TIFF whose lines can be read in place.
pub fn read(path: &Path, encoding: Option<Encoding>) -> Result<PlaneHeader, StorageError> {
    let damaged = |error| wrong(path, format!("is a TIFF that cannot be read ({error}); save it again"));
    let file = File::open(path).map_err(|e| StorageError::file("open it", path, e))?;
    let mut decoder = Decoder::new(BufReader::new(file)).map_err(damaged)?;
    let (width, height) = decoder.dimensions().map_err(damaged)?;
    let kind = decoder.colortype().map_err(damaged)?;
    let mut list = |tag: Tag| -> Result<Vec<u64>, StorageError> {
        Ok(decoder.find_tag_unsigned_vec::<u64>(tag).map_err(damaged)?.unwrap_or_default())
    };
    let (offsets, counts) = (list(Tag::StripOffsets)?, list(Tag::StripByteCounts)?);
    let mut first = |tag: Tag| list(tag).map(|values| values.first().copied());
    let compression = first(Tag::Compression)?.unwrap_or(1);
    let black_is_zero = first(Tag::PhotometricInterpretation)? == Some(1);
    let format = first(Tag::SampleFormat)?.unwrap_or(1);
    let little_endian = decoder.byte_order() == tiff::tags::ByteOrder::LittleEndian;
    let type_name = match (kind, format) {
        (ColorType::Gray(8), 1) if black_is_zero => "|u1",
        (ColorType::Gray(32), 3) if black_is_zero && little_endian => "<f4",
        _ => {
            return Err(wrong(
                path,
                "is a TIFF of other samples; a plane is gray, black is zero, of 8 bits or of 32 bits \
                 floating point, little-endian",
            ));
        }
    };
    let in_place =
        "can only be read where its lines lie uncompressed one after another; save it so, or as .npy";
    if compression != 1 {
        return Err(wrong(path, format!("is a compressed TIFF, which {in_place}")));
    }
    let element = Element::of_type(type_name, encoding).map_err(|problem| wrong(path, problem))?;
    let (width, height) = (width as usize, height as usize);
    let line_bytes = width * element.bytes();
    let ends = offsets.iter().zip(&counts).map(|(offset, count)| offset.checked_add(*count));
    let contiguous = ends.zip(&offsets[offsets.len().min(1)..]).all(|(end, next)| end == Some(*next));
    let total = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
    let expected = (height as u64).checked_mul(line_bytes as u64);
    let Some(&data_offset) = offsets
        .first()
        .filter(|_| contiguous && offsets.len() == counts.len() && total.is_some() && total == expected)
    else {
        return Err(wrong(path, format!("is a TIFF in tiles or scattered strips, which {in_place}")));
    };
    checked(path, PlaneHeader { container: Container::Tiff, height, width, element, data_offset, line_bytes })
}
