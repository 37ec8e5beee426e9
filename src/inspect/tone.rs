//! From intensities to grey levels.

/// The value below which the fraction `p` of `values` lies; NaN counts as the largest, nothing as 0.
#[must_use]
pub fn percentile(values: &[f32], p: f64) -> f32 {
    let mut sorted = values.to_vec();
    let last = match sorted.len() {
        0 => return 0.0,
        n => n - 1,
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and last")]
    let index = (p.clamp(0.0, 1.0) * last as f64).round() as usize;
    *sorted.select_nth_unstable_by(index, f32::total_cmp).1
}

/// Intensity shown as a grey level: black is 0, `white` and above are white, and equal steps of
/// grey look equal (the sRGB curve), so that a photograph's layer looks like the photograph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tone {
    /// The intensity that is shown as white.
    pub white: f32,
}

impl Tone {
    /// White at the 99.5th percentile: a few bright grains do not darken the rest.
    #[must_use]
    pub fn of(intensity: &[f32]) -> Self {
        let white = percentile(intensity, 0.995);
        Self { white: if white > 0.0 { white } else { 1.0 } }
    }

    /// The grey level of one intensity.
    #[must_use]
    pub fn level(self, intensity: f32) -> u8 {
        let linear = (intensity / self.white).clamp(0.0, 1.0);
        let encoded =
            if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to 0..=255")]
        let level = (encoded * 255.0).round() as u8;
        level
    }

    /// The grey levels of an image.
    #[must_use]
    pub fn levels(self, intensity: &[f32]) -> Vec<u8> {
        intensity.iter().map(|&value| self.level(value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_of_the_sorted_list() {
        let values: Vec<f32> = (0..=100u8).rev().map(f32::from).collect();
        for (p, expected) in [(0.0, 0.0), (0.25, 25.0), (0.995, 100.0), (1.0, 100.0)] {
            assert!((percentile(&values, p) - expected).abs() < f32::EPSILON, "{p}");
        }
        assert!(percentile(&[], 0.5).abs() < f32::EPSILON);
    }

    #[test]
    fn levels_follow_the_srgb_curve_between_black_and_white() {
        let tone = Tone { white: 2.0 };
        // 0.5 linear is 188 encoded, 0.21586 is 128 (IEC 61966-2-1).
        let levels = tone.levels(&[0.0, 2.0 * 0.215_861, 1.0, 2.0, 9.0, f32::NAN]);
        assert_eq!(levels, [0, 128, 188, 255, 255, 0]);
        assert_eq!(Tone::of(&[0.0; 9]).level(0.0), 0, "a dark image is black");
    }
}
