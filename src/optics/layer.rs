//! A layer's samples: an image's amplitudes and an initial phase, made row by row as they are needed.
//!
//! No complex plane of a layer is ever held. A sample depends only on its indices `[y, x]`, so every
//! method and every chunking sees the same layer.
//!
//! # Geometry
//! The image is scaled to fit the plane, true to its proportions in metres, and centred: the middle
//! of the image lies in the middle of the plane's window, which spans half a pitch beyond the first
//! and the last sample. (That middle is sample `(n − 1)/2`, half a sample before coordinate zero
//! when `n` is even.) An image with the plane's own size and equal pitches is taken pixel for sample.
//! Enlarging interpolates amplitudes bilinearly, the border pixels reaching out to the image's edge;
//! reducing first averages amplitudes over areas, once. Outside the image the layer is zero.

use std::any::TypeId;
use std::ops::{AddAssign, Mul, Range};

use multiversion::multiversion;
use num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::noise::RowNoise;
use super::sincos::{sin_cos_turns_f32, sin_cos_turns_f64};
use super::{Grid, Real};

/// How a layer image's values are to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Values {
    /// A value is proportional to the field's amplitude.
    Amplitude,
    /// A value is proportional to the light's intensity; the amplitude is its square root.
    Intensity,
    /// A value is sRGB encoded, as in photographs; it is decoded to linear intensity first.
    #[default]
    Srgb,
}

/// The initial phase of a layer's samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Independent and uniform in [0, 2π) for every sample: a diffuse object.
    #[default]
    Random,
    /// Zero everywhere: an object lit by a plane wave.
    Uniform,
    /// `π(cx·x² + cy·y²)`, reaching half of the grid's highest frequency at the window's edge.
    Quadratic,
}

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
    fn for_codes<I>(&self, y: usize, first: usize, items: impl Iterator<Item = I>, each: impl Fn(I, usize)) {
        let range = y * self.width + first..(y + 1) * self.width;
        match &self.samples {
            Samples::U8(v) => items.zip(&v[range]).for_each(|(item, &code)| each(item, code.into())),
            Samples::U16(v) => items.zip(&v[range]).for_each(|(item, &code)| each(item, code.into())),
        }
    }

    /// The columns between the first and the last pixel of row `y` that are above zero.
    fn filled_columns(&self, y: usize) -> Option<Range<usize>> {
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

/// How samples are formed in `f32` and in `f64`.
trait Phasor: Copy + AddAssign + Mul<Output = Self> {
    /// `v`, rounded to this type.
    fn from_amplitude(v: f32) -> Self;
    /// The turns `k·2⁻²⁴`, exact for `|k| ≤ 2²⁴`.
    fn from_turns_24(k: i32) -> Self;
    /// `turns`, rounded to this type.
    fn from_turns(turns: f64) -> Self;
    /// Sine and cosine of so many turns, between −0.5 and 0.5.
    fn sin_cos_turns(self) -> (Self, Self);
}

#[expect(clippy::inline_always, reason = "must be compiled for the caller's vector width")]
impl Phasor for f32 {
    #[inline(always)]
    fn from_amplitude(v: f32) -> Self {
        v
    }
    #[inline(always)]
    fn from_turns_24(k: i32) -> Self {
        k as f32 * (1.0 / (1 << 24) as f32)
    }
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    fn from_turns(turns: f64) -> Self {
        turns as f32
    }
    #[inline(always)]
    fn sin_cos_turns(self) -> (Self, Self) {
        sin_cos_turns_f32(self)
    }
}

#[expect(clippy::inline_always, reason = "must be compiled for the caller's vector width")]
impl Phasor for f64 {
    #[inline(always)]
    fn from_amplitude(v: f32) -> Self {
        v.into()
    }
    #[inline(always)]
    fn from_turns_24(k: i32) -> Self {
        Self::from(k) * (1.0 / f64::from(1 << 24))
    }
    #[inline(always)]
    fn from_turns(turns: f64) -> Self {
        turns
    }
    #[inline(always)]
    fn sin_cos_turns(self) -> (Self, Self) {
        sin_cos_turns_f64(self)
    }
}

/// How plane samples along one axis lie on the image's pixels: `pixel = offset + index·step`.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Axis {
    /// Samples of the plane.
    samples: usize,
    /// Pixels of the image.
    pixels: usize,
    /// Pixels from one sample to the next.
    step: f64,
}

impl Axis {
    /// Pixel coordinate of sample `index`; pixel centres are integers.
    ///
    /// Written about the middle of both, which makes it exact for a step of 1.
    #[inline]
    fn position(self, index: usize) -> f64 {
        (index as f64 - (self.samples - 1) as f64 * 0.5) * self.step + (self.pixels - 1) as f64 * 0.5
    }

    /// The pixel below sample `index`, the one after it, and the weight of the latter.
    #[inline]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the pixels")]
    fn neighbours(self, index: usize) -> (usize, usize, f32) {
        let last = self.pixels - 1;
        let position = self.position(index).clamp(0.0, last as f64);
        let below = position as usize;
        (below, (below + 1).min(last), (position - below as f64) as f32)
    }

    /// The same for the table of a row.
    fn place(self, index: usize) -> Place {
        let (left, _, weight) = self.neighbours(index);
        #[expect(clippy::cast_possible_truncation, reason = "no wider than a plane, which is below 2^24")]
        let left = left as u32;
        Place { left, weight }
    }

    /// The samples that lie on the image, edges included.
    fn covered(self) -> Range<usize> {
        // The slack keeps rounding from taking a sample on one edge and not its mirror image. An
        // image thinner than a pitch still falls on the samples next to the middle.
        let half = (self.pixels as f64 * 0.5 * (1.0 + 1e-9) / self.step).max(0.5);
        let middle = (self.samples - 1) as f64 * 0.5;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the samples")]
        let (start, end) = (
            (middle - half).ceil().max(0.0) as usize,
            ((middle + half).floor() + 1.0).min(self.samples as f64) as usize,
        );
        start..end.max(start)
    }

    /// The covered samples whose interpolation touches pixels in `pixels`.
    fn touching(self, pixels: &Range<usize>) -> Range<usize> {
        let touches = |i: usize| {
            let (a, b, weight) = self.neighbours(i);
            pixels.contains(&a) || (weight > 0.0 && pixels.contains(&b))
        };
        let mut covered = self.covered();
        while covered.start < covered.end && !touches(covered.start) {
            covered.start += 1;
        }
        while covered.start < covered.end && !touches(covered.end - 1) {
            covered.end -= 1;
        }
        covered
    }
}

/// Samples interpolated at a time; the buffers for it live on the stack.
const BLOCK: usize = 1024;
/// Room for the pixels a block can need, a power of two: the step is below 2 where there are more
/// than a few pixels (see `fitted`).
const BLOCK_PIXELS: usize = 4 * BLOCK;

/// Where a sample lies between two pixels of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Place {
    /// The pixel to the left of it, or under it.
    left: u32,
    /// The weight of the pixel after that.
    weight: f32,
}

/// One layer, ready to give its samples.
#[derive(Debug)]
pub struct LayerSource {
    image: Image,
    /// Amplitude of every code of the image.
    amplitudes: Vec<f32>,
    phase: Phase,
    seed: u64,
    index: u32,
    x: Axis,
    y: Axis,
    /// For every sample of a row, where it lies.
    places: Vec<Place>,
    /// For every image row, whether any pixel of it is above zero.
    row_filled: Vec<bool>,
    columns: Range<usize>,
    scaling: String,
}

impl LayerSource {
    /// The layer that shows `image` on a plane sampled by `grid`.
    ///
    /// `seed` and `index` (the layer's place in the project) key the random phase. An image larger
    /// than its place on the plane is reduced here, to 16-bit amplitudes.
    ///
    /// # Panics
    /// If the image is empty or its samples are not `height · width` in number.
    #[must_use]
    pub fn new(image: Image, values: Values, phase: Phase, grid: &Grid, seed: u64, index: u32) -> Self {
        let count = match &image.samples {
            Samples::U8(v) => v.len(),
            Samples::U16(v) => v.len(),
        };
        assert!(count > 0 && count == image.width * image.height, "an image of height·width samples");

        let (step_x, step_y) = steps(image.width, image.height, grid);
        let scaling = describe(&image, step_x, step_y);
        let mut amplitudes = amplitude_table(&image, values);
        let (x_axis, image_width) = fitted(image.width, grid.width, step_x);
        let (y_axis, image_height) = fitted(image.height, grid.height, step_y);
        let image = if (image_width, image_height) == (image.width, image.height) {
            image
        } else {
            let reduced = reduce(&image, &amplitudes, image_width, image_height);
            amplitudes = amplitude_table(&reduced, Values::Amplitude);
            reduced
        };

        let filled: Vec<_> = (0..image.height).map(|y| image.filled_columns(y)).collect();
        let first = filled.iter().flatten().map(|columns| columns.start).min().unwrap_or(0);
        let end = filled.iter().flatten().map(|columns| columns.end).max().unwrap_or(0);
        let row_filled = filled.iter().map(Option::is_some).collect();
        let columns = if first < end { x_axis.touching(&(first..end)) } else { 0..0 };
        let places = (0..grid.width).map(|x| x_axis.place(x)).collect();
        let (x, y) = (x_axis, y_axis);
        Self { image, amplitudes, phase, seed, index, x, y, places, row_filled, columns, scaling }
    }

    /// Memory that a layer of a `width × height` image with `bytes` of pixels will hold on `grid`, as
    /// [`Self::bytes`] tells afterwards.
    #[must_use]
    pub fn bytes_of(width: usize, height: usize, bytes: u64, grid: &Grid) -> u64 {
        let (step_x, step_y) = steps(width, height, grid);
        let (_, fitted_width) = fitted(width, grid.width, step_x);
        let (_, fitted_height) = fitted(height, grid.height, step_y);
        let kept = if (fitted_width, fitted_height) == (width, height) {
            bytes
        } else {
            2 * fitted_width as u64 * fitted_height as u64
        };
        let codes = if kept == width as u64 * height as u64 { 1 << 8 } else { 1 << 16 };
        let tables = codes * size_of::<f32>() + grid.width * size_of::<Place>() + fitted_height;
        kept + tables as u64
    }

    /// How the image came to the plane, for example `512 × 512 image, enlarged × 8 (bilinear), centred`.
    #[must_use]
    pub fn scaling(&self) -> &str {
        &self.scaling
    }

    /// Memory the layer holds, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let tables = size_of_val(&*self.amplitudes) + size_of_val(&*self.places) + self.row_filled.len();
        self.image.bytes() + tables as u64
    }

    /// Whether every sample of row `y` is zero.
    #[must_use]
    pub fn line_is_zero(&self, y: usize) -> bool {
        if self.columns.is_empty() || !self.y.covered().contains(&y) {
            return true;
        }
        let (above, below, weight) = self.y.neighbours(y);
        !(self.row_filled[above] || (weight > 0.0 && self.row_filled[below]))
    }

    /// Adds the layer's samples of row `y`, amplitude times `exp(iφ)`, to `line`.
    ///
    /// Amplitudes lie in [0, 1] and have single precision; the phase and the product have `T`'s.
    ///
    /// # Panics
    /// If `line` is not as long as the plane is wide.
    pub fn add_line<T: Real>(&self, y: usize, line: &mut [Complex<T>]) {
        assert_eq!(line.len(), self.x.samples, "a line of the plane");
        // `Real` is one of two types; their samples are formed differently.
        if TypeId::of::<T>() == TypeId::of::<f32>() {
            self.add_line_in::<f32>(y, bytemuck::cast_slice_mut(line));
        } else {
            self.add_line_in::<f64>(y, bytemuck::cast_slice_mut(line));
        }
    }

    /// [`Self::add_line`] in one of the precisions.
    fn add_line_in<T: Phasor>(&self, y: usize, line: &mut [Complex<T>]) {
        if self.line_is_zero(y) {
            return;
        }
        let mut amplitude = [0.0_f32; BLOCK];
        let mut start = self.columns.start;
        while start < self.columns.end {
            let end = self.columns.end.min(start + BLOCK);
            let amplitude = &mut amplitude[..end - start];
            self.fill_amplitudes(y, start, amplitude);
            if amplitude.iter().any(|&a| a != 0.0) {
                self.add_block(y, start, amplitude, &mut line[start..end]);
            }
            start = end;
        }
    }

    /// The amplitudes of row `y` from column `start`.
    fn fill_amplitudes(&self, y: usize, start: usize, amplitude: &mut [f32]) {
        let (above, below, weight_below) = self.y.neighbours(y);
        let places = &self.places[start..start + amplitude.len()];
        let (first, last) = (places[0].left as usize, places[places.len() - 1].left as usize);
        let mut pixels = [0.0_f32; BLOCK_PIXELS];
        // One more than the last left pixel, where there is one.
        let needed = (last + 2).min(self.image.width) - first;

        let table = &self.amplitudes;
        self.image.for_codes(above, first, pixels[..needed].iter_mut(), |p, code| *p = table[code]);
        if weight_below > 0.0 {
            self.image.for_codes(below, first, pixels[..needed].iter_mut(), |p, code| {
                *p += (table[code] - *p) * weight_below;
            });
        }
        if self.x.step.to_bits() == 1.0_f64.to_bits() && places[0].weight == 0.0 {
            amplitude.copy_from_slice(&pixels[..amplitude.len()]);
        } else {
            interpolate(&pixels, first, places, amplitude);
        }
    }

    /// Adds `amplitude·exp(iφ)` to the samples of row `y` from column `start`.
    #[expect(clippy::cast_possible_truncation, reason = "a plane's indices are below 2^24")]
    fn add_block<T: Phasor>(&self, y: usize, start: usize, amplitude: &[f32], line: &mut [Complex<T>]) {
        match self.phase {
            Phase::Uniform => {
                for (sample, &a) in line.iter_mut().zip(amplitude) {
                    sample.re += T::from_amplitude(a);
                }
            }
            Phase::Random => {
                add_random(RowNoise::new(self.seed, self.index, y as u32), start as u32, amplitude, line);
            }
            Phase::Quadratic => {
                let axis_turns = |i: usize, n: usize| {
                    let from_zero = i as f64 - (n / 2) as f64;
                    from_zero * from_zero / (4.0 * n as f64)
                };
                let row_turns = axis_turns(y, self.y.samples);
                let zero = self.x.samples / 2;
                let first = start as f64 - zero as f64;
                add_quadratic(row_turns, first, 0.25 / self.x.samples as f64, amplitude, line);
            }
        }
    }
}

/// Amplitudes at `places` between `pixels`, the first of which is pixel `first` of the image's row.
///
/// Behind the image's last pixel there is a zero; its weight is zero too.
#[multiversion(targets = "simd")]
fn interpolate(pixels: &[f32; BLOCK_PIXELS], first: usize, places: &[Place], amplitude: &mut [f32]) {
    for (a, place) in amplitude.iter_mut().zip(places) {
        // The masks change nothing; they spare the bounds checks and so let the loop vectorize.
        let i = place.left as usize - first;
        let (left, right) = (pixels[i & (BLOCK_PIXELS - 1)], pixels[(i + 1) & (BLOCK_PIXELS - 1)]);
        *a = left + (right - left) * place.weight;
    }
}

/// Adds samples of random phase: the top 24 of a sample's random bits are its turns, in
/// [−1/2, 1/2), exact and so the same in single and in double precision.
#[multiversion(targets = "simd")]
fn add_random<T: Phasor>(row: RowNoise, start: u32, amplitude: &[f32], line: &mut [Complex<T>]) {
    for ((sample, &a), x) in line.iter_mut().zip(amplitude).zip(start..) {
        let (sin, cos) = T::from_turns_24(row.at(x).cast_signed() >> 8).sin_cos_turns();
        let a = T::from_amplitude(a);
        sample.re += a * cos;
        sample.im += a * sin;
    }
}

/// Adds samples of the phase `π(cx·x² + cy·y²)`.
///
/// Its local frequency along x is `cx·x`. That shall be half of the highest, 1/(2p), at the window's
/// edge `x = n·p/2`, so `cx = 1/(2·n·p²)`. At `x = j·p` the turns are then `cx·x²/2 = j²/(4n)`: the
/// pitch drops out. `first` is j of the first sample, `scale` is 1/(4n), `row_turns` the share of y.
#[multiversion(targets = "simd")]
fn add_quadratic<T: Phasor>(
    row_turns: f64,
    first: f64,
    scale: f64,
    amplitude: &[f32],
    line: &mut [Complex<T>],
) {
    // Adding and subtracting this rounds to an integer; the turns are below 2^21.
    const ROUND: f64 = 1.5 * (1_u64 << 52) as f64;
    for ((sample, &a), i) in line.iter_mut().zip(amplitude).zip(0_i32..) {
        let j = first + f64::from(i);
        // Formed and reduced in double precision, also for single samples.
        let turns = j * j * scale + row_turns;
        let (sin, cos) = T::from_turns(turns - ((turns + ROUND) - ROUND)).sin_cos_turns();
        let a = T::from_amplitude(a);
        sample.re += a * cos;
        sample.im += a * sin;
    }
}

/// Pixels from one sample to the next along x and along y: the same in metres on both axes, and as
/// small as lets the image fit.
fn steps(width: usize, height: usize, grid: &Grid) -> (f64, f64) {
    let (px, py) = (grid.pitch_x.in_metres(), grid.pitch_y.in_metres());
    let (w, h) = (width as f64, height as f64);
    let (nx, ny) = (grid.width as f64, grid.height as f64);
    // Written so that equal sizes at equal pitches give exactly 1.
    if nx * px * h <= ny * py * w { (w / nx, w / nx * (py / px)) } else { (h / ny * (px / py), h / ny) }
}

/// The axis after reduction, and the pixels the image is to have along it.
fn fitted(pixels: usize, samples: usize, step: f64) -> (Axis, usize) {
    if step <= 1.0 {
        return (Axis { samples, pixels, step }, pixels);
    }
    // One pixel per sample it covers. Rounding leaves the step between 2/3 and 4/3, once it covers one.
    let covered = pixels as f64 / step;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and `pixels`")]
    let reduced = covered.round().clamp(1.0, pixels as f64) as usize;
    (Axis { samples, pixels: reduced, step: reduced as f64 / covered }, reduced)
}

/// What [`LayerSource::scaling`] says.
fn describe(image: &Image, step_x: f64, step_y: f64) -> String {
    let one = |step: f64| {
        // Three significant digits are plenty for a label.
        let factor = 1.0 / step;
        let digits = if factor >= 99.5 {
            0
        } else if factor >= 9.95 {
            1
        } else if factor >= 0.995 {
            2
        } else {
            3
        };
        let text = format!("{factor:.digits$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        if step < 1.0 {
            format!("enlarged × {text} (bilinear)")
        } else {
            format!("reduced × {text} (area average)")
        }
    };
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b;
    let how = match (same(step_x, 1.0), same(step_y, 1.0)) {
        (true, true) => "one pixel per sample".to_owned(),
        _ if same(step_x, step_y) => one(step_x),
        (true, false) => format!("{} along y", one(step_y)),
        (false, true) => format!("{} along x", one(step_x)),
        (false, false) => format!("{} along x and {} along y", one(step_x), one(step_y)),
    };
    format!("{} × {} image, {how}, centred", image.width, image.height)
}

/// The amplitude of every code that `image` can hold, in [0, 1]; code 0 is exactly zero.
fn amplitude_table(image: &Image, values: Values) -> Vec<f32> {
    let max = match image.samples {
        Samples::U8(_) => u32::from(u8::MAX),
        Samples::U16(_) => u32::from(u16::MAX),
    };
    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
    (0..=max).map(|code| amplitude(f64::from(code) / f64::from(max), values) as f32).collect()
}

/// The amplitude that an image value in [0, 1] stands for.
fn amplitude(value: f64, values: Values) -> f64 {
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
fn reduce(image: &Image, amplitudes: &[f32], width: usize, height: usize) -> Image {
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
fn shares(from: usize, to: usize) -> Vec<(usize, Vec<f64>)> {
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

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;
    use crate::optics::Length;

    fn grid(width: usize, height: usize, pitch_x: f64, pitch_y: f64) -> Grid {
        Grid { width, height, pitch_x: Length::metres(pitch_x), pitch_y: Length::metres(pitch_y) }
    }

    /// An image of scattered codes from 1 up, the same every time.
    fn textured(width: usize, height: usize, wide: bool) -> Image {
        let code = |i: usize, max: usize| (i * 7919 + i * i * 31) % max + 1;
        let n = width * height;
        let samples = if wide {
            Samples::U16((0..n).map(|i| u16::try_from(code(i, 65535)).unwrap()).collect())
        } else {
            Samples::U8((0..n).map(|i| u8::try_from(code(i, 255)).unwrap()).collect())
        };
        Image { width, height, samples }
    }

    fn value(image: &Image, y: usize, x: usize) -> f64 {
        match &image.samples {
            Samples::U8(v) => f64::from(v[y * image.width + x]) / 255.0,
            Samples::U16(v) => f64::from(v[y * image.width + x]) / 65535.0,
        }
    }

    fn line<T: Real>(layer: &LayerSource, y: usize, zero: T) -> Vec<Complex<T>> {
        let mut line = vec![Complex::new(zero, zero); layer.x.samples];
        layer.add_line(y, &mut line);
        line
    }

    /// Real parts of the whole plane, for layers of uniform phase.
    fn plane(layer: &LayerSource) -> Vec<Vec<f64>> {
        (0..layer.y.samples)
            .map(|y| line(layer, y, 0.0).iter().map(|v: &Complex<f64>| v.re).collect())
            .collect()
    }

    /// A sample by the definition: in metres, pixel by pixel, with the library's functions.
    fn naive_amplitude(image: &Image, values: Values, grid: &Grid, y: usize, x: usize) -> f64 {
        let (px, py) = (grid.pitch_x.in_metres(), grid.pitch_y.in_metres());
        let (w, h) = (image.width as f64, image.height as f64);
        let pixel = (grid.width as f64 * px / w).min(grid.height as f64 * py / h);
        let from_middle = [
            (x as f64 - (grid.width as f64 - 1.0) / 2.0) * px / pixel,
            (y as f64 - (grid.height as f64 - 1.0) / 2.0) * py / pixel,
        ];
        if from_middle[0].abs() > w / 2.0 + 1e-6 || from_middle[1].abs() > h / 2.0 + 1e-6 {
            return 0.0;
        }
        let u = (from_middle[0] + (w - 1.0) / 2.0).clamp(0.0, w - 1.0);
        let v = (from_middle[1] + (h - 1.0) / 2.0).clamp(0.0, h - 1.0);
        let mut sum = 0.0;
        for j in 0..image.height {
            for i in 0..image.width {
                // The tent of bilinear interpolation.
                let weight = (1.0 - (u - i as f64).abs()).max(0.0) * (1.0 - (v - j as f64).abs()).max(0.0);
                if weight > 0.0 {
                    sum += weight * decoded(value(image, j, i), values);
                }
            }
        }
        sum
    }

    fn decoded(value: f64, values: Values) -> f64 {
        match values {
            Values::Amplitude => value,
            Values::Intensity => value.powf(0.5),
            Values::Srgb if value < 0.04 => (value / 12.92).powf(0.5),
            Values::Srgb => ((value + 0.055) / 1.055).powf(1.2),
        }
    }

    fn naive_phase(phase: Phase, grid: &Grid, seed: u64, index: u32, y: usize, x: usize) -> f64 {
        match phase {
            Phase::Uniform => 0.0,
            Phase::Random => {
                let bits =
                    RowNoise::new(seed, index, u32::try_from(y).unwrap()).at(u32::try_from(x).unwrap());
                TAU * f64::from(bits >> 8) / f64::from(1 << 24)
            }
            Phase::Quadratic => {
                let one = |i: usize, n: usize, p: f64| {
                    let at = (i as f64 - (n / 2) as f64) * p;
                    at * at / (2.0 * n as f64 * p * p)
                };
                let x_part = one(x, grid.width, grid.pitch_x.in_metres());
                std::f64::consts::PI * (x_part + one(y, grid.height, grid.pitch_y.in_metres()))
            }
        }
    }

    fn assert_close<T: Real>(got: Complex<T>, want: Complex<f64>, tolerance: f64, what: &str) {
        let got = Complex::new(got.re.widened(), got.im.widened());
        assert!((got - want).norm() <= tolerance, "{what}: {got} is not {want}");
    }

    #[test]
    fn samples_agree_with_the_definition_pixel_by_pixel() {
        // Odd, oblong and unequal on purpose; the last is wider than a block.
        let cases = [
            (3, 5, grid(17, 31, 1e-6, 1e-6)),
            (7, 4, grid(40, 21, 1e-6, 1e-6)),
            (5, 5, grid(24, 13, 0.5e-6, 1e-6)),
            (4, 3, grid(11, 64, 3e-6, 0.7e-6)),
            (1, 1, grid(6, 5, 1e-6, 2e-6)),
            (9, 2, grid(2500, 30, 1e-6, 20e-6)),
        ];
        for (w, h, grid) in cases {
            for values in [Values::Amplitude, Values::Intensity, Values::Srgb] {
                for phase in [Phase::Uniform, Phase::Random, Phase::Quadratic] {
                    for wide in [false, true] {
                        let image = textured(w, h, wide);
                        let layer = LayerSource::new(image.clone(), values, phase, &grid, 11, 3);
                        for y in 0..grid.height {
                            let (single, double) = (line(&layer, y, 0.0_f32), line(&layer, y, 0.0_f64));
                            for x in 0..grid.width {
                                let want = Complex::from_polar(
                                    naive_amplitude(&image, values, &grid, y, x),
                                    naive_phase(phase, &grid, 11, 3, y, x),
                                );
                                let what =
                                    format!("{w} × {h} on {grid:?}, {values:?}, {phase:?}, ({y}, {x})");
                                // A few units in the last place of an amplitude or of a single.
                                assert_close(single[x], want, 5e-7, &what);
                                assert_close(double[x], want, 3e-7, &what);
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn lines_are_added_to_what_is_there() {
        let grid = grid(9, 6, 1e-6, 1e-6);
        let layer = LayerSource::new(textured(3, 2, false), Values::Srgb, Phase::Random, &grid, 1, 0);
        let alone = line(&layer, 2, 0.0_f64);
        let mut added = vec![Complex::new(2.0, -3.0); 9];
        layer.add_line(2, &mut added);
        for (a, b) in alone.iter().zip(&added) {
            assert_close(b - Complex::new(2.0, -3.0), *a, 1e-15, "sum");
        }
    }

    #[test]
    fn double_phases_are_exact_to_double_precision() {
        let grid = grid(64, 3, 1e-6, 1e-6);
        let white = Image { width: 64, height: 3, samples: Samples::U8(vec![255; 192]) };
        for phase in [Phase::Random, Phase::Quadratic] {
            let layer = LayerSource::new(white.clone(), Values::Amplitude, phase, &grid, 8, 1);
            for y in 0..3 {
                for (x, v) in line(&layer, y, 0.0_f64).into_iter().enumerate() {
                    let want = Complex::from_polar(1.0, naive_phase(phase, &grid, 8, 1, y, x));
                    // The oracle's own phase, up to 16π, is rounded to 4e-15.
                    assert_close(v, want, 1e-14, "phase");
                }
            }
        }
    }

    #[test]
    fn an_image_of_the_planes_size_is_taken_bit_for_bit() {
        for (w, h) in [(8, 6), (7, 5), (1500, 2)] {
            let image = textured(w, h, true);
            // A pitch whose multiples round.
            let grid = grid(w, h, 0.1e-6, 0.1e-6);
            let layer = LayerSource::new(image.clone(), Values::Amplitude, Phase::Uniform, &grid, 0, 0);
            assert!(layer.scaling().contains("one pixel per sample"), "{}", layer.scaling());
            for y in 0..h {
                for (x, v) in line(&layer, y, 0.0_f32).into_iter().enumerate() {
                    #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
                    let want = value(&image, y, x) as f32;
                    assert_eq!(v.re.to_bits(), want.to_bits(), "({y}, {x})");
                }
            }
        }
    }

    /// A letter F, which no mirror image and no transposition leaves as it is.
    const F: [&str; 5] = ["####", "#...", "###.", "#...", "#..."];

    fn letter_f() -> Image {
        let pixels = F.iter().flat_map(|row| row.bytes().map(|c| if c == b'#' { 255 } else { 0 })).collect();
        Image { width: 4, height: 5, samples: Samples::U8(pixels) }
    }

    #[test]
    fn a_letter_f_stays_a_letter_f() {
        // Enlarged three times on a plane with room at the left and at the right.
        let layer =
            LayerSource::new(letter_f(), Values::Srgb, Phase::Uniform, &grid(20, 15, 1e-6, 1e-6), 0, 0);
        let plane = plane(&layer);
        for (j, row) in F.iter().enumerate() {
            for (i, c) in row.bytes().enumerate() {
                let want = if c == b'#' { 1.0 } else { 0.0 };
                // The middle sample of three lies on the pixel's centre.
                assert!((plane[3 * j + 1][4 + 3 * i + 1] - want).abs() < 1e-6, "({j}, {i})");
            }
        }
        for row in &plane {
            assert!(row[..4].iter().chain(&row[16..]).all(|&v| v == 0.0), "{row:?}");
        }
    }

    #[test]
    fn proportions_are_kept_in_metres() {
        // A square image on samples twice as high as wide: half as many rows as columns.
        let white = Image { width: 10, height: 10, samples: Samples::U8(vec![255; 100]) };
        let layer =
            LayerSource::new(white, Values::Amplitude, Phase::Uniform, &grid(40, 40, 1e-6, 2e-6), 0, 0);
        assert_eq!(layer.columns, 0..40);
        let filled: Vec<_> = (0..40).filter(|&y| !layer.line_is_zero(y)).collect();
        assert_eq!(filled, (10..30).collect::<Vec<_>>());
        assert_eq!(
            layer.scaling(),
            "10 × 10 image, enlarged × 4 (bilinear) along x and enlarged × 2 (bilinear) along y, centred"
        );
    }

    #[test]
    fn pixel_centres_lie_half_a_pixel_inside() {
        // Two pixels on four samples: at −1/4, 1/4, 3/4 and 5/4 of a pixel.
        let image = Image { width: 2, height: 2, samples: Samples::U8(vec![0, 255, 0, 255]) };
        let layer = LayerSource::new(image, Values::Amplitude, Phase::Uniform, &grid(4, 4, 1e-6, 1e-6), 0, 0);
        for row in plane(&layer) {
            assert_eq!(row, [0.0, 0.25, 0.75, 1.0]);
        }
        assert_eq!(layer.columns, 1..4);
    }

    #[test]
    fn a_symmetric_image_gives_a_symmetric_plane() {
        for (w, h, nx, ny) in [(3, 3, 10, 10), (4, 4, 9, 9), (5, 3, 16, 11), (40, 30, 9, 10), (31, 7, 12, 12)]
        {
            let image = textured(w, h, false);
            let Samples::U8(mut v) = image.samples else { unreachable!() };
            for i in 0..v.len() / 2 {
                let last = v.len() - 1;
                v[last - i] = v[i];
            }
            let image = Image { width: w, height: h, samples: Samples::U8(v) };
            let layer =
                LayerSource::new(image, Values::Srgb, Phase::Uniform, &grid(nx, ny, 1e-6, 1e-6), 0, 0);
            let plane = plane(&layer);
            for y in 0..ny {
                for x in 0..nx {
                    let (a, b) = (plane[y][x], plane[ny - 1 - y][nx - 1 - x]);
                    assert!((a - b).abs() < 2e-5, "{w} × {h} on {nx} × {ny}, ({y}, {x}): {a} {b}");
                }
            }
        }
    }

    #[test]
    fn reducing_averages_amplitudes_over_the_pixels_of_a_sample() {
        for values in [Values::Amplitude, Values::Srgb] {
            for (fx, fy, wide) in [(4, 4, false), (3, 3, true)] {
                let image = textured(7 * fx, 5 * fy, wide);
                let layer =
                    LayerSource::new(image.clone(), values, Phase::Uniform, &grid(7, 5, 1e-6, 1e-6), 0, 0);
                assert!(layer.scaling().contains("reduced × 0."), "{}", layer.scaling());
                let plane = plane(&layer);
                for (y, row) in plane.iter().enumerate() {
                    for (x, &got) in row.iter().enumerate() {
                        let mut want = 0.0;
                        for j in 0..fy {
                            for i in 0..fx {
                                want += decoded(value(&image, y * fy + j, x * fx + i), values);
                            }
                        }
                        want /= (fx * fy) as f64;
                        // Half a step of 16 bits, and the amplitudes' own rounding.
                        assert!((got - want).abs() < 0.5 / 65535.0 + 1e-6, "({y}, {x}): {got} {want}");
                    }
                }
            }
        }
    }

    #[test]
    fn reducing_by_a_fraction_takes_each_pixel_by_its_share() {
        // Five pixels on two samples: the middle one belongs half to each.
        let image = Image { width: 5, height: 5, samples: Samples::U8([10, 20, 30, 40, 50].repeat(5)) };
        let layer = LayerSource::new(image, Values::Amplitude, Phase::Uniform, &grid(2, 2, 1e-6, 1e-6), 0, 0);
        for row in plane(&layer) {
            for (got, want) in row.iter().zip([(10.0 + 20.0 + 15.0) / 2.5, (15.0 + 40.0 + 50.0) / 2.5]) {
                assert!((got - want / 255.0).abs() < 1e-5, "{row:?}");
            }
        }
        // Reduced to a plane of 16 bits: a big image does not stay in memory.
        assert!(layer.bytes() < 300_000, "{}", layer.bytes());
    }

    #[test]
    fn sixteen_bits_are_not_cut_to_eight() {
        let image = Image { width: 3, height: 1, samples: Samples::U16(vec![1, 257, 65534]) };
        let layer = LayerSource::new(image, Values::Amplitude, Phase::Uniform, &grid(3, 1, 1e-6, 1e-6), 0, 0);
        let got: Vec<_> =
            line(&layer, 0, 0.0_f64).iter().map(|v| (v.re * 65535.0 * 1000.0).round()).collect();
        assert_eq!(got, [1000.0, 257_000.0, 65_534_000.0]);
    }

    #[test]
    fn values_are_decoded_as_declared() {
        // Mid grey 188 of sRGB is half the light of white (0.5029 by the standard's formula).
        let grey = |values| amplitude(188.0 / 255.0, values);
        assert!((grey(Values::Srgb).powi(2) - 0.502_886_458).abs() < 1e-8);
        assert!((grey(Values::Intensity).powi(2) - 188.0 / 255.0).abs() < 1e-12);
        assert!((grey(Values::Amplitude) - 188.0 / 255.0).abs() < 1e-12);
        for values in [Values::Amplitude, Values::Intensity, Values::Srgb] {
            for wide in [false, true] {
                let table = amplitude_table(&textured(1, 1, wide), values);
                assert_eq!((table[0], table[table.len() - 1]), (0.0, 1.0), "{values:?}");
                assert!(table.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
            }
        }
    }

    #[test]
    fn rows_and_columns_said_to_be_zero_are_the_ones_that_are() {
        for (w, h, nx, ny) in [(8, 8, 30, 30), (8, 8, 8, 8), (9, 7, 31, 40), (50, 40, 10, 9)] {
            let mut pixels = vec![0; w * h];
            for y in h / 4..h / 2 {
                pixels[y * w + w / 3..y * w + w / 2].fill(200);
            }
            let image = Image { width: w, height: h, samples: Samples::U8(pixels) };
            let layer =
                LayerSource::new(image, Values::Srgb, Phase::Uniform, &grid(nx, ny, 1e-6, 1e-6), 0, 0);
            let plane = plane(&layer);
            for (y, row) in plane.iter().enumerate() {
                assert_eq!(layer.line_is_zero(y), row.iter().all(|&v| v == 0.0), "{w} × {h}, row {y}");
            }
            let filled = |x: usize| plane.iter().any(|row| row[x] != 0.0);
            let first = (0..nx).find(|&x| filled(x)).unwrap();
            let end = (0..nx).rfind(|&x| filled(x)).unwrap() + 1;
            assert_eq!(layer.columns, first..end, "{w} × {h}");
        }
    }

    #[test]
    fn a_black_image_is_zero_everywhere() {
        let black = Image { width: 3, height: 3, samples: Samples::U8(vec![0; 9]) };
        let layer = LayerSource::new(black, Values::Srgb, Phase::Random, &grid(9, 9, 1e-6, 1e-6), 0, 0);
        assert!(layer.columns.is_empty());
        assert!((0..9).all(|y| layer.line_is_zero(y)));
        assert!(line(&layer, 4, 0.0_f32).iter().all(|v| v.re == 0.0 && v.im == 0.0));
    }

    #[test]
    fn a_hairline_does_not_fall_between_the_samples() {
        let hair = Image { width: 4000, height: 1, samples: Samples::U8(vec![255; 4000]) };
        for n in [8, 9] {
            let layer =
                LayerSource::new(hair.clone(), Values::Srgb, Phase::Uniform, &grid(n, n, 1e-6, 1e-6), 0, 0);
            assert!((0..n).any(|y| !layer.line_is_zero(y)), "{n}");
        }
    }

    #[test]
    fn quadratic_phase_reaches_half_the_highest_frequency_at_the_edge() {
        let n = 4096;
        let grid = grid(n, 1, 0.5e-6, 7e-6);
        let white = Image { width: n, height: 1, samples: Samples::U8(vec![255; n]) };
        let layer = LayerSource::new(white, Values::Amplitude, Phase::Quadratic, &grid, 0, 0);
        // Unequal pitches shrink nothing here: the image's own width limits it.
        let line = line(&layer, 0, 0.0_f64);
        let turns_per_sample = |x: usize| (line[x + 1] * line[x].conj()).arg() / TAU;
        assert!((turns_per_sample(n - 2) - 0.25).abs() < 1e-3, "{}", turns_per_sample(n - 2));
        assert!((turns_per_sample(0) + 0.25).abs() < 1e-3, "{}", turns_per_sample(0));
        assert!(turns_per_sample(n / 2).abs() < 1e-3);
        assert!((line[n / 2].arg()).abs() < 1e-12, "coordinate zero is sample n/2");
    }

    #[test]
    fn random_phases_differ_by_seed_by_layer_and_by_row_and_average_out() {
        let n = 1024;
        let grid = grid(n, n, 1e-6, 1e-6);
        let white = Image { width: 1, height: 1, samples: Samples::U8(vec![255]) };
        let layer = |seed, index| {
            LayerSource::new(white.clone(), Values::Amplitude, Phase::Random, &grid, seed, index)
        };
        let base = layer(5, 0);
        let others = [line(&layer(6, 0), 7, 0.0_f64), line(&layer(5, 1), 7, 0.0), line(&base, 8, 0.0)];
        let here = line(&base, 7, 0.0_f64);
        for other in &others {
            let overlap: Complex<f64> = here.iter().zip(other).map(|(a, b)| a * b.conj()).sum();
            // 1024 unit phasors add up to about 32.
            assert!(overlap.norm() < 5.0 * 32.0, "{overlap}");
        }
        let sum: Complex<f64> = (0..n).flat_map(|y| line(&base, y, 0.0_f64)).sum();
        assert!(sum.norm() < 5.0 * 1024.0, "{sum}");
        assert_eq!(here, line(&layer(5, 0), 7, 0.0), "the same again");
    }

    #[test]
    #[should_panic(expected = "a line of the plane")]
    fn a_line_of_another_length_is_a_mistake() {
        let layer =
            LayerSource::new(letter_f(), Values::Srgb, Phase::Uniform, &grid(20, 15, 1e-6, 1e-6), 0, 0);
        layer.add_line(3, &mut [Complex::new(0.0_f32, 0.0); 19]);
    }
}
