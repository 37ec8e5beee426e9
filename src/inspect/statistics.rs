//! Numbers of a rectangle of a picture.

use std::ops::Range;

use super::Picture;

/// A rectangle of preview samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Preview samples along x.
    pub columns: Range<usize>,
    /// Preview samples along y.
    pub rows: Range<usize>,
}

impl Region {
    /// All of `picture`.
    #[must_use]
    pub fn whole(picture: Picture<'_>) -> Self {
        Self { columns: 0..picture.raster.size(0), rows: 0..picture.raster.size(1) }
    }
}

/// What a region's intensities are, with `I` a preview sample's intensity and `w` the samples it covers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statistics {
    /// Preview samples.
    pub count: usize,
    /// `m = Σ w·I / Σ w`, the mean of |u|² over the region's samples.
    pub mean: f64,
    /// `s = sqrt(Σ w·(I − m)² / Σ w)`.
    pub deviation: f64,
    /// The least intensity.
    pub least: f64,
    /// The greatest intensity.
    pub most: f64,
    /// `Σ w·I` of the region over that of the whole picture.
    pub energy_share: f64,
}

impl Statistics {
    /// The speckle contrast `s/m`: 1 for fully developed speckle that is not reduced, less for means over
    /// several grains; 0 for a dark region.
    #[must_use]
    pub fn contrast(&self) -> f64 {
        if self.mean > 0.0 { self.deviation / self.mean } else { 0.0 }
    }
}

/// The numbers of `region`, as far as it lies on `picture`; none where nothing of it does.
#[must_use]
pub fn statistics(picture: Picture<'_>, region: &Region) -> Option<Statistics> {
    let whole = Region::whole(picture);
    let clip = |part: &Range<usize>, all: &Range<usize>| part.start.min(all.end)..part.end.min(all.end);
    let region =
        Region { columns: clip(&region.columns, &whole.columns), rows: clip(&region.rows, &whole.rows) };
    if region.columns.is_empty() || region.rows.is_empty() {
        return None;
    }
    let (weight, energy) = sums(picture, &region, |value| value);
    let (_, all) = sums(picture, &whole, |value| value);
    let mean = energy / weight;
    let (_, squares) = sums(picture, &region, |value| (value - mean).powi(2));
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for row in region.rows.clone() {
        for &value in &picture.row(row)[region.columns.clone()] {
            least = least.min(f64::from(value));
            most = most.max(f64::from(value));
        }
    }
    Some(Statistics {
        count: region.columns.len() * region.rows.len(),
        mean,
        deviation: (squares / weight).sqrt(),
        least,
        most,
        energy_share: if all > 0.0 { energy / all } else { 0.0 },
    })
}

/// Σ w and Σ w·f(I) over a region.
fn sums(picture: Picture<'_>, region: &Region, f: impl Fn(f64) -> f64) -> (f64, f64) {
    let raster = picture.raster;
    let columns: Vec<f64> = region.columns.clone().map(|x| raster.samples(0, x).len() as f64).collect();
    let width: f64 = columns.iter().sum();
    region.rows.clone().fold((0.0, 0.0), |(weights, values), row| {
        let height = raster.samples(1, row).len() as f64;
        let line = picture.row(row)[region.columns.clone()].iter().zip(&columns);
        let sum: f64 = line.map(|(&value, weight)| weight * f(f64::from(value))).sum();
        (weights + height * width, values + height * sum)
    })
}

#[cfg(test)]
mod tests {
    use super::super::Raster;
    use super::*;

    /// Intensities of fully developed speckle: negative exponential, by inversion.
    fn speckle(count: usize, mean: f64) -> Vec<f32> {
        let mut state = 7u64;
        (0..count)
            .map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let uniform = ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
                #[expect(clippy::cast_possible_truncation, reason = "an intensity")]
                let intensity = (-mean * uniform.ln()) as f32;
                intensity
            })
            .collect()
    }

    #[test]
    fn fully_developed_speckle_has_contrast_one() {
        let raster = Raster { plane: [701, 353], pitch: [1e-6, 2e-6], scale: 1 };
        let values = speckle(raster.count(), 0.3);
        let picture = Picture::new(raster, &values).unwrap();
        let all = statistics(picture, &Region::whole(picture)).unwrap();
        // Of 247 453 independent samples: the standard error of mean and contrast is 1/sqrt(count), 0.2 %.
        assert!((all.contrast() - 1.0).abs() < 0.01, "{}", all.contrast());
        assert!((all.mean / 0.3 - 1.0).abs() < 0.01 && (all.energy_share - 1.0).abs() < 1e-12);
        // Means over four grains: half the contrast.
        let four: Vec<f32> = values.chunks_exact(4).map(|four| four.iter().sum::<f32>() / 4.0).collect();
        let raster = Raster { plane: [four.len(), 1], ..raster };
        let picture = Picture::new(raster, &four).unwrap();
        let contrast = statistics(picture, &Region::whole(picture)).unwrap().contrast();
        assert!((contrast - 0.5).abs() < 0.01, "{contrast}");
    }

    #[test]
    fn a_regions_numbers_are_those_of_the_planes_samples_also_at_the_edge() {
        // 11 × 8 samples, reduced 1 : 3; the naive way works on the samples.
        let raster = Raster { plane: [11, 8], pitch: [1e-6; 2], scale: 3 };
        let values = [0.5, 2.0, 1.0, 7.0, 4.0, 0.25, 3.0, 9.0, 6.0, 5.0, 8.0, 1.5];
        let picture = Picture::new(raster, &values).unwrap();
        let region = Region { columns: 2..4, rows: 1..3 };
        let mut samples = Vec::new();
        let mut all = 0.0;
        for y in 0..8 {
            for x in 0..11 {
                let value = f64::from(values[y / 3 * 4 + x / 3]);
                all += value;
                if x >= 6 && y >= 3 {
                    samples.push(value);
                }
            }
        }
        let n = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / n;
        let deviation = (samples.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        let got = statistics(picture, &region).unwrap();
        assert!((got.mean - mean).abs() < 1e-12 && (got.deviation - deviation).abs() < 1e-12);
        assert_eq!(
            (got.count, got.least.to_bits(), got.most.to_bits()),
            (4, 1.5f64.to_bits(), 9f64.to_bits())
        );
        assert!((got.energy_share - samples.iter().sum::<f64>() / all).abs() < 1e-12);
    }

    #[test]
    fn a_region_beyond_the_picture_is_cut_or_none() {
        let raster = Raster { plane: [3, 2], pitch: [1e-6; 2], scale: 1 };
        let values = [0.0; 6];
        let picture = Picture::new(raster, &values).unwrap();
        assert_eq!(statistics(picture, &Region { columns: 3..9, rows: 0..1 }), None);
        let cut = statistics(picture, &Region { columns: 1..9, rows: 0..9 }).unwrap();
        assert_eq!((cut.count, cut.contrast().to_bits(), cut.energy_share.to_bits()), (4, 0, 0));
    }
}
