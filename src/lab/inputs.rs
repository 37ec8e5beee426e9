//! The planes and images that the lab makes for itself.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::engine::{Cancel, EngineError};
use crate::project::Precision;
use crate::run::RunError;
use crate::storage::{
    AlignedBuffer, DirectFile, Element, NpyHeader, StorageError, Store as _, save_gray_png,
};

/// A file that is made before the runs that read it.
#[derive(Debug, Clone)]
pub struct Input {
    /// The file.
    pub path: PathBuf,
    /// Samples along each side.
    pub size: usize,
    kind: Kind,
    seed: u64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    /// Complex samples, in `.npy`.
    Plane(Element),
    /// 8 bits, in a PNG.
    Image,
}

/// Bytes that are written at a time, about.
const PIECE: usize = 8 << 20;

impl Input {
    /// A plane of random samples, uniform in ±½ along both parts, in single precision.
    pub fn plane(path: PathBuf, size: usize) -> Self {
        Self::plane_of(path, size, Precision::F32)
    }

    /// The same in `precision`.
    pub fn plane_of(path: PathBuf, size: usize, precision: Precision) -> Self {
        let element = match precision {
            Precision::F32 => Element::Complex64,
            Precision::F64 => Element::Complex128,
        };
        Self { path, size, kind: Kind::Plane(element), seed: 1 }
    }

    /// An image of random grey levels, none of them black.
    pub fn image(path: PathBuf, size: usize, seed: u64) -> Self {
        Self { path, size, kind: Kind::Image, seed }
    }

    /// Bytes of the file, at most.
    pub fn bytes(&self) -> u64 {
        let samples = self.size as u64 * self.size as u64;
        match self.kind {
            Kind::Plane(element) => NpyHeader::new(self.size, self.size, element).file_bytes(),
            Kind::Image => samples + samples / 50 + 4096,
        }
    }

    /// Makes a file of the same shape that takes no room, to plan with.
    pub fn outline(&self) -> Result<(), RunError> {
        match self.kind {
            Kind::Plane(element) => {
                let header = NpyHeader::new(self.size, self.size, element);
                std::fs::write(&self.path, header.encode())
                    .and_then(|()| File::options().write(true).open(&self.path))
                    .and_then(|file| file.set_len(header.file_bytes()))
                    .map_err(|error| StorageError::file("make a plane in it", &self.path, error).into())
            }
            Kind::Image => {
                let pixels = vec![255; self.size * self.size];
                Ok(save_gray_png(&self.path, self.size, self.size, &pixels, true)?)
            }
        }
    }

    /// Gives the file its samples.
    pub fn fill(&self, cancel: &Cancel) -> Result<(), RunError> {
        self.remove();
        let mut random = Random::new(self.seed);
        match self.kind {
            Kind::Plane(element) => self.fill_plane(element, &mut random, cancel),
            Kind::Image => {
                // Patches with grain: as a photograph, no two alike.
                let patches: Vec<u8> = (0..64 * 64).map(|_| random.byte() / 2).collect();
                let pixel = |i: usize| {
                    let (y, x) = (i / self.size * 64 / self.size, i % self.size * 64 / self.size);
                    64 + patches[y * 64 + x]
                };
                let pixels: Vec<u8> =
                    (0..self.size * self.size).map(|i| pixel(i) + random.byte() / 4).collect();
                Ok(save_gray_png(&self.path, self.size, self.size, &pixels, true)?)
            }
        }
    }

    fn fill_plane(&self, element: Element, random: &mut Random, cancel: &Cancel) -> Result<(), RunError> {
        let header = NpyHeader::new(self.size, self.size, element);
        let file = DirectFile::create(&self.path)?;
        file.allocate(header.file_bytes())?;
        let mut buffer = AlignedBuffer::new(PIECE);
        let head = header.encode();
        buffer[..head.len()].copy_from_slice(&head);
        file.write_at(&buffer[..head.len()], 0)?;
        let mut at = header.data_offset;
        while at < header.file_bytes() {
            if cancel.is_cancelled() {
                return Err(EngineError::Cancelled.into());
            }
            let left = usize::try_from(header.file_bytes() - at).unwrap_or(PIECE).min(PIECE);
            if element == Element::Complex128 {
                for part in buffer[..left].as_chunks_mut::<8>().0 {
                    *part = f64::from(random.part()).to_le_bytes();
                }
            } else {
                for part in buffer[..left].as_chunks_mut::<4>().0 {
                    *part = random.part().to_le_bytes();
                }
            }
            file.write_at(&buffer[..left], at)?;
            at += left as u64;
        }
        file.sync()?;
        Ok(())
    }

    /// Removes the file.
    pub fn remove(&self) {
        // What is not there need not go; the folder goes at the end.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Random bits (xorshift64*): any will do, as long as they are the same for all.
struct Random(u64);

impl Random {
    const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    const fn bits(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    const fn byte(&mut self) -> u8 {
        (self.bits() >> 24) as u8
    }

    /// Uniform in ±½.
    fn part(&mut self) -> f32 {
        // 24 bits are exact in single precision.
        #[expect(clippy::cast_precision_loss, reason = "24 bits")]
        let unit = (self.bits() >> 8) as f32 / 16_777_216.0;
        unit - 0.5
    }
}

/// Relative L2 difference of `rows` evenly spaced rows of two complex planes of `size` and of one precision.
pub fn difference(one: &Path, other: &Path, size: usize, rows: usize) -> Result<f64, RunError> {
    let header = NpyHeader::read(one)?;
    let planes = [DirectFile::open(one)?, DirectFile::open(other)?];
    let offsets = [header.data_offset, NpyHeader::read(other)?.data_offset];
    let mut lines = [AlignedBuffer::new(header.line_bytes()), AlignedBuffer::new(header.line_bytes())];
    let (mut error, mut norm) = (0.0, 0.0);
    for row in (0..size).step_by((size / rows).max(1)) {
        for ((plane, line), offset) in planes.iter().zip(&mut lines).zip(offsets) {
            plane.read_at(line, offset + (row * header.line_bytes()) as u64)?;
        }
        let [a, b] = &lines;
        let mut add = |(a, b): (f64, f64)| {
            error += (a - b).powi(2);
            norm += b * b;
        };
        if header.element == Element::Complex128 {
            let value = |part: &[u8; 8]| f64::from_le_bytes(*part);
            let (a, b) = (a.as_chunks().0.iter().map(value), b.as_chunks().0.iter().map(value));
            a.zip(b).for_each(&mut add);
        } else {
            let value = |part: &[u8; 4]| f64::from(f32::from_le_bytes(*part));
            let (a, b) = (a.as_chunks().0.iter().map(value), b.as_chunks().0.iter().map(value));
            a.zip(b).for_each(&mut add);
        }
    }
    Ok((error / norm).sqrt())
}
