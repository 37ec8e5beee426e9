//! Columns of a stream: transform, transfer function, inverse transform.

use std::ops::Range;
use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;

use super::PerThread;
use super::scratch::{put_columns, take_columns};
use crate::engine::pipeline::{ChunkKernel, Stop};
use crate::optics::{Transfer, TransferLines, TransferReal};
use crate::spectral::{Split, Streams};
use crate::storage::{PANEL, Tiles};

/// A plane whose columns a phase 2 convolves and adds up with the others'.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// Its transfer function.
    pub transfer: Transfer,
    /// The plane's row that is the tiles' first; the rows outside the tiles are zero.
    pub first_row: usize,
    /// How it is cut into tiles.
    pub tiles: Tiles,
}

/// Phase 2: each column convolved along y within each of x's frequencies; the terms' results are added before
/// the inverse transform. One term that fills the plane is convolved in place.
pub struct Columns<T: TransferReal> {
    streams: Arc<Streams<T>>,
    terms: Vec<Term>,
    transfers: Vec<TransferLines<T>>,
    tiles: Tiles,
    /// The stream along x of each lane.
    lanes: Range<usize>,
    /// Streams along x.
    streams_x: usize,
    work: PerThread<ColumnWork<T>>,
    energy: f64,
    written: f64,
}

struct ColumnWork<T> {
    /// Each term's columns of a panel, one after another; the first term's become the result.
    columns: Vec<Vec<Complex<T>>>,
    result: Vec<Complex<T>>,
    stream: Vec<Complex<T>>,
    /// The terms' sum; with one term it is not used.
    sum: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
    table: Vec<Complex<T>>,
}

impl<T: TransferReal> Columns<T> {
    /// Prepares the kernel for `threads` threads; results are cut into `tiles`, lanes are the streams
    /// `lanes` of `streams_x` along x.
    #[must_use]
    pub fn new(
        streams: Arc<Streams<T>>,
        terms: &[Term],
        tiles: Tiles,
        lanes: Range<usize>,
        streams_x: usize,
        threads: usize,
    ) -> Self {
        let split = streams.split();
        let transfers: Vec<_> =
            terms.iter().map(|term| TransferLines::new(term.transfer, split.streams)).collect();
        let table = transfers.iter().map(TransferLines::table_length).max().unwrap_or(0);
        let scratch = streams.scratch_length();
        let zeros = |n| vec![Complex::default(); n];
        let work = PerThread::new(threads, || ColumnWork {
            columns: terms.iter().map(|_| zeros(PANEL * split.length)).collect(),
            result: zeros(split.length),
            stream: zeros(split.stream_length()),
            sum: zeros(if terms.len() > 1 { split.stream_length() } else { 0 }),
            scratch: zeros(scratch),
            table: zeros(table),
        });
        let terms = terms.to_vec();
        Self { streams, terms, transfers, tiles, lanes, streams_x, work, energy: 0.0, written: 0.0 }
    }

    /// Bytes of the kernel's own memory.
    #[must_use]
    pub fn bytes(split: Split, terms: usize, tiles: &Tiles, threads: usize) -> usize {
        let sample_bytes = size_of::<Complex<T>>();
        let own = (terms * PANEL + 1) * split.length
            + 3 * split.stream_length()
            + Streams::<T>::scratch_bound(split);
        let work = threads * own;
        // One reference for every panel of every tile of a chunk.
        let pieces = tiles.columns.div_ceil(PANEL) * tiles.row_chunks() * size_of::<&mut [u8]>();
        work * sample_bytes
            + (terms + 1) * pieces
            + Streams::<T>::table_bytes(split, sample_bytes)
            + terms * TransferLines::<T>::bytes(split.padded, sample_bytes)
    }

    /// Σ|U|²/P over all columns of all terms so far: the spectrum's energy along y, by Parseval that of the
    /// samples.
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
    /// Without `sources` the panel is its own.
    fn panel(
        &self,
        lane: usize,
        columns: Range<usize>,
        sources: &[Pieces<'_>],
        result: &mut PiecesMut<'_>,
    ) -> (f64, f64) {
        let height = self.tiles.height;
        self.work.with(|work| {
            let ColumnWork { columns: lines, result: sums, stream, sum, scratch, table } = work;
            for (k, (term, lines)) in self.terms.iter().zip(&mut *lines).enumerate() {
                let window = term.first_row..term.first_row + term.tiles.height;
                if window.len() < height {
                    for line in lines.chunks_exact_mut(height) {
                        line[..window.start].fill(Complex::default());
                        line[window.end..].fill(Complex::default());
                    }
                }
                for j in 0..term.tiles.row_chunks() {
                    let piece = sources.get(k).map_or_else(|| &*result[j], |pieces| pieces[j]);
                    let y0 = term.first_row + j * term.tiles.rows;
                    take_columns(&term.tiles, piece, term.tiles.rows_in(j), lines, height, y0);
                }
            }
            let (mut read, mut written) = (0.0, 0.0);
            for (i, x) in columns.enumerate() {
                let x = x * self.streams_x + self.lanes.start + lane;
                let column = i * height..(i + 1) * height;
                sums.fill(Complex::default());
                for r in 0..self.streams.split().streams {
                    if self.terms.len() > 1 {
                        sum.fill(Complex::default());
                    }
                    for (lines, transfer) in lines.iter().zip(&self.transfers) {
                        self.streams.forward(r, &lines[column.clone()], stream, scratch);
                        read += T::energy(stream);
                        transfer.multiply(x, r, stream, table);
                        sum.iter_mut().zip(&*stream).for_each(|(sum, &u)| *sum = *sum + u);
                    }
                    let spectrum = if self.terms.len() > 1 { &mut *sum } else { &mut *stream };
                    self.streams.inverse_add(r, spectrum, sums, scratch);
                }
                lines[0][column].copy_from_slice(sums);
                written += T::energy(sums);
            }
            for (j, piece) in result.iter_mut().enumerate() {
                put_columns(
                    &self.tiles,
                    piece,
                    0..self.tiles.rows_in(j),
                    &lines[0],
                    height,
                    j * self.tiles.rows,
                );
            }
            (read, written)
        })
    }
}

/// A panel of each tile of a chunk.
type Pieces<'a> = Vec<&'a [u8]>;
/// The same, to be written.
type PiecesMut<'a> = Vec<&'a mut [u8]>;

impl<T: TransferReal> ChunkKernel for Columns<T> {
    fn compute(
        &mut self,
        lane: usize,
        chunk: usize,
        inputs: &mut [&mut [u8]],
        outputs: &mut [&mut [u8]],
        stop: &Stop,
    ) {
        let tiles = self.tiles;
        let panels = tiles.columns_in(chunk).div_ceil(PANEL);
        let in_place = outputs.is_empty();
        let mut sources: Vec<Vec<Pieces<'_>>> = (0..panels).map(|_| Vec::new()).collect();
        let result = if in_place {
            &mut *inputs[0]
        } else {
            for (term, input) in self.terms.iter().zip(&*inputs) {
                for panel in &mut sources {
                    panel.push(Vec::with_capacity(term.tiles.row_chunks()));
                }
                for tile in input.chunks_exact(term.tiles.tile_bytes()) {
                    for (panel, piece) in sources.iter_mut().zip(tile.chunks_exact(term.tiles.panel_bytes()))
                    {
                        if let Some(pieces) = panel.last_mut() {
                            pieces.push(piece);
                        }
                    }
                }
            }
            &mut *outputs[0]
        };
        let mut results: Vec<PiecesMut<'_>> =
            (0..panels).map(|_| Vec::with_capacity(tiles.row_chunks())).collect();
        for tile in result.chunks_exact_mut(tiles.tile_bytes()) {
            for (panel, piece) in results.iter_mut().zip(tile.chunks_exact_mut(tiles.panel_bytes())) {
                panel.push(piece);
            }
        }
        let energies: Vec<(f64, f64)> = results
            .par_iter_mut()
            .zip(&sources)
            .enumerate()
            .map(|(p, (result, sources))| {
                if stop.is_set() {
                    return (0.0, 0.0);
                }
                let last = tiles.columns_in(chunk).min((p + 1) * PANEL);
                let columns = chunk * tiles.columns + p * PANEL..chunk * tiles.columns + last;
                self.panel(lane, columns, sources, result)
            })
            .collect();
        for (read, written) in energies {
            self.energy += read;
            self.written += written;
        }
    }
}
