//! A layer's image: pixels, their amplitudes, and its reduction.

use std::ops::Range;

use super::Values;

/// The pixels of a single-channel image, in C order `[y, x]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Samples {
    /// 0 is black, 255 is white.
    U8(Vec<u8>),
    /// 0 is black, 65535 is white.
    U16(Vec<u16>),
}

/// A single-channel image: `height × width` pixels, row 0 first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Pixels along x.
    pub width: usize,
    /// Pixels along y.
    pub height: usize,
    /// `height · width` pixels.
    pub samples: Samples,
}

impl Image {
    /// Memory the pixels take, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.samples {
            Samples::U8(v) => v.len() as u64,
            Samples::U16(v) => 2 * v.len() as u64,
        }
    }

    /// Calls `each` with every item of `items` and the code of the pixel that belongs to it: those of
    /// row `y` from column `first`.
    #[inline]
    pub(super) fn for_codes<I>(
        &self,
        y: usize,
        first: usize,
        items: impl Iterator<Item = I>,
        each: impl Fn(I, usize),
    ) {
        let range = y * self.width + first..(y + 1) * self.width;
        match &self.samples {
            Samples::U8(v) => items.zip(&v[range]).for_each(|(item, &code)| each(item, code.into())),
            Samples::U16(v) => items.zip(&v[range]).for_each(|(item, &code)| each(item, code.into())),
        }
    }

    /// The columns between the first and the last pixel of row `y` that are above zero.
    pub(super) fn filled_columns(&self, y: usize) -> Option<Range<usize>> {
        fn ends<T: Copy + Into<u16>>(row: &[T]) -> Option<Range<usize>> {
            let filled = |&v: &T| v.into() > 0;
            Some(row.iter().position(filled)?..row.iter().rposition(filled)? + 1)
        }
        let range = y * self.width..(y + 1) * self.width;
        match &self.samples {
            Samples::U8(v) => ends(&v[range]),
            Samples::U16(v) => ends(&v[range]),
        }
    }
}

/// The amplitude of every code that `image` can hold, in [0, 1]; code 0 is exactly zero.
pub fn amplitude_table(image: &Image, values: Values) -> Vec<f32> {
    let max = match image.samples {
        Samples::U8(_) => u32::from(u8::MAX),
        Samples::U16(_) => u32::from(u16::MAX),
    };
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    (0..=max).map(|code| amplitude(f64::from(code) / f64::from(max), values) as f32).collect()
}

/// The amplitude that an image value in [0, 1] stands for.
pub fn amplitude(value: f64, values: Values) -> f64 {
    match values {
        Values::Amplitude => value,
        Values::Intensity => value.sqrt(),
        // IEC 61966-2-1.
        Values::Srgb if value <= 0.04045 => (value / 12.92).sqrt(),
        Values::Srgb => ((value + 0.055) / 1.055).powf(2.4).sqrt(),
    }
}

/// `image` reduced to `width × height` pixels (neither larger than it has) by averaging its
/// amplitudes over areas; the result's values are amplitudes in 16 bits.
pub fn reduce(image: &Image, amplitudes: &[f32], width: usize, height: usize) -> Image {
    let columns = shares(image.width, width);
    let rows = shares(image.height, height);
    let mut samples = Vec::with_capacity(width * height);
    let mut pixels = vec![0.0_f64; image.width];
    for (y, weights) in rows {
        pixels.fill(0.0);
        for (y, weight) in (y..).zip(weights) {
            image.for_codes(y, 0, pixels.iter_mut(), |pixel, code| {
                *pixel += f64::from(amplitudes[code]) * weight;
            });
        }
        samples.extend(columns.iter().map(|(x, weights)| {
            let mean: f64 = pixels[*x..].iter().zip(weights).map(|(a, weight)| a * weight).sum();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a mean of [0, 1]")]
            let code = (mean * f64::from(u16::MAX)).round() as u16;
            code
        }));
    }
    Image { width, height, samples: Samples::U16(samples) }
}

/// For each of `to` equal parts of `from` pixels: the first pixel it overlaps, and the share that
/// each pixel from there on has in it.
pub fn shares(from: usize, to: usize) -> Vec<(usize, Vec<f64>)> {
    // In units of 1/to of a pixel everything is an integer.
    (0..to)
        .map(|part| {
            let (start, end) = (part * from, (part + 1) * from);
            let first = start / to;
            let weights = (first..end.div_ceil(to))
                .map(|pixel| (((pixel + 1) * to).min(end) - (pixel * to).max(start)) as f64 / from as f64)
                .collect();
            (first, weights)
        })
        .collect()
}
