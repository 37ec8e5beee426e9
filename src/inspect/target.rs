//! A layer's own intensities on a reconstruction's raster.

use num_complex::Complex;

use super::Raster;
use crate::optics::LayerSource;

/// Rows of a preview sample that are looked at, evenly spread; between them a layer is interpolated anyway.
const ROWS: usize = 8;

/// The mean of |u|² of `layer` over each preview sample of `raster`.
///
/// Of preview samples of more than 8 rows, 8 rows count, evenly spread, all columns of each. `stop` is asked
/// before each row of preview samples; none is given once it says so.
#[must_use]
pub fn target(layer: &LayerSource, raster: Raster, stop: impl Fn() -> bool) -> Option<Vec<f32>> {
    let [width, _] = raster.plane;
    let columns = raster.size(0);
    let mut line = vec![Complex::<f32>::default(); width];
    let mut means = Vec::with_capacity(raster.count());
    for row in 0..raster.size(1) {
        if stop() {
            return None;
        }
        let rows = raster.samples(1, row);
        let taken = rows.len().min(ROWS);
        let mut sums = vec![0.0_f64; columns];
        for i in 0..taken {
            // The middle one of each part.
            let y = rows.start + (2 * i + 1) * rows.len() / (2 * taken);
            if layer.line_is_zero(y) {
                continue;
            }
            line.fill(Complex::default());
            layer.add_line(y, 0, &mut line);
            for (sum, bin) in sums.iter_mut().zip(line.chunks(raster.scale)) {
                *sum += bin.iter().map(|u| f64::from(u.norm_sqr())).sum::<f64>();
            }
        }
        #[expect(clippy::cast_possible_truncation, reason = "an intensity for the screen")]
        means.extend(
            sums.iter()
                .enumerate()
                .map(|(x, sum)| (sum / (taken * raster.samples(0, x).len()) as f64) as f32),
        );
    }
    Some(means)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optics::{Grid, Image, Length, Phase, Samples, Values};

    fn layer(grid: &Grid) -> LayerSource {
        let codes = (0..21 * 13).map(|i| u8::try_from(i * 37 % 256).unwrap()).collect();
        let image = Image { width: 21, height: 13, samples: Samples::U8(codes) };
        LayerSource::new(image, Values::Amplitude, Phase::Uniform, grid, 0, 0)
    }

    fn check(scale: usize, size: [usize; 2], tolerance: f32) {
        let pitch = [Length::metres(2e-6), Length::metres(3e-6)];
        let grid = Grid { width: size[0], height: size[1], pitch_x: pitch[0], pitch_y: pitch[1] };
        let layer = layer(&grid);
        let raster = Raster { plane: size, pitch: [2e-6, 3e-6], scale };
        let got = target(&layer, raster, || false).unwrap();
        let mut plane = vec![Complex::<f32>::default(); size[0] * size[1]];
        for (y, line) in plane.chunks_mut(size[0]).enumerate() {
            layer.add_line(y, 0, line);
        }
        for (i, got) in got.iter().enumerate() {
            let [x, y] = [i % raster.size(0), i / raster.size(0)];
            let mut values = Vec::new();
            for row in raster.samples(1, y) {
                values.extend(raster.samples(0, x).map(|x| plane[row * size[0] + x].norm_sqr()));
            }
            let mean = values.iter().sum::<f32>() / values.len() as f32;
            assert!((got - mean).abs() <= tolerance, "{x}, {y}: {got} for {mean}");
        }
    }

    #[test]
    fn each_preview_sample_is_the_mean_of_the_layers_samples() {
        check(1, [57, 23], 1e-6);
        check(3, [58, 25], 1e-6);
    }

    #[test]
    fn eight_rows_tell_nearly_as_much_as_all() {
        // The image's pixels are some 20 samples high: from one row to the next an intensity changes by 0.1 at
        // most, and the rows taken are half a row off the middle of those they stand for.
        check(16, [511, 275], 0.05);
    }

    #[test]
    fn it_stops_when_nobody_wants_it_any_more() {
        let pitch = Length::metres(2e-6);
        let grid = Grid { width: 9, height: 9, pitch_x: pitch, pitch_y: pitch };
        let raster = Raster { plane: [9, 9], pitch: [2e-6; 2], scale: 1 };
        assert_eq!(target(&layer(&grid), raster, || true), None);
    }
}
