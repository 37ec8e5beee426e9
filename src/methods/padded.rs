//! `padded`: the three phases with no more padding than the light's reach needs.
//!
//! Light walks off sideways by at most its reach (`optics::reach`); with a small roll-off the impulse
//! response is negligible beyond it and some hundred samples. A padding of P samples for lines of N
//! moves `2 + 4·P/N` planes' worth of bytes and makes `2·P/N + 2·(P/N)²` transforms of length N per line,
//! where twice the plane takes ten and twelve.

use super::Job;
use super::three_phases::Padding;
use crate::optics::{Tail, reach};
use crate::spectral::is_smooth;

/// The least padding that adds no more than the job's tolerance, at most twice the plane.
pub fn padding(job: &Job) -> Padding {
    let lengths = [job.grid.height, job.grid.width];
    let doubled = lengths.map(|n| 2 * n);
    // The farthest step needs most; all steps share their scratch and so their padding.
    let farthest = job
        .chains
        .iter()
        .flatten()
        .flat_map(|step| &step.waves)
        .map(|wave| wave.distance.abs())
        .fold(0.0, f64::max);
    let transfer = job.optics.transfer(&job.grid, doubled, farthest);
    let reach = reach(transfer.wavelength, transfer.pitch, farthest);
    let mut error = 0.0f64;
    let padded = [0, 1].map(|axis| {
        let (length, twice) = (lengths[axis], doubled[axis]);
        // Beyond the plane's own length nothing is gained; and the band limit's window is the doubled one.
        if job.optics.band_limit || reach[axis] >= length as f64 {
            return twice;
        }
        let tail = Tail::along(axis, &transfer, length);
        // Both axes add their part.
        let allowed = job.tolerance / std::f64::consts::SQRT_2;
        let Some(width) = (1..length).find(|&width| tail.error(width) <= allowed) else { return twice };
        let padded = fast_even(length + width - 1);
        if padded >= twice {
            return twice;
        }
        error = error.hypot(tail.error(padded - length + 1));
        padded
    });
    Padding { padded, error }
}

/// The smallest even number from `least` on whose half is a product of 2, 3, 5, 7 and 11.
fn fast_even(least: usize) -> usize {
    let mut half = least.div_ceil(2).max(1);
    while !is_smooth(half) {
        half += 1;
    }
    2 * half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_lengths_are_even_and_smooth_and_not_far_off() {
        assert_eq!(fast_even(1), 2);
        assert_eq!(fast_even(2050), 2058); // 2·3·7³
        assert_eq!(fast_even(26), 28);
        for least in (1000..200_000).step_by(977) {
            let fast = fast_even(least);
            assert!(fast >= least && fast.is_multiple_of(2) && fast < least + least / 20, "{least} {fast}");
        }
    }
}
