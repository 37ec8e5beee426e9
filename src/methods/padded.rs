//! `padded`: the three phases with no more padding than the light's reach needs.
//!
//! Light walks off sideways by at most its reach (`optics::reach`); with a small roll-off the impulse
//! response is negligible beyond it and some hundred samples. A padding of P samples for lines of N
//! moves `2 + 4·P/N` planes' worth of bytes and makes `2·P/N + 2·(P/N)²` transforms of length N per line,
//! where twice the plane takes ten and twelve.

use super::Job;
use super::three_phases::Padding;
use crate::optics::{Tail, reach};
use crate::spectral::fast_length;

/// What the responses of a job's propagations have at a distance, for each axis `[y, x]`.
pub struct Responses([Option<Tail>; 2]);

impl Responses {
    /// The responses of `job`'s farthest propagation: it is the widest, and all share their padding.
    pub fn of(job: &Job) -> Self {
        let lengths = [job.grid.height, job.grid.width];
        let waves = job.chains.iter().flatten().flat_map(|step| &step.waves);
        let farthest = waves.map(|wave| wave.distance.abs()).fold(0.0, f64::max);
        let transfer = job.optics.transfer(&job.grid, lengths.map(|n| 2 * n), farthest);
        let reach = reach(transfer.wavelength, transfer.pitch, farthest);
        Self([0, 1].map(|axis| {
            // Where light reaches across the plane the definition's doubled plane is needed; so it is for the
            // band limit, whose window it is.
            let doubled = job.optics.band_limit || reach[axis] >= lengths[axis] as f64;
            (!doubled).then(|| Tail::along(axis, &transfer, lengths[axis]))
        }))
    }

    /// The samples from which on the response along `axis` may be left out near one end of every `lines`
    /// results with a relative error of `allowed`, and the error that this adds. None where the definition's
    /// doubled plane is needed, or where that is within `longest` samples nowhere so.
    pub fn width(&self, axis: usize, longest: usize, lines: usize, allowed: f64) -> Option<(usize, f64)> {
        let tail = self.0[axis].as_ref()?;
        // The tail falls: halve the range until the first width that does.
        let (mut low, mut high) = (0, longest);
        while high - low > 1 {
            let middle = low.midpoint(high);
            if tail.at_edges(middle, lines) <= allowed {
                high = middle;
            } else {
                low = middle;
            }
        }
        let error = tail.at_edges(high, lines);
        (error <= allowed && high < longest).then_some((high, error))
    }
}

/// The least padding that adds no more than the job's tolerance, at most twice the plane, for `streams` along
/// x. None where twice the plane is needed and is no multiple of the streams.
pub fn padding(job: &Job, responses: &Responses, streams: usize) -> Option<Padding> {
    let lengths = [job.grid.height, job.grid.width];
    let split = [2, streams];
    // Both axes add their part.
    let allowed = job.tolerance / std::f64::consts::SQRT_2;
    let mut error = 0.0f64;
    let mut padded = [0; 2];
    for axis in [0, 1] {
        let (length, twice) = (lengths[axis], 2 * lengths[axis]);
        let reduced = responses
            .width(axis, length, length, allowed)
            .map(|(width, tail)| (fast_length(length + width - 1, split[axis]), tail))
            .filter(|&(padded, _)| padded < twice);
        padded[axis] = match reduced {
            Some((padded, tail)) => {
                error = error.hypot(tail);
                padded
            }
            None if twice.is_multiple_of(split[axis]) => twice,
            None => return None,
        };
    }
    Some(Padding { padded, error })
}
