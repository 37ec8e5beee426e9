//! How often which intensity occurs.

/// Counts of values in equal steps from 0 to `high`.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// The upper end of the last step.
    pub high: f64,
    /// Values in each step; a value on the border of two belongs to the upper one.
    pub counts: Vec<u64>,
    /// Values of `high` and above.
    pub above: u64,
}

impl Histogram {
    /// The histogram of `values` in `steps` steps up to `high`; what is below zero or not a number is left out.
    #[must_use]
    pub fn of(values: &[f32], steps: usize, high: f32) -> Self {
        let mut counts = vec![0; steps.max(1)];
        let mut above = 0;
        let per_step = if high > 0.0 { counts.len() as f64 / f64::from(high) } else { f64::INFINITY };
        for &value in values.iter().filter(|&&value| value >= 0.0) {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
            let step = (f64::from(value) * per_step) as usize;
            match counts.get_mut(step) {
                Some(count) if value < high => *count += 1,
                _ => above += 1,
            }
        }
        Self { high: high.into(), counts, above }
    }

    /// The width of a step.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.high / self.counts.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_counted_once() {
        let values = [0.0, 0.24, 0.25, 0.5, 0.99, 1.0, 7.0, f32::NAN, -1.0, f32::INFINITY];
        let histogram = Histogram::of(&values, 4, 1.0);
        assert_eq!((&histogram.counts[..], histogram.above), (&[2, 1, 1, 1][..], 3));
        assert!((histogram.step() - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_dark_picture_has_a_histogram_too() {
        let histogram = Histogram::of(&[0.0; 9], 3, 0.0);
        assert_eq!((histogram.counts, histogram.above), (vec![0; 3], 9));
        assert_eq!(Histogram::of(&[], 0, 1.0).counts, [0]);
    }
}
