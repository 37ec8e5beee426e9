//! A counter-based generator: the same bits for the same (seed, layer, y, x), in any order.
//!
//! A layer's random phases are never stored: each method and each chunking asks for them when it
//! needs them. So there is no state, only a mixing of the four keys. What depends on the row alone
//! is mixed once, in 64 bits; along the row it is 32-bit multiplications, shifts and exclusive ors,
//! which every vector unit has.

/// The key of one row of one layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowNoise {
    offset: u32,
    mask: u32,
}

/// The finalizer of `SplitMix64` (Steele, Lea & Flood 2014): a bijection in which every input bit
/// changes each output bit with a probability near one half.
const fn mix64(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl RowNoise {
    /// The key of row `y` of layer `layer` under `seed`.
    pub(crate) const fn new(seed: u64, layer: u32, y: u32) -> Self {
        // 2^64 divided by the golden ratio: keeps small keys from being small inputs.
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let key = mix64(seed.wrapping_add(STEP));
        let key = mix64(key ^ ((layer as u64) << 32 | y as u64).wrapping_mul(STEP));
        Self { offset: (key >> 32) as u32, mask: (key & 0xffff_ffff) as u32 }
    }

    /// The uniform 32 bits of sample `x`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "must be compiled for the caller's vector width")]
    pub(crate) const fn at(self, x: u32) -> u32 {
        // Rows whose offsets lie close together run through the same inputs, shifted. The second
        // key, between two mixers, is what makes them differ.
        let mut h = x.wrapping_add(self.offset);
        // Multipliers and shifts found by C. Wellons's search for low-bias 32-bit mixers.
        h = (h ^ (h >> 16)).wrapping_mul(0x7feb_352d);
        h = (h ^ (h >> 15)).wrapping_mul(0x846c_a68b);
        h ^= (h >> 16) ^ self.mask;
        // The finalizer of MurmurHash3 (A. Appleby).
        h = (h ^ (h >> 16)).wrapping_mul(0x85eb_ca6b);
        h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
        h ^ (h >> 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: u32 = 1024;
    const COLUMNS: u32 = 1024;

    /// Uniform in [−0.5, 0.5), from all 32 bits.
    fn centred(bits: u32) -> f64 {
        f64::from(bits) / 4_294_967_296.0 - 0.5
    }

    /// Correlation coefficient of two fields over a 1024 × 1024 block.
    fn correlation(a: impl Fn(u32, u32) -> u32, b: impl Fn(u32, u32) -> u32) -> f64 {
        let mut sum = 0.0;
        for y in 0..ROWS {
            for x in 0..COLUMNS {
                sum += centred(a(y, x)) * centred(b(y, x));
            }
        }
        sum / f64::from(ROWS * COLUMNS) * 12.0
    }

    fn field(seed: u64, layer: u32) -> impl Fn(u32, u32) -> u32 {
        move |y, x| RowNoise::new(seed, layer, y).at(x)
    }

    // The standard deviation of a mean of n = 2^20 samples of unit variance is 2^-10; five of them
    // are exceeded once in two million trials, and the keys are fixed.
    const FIVE_SIGMA: f64 = 5.0 / 1024.0;

    #[test]
    fn mean_and_variance_are_those_of_a_uniform_variable() {
        for (seed, layer, y0, x0) in [(0, 0, 0, 0), (1, 2, 1 << 23, 1 << 23), (u64::MAX, 7, 5, 16_000_000)] {
            let (mut mean, mut square) = (0.0, 0.0);
            for y in 0..ROWS {
                let row = RowNoise::new(seed, layer, y0 + y);
                for x in 0..COLUMNS {
                    let v = centred(row.at(x0 + x)) * 12_f64.sqrt();
                    mean += v;
                    square += v * v;
                }
            }
            let n = f64::from(ROWS * COLUMNS);
            assert!((mean / n).abs() < FIVE_SIGMA, "{}", mean / n);
            // The square of a uniform variable of unit variance has itself the variance 4/5.
            assert!((square / n - 1.0).abs() < FIVE_SIGMA, "{}", square / n);
        }
    }

    #[test]
    fn every_byte_of_the_word_fills_its_256_bins_evenly() {
        for shift in [0, 8, 16, 24] {
            for by_column in [false, true] {
                let mut bins = [0_u32; 256];
                for y in 0..ROWS {
                    for x in 0..COLUMNS {
                        // Both the block at the origin and one long column.
                        let bits = if by_column {
                            RowNoise::new(3, 1, y * COLUMNS + x).at(17)
                        } else {
                            RowNoise::new(3, 1, y).at(x)
                        };
                        bins[(bits >> shift & 255) as usize] += 1;
                    }
                }
                let expected = f64::from(ROWS * COLUMNS) / 256.0;
                let chi: f64 = bins.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
                // 255 degrees of freedom: mean 255, standard deviation 22.6. Too even is as wrong.
                assert!((142.0..368.0).contains(&chi), "byte at {shift}: {chi}");
            }
        }
    }

    #[test]
    fn neighbours_are_uncorrelated() {
        let noise = field(42, 3);
        for (dy, dx) in [(0, 1), (0, 2), (0, 4), (0, 256), (1, 0), (2, 0), (64, 0), (1, 1), (3, 5)] {
            let r = correlation(&noise, |y, x| noise(y + dy, x + dx));
            assert!(r.abs() < FIVE_SIGMA, "({dy}, {dx}): {r}");
        }
    }

    #[test]
    fn seeds_and_layers_are_uncorrelated() {
        let noise = field(0, 0);
        for (seed, layer) in
            [(1, 0), (2, 0), (1 << 32, 0), (1 << 63, 0), (0, 1), (0, 2), (1, 1), (0, 1 << 31)]
        {
            let r = correlation(&noise, field(seed, layer));
            assert!(r.abs() < FIVE_SIGMA, "({seed}, {layer}): {r}");
        }
    }

    #[test]
    fn layer_and_row_are_not_interchangeable() {
        assert_ne!(RowNoise::new(9, 1, 0), RowNoise::new(9, 0, 1));
        assert_ne!(RowNoise::new(1, 9, 0), RowNoise::new(9, 1, 0));
    }

    #[test]
    fn rows_with_nearly_equal_offsets_are_uncorrelated() {
        // Among 131072 rows such pairs are certain to exist.
        let one = RowNoise { offset: 1000, mask: 0x1234_5678 };
        for mask in [0x1234_5679, 0x1234_567a, 0x9234_5678, 0x0f0f_0f0f] {
            let other = RowNoise { offset: 1003, mask };
            let r = correlation(|y, x| one.at(y * COLUMNS + x + 3), |y, x| other.at(y * COLUMNS + x));
            assert!(r.abs() < FIVE_SIGMA, "{mask:x}: {r}");
        }
    }

    #[test]
    fn the_numbers_never_change() {
        // Holograms made with one version must be made again by the next.
        let row = RowNoise::new(1, 2, 3);
        assert_eq!([row.at(0), row.at(1), row.at(1 << 23)], [2_388_388_690, 3_133_360_099, 208_454_760]);
    }
}
