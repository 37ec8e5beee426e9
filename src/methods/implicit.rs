//! `implicit`: linear convolution without zeros in memory, by even and odd streams (Lee & Kim 2023).
//!
//! Planes are padded to twice their size; each stream has the plane's own length. A propagation reads
//! and writes ten planes' worth of bytes and makes twelve line transforms per line.

use super::Job;
use super::three_phases::Padding;

/// The padding of the paper: twice the plane.
pub const fn padding(job: &Job) -> Padding {
    Padding { padded: [2 * job.grid.height, 2 * job.grid.width], error: 0.0 }
}
