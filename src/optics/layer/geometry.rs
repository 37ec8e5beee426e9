//! Where a plane's samples lie on an image that was scaled to fit it.

use std::ops::Range;

use super::Image;
use crate::optics::Grid;

/// How plane samples along one axis lie on the image's pixels: `pixel = offset + index·step`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Axis {
    /// Samples of the plane.
    pub samples: usize,
    /// Pixels of the image.
    pub pixels: usize,
    /// Pixels from one sample to the next.
    pub step: f64,
}

impl Axis {
    /// Pixel coordinate of sample `index`; pixel centres are integers.
    ///
    /// Written about the middle of both, which makes it exact for a step of 1.
    #[inline]
    pub fn position(self, index: usize) -> f64 {
        (index as f64 - (self.samples - 1) as f64 * 0.5) * self.step + (self.pixels - 1) as f64 * 0.5
    }

    /// The pixel below sample `index`, the one after it, and the weight of the latter.
    #[inline]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the pixels")]
    pub fn neighbours(self, index: usize) -> (usize, usize, f32) {
        let last = self.pixels - 1;
        let position = self.position(index).clamp(0.0, last as f64);
        let below = position as usize;
        (below, (below + 1).min(last), (position - below as f64) as f32)
    }

    /// The same for the table of a row.
    pub fn place(self, index: usize) -> Place {
        let (left, _, weight) = self.neighbours(index);
        #[expect(clippy::cast_possible_truncation, reason = "no wider than a plane, which is below 2^24")]
        let left = left as u32;
        Place { left, weight }
    }

    /// The samples that lie on the image, edges included.
    pub fn covered(self) -> Range<usize> {
        // The slack keeps rounding from taking a sample on one edge and not its mirror image. An
        // image thinner than a pitch still falls on the samples next to the middle.
        let half = (self.pixels as f64 * 0.5 * (1.0 + 1e-9) / self.step).max(0.5);
        let middle = (self.samples - 1) as f64 * 0.5;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the samples")]
        let (start, end) = (
            (middle - half).ceil().max(0.0) as usize,
            ((middle + half).floor() + 1.0).min(self.samples as f64) as usize,
        );
        start..end.max(start)
    }

    /// For every pixel, Σ over the covered samples of its weight squared, and of its weight times that of the
    /// pixel after it.
    pub fn products(self) -> (Vec<f64>, Vec<f64>) {
        let (mut own, mut next) = (vec![0.0; self.pixels], vec![0.0; self.pixels]);
        for index in self.covered() {
            let (a, b, weight) = self.neighbours(index);
            let weight = f64::from(weight);
            own[a] += (1.0 - weight) * (1.0 - weight);
            own[b] += weight * weight;
            next[a] += (1.0 - weight) * weight;
        }
        (own, next)
    }

    /// The covered samples whose interpolation touches pixels in `pixels`.
    pub fn touching(self, pixels: &Range<usize>) -> Range<usize> {
        let touches = |i: usize| {
            let (a, b, weight) = self.neighbours(i);
            pixels.contains(&a) || (weight > 0.0 && pixels.contains(&b))
        };
        let mut covered = self.covered();
        while covered.start < covered.end && !touches(covered.start) {
            covered.start += 1;
        }
        while covered.start < covered.end && !touches(covered.end - 1) {
            covered.end -= 1;
        }
        covered
    }
}

/// Where a sample lies between two pixels of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// The pixel to the left of it, or under it.
    pub left: u32,
    /// The weight of the pixel after that.
    pub weight: f32,
}

/// Pixels from one sample to the next along x and along y: the same in metres on both axes, and as
/// small as lets the image fit.
pub fn steps(width: usize, height: usize, grid: &Grid) -> (f64, f64) {
    let (px, py) = (grid.pitch_x.in_metres(), grid.pitch_y.in_metres());
    let (w, h) = (width as f64, height as f64);
    let (nx, ny) = (grid.width as f64, grid.height as f64);
    // Written so that equal sizes at equal pitches give exactly 1.
    if nx * px * h <= ny * py * w { (w / nx, w / nx * (py / px)) } else { (h / ny * (px / py), h / ny) }
}

/// The axis after reduction, and the pixels the image is to have along it.
pub fn fitted(pixels: usize, samples: usize, step: f64) -> (Axis, usize) {
    if step <= 1.0 {
        return (Axis { samples, pixels, step }, pixels);
    }
    // One pixel per sample it covers. Rounding leaves the step between 2/3 and 4/3, once it covers one.
    let covered = pixels as f64 / step;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and `pixels`")]
    let reduced = covered.round().clamp(1.0, pixels as f64) as usize;
    (Axis { samples, pixels: reduced, step: reduced as f64 / covered }, reduced)
}

/// What [`LayerSource::scaling`] says.
pub fn describe(image: &Image, step_x: f64, step_y: f64) -> String {
    let one = |step: f64| {
        // Three significant digits are plenty for a label.
        let factor = 1.0 / step;
        let digits = if factor >= 99.5 {
            0
        } else if factor >= 9.95 {
            1
        } else if factor >= 0.995 {
            2
        } else {
            3
        };
        let text = format!("{factor:.digits$}");
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        if step < 1.0 {
            format!("enlarged × {text} (bilinear)")
        } else {
            format!("reduced × {text} (area average)")
        }
    };
    let same = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b;
    let how = match (same(step_x, 1.0), same(step_y, 1.0)) {
        (true, true) => "one pixel per sample".to_owned(),
        _ if same(step_x, step_y) => one(step_x),
        (true, false) => format!("{} along y", one(step_y)),
        (false, true) => format!("{} along x", one(step_x)),
        (false, false) => format!("{} along x and {} along y", one(step_x), one(step_y)),
    };
    format!("{} × {} image, {how}, centred", image.width, image.height)
}
