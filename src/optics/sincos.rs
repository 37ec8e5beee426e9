//! Sine and cosine by polynomial, without branches or tables, so that loops over them vectorize.
//!
//! The library functions cost several times as much because the compiler cannot turn them into
//! vector instructions. Here the argument is brought to within an eighth of a turn of a multiple of
//! a quarter turn, two polynomials are evaluated there, and the quadrant, an integer, decides which
//! of them is the sine and which signs they take. All steps are additions, multiplications, bit
//! operations and one selection. Nothing needs a fused multiply-add, so results are the same on
//! every machine.
//!
//! The functions are always inlined, so that a caller compiled for wider vectors
//! (`#[multiversion]`) gets them in that form.

/// Adding and subtracting this rounds an `f32` below 2²² to the nearest integer; the sum's low
/// bits hold that integer.
const ROUND_F32: f32 = 1.5 * (1 << 23) as f32;

/// The same for an `f64` below 2⁵¹.
const ROUND_F64: f64 = 1.5 * (1_u64 << 52) as f64;

/// Sine and cosine of `t` turns, `|t| ≤ 0.5`, each within 2e-7.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled for the caller's vector width")]
pub(crate) fn sin_cos_turns_f32(t: f32) -> (f32, f32) {
    let shifted = t * 4.0 + ROUND_F32;
    let quadrant = shifted.to_bits();
    // Exact: both are multiples of the last bit of t, and the difference is no larger than t.
    let r = t - (shifted - ROUND_F32) * 0.25;
    let z = r * r;
    // Near-minimax on |r| ≤ 1/8 (interpolated in z at Chebyshev nodes), 2π being in the coefficients.
    let sin = r * (6.283_185_5 + z * (-41.341_663 + z * (81.592_545 + z * -75.401_61)));
    let cos = 1.0 + z * (-19.739_208 + z * (64.939_37 + z * (-85.448_82 + z * 59.424_107)));

    let swap = quadrant & 1 != 0;
    let (s, c) = if swap { (cos, sin) } else { (sin, cos) };
    // The sine is negative in quadrants 2 and 3, the cosine in 1 and 2.
    let sign_s = (quadrant & 2) << 30;
    let sign_c = (quadrant.wrapping_add(1) & 2) << 30;
    (f32::from_bits(s.to_bits() ^ sign_s), f32::from_bits(c.to_bits() ^ sign_c))
}

/// Sine and cosine of `t` turns, `|t| ≤ 0.5` (valid up to 2⁴⁰ as far as `t` itself is exact),
/// each within 4e-16.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled for the caller's vector width")]
pub(crate) fn sin_cos_turns_f64(t: f64) -> (f64, f64) {
    let shifted = t * 4.0 + ROUND_F64;
    // Exact, as above.
    let r = t - (shifted - ROUND_F64) * 0.25;
    quadrant_sin_cos(r * std::f64::consts::TAU, shifted.to_bits())
}

/// π/2 in three parts: 27 bits, 27 bits, and the rest. A multiple `k·part` of the first two is
/// exact for `k < 2²⁶`, that is for arguments up to 1e8.
const HALF_PI: [f64; 3] = [1.570_796_325_802_803, 9.920_935_739_593_517e-10, 5.721_188_726_109_832e-18];

/// Sine and cosine of `phi` radians, `|phi| ≤ 1e8`, each within 4e-16.
///
/// Source of the reduction: W. J. Cody and W. Waite, "Software Manual for the Elementary
/// Functions", 1980.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled for the caller's vector width")]
pub(crate) fn sin_cos_radians_f64(phi: f64) -> (f64, f64) {
    let shifted = phi * std::f64::consts::FRAC_2_PI + ROUND_F64;
    let k = shifted - ROUND_F64;
    // The first difference is exact, the others round at 2^-54: the angle is within 1.2e-16.
    let r = ((phi - k * HALF_PI[0]) - k * HALF_PI[1]) - k * HALF_PI[2];
    quadrant_sin_cos(r, shifted.to_bits())
}

/// Sine and cosine of `r + quadrant·π/2`, `|r| ≤ π/4`; of `quadrant` only the two low bits matter.
#[inline(always)]
#[expect(clippy::inline_always, reason = "must be compiled for the caller's vector width")]
fn quadrant_sin_cos(r: f64, quadrant: u64) -> (f64, f64) {
    let z = r * r;
    // Near-minimax on |r| ≤ π/4: the remainders of r and of 1 − z/2, each in z.
    let sin_rest = -0.166_666_666_666_666_66
        + z * (0.008_333_333_333_330_948
            + z * (-0.000_198_412_698_367_585_74
                + z * (2.755_731_610_255_244e-6
                    + z * (-2.505_113_184_500_362_4e-8 + z * 1.591_812_929_486_660_8e-10))));
    let cos_rest = 0.041_666_666_666_666_664
        + z * (-0.001_388_888_888_888_739_8
            + z * (2.480_158_729_876_569e-5
                + z * (-2.755_731_727_172_979_3e-7
                    + z * (2.087_614_626_840_32e-9 + z * -1.138_263_242_552_171_7e-11))));
    let sin = r + r * z * sin_rest;
    let cos = 1.0 - (0.5 * z - z * z * cos_rest);

    let swap = quadrant & 1 != 0;
    let (s, c) = if swap { (cos, sin) } else { (sin, cos) };
    let sign_s = (quadrant & 2) << 62;
    let sign_c = (quadrant.wrapping_add(1) & 2) << 62;
    (f64::from_bits(s.to_bits() ^ sign_s), f64::from_bits(c.to_bits() ^ sign_c))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sine and cosine of `t` turns by the library, the turns first folded to an eighth.
    ///
    /// The folding is exact and keeps the error of `t·2π` out of the oracle at the larger angles.
    fn oracle_turns(t: f64) -> (f64, f64) {
        let quadrant = (4.0 * t).round();
        let (s, c) = ((t - quadrant / 4.0) * std::f64::consts::TAU).sin_cos();
        match quadrant.rem_euclid(4.0) {
            1.0 => (c, -s),
            2.0 => (-s, -c),
            3.0 => (-c, s),
            _ => (s, c),
        }
    }

    /// Largest deviation of a pair from the oracle's.
    fn deviation(got: (f64, f64), want: (f64, f64)) -> f64 {
        (got.0 - want.0).abs().max((got.1 - want.1).abs())
    }

    #[test]
    fn single_turns_are_within_two_in_ten_million() {
        let n = 1 << 20;
        let mut worst = 0.0_f64;
        for i in -n..=n {
            #[expect(clippy::cast_possible_truncation, reason = "the argument is a single")]
            let t = (f64::from(i) / f64::from(2 * n)) as f32;
            let (s, c) = sin_cos_turns_f32(t);
            worst = worst.max(deviation((s.into(), c.into()), oracle_turns(t.into())));
        }
        println!("worst {worst:e}");
        assert!(worst <= 2e-7, "{worst:e}");
    }

    #[test]
    fn double_turns_are_within_a_few_units_of_the_last_place() {
        let n = 1 << 20;
        let mut worst = 0.0_f64;
        for i in -n..=n {
            // An odd divisor, so that the low bits of t are in use.
            let t = f64::from(i) / (f64::from(2 * n) + 1.0);
            worst = worst.max(deviation(sin_cos_turns_f64(t), oracle_turns(t)));
        }
        println!("worst {worst:e}");
        assert!(worst <= 4e-16, "{worst:e}");
    }

    #[test]
    fn radians_are_right_from_tiny_to_a_hundred_million() {
        // The library reduces its argument exactly, so it is the oracle.
        let mut worst = 0.0_f64;
        let mut phi = 1e-9_f64;
        while phi <= 1e8 {
            for phi in [phi, -phi] {
                worst = worst.max(deviation(sin_cos_radians_f64(phi), phi.sin_cos()));
            }
            phi *= 1.000_017;
        }
        println!("worst {worst:e}");
        assert!(worst <= 4e-16, "{worst:e}");
    }

    #[test]
    fn radians_are_right_next_to_multiples_of_a_quarter_turn() {
        // Where the reduction cancels most, and where the quadrant changes.
        let mut worst = 0.0_f64;
        for k in (0..63_000_000_u32).step_by(997).chain(0..2000) {
            for eighth in [0.0, 0.5] {
                let phi = (f64::from(k) + eighth) * std::f64::consts::FRAC_PI_2;
                for phi in [phi.next_down(), phi, phi.next_up(), -phi] {
                    worst = worst.max(deviation(sin_cos_radians_f64(phi), phi.sin_cos()));
                }
            }
        }
        println!("worst {worst:e}");
        assert!(worst <= 4e-16, "{worst:e}");
    }

    #[test]
    fn quarter_turns_are_exact() {
        for (t, want) in [
            (0.0, (0.0, 1.0)),
            (0.25, (1.0, 0.0)),
            (-0.25, (-1.0, 0.0)),
            (0.5, (0.0, -1.0)),
            (-0.5, (0.0, -1.0)),
        ] {
            assert!(deviation(sin_cos_turns_f64(t), want) == 0.0, "{t}");
            #[expect(clippy::cast_possible_truncation, reason = "exact")]
            let (s, c) = sin_cos_turns_f32(t as f32);
            assert!(deviation((s.into(), c.into()), want) == 0.0, "{t}");
        }
    }
}
