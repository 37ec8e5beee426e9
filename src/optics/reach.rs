//! How far light walks off sideways, and what padding cuts off.
//!
//! Light of frequency f moves sideways by `|z|·λ|f|/sqrt(1 − λ²(fx² + fy²))` over a distance z. The
//! impulse response of the transfer function is therefore small beyond the largest such shift of the
//! band, the *reach*; how small, its roll-off decides. A padding of P samples for lines of N loses the
//! response from `P − N + 1` samples on, which wraps around. What wraps around reaches only the results near an
//! edge: of N results along a line those within `d − w + 1` samples of it, for the response at distance d
//! beyond the first that is left out, w. Errors are those of light that fills the plane and the band; light
//! from a single point at an edge sees all of what is left out.

use num_complex::Complex;
use rustfft::FftPlanner;

use super::{Transfer, TransferLines};

/// The largest sideways shift of the band's light in samples, `[y, x]`; infinite where the band's corner
/// does not propagate. Lengths in metres.
#[must_use]
pub fn reach(wavelength: f64, pitch: [f64; 2], distance: f64) -> [f64; 2] {
    let corner = pitch.map(|p| 0.5 / p);
    let cosine_squared = 1.0 - wavelength * wavelength * (corner[0].powi(2) + corner[1].powi(2));
    [0, 1].map(|axis| {
        if cosine_squared <= 0.0 {
            return f64::INFINITY;
        }
        distance.abs() * wavelength * corner[axis] / cosine_squared.sqrt() / pitch[axis]
    })
}

/// What a padding cuts off along one axis: the energy of the impulse response by distance.
pub struct Tail {
    /// `sums[w]` = Σ|h[n]|² over |n| ≥ w, relative to the whole.
    sums: Vec<f64>,
    /// `weighted[w]` = Σ|h[n]|²·(|n| − w + 1) over |n| ≥ w, relative to the whole.
    weighted: Vec<f64>,
}

/// Frequencies of the other axis over which a tail is averaged.
const SAMPLES: usize = 9;

impl Tail {
    /// The tail along `axis` (0 is y) of `transfer`, for lines of `length` samples.
    ///
    /// Averaged over frequencies of the other axis from zero to the band's end, as a source that fills
    /// the band sees it. The response is computed over eight times the length, or twice its reach and some, so
    /// that what wraps around there is far less than what is looked for; beyond that it is taken to fall no
    /// further.
    #[must_use]
    pub fn along(axis: usize, transfer: &Transfer, length: usize) -> Self {
        let reach = reach(transfer.wavelength, transfer.pitch, transfer.distance)[axis];
        let wide = length as f64 <= 2.0 * reach + 4096.0;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "less than the length")]
        let looked_at = if wide { length } else { (2.0 * reach + 4096.0) as usize };
        let window = (8 * looked_at).next_power_of_two().max(4096);
        // The evaluation runs along y: for x, the axes change places.
        let swap = |pair: [f64; 2]| if axis == 0 { pair } else { [pair[1], pair[0]] };
        let across = 2 * (SAMPLES - 1);
        let lines = TransferLines::<f64>::new(
            Transfer { pitch: swap(transfer.pitch), padded: [window, across], ..*transfer },
            1,
        );
        let plan = FftPlanner::new().plan_fft_inverse(window);
        let mut table = vec![Complex::default(); lines.table_length()];
        let mut scratch = vec![Complex::default(); plan.get_inplace_scratch_len()];
        let half = window / 2;
        let mut energy = vec![0.0; half + 1];
        for sample in 0..SAMPLES {
            let mut response = vec![Complex::new(1.0, 0.0); window];
            lines.multiply(sample, 0, &mut response, &mut table);
            plan.process_with_scratch(&mut response, &mut scratch);
            for (n, h) in response.iter().enumerate() {
                energy[n.min(window - n)] += h.norm_sqr();
            }
        }
        let whole: f64 = energy.iter().sum();
        let mut rest = 0.0;
        for energy in energy.iter_mut().rev() {
            rest += *energy;
            *energy = rest / whole;
        }
        let mut rest = 0.0;
        let mut weighted: Vec<_> = energy
            .iter()
            .rev()
            .map(|sum| {
                rest += sum;
                rest
            })
            .collect();
        weighted.reverse();
        Self { sums: energy, weighted }
    }

    /// The relative L2 error of leaving out the response from `width` samples on, for one point.
    #[must_use]
    pub fn of_point(&self, width: usize) -> f64 {
        self.sums[width.min(self.sums.len() - 1)].sqrt()
    }

    /// The same where it is missing, or added by wrapping around, near one end of every `lines` results alone,
    /// for light that fills the plane.
    #[must_use]
    pub fn at_edges(&self, width: usize, lines: usize) -> f64 {
        let weighted = self.weighted[width.min(self.weighted.len() - 1)] / lines as f64;
        weighted.sqrt().min(self.of_point(width))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optics::Evanescent;

    fn transfer(pitch: f64, wavelength: f64, distance: f64, rolloff: f64) -> Transfer {
        Transfer {
            wavelength,
            distance,
            pitch: [pitch; 2],
            padded: [2, 2],
            evanescent: Evanescent::Decay,
            band_limit: false,
            rolloff,
        }
    }

    #[test]
    fn the_reach_is_that_of_the_bands_corner() {
        // p 0.5 µm, λ 660 nm, z 0.1 mm: 176 samples on the axis, 368 at the corner.
        let [y, x] = reach(660e-9, [0.5e-6; 2], 1e-4);
        assert!((y - 368.0).abs() < 2.0 && (y - x).abs() < 1e-9, "{y} {x}");
        // The paper's optics: 1191 on the axis, slightly more at the corner.
        let [y, _] = reach(660e-9, [5e-6; 2], -90e-3);
        assert!((1191.0..1200.0).contains(&y), "{y}");
        assert!(reach(660e-9, [0.25e-6; 2], 1e-4)[0].is_infinite());
    }

    #[test]
    fn beyond_the_reach_little_is_left_and_less_with_a_roll_off() {
        let plain = Tail::along(0, &transfer(5e-6, 660e-9, 90e-3, 0.0), 4096);
        let soft = Tail::along(0, &transfer(5e-6, 660e-9, 90e-3, 0.02), 4096);
        assert!(plain.of_point(600) > 0.1 && soft.of_point(600) > 0.1, "within the reach");
        assert!(
            plain.of_point(2200) > 1e-3 && soft.of_point(2200) < 1e-5,
            "{} {}",
            plain.of_point(2200),
            soft.of_point(2200)
        );
        assert!((plain.of_point(0) - 1.0).abs() < 1e-12);
        let falls = (0..4000).all(|w| {
            soft.of_point(w + 1) <= soft.of_point(w) && soft.at_edges(w + 1, 4096) <= soft.at_edges(w, 4096)
        });
        assert!(falls);
        // By the definition of the weights.
        let h2 = |n: usize| soft.of_point(n).powi(2) - soft.of_point(n + 1).powi(2);
        let weighted: f64 = (2000..16384).map(|n| h2(n) * (n - 2000 + 1) as f64).sum();
        let expected = (weighted / 4096.0).sqrt();
        assert!((soft.at_edges(2000, 4096) / expected - 1.0).abs() < 1e-3, "{expected}");
    }
}
