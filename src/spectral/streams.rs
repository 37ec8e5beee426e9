//! The padded spectrum of a line, one residue class of its indices ("stream") at a time.
//!
//! A line of `n` samples, padded with zeros to `P`, has the spectrum `X[0..P]`. Stream `r` of `S`
//! is `X[kS + r]`, `k = 0..M`, `M = P/S`; it needs one transform of length `M` and no padding in
//! memory:
//!
//! ```text
//! x_r[j] = Σ_q u[j + qM]·ω^(r(j + qM)),   ω = exp(−2πi/P)
//! X[kS + r] = DFT_M(x_r)[k]
//! out[j + qM] = (1/S)·Σ_r ω^(−r(j + qM))·IDFT_M(X_r)[j]
//! ```
//!
//! `P = 2n, S = 2` gives the even and odd streams of Lee & Kim (2023). Their centred transforms
//! multiply by further twiddles before and after; in a convolution those of the forward and the
//! inverse transform cancel, all but the odd stream's `ω^j`.

use std::sync::Arc;

use num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use super::is_smooth;
use crate::optics::Real;

/// How a line is padded and split into streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Split {
    /// Samples of the line.
    pub length: usize,
    /// Samples of the padded line, at least `length` and a multiple of `streams`.
    pub padded: usize,
    /// Number of streams.
    pub streams: usize,
}

impl Split {
    /// Samples of one stream.
    #[must_use]
    pub const fn stream_length(&self) -> usize {
        self.padded / self.streams
    }
}

/// Transforms between a line and the streams of its padded spectrum.
pub struct Streams<T: Real> {
    split: Split,
    forward: Arc<dyn Fft<T>>,
    inverse: Arc<dyn Fft<T>>,
    /// `ω^(r·j)` for `j` in the line, for streams `1..`; stream 0 needs none.
    twiddles: Vec<Vec<Complex<T>>>,
}

impl<T: Real> Streams<T> {
    /// Plans the transforms of `split`.
    ///
    /// # Panics
    /// If `padded` is less than `length` or not a multiple of `streams`.
    #[must_use]
    pub fn new(split: Split) -> Self {
        assert!(split.padded >= split.length && split.padded.is_multiple_of(split.streams), "{split:?}");
        let mut planner = FftPlanner::new();
        let period = split.padded as u128;
        let twiddles = (1..split.streams)
            .map(|r| {
                (0..split.length)
                    .map(|j| {
                        // The index is reduced exactly, so the angle is as good as f64 allows.
                        let turns = ((r as u128 * j as u128) % period) as f64 / split.padded as f64;
                        let (sin, cos) = (-std::f64::consts::TAU * turns).sin_cos();
                        Complex::new(T::rounded(cos), T::rounded(sin))
                    })
                    .collect()
            })
            .collect();
        Self {
            forward: planner.plan_fft_forward(split.stream_length()),
            inverse: planner.plan_fft_inverse(split.stream_length()),
            twiddles,
            split,
        }
    }

    /// The split this was planned for.
    #[must_use]
    pub const fn split(&self) -> Split {
        self.split
    }

    /// Samples of scratch that [`Self::forward`] and [`Self::inverse`] need.
    #[must_use]
    pub fn scratch_length(&self) -> usize {
        self.forward.get_inplace_scratch_len().max(self.inverse.get_inplace_scratch_len())
    }

    /// Bytes of the tables, an estimate for the transforms' own included.
    #[must_use]
    pub const fn table_bytes(split: Split, sample_bytes: usize) -> usize {
        let own = if is_smooth(split.stream_length()) { 4 } else { 16 };
        ((split.streams - 1) * split.length + own * split.stream_length()) * sample_bytes
    }

    /// An upper bound of [`Self::scratch_length`] that needs no planning.
    #[must_use]
    pub const fn scratch_bound(split: Split) -> usize {
        let m = split.stream_length();
        if is_smooth(m) { 2 * m } else { 8 * m + 64 }
    }

    /// Transforms `line`, all of one stream, in its place, unnormalised.
    pub fn forward_whole(&self, line: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        debug_assert!(self.split.streams == 1 && line.len() == self.split.padded);
        self.forward.process_with_scratch(line, scratch);
    }

    /// The reverse of [`Self::forward_whole`] but for a factor: the padded length.
    pub fn inverse_whole(&self, line: &mut [Complex<T>], scratch: &mut [Complex<T>]) {
        debug_assert!(self.split.streams == 1 && line.len() == self.split.padded);
        self.inverse.process_with_scratch(line, scratch);
    }

    /// Fills `stream` (of the stream's length) with stream `r` of `line`'s padded spectrum, unnormalised.
    /// What `scratch` holds before and after does not matter.
    pub fn forward(
        &self,
        r: usize,
        line: &[Complex<T>],
        stream: &mut [Complex<T>],
        scratch: &mut [Complex<T>],
    ) {
        let line = &line[..self.split.length];
        let m = stream.len();
        if line.len() < m {
            stream[line.len()..].fill(Complex::default());
        }
        for (q, part) in line.chunks(m).enumerate() {
            let stream = &mut stream[..part.len()];
            match (q, r) {
                (0, 0) => stream.copy_from_slice(part),
                (_, 0) => stream.iter_mut().zip(part).for_each(|(x, &u)| *x = *x + u),
                _ => {
                    let twiddles = &self.twiddles[r - 1][q * m..];
                    let products = part.iter().zip(twiddles).map(|(&u, &w)| u * w);
                    if q == 0 {
                        stream.iter_mut().zip(products).for_each(|(x, p)| *x = p);
                    } else {
                        stream.iter_mut().zip(products).for_each(|(x, p)| *x = *x + p);
                    }
                }
            }
        }
        self.forward.process_with_scratch(stream, scratch);
    }

    /// Transforms `stream`, stream `r` of a spectrum, back and adds its part to `line`, times
    /// `1/P`: over all streams the inverse of the padded transform. `stream` is overwritten.
    pub fn inverse_add(
        &self,
        r: usize,
        stream: &mut [Complex<T>],
        line: &mut [Complex<T>],
        scratch: &mut [Complex<T>],
    ) {
        self.inverse.process_with_scratch(stream, scratch);
        let scale = T::rounded(1.0 / self.split.padded as f64);
        let line = &mut line[..self.split.length];
        let m = stream.len();
        for (q, part) in line.chunks_mut(m).enumerate() {
            if r == 0 {
                part.iter_mut().zip(&*stream).for_each(|(o, &y)| *o = *o + y * scale);
            } else {
                let twiddles = &self.twiddles[r - 1][q * m..];
                for ((o, &y), &w) in part.iter_mut().zip(&*stream).zip(twiddles) {
                    *o = *o + y * w.conj() * scale;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize) -> Vec<Complex<f64>> {
        let mut state = 7u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        };
        (0..n).map(|_| Complex::new(next(), next())).collect()
    }

    /// The padded spectrum by its definition.
    fn spectrum(line: &[Complex<f64>], padded: usize) -> Vec<Complex<f64>> {
        (0..padded)
            .map(|k| {
                line.iter()
                    .enumerate()
                    .map(|(n, u)| {
                        let turns = (k * n % padded) as f64 / padded as f64;
                        u * Complex::from_polar(1.0, -std::f64::consts::TAU * turns)
                    })
                    .sum()
            })
            .collect()
    }

    const SPLITS: [(usize, usize, usize); 8] =
        [(16, 32, 2), (15, 30, 2), (1, 2, 2), (13, 13, 1), (12, 20, 4), (10, 15, 3), (9, 40, 5), (14, 16, 8)];

    #[test]
    fn every_stream_is_its_residue_class_of_the_padded_spectrum() {
        for (length, padded, streams) in SPLITS {
            let split = Split { length, padded, streams };
            let plan = Streams::<f64>::new(split);
            let line = noise(length);
            let oracle = spectrum(&line, padded);
            let mut scratch = vec![Complex::new(f64::NAN, 3.0); plan.scratch_length()];
            for r in 0..streams {
                let mut stream = vec![Complex::new(9.0, f64::NAN); split.stream_length()];
                plan.forward(r, &line, &mut stream, &mut scratch);
                for (k, x) in stream.iter().enumerate() {
                    let error = (x - oracle[k * streams + r]).norm();
                    assert!(error < 1e-13 * padded as f64, "{split:?} stream {r} index {k}: {error}");
                }
            }
        }
    }

    #[test]
    fn the_scratch_of_every_length_is_within_its_bound() {
        let lengths =
            (1..700).chain([1024, 4096, 4099, 6561, 8191, 16_384, 20_011, 65_536, 100_000, 131_072]);
        for m in lengths {
            let split = Split { length: m, padded: m, streams: 1 };
            let plans =
                [Streams::<f32>::new(split).scratch_length(), Streams::<f64>::new(split).scratch_length()];
            for scratch in plans {
                assert!(scratch <= Streams::<f32>::scratch_bound(split), "{m}: {scratch}");
            }
        }
    }

    #[test]
    fn all_streams_back_again_are_the_line() {
        for (length, padded, streams) in SPLITS {
            let split = Split { length, padded, streams };
            let plan = Streams::<f64>::new(split);
            let line = noise(length);
            let mut scratch = vec![Complex::default(); plan.scratch_length()];
            let mut back = vec![Complex::default(); length];
            let mut stream = vec![Complex::default(); split.stream_length()];
            for r in 0..streams {
                plan.forward(r, &line, &mut stream, &mut scratch);
                plan.inverse_add(r, &mut stream, &mut back, &mut scratch);
            }
            for (a, b) in line.iter().zip(&back) {
                assert!((a - b).norm() < 1e-14, "{split:?}");
            }
        }
    }
}
