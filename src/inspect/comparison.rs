//! How alike two pictures are.

/// How well `c·R` agrees with `T`, for a target `T` and a picture `R` of the same size.
///
/// `c = Σ R·T / Σ R²` makes `Σ (c·R − T)²` least; brightness alone is so no difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// The factor `c`.
    pub scale: f64,
    /// The factor `b = Σ R·T / Σ T²`, which makes `Σ (R − b·T)²` least: how bright the target is in the picture.
    pub brightness: f64,
    /// Pearson's correlation, `Σ (R − mean R)·(T − mean T) / sqrt(Σ (R − mean R)² · Σ (T − mean T)²)`;
    /// 0 where one of them is all the same.
    pub correlation: f64,
    /// `10·log10(max(T)² / mean((c·R − T)²))` in decibel; infinite where they are equal.
    pub psnr: f64,
}

/// A picture and its target, by intensity and by amplitude (the square root of each intensity).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Of the intensities.
    pub intensity: Agreement,
    /// Of the amplitudes.
    pub amplitude: Agreement,
}

impl Comparison {
    /// Compares the intensities `picture` with `target`; none where their lengths differ, or the target is dark.
    #[must_use]
    pub fn of(picture: &[f32], target: &[f32]) -> Option<Self> {
        if picture.len() != target.len() || !target.iter().any(|&value| value > 0.0) {
            return None;
        }
        let amplitude = |value: f32| f64::from(value).max(0.0).sqrt();
        Some(Self {
            intensity: agreement(picture, target, f64::from),
            amplitude: agreement(picture, target, amplitude),
        })
    }
}

fn agreement(picture: &[f32], target: &[f32], f: impl Fn(f32) -> f64) -> Agreement {
    let pairs = || picture.iter().zip(target).map(|(&r, &t)| (f(r), f(t)));
    let n = picture.len() as f64;
    let (mut sum, mut squares, mut products, mut most) = ([0.0; 2], [0.0; 2], 0.0, 0.0_f64);
    for (r, t) in pairs() {
        sum = [sum[0] + r, sum[1] + t];
        squares = [squares[0] + r * r, squares[1] + t * t];
        products += r * t;
        most = most.max(t);
    }
    let [scale, brightness] = squares.map(|squares| if squares > 0.0 { products / squares } else { 0.0 });
    let mean = sum.map(|sum| sum / n);
    let (mut crossed, mut own, mut error) = (0.0, [0.0; 2], 0.0);
    for (r, t) in pairs() {
        let (dr, dt) = (r - mean[0], t - mean[1]);
        crossed += dr * dt;
        own = [own[0] + dr * dr, own[1] + dt * dt];
        error += (scale * r - t).powi(2);
    }
    let norm = (own[0] * own[1]).sqrt();
    Agreement {
        scale,
        brightness,
        correlation: if norm > 0.0 { crossed / norm } else { 0.0 },
        psnr: 10.0 * (most * most / (error / n)).log10(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scattered(n: usize, mut state: u64) -> Vec<f32> {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 48) as f32 / 65535.0
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn brightness_alone_is_no_difference() {
        let target = scattered(33 * 17, 1);
        let picture: Vec<f32> = target.iter().map(|v| 0.25 * v).collect();
        let got = Comparison::of(&picture, &target).unwrap();
        assert!((got.intensity.scale - 4.0).abs() < 1e-9 && (got.amplitude.scale - 2.0).abs() < 1e-6);
        assert!(
            (got.intensity.brightness - 0.25).abs() < 1e-9 && (got.amplitude.brightness - 0.5).abs() < 1e-6
        );
        assert!((got.intensity.correlation - 1.0).abs() < 1e-12);
        assert!(got.intensity.psnr > 200.0 && got.amplitude.psnr > 120.0, "{got:?}");
    }

    #[test]
    fn a_known_difference_has_its_analytic_numbers() {
        // T is 0 and 2 in turn, R is 1 ± 1/2 about the same middle: c = Σ RT / Σ R² = 3/2.5 a pair.
        let target: Vec<f32> = [0.0, 2.0].repeat(50);
        let picture: Vec<f32> = [0.5, 1.5].repeat(50);
        let got = Comparison::of(&picture, &target).unwrap().intensity;
        assert!((got.scale - 1.2).abs() < 1e-12 && (got.correlation - 1.0).abs() < 1e-12);
        assert!((got.brightness - 0.75).abs() < 1e-12);
        // (0.6² + 0.2²)/2 = 0.2; 10·log10(4/0.2).
        assert!((got.psnr - 10.0 * 20f64.log10()).abs() < 1e-9);
        // The other way round.
        let turned: Vec<f32> = [1.5, 0.5].repeat(50);
        let got = Comparison::of(&turned, &target).unwrap().intensity;
        assert!((got.correlation + 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_has_nothing_in_common_is_not_correlated() {
        let got = Comparison::of(&scattered(200_003, 5), &scattered(200_003, 123_456_789)).unwrap();
        assert!(got.intensity.correlation.abs() < 0.02, "{got:?}");
        let even = Comparison::of(&[1.0; 6], &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!(even.intensity.correlation.to_bits(), 0);
    }

    #[test]
    fn there_is_no_comparison_with_nothing() {
        assert_eq!(Comparison::of(&[1.0; 4], &[1.0; 5]), None);
        assert_eq!(Comparison::of(&[1.0; 4], &[0.0; 4]), None);
        assert_eq!(Comparison::of(&[], &[]), None);
        // A dark picture of something.
        let dark = Comparison::of(&[0.0; 2], &[0.0, 1.0]).unwrap();
        assert!((dark.intensity.psnr - 10.0 * 2f64.log10()).abs() < 1e-12);
    }
}
