//! Samples to and from the panels of a scratch tile, in the precision the tile keeps.
//!
//! A panel is bytes (see `storage::Tiles`). Where it keeps the arithmetic's own precision its samples are
//! copied; else they are rounded on the way in and widened on the way out. In `b16` a block of 16 × 8
//! samples shares a scale, its largest part over 32767, which stands behind the panel's samples.

use std::ops::Range;

use multiversion::multiversion;
use num_complex::Complex;

use crate::optics::Real;
use crate::spectral::{columns_to_panel, panel_to_columns, panel_to_rows, rows_to_panel};
use crate::storage::{PANEL, SCALE_ROWS, ScratchPrecision, Tiles};

/// Parts (real and imaginary) of a block that shares a scale.
const PARTS: usize = 2 * PANEL * SCALE_ROWS;
/// The largest integer of a part.
const LARGEST: f32 = 32767.0;

/// Whether tiles keep samples as the arithmetic has them.
const fn is_native<T: Real>(tiles: &Tiles) -> bool {
    tiles.precision.sample_bytes() == size_of::<Complex<T>>()
}

/// Puts samples `columns` of the rows in `lines`, `stride` samples apart, into a panel from its row `first`
/// on. In b16 `first` is a multiple of [`SCALE_ROWS`], and all rows of a block come at once.
pub fn put_rows<T: Real>(
    tiles: &Tiles,
    panel: &mut [u8],
    first: usize,
    lines: &[Complex<T>],
    stride: usize,
    columns: Range<usize>,
) {
    if is_native::<T>(tiles) {
        let panel = bytemuck::cast_slice_mut(panel);
        return rows_to_panel(lines, stride, columns, first, panel, PANEL);
    }
    let count = lines.len().div_ceil(stride);
    let mut block = [0.0; PARTS];
    for y in (0..count).step_by(SCALE_ROWS) {
        let rows = SCALE_ROWS.min(count - y);
        block.fill(0.0);
        for (line, row) in
            lines[y * stride..].chunks(stride).take(rows).zip(block.chunks_exact_mut(2 * PANEL))
        {
            for (sample, parts) in line[columns.clone()].iter().zip(row.as_chunks_mut::<2>().0) {
                *parts = single(*sample);
            }
        }
        put_block(tiles, panel, first + y, &block, rows);
    }
}

/// Takes rows of a panel from its row `first` on into samples `columns` of `lines`, `stride` samples apart.
fn take_rows<T: Real>(
    tiles: &Tiles,
    panel: &[u8],
    first: usize,
    lines: &mut [Complex<T>],
    stride: usize,
    columns: Range<usize>,
) {
    if is_native::<T>(tiles) {
        return panel_to_rows(bytemuck::cast_slice(panel), PANEL, first, lines, stride, columns);
    }
    let mut block = [0.0; PARTS];
    let count = lines.len().div_ceil(stride);
    let mut y = 0;
    while y < count {
        // Rows of one scale at a time.
        let within = (first + y) % SCALE_ROWS;
        let rows = (SCALE_ROWS - within).min(count - y);
        take_block(tiles, panel, first + y, &mut block, rows);
        let lines = lines[y * stride..].chunks_mut(stride).take(rows);
        for (line, row) in lines.zip(block.chunks_exact(2 * PANEL)) {
            for (sample, parts) in line[columns.clone()].iter_mut().zip(row.as_chunks::<2>().0) {
                *sample = widened(*parts);
            }
        }
        y += rows;
    }
}

/// Copies rows `first..` of a chunk's tiles to `lines`, as many as fit.
pub fn gather_rows<T: Real>(tiles: &Tiles, bytes: &[u8], first: usize, lines: &mut [Complex<T>]) {
    for (c, tile) in bytes.chunks_exact(tiles.tile_bytes()).enumerate() {
        let columns = tiles.columns_in(c);
        for (x0, panel) in (0..columns).step_by(PANEL).zip(tile.chunks(tiles.panel_bytes())) {
            let x = c * tiles.columns + x0..c * tiles.columns + columns.min(x0 + PANEL);
            take_rows(tiles, panel, first, lines, tiles.width, x);
        }
    }
}

/// Takes `rows` rows of a panel into samples `y0..y0 + rows` of its columns, `length` samples apart.
pub fn take_columns<T: Real>(
    tiles: &Tiles,
    panel: &[u8],
    rows: usize,
    columns: &mut [Complex<T>],
    length: usize,
    y0: usize,
) {
    if is_native::<T>(tiles) {
        return panel_to_columns(bytemuck::cast_slice(panel), PANEL, rows, columns, length, y0);
    }
    let mut block = [0.0; PARTS];
    for y in (0..rows).step_by(SCALE_ROWS) {
        let count = SCALE_ROWS.min(rows - y);
        take_block(tiles, panel, y, &mut block, count);
        for (x, column) in columns.chunks_exact_mut(length).enumerate() {
            let samples = block.chunks_exact(2 * PANEL).map(|row| [row[2 * x], row[2 * x + 1]]);
            let to = column[y0 + y..][..count].iter_mut();
            to.zip(samples).for_each(|(sample, parts)| *sample = widened(parts));
        }
    }
}

/// Puts samples of columns from their `y0`th on into rows `rows` of a panel; in b16 these begin with a
/// multiple of [`SCALE_ROWS`].
pub fn put_columns<T: Real>(
    tiles: &Tiles,
    panel: &mut [u8],
    rows: Range<usize>,
    columns: &[Complex<T>],
    length: usize,
    y0: usize,
) {
    if is_native::<T>(tiles) {
        let panel = &mut bytemuck::cast_slice_mut(panel)[rows.start * PANEL..];
        return columns_to_panel(columns, length, y0, panel, PANEL, rows.len());
    }
    let mut block = [0.0; PARTS];
    for y in (0..rows.len()).step_by(SCALE_ROWS) {
        let count = SCALE_ROWS.min(rows.len() - y);
        for (x, column) in columns.chunks_exact(length).enumerate() {
            for (sample, row) in column[y0 + y..][..count].iter().zip(block.chunks_exact_mut(2 * PANEL)) {
                [row[2 * x], row[2 * x + 1]] = single(*sample);
            }
        }
        block[2 * PANEL * count..].fill(0.0);
        put_block(tiles, panel, rows.start + y, &block, count);
    }
}

/// Moves rows of a panel, as it keeps them, to its row `to` and on; both begin with a multiple of
/// [`SCALE_ROWS`] where rows share scales.
pub fn move_rows(tiles: &Tiles, panel: &mut [u8], rows: Range<usize>, to: usize) {
    let (samples, scales) = panel.split_at_mut(tiles.panel_sample_bytes());
    let row_bytes = PANEL * tiles.precision.sample_bytes();
    samples.copy_within(rows.start * row_bytes..rows.end * row_bytes, to * row_bytes);
    if tiles.precision == ScratchPrecision::B16 {
        let scale = |row: usize| row / SCALE_ROWS * 4;
        scales.copy_within(scale(rows.start)..scale(rows.end.next_multiple_of(SCALE_ROWS)), scale(to));
    }
}

fn single<T: Real>(u: Complex<T>) -> [f32; 2] {
    [f32::rounded(u.re.widened()), f32::rounded(u.im.widened())]
}

fn widened<T: Real>([re, im]: [f32; 2]) -> Complex<T> {
    Complex::new(T::rounded(re.into()), T::rounded(im.into()))
}

/// Puts the first `rows` rows of a block at row `first` of a panel.
fn put_block(tiles: &Tiles, panel: &mut [u8], first: usize, block: &[f32; PARTS], rows: usize) {
    let (samples, scales) = panel.split_at_mut(tiles.panel_sample_bytes());
    let row_bytes = PANEL * tiles.precision.sample_bytes();
    let samples = &mut samples[first * row_bytes..][..rows * row_bytes];
    if tiles.precision == ScratchPrecision::F32 {
        samples.copy_from_slice(bytemuck::cast_slice(&block[..2 * PANEL * rows]));
        return;
    }
    let scale = encode(block, bytemuck::cast_slice_mut(samples));
    scales[first / SCALE_ROWS * 4..][..4].copy_from_slice(&scale.to_le_bytes());
}

/// The reverse of [`put_block`]; all rows have one scale.
fn take_block(tiles: &Tiles, panel: &[u8], first: usize, block: &mut [f32; PARTS], rows: usize) {
    let (samples, scales) = panel.split_at(tiles.panel_sample_bytes());
    let row_bytes = PANEL * tiles.precision.sample_bytes();
    let samples = &samples[first * row_bytes..][..rows * row_bytes];
    if tiles.precision == ScratchPrecision::F32 {
        block[..2 * PANEL * rows].copy_from_slice(bytemuck::cast_slice(samples));
        return;
    }
    let scale =
        scales[first / SCALE_ROWS * 4..].first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
    decode(bytemuck::cast_slice(samples), scale, block);
}

/// Rounds the first parts of `block` to integers; returns what a step is worth.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2+fma", "aarch64+neon"))]
#[expect(clippy::cast_possible_truncation, reason = "the lower half holds the integer")]
fn encode(block: &[f32; PARTS], integers: &mut [i16]) -> f32 {
    // Adding this to a number below 2¹⁵ leaves the nearest integer in the lower bits.
    const ROUND: f32 = 1.5 * (1 << 23) as f32;
    // As integers magnitudes have the order of their values, with infinity and what is no number on top.
    let mut largest = [0; 16];
    for row in block.as_chunks::<16>().0 {
        for (most, part) in largest.iter_mut().zip(row) {
            *most = (part.to_bits() & !(1 << 31)).max(*most);
        }
    }
    let largest = f32::from_bits(largest.into_iter().fold(0, u32::max));
    let scale = largest / LARGEST;
    let steps = if largest > 0.0 { LARGEST / largest } else { 0.0 };
    if !(scale.is_normal() && steps.is_finite()) {
        integers.fill(0);
        // Zero, or too faint for a scale; what is not finite makes the sum of squares so, too.
        return if largest.is_finite() { 0.0 } else { f32::NAN };
    }
    for (integer, part) in integers.iter_mut().zip(block) {
        *integer = (part * steps + ROUND).to_bits() as i16;
    }
    scale
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2+fma", "aarch64+neon"))]
fn decode(integers: &[i16], scale: f32, block: &mut [f32; PARTS]) {
    for (part, &integer) in block.iter_mut().zip(integers) {
        // A scale that is no number makes every part so.
        *part = f32::from(integer) * scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(rows: usize, precision: ScratchPrecision) -> Tiles {
        Tiles { height: rows, width: PANEL, rows, columns: PANEL, precision }
    }

    /// Gaussian-like parts, some a hundred times larger than others.
    fn field<T: Real>(count: usize) -> Vec<Complex<T>> {
        let mut state = 5u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
        };
        (0..count)
            .map(|i| {
                let scale = if i / 300 % 3 == 1 { 100.0 } else { 1.0 };
                let mut part = || T::rounded(scale * (0..6).map(|_| next()).sum::<f64>());
                Complex::new(part(), part())
            })
            .collect()
    }

    fn error<T: Real>(got: &[Complex<T>], expected: &[Complex<T>]) -> f64 {
        let difference: Vec<_> = got.iter().zip(expected).map(|(&a, &b)| a - b).collect();
        (T::energy(&difference) / T::energy(expected)).sqrt()
    }

    /// Rows into a panel, out as columns, back in as columns, out as rows.
    fn round_trip<T: Real>(rows: usize, width: usize, precision: ScratchPrecision) -> f64 {
        let tiles = tiles(rows, precision);
        let stride = width + 3;
        let plane = field::<T>(rows * stride);
        let mut panel = vec![0xa5; tiles.panel_bytes()];
        for first in (0..rows).step_by(SCALE_ROWS) {
            let lines = &plane[first * stride..rows.min(first + SCALE_ROWS) * stride];
            put_rows(&tiles, &mut panel, first, lines, stride, 2..2 + width);
        }
        let length = rows + 2;
        let mut columns = vec![Complex::<T>::default(); PANEL * length];
        take_columns(&tiles, &panel, rows, &mut columns, length, 1);
        panel.fill(0x5a);
        put_columns(&tiles, &mut panel, 0..rows, &columns, length, 1);
        let mut back = vec![Complex::default(); rows * stride];
        // In groups that do not divide a block's rows.
        for first in (0..rows).step_by(5) {
            let lines = &mut back[first * stride..rows.min(first + 5) * stride];
            take_rows(&tiles, &panel, first, lines, stride, 2..2 + width);
        }
        let cut = |plane: &[Complex<T>]| -> Vec<_> {
            plane.chunks(stride).flat_map(|line| line[2..2 + width].to_vec()).collect()
        };
        error(&cut(&back), &cut(&plane))
    }

    #[test]
    fn samples_come_back_as_exactly_as_the_precision_keeps_them() {
        for rows in [1, 15, 16, 17, 40, 101] {
            for width in [1, 5, 8] {
                assert!(round_trip::<f32>(rows, width, ScratchPrecision::F32) == 0.0);
                assert!(round_trip::<f64>(rows, width, ScratchPrecision::F64) == 0.0);
                let f32 = round_trip::<f64>(rows, width, ScratchPrecision::F32);
                assert!(f32 > 0.0 && f32 < ScratchPrecision::F32.error(), "{rows} {width}: {f32}");
                for b16 in [
                    round_trip::<f32>(rows, width, ScratchPrecision::B16),
                    round_trip::<f64>(rows, width, ScratchPrecision::B16),
                ] {
                    assert!(b16 > 1e-6 && b16 < ScratchPrecision::B16.error(), "{rows} {width}: {b16}");
                }
            }
        }
    }

    #[test]
    fn a_faint_block_is_dark_and_one_that_is_not_finite_is_not_hidden() {
        let tiles = tiles(3, ScratchPrecision::B16);
        let through = |value: f32| {
            let mut lines = vec![Complex::new(0.0f32, 0.0); 3 * PANEL];
            lines[7].im = value;
            let mut panel = vec![0; tiles.panel_bytes()];
            put_rows(&tiles, &mut panel, 0, &lines, PANEL, 0..PANEL);
            take_rows(&tiles, &panel, 0, &mut lines, PANEL, 0..PANEL);
            lines[7].im
        };
        assert!((through(1e-30) - 1e-30).abs() < 1e-36);
        assert!(through(0.0) == 0.0 && through(1e-40) == 0.0);
        assert!((through(3e38) - 3e38).abs() < 1e34);
        assert!(through(f32::INFINITY).is_nan() && through(f32::NAN).is_nan());
    }
}
