//! Rows of a plane to the streams of their spectra.

use std::ops::Range;
use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;

use super::scratch::put_rows;
use super::{Layers, PerThread, add_source, batch};
use crate::engine::pipeline::{ChunkKernel, Stop};
use crate::optics::Real;
use crate::spectral::{Split, Streams};
use crate::storage::{Element, PANEL, Tiles};

/// Phase 1: each row, layers added, transformed to its streams and laid out in tiles.
pub struct RowsForward<T: Real> {
    streams: Arc<Streams<T>>,
    rows: RowsOf,
    tiles: Tiles,
    source: Option<Element>,
    layers: Layers,
    /// Rows that are transformed before they are laid out.
    batch: usize,
    /// `[row][stream][index]` of a batch.
    staging: Vec<Complex<T>>,
    work: PerThread<RowWork<T>>,
    energy: f64,
}

struct RowWork<T> {
    line: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

/// The part of a plane's spectrum that a phase 1 makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsOf {
    /// The plane's row that is the tiles' first; the rows outside the tiles are zero.
    pub first_row: usize,
    /// The streams that are made, an output each.
    pub streams: Range<usize>,
}

impl<T: Real> RowsForward<T> {
    /// Prepares the kernel for `threads` threads.
    #[must_use]
    pub fn new(
        streams: Arc<Streams<T>>,
        rows: RowsOf,
        tiles: Tiles,
        source: Option<Element>,
        layers: Layers,
        threads: usize,
    ) -> Self {
        let split = streams.split();
        let batch = batch(threads).min(tiles.rows);
        let scratch = streams.scratch_length();
        let zero = Complex::default();
        let made = rows.streams.len() * split.stream_length();
        Self {
            streams,
            rows,
            tiles,
            source,
            layers,
            batch,
            staging: vec![zero; batch * made],
            work: PerThread::new(threads, || RowWork {
                line: vec![zero; split.length],
                scratch: vec![zero; scratch],
            }),
            energy: 0.0,
        }
    }

    /// Bytes of the kernel's own memory.
    #[must_use]
    pub fn bytes(split: Split, streams: usize, rows: usize, threads: usize) -> usize {
        let sample_bytes = size_of::<Complex<T>>();
        let staging = batch(threads).min(rows) * streams * split.stream_length();
        let work = threads * (split.length + Streams::<T>::scratch_bound(split));
        (staging + work) * sample_bytes + Streams::<T>::table_bytes(split, sample_bytes)
    }

    /// Σ|u|² over all rows so far.
    #[must_use]
    pub const fn energy(&self) -> f64 {
        self.energy
    }
}

impl<T: Real> ChunkKernel for RowsForward<T> {
    fn compute(
        &mut self,
        _lane: usize,
        chunk: usize,
        inputs: &mut [&mut [u8]],
        outputs: &mut [&mut [u8]],
        stop: &Stop,
    ) {
        let split = self.streams.split();
        let m = split.stream_length();
        let made = self.rows.streams.len() * m;
        let rows = self.tiles.rows_in(chunk);
        let source = self.source.map(|element| (&*inputs[0], element));
        // Lines may be padded.
        let line_bytes = source.map_or(0, |(bytes, _)| bytes.len() / rows);
        for first in (0..rows).step_by(self.batch) {
            if stop.is_set() {
                return;
            }
            let count = self.batch.min(rows - first);
            let staging = &mut self.staging[..count * made];
            let (work, streams, layers) = (&self.work, &self.streams, &self.layers);
            let energies: Vec<f64> = staging
                .par_chunks_mut(made)
                .enumerate()
                .map(|(i, spectra)| {
                    let row = first + i;
                    let y = self.rows.first_row + chunk * self.tiles.rows + row;
                    work.with(|RowWork { line, scratch }| {
                        if source.is_none() && layers.iter().all(|layer| layer.line_is_zero(y)) {
                            spectra.fill(Complex::default());
                            return 0.0;
                        }
                        line.fill(Complex::default());
                        if let Some((bytes, element)) = source {
                            add_source(&bytes[row * line_bytes..][..line_bytes], element, line);
                        }
                        for layer in layers {
                            layer.add_line(y, 0, line);
                        }
                        for (r, stream) in self.rows.streams.clone().zip(spectra.chunks_mut(m)) {
                            streams.forward(r, line, stream, scratch);
                        }
                        T::energy(line)
                    })
                })
                .collect();
            // Row by row, so that it is the same sum however the rows are batched.
            self.energy = energies.iter().fold(self.energy, |sum, energy| sum + energy);
            for (r, output) in outputs.iter_mut().enumerate() {
                let lines = &staging[r * m..];
                output.par_chunks_mut(self.tiles.tile_bytes()).enumerate().for_each(|(c, tile)| {
                    let columns = self.tiles.columns_in(c);
                    for (x0, panel) in
                        (0..columns).step_by(PANEL).zip(tile.chunks_mut(self.tiles.panel_bytes()))
                    {
                        let x = c * self.tiles.columns + x0..c * self.tiles.columns + columns.min(x0 + PANEL);
                        put_rows(&self.tiles, panel, first, lines, made, x);
                    }
                });
            }
        }
    }
}
