//! What computing takes on this machine.

use std::sync::Arc;

use num_complex::Complex;
use serde::{Deserialize, Serialize};

use super::rate::{Slot, nanoseconds};
use super::{Cache, MachineError};
use crate::optics::{
    Evanescent, Grid, Image, LayerSource, Length, Phase, Real, Samples, Transfer, TransferLines,
    TransferReal, Values,
};
use crate::spectral::{Split, Streams, columns_to_panel, is_smooth, panel_to_columns};
use crate::storage::PANEL;

/// What computing takes in wall-clock nanoseconds, with all threads at work at the same time.
///
/// So the seconds of a pass are its samples, whichever thread has them, times a figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Computing threads.
    pub threads: usize,
    /// Of lines in single precision.
    pub single: LineFigures,
    /// Of lines in double precision.
    pub double: LineFigures,
    /// For a sample of a layer with random phase.
    pub layer: f64,
    /// Whether measuring twice gave nearly the same. If not, the machine was busy with something else.
    pub steady: bool,
}

/// What lines of one precision take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LineFigures {
    /// `(length, ns)`: for a sample of a transform of a power of two, its twiddle included, divided by the
    /// length's binary logarithm; by ascending length.
    pub transform: Vec<(usize, f64)>,
    /// How much more other smooth lengths take (see [`is_smooth`]).
    pub smooth: f64,
    /// How much more lengths with large prime factors take.
    pub rough: f64,
    /// For a value of the transfer function, formed and multiplied.
    pub transfer: f64,
    /// For a sample copied once between a panel and lines.
    pub copy: f64,
}

/// Powers of two that are measured.
const LENGTHS: [usize; 4] = [1024, 4096, 16_384, 65_536];
/// 2⁹·5·7, as `spectral::fast_length` chooses them.
const SMOOTH: usize = 17_920;
/// 4 · 4099, a prime.
const ROUGH: usize = 16_396;
/// The length that transfer function, layers and copies are measured at.
const LINE: usize = 16_384;

impl Figures {
    /// The remembered figures for `threads` threads, measured if there are none or if `refresh`.
    pub fn cached_or_measure(threads: usize, refresh: bool) -> Result<Self, MachineError> {
        Cache::of_user().figures(threads, refresh)
    }

    /// Measures with `threads` threads, in about a second; twice that on a busy machine.
    pub fn measure(threads: usize) -> Result<Self, MachineError> {
        Self::measure_in(threads.max(1), Slot::USUAL)
    }

    pub(super) fn measure_in(threads: usize, slot: Slot) -> Result<Self, MachineError> {
        // Processors take their time to reach their speed.
        transform::<f32>(LENGTHS[0], threads, Slot { slices: 10 * slot.slices, ..slot })?;
        let mut best = Measured::once(threads, slot)?;
        let mut second = Measured([f64::INFINITY; 2 * TASKS + 1]);
        let mut rounds = 1;
        // Something else that runs for a moment should spoil no figure.
        while rounds < ROUNDS && !best.is_confirmed_by(&second) {
            let round = Measured::once(threads, slot)?;
            for ((best, second), new) in best.0.iter_mut().zip(&mut second.0).zip(round.0) {
                *second = second.min(best.max(new));
                *best = best.min(new);
            }
            rounds += 1;
        }
        let (single, rest) = best.0.split_at(TASKS);
        Ok(Self {
            threads,
            single: LineFigures::of(single),
            double: LineFigures::of(rest),
            layer: rest[TASKS],
            steady: best.is_confirmed_by(&second),
        })
    }

    /// Whether these can be figures of a machine: what a damaged file holds need not be.
    pub(super) fn is_sound(&self) -> bool {
        self.threads > 0 && self.single.is_sound() && self.double.is_sound() && positive(self.layer)
    }
}

/// Transforms of all lengths, the transfer function, copies.
const TASKS: usize = LENGTHS.len() + 4;
/// Rounds of measuring, two where nothing disturbs.
const ROUNDS: usize = 4;

/// Nanoseconds for a sample of each task: in single precision, in double precision, of layers.
struct Measured([f64; 2 * TASKS + 1]);

impl Measured {
    fn once(threads: usize, slot: Slot) -> Result<Self, MachineError> {
        let tasks = Self::lines::<f32>(threads, slot)?.into_iter().chain(Self::lines::<f64>(threads, slot)?);
        let mut all = [layer(threads, slot)?; 2 * TASKS + 1];
        all.iter_mut().zip(tasks).for_each(|(to, ns)| *to = ns);
        Ok(Self(all))
    }

    fn lines<T: TransferReal>(threads: usize, slot: Slot) -> Result<[f64; TASKS], MachineError> {
        let [a, b, c, d] = LENGTHS;
        let transform = |n| transform::<T>(n, threads, slot);
        Ok([
            transform(a)?,
            transform(b)?,
            transform(c)?,
            transform(d)?,
            transform(SMOOTH)?,
            transform(ROUGH)?,
            transfer::<T>(threads, slot)?,
            copy::<T>(threads, slot)?,
        ])
    }

    /// Whether the second best of each task is near the best.
    fn is_confirmed_by(&self, second: &Self) -> bool {
        self.0.iter().zip(second.0).all(|(&best, second)| second < 1.25 * best)
    }
}

const fn positive(value: f64) -> bool {
    value > 0.0 && value.is_finite()
}

impl LineFigures {
    /// The figures of tasks in the order of [`Measured::lines`].
    fn of(tasks: &[f64]) -> Self {
        let (transforms, rest) = tasks.split_at(LENGTHS.len());
        let transform = LENGTHS.iter().zip(transforms).map(|(&n, ns)| (n, ns / (n as f64).log2()));
        let figures = Self {
            transform: transform.collect(),
            smooth: 1.0,
            rough: 1.0,
            transfer: rest[2],
            copy: rest[3],
        };
        Self {
            smooth: rest[0] / figures.power_of_two(SMOOTH),
            rough: rest[1] / figures.power_of_two(ROUGH),
            ..figures
        }
    }

    fn is_sound(&self) -> bool {
        !self.transform.is_empty()
            && self.transform.iter().all(|&(length, ns)| length > 1 && positive(ns))
            && self.transform.is_sorted_by(|a, b| a.0 < b.0)
            && [self.smooth, self.rough, self.transfer, self.copy].into_iter().all(positive)
    }

    /// Nanoseconds for a sample of a transform of `length`.
    #[must_use]
    pub fn transform_of(&self, length: usize) -> f64 {
        let factor = match length {
            n if n.is_power_of_two() => 1.0,
            n if is_smooth(n) => self.smooth,
            _ => self.rough,
        };
        self.power_of_two(length) * factor
    }

    /// The same as if `length` were a power of two: between those that are measured, straight in the
    /// length's logarithm; beyond them, as the nearest.
    fn power_of_two(&self, length: usize) -> f64 {
        let depth = (length.max(2) as f64).log2();
        let points: Vec<_> = self.transform.iter().map(|&(n, ns)| ((n as f64).log2(), ns)).collect();
        let each = match points.iter().position(|&(at, _)| at >= depth) {
            Some(0) => points[0].1,
            Some(i) => {
                let ((x0, y0), (x1, y1)) = (points[i - 1], points[i]);
                y0 + (y1 - y0) * (depth - x0) / (x1 - x0)
            }
            None => points.last().map_or(0.0, |last| last.1),
        };
        each * depth
    }
}

fn line<T: Real>(length: usize) -> Vec<Complex<T>> {
    (0..length)
        .map(|i| Complex::new(T::rounded((i % 17) as f64 - 8.0), T::rounded((i % 13) as f64 - 6.0)))
        .collect()
}

/// Nanoseconds for a sample of a transform of length `n`, there and back as a column is convolved.
fn transform<T: Real>(n: usize, threads: usize, slot: Slot) -> Result<f64, MachineError> {
    let streams = Arc::new(Streams::<T>::new(Split { length: n, padded: 2 * n, streams: 2 }));
    nanoseconds(threads, slot, || {
        let streams = streams.clone();
        let columns = line::<T>(PANEL * n);
        let zero = Complex::default();
        let (mut stream, mut result) = (vec![zero; n], vec![zero; n]);
        let mut scratch = vec![zero; streams.scratch_length()];
        let mut next = 0;
        move || {
            // Not changed: what is halved again and again ends in numbers that processors are slow with.
            let column = &columns[next * n..][..n];
            next = (next + 1) % PANEL;
            result.fill(zero);
            streams.forward(1, column, &mut stream, &mut scratch);
            streams.inverse_add(1, &mut stream, &mut result, &mut scratch);
            2 * n
        }
    })
}

/// Nanoseconds for a value of the transfer function.
fn transfer<T: TransferReal>(threads: usize, slot: Slot) -> Result<f64, MachineError> {
    let transfer = Transfer {
        wavelength: 660e-9,
        distance: -90e-3,
        pitch: [5e-6; 2],
        padded: [2 * LINE; 2],
        evanescent: Evanescent::Decay,
        band_limit: false,
        rolloff: 0.0,
    };
    let lines = TransferLines::<T>::new(transfer, 2);
    nanoseconds(threads, slot, || {
        let mut table = vec![Complex::default(); lines.table_length()];
        let mut column = line::<T>(LINE);
        let lines = &lines;
        let mut x = 0;
        move || {
            x = (x + 1237) % (2 * LINE);
            lines.multiply(x, x % 2, &mut column, &mut table);
            LINE
        }
    })
}

/// Nanoseconds for a sample copied between panels, which come from memory, and columns.
fn copy<T: Real>(threads: usize, slot: Slot) -> Result<f64, MachineError> {
    const ROWS: usize = 512;
    let panel = PANEL * ROWS;
    // Beyond every cache, as chunks are; many threads are so together.
    let bytes = ((256 << 20) / threads).clamp(1 << 20, 16 << 20);
    let panels = bytes / (panel * size_of::<Complex<T>>());
    nanoseconds(threads, slot, || {
        let mut chunk = line::<T>(panels * panel);
        let mut columns = vec![Complex::default(); PANEL * LINE];
        let mut next = 0;
        move || {
            let piece = &mut chunk[next * panel..][..panel];
            let y0 = next * ROWS % LINE;
            next = (next + 1) % panels;
            panel_to_columns(piece, PANEL, ROWS, &mut columns, LINE, y0);
            columns_to_panel(&columns, LINE, y0, piece, PANEL, ROWS);
            2 * panel
        }
    })
}

/// Nanoseconds for a sample of a layer whose image is half as large as the plane.
fn layer(threads: usize, slot: Slot) -> Result<f64, MachineError> {
    const ROWS: usize = 64;
    let (width, height) = (LINE / 2, ROWS / 2);
    let pixels = (0..width * height).map(|i| u8::try_from(i % 255).unwrap_or(0) + 1).collect();
    let image = Image { width, height, samples: Samples::U8(pixels) };
    let pitch = Length::metres(1e-6);
    let grid = Grid { width: LINE, height: ROWS, pitch_y: pitch, pitch_x: pitch };
    let source = LayerSource::new(image, Values::Srgb, Phase::Random, &grid, 1, 0);
    nanoseconds(threads, slot, || {
        let mut line = vec![Complex::<f32>::default(); LINE];
        let source = &source;
        let mut y = 0;
        move || {
            y = (y + 1) % ROWS;
            source.add_line(y, 0, &mut line);
            LINE
        }
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::time::Duration;

    use super::*;

    /// A measurement too short to be right.
    pub const HASTY: Slot = Slot { slice: Duration::from_micros(1), slices: 1 };

    fn figures() -> LineFigures {
        LineFigures {
            transform: vec![(1024, 0.2), (4096, 0.4), (65_536, 0.4)],
            smooth: 1.5,
            rough: 4.0,
            transfer: 1.0,
            copy: 1.0,
        }
    }

    #[test]
    fn lengths_between_those_measured_are_interpolated_in_their_logarithm() {
        let figures = figures();
        for (length, expected) in [
            (1024, 0.2 * 10.0),
            (2048, 0.3 * 11.0),
            (4096, 0.4 * 12.0),
            (16_384, 0.4 * 14.0),
            // Beyond the ends.
            (16, 0.2 * 4.0),
            (1 << 20, 0.4 * 20.0),
            (1, 0.2),
        ] {
            assert!((figures.transform_of(length) - expected).abs() < 1e-12, "{length}");
        }
        let smooth = figures.transform_of(5000) / figures.power_of_two(5000);
        let rough = figures.transform_of(4099) / figures.power_of_two(4099);
        assert!((smooth - 1.5).abs() < 1e-12 && (rough - 4.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_measured_is_sound_and_what_is_damaged_is_not() {
        let figures = Figures::measure_in(2, HASTY).unwrap();
        assert!(figures.is_sound(), "{figures:?}");
        let damaged = |change: fn(&mut Figures)| {
            let mut figures = figures.clone();
            change(&mut figures);
            figures.is_sound()
        };
        assert!(!damaged(|f| f.layer = f64::NAN));
        assert!(!damaged(|f| f.single.transform.clear()));
        assert!(!damaged(|f| f.double.transform.reverse()));
        assert!(!damaged(|f| f.single.copy = -1.0));
        assert!(!damaged(|f| f.threads = 0));
    }

    /// By hand: `cargo test --release figures -- --ignored --nocapture`.
    #[test]
    #[ignore = "measures real time"]
    fn figures_of_this_machine() {
        for threads in [1, 2] {
            let started = std::time::Instant::now();
            let figures = Figures::measure(threads).unwrap();
            println!("{:.2} s: {figures:#?}", started.elapsed().as_secs_f64());
        }
    }
}
