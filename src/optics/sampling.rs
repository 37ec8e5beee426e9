//! Whether a plane's samples can carry the light: what follows from pitch, wavelength and depths alone.
//!
//! With pitch p and N samples along an axis, wavelength λ, and a layer at distance z:
//!
//! ```text
//! size of the plane                N·p
//! largest diffraction angle        asin(λ/2p), of the highest frequency 1/2p; 90° where λ > 2p
//! reach R                          super::reach, in samples; R·p in metres
//! window fill                      2R/N, the width of one point's light at the hologram over the plane's
//! band limit (Matsushima 2009)     |f| ≤ 1/(λ·sqrt((2z/(P·p))² + 1)), P the padded length
//! share of the band kept           mean of w² over the band, w the band limit and the roll-off r;
//!                                  without a band limit 1 − 5r/8 an axis; both axes multiply
//! evanescent share                 area of the band |fx| ≤ 1/2px, |fy| ≤ 1/2py outside the circle 1/λ, over its area
//! ```
//!
//! A transfer function that is sampled at P = 2N frequencies carries shifts of up to N samples. Beyond that it is
//! undersampled: light that has left the window comes back from its other side, unless the band is limited.

use serde::Serialize;

use super::reach;

/// What is known before anything is computed; lengths in metres, pairs `[y, x]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampled {
    /// Samples of the plane.
    pub samples: [usize; 2],
    /// Pitches.
    pub pitch: [f64; 2],
    /// Wavelength.
    pub wavelength: f64,
    /// The distance of the farthest layer from the hologram, without its sign.
    pub farthest: f64,
    /// The longest distance that is propagated at once.
    pub longest: f64,
    /// Samples of the padded plane.
    pub padded: [usize; 2],
    /// Whether the band is limited to what the padded window can carry.
    pub band_limit: bool,
    /// The top fraction of the band over which the transfer function falls to zero.
    pub rolloff: f64,
}

/// What the samples can carry; lengths in metres, pairs `[y, x]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Sampling {
    /// Size of the plane.
    pub size: [f64; 2],
    /// Largest diffraction angles in degrees.
    pub angle: [f64; 2],
    /// Reach of the farthest layer's light; infinite where the band's corner does not propagate.
    pub reach: [f64; 2],
    /// Width of the light of one point of the farthest layer at the hologram, over the plane's.
    pub fill: [f64; 2],
    /// Reach of the longest propagation over the plane's size; beyond 1 the transfer function is undersampled.
    pub shift: [f64; 2],
    /// Share of the band's energy that band limit and roll-off keep, from 0 to 1.
    pub band_kept: f64,
    /// Share of the band that is evanescent, from 0 to 1.
    pub evanescent: f64,
}

impl Sampling {
    /// What follows from `sampled`.
    #[must_use]
    pub fn of(sampled: &Sampled) -> Self {
        let Sampled { samples, pitch, wavelength, farthest, longest, .. } = *sampled;
        let lines = samples.map(|n| n as f64);
        // Where nothing is propagated, not even light along the plane goes anywhere.
        let over = |z: f64| if z == 0.0 { [0.0; 2] } else { reach(wavelength, pitch, z) };
        let (far, step) = (over(farthest), over(longest));
        let kept = [0, 1].map(|axis| axis_kept(sampled, axis));
        Self {
            size: [0, 1].map(|axis| lines[axis] * pitch[axis]),
            angle: pitch.map(|p| largest_angle(wavelength, p)),
            reach: [0, 1].map(|axis| far[axis] * pitch[axis]),
            fill: [0, 1].map(|axis| 2.0 * far[axis] / lines[axis]),
            shift: [0, 1].map(|axis| step[axis] / lines[axis]),
            band_kept: kept[0] * kept[1],
            evanescent: evanescent_share(wavelength, pitch),
        }
    }
}

/// The largest diffraction angle of samples at `pitch`, in degrees: asin(λ/2p), or 90.
#[must_use]
pub fn largest_angle(wavelength: f64, pitch: f64) -> f64 {
    (0.5 * wavelength / pitch).min(1.0).asin().to_degrees()
}

/// The share of one axis's energy that is kept, for light that fills the band.
fn axis_kept(sampled: &Sampled, axis: usize) -> f64 {
    let pitch = sampled.pitch[axis];
    let end = if sampled.band_limit {
        let spread = 2.0 * sampled.longest / (sampled.padded[axis] as f64 * pitch);
        (2.0 * pitch / (sampled.wavelength * (spread * spread + 1.0).sqrt())).min(1.0)
    } else {
        1.0
    };
    kept_up_to(end, sampled.rolloff)
}

/// ∫ w² from 0 to `end` in units of the highest frequency; w is 1 up to 1 − r, then (1 + cos πt)/2 for t from 0 to 1.
///
/// w² = 3/8 + cos(πt)/2 + cos(2πt)/8, whose integral up to t is 3t/8 + sin(πt)/2π + sin(2πt)/16π.
fn kept_up_to(end: f64, rolloff: f64) -> f64 {
    let flat = 1.0 - rolloff;
    if end <= flat || rolloff <= 0.0 {
        return end;
    }
    let angle = std::f64::consts::PI * (end - flat) / rolloff;
    let falling = (0.375 * angle + 0.5 * angle.sin() + 0.0625 * (2.0 * angle).sin()) / std::f64::consts::PI;
    flat + rolloff * falling
}

/// The share of the band that lies outside the circle of frequencies that travel.
///
/// In units of 1/λ a quarter of the band is the rectangle a × b with a = λ/2px, b = λ/2py. Its part within the circle
/// has the height min(b, sqrt(1 − x²)), whose integral is taken in closed form.
fn evanescent_share(wavelength: f64, pitch: [f64; 2]) -> f64 {
    let [b, a] = pitch.map(|p| 0.5 * wavelength / p);
    if a * a + b * b <= 1.0 {
        return 0.0;
    }
    let under_circle = |x: f64| 0.5 * (x * (1.0 - x * x).max(0.0).sqrt() + x.asin());
    let end = a.min(1.0);
    let flat = (1.0 - b * b).max(0.0).sqrt().min(end);
    let inside = b * flat + under_circle(end) - under_circle(flat);
    (1.0 - inside / (a * b)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2048 × 1024 samples of 4 µm × 5 µm, 500 nm, 4 mm; all else off.
    const PLAIN: Sampled = Sampled {
        samples: [1024, 2048],
        pitch: [5e-6, 4e-6],
        wavelength: 500e-9,
        farthest: 4e-3,
        longest: 1e-3,
        padded: [2048, 4096],
        band_limit: false,
        rolloff: 0.0,
    };

    fn near(got: f64, expected: f64, tolerance: f64) {
        assert!((got - expected).abs() <= tolerance, "{got} is not {expected}");
    }

    #[test]
    fn a_coarse_plane_is_as_by_hand() {
        let sampling = Sampling::of(&PLAIN);
        near(sampling.size[0], 5.12e-3, 1e-15);
        near(sampling.size[1], 8.192e-3, 1e-15);
        // sin θ is 0.05 and 0.0625.
        near(sampling.angle[0], 2.865_984, 1e-6);
        near(sampling.angle[1], 3.583_322, 1e-6);
        // 4 mm · 0.05/sqrt(1 − 0.05² − 0.0625²) = 4 mm · 0.05/0.996 7918…
        near(sampling.reach[0], 200.643_7e-6, 1e-10);
        near(sampling.reach[1], 250.804_6e-6, 1e-10);
        near(sampling.fill[0], 2.0 * 200.643_7 / 5120.0, 1e-6);
        near(sampling.shift[1], 250.804_6 / 4.0 / 8192.0, 1e-7);
        near(sampling.band_kept, 1.0, 0.0);
        near(sampling.evanescent, 0.0, 0.0);
    }

    #[test]
    fn the_share_of_the_band_is_that_of_its_factors() {
        // 1 − 5r/8 an axis.
        let soft = Sampling::of(&Sampled { rolloff: 0.16, ..PLAIN });
        near(soft.band_kept, 0.9 * 0.9, 1e-12);
        // 2z/(P·p) = √3 along y and 3/4 along x: the limits are 1/2λ and 4/5λ, the band's ends 1/1.6λ and 1/λ.
        let limited = Sampled {
            samples: [50, 100],
            pitch: [0.4e-6, 0.25e-6],
            wavelength: 0.5e-6,
            longest: 0.5 * 3f64.sqrt() * 100.0 * 0.4e-6,
            padded: [100, 369],
            band_limit: true,
            ..PLAIN
        };
        let spread = 2.0 * limited.longest / (369.0 * 0.25e-6);
        near(spread, 0.75, 2e-3);
        near(Sampling::of(&limited).band_kept, 0.8 * 0.8, 2e-3);
        // The limit within the roll-off: the midpoint rule as an oracle.
        let (end, rolloff, parts) = (0.93, 0.2, 200_000_u32);
        let square = |i: u32| {
            let f = end * (f64::from(i) + 0.5) / f64::from(parts);
            let t = ((f - (1.0 - rolloff)) / rolloff).clamp(0.0, 1.0);
            (0.5 * (1.0 + (std::f64::consts::PI * t).cos())).powi(2)
        };
        let sum: f64 = (0..parts).map(square).sum();
        near(kept_up_to(end, rolloff), sum * end / f64::from(parts), 1e-10);
    }

    #[test]
    fn what_does_not_travel_is_the_band_outside_the_circle() {
        let share = |py: f64, px: f64| evanescent_share(1.0, [py, px]);
        let pi = std::f64::consts::PI;
        near(share(0.5, 0.5), 1.0 - pi / 4.0, 1e-12);
        near(share(0.25, 0.25), 1.0 - pi / 16.0, 1e-12);
        // Half as high and twice as wide as the circle: a strip of it is left, √3/8 + π/12.
        near(share(1.0, 0.25), 1.0 - (3f64.sqrt() / 8.0 + pi / 12.0), 1e-12);
        near(share(0.25, 1.0), share(1.0, 0.25), 1e-12);
        // Just at λ/√2 the corner touches the circle.
        near(share(0.5f64.sqrt() + 1e-9, 0.5f64.sqrt()), 0.0, 1e-9);
        // A point count as an oracle.
        let (py, px, n) = (0.6, 0.45, 2000_u32);
        let f = |k: u32, p: f64| (f64::from(k) + 0.5) / f64::from(n) * 0.5 / p;
        let outside = (0..n * n).filter(|i| f(i % n, px).hypot(f(i / n, py)) > 1.0).count();
        near(share(py, px), outside as f64 / f64::from(n * n), 1e-4);
    }

    #[test]
    fn finer_than_half_a_wavelength_light_goes_everywhere() {
        let fine = Sampling::of(&Sampled { pitch: [0.2e-6, 0.3e-6], ..PLAIN });
        near(fine.angle[0], 90.0, 0.0);
        near(fine.angle[1], 56.442_69, 1e-4);
        assert!(fine.reach.iter().chain(&fine.shift).all(|r| r.is_infinite()));
        // A plane on the hologram itself spreads nowhere.
        let here = Sampling::of(&Sampled { farthest: 0.0, longest: 0.0, ..PLAIN });
        near(here.fill[0] + here.shift[1] + here.reach[0], 0.0, 0.0);
    }
}
