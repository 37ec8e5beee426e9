//! Blocks of a plane (overlap-save): each one 2-D transform in memory, from its samples to its result.
//!
//! A block's rows are transformed as they arrive, a strip at a time; with the last one its columns are
//! convolved; then its rows are transformed back, a strip at a time, and each makes room for a strip of the
//! next block. So a chunk is a strip: it brings rows of one block and takes rows of the one before. The next
//! block is the one below: what both need of a source stays in memory as it is, as spectra of rows, so that
//! each row of a column of blocks is read and transformed once. Without a source a block is made all at once,
//! with its first strip.

use std::ops::Range;
use std::sync::Arc;

use num_complex::Complex;
use rayon::prelude::*;

use super::block_plan::BlockPlan;
use super::scratch::{gather_rows, move_rows, put_columns, put_rows, take_columns};
use super::{Layers, PerThread, Transforms, add_source, batch};
use crate::engine::lines::Watch;
use crate::engine::pipeline::{ChunkKernel, Stop};
use crate::engine::preview::{Gather, Preview};
use crate::engine::{Layout, Rect};
use crate::optics::{Encoder, TransferLines, TransferReal};
use crate::spectral::Streams;
use crate::storage::{AlignedBuffer, Element, PANEL, SCALE_ROWS};

/// Rows that are taken back together.
const GROUP: usize = SCALE_ROWS;

/// The kernel of a [`BlockPlan`].
pub struct BlockKernel<T: TransferReal> {
    plan: BlockPlan,
    /// Where chunks lie in their files: what is brought, what is added, what is taken away.
    places: Places,
    layers: Vec<Layers>,
    streams: [Arc<Streams<T>>; 2],
    transfers: Vec<TransferLines<T>>,
    /// The block, in panels: rows' spectra, then the rows of its result.
    block: AlignedBuffer,
    /// The spectra of the waves before the last, added up; empty for one wave.
    sum: AlignedBuffer,
    /// Whether the block is zero.
    dark: bool,
    /// Rows of the block that are filled, as places in its transform.
    filled: Range<usize>,
    batch: usize,
    staging: Vec<Complex<T>>,
    rows: PerThread<RowWork<T>>,
    columns: PerThread<ColumnWork<T>>,
    gather: Option<Gather>,
    watch: Option<Arc<Watch>>,
    energies: [f64; 2],
    encoder: Encoder,
    clipped: u64,
}

/// Rows of the source as they were read, which may be more of a row than is needed.
struct SourceRows<'a> {
    bytes: &'a [u8],
    places: Vec<Range<usize>>,
    element: Element,
    first_column: usize,
}

impl SourceRows<'_> {
    /// Row `row` from column `column` on.
    fn row(&self, row: usize, column: usize) -> &[u8] {
        &self.bytes[self.places[row].clone()][(column - self.first_column) * self.element.bytes()..]
    }
}

/// Where a pass of blocks reads and writes.
#[derive(Default)]
pub struct Places {
    /// The source.
    pub source: Option<Layout>,
    /// The plane that is added.
    pub base: Option<Layout>,
    /// The result.
    pub result: Option<Layout>,
}

struct RowWork<T> {
    /// [`GROUP`] rows of spectra.
    spectra: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
}

struct ColumnWork<T> {
    columns: Vec<Complex<T>>,
    sums: Vec<Complex<T>>,
    scratch: Vec<Complex<T>>,
    table: Vec<Complex<T>>,
}

impl<T: TransferReal> BlockKernel<T> {
    /// Prepares the kernel for `threads` threads; `layers` are each wave's, `full_scale` is the amplitude of
    /// level 255 where amplitudes are stored in 8 bits.
    #[must_use]
    pub fn new(
        plan: &BlockPlan,
        places: Places,
        layers: Vec<Layers>,
        transforms: &mut Transforms<T>,
        full_scale: f64,
        threads: usize,
    ) -> Self {
        let [height, width] = [plan.blocks[0].transform, plan.blocks[1].transform];
        let streams = plan.splits().map(|split| transforms.of(split));
        let transfers: Vec<_> = plan.waves.iter().map(|wave| TransferLines::new(wave.transfer, 1)).collect();
        let table = transfers.iter().map(TransferLines::table_length).max().unwrap_or(0);
        let [scratch_y, scratch_x] = [&streams[0], &streams[1]].map(|streams| streams.scratch_length());
        let several = plan.waves.len() > 1;
        let zeros = |n| vec![Complex::default(); n];
        let gather =
            plan.preview.map(|distance| Gather::new(plan.blocks[1].length, plan.blocks[0].length, distance));
        Self {
            block: AlignedBuffer::new(plan.block_bytes()),
            sum: AlignedBuffer::new(if several { plan.block_bytes() } else { 0 }),
            dark: true,
            filled: 0..0,
            batch: batch(threads),
            staging: zeros(batch(threads) * width),
            rows: PerThread::new(threads, || RowWork {
                spectra: zeros(GROUP * width),
                scratch: zeros(scratch_x),
            }),
            columns: PerThread::new(threads, || ColumnWork {
                columns: zeros(PANEL * height),
                sums: zeros(if several { PANEL * height } else { 0 }),
                scratch: zeros(scratch_y),
                table: zeros(table),
            }),
            gather,
            watch: None,
            energies: [0.0; 2],
            encoder: Encoder { encoding: plan.encoding, full_scale },
            clipped: 0,
            plan: plan.clone(),
            places,
            layers,
            streams,
            transfers,
        }
    }

    /// The same kernel, which also shows its lines to `watch`.
    #[must_use]
    pub fn watched(self, watch: Option<Arc<Watch>>) -> Self {
        Self { watch, ..self }
    }

    /// Bytes of the kernel's own memory.
    #[must_use]
    pub fn bytes(plan: &BlockPlan, threads: usize) -> usize {
        let sample_bytes = size_of::<Complex<T>>();
        let [height, width] = [plan.blocks[0].transform, plan.blocks[1].transform];
        let [split_y, split_x] = plan.splits();
        let waves = plan.waves.len();
        let several = usize::from(waves > 1);
        let rows = GROUP * width + Streams::<T>::scratch_bound(split_x);
        let columns = ((1 + several) * PANEL + 1) * height + Streams::<T>::scratch_bound(split_y);
        let preview = if plan.preview.is_some() {
            Gather::bytes(plan.blocks[1].length, plan.blocks[0].length, plan.strip)
        } else {
            0
        };
        (1 + several) * plan.block_bytes()
            + (batch(threads) * width + threads * (rows + columns)) * sample_bytes
            + Streams::<T>::table_bytes(split_x, sample_bytes)
            + Streams::<T>::table_bytes(split_y, sample_bytes)
            + waves * TransferLines::<T>::bytes(height, sample_bytes)
            + preview
    }

    /// Σ|u|² of the planes the blocks were made of, each sample counted once, and of the result.
    #[must_use]
    pub const fn energies(&self) -> [f64; 2] {
        self.energies
    }

    /// Samples that did not fit in the result's levels.
    #[must_use]
    pub const fn clipped(&self) -> u64 {
        self.clipped
    }

    /// The reduced image, if one was wanted.
    #[must_use]
    pub fn into_preview(self) -> Option<Preview> {
        self.gather.map(Gather::finish)
    }

    /// Transforms `rows` of the plane, which lie in block `block`, and puts them in the block.
    fn load(
        &mut self,
        wave: usize,
        block: usize,
        rows: Range<usize>,
        source: Option<&SourceRows<'_>>,
        stop: &Stop,
    ) {
        let [by, bx] = self.plan.index(block);
        let [y, x] = self.plan.blocks;
        let (columns, width) = (x.input(bx), x.transform);
        let place = x.place(bx, columns.start)..x.place(bx, columns.start) + columns.len();
        let own = (y.output(by), x.output(bx));
        let own_columns = own.1.start - columns.start..own.1.end - columns.start;
        let (tiles, slides) = (self.plan.tiles(), self.plan.slides());
        let all = rows.clone();
        for first in rows.clone().step_by(self.batch) {
            if stop.is_set() {
                return;
            }
            let count = self.batch.min(rows.end - first);
            let (streams, layers, work) = (&self.streams[1], &self.layers[wave], &self.rows);
            let staging = &mut self.staging[..count * width];
            let energies: Vec<f64> = staging
                .par_chunks_exact_mut(width)
                .zip(first..first + count)
                .map(|(spectrum, row)| {
                    work.with(|RowWork { scratch, .. }| {
                        spectrum.fill(Complex::default());
                        if source.is_none() && layers.iter().all(|layer| layer.line_is_zero(row)) {
                            return 0.0;
                        }
                        let samples = &mut spectrum[place.clone()];
                        if let Some(source) = source {
                            add_source(source.row(row - all.start, columns.start), source.element, samples);
                        }
                        for layer in layers {
                            layer.add_line(row, columns.start, samples);
                        }
                        let counted = if slides || own.0.contains(&row) { own_columns.clone() } else { 0..0 };
                        let energy = T::energy(&samples[counted]);
                        streams.forward_whole(spectrum, scratch);
                        energy
                    })
                })
                .collect();
            self.energies[0] = energies.iter().fold(self.energies[0], |sum, energy| sum + energy);
            let (staging, start) = (&*staging, y.place(by, first));
            self.block.par_chunks_mut(tiles.panel_bytes()).enumerate().for_each(|(p, panel)| {
                let x0 = p * PANEL;
                if x0 < width {
                    put_rows(&tiles, panel, start, staging, width, x0..width.min(x0 + PANEL));
                }
            });
        }
    }

    /// Convolves the columns of the block with wave `wave`'s transfer function; the last wave's are transformed
    /// back.
    fn convolve(&mut self, wave: usize, first: bool, block: usize, stop: &Stop) {
        let tiles = self.plan.tiles();
        let (height, width) = (tiles.height, tiles.width);
        let [y, _] = self.plan.blocks;
        let [by, _] = self.plan.index(block);
        let output = y.output(by);
        // The first row that is kept, and where it lies in the transform.
        let slides = self.plan.slides();
        let (kept, place) =
            if slides { (self.plan.kept_at(by, output.start), y.place(by, output.start)) } else { (0, 0) };
        let wanted = y.place(by, output.start) + output.len() - place;
        let history = slides.then(|| y.valid..y.valid + 2 * y.guard);
        let (filled, streams, transfer) = (self.filled.clone(), &self.streams[0], &self.transfers[wave]);
        let last = wave + 1 == self.plan.waves.len();
        let work = &self.columns;
        let convolve = |p: usize, panel: &mut [u8], mut sum: Option<&mut [u8]>| {
            if stop.is_set() {
                return;
            }
            work.with(|ColumnWork { columns, sums, scratch, table }| {
                // From a block's first row on: what shares a scale was put together.
                take_columns(&tiles, panel, filled.end, columns, height, 0);
                for line in columns.chunks_exact_mut(height) {
                    line[..filled.start].fill(Complex::default());
                    line[filled.end..].fill(Complex::default());
                }
                // For the next block, as they are.
                if let Some(history) = history.clone() {
                    move_rows(&tiles, panel, history, 0);
                }
                if let Some(sum) = &sum
                    && !first
                {
                    take_columns(&tiles, sum, height, sums, height, 0);
                }
                for (i, x) in (p * PANEL..width.min((p + 1) * PANEL)).enumerate() {
                    let line = &mut columns[i * height..(i + 1) * height];
                    streams.forward_whole(line, scratch);
                    transfer.multiply(x, 0, line, table);
                    if sum.is_some() && !first {
                        let sums = &sums[i * height..(i + 1) * height];
                        line.iter_mut().zip(sums).for_each(|(u, &sum)| *u = *u + sum);
                    }
                    if last {
                        streams.inverse_whole(line, scratch);
                    }
                }
                if last {
                    put_columns(&tiles, panel, kept..kept + wanted, columns, height, place);
                } else if let Some(sum) = &mut sum {
                    put_columns(&tiles, sum, 0..height, columns, height, 0);
                }
            });
        };
        let panels = self.block.par_chunks_exact_mut(tiles.panel_bytes()).take(width.div_ceil(PANEL));
        if self.sum.is_empty() {
            panels.enumerate().for_each(|(p, panel)| convolve(p, panel, None));
        } else {
            let sums = self.sum.par_chunks_exact_mut(tiles.panel_bytes());
            panels.zip(sums).enumerate().for_each(|(p, (panel, sum))| convolve(p, panel, Some(sum)));
        }
    }

    /// Makes block `block` of its layers alone.
    fn make(&mut self, block: usize, stop: &Stop) {
        let [by, bx] = self.plan.index(block);
        let [y, x] = self.plan.blocks;
        let (rows, columns) = (y.input(by), x.input(bx));
        let waves = self.plan.waves.len();
        let mut first = true;
        self.dark = true;
        for wave in 0..waves {
            let Rect { rows: lit, columns: lit_columns } = &self.plan.waves[wave].window;
            let dark = lit.end <= rows.start
                || rows.end <= lit.start
                || lit_columns.end <= columns.start
                || columns.end <= lit_columns.start;
            let last = wave + 1 == waves;
            // The last one also transforms the sum back.
            if dark && (first || !last) {
                continue;
            }
            // From a row that begins a common scale.
            let within = if dark {
                rows.start..rows.start
            } else {
                let start = lit.start.max(rows.start) - rows.start;
                rows.start + start / SCALE_ROWS * SCALE_ROWS..lit.end.min(rows.end)
            };
            let start = y.place(by, within.start);
            self.filled = start..start + within.len();
            self.load(wave, block, within, None, stop);
            self.convolve(wave, first, block, stop);
            first = false;
            self.dark = false;
        }
    }

    /// Transforms rows of the block back and puts them where chunk `chunk` takes them away.
    fn take(
        &mut self,
        chunk: usize,
        block: usize,
        base: Option<(&[u8], Element)>,
        output: Option<&mut [u8]>,
    ) {
        let Rect { rows, columns } = self.plan.taken(chunk);
        let [by, bx] = self.plan.index(block);
        let [_, x] = self.plan.blocks;
        let tiles = self.plan.tiles();
        let kept_at = |row| self.plan.kept_at(by, row);
        let (width, place) =
            (tiles.width, x.place(bx, columns.start)..x.place(bx, columns.start) + columns.len());
        let base_rows = self.places.base.as_ref().map(|layout| layout.rows(chunk));
        let mut outputs: Vec<Option<&mut [u8]>> = match (output, &self.places.result) {
            (Some(output), Some(layout)) => {
                parts(output, &layout.rows(chunk)).into_iter().map(Some).collect()
            }
            _ => rows.clone().map(|_| None).collect(),
        };
        let (streams, work, block, dark) = (&self.streams[1], &self.rows, &self.block, self.dark);
        let (gather, watch, encoder) = (self.gather.as_ref(), self.watch.as_deref(), self.encoder);
        let scale = T::rounded(1.0 / (tiles.height * tiles.width) as f64);
        let group = |(index, outputs): (usize, &mut [Option<&mut [u8]>])| {
            let first = rows.start + index * GROUP;
            work.with(|RowWork { spectra, scratch }| {
                let spectra = &mut spectra[..outputs.len() * width];
                if dark {
                    spectra.fill(Complex::default());
                } else {
                    gather_rows(&tiles, block, kept_at(first), spectra);
                }
                let mut results = Vec::new();
                for (i, (spectrum, output)) in spectra.chunks_exact_mut(width).zip(outputs).enumerate() {
                    if !dark {
                        streams.inverse_whole(spectrum, scratch);
                    }
                    let samples = &mut spectrum[place.clone()];
                    // That of the columns, too.
                    for sample in samples.iter_mut() {
                        *sample = *sample * scale;
                    }
                    if let (Some((bytes, element)), Some(places)) = (base, &base_rows) {
                        add_source(&bytes[places[index * GROUP + i].clone()], element, samples);
                    }
                    let mut clipped = 0;
                    if let Some(output) = output {
                        clipped = encoder.encode(samples, output);
                    }
                    let bins = gather.map_or_else(Vec::new, |gather| gather.bin_part(columns.start, samples));
                    if let Some(watch) = watch {
                        watch.add(first + i, columns.start, samples);
                    }
                    results.push((T::energy(samples), clipped, bins));
                }
                results
            })
        };
        let results: Vec<Vec<(f64, u64, Vec<f32>)>> =
            outputs.par_chunks_mut(GROUP).enumerate().map(group).collect();
        for ((energy, clipped, bins), row) in results.into_iter().flatten().zip(rows) {
            self.energies[1] += energy;
            self.clipped += clipped;
            if let Some(gather) = &mut self.gather {
                gather.add_part(row, columns.start, &bins);
            }
        }
        if let Some(watch) = &self.watch {
            watch.send(false);
        }
    }
}

/// The parts of `bytes` at `places`, which ascend.
fn parts<'b>(mut bytes: &'b mut [u8], places: &[Range<usize>]) -> Vec<&'b mut [u8]> {
    let mut at = 0;
    let mut parts = Vec::with_capacity(places.len());
    for place in places {
        let (part, rest) = bytes.split_at_mut(place.end - at);
        parts.push(&mut part[place.start - at..]);
        (bytes, at) = (rest, place.end);
    }
    parts
}

impl<T: TransferReal> ChunkKernel for BlockKernel<T> {
    fn compute(
        &mut self,
        _lane: usize,
        chunk: usize,
        inputs: &mut [&mut [u8]],
        outputs: &mut [&mut [u8]],
        stop: &Stop,
    ) {
        let strips = self.plan.strips();
        let (block, strip) = (chunk / strips, chunk % strips);
        // In the ports' order.
        let mut inputs = inputs.iter().map(|input| &**input);
        let source = self.plan.source.and_then(|element| Some((inputs.next()?, element)));
        let base = self.plan.base.and_then(|element| Some((inputs.next()?, element)));
        let output = outputs.first_mut().map(|output| &mut **output);
        let Some((bytes, element)) = source else {
            if strip == 0 {
                self.make(block, stop);
            }
            return self.take(chunk, block, base, output);
        };
        if let Some(before) = block.checked_sub(1) {
            self.take(chunk, before, base, output);
        }
        if block == self.plan.count() {
            return;
        }
        let rows = self.plan.brought(chunk).rows;
        let Some(Layout::Rects { rects, .. }) = &self.places.source else { return };
        let first_column = rects[chunk].columns.start;
        let places = self.places.source.as_ref().map(|layout| layout.rows(chunk)).unwrap_or_default();
        self.load(0, block, rows, Some(&SourceRows { bytes, places, element, first_column }), stop);
        if strip + 1 == strips {
            let [by, _] = self.plan.index(block);
            let input = self.plan.blocks[0].input(by);
            let start = self.plan.blocks[0].place(by, input.start);
            self.filled = start..start + input.len();
            self.dark = false;
            self.convolve(0, true, block, stop);
        }
    }
}
