//! What is stored for each sample of a hologram: the sample itself, or its phase or amplitude.
//!
//! | encoding | stored | of a sample u |
//! |---|---|---|
//! | `complex` | two f32 or f64 | u |
//! | `phase8` | u8 | `round(arg(u)/2π·256) mod 256`: a full turn is 256 levels, rounded and wrapped; 0 where u is 0 |
//! | `amplitude8` | u8 | `min(255, round(|u|/s·255))`, s the full scale |
//! | `amplitude` | f32 | `|u|` |
//! | `intensity` | f32 | `|u|²` |

use std::fmt;

use multiversion::multiversion;
use num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::Real;

/// How a hologram's samples are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// Complex samples, as computed.
    #[default]
    Complex,
    /// The phase in 8 bits: a full turn is 256 levels.
    Phase8,
    /// The amplitude in 8 bits, 255 being the full scale.
    Amplitude8,
    /// The amplitude |u|, in single precision.
    Amplitude,
    /// The intensity |u|², in single precision.
    Intensity,
}

impl Encoding {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Complex, Self::Phase8, Self::Amplitude8, Self::Amplitude, Self::Intensity];

    /// Bytes of a stored sample, where a complex one has `complex` bytes.
    #[must_use]
    pub const fn sample_bytes(self, complex: usize) -> usize {
        match self {
            Self::Complex => complex,
            Self::Phase8 | Self::Amplitude8 => 1,
            Self::Amplitude | Self::Intensity => 4,
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Complex => "complex",
            Self::Phase8 => "phase8",
            Self::Amplitude8 => "amplitude8",
            Self::Amplitude => "amplitude",
            Self::Intensity => "intensity",
        })
    }
}

/// Root mean squares that the full scale of `amplitude8` is by default: of fully developed speckle, whose
/// intensities fall off exponentially, one sample in nine million (`exp(−16)`) is brighter.
const FULL_SCALE: f64 = 4.0;

/// The full scale of `amplitude8` for a plane whose mean of |u|² is `mean_square`; 1 for a dark plane.
#[must_use]
pub fn full_scale(mean_square: f64) -> f64 {
    if mean_square > 0.0 { FULL_SCALE * mean_square.sqrt() } else { 1.0 }
}

/// Encodes lines of samples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Encoder {
    /// What is stored.
    pub encoding: Encoding,
    /// The amplitude that is 255 in `amplitude8`; above zero.
    pub full_scale: f64,
}

impl Encoder {
    /// Writes the encoded samples of `line` to `out`, little-endian, and tells how many of them were
    /// brighter than the full scale (`amplitude8` alone).
    ///
    /// A sample's bytes depend on that sample alone: not on its place in the line, nor on the width of the
    /// machine's vectors.
    ///
    /// # Panics
    /// If `out` has not [`Encoding::sample_bytes`] for each sample.
    pub fn encode<T: Real>(&self, line: &[Complex<T>], out: &mut [u8]) -> u64 {
        assert_eq!(out.len(), line.len() * self.encoding.sample_bytes(size_of::<Complex<T>>()));
        match self.encoding {
            Encoding::Complex => out.copy_from_slice(bytemuck::cast_slice(line)),
            Encoding::Phase8 => phase_levels(line, out),
            Encoding::Amplitude8 => return amplitude_levels(line, 255.0 / self.full_scale, out),
            Encoding::Amplitude => singles(line, out, |square| f32::rounded(square.sqrt())),
            // No infinity in a file: it would spoil every mean.
            Encoding::Intensity => singles(line, out, |square| f32::rounded(square).min(f32::MAX)),
        }
        0
    }
}

/// |u|² in double precision, so that no f32 sample is too large or too faint for it.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled for the caller's vector width")]
fn square<T: Real>(u: Complex<T>) -> f64 {
    let (re, im) = (u.re.widened(), u.im.widened());
    re * re + im * im
}

#[inline]
fn singles<T: Real>(line: &[Complex<T>], out: &mut [u8], value: impl Fn(f64) -> f32) {
    for (out, &u) in out.as_chunks_mut::<4>().0.iter_mut().zip(line) {
        *out = value(square(u)).to_le_bytes();
    }
}

/// Adding this rounds a number below 2²² to the nearest integer, in the low bits of the sum.
const ROUND: f32 = 1.5 * (1 << 23) as f32;

/// The level of `u`, formed within 1e-4 of a level before it is rounded.
///
/// The arc tangent of the smaller part over the larger is an odd polynomial, in levels (32 at the diagonal):
/// near-minimax, interpolated in the square at Chebyshev nodes, off by at most 1.8e-5; single precision adds
/// some 3e-5. Octants are selections. No fused multiply-add, so it is the same on every machine.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled for the caller's vector width")]
#[expect(clippy::cast_possible_truncation, reason = "the low eight bits are the level, wrapped")]
fn phase_level<T: Real>(u: Complex<T>) -> u8 {
    let zero = T::rounded(0.0);
    let (across, up) = (u.re.abs(), u.im.abs());
    let steep = up > across;
    let (less, more) = if steep { (across, up) } else { (up, across) };
    let ratio = if more > zero { less / more } else { zero };
    let r = f32::rounded(ratio.widened());
    let z = r * r;
    let arc = r
        * (40.743_633
            + z * (-13.578_103
                + z * (8.096_598
                    + z * (-5.479_153 + z * (3.386_876_3 + z * (-1.481_457_2 + z * 0.311_621_97))))));
    let arc = if steep { 64.0 - arc } else { arc };
    let arc = if u.re < zero { 128.0 - arc } else { arc };
    let arc = if u.im < zero { -arc } else { arc };
    (arc + ROUND).to_bits() as u8
}

#[multiversion(targets = "simd")]
fn phase_levels<T: Real>(line: &[Complex<T>], out: &mut [u8]) {
    for (level, &u) in out.iter_mut().zip(line) {
        *level = phase_level(u);
    }
}

#[multiversion(targets = "simd")]
fn amplitude_levels<T: Real>(line: &[Complex<T>], scale: f64, out: &mut [u8]) -> u64 {
    let mut clipped = 0;
    for (level, &u) in out.iter_mut().zip(line) {
        let value = square(u).sqrt() * scale;
        clipped += u64::from(value > 255.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0..256")]
        let rounded = (value.min(255.0) + 0.5) as u32 as u8;
        *level = rounded;
    }
    clipped
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    fn levels<T: Real>(line: &[Complex<T>]) -> Vec<u8> {
        let mut out = vec![0; line.len()];
        assert_eq!(Encoder { encoding: Encoding::Phase8, full_scale: 1.0 }.encode(line, &mut out), 0);
        out
    }

    /// Largest distance from a half that a level's exact value has where the level is not the exact one.
    fn worst_phase<T: Real>(line: &[Complex<T>]) -> f64 {
        let mut worst = 0.0_f64;
        for (&u, level) in line.iter().zip(levels(line)) {
            let exact = u.im.widened().atan2(u.re.widened()).rem_euclid(TAU) / TAU * 256.0;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0..=256")]
            let rounded = (exact.round() as u32 % 256) as u8;
            if level != rounded {
                assert!(level.abs_diff(rounded) == 1 || level.abs_diff(rounded) == 255, "{u:?} is {level}");
                worst = worst.max((exact.fract() - 0.5).abs());
            }
        }
        worst
    }

    #[test]
    fn a_phase_is_the_nearest_of_256_levels_and_wraps() {
        let turn = |turns: f64| Complex::from_polar(0.7, TAU * turns);
        let line: Vec<_> = (0..256).map(|k| turn(f64::from(k) / 256.0)).collect();
        assert_eq!(levels(&line), (0..=255).collect::<Vec<u8>>());
        // Three quarters of a level short of a turn is 255; a quarter short is a full turn, which is 0.
        assert_eq!(levels(&[turn(-0.75 / 256.0), turn(-0.25 / 256.0), turn(0.75 / 256.0)]), [255, 0, 1]);
        let axes =
            [(0.0, 0.0), (-0.0, -0.0), (1.0, -0.0), (-1.0, -0.0), (0.0, 2.0), (0.0, -2.0), (-3.0, 3.0)];
        assert_eq!(levels(&axes.map(|(re, im)| Complex::new(re, im))), [0, 0, 0, 128, 64, 192, 96]);
        let small = axes.map(|(re, im)| Complex::new(f32::rounded(re * 1.5e-45), f32::rounded(im * 1.5e-45)));
        assert_eq!(levels(&small), [0, 0, 0, 128, 64, 192, 96]);
    }

    #[test]
    fn a_level_differs_from_the_exact_one_only_next_to_a_half() {
        // Irregular angles, then angles within a thousandth of a level of each half, at many magnitudes.
        let mut angles: Vec<f64> =
            (0..1_500_000).map(|i| TAU * (f64::from(i) * 0.618_033_988_749_9).fract()).collect();
        for k in 0..256 {
            angles.extend((-1000..=1000).map(|i| TAU * (f64::from(k) + 0.5 + f64::from(i) * 1e-6) / 256.0));
        }
        let double: Vec<_> =
            (angles.iter().zip(0..)).map(|(&a, i)| Complex::from_polar(10f64.powi(i % 61 - 30), a)).collect();
        let single: Vec<_> =
            double.iter().map(|u| Complex::new(f32::rounded(u.re), f32::rounded(u.im))).collect();
        let (f64s, f32s) = (worst_phase(&double), worst_phase(&single));
        println!("worst {f64s:e} {f32s:e}");
        assert!(f64s < 1e-4 && f32s < 1e-4, "{f64s:e} {f32s:e}");
    }

    /// The widest vectors the machine has, and none: `multiversion` picks by the machine, a loop by itself not.
    #[test]
    fn levels_are_the_same_in_vectors_and_one_by_one() {
        let line: Vec<Complex<f32>> = (0..100_003)
            .map(|i: i32| Complex::new((i * 7919 % 4001 - 2000) as f32, (i * 104_729 % 3989 - 1994) as f32))
            .collect();
        let one_by_one: Vec<_> = line.iter().map(|&u| std::hint::black_box(phase_level(u))).collect();
        assert_eq!(levels(&line), one_by_one);
    }

    #[test]
    fn amplitudes_end_at_the_full_scale_and_what_is_beyond_is_counted() {
        let encoder = Encoder { encoding: Encoding::Amplitude8, full_scale: 2.0 };
        let line = [0.0, 1.0, 2.0, 2.000_001, 700.0, 2.0 / 255.0, 0.9 / 255.0, 1.1 / 255.0];
        let line: Vec<_> = line.iter().map(|&a| Complex::from_polar(a, 2.1)).collect();
        let mut out = vec![0; line.len()];
        assert_eq!(encoder.encode(&line, &mut out), 2);
        assert_eq!(out, [0, 128, 255, 255, 255, 1, 0, 1]);
    }

    #[test]
    fn amplitude_and_intensity_are_the_nearest_singles() {
        let line: Vec<Complex<f64>> =
            (0..999).map(|i| Complex::from_polar(1.07f64.powi(i - 500), f64::from(i))).collect();
        let encoded = |encoding: Encoding| {
            let mut out = vec![0; 4 * line.len()];
            Encoder { encoding, full_scale: 1.0 }.encode(&line, &mut out);
            out.as_chunks::<4>().0.iter().map(|b| f64::from(f32::from_le_bytes(*b))).collect::<Vec<_>>()
        };
        for ((u, a), i) in line.iter().zip(encoded(Encoding::Amplitude)).zip(encoded(Encoding::Intensity)) {
            assert!((a - u.norm()).abs() <= 6e-8 * u.norm(), "{u}");
            assert!((i - u.norm_sqr()).abs() <= 6e-8 * u.norm_sqr(), "{u}");
        }
        let bright = [Complex::new(1e30f32, 0.0)];
        let mut out = [0; 4];
        Encoder { encoding: Encoding::Intensity, full_scale: 1.0 }.encode(&bright, &mut out);
        assert_eq!(out, f32::MAX.to_le_bytes(), "large, not infinite");
    }

    #[test]
    fn complex_samples_are_copied() {
        let line = [Complex::new(1.5f32, -2.0), Complex::new(0.0, 3.0)];
        let mut out = [0; 16];
        Encoder { encoding: Encoding::Complex, full_scale: 1.0 }.encode(&line, &mut out);
        assert_eq!(out, bytemuck::cast::<_, [u8; 16]>(line));
    }

    #[test]
    fn the_full_scale_is_four_times_the_root_mean_square() {
        assert!((full_scale(0.25) - 2.0).abs() < 1e-15);
        assert!((full_scale(0.0) - 1.0).abs() < 1e-15, "a dark plane has a scale, too");
    }
}
