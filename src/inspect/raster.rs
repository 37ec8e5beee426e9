//! Where a reduced picture's samples lie on the plane.

use std::ops::Range;

/// The raster of a plane of `height × width` samples, reduced 1 : `scale`; axes are 0 for x and 1 for y.
///
/// Sample `k` of an axis of `n` lies at `(k − floor(n/2))·pitch`, so sample `floor(n/2)` is zero. A preview
/// sample `i` covers the samples `i·scale..(i + 1)·scale`, the last one what is left. Places between are
/// told in preview samples: `i` is the left edge of preview sample `i`, which is half a pitch before its
/// first sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Raster {
    /// Samples of the plane along x and y.
    pub plane: [usize; 2],
    /// Distance of neighbouring samples along x and y, in metres.
    pub pitch: [f64; 2],
    /// Samples of the plane along one side of a preview sample.
    pub scale: usize,
}

impl Raster {
    /// Preview samples along `axis`.
    #[must_use]
    pub const fn size(&self, axis: usize) -> usize {
        self.plane[axis].div_ceil(self.scale)
    }

    /// Preview samples in all.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.size(0) * self.size(1)
    }

    /// The plane's samples that preview sample `index` of `axis` covers.
    #[must_use]
    pub fn samples(&self, axis: usize, index: usize) -> Range<usize> {
        let n = self.plane[axis];
        (index * self.scale).min(n)..((index + 1) * self.scale).min(n)
    }

    /// The position of `place` along `axis`, in metres from coordinate zero.
    #[must_use]
    pub fn position(&self, axis: usize, place: f64) -> f64 {
        let zero = (self.plane[axis] / 2) as f64;
        (place * self.scale as f64 - 0.5 - zero) * self.pitch[axis]
    }

    /// The place of a position along `axis`: the inverse of [`Self::position`].
    #[must_use]
    pub fn place(&self, axis: usize, position: f64) -> f64 {
        let zero = (self.plane[axis] / 2) as f64;
        (position / self.pitch[axis] + 0.5 + zero) / self.scale as f64
    }

    /// The position of the middle of preview sample `index` of `axis`, in metres.
    #[must_use]
    pub fn middle(&self, axis: usize, index: usize) -> f64 {
        let Range { start, end } = self.samples(axis, index);
        let zero = (self.plane[axis] / 2) as f64;
        ((start + end) as f64 / 2.0 - 0.5 - zero) * self.pitch[axis]
    }

    /// The preview sample of `axis` at a position, if it lies on the plane.
    #[must_use]
    pub fn index(&self, axis: usize, position: f64) -> Option<usize> {
        let place = self.place(axis, position);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked to be on the plane"
        )]
        let index = (place >= 0.0 && place * (self.scale as f64) < self.plane[axis] as f64)
            .then_some(place.floor() as usize);
        index.filter(|&index| index < self.size(axis))
    }

    /// The plane's edges along `axis`, in metres: half a pitch beyond the first and the last sample.
    #[must_use]
    pub fn edges(&self, axis: usize) -> [f64; 2] {
        let zero = (self.plane[axis] / 2) as f64;
        [-0.5 - zero, self.plane[axis] as f64 - 0.5 - zero].map(|at| at * self.pitch[axis])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RASTER: Raster = Raster { plane: [11, 8], pitch: [2e-6, 5e-6], scale: 3 };

    #[test]
    fn coordinate_zero_is_sample_floor_of_half() {
        // Every sample by itself, odd and even.
        let raster = Raster { scale: 1, ..RASTER };
        for axis in [0, 1] {
            let n = raster.plane[axis];
            for k in 0..n {
                let expected = (k as f64 - (n / 2) as f64) * raster.pitch[axis];
                assert!((raster.middle(axis, k) - expected).abs() < 1e-18);
                assert!((raster.position(axis, k as f64 + 0.5) - expected).abs() < 1e-18);
                assert_eq!(raster.index(axis, expected), Some(k));
            }
        }
    }

    #[test]
    fn a_preview_sample_lies_in_the_middle_of_the_samples_it_covers() {
        assert_eq!((RASTER.size(0), RASTER.size(1), RASTER.count()), (4, 3, 12));
        assert_eq!(RASTER.samples(0, 3), 9..11);
        // Samples 9 and 10 are at 4 and 5 pitches from sample 5.
        assert!((RASTER.middle(0, 3) - 4.5 * 2e-6).abs() < 1e-18);
        assert!((RASTER.middle(1, 1) - 0.0).abs() < 1e-18);
        for place in [0.0, 1.25, 3.5] {
            assert!((RASTER.place(0, RASTER.position(0, place)) - place).abs() < 1e-12);
        }
    }

    #[test]
    fn only_what_lies_on_the_plane_has_an_index() {
        let [left, right] = RASTER.edges(0);
        assert!((right - left - 11.0 * 2e-6).abs() < 1e-18);
        let inside = 1e-9;
        assert_eq!(RASTER.index(0, left - inside), None);
        assert_eq!(RASTER.index(0, left + inside), Some(0));
        assert_eq!(RASTER.index(0, right - inside), Some(3));
        assert_eq!(RASTER.index(0, right + inside), None);
        assert_eq!(RASTER.index(1, f64::NAN), None);
    }
}
