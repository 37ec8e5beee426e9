//! A reduced intensity image, gathered while a plane's lines stream past.

use num_complex::Complex;

use crate::optics::Real;

/// The mean intensity |u|² of a plane over square bins, `[y, x]`.
///
/// A bin covers `scale × scale` samples (fewer at the right and lower edge), so the image is
/// "1 : scale". It has at most [`Preview::MAX_SIDE`] bins a side.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// Bins along x.
    pub width: usize,
    /// Bins along y.
    pub height: usize,
    /// Samples of the plane along one side of a bin.
    pub scale: usize,
    /// The distance of the plane from the hologram in metres.
    pub distance: f64,
    /// The mean of |u|² in each bin, `height × width`, C order.
    pub mean: Vec<f32>,
}

impl Preview {
    /// The longest side of a preview, in bins.
    pub const MAX_SIDE: usize = 2048;
}

/// Gathers a [`Preview`] from lines.
pub(crate) struct Gather {
    width: usize,
    height: usize,
    preview: Preview,
}

impl Gather {
    /// For a plane of `height × width` samples at `distance` metres.
    pub fn new(width: usize, height: usize, distance: f64) -> Self {
        let scale = width.max(height).div_ceil(Preview::MAX_SIDE);
        let (columns, rows) = (width.div_ceil(scale), height.div_ceil(scale));
        let mean = vec![0.0; columns * rows];
        Self { width, height, preview: Preview { width: columns, height: rows, scale, distance, mean } }
    }

    /// Bytes of memory, those of the sums of a chunk of `rows` rows included.
    pub fn bytes(width: usize, height: usize, rows: usize) -> usize {
        let scale = width.max(height).div_ceil(Preview::MAX_SIDE);
        width.div_ceil(scale) * (height.div_ceil(scale) + rows) * size_of::<f32>()
    }

    /// The sums of |u|² over each bin's samples, line by line, of `lines`.
    pub fn bin<T: Real>(&self, lines: &[Complex<T>]) -> Vec<f32> {
        let mut sums = Vec::with_capacity(lines.len() / self.width * self.preview.width);
        for line in lines.chunks_exact(self.width) {
            sums.extend(line.chunks(self.preview.scale).map(|bin| f32::rounded(T::energy(bin))));
        }
        sums
    }

    /// The sums of |u|² over each bin's samples of a part of a line that starts at column `x0`.
    pub fn bin_part<T: Real>(&self, x0: usize, part: &[Complex<T>]) -> Vec<f32> {
        let scale = self.preview.scale;
        let (first, rest) = part.split_at(part.len().min(scale - x0 % scale));
        std::iter::once(first).chain(rest.chunks(scale)).map(|bin| f32::rounded(T::energy(bin))).collect()
    }

    /// Adds what [`Self::bin_part`] made of row `row` from column `x0` on.
    pub fn add_part(&mut self, row: usize, x0: usize, sums: &[f32]) {
        let Preview { width, scale, .. } = self.preview;
        let bins = &mut self.preview.mean[row / scale * width + x0 / scale..];
        bins.iter_mut().zip(sums).for_each(|(bin, sum)| *bin += sum);
    }

    /// Adds what [`Self::bin`] made of the lines from row `first` on.
    pub fn add(&mut self, first: usize, sums: &[f32]) {
        for (i, line) in sums.chunks_exact(self.preview.width).enumerate() {
            let row = (first + i) / self.preview.scale;
            let bins = &mut self.preview.mean[row * self.preview.width..];
            bins.iter_mut().zip(line).for_each(|(bin, sum)| *bin += sum);
        }
    }

    /// The mean of every bin.
    pub fn finish(mut self) -> Preview {
        let Preview { width, scale, .. } = self.preview;
        for (i, bin) in self.preview.mean.iter_mut().enumerate() {
            let samples = |at: usize, all: usize| scale.min(all - at * scale) as f64;
            let count = samples(i % width, self.width) * samples(i / width, self.height);
            *bin = f32::rounded(f64::from(*bin) / count);
        }
        self.preview
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bin_is_the_mean_intensity_of_its_samples_also_at_the_edges() {
        let (width, height) = (5000, 2101);
        let sample = |y: usize, x: usize| Complex::new((y % 7) as f64, (x % 11) as f64);
        let mut gather = Gather::new(width, height, 0.0);
        for first in (0..height).step_by(13) {
            let rows = 13.min(height - first);
            let lines: Vec<_> = (0..rows * width).map(|i| sample(first + i / width, i % width)).collect();
            let sums = gather.bin(&lines);
            gather.add(first, &sums);
        }
        let preview = gather.finish();
        assert_eq!((preview.scale, preview.width, preview.height), (3, 1667, 701));
        for (row, column) in [(0, 0), (700, 5), (3, 1666), (700, 1666), (350, 800)] {
            let ys: Vec<_> = (3 * row..height.min(3 * row + 3)).collect();
            let xs: Vec<_> = (3 * column..width.min(3 * column + 3)).collect();
            let all = ys.iter().flat_map(|&y| xs.iter().map(move |&x| sample(y, x).norm_sqr()));
            let mean = all.sum::<f64>() / (ys.len() * xs.len()) as f64;
            let got = f64::from(preview.mean[row * preview.width + column]);
            assert!((got - mean).abs() < 1e-5 * (1.0 + mean), "bin {row}, {column}: {got} for {mean}");
        }
    }
}
