//! Amplitudes with a phase, formed in the plane's precision.

use std::ops::{AddAssign, Mul};

use multiversion::multiversion;
use num_complex::Complex;

use crate::optics::noise::RowNoise;
use crate::optics::sincos::{sin_cos_turns_f32, sin_cos_turns_f64};

/// How samples are formed in `f32` and in `f64`.
pub trait Phasor: Copy + AddAssign + Mul<Output = Self> {
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

/// Adds samples of random phase: the top 24 of a sample's random bits are its turns, in
/// [−1/2, 1/2), exact and so the same in single and in double precision.
#[multiversion(targets = "simd")]
pub fn add_random<T: Phasor>(row: RowNoise, start: u32, amplitude: &[f32], line: &mut [Complex<T>]) {
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
pub fn add_quadratic<T: Phasor>(
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
