//! From intensities to grey levels.

/// The value below which the fraction `p` of the finite `values` lies; 0 when there is none.
#[must_use]
pub fn percentile(values: &[f32], p: f64) -> f32 {
    let mut sorted: Vec<f32> = values.iter().copied().filter(|v| v.is_finite()).collect();
    if sorted.is_empty() {
        return 0.0;
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index below the length")]
    let index = (p.clamp(0.0, 1.0) * (sorted.len() - 1) as f64).round() as usize;
    *sorted.select_nth_unstable_by(index, f32::total_cmp).1
}

/// How brightness follows intensity between black and white.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Curve {
    /// In proportion.
    Linear,
    /// As the square root: dark parts are lifted, and a photograph's layer looks like the photograph.
    #[default]
    SquareRoot,
}

/// Intensity shown as a grey level: `black` and below are black, `white` and above are white.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tone {
    /// The intensity that is shown as black.
    pub black: f32,
    /// The intensity that is shown as white.
    pub white: f32,
    /// What lies between.
    pub curve: Curve,
}

impl Tone {
    /// White at the 99.5th percentile: a few bright grains do not darken the rest.
    #[must_use]
    pub fn of(intensity: &[f32]) -> Self {
        Self { black: 0.0, white: percentile(intensity, 0.995), curve: Curve::default() }
    }

    /// The grey levels of an image; all black when `white` is not above `black`.
    #[must_use]
    pub fn levels(self, intensity: &[f32]) -> Vec<u8> {
        let range = self.white - self.black;
        let factor = if range > 0.0 { 1.0 / range } else { 0.0 };
        let level = |&value: &f32| {
            let linear = ((value - self.black) * factor).clamp(0.0, 1.0);
            let shown = match self.curve {
                Curve::Linear => linear,
                Curve::SquareRoot => linear.sqrt(),
            };
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0..=255")]
            let level = (shown * 255.0).round() as u8;
            level
        };
        intensity.iter().map(level).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_of_the_sorted_list() {
        let mut values: Vec<f32> = (0..=100u8).rev().map(f32::from).collect();
        values.push(f32::NAN);
        for (p, expected) in [(0.0, 0.0), (0.25, 25.0), (0.995, 100.0), (1.0, 100.0)] {
            assert!((percentile(&values, p) - expected).abs() < f32::EPSILON, "{p}");
        }
        assert!(percentile(&[], 0.5).abs() < f32::EPSILON);
    }

    #[test]
    fn levels_run_from_black_to_white_along_the_curve() {
        let values = [0.0, 0.5, 1.0, 2.0, 9.0, f32::NAN];
        let levels = |curve| Tone { black: 0.0, white: 2.0, curve }.levels(&values);
        assert_eq!(levels(Curve::Linear), [0, 64, 128, 255, 255, 0]);
        assert_eq!(levels(Curve::SquareRoot), [0, 128, 180, 255, 255, 0]);
        let black = Tone { black: 0.5, white: 1.5, curve: Curve::Linear };
        assert_eq!(black.levels(&values), [0, 0, 128, 255, 255, 0]);
        assert_eq!(Tone::of(&[0.0; 9]).levels(&[0.0, 1.0]), [0, 0], "a dark image is black");
    }
}
