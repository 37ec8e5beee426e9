//! What passes compute, each on one chunk in memory, its lines spread over the pool's threads.
//!
//! A line's result depends on that line alone, never on the chunk it comes in or the thread it is
//! computed on, so a job's output is the same bytes for every chunk size, number of buffers and
//! threads.

mod block_plan;
mod blocks;
mod columns;
mod rows_forward;
mod rows_inverse;
mod scratch;

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use num_complex::Complex;

pub use block_plan::{BlockPlan, BlockWave};
pub use blocks::{BlockKernel, Places};
pub use columns::{Columns, Term};
pub use rows_forward::{RowsForward, RowsOf};
pub use rows_inverse::RowsInverse;

use crate::optics::{Encoder, LayerSource, Real};
use crate::spectral::{Split, Streams};
use crate::storage::{Element, SCALE_ROWS};

/// A piece of working memory for each thread of the pool.
struct PerThread<W>(Vec<Mutex<W>>);

impl<W> PerThread<W> {
    fn new(threads: usize, make: impl FnMut() -> W) -> Self {
        Self(std::iter::repeat_with(make).map(Mutex::new).take(threads).collect())
    }

    /// Calls `task` with the memory of the thread it runs on.
    fn with<R>(&self, task: impl FnOnce(&mut W) -> R) -> R {
        let index = rayon::current_thread_index().unwrap_or(0);
        task(&mut self.0[index].lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Rows of a batch: enough that all threads have some and that a panel is filled in runs of lines, and
/// whole blocks of a common scale.
const fn batch(threads: usize) -> usize {
    if threads < 4 { SCALE_ROWS } else { (4 * threads).next_multiple_of(SCALE_ROWS) }
}

/// Adds a line of a plane, as its file holds it, to `line`.
fn add_source<T: Real>(bytes: &[u8], element: Element, line: &mut [Complex<T>]) {
    fn parts<const N: usize>(bytes: &[u8]) -> impl Iterator<Item = [u8; N]> + '_ {
        bytes.as_chunks::<N>().0.iter().copied()
    }
    let (single, double) =
        (|b| T::rounded(f64::from(f32::from_le_bytes(b))), |b| T::rounded(f64::from_le_bytes(b)));
    match element {
        Element::Complex64 => {
            for (u, [re, im]) in line.iter_mut().zip(bytes.as_chunks::<4>().0.as_chunks::<2>().0) {
                *u = *u + Complex::new(single(*re), single(*im));
            }
        }
        Element::Complex128 => {
            for (u, [re, im]) in line.iter_mut().zip(bytes.as_chunks::<8>().0.as_chunks::<2>().0) {
                *u = *u + Complex::new(double(*re), double(*im));
            }
        }
        Element::Float32 => {
            for (u, b) in line.iter_mut().zip(parts::<4>(bytes)) {
                u.re += single(b);
            }
        }
        Element::Float64 => {
            for (u, b) in line.iter_mut().zip(parts::<8>(bytes)) {
                u.re += double(b);
            }
        }
        Element::Phase8 => {
            for (u, &level) in line.iter_mut().zip(bytes) {
                let Complex { re, im } = PHASES[usize::from(level)];
                *u = *u + Complex::new(T::rounded(re), T::rounded(im));
            }
        }
        Element::Amplitude8 { full_scale } => {
            for (u, &level) in line.iter_mut().zip(bytes) {
                u.re += T::rounded(f64::from(level) / 255.0 * f64::from(full_scale));
            }
        }
        Element::Intensity32 => {
            for (u, b) in line.iter_mut().zip(parts::<4>(bytes)) {
                u.re += T::rounded(f64::from(f32::from_le_bytes(b)).sqrt());
            }
        }
    }
}

/// `exp(2πi·k/256)` for every level k.
static PHASES: LazyLock<[Complex<f64>; 256]> =
    LazyLock::new(|| std::array::from_fn(|level| Complex::cis(std::f64::consts::TAU * level as f64 / 256.0)));

/// Encodes `lines`, each of `width` samples, to `output`, whose lines may be padded (with zeros), and tells
/// how many samples were clipped.
fn encode_lines<T: Real>(encoder: Encoder, lines: &[Complex<T>], width: usize, output: &mut [u8]) -> u64 {
    let stride = output.len() / (lines.len() / width).max(1);
    let bytes = width * encoder.encoding.sample_bytes(size_of::<Complex<T>>());
    let encode = |(line, output): (&[Complex<T>], &mut [u8])| {
        let (samples, padding) = output.split_at_mut(bytes);
        padding.fill(0);
        encoder.encode(line, samples)
    };
    lines.chunks_exact(width).zip(output.chunks_exact_mut(stride)).map(encode).sum()
}

/// The layers a pass adds.
type Layers = Vec<Arc<LayerSource>>;

/// Transforms of each length a job uses, planned once.
pub struct Transforms<T: Real>(HashMap<Split, Arc<Streams<T>>>);

impl<T: Real> Transforms<T> {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self(HashMap::new())
    }

    /// The transforms of `split`.
    #[must_use]
    pub fn of(&mut self, split: Split) -> Arc<Streams<T>> {
        self.0.entry(split).or_insert_with(|| Arc::new(Streams::new(split))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optics::Encoding;

    /// A buffer holds what the pass before left in it.
    #[test]
    fn what_pads_a_line_is_zero() {
        let lines = [Complex::new(0.0f32, 1.0); 6];
        let encoder = Encoder { encoding: Encoding::Phase8, full_scale: 1.0 };
        let mut output = [7; 8];
        assert_eq!(encode_lines(encoder, &lines, 3, &mut output), 0);
        assert_eq!(output, [64, 64, 64, 0, 64, 64, 64, 0]);
        let mut output = [7; 6];
        encode_lines(encoder, &lines, 3, &mut output);
        assert_eq!(output, [64; 6]);
    }
}
