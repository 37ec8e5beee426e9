//! `.npy` planes: two-dimensional, C order, little-endian, complex or real.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use py_literal::Value;

use super::{ALIGNMENT, StorageError};
use crate::optics::Encoding;

/// What a plane holds for each sample, and which complex number that stands for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Element {
    /// `complex64`: two f32.
    Complex64,
    /// `complex128`: two f64.
    Complex128,
    /// `float32`: the sample is real, an amplitude.
    Float32,
    /// `float64`: the same.
    Float64,
    /// `uint8`, k: the sample is `exp(2πi·k/256)`.
    Phase8,
    /// `uint8`, k: the sample is `k/255·full_scale`.
    Amplitude8 {
        /// The amplitude of level 255.
        full_scale: f32,
    },
    /// `float32`, an intensity: the sample is its square root.
    Intensity32,
}

impl Element {
    /// Bytes of one sample.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::Phase8 | Self::Amplitude8 { .. } => 1,
            Self::Float32 | Self::Intensity32 => 4,
            Self::Complex64 | Self::Float64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// The type as numpy writes it.
    #[must_use]
    pub const fn descr(self) -> &'static str {
        match self {
            Self::Complex64 => "<c8",
            Self::Complex128 => "<c16",
            Self::Float32 | Self::Intensity32 => "<f4",
            Self::Float64 => "<f8",
            Self::Phase8 | Self::Amplitude8 { .. } => "|u1",
        }
    }

    /// What a file of `encoding` holds, where complex samples are `complex`.
    #[must_use]
    pub const fn encoded(encoding: Encoding, complex: Self) -> Self {
        match encoding {
            Encoding::Complex => complex,
            Encoding::Phase8 => Self::Phase8,
            Encoding::Amplitude8 => Self::Amplitude8 { full_scale: 1.0 },
            Encoding::Amplitude => Self::Float32,
            Encoding::Intensity => Self::Intensity32,
        }
    }

    /// The same with `full_scale` as the amplitude of level 255, where there are levels of amplitude.
    #[must_use]
    pub const fn scaled(self, full_scale: f32) -> Self {
        match self {
            Self::Amplitude8 { .. } => Self::Amplitude8 { full_scale },
            other => other,
        }
    }

    /// What samples of the numpy type `name` are, read as `encoding`; else what is wrong and what would be
    /// right.
    pub fn of_type(name: &str, encoding: Option<Encoding>) -> Result<Self, String> {
        // A plane of real numbers is one of complex numbers, too.
        let real = matches!(encoding, None | Some(Encoding::Complex | Encoding::Amplitude));
        let complex = matches!(encoding, None | Some(Encoding::Complex));
        let wanted = encoding.unwrap_or_default();
        match (name, encoding) {
            ("<c8", _) if complex => Ok(Self::Complex64),
            ("<c16", _) if complex => Ok(Self::Complex128),
            ("<f4", _) if real => Ok(Self::Float32),
            ("<f8", _) if real => Ok(Self::Float64),
            ("<f4", Some(Encoding::Intensity)) => Ok(Self::Intensity32),
            ("|u1", Some(Encoding::Phase8)) => Ok(Self::Phase8),
            ("|u1", Some(Encoding::Amplitude8)) => Ok(Self::Amplitude8 { full_scale: 1.0 }),
            ("|u1", None) => Err("holds bytes, which may be phases or amplitudes; \
                                  say which with --encoding phase8 or --encoding amplitude8"
                .into()),
            ("<c8" | "<c16" | "<f4" | "<f8" | "|u1", _) => Err(format!(
                "holds samples of type {name}, which cannot be {wanted}; give the encoding it was made with"
            )),
            _ => Err(format!(
                "holds samples of type {name}; a plane is complex64, complex128, float32 or float64, \
                 little-endian (numpy: plane.astype('complex64')), or encoded in uint8"
            )),
        }
    }
}

/// The header of a plane's `.npy` file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NpyHeader {
    /// Samples along y.
    pub height: usize,
    /// Samples along x.
    pub width: usize,
    /// The samples' type.
    pub element: Element,
    /// Offset of the first sample in the file.
    pub data_offset: u64,
}

/// What every `.npy` file begins with, before the format's version.
const MAGIC: &[u8] = b"\x93NUMPY";

/// No header of a plane comes near this; a longer one is damage.
const LONGEST_HEADER: u64 = 1 << 16;

impl NpyHeader {
    /// A header for a file this program writes; its data begins on a block boundary.
    #[must_use]
    pub const fn new(height: usize, width: usize, element: Element) -> Self {
        Self { height, width, element, data_offset: ALIGNMENT as u64 }
    }

    /// The header's bytes, [`ALIGNMENT`] of them; numpy reads them as any other header.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = [MAGIC, &[1, 0]].concat();
        let dictionary = format!(
            "{{'descr': '{}', 'fortran_order': False, 'shape': ({}, {}), }}",
            self.element.descr(),
            self.height,
            self.width
        );
        let length = ALIGNMENT - bytes.len() - 2;
        bytes.extend_from_slice(&u16::try_from(length).unwrap_or(u16::MAX).to_le_bytes());
        bytes.extend_from_slice(dictionary.as_bytes());
        bytes.resize(ALIGNMENT - 1, b' ');
        bytes.push(b'\n');
        bytes
    }

    /// Bytes of one line along x.
    #[must_use]
    pub const fn line_bytes(&self) -> usize {
        self.width * self.element.bytes()
    }

    /// Bytes of the whole file.
    #[must_use]
    pub const fn file_bytes(&self) -> u64 {
        self.data_offset + self.height as u64 * self.line_bytes() as u64
    }

    /// Reads and checks the header of `path` and the file's length against it.
    pub fn read(path: &Path) -> Result<Self, StorageError> {
        Self::read_as(path, None)
    }

    /// The same for a plane that is stored in `encoding`.
    pub fn read_as(path: &Path, encoding: Option<Encoding>) -> Result<Self, StorageError> {
        let wrong = |problem: String| StorageError::Plane { path: path.into(), problem };
        // Before it is opened: a pipe would wait for a writer.
        let metadata = std::fs::metadata(path).map_err(|e| StorageError::file("open it", path, e))?;
        if metadata.is_dir() {
            return Err(wrong("is a folder; give a .npy file".into()));
        }
        if !metadata.is_file() {
            return Err(wrong("is not a regular file; give a .npy file".into()));
        }
        let mut file = File::open(path).map_err(|e| StorageError::file("open it", path, e))?;
        let mut head = Vec::new();
        (&mut file)
            .take(LONGEST_HEADER)
            .read_to_end(&mut head)
            .map_err(|e| StorageError::file("read its header", path, e))?;
        if !head.starts_with(MAGIC) {
            return Err(wrong("is not a .npy file, TIFF, BMP or PNG; save it with numpy.save".into()));
        }
        let (dictionary, data_offset) = dictionary(&head)
            .ok_or_else(|| wrong("has a damaged .npy header; save it again with numpy.save".into()))?;
        let entry = |name: &str| {
            let found = dictionary.iter().find(|(key, _)| matches!(key, Value::String(key) if key == name));
            found.map(|(_, value)| value).ok_or_else(|| {
                wrong(format!("has a .npy header without `{name}`; save it again with numpy.save"))
            })
        };
        let descr = entry("descr")?;
        let element = match descr {
            Value::String(descr) => Element::of_type(descr, encoding),
            other => Element::of_type(&other.to_string(), encoding),
        };
        let element = element.map_err(wrong)?;
        let shape = match entry("shape")? {
            Value::Tuple(shape) => shape,
            other => return Err(wrong(format!("has the shape {other}; a plane has two dimensions, [y, x]"))),
        };
        let [height, width] = &shape[..] else {
            return Err(wrong(format!("has {} dimensions; a plane has two, [y, x]", shape.len())));
        };
        let (Some(height), Some(width)) = (count(height), count(width)) else {
            return Err(wrong(format!("has {height} × {width} samples, which no plane has")));
        };
        if *entry("fortran_order")? != Value::Boolean(false) && height > 1 && width > 1 {
            return Err(wrong(
                "is in Fortran order; save it in C order (numpy: numpy.ascontiguousarray(plane))".into(),
            ));
        }
        let needed = (height as u64)
            .checked_mul(width as u64)
            .and_then(|n| n.checked_mul(element.bytes() as u64))
            .and_then(|n| n.checked_add(data_offset))
            .ok_or_else(|| wrong(format!("claims {height} × {width} samples, more than any file holds")))?;
        if height == 0 || width == 0 {
            return Err(wrong(format!("has {height} × {width} samples; a plane has at least one")));
        }
        if metadata.len() < needed {
            return Err(wrong(format!(
                "is cut short: {height} × {width} samples need {needed} bytes, the file has {}; make it again",
                metadata.len()
            )));
        }
        Ok(Self { height, width, element, data_offset })
    }
}

/// The header's dictionary and the offset of the data behind it; `None` if damaged.
fn dictionary(head: &[u8]) -> Option<(Vec<(Value, Value)>, u64)> {
    let (start, length) = match head.get(MAGIC.len())? {
        1 => (10, usize::from(u16::from_le_bytes(head.get(8..10)?.try_into().ok()?))),
        _ => (12, usize::try_from(u32::from_le_bytes(head.get(8..12)?.try_into().ok()?)).ok()?),
    };
    let text = std::str::from_utf8(head.get(start..start + length)?).ok()?;
    match text.trim().parse().ok()? {
        Value::Dict(entries) => Some((entries, (start + length) as u64)),
        _ => None,
    }
}

/// A dimension as a count; `None` for anything but a whole number this machine can count to.
fn count(value: &Value) -> Option<usize> {
    match value {
        Value::Integer(_) => value.to_string().parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_dictionary(dictionary: &str, data: usize) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plane.npy");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend_from_slice(&u16::try_from(dictionary.len() + 1).unwrap().to_le_bytes());
        bytes.extend_from_slice(dictionary.as_bytes());
        bytes.push(b'\n');
        bytes.resize(bytes.len() + data, 0);
        std::fs::write(&path, bytes).unwrap();
        (folder, path)
    }

    fn problem(dictionary: &str, data: usize) -> String {
        let (_folder, path) = with_dictionary(dictionary, data);
        NpyHeader::read(&path).unwrap_err().to_string()
    }

    #[test]
    fn a_written_header_is_one_block_and_reads_back() {
        for (element, encoding) in [
            (Element::Complex64, None),
            (Element::Complex128, None),
            (Element::Float32, None),
            (Element::Float64, None),
            (Element::Float32, Some(Encoding::Amplitude)),
            (Element::Intensity32, Some(Encoding::Intensity)),
            (Element::Phase8, Some(Encoding::Phase8)),
            (Element::Amplitude8 { full_scale: 1.0 }, Some(Encoding::Amplitude8)),
        ] {
            let header = NpyHeader::new(3, 5, element);
            let mut bytes = header.encode();
            assert_eq!(bytes.len(), ALIGNMENT);
            bytes.resize(usize::try_from(header.file_bytes()).unwrap(), 0);
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("plane.npy");
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(NpyHeader::read_as(&path, encoding).unwrap(), header);
        }
    }

    #[test]
    fn headers_of_other_writers_are_read() {
        let (_folder, path) =
            with_dictionary("{\"shape\": (2, 3), 'fortran_order': False, 'descr': '<c8'}", 48);
        let header = NpyHeader::read(&path).unwrap();
        assert_eq!((header.height, header.width, header.element), (2, 3, Element::Complex64));
        assert_eq!(header.file_bytes(), std::fs::metadata(&path).unwrap().len());
    }

    #[test]
    fn wrong_type_order_shape_and_length_are_each_named() {
        let file = |descr: &str, fortran: &str, shape: &str| {
            format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}")
        };
        assert!(problem(&file("<i4", "False", "(2, 2)"), 16).contains("type"));
        assert!(problem(&file("|u1", "False", "(2, 2)"), 4).contains("--encoding phase8"));
        assert!(problem(&file(">c8", "False", "(2, 2)"), 32).contains("little-endian"));
        assert!(problem(&file("<c8", "True", "(2, 2)"), 32).contains("Fortran"));
        assert!(problem(&file("<c8", "False", "(2, 2, 2)"), 64).contains("3 dimensions"));
        assert!(problem(&file("<c8", "False", "(4,)"), 32).contains("1 dimensions"));
        assert!(problem(&file("<c8", "False", "(2, 2)"), 31).contains("cut short"));
        assert!(problem(&file("<c8", "False", "(0, 2)"), 0).contains("at least one"));
        assert!(problem(&file("<c8", "False", "(9999999999999999, 9999999999)"), 9).contains("more than"));
        assert!(problem("{'descr': '<c8'", 0).contains("damaged"));
    }

    #[test]
    fn what_is_not_npy_at_all_is_said() {
        let folder = tempfile::tempdir().unwrap();
        assert!(NpyHeader::read(folder.path()).unwrap_err().to_string().contains("folder"));
        let path = folder.path().join("text.npy");
        std::fs::write(&path, "hello").unwrap();
        assert!(NpyHeader::read(&path).unwrap_err().to_string().contains("not a .npy"));
        std::fs::write(&path, "").unwrap();
        assert!(NpyHeader::read(&path).unwrap_err().to_string().contains("not a .npy"));
        let missing = folder.path().join("missing.npy");
        assert!(NpyHeader::read(&missing).unwrap_err().to_string().contains("missing.npy"));
    }
}
