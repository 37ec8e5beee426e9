//! Moving lines between rows, panels and columns, a cache line at a time.
//!
//! A panel holds `width ≤ 8` neighbouring columns row after row (see `storage::Tiles`); `width` is
//! its stride, also where the plane ends within it.

use std::ops::Range;

use num_complex::Complex;

/// Copies the samples `columns` of consecutive rows into a panel, from its row `first` on.
///
/// `lines` holds the rows, `stride` samples from one to the next; there are at most `width` columns.
pub fn rows_to_panel<T: Copy>(
    lines: &[Complex<T>],
    stride: usize,
    columns: Range<usize>,
    first: usize,
    panel: &mut [Complex<T>],
    width: usize,
) {
    let rows = panel[first * width..].chunks_exact_mut(width);
    for (line, row) in lines.chunks(stride).zip(rows) {
        row[..columns.len()].copy_from_slice(&line[columns.clone()]);
    }
}

/// The reverse of [`rows_to_panel`]: copies a panel's rows from `first` on to samples `columns` of `lines`.
pub fn panel_to_rows<T: Copy>(
    panel: &[Complex<T>],
    width: usize,
    first: usize,
    lines: &mut [Complex<T>],
    stride: usize,
    columns: Range<usize>,
) {
    let rows = panel[first * width..].chunks_exact(width);
    for (line, row) in lines.chunks_mut(stride).zip(rows) {
        line[columns.clone()].copy_from_slice(&row[..columns.len()]);
    }
}

/// Transposes `rows` rows of a panel to samples `y0..y0 + rows` of its columns.
///
/// `columns` holds the `width` columns, each of `column_length` samples.
pub fn panel_to_columns<T: Copy>(
    panel: &[Complex<T>],
    width: usize,
    rows: usize,
    columns: &mut [Complex<T>],
    column_length: usize,
    y0: usize,
) {
    for y in (0..rows).step_by(width) {
        let block = &panel[y * width..rows.min(y + width) * width];
        for (x, column) in columns.chunks_exact_mut(column_length).enumerate() {
            let samples = block.iter().skip(x).step_by(width);
            column[y0 + y..].iter_mut().zip(samples).for_each(|(to, from)| *to = *from);
        }
    }
}

/// The reverse of [`panel_to_columns`].
pub fn columns_to_panel<T: Copy>(
    columns: &[Complex<T>],
    column_length: usize,
    y0: usize,
    panel: &mut [Complex<T>],
    width: usize,
    rows: usize,
) {
    for y in (0..rows).step_by(width) {
        let block = &mut panel[y * width..rows.min(y + width) * width];
        for (x, column) in columns.chunks_exact(column_length).enumerate() {
            let samples = block.iter_mut().skip(x).step_by(width);
            samples.zip(&column[y0 + y..]).for_each(|(to, from)| *to = *from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample that names its place.
    fn at(y: usize, x: usize) -> Complex<f64> {
        Complex::new(y as f64, x as f64)
    }

    #[test]
    fn rows_through_panels_to_columns_and_back_are_the_same_samples() {
        for (height, width, panel_width) in [(13, 21, 8), (8, 8, 8), (1, 3, 8), (30, 5, 4), (17, 16, 8)] {
            let plane: Vec<_> = (0..height * width).map(|i| at(i / width, i % width)).collect();
            for x0 in (0..width).step_by(panel_width) {
                let x1 = width.min(x0 + panel_width);
                let mut panel = vec![at(99, 99); height * panel_width];
                // In two bands of rows, as a chunk is filled.
                let cut = height / 2;
                rows_to_panel(&plane[..cut * width], width, x0..x1, 0, &mut panel, panel_width);
                rows_to_panel(&plane[cut * width..], width, x0..x1, cut, &mut panel, panel_width);

                let mut columns = vec![at(77, 77); panel_width * (height + 2)];
                panel_to_columns(&panel, panel_width, height, &mut columns, height + 2, 1);
                for x in x0..x1 {
                    for y in 0..height {
                        assert_eq!(columns[(x - x0) * (height + 2) + 1 + y], at(y, x));
                    }
                }
                assert_eq!(columns[0], at(77, 77), "nothing outside the rows is touched");

                let mut again = vec![at(55, 55); height * panel_width];
                columns_to_panel(&columns, height + 2, 1, &mut again, panel_width, height);
                assert_eq!(again, panel);

                let mut rows = vec![at(33, 33); (height - cut) * width];
                panel_to_rows(&again, panel_width, cut, &mut rows, width, x0..x1);
                for y in cut..height {
                    for x in x0..x1 {
                        assert_eq!(rows[(y - cut) * width + x], at(y, x));
                    }
                }
            }
        }
    }
}
