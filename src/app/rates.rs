//! Bytes per second over time, in a bounded number of steps.

/// The most steps of a series. When a run is longer, neighbours are joined.
pub const MAX_STEPS: usize = 128;

/// The first width of a step in seconds.
const FIRST_WIDTH: f64 = 1.0 / 32.0;

/// The rate during one step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The middle of the step in seconds.
    pub at: f64,
    /// Bytes per second.
    pub rate: f64,
}

/// Bytes moved over time.
///
/// A transfer's bytes are spread evenly over the time it took. Memory is bounded: steps double in
/// width when there would be more than [`MAX_STEPS`].
#[derive(Debug, Clone)]
pub struct Rates {
    width: f64,
    bytes: Vec<f64>,
    total: u64,
    /// Seconds during which at least one transfer was counted, added up.
    busy: f64,
}

impl Default for Rates {
    fn default() -> Self {
        Self { width: FIRST_WIDTH, bytes: Vec::new(), total: 0, busy: 0.0 }
    }
}

impl Rates {
    /// Adds a transfer of `bytes` that took from `start` to `end`, in seconds.
    pub fn add(&mut self, start: f64, end: f64, bytes: u64) {
        let start = start.max(0.0);
        let end = end.max(start);
        while end >= self.width * MAX_STEPS as f64 {
            self.bytes = self.bytes.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.width *= 2.0;
        }
        self.total += bytes;
        self.busy += end - start;
        let (first, last) = (self.step_of(start), self.step_of(end));
        if last >= self.bytes.len() {
            self.bytes.resize(last + 1, 0.0);
        }
        if first == last {
            self.bytes[first] += bytes as f64;
            return;
        }
        let rate = bytes as f64 / (end - start);
        for step in first..=last {
            let from = start.max(step as f64 * self.width);
            let to = end.min((step + 1) as f64 * self.width);
            self.bytes[step] += rate * (to - from).max(0.0);
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "`add` keeps the time between zero and MAX_STEPS steps"
    )]
    fn step_of(&self, time: f64) -> usize {
        ((time / self.width) as usize).min(MAX_STEPS - 1)
    }

    /// All bytes added.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// Bytes per second while transfers took place; none before the first.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.busy > 0.0).then(|| self.total as f64 / self.busy)
    }

    /// The rates in order, up to `until` seconds.
    ///
    /// A step that `until` cuts counts as far as it goes, and is left out below half of its width,
    /// where a few bytes would look like a peak.
    pub fn steps(&self, until: f64) -> impl Iterator<Item = Step> {
        self.bytes.iter().enumerate().map_while(move |(i, bytes)| {
            let from = i as f64 * self.width;
            let width = (until - from).min(self.width);
            (width >= 0.5 * self.width).then(|| Step { at: from + width / 2.0, rate: bytes / width })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_spread_over_the_time_it_took() {
        let mut rates = Rates::default();
        // 3.5 steps at 1000 bytes a step.
        rates.add(0.0, 3.5 * FIRST_WIDTH, 3500);
        let steps: Vec<_> = rates.steps(3.5 * FIRST_WIDTH).collect();
        assert_eq!(steps.len(), 4);
        for step in steps {
            assert!((step.rate - 1000.0 / FIRST_WIDTH).abs() < 1e-6, "{step:?}");
        }
    }

    #[test]
    fn a_long_run_keeps_few_steps_and_every_byte() {
        let mut rates = Rates::default();
        for second in 0..10_000u32 {
            rates.add(f64::from(second), f64::from(second) + 0.9, 1_000_000);
        }
        let steps: Vec<_> = rates.steps(10_000.0).collect();
        assert!(steps.len() <= MAX_STEPS && steps.len() > MAX_STEPS / 4, "{}", steps.len());
        assert!((rates.bytes.iter().sum::<f64>() - 1e10).abs() < 1.0);
        assert_eq!(rates.total(), 10_000_000_000);
        for step in steps {
            assert!((step.rate - 1e6).abs() < 5e4, "{step:?}");
        }
    }

    #[test]
    fn an_instant_transfer_and_a_backward_clock_do_not_break_it() {
        let mut rates = Rates::default();
        rates.add(1.0, 1.0, 10);
        rates.add(2.0, 1.0, 10);
        assert_eq!(rates.total(), 20);
        assert!(rates.mean().is_none());
        assert!(rates.steps(3.0).all(|s| s.rate.is_finite()));
    }
}
