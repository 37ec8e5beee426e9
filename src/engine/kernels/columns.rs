//! Columns of a stream: transform, transfer function, inverse transform.

use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;

use super::PerThread;
use crate::engine::pipeline::{ChunkKernel, Stop};
use crate::optics::{Transfer, TransferLines, TransferReal};
use crate::spectral::{Split, Streams, columns_to_panel, panel_to_columns};
use crate::storage::{PANEL, Tiles};

/// Phase 2: each column, in place, convolved along y within each of x's frequencies.
pub struct Columns<T: TransferReal> {
    streams: Arc<Streams<T>>,
    transfer: TransferLines<T>,
    tiles: Tiles,
    /// Streams along x; the lane is the stream.
    streams_x: usize,
    work: PerThread<ColumnWork<T>>,
    energy: f64,
    written: f64,
}

struct ColumnWork<T> {
    /// A panel's columns, one after another.
    columns: Vec<Complex<T>>,
    result: Vec<Complex<T>>,
    stream: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
    table: Vec<Complex<T>>,
}

impl<T: TransferReal> Columns<T> {
    /// Prepares the kernel for `threads` threads.
    #[must_use]
    pub fn new(
        streams: Arc<Streams<T>>,
        transfer: Transfer,
        streams_x: usize,
        tiles: Tiles,
        threads: usize,
    ) -> Self {
        let split = streams.split();
        let transfer = TransferLines::new(transfer, split.streams);
        let (scratch, table) = (streams.scratch_length(), transfer.table_length());
        let zeros = |n| vec![Complex::default(); n];
        let work = PerThread::new(threads, || ColumnWork {
            columns: zeros(PANEL * split.length),
            result: zeros(split.length),
            stream: zeros(split.stream_length()),
            scratch: zeros(scratch),
            table: zeros(table),
        });
        Self { streams, transfer, tiles, streams_x, work, energy: 0.0, written: 0.0 }
    }

    /// Bytes of the kernel's own memory.
    #[must_use]
    pub fn bytes(split: Split, tiles: &Tiles, threads: usize) -> usize {
        let sample_bytes = tiles.sample_bytes;
        let own = (PANEL + 1) * split.length + 2 * split.stream_length() + Streams::<T>::scratch_bound(split);
        let work = threads * own;
        // One reference for every panel of every tile of a chunk.
        let pieces = tiles.columns.div_ceil(PANEL) * tiles.row_chunks() * size_of::<&mut [u8]>();
        work * sample_bytes
            + pieces
            + Streams::<T>::table_bytes(split, sample_bytes)
            + TransferLines::<T>::bytes(split.padded, sample_bytes)
    }

    /// Σ|U|²/P over all columns so far: the spectrum's energy along y, by Parseval that of the samples.
    #[must_use]
    pub fn energy(&self) -> f64 {
        self.energy / self.streams.split().padded as f64
    }

    /// Σ|u|² of all samples written so far.
    #[must_use]
    pub const fn written(&self) -> f64 {
        self.written
    }

    /// Convolves the columns of one panel; returns Σ|U|² of their spectra, and Σ|u|² of what they became.
    fn panel(&self, lane: usize, x0: usize, columns: usize, pieces: &mut [&mut [Complex<T>]]) -> (f64, f64) {
        let height = self.tiles.height;
        self.work.with(|work| {
            let ColumnWork { columns: lines, result, stream, scratch, table } = work;
            for (k, piece) in pieces.iter().enumerate() {
                panel_to_columns(piece, PANEL, self.tiles.rows_in(k), lines, height, k * self.tiles.rows);
            }
            let (mut read, mut written) = (0.0, 0.0);
            for (i, line) in lines.chunks_exact_mut(height).take(columns).enumerate() {
                let x = (x0 + i) * self.streams_x + lane;
                result.fill(Complex::default());
                for r in 0..self.streams.split().streams {
                    self.streams.forward(r, line, stream, scratch);
                    read += T::energy(stream);
                    self.transfer.multiply(x, r, stream, table);
                    self.streams.inverse_add(r, stream, result, scratch);
                }
                line.copy_from_slice(result);
                written += T::energy(line);
            }
            for (k, piece) in pieces.iter_mut().enumerate() {
                columns_to_panel(lines, height, k * self.tiles.rows, piece, PANEL, self.tiles.rows_in(k));
            }
            (read, written)
        })
    }
}

impl<T: TransferReal> ChunkKernel for Columns<T> {
    fn compute(
        &mut self,
        lane: usize,
        chunk: usize,
        inputs: &mut [&mut [u8]],
        _outputs: &mut [&mut [u8]],
        stop: &Stop,
    ) {
        let tiles = self.tiles;
        let columns = tiles.columns_in(chunk);
        let samples: &mut [Complex<T>] = bytemuck::cast_slice_mut(inputs[0]);
        let mut panels: Vec<Vec<_>> =
            (0..columns.div_ceil(PANEL)).map(|_| Vec::with_capacity(tiles.row_chunks())).collect();
        for tile in samples.chunks_mut(tiles.tile_samples()) {
            for (panel, piece) in panels.iter_mut().zip(tile.chunks_mut(tiles.panel_samples())) {
                panel.push(piece);
            }
        }
        let energies: Vec<(f64, f64)> = panels
            .par_iter_mut()
            .enumerate()
            .map(|(p, pieces)| {
                if stop.is_set() {
                    return (0.0, 0.0);
                }
                let first = p * PANEL;
                self.panel(lane, chunk * tiles.columns + first, PANEL.min(columns - first), pieces)
            })
            .collect();
        for (read, written) in energies {
            self.energy += read;
            self.written += written;
        }
    }
}
