//! What each drive and stream did when, kept in a bounded number of bars.

use std::collections::BTreeMap;

use crate::engine::{Kind, Track};

/// The most bars kept over all tracks. When there would be more, neighbours are joined.
pub const MAX_BARS: usize = 100_000;

/// The first gap that is not kept when neighbours are joined, in seconds.
const FIRST_GAP: f64 = 1e-4;
/// The longest bar that is made by joining, in gaps.
const LONGEST: f64 = 16.0;

/// A stretch of one kind of work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Seconds since the run's start.
    pub start: f64,
    /// Seconds since the run's start.
    pub end: f64,
    /// Index of the pass in the run.
    pub pass: usize,
    /// Index of the stream in the pass; of the first chunk's where it stands for several.
    pub stream: usize,
    /// Index of its first chunk in the stream.
    pub chunk: usize,
    /// Chunks it stands for.
    pub chunks: usize,
    /// Bytes moved.
    pub bytes: u64,
}

/// The bars of one kind of work of a drive or stream, by their start.
#[derive(Debug, Clone, Default)]
pub struct Row {
    bars: Vec<Bar>,
    /// The longest of them.
    longest: f64,
}

impl Row {
    /// The bars that can be seen between two times, by their start.
    pub fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &Bar> {
        let first = self.bars.partition_point(|bar| bar.start < from - self.longest);
        self.bars[first..].iter().take_while(move |bar| bar.start <= to).filter(move |bar| bar.end >= from)
    }

    /// The bar at a time, or the one within `near` of it.
    #[must_use]
    pub fn at(&self, time: f64, near: f64) -> Option<&Bar> {
        let distance = |bar: &&Bar| (bar.start - time).max(time - bar.end).max(0.0);
        self.between(time - near, time + near).min_by(|one, other| distance(one).total_cmp(&distance(other)))
    }

    fn add(&mut self, bar: Bar) {
        self.longest = self.longest.max(bar.end - bar.start);
        // Of one thread they come in order; several compute a stream.
        let place = match self.bars.last() {
            Some(last) if last.start > bar.start => self.bars.partition_point(|b| b.start <= bar.start),
            _ => self.bars.len(),
        };
        self.bars.insert(place, bar);
    }

    /// Joins neighbours with a gap of less than `gap`.
    fn join(&mut self, gap: f64) {
        let mut kept: Vec<Bar> = Vec::with_capacity(self.bars.len());
        for bar in &self.bars {
            match kept.last_mut() {
                Some(last)
                    if last.pass == bar.pass
                        && bar.start - last.end < gap
                        && bar.end - last.start < LONGEST * gap =>
                {
                    last.end = last.end.max(bar.end);
                    last.chunk = last.chunk.min(bar.chunk);
                    last.chunks += bar.chunks;
                    last.bytes += bar.bytes;
                }
                _ => kept.push(*bar),
            }
        }
        self.longest = kept.iter().map(|bar| bar.end - bar.start).fold(0.0, f64::max);
        self.bars = kept;
    }
}

/// All rows of a run.
#[derive(Debug, Clone)]
pub struct Timeline {
    rows: BTreeMap<(Track, u8), Row>,
    bars: usize,
    gap: f64,
}

impl Default for Timeline {
    fn default() -> Self {
        Self { rows: BTreeMap::new(), bars: 0, gap: FIRST_GAP }
    }
}

/// Reads above writes.
const fn place(kind: Kind) -> u8 {
    match kind {
        Kind::Read => 0,
        Kind::Write => 1,
        Kind::Compute | Kind::Wait => 2,
    }
}

impl Timeline {
    /// Adds a bar of `kind` to a track.
    pub fn add(&mut self, track: Track, kind: Kind, bar: Bar) {
        self.rows.entry((track, place(kind))).or_default().add(bar);
        self.bars += 1;
        while self.bars > MAX_BARS {
            self.rows.values_mut().for_each(|row| row.join(self.gap));
            self.bars = self.rows.values().map(|row| row.bars.len()).sum();
            self.gap *= 2.0;
            // Then only passes keep bars apart, of which a run has few.
            if !self.gap.is_finite() {
                break;
            }
        }
    }

    /// The tracks in order.
    #[must_use]
    pub fn tracks(&self) -> Vec<Track> {
        let mut tracks: Vec<_> = self.rows.keys().map(|key| key.0).collect();
        tracks.dedup();
        tracks
    }

    /// A track's bars of one kind of work.
    #[must_use]
    pub fn row(&self, track: Track, kind: Kind) -> Option<&Row> {
        self.rows.get(&(track, place(kind)))
    }

    /// Bars over all tracks.
    #[must_use]
    pub const fn bars(&self) -> usize {
        self.bars
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(start: f64, end: f64, chunk: usize) -> Bar {
        Bar { start, end, pass: 0, stream: 0, chunk, chunks: 1, bytes: 10 }
    }

    #[test]
    fn bars_are_found_by_time_whatever_order_they_came_in() {
        let mut timeline = Timeline::default();
        for (start, end, chunk) in [(2.0, 3.0, 1), (0.0, 1.0, 0), (0.5, 6.0, 2), (7.0, 8.0, 3)] {
            timeline.add(Track::Stream(0), Kind::Compute, bar(start, end, chunk));
        }
        timeline.add(Track::Drive(1), Kind::Write, bar(0.0, 1.0, 9));
        assert_eq!(timeline.tracks(), [Track::Drive(1), Track::Stream(0)]);
        assert!(timeline.row(Track::Drive(1), Kind::Read).is_none());
        let row = timeline.row(Track::Stream(0), Kind::Compute).unwrap();
        let chunks = |from, to| row.between(from, to).map(|bar| bar.chunk).collect::<Vec<_>>();
        assert_eq!(chunks(0.0, 9.0), [0, 2, 1, 3]);
        assert_eq!(chunks(4.0, 6.5), [2], "a long bar that began before");
        assert_eq!(chunks(8.5, 9.0), [0; 0]);
        assert_eq!(row.at(7.5, 0.0).unwrap().chunk, 3);
        assert_eq!(row.at(6.9, 0.2).unwrap().chunk, 3, "the nearest");
        assert!(row.at(6.5, 0.2).is_none());
    }

    #[test]
    fn a_long_run_keeps_few_bars_and_every_byte() {
        let mut timeline = Timeline::default();
        let count = 5 * MAX_BARS;
        for chunk in 0..count {
            let start = chunk as f64 * 0.01;
            let kind = if chunk % 2 == 0 { Kind::Read } else { Kind::Write };
            // One drive's streams take turns.
            let bar = Bar { stream: chunk / 2 % 2, ..bar(start, start + 0.009, chunk / 2) };
            timeline.add(Track::Drive(0), kind, bar);
        }
        assert!(timeline.bars() <= MAX_BARS && timeline.bars() > MAX_BARS / 20, "{}", timeline.bars());
        let all = |kind| timeline.row(Track::Drive(0), kind).unwrap().between(0.0, f64::INFINITY);
        for kind in [Kind::Read, Kind::Write] {
            assert_eq!(all(kind).map(|bar| bar.bytes).sum::<u64>(), 10 * count as u64 / 2);
            assert_eq!(all(kind).map(|bar| bar.chunks).sum::<usize>(), count / 2);
            // No bar covers a time that none of its chunks is near.
            assert!(all(kind).all(|bar| bar.end - bar.start < 0.03 * bar.chunks as f64));
        }
    }
}
