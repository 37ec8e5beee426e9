//! Intensities along a line.

use super::Picture;

/// One point of a profile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfilePoint {
    /// Metres from the profile's beginning.
    pub distance: f64,
    /// Position along x and y, in metres from coordinate zero.
    pub position: [f64; 2],
    /// The intensity |u|².
    pub intensity: f64,
}

/// A line that intensities are taken along.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cut {
    /// A row of preview samples.
    Row(usize),
    /// A column of preview samples.
    Column(usize),
    /// Between two places `[x, y]`, in preview samples as [`super::Raster`] counts them.
    Between([f64; 2], [f64; 2]),
}

/// The intensities of `picture` along `cut`.
///
/// A row or a column gives each preview sample as it is, at its middle. Between two places there is a point
/// for each preview sample of the longer axis at least, evenly spaced, both ends included; its intensity is
/// interpolated bilinearly between the middles of the four samples around it.
#[must_use]
pub fn profile(picture: Picture<'_>, cut: Cut) -> Vec<ProfilePoint> {
    let raster = picture.raster;
    let along = |axis: usize, other: usize| -> Vec<ProfilePoint> {
        if other >= raster.size(1 - axis) {
            return Vec::new();
        }
        let across = raster.middle(1 - axis, other);
        let start = raster.middle(axis, 0);
        (0..raster.size(axis))
            .map(|i| {
                let at = raster.middle(axis, i);
                let (position, value) = if axis == 0 {
                    ([at, across], picture.at(i, other))
                } else {
                    ([across, at], picture.at(other, i))
                };
                ProfilePoint { distance: at - start, position, intensity: value.into() }
            })
            .collect()
    };
    match cut {
        Cut::Row(row) => along(0, row),
        Cut::Column(column) => along(1, column),
        Cut::Between(from, to) => between(picture, from, to),
    }
}

fn between(picture: Picture<'_>, from: [f64; 2], to: [f64; 2]) -> Vec<ProfilePoint> {
    let raster = picture.raster;
    if from.iter().chain(&to).any(|place| !place.is_finite()) {
        return Vec::new();
    }
    // No further than the picture.
    let clip = |place: [f64; 2]| [0, 1].map(|axis| place[axis].clamp(0.0, raster.size(axis) as f64));
    let (from, to) = (clip(from), clip(to));
    let longest = (to[0] - from[0]).abs().max((to[1] - from[1]).abs());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not above a picture's side")]
    let steps = (longest.ceil() as usize).max(1);
    let start = [0, 1].map(|axis| raster.position(axis, from[axis]));
    (0..=steps)
        .map(|step| {
            let share = step as f64 / steps as f64;
            let place = [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
            let position = [0, 1].map(|axis| raster.position(axis, place[axis]));
            let distance = (position[0] - start[0]).hypot(position[1] - start[1]);
            ProfilePoint { distance, position, intensity: bilinear(picture, place) }
        })
        .collect()
}

/// The intensity at a place, between the middles of the samples around it.
fn bilinear(picture: Picture<'_>, place: [f64; 2]) -> f64 {
    let around = |axis: usize| {
        let last = picture.raster.size(axis) - 1;
        let at = (place[axis] - 0.5).clamp(0.0, last as f64);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the picture")]
        let before = at.floor() as usize;
        (before, (before + 1).min(last), at - at.floor())
    };
    let ((left, right, x), (above, below, y)) = (around(0), around(1));
    let value = |x, y| f64::from(picture.at(x, y));
    let upper = value(left, above) * (1.0 - x) + value(right, above) * x;
    let lower = value(left, below) * (1.0 - x) + value(right, below) * x;
    upper * (1.0 - y) + lower * y
}

#[cfg(test)]
mod tests {
    use super::super::Raster;
    use super::*;

    const RASTER: Raster = Raster { plane: [13, 7], pitch: [2e-6, 3e-6], scale: 1 };

    /// A plane that rises along both axes: bilinear interpolation is exact on it.
    fn slope() -> Vec<f32> {
        (0..RASTER.count()).map(|i| (i % 13) as f32 + 10.0 * (i / 13) as f32).collect()
    }

    #[test]
    fn a_row_and_a_column_are_the_samples_themselves() {
        let values = slope();
        let picture = Picture::new(RASTER, &values).unwrap();
        let row = profile(picture, Cut::Row(2));
        assert_eq!(row.len(), 13);
        for (k, point) in row.iter().enumerate() {
            assert!((point.intensity - (20.0 + k as f64)).abs() < 1e-12);
            assert!((point.position[0] - (k as f64 - 6.0) * 2e-6).abs() < 1e-18);
            assert!((point.position[1] - (2.0 - 3.0) * 3e-6).abs() < 1e-18);
            assert!((point.distance - k as f64 * 2e-6).abs() < 1e-18);
        }
        let column = profile(picture, Cut::Column(5));
        assert_eq!(column.len(), 7);
        assert!((column[6].intensity - 65.0).abs() < 1e-12 && (column[6].distance - 18e-6).abs() < 1e-18);
        assert!(profile(picture, Cut::Row(7)).is_empty());
    }

    #[test]
    fn a_slanted_profile_of_a_slope_is_a_straight_line() {
        let values = slope();
        let picture = Picture::new(RASTER, &values).unwrap();
        // From the middle of sample (1, 1) to that of (10, 5).
        let points = profile(picture, Cut::Between([1.5, 1.5], [10.5, 5.5]));
        assert_eq!(points.len(), 10);
        for (i, point) in points.iter().enumerate() {
            let share = i as f64 / 9.0;
            assert!((point.intensity - (11.0 + share * (9.0 + 40.0))).abs() < 1e-9);
            assert!((point.distance - share * (18e-6_f64).hypot(12e-6)).abs() < 1e-15);
        }
    }

    #[test]
    fn a_profile_of_known_light_is_that_light() {
        // A Gaussian beam's intensity exp(−2r²/w²), between the plane's samples.
        let raster = Raster { plane: [257, 101], pitch: [1e-6, 1e-6], scale: 1 };
        let w = 20e-6;
        let light = |x: f64, y: f64| (-2.0 * (x * x + y * y) / (w * w)).exp();
        #[expect(clippy::cast_possible_truncation, reason = "an intensity")]
        let values: Vec<f32> = (0..raster.count())
            .map(|i| light(raster.middle(0, i % 257), raster.middle(1, i / 257)) as f32)
            .collect();
        let picture = Picture::new(raster, &values).unwrap();
        for point in profile(picture, Cut::Between([40.25, 10.75], [200.5, 90.0])) {
            let [x, y] = point.position;
            // Interpolation is off by at most the second derivative over 8 a axis: 4/w² · 1e-12 / 8 each.
            assert!((point.intensity - light(x, y)).abs() < 3e-3, "{point:?}");
        }
    }

    #[test]
    fn what_lies_beyond_the_picture_is_cut_off() {
        let values = slope();
        let picture = Picture::new(RASTER, &values).unwrap();
        let points = profile(picture, Cut::Between([-50.0, 3.5], [99.0, 3.5]));
        assert_eq!(points.len(), 14);
        assert!(profile(picture, Cut::Between([f64::NAN, 0.0], [1.0, 1.0])).is_empty());
        assert_eq!(profile(picture, Cut::Between([3.0, 3.0], [3.0, 3.0])).len(), 2);
    }
}
