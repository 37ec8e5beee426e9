//! A job for the tests of this module.

use std::path::Path;

use super::{Job, Optics, Roles, stepwise};
use crate::optics::{Bytes, Encoding, Evanescent, Grid, Length};
use crate::project::Precision;
use crate::storage::ScratchPrecision;

/// Two layers on a plane of `height × width` samples, in one folder, with `memory` bytes.
pub fn job(width: usize, height: usize, memory: u64) -> Job {
    let pitch = Length::metres(1e-6);
    Job {
        name: String::new(),
        grid: Grid { width, height, pitch_x: pitch, pitch_y: pitch },
        optics: Optics { wavelength: 5e-7, evanescent: Evanescent::Decay, band_limit: false, rolloff: 0.0 },
        precision: Precision::F32,
        source: None,
        chains: stepwise(&[1e-3, 2e-3]),
        output: Some("out.npy".into()),
        encoding: Encoding::Complex,
        preview: None,
        roles: Roles::assign(&[], None, Some(Path::new("out.npy")), |_, _| false),
        memory: Bytes(memory),
        scratch_precision: ScratchPrecision::F32,
        layer_windows: vec![[0..height, 0..width]; 2],
        layer_bytes: 1 << 20,
        chunk: None,
        buffers: 2,
        threads: 2,
        tolerance: 1e-6,
        streams: None,
        at_once: None,
    }
}
