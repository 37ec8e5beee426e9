//! Streams of rows back to the rows of a plane.

use std::ops::Range;
use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;

use super::scratch::gather_rows;
use super::{PerThread, add_source, encode_lines};
use crate::engine::lines::Watch;
use crate::engine::pipeline::{ChunkKernel, Stop};
use crate::engine::preview::{Gather, Preview};
use crate::optics::{Encoder, Real};
use crate::spectral::{Split, Streams};
use crate::storage::{Element, Tiles};

/// Rows that are gathered together: whole runs of cache lines.
const GROUP: usize = 8;

/// Phase 3: each row transformed back from its streams, summed, and laid out in lines.
pub struct RowsInverse<T: Real> {
    streams: Arc<Streams<T>>,
    /// The streams that are read, an input each.
    read_streams: Range<usize>,
    tiles: Tiles,
    base: Option<Element>,
    gather: Option<Gather>,
    watch: Option<Arc<Watch>>,
    encoder: Encoder,
    clipped: u64,
    work: PerThread<RowsWork<T>>,
    energy: f64,
    read: f64,
}

struct RowsWork<T> {
    /// [`GROUP`] rows of a stream.
    stream: Vec<Complex<T>>,
    /// [`GROUP`] rows of the plane.
    lines: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

impl<T: Real> RowsInverse<T> {
    /// Prepares the kernel for `threads` threads; with `preview`, the distance of the plane, a reduced
    /// image is gathered. The plane is written as `encoder` says.
    #[must_use]
    pub fn new(
        streams: Arc<Streams<T>>,
        read_streams: Range<usize>,
        tiles: Tiles,
        base: Option<Element>,
        preview: Option<f64>,
        encoder: Encoder,
        threads: usize,
    ) -> Self {
        let split = streams.split();
        let scratch = streams.scratch_length();
        let zeros = |n| vec![Complex::default(); n];
        let work = PerThread::new(threads, || RowsWork {
            stream: zeros(GROUP * split.stream_length()),
            lines: zeros(GROUP * split.length),
            scratch: zeros(scratch),
        });
        let gather = preview.map(|distance| Gather::new(split.length, tiles.height, distance));
        Self {
            streams,
            read_streams,
            tiles,
            base,
            gather,
            watch: None,
            encoder,
            clipped: 0,
            work,
            energy: 0.0,
            read: 0.0,
        }
    }

    /// The same kernel, which also shows its lines to `watch`.
    #[must_use]
    pub fn watched(self, watch: Option<Arc<Watch>>) -> Self {
        Self { watch, ..self }
    }

    /// Bytes of the kernel's own memory.
    #[must_use]
    pub fn bytes(split: Split, tiles: &Tiles, preview: bool, threads: usize) -> usize {
        let sample_bytes = size_of::<Complex<T>>();
        let own = GROUP * (split.stream_length() + split.length) + Streams::<T>::scratch_bound(split);
        let work = threads * own;
        let preview = if preview { Gather::bytes(split.length, tiles.height, tiles.rows) } else { 0 };
        work * sample_bytes + preview + Streams::<T>::table_bytes(split, sample_bytes)
    }

    /// Σ|u|² over all rows so far.
    #[must_use]
    pub const fn energy(&self) -> f64 {
        self.energy
    }

    /// Σ|u|² of all samples read so far.
    #[must_use]
    pub const fn read(&self) -> f64 {
        self.read
    }

    /// Samples so far that were brighter than the encoder's full scale.
    #[must_use]
    pub const fn clipped(&self) -> u64 {
        self.clipped
    }

    /// The reduced image, if one was wanted.
    #[must_use]
    pub fn into_preview(self) -> Option<Preview> {
        self.gather.map(Gather::finish)
    }
}

impl<T: Real> ChunkKernel for RowsInverse<T> {
    fn compute(
        &mut self,
        _lane: usize,
        chunk: usize,
        inputs: &mut [&mut [u8]],
        outputs: &mut [&mut [u8]],
        stop: &Stop,
    ) {
        let (split, tiles) = (self.streams.split(), self.tiles);
        let (rows, y0) = (tiles.rows_in(chunk), chunk * tiles.rows);
        let (spectra, base) = inputs.split_at(self.read_streams.len());
        let base = self.base.zip(base.first().map(|bytes| &**bytes));
        let mut outputs: Vec<Option<&mut [u8]>> = match outputs {
            [output, ..] => {
                // Lines may be padded.
                let line_bytes = output.len() / rows;
                output.chunks_mut(GROUP * line_bytes).map(Some).collect()
            }
            [] => (0..rows.div_ceil(GROUP)).map(|_| None).collect(),
        };
        let (streams, work, gather, encoder) =
            (&self.streams, &self.work, self.gather.as_ref(), self.encoder);
        let watch = self.watch.as_deref();
        let group = |index: usize, output: &mut Option<&mut [u8]>| {
            if stop.is_set() {
                return (0.0, 0.0, 0, Vec::new());
            }
            let first = index * GROUP;
            let count = GROUP.min(rows - first);
            work.with(|RowsWork { stream, lines, scratch }| {
                let lines = &mut lines[..count * split.length];
                lines.fill(Complex::default());
                let mut read = 0.0;
                for (r, bytes) in self.read_streams.clone().zip(spectra.iter()) {
                    let stream = &mut stream[..count * split.stream_length()];
                    gather_rows(&tiles, bytes, first, stream);
                    read += T::energy(stream);
                    let rows = stream.chunks_exact_mut(split.stream_length());
                    for (row, line) in rows.zip(lines.chunks_exact_mut(split.length)) {
                        streams.inverse_add(r, row, line, scratch);
                    }
                }
                if let Some((element, bytes)) = base {
                    let width = split.length * element.bytes();
                    let rows = bytes[first * width..].chunks_exact(width);
                    for (row, line) in rows.zip(lines.chunks_exact_mut(split.length)) {
                        add_source(row, element, line);
                    }
                }
                let clipped =
                    output.as_mut().map_or(0, |output| encode_lines(encoder, lines, split.length, output));
                let binned = gather.map_or_else(Vec::new, |gather| gather.bin(lines));
                if let Some(watch) = watch {
                    for (row, line) in (y0 + first..).zip(lines.chunks_exact(split.length)) {
                        watch.add(row, 0, line);
                    }
                }
                (read, T::energy(lines), clipped, binned)
            })
        };
        let results: Vec<(f64, f64, u64, Vec<f32>)> =
            outputs.par_iter_mut().enumerate().map(|(index, output)| group(index, output)).collect();
        // Summed in the rows' order, so that threads do not change a bit of it.
        for (index, (read, energy, clipped, binned)) in results.iter().enumerate() {
            self.read += read;
            self.energy += energy;
            self.clipped += clipped;
            if let Some(gather) = &mut self.gather {
                gather.add(y0 + index * GROUP, binned);
            }
        }
        if let Some(watch) = &self.watch {
            watch.send(false);
        }
    }
}
