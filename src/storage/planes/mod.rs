//! Planes in files: `.npy`, and gray TIFF, BMP and PNG for encoded holograms.
//!
//! In all but PNG the lines lie one after another at an offset, so that they are written in any order and
//! read in place; a written file's lines begin on a block boundary. A PNG's lines are compressed: they are
//! packed from a file of plain lines when that is complete, and unpacked into one before they are read.

mod bmp;
mod png;
mod tiff;

use std::fmt;
use std::io::Read as _;
use std::path::Path;

use super::{ALIGNMENT, Element, NpyHeader, StorageError};
use crate::optics::Encoding;

/// What holds a plane's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Container {
    /// A numpy array.
    Npy,
    /// A `BigTIFF`, uncompressed.
    Tiff,
    /// A BMP with a gray palette, uncompressed, top line first.
    Bmp,
    /// A PNG.
    Png,
}

/// The most bytes of a BMP or PNG: their fields, and most readers', have 32 bits.
const MOST_BYTES: u64 = u32::MAX as u64;

/// The longest side of a PNG that common readers take.
const MOST_PNG_PIXELS: usize = 65_535;

impl Container {
    /// The container that the ending of `path` names.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_ascii_lowercase();
        match ending.to_str()? {
            "npy" => Some(Self::Npy),
            "tif" | "tiff" => Some(Self::Tiff),
            "bmp" => Some(Self::Bmp),
            "png" => Some(Self::Png),
            _ => None,
        }
    }

    /// The endings, without dot, of files that can hold samples in `encoding`; the most able first.
    #[must_use]
    pub const fn endings(encoding: Encoding) -> &'static [&'static str] {
        match encoding {
            Encoding::Complex => &["npy"],
            Encoding::Amplitude | Encoding::Intensity => &["npy", "tif", "tiff"],
            Encoding::Phase8 | Encoding::Amplitude8 => &["npy", "tif", "tiff", "bmp", "png"],
        }
    }

    /// Checks that a file named `path` can hold `height × width` samples in `encoding`; else what is wrong
    /// and what would be right.
    pub fn check(path: &Path, encoding: Encoding, height: usize, width: usize) -> Result<Self, String> {
        let endings = Self::endings(encoding);
        let wrong = |problem: String| Err(format!("{}: {problem}", path.display()));
        let ending = path.extension().unwrap_or_default();
        let known = Self::of(path).filter(|_| endings.iter().any(|e| ending.eq_ignore_ascii_case(e)));
        let Some(container) = known else {
            if encoding == Encoding::Complex {
                return wrong(
                    "complex samples are stored as .npy; name the file so or choose another encoding".into(),
                );
            }
            let (last, rest) = endings.split_last().unwrap_or((&"npy", &[]));
            let rest: Vec<_> = rest.iter().map(|e| format!(".{e}")).collect();
            return wrong(format!(
                "{encoding} samples are stored as {} or .{last}; name the file so or choose another encoding",
                rest.join(", ")
            ));
        };
        let name = container.to_string();
        if container == Self::Png && width.max(height) > MOST_PNG_PIXELS {
            return wrong(format!(
                "a {name} has at most {MOST_PNG_PIXELS} pixels a side, this hologram {width} × {height}; \
                 name the file .tif or .npy"
            ));
        }
        let bytes = PlaneHeader::new(container, height, width, Element::Phase8).file_bytes();
        if matches!(container, Self::Bmp | Self::Png) && bytes > MOST_BYTES {
            return wrong(format!(
                "a {name} holds at most 4 GiB, this hologram has {bytes} bytes; name the file .tif or .npy"
            ));
        }
        Ok(container)
    }
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Npy => ".npy",
            Self::Tiff => "TIFF",
            Self::Bmp => "BMP",
            Self::Png => "PNG",
        })
    }
}

/// Where the lines of a plane lie in its file, and what they hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlaneHeader {
    /// What holds them.
    pub container: Container,
    /// Samples along y.
    pub height: usize,
    /// Samples along x.
    pub width: usize,
    /// The samples' type.
    pub element: Element,
    /// Offset of the first line: in the file, or in the file of plain lines where they are packed.
    pub data_offset: u64,
    /// Bytes from one line to the next.
    pub line_bytes: usize,
}

impl From<NpyHeader> for PlaneHeader {
    fn from(header: NpyHeader) -> Self {
        let NpyHeader { height, width, element, data_offset } = header;
        let line_bytes = header.line_bytes();
        Self { container: Container::Npy, height, width, element, data_offset, line_bytes }
    }
}

impl PlaneHeader {
    /// A header for a file this program writes; its data begins on a block boundary.
    #[must_use]
    pub const fn new(container: Container, height: usize, width: usize, element: Element) -> Self {
        let line_bytes = width * element.bytes();
        let (data_offset, line_bytes) = match container {
            Container::Npy | Container::Tiff => (ALIGNMENT as u64, line_bytes),
            Container::Bmp => (ALIGNMENT as u64, line_bytes.next_multiple_of(4)),
            Container::Png => (0, line_bytes),
        };
        Self { container, height, width, element, data_offset, line_bytes }
    }

    /// The bytes before the first line: [`ALIGNMENT`] of them, none where lines are packed.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let Self { height, width, element, data_offset, .. } = *self;
        match self.container {
            Container::Npy => NpyHeader { height, width, element, data_offset }.encode(),
            Container::Tiff => tiff::encode(self, tiff::STRIP_BYTES),
            Container::Bmp => bmp::encode(self),
            Container::Png => Vec::new(),
        }
    }

    /// Bytes of the whole file, before its lines are packed.
    #[must_use]
    pub const fn file_bytes(&self) -> u64 {
        self.data_offset + self.height as u64 * self.line_bytes as u64
    }

    /// Whether the file's lines are compressed.
    #[must_use]
    pub const fn is_packed(&self) -> bool {
        matches!(self.container, Container::Png)
    }

    /// Reads and checks the header of `path` and the file's length against it.
    ///
    /// `encoding` says what samples of 8 bits and of single precision are; without it the former are
    /// refused and the latter amplitudes. A scale of amplitudes in 8 bits is not known: it is 1.
    pub fn read(path: &Path, encoding: Option<Encoding>) -> Result<Self, StorageError> {
        let mut magic = Vec::new();
        // What is no regular file, or cannot be opened, is told of below; a pipe would wait for a writer.
        if std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file())
            && let Ok(file) = std::fs::File::open(path)
        {
            let _ = file.take(8).read_to_end(&mut magic);
        }
        let header = match &magic[..] {
            [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => tiff::read(path, encoding),
            [b'B', b'M', ..] => bmp::read(path, encoding),
            [0x89, b'P', b'N', b'G', ..] => png::read(path, encoding),
            _ => NpyHeader::read_as(path, encoding).map(Into::into),
        }?;
        Ok(header)
    }

    /// Packs the plain lines in `from` into the file that becomes `path`; false when `stop` said so before
    /// it was complete.
    pub fn pack(
        &self,
        from: &dyn super::Store,
        file: &std::fs::File,
        path: &Path,
        stop: impl Fn() -> bool,
    ) -> Result<bool, StorageError> {
        png::pack(self, from, file, path, stop)
    }

    /// Unpacks the lines of `path` into `to`; false when `stop` said so before it was complete.
    pub fn unpack(
        &self,
        path: &Path,
        to: &dyn super::Store,
        stop: impl Fn() -> bool,
    ) -> Result<bool, StorageError> {
        png::unpack(self, path, to, stop)
    }
}

/// The error that `path` is no usable plane.
fn wrong(path: &Path, problem: impl Into<String>) -> StorageError {
    StorageError::Plane { path: path.into(), problem: problem.into() }
}

/// A header that was read, checked against the length of its file.
fn checked(path: &Path, header: PlaneHeader) -> Result<PlaneHeader, StorageError> {
    let PlaneHeader { height, width, line_bytes, data_offset, .. } = header;
    if height == 0 || width == 0 {
        return Err(wrong(path, format!("has {height} × {width} samples; a plane has at least one")));
    }
    let needed = (height as u64).checked_mul(line_bytes as u64).and_then(|n| n.checked_add(data_offset));
    let needed = needed
        .ok_or_else(|| wrong(path, format!("claims {height} × {width} samples, more than any file holds")))?;
    let length = std::fs::metadata(path).map_err(|e| StorageError::file("open it", path, e))?.len();
    if length < needed && !header.is_packed() {
        return Err(wrong(
            path,
            format!(
                "is cut short: {height} × {width} samples need {needed} bytes, the file has {length}; \
                 make it again"
            ),
        ));
    }
    Ok(header)
}

#[cfg(test)]
mod tests;
