//! Seconds per chunk, gathered into a bounded number of bars.

use crate::engine::Kind;

/// The most bars of one series. When a pass has more chunks, neighbours are joined.
pub const MAX_BINS: usize = 256;

/// Seconds by what they were spent on.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Seconds {
    /// A drive delivered.
    pub read: f64,
    /// The processor worked.
    pub compute: f64,
    /// A drive took.
    pub write: f64,
    /// A drive's reader or writer had nothing to do.
    pub wait: f64,
}

impl Seconds {
    /// The part spent on `kind`.
    #[must_use]
    pub const fn of(&self, kind: Kind) -> f64 {
        match kind {
            Kind::Read => self.read,
            Kind::Compute => self.compute,
            Kind::Write => self.write,
            Kind::Wait => self.wait,
        }
    }

    const fn of_mut(&mut self, kind: Kind) -> &mut f64 {
        match kind {
            Kind::Read => &mut self.read,
            Kind::Compute => &mut self.compute,
            Kind::Write => &mut self.write,
            Kind::Wait => &mut self.wait,
        }
    }

    fn join(self, other: Self) -> Self {
        Self {
            read: self.read + other.read,
            compute: self.compute + other.compute,
            write: self.write + other.write,
            wait: self.wait + other.wait,
        }
    }

    fn scaled(self, factor: f64) -> Self {
        Self {
            read: self.read * factor,
            compute: self.compute * factor,
            write: self.write * factor,
            wait: self.wait * factor,
        }
    }
}

/// One bar: the mean seconds per chunk over neighbouring chunks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The first chunk it stands for.
    pub first: usize,
    /// How many chunks it stands for.
    pub chunks: usize,
    /// Mean seconds per chunk.
    pub seconds: Seconds,
}

/// What one drive, or the processor, did in one pass, chunk by chunk.
///
/// A chunk's streams (even and odd) share its bar. Memory is bounded whatever the number of
/// chunks: bars of `width` chunks, and `width` doubles when there would be more than [`MAX_BINS`].
#[derive(Debug, Clone, Default)]
pub struct ChunkBins {
    /// log2 of the chunks per bar.
    width_log2: u32,
    sums: Vec<Seconds>,
    /// One more than the highest chunk seen.
    chunks: usize,
    total: Seconds,
}

impl ChunkBins {
    /// Adds `seconds` of `kind` to a chunk.
    pub fn add(&mut self, chunk: usize, kind: Kind, seconds: f64) {
        while chunk >> self.width_log2 >= MAX_BINS {
            self.sums = self
                .sums
                .chunks(2)
                .map(|pair| pair.iter().copied().fold(Seconds::default(), Seconds::join))
                .collect();
            self.width_log2 += 1;
        }
        let bin = chunk >> self.width_log2;
        if bin >= self.sums.len() {
            self.sums.resize(bin + 1, Seconds::default());
        }
        *self.sums[bin].of_mut(kind) += seconds;
        *self.total.of_mut(kind) += seconds;
        self.chunks = self.chunks.max(chunk + 1);
    }

    /// Chunks per bar.
    #[must_use]
    pub const fn width(&self) -> usize {
        1 << self.width_log2
    }

    /// One more than the highest chunk seen.
    #[must_use]
    pub const fn chunks(&self) -> usize {
        self.chunks
    }

    /// Seconds over all chunks.
    #[must_use]
    pub const fn total(&self) -> Seconds {
        self.total
    }

    /// Whether nothing was added.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// The bars in order.
    pub fn bars(&self) -> impl Iterator<Item = Bar> {
        self.sums.iter().enumerate().map(|(i, sum)| {
            let first = i << self.width_log2;
            let chunks = (self.chunks - first).min(self.width());
            Bar { first, chunks, seconds: sum.scaled(1.0 / chunks as f64) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_and_kinds_of_a_chunk_stack_in_its_bar() {
        let mut bins = ChunkBins::default();
        bins.add(1, Kind::Read, 0.5);
        bins.add(1, Kind::Read, 0.25);
        bins.add(1, Kind::Write, 1.0);
        bins.add(0, Kind::Wait, 2.0);
        let bars: Vec<_> = bins.bars().collect();
        assert_eq!(bars.len(), 2);
        assert_eq!(bars[0].seconds, Seconds { wait: 2.0, ..Seconds::default() });
        assert_eq!(bars[1].seconds, Seconds { read: 0.75, write: 1.0, ..Seconds::default() });
        assert_eq!((bars[1].first, bars[1].chunks), (1, 1));
    }

    #[test]
    fn many_chunks_become_few_bars_and_no_second_is_lost() {
        let n = 1000 * MAX_BINS + 77;
        let mut bins = ChunkBins::default();
        // Out of order, as streams finish.
        for chunk in (0..n).step_by(2).chain((1..n).step_by(2)) {
            bins.add(chunk, Kind::Compute, 0.5);
        }
        let bars: Vec<_> = bins.bars().collect();
        assert!(bars.len() <= MAX_BINS && bars.len() > MAX_BINS / 4, "{}", bars.len());
        assert_eq!(bars.iter().map(|b| b.chunks).sum::<usize>(), n);
        assert!((bins.total().compute - 0.5 * n as f64).abs() < 1e-6);
        for bar in bars {
            assert!((bar.seconds.compute - 0.5).abs() < 1e-9, "chunk {}: {:?}", bar.first, bar.seconds);
        }
    }
}
