//! The transfer function of free space (angular spectrum), evaluated a line at a time.
//!
//! ```text
//! H(fy, fx) = exp(+2πi·z·sqrt(1/λ² − fx² − fy²))      propagating
//!           = exp(−2π·|z|·sqrt(fx² + fy² − 1/λ²))      evanescent
//! ```
//!
//! Time convention exp(−iωt): light travelling toward +z gains phase. The phase is formed and
//! reduced in double precision, also for f32 planes; only sine and cosine are taken in the plane's
//! precision.

use multiversion::multiversion;
use num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::Real;
use super::sincos::{sin_cos_radians_f64, sin_cos_turns_f32};

/// What becomes of frequencies beyond 1/λ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Evanescent {
    /// They decay with distance, in either direction.
    #[default]
    Decay,
    /// They are set to zero.
    Drop,
}

/// A transfer function over a padded plane; lengths in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transfer {
    /// Wavelength.
    pub wavelength: f64,
    /// Signed distance; positive is the way the light travels.
    pub distance: f64,
    /// Pitches `[y, x]`.
    pub pitch: [f64; 2],
    /// Samples of the padded plane `[y, x]`; frequencies are `fftfreq(padded, pitch)`.
    pub padded: [usize; 2],
    /// What becomes of evanescent waves.
    pub evanescent: Evanescent,
    /// Whether each axis is limited to what the padded window can carry,
    /// `|f| ≤ 1/(λ·sqrt((2z/(P·p))² + 1))` (Matsushima & Shimobaba 2009).
    pub band_limit: bool,
    /// The top fraction of each axis's band over which a raised cosine falls to zero.
    pub rolloff: f64,
}

impl Transfer {
    /// The frequency of padded index `index` along `axis` (0 is y), in 1/m.
    fn frequency(&self, axis: usize, index: usize) -> f64 {
        let padded = self.padded[axis];
        let k = if index < padded.div_ceil(2) { index as f64 } else { index as f64 - padded as f64 };
        k / (padded as f64 * self.pitch[axis])
    }

    /// The real factor of frequency `f` along `axis`: band limit and roll-off.
    fn weight(&self, axis: usize, f: f64) -> f64 {
        let pitch = self.pitch[axis];
        if self.band_limit {
            let spread = 2.0 * self.distance / (self.padded[axis] as f64 * pitch);
            let limit = 1.0 / (self.wavelength * (spread.powi(2) + 1.0).sqrt());
            if f.abs() > limit {
                return 0.0;
            }
        }
        if self.rolloff > 0.0 {
            let t = ((f.abs() * 2.0 * pitch - (1.0 - self.rolloff)) / self.rolloff).clamp(0.0, 1.0);
            return 0.5 * (1.0 + (std::f64::consts::PI * t).cos());
        }
        1.0
    }
}

/// A precision in which the propagating part can be evaluated; implemented for `f32` and `f64`.
pub trait TransferReal: Real {
    /// Fills `out[j]` with `exp(2πi·z·sqrt(max(a − fy²[j], 0)))`.
    fn propagating(a: f64, distance: f64, squares: &[f64], out: &mut [Complex<Self>]);
}

impl TransferReal for f32 {
    fn propagating(a: f64, distance: f64, squares: &[f64], out: &mut [Complex<Self>]) {
        propagating_f32(a, distance, squares, out);
    }
}

impl TransferReal for f64 {
    fn propagating(a: f64, distance: f64, squares: &[f64], out: &mut [Complex<Self>]) {
        propagating_f64(a, distance, squares, out);
    }
}

/// Adding and subtracting this rounds a double below 2⁵¹ to the nearest integer, in any vector width.
const ROUND: f64 = 1.5 * (1u64 << 52) as f64;

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma", "aarch64+neon"))]
#[expect(clippy::cast_possible_truncation, reason = "the reduced phase is rounded to f32 on purpose")]
fn propagating_f32(a: f64, distance: f64, squares: &[f64], out: &mut [Complex<f32>]) {
    for (h, &square) in out.iter_mut().zip(squares) {
        let turns = distance * (a - square).max(0.0).sqrt();
        let reduced = turns - ((turns + ROUND) - ROUND);
        let (sin, cos) = sin_cos_turns_f32(reduced as f32);
        *h = Complex::new(cos, sin);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2+fma", "aarch64+neon"))]
fn propagating_f64(a: f64, distance: f64, squares: &[f64], out: &mut [Complex<f64>]) {
    // In radians and in this order, as the definition is usually written in double precision:
    // the rounding of a phase of 10⁶ radians (1e-10) then agrees with such programs' own.
    let wave = std::f64::consts::TAU * distance;
    for (h, &square) in out.iter_mut().zip(squares) {
        let (sin, cos) = sin_cos_radians_f64(wave * (a - square).max(0.0).sqrt());
        *h = Complex::new(cos, sin);
    }
}

/// Evaluates a [`Transfer`] along y, for one x at a time and one stream of y's padded indices.
///
/// H is even in fy. A stream that mirrors onto itself is evaluated for its first half only.
pub struct TransferLines<T: TransferReal> {
    transfer: Transfer,
    streams: Vec<Stream<T>>,
}

/// What is known of one stream of y before x is.
struct Stream<T> {
    /// fy² of the indices that are evaluated, in the stream's order.
    squares: Vec<f64>,
    /// The largest of `squares`.
    largest: f64,
    /// Band limit and roll-off along y; empty where all are 1.
    weights: Vec<T>,
    /// Index `k` takes the value of `mirror − k` from `squares.len()` on.
    mirror: usize,
}

impl<T: TransferReal> TransferLines<T> {
    /// Prepares the evaluation for `streams` streams of y's padded indices.
    #[must_use]
    pub fn new(transfer: Transfer, streams: usize) -> Self {
        let length = transfer.padded[0] / streams;
        let streams = (0..streams)
            .map(|r| {
                // Index kS + r mirrors to (M − k)S − r: the same stream only if 2r is 0 or S.
                let (evaluated, mirror) = match r {
                    0 => (length / 2 + 1, length),
                    r if 2 * r == streams => (length.div_ceil(2), length - 1),
                    _ => (length, 0),
                };
                let frequencies: Vec<_> =
                    (0..evaluated).map(|k| transfer.frequency(0, k * streams + r)).collect();
                let squares: Vec<_> = frequencies.iter().map(|f| f * f).collect();
                let weights: Vec<_> = frequencies.iter().map(|&f| transfer.weight(0, f)).collect();
                let all_one = weights.iter().all(|&w| w >= 1.0);
                Stream {
                    largest: squares.iter().copied().fold(0.0, f64::max),
                    weights: if all_one { Vec::new() } else { weights.into_iter().map(T::rounded).collect() },
                    squares,
                    mirror,
                }
            })
            .collect();
        Self { transfer, streams }
    }

    /// Samples of the table that [`Self::multiply`] needs.
    #[must_use]
    pub fn table_length(&self) -> usize {
        self.streams.iter().map(|s| s.squares.len()).max().unwrap_or(0)
    }

    /// Bytes held for a padded length along y, whatever the number of streams.
    #[must_use]
    pub const fn bytes(padded: usize, sample_bytes: usize) -> usize {
        padded * (8 + sample_bytes / 2)
    }

    /// Multiplies stream `r` of the spectrum's column at padded index `x` by the transfer function.
    /// What `table` holds before and after does not matter.
    pub fn multiply(&self, x: usize, r: usize, column: &mut [Complex<T>], table: &mut [Complex<T>]) {
        let fx = self.transfer.frequency(1, x);
        let weight = self.transfer.weight(1, fx);
        if weight <= 0.0 {
            column.fill(Complex::default());
            return;
        }
        let stream = &self.streams[r];
        let table = &mut table[..stream.squares.len()];
        self.evaluate(fx, weight, stream, table);
        let split = table.len().min(column.len());
        let (first, second) = column.split_at_mut(split);
        first.iter_mut().zip(&*table).for_each(|(u, &h)| *u = *u * h);
        if !second.is_empty() {
            let mirrored = &table[..=stream.mirror - split];
            second.iter_mut().zip(mirrored.iter().rev()).for_each(|(u, &h)| *u = *u * h);
        }
    }

    /// Fills `table` with H at the evaluated indices of `stream`.
    fn evaluate(&self, fx: f64, weight: f64, stream: &Stream<T>, table: &mut [Complex<T>]) {
        let Transfer { wavelength, distance, evanescent, .. } = self.transfer;
        let a = 1.0 / (wavelength * wavelength) - fx * fx;
        T::propagating(a, distance, &stream.squares, table);
        if stream.largest > a {
            // Rare and never many: the waves that do not propagate.
            for (h, &square) in table.iter_mut().zip(&stream.squares) {
                if square > a {
                    let decay = match evanescent {
                        Evanescent::Decay => {
                            (-std::f64::consts::TAU * distance.abs() * (square - a).sqrt()).exp()
                        }
                        Evanescent::Drop => 0.0,
                    };
                    *h = Complex::new(T::rounded(decay), T::default());
                }
            }
        }
        if weight < 1.0 {
            let weight = T::rounded(weight);
            for h in &mut *table {
                *h = *h * weight;
            }
        }
        if !stream.weights.is_empty() {
            table.iter_mut().zip(&stream.weights).for_each(|(h, &w)| *h = *h * w);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// H at one frequency, by its definition.
    fn oracle(t: &Transfer, y: usize, x: usize) -> Complex<f64> {
        let (fy, fx) = (t.frequency(0, y), t.frequency(1, x));
        let q = 1.0 / t.wavelength.powi(2) - fx * fx - fy * fy;
        let h = if q >= 0.0 {
            Complex::from_polar(1.0, std::f64::consts::TAU * t.distance * q.sqrt())
        } else if t.evanescent == Evanescent::Drop {
            Complex::default()
        } else {
            Complex::from((-std::f64::consts::TAU * t.distance.abs() * (-q).sqrt()).exp())
        };
        h * t.weight(0, fy) * t.weight(1, fx)
    }

    fn worst<T: TransferReal>(t: Transfer, streams: usize) -> f64 {
        let lines = TransferLines::<T>::new(t, streams);
        let mut table = vec![Complex::new(T::rounded(f64::NAN), T::default()); lines.table_length()];
        let mut worst = 0.0f64;
        for x in 0..t.padded[1] {
            for r in 0..streams {
                let mut column = vec![Complex::new(T::one(), T::zero()); t.padded[0] / streams];
                lines.multiply(x, r, &mut column, &mut table);
                for (k, h) in column.iter().enumerate() {
                    let h = Complex::new(h.re.widened(), h.im.widened());
                    worst = worst.max((h - oracle(&t, k * streams + r, x)).norm());
                }
            }
        }
        worst
    }

    #[test]
    fn every_index_of_every_stream_has_the_value_of_the_definition() {
        let base = Transfer {
            wavelength: 532e-9,
            distance: 1e-4,
            pitch: [0.3e-6, 0.26e-6],
            padded: [24, 22],
            evanescent: Evanescent::Decay,
            band_limit: false,
            rolloff: 0.0,
        };
        let variants = [
            base,
            Transfer { distance: -1e-4, ..base },
            Transfer { evanescent: Evanescent::Drop, ..base },
            Transfer { band_limit: true, pitch: [2e-6, 3e-6], ..base },
            Transfer { rolloff: 0.3, pitch: [2e-6, 3e-6], ..base },
            Transfer { pitch: [0.2e-6, 0.2e-6], distance: 1e-7, ..base },
        ];
        for transfer in variants {
            for (padded, streams) in [([24, 22], 2), ([26, 7], 2), ([24, 9], 3), ([24, 8], 4), ([11, 5], 1)] {
                let transfer = Transfer { padded, ..transfer };
                let error = worst::<f64>(transfer, streams);
                // The oracle forms its phase the same way; what is left is the polynomials' error.
                assert!(error < 1e-15, "f64 {streams} streams, {transfer:?}: {error}");
                let error = worst::<f32>(transfer, streams);
                assert!(error < 4e-7, "f32 {streams} streams, {transfer:?}: {error}");
            }
        }
    }

    #[test]
    fn single_precision_stays_exact_at_a_distance_of_a_million_turns() {
        let transfer = Transfer {
            wavelength: 400e-9,
            distance: 0.4,
            pitch: [5e-6, 5e-6],
            padded: [64, 64],
            evanescent: Evanescent::Decay,
            band_limit: false,
            rolloff: 0.0,
        };
        let error = worst::<f32>(transfer, 2);
        assert!(error < 4e-7, "{error}");
    }
}
