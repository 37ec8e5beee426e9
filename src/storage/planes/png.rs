//! PNG: 8-bit gray, packed and unpacked line by line.

use std::fs::File;
use std::io::{BufReader, BufWriter, Error, ErrorKind, Write};
use std::path::Path;

use png::{BitDepth, ColorType, DecodingError, DeflateCompression, EncodingError, Filter};

use super::{Container, PlaneHeader, checked, wrong};
use crate::optics::Encoding;
use crate::storage::{AlignedBuffer, Element, StorageError, Store};

/// Lines are moved in pieces of about so many bytes.
const PIECE: usize = 1 << 20;

/// A file's decoder, its lines as they are.
fn decoder(path: &Path) -> Result<png::Decoder<BufReader<File>>, StorageError> {
    let file = File::open(path).map_err(|e| StorageError::file("open it", path, e))?;
    let mut decoder = png::Decoder::new(BufReader::with_capacity(PIECE, file));
    decoder.set_transformations(png::Transformations::IDENTITY);
    Ok(decoder)
}

fn damaged(path: &Path, error: &DecodingError) -> StorageError {
    wrong(path, format!("is a PNG that is damaged or cut short ({error}); make it again"))
}

/// The header of a gray PNG.
pub fn read(path: &Path, encoding: Option<Encoding>) -> Result<PlaneHeader, StorageError> {
    let mut decoder = decoder(path)?;
    let info = decoder.read_header_info().map_err(|error| damaged(path, &error))?;
    if (info.color_type, info.bit_depth, info.interlaced) != (ColorType::Grayscale, BitDepth::Eight, false) {
        return Err(wrong(
            path,
            "is a PNG of another kind; a plane is gray with 8 bits, not interlaced; save it as .npy or .tif",
        ));
    }
    let element = Element::of_type("|u1", encoding).map_err(|problem| wrong(path, problem))?;
    checked(path, PlaneHeader::new(Container::Png, info.height as usize, info.width as usize, element))
}

/// Lines of a piece, and the buffer for them.
fn pieces(header: &PlaneHeader) -> (usize, AlignedBuffer) {
    let lines = (PIECE / header.line_bytes.max(1)).clamp(1, header.height.max(1));
    (lines, AlignedBuffer::new(lines * header.line_bytes))
}

/// See [`PlaneHeader::pack`].
pub fn pack(
    header: &PlaneHeader,
    from: &dyn Store,
    file: &File,
    path: &Path,
    stop: impl Fn() -> bool,
) -> Result<bool, StorageError> {
    let failed = |error: EncodingError| {
        let source = match error {
            EncodingError::IoError(error) => error,
            other => Error::other(other),
        };
        if source.kind() == ErrorKind::StorageFull {
            return StorageError::NoSpace { path: path.into(), length: header.file_bytes(), source };
        }
        StorageError::file("write it", path, source)
    };
    let side = |n: usize| u32::try_from(n).map_err(|error| failed(Error::other(error).into()));
    let mut file = BufWriter::with_capacity(PIECE, file);
    let mut encoder = png::Encoder::new(&mut file, side(header.width)?, side(header.height)?);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Eight);
    // A hologram looks like noise: no filter makes it smaller, and stronger compression hardly.
    encoder.set_deflate_compression(DeflateCompression::Level(1));
    encoder.set_filter(Filter::NoFilter);
    let mut writer = encoder.write_header().map_err(failed)?;
    let mut stream = writer.stream_writer_with_size(PIECE).map_err(failed)?;
    let (lines, mut buffer) = pieces(header);
    for first in (0..header.height).step_by(lines) {
        let count = lines.min(header.height - first);
        let piece = &mut buffer[..count * header.line_bytes];
        from.read_at(piece, header.data_offset + first as u64 * header.line_bytes as u64)?;
        for line in piece.chunks(header.line_bytes) {
            if stop() {
                return Ok(false);
            }
            stream.write_all(&line[..header.width]).map_err(|error| failed(error.into()))?;
        }
    }
    stream.finish().map_err(failed)?;
    writer.finish().map_err(failed)?;
    file.flush().map_err(|error| failed(error.into()))?;
    Ok(true)
}

/// See [`PlaneHeader::unpack`].
pub fn unpack(
    header: &PlaneHeader,
    path: &Path,
    to: &dyn Store,
    stop: impl Fn() -> bool,
) -> Result<bool, StorageError> {
    let mut reader = decoder(path)?.read_info().map_err(|error| damaged(path, &error))?;
    let (lines, mut buffer) = pieces(header);
    for first in (0..header.height).step_by(lines) {
        let count = lines.min(header.height - first);
        let piece = &mut buffer[..count * header.line_bytes];
        for line in piece.chunks_mut(header.line_bytes) {
            if stop() {
                return Ok(false);
            }
            let row = reader.next_row().map_err(|error| damaged(path, &error))?;
            match row {
                Some(row) if row.data().len() == line.len() => line.copy_from_slice(row.data()),
                // Somebody replaced the file since its header was read.
                _ => return Err(wrong(path, "has changed while it was read; run the job again")),
            }
        }
        to.write_at(piece, header.data_offset + first as u64 * header.line_bytes as u64)?;
    }
    reader.finish().map_err(|error| damaged(path, &error))?;
    Ok(true)
}
