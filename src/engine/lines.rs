//! A reduced picture of the plane that a pass is making, sent to whoever watches while it grows.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use num_complex::Complex;

use super::{Event, EventSink};
use crate::optics::Real;

/// The time between two sendings of a pass.
const PAUSE: Duration = Duration::from_millis(50);
/// Sent parts that may wait for the receiver; what is made meanwhile goes with the next part.
const MOST_WAITING: usize = 8;

/// A part of the plane that a pass is making: the mean of |u|² over square bins, `[y, x]`.
///
/// A bin covers `scale × scale` samples (fewer at the right and lower edge), before they are encoded.
/// A later part replaces what an earlier one said of the same bins.
#[derive(Debug, Clone, PartialEq)]
pub struct Lines {
    /// Samples of the plane along x.
    pub width: usize,
    /// Samples of the plane along y.
    pub height: usize,
    /// Samples along one side of a bin.
    pub scale: usize,
    /// Whether the plane is the job's result, and not one between two of its steps.
    pub result: bool,
    /// The bins along x that are told.
    pub columns: Range<usize>,
    /// The bins along y that are told.
    pub rows: Range<usize>,
    /// The mean over each bin's samples that are made, `rows × columns`; not a number before the first one is.
    pub mean: Vec<f32>,
    /// Samples of the plane that are made so far.
    pub samples: u64,
    /// Whether the plane is made in whole lines.
    pub whole_lines: bool,
}

impl Lines {
    /// The longest side of the picture, in bins.
    pub const MAX_SIDE: usize = 512;

    /// Samples along one side of a bin of a plane of `height × width` samples.
    #[must_use]
    pub fn scale_of(width: usize, height: usize) -> usize {
        width.max(height).div_ceil(Self::MAX_SIDE).max(1)
    }
}

/// Gathers the picture of one pass from the lines as they are made, and sends what is new.
///
/// It holds 8 bytes a bin, 2 MiB at most, whatever the plane's size.
pub(crate) struct Watch {
    pass: usize,
    result: bool,
    width: usize,
    height: usize,
    scale: usize,
    columns: usize,
    sink: EventSink,
    state: Mutex<State>,
}

struct State {
    sums: Vec<f32>,
    counts: Vec<u32>,
    /// The bins that have changed since the last sending: rows and columns.
    fresh: Option<[Range<usize>; 2]>,
    samples: u64,
    whole_lines: bool,
    sent: Option<Instant>,
    waiting: Vec<Weak<Lines>>,
}

impl Watch {
    /// For pass `pass`, which makes a plane of `height × width` samples.
    pub fn new(sink: EventSink, pass: usize, result: bool, width: usize, height: usize) -> Self {
        let scale = Lines::scale_of(width, height);
        let columns = width.div_ceil(scale);
        let bins = columns * height.div_ceil(scale);
        let state = State {
            sums: vec![0.0; bins],
            counts: vec![0; bins],
            fresh: None,
            samples: 0,
            whole_lines: true,
            sent: None,
            waiting: Vec::new(),
        };
        Self { pass, result, width, height, scale, columns, sink, state: Mutex::new(state) }
    }

    /// Takes in a part of row `row` that starts at column `column`; may be called from any thread.
    pub fn add<T: Real>(&self, row: usize, column: usize, part: &[Complex<T>]) {
        if part.is_empty() {
            return;
        }
        let (head, rest) = part.split_at(part.len().min(self.scale - column % self.scale));
        let bins: Vec<(f32, u32)> = std::iter::once(head)
            .chain(rest.chunks(self.scale))
            .map(|bin| (f32::rounded(T::energy(bin)), u32::try_from(bin.len()).unwrap_or(u32::MAX)))
            .collect();
        let (y, x) = (row / self.scale, column / self.scale);
        let first = y * self.columns + x;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = &mut *state;
        let places = state.sums[first..].iter_mut().zip(&mut state.counts[first..]);
        for ((sum, count), (energy, samples)) in places.zip(&bins) {
            *sum += energy;
            *count = count.saturating_add(*samples);
        }
        state.samples += part.len() as u64;
        state.whole_lines &= part.len() == self.width;
        let (mut rows, mut columns) = (y..y + 1, x..x + bins.len());
        if let Some([old_rows, old_columns]) = &state.fresh {
            rows = rows.start.min(old_rows.start)..rows.end.max(old_rows.end);
            columns = columns.start.min(old_columns.start)..columns.end.max(old_columns.end);
        }
        state.fresh = Some([rows, columns]);
    }

    /// Sends what is new, unless that was done just now or the receiver is behind; the `last` part always.
    pub fn send(&self, last: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting.retain(|part| part.strong_count() > 0);
        let held = state.sent.is_some_and(|at| at.elapsed() < PAUSE) || state.waiting.len() >= MOST_WAITING;
        if held && !last {
            return;
        }
        let Some([rows, columns]) = state.fresh.take() else { return };
        let mut mean = Vec::with_capacity(rows.len() * columns.len());
        for row in rows.clone() {
            let line = row * self.columns + columns.start..row * self.columns + columns.end;
            let bins = state.sums[line.clone()].iter().zip(&state.counts[line]);
            mean.extend(bins.map(|(&sum, &count)| f32::rounded(f64::from(sum) / f64::from(count))));
        }
        let lines = Arc::new(Lines {
            width: self.width,
            height: self.height,
            scale: self.scale,
            result: self.result,
            columns,
            rows,
            mean,
            samples: state.samples,
            whole_lines: state.whole_lines,
        });
        state.waiting.push(Arc::downgrade(&lines));
        state.sent = Some(Instant::now());
        drop(state);
        self.sink.send(Event::Lines { pass: self.pass, lines: Some(lines) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(y: usize, x: usize) -> Complex<f32> {
        Complex::new((y % 7) as f32, (x % 11) as f32)
    }

    #[test]
    fn parts_of_lines_in_any_order_make_the_mean_of_each_bin() {
        let (width, height) = (1100, 531);
        let (sink, events) = EventSink::channel(|| {});
        let watch = Watch::new(sink, 3, true, width, height);
        // The right half first, as blocks do, and parts that begin within a bin.
        for columns in [601..1100, 0..601] {
            for y in (0..height).rev() {
                let part: Vec<_> = columns.clone().map(|x| sample(y, x)).collect();
                watch.add(y, columns.start, &part);
            }
            watch.send(true);
        }
        let all: Vec<_> = events.try_iter().collect();
        let [_, Event::Lines { pass: 3, lines: Some(lines) }] = &all[..] else { panic!("{all:?}") };
        assert_eq!((lines.scale, lines.rows.clone(), lines.columns.clone()), (3, 0..177, 0..201));
        assert_eq!((lines.samples, lines.whole_lines), ((width * height) as u64, false));
        for (row, column) in [(0, 0), (176, 17), (90, 200), (5, 100)] {
            let mut values = Vec::new();
            for y in 3 * row..height.min(3 * row + 3) {
                values.extend((3 * column..3 * column + 3).map(|x| f64::from(sample(y, x).norm_sqr())));
            }
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let got = f64::from(lines.mean[row * lines.columns.len() + column]);
            assert!((got - mean).abs() < 1e-5 * (1.0 + mean), "bin {row}, {column}: {got} for {mean}");
        }
    }

    #[test]
    fn a_receiver_that_is_behind_gets_fewer_parts_and_loses_nothing() {
        let (sink, events) = EventSink::channel(|| {});
        let watch = Watch::new(sink, 0, false, 4, 300);
        for y in 0..300 {
            watch.add(y, 0, &[sample(y, 0); 4]);
            // As if the last sending was long ago.
            watch.state.lock().unwrap().sent = None;
            watch.send(false);
        }
        assert_eq!(events.len(), MOST_WAITING);
        let told: Vec<_> = events.try_iter().collect();
        drop(told);
        watch.send(true);
        let Ok(Event::Lines { lines: Some(lines), .. }) = events.try_recv() else { panic!("the rest") };
        assert_eq!((lines.rows.clone(), lines.samples), (MOST_WAITING..300, 1200));
        watch.send(true);
        assert!(events.is_empty(), "nothing is new");
    }

    #[test]
    fn a_bin_before_its_first_sample_is_not_a_number() {
        let (sink, events) = EventSink::channel(|| {});
        let watch = Watch::new(sink, 0, true, 3, 3);
        watch.add(0, 0, &[sample(1, 2)]);
        watch.add(2, 2, &[sample(1, 2)]);
        watch.send(true);
        let Ok(Event::Lines { lines: Some(lines), .. }) = events.try_recv() else { panic!("a part") };
        let nan: Vec<_> = lines.mean.iter().map(|v| v.is_nan()).collect();
        assert_eq!(nan, [false, true, true, true, true, true, true, true, false]);
    }
}
