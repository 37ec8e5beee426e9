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

mod geometry;
mod image;
mod phasor;
#[cfg(test)]
mod tests;

use std::any::TypeId;
use std::ops::Range;

use multiversion::multiversion;
use num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::noise::RowNoise;
use super::{Grid, Real};
use geometry::{Axis, Place, describe, fitted, steps};
pub use image::{Image, Samples};
use image::{amplitude_table, reduce};
use phasor::{Phasor, add_quadratic, add_random};

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

/// Samples interpolated at a time; the buffers for it live on the stack.
const BLOCK: usize = 1024;
/// Room for the pixels a block can need, a power of two: the step is below 2 where there are more
/// than a few pixels (see `fitted`).
const BLOCK_PIXELS: usize = 4 * BLOCK;

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

    /// The same layer with every amplitude times `factor`.
    #[must_use]
    pub fn with_amplitude(mut self, factor: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "amplitudes have single precision")]
        self.amplitudes.iter_mut().for_each(|a| *a = (f64::from(*a) * factor) as f32);
        self
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

    /// The samples `[y, x]` that a `width × height` image covers on `grid`; all others are zero.
    #[must_use]
    pub fn window_of(width: usize, height: usize, grid: &Grid) -> [Range<usize>; 2] {
        let (step_x, step_y) = steps(width, height, grid);
        [fitted(height, grid.height, step_y), fitted(width, grid.width, step_x)]
            .map(|(axis, _)| axis.covered())
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

    /// The mean of |u|² over the whole plane, exact but for rounding.
    ///
    /// Takes a few operations for each pixel of the image, not for each sample: bilinear interpolation is a
    /// product of two axes, and a sample's square has products of neighbouring pixels only.
    #[must_use]
    pub fn mean_square(&self) -> f64 {
        let (own_y, next_y) = self.y.products();
        let (own_x, next_x) = self.x.products();
        let width = self.image.width;
        // Σ over columns of the products of two rows' amplitudes, each between pixels.
        let product = |a: &[f32], b: &[f32]| {
            let mut sum = 0.0;
            for j in 0..width {
                sum += own_x[j] * f64::from(a[j]) * f64::from(b[j]);
                if j + 1 < width {
                    let crossed = a[j] * b[j + 1] + a[j + 1] * b[j];
                    sum += next_x[j] * f64::from(crossed);
                }
            }
            sum
        };
        let (mut above, mut row) = (vec![0.0f32; width], vec![0.0f32; width]);
        let mut sum = 0.0;
        for i in 0..self.image.height {
            std::mem::swap(&mut above, &mut row);
            self.image.for_codes(i, 0, row.iter_mut(), |a, code| *a = self.amplitudes[code]);
            sum += own_y[i] * product(&row, &row);
            if i > 0 {
                sum += 2.0 * next_y[i - 1] * product(&above, &row);
            }
        }
        sum / (self.x.samples as f64 * self.y.samples as f64)
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

    /// Adds the layer's samples of row `y` from column `x0` on, amplitude times `exp(iφ)`, to `line`.
    ///
    /// Amplitudes lie in [0, 1], times the layer's factor, and have single precision; the phase and the product have `T`'s.
    ///
    /// # Panics
    /// If `line` goes beyond the plane.
    pub fn add_line<T: Real>(&self, y: usize, x0: usize, line: &mut [Complex<T>]) {
        assert!(x0 + line.len() <= self.x.samples, "within a line of the plane");
        // `Real` is one of two types; their samples are formed differently.
        if TypeId::of::<T>() == TypeId::of::<f32>() {
            self.add_line_in::<f32>(y, x0, bytemuck::cast_slice_mut(line));
        } else {
            self.add_line_in::<f64>(y, x0, bytemuck::cast_slice_mut(line));
        }
    }

    /// [`Self::add_line`] in one of the precisions.
    fn add_line_in<T: Phasor>(&self, y: usize, x0: usize, line: &mut [Complex<T>]) {
        if self.line_is_zero(y) {
            return;
        }
        let mut amplitude = [0.0_f32; BLOCK];
        let mut start = self.columns.start.max(x0);
        let stop = self.columns.end.min(x0 + line.len());
        while start < stop {
            let end = stop.min(start + BLOCK);
            let amplitude = &mut amplitude[..end - start];
            self.fill_amplitudes(y, start, amplitude);
            if amplitude.iter().any(|&a| a != 0.0) {
                self.add_block(y, start, amplitude, &mut line[start - x0..end - x0]);
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
