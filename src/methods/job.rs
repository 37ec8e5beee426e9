//! What is to be computed, before a method decides how.

use std::ops::Range;
use std::path::PathBuf;

use super::Roles;
use super::three_phases::Streaming;
use crate::optics::{Bytes, Encoding, Evanescent, Grid, Transfer};
use crate::project::{Precision, Project};
use crate::storage::{PlaneHeader, ScratchPrecision};

/// Light and the transfer function's options; lengths in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Optics {
    /// Wavelength.
    pub wavelength: f64,
    /// What becomes of evanescent waves.
    pub evanescent: Evanescent,
    /// Whether the band is limited to what the padded window can carry.
    pub band_limit: bool,
    /// Top fraction of the band over which the transfer function falls to zero.
    pub rolloff: f64,
}

impl From<&Project> for Optics {
    fn from(project: &Project) -> Self {
        Self {
            wavelength: project.wavelength.in_metres(),
            evanescent: project.evanescent,
            band_limit: project.band_limit,
            rolloff: project.rolloff.unwrap_or(project.method.rolloff()),
        }
    }
}

impl Optics {
    /// The transfer function over `distance` on planes of `grid`, padded to `padded` samples `[y, x]`.
    #[must_use]
    pub const fn transfer(&self, grid: &Grid, padded: [usize; 2], distance: f64) -> Transfer {
        Transfer {
            wavelength: self.wavelength,
            distance,
            pitch: [grid.pitch_y.in_metres(), grid.pitch_x.in_metres()],
            padded,
            evanescent: self.evanescent,
            band_limit: self.band_limit,
            rolloff: self.rolloff,
        }
    }
}

/// A plane of the user's.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its file.
    pub path: PathBuf,
    /// Where its lines lie.
    pub header: PlaneHeader,
}

/// Layers at one depth, and how far their light goes.
#[derive(Debug, Clone, PartialEq)]
pub struct Wave {
    /// The layers, by their place among those that take part.
    pub layers: Vec<usize>,
    /// Signed distance of the propagation in metres.
    pub distance: f64,
}

/// A plane that is made of one or more propagations, each from a plane of its own. The first wave also
/// carries the plane the step starts from.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What is propagated and added; at least one.
    pub waves: Vec<Wave>,
    /// For example `from 6mm to 4mm`; empty for a job of one step.
    pub name: String,
}

impl Step {
    /// One propagation.
    #[must_use]
    pub fn one(layers: Vec<usize>, distance: f64, name: String) -> Self {
        Self { waves: vec![Wave { layers, distance }], name }
    }
}

/// One plane to be computed.
#[derive(Debug, Clone)]
pub struct Job {
    /// For example `hologram`.
    pub name: String,
    /// The plane's samples.
    pub grid: Grid,
    /// The light.
    pub optics: Optics,
    /// The arithmetic.
    pub precision: Precision,
    /// The plane the first step starts from; zero if none.
    pub source: Option<Source>,
    /// Chains of propagations; their results are added up.
    pub chains: Vec<Vec<Step>>,
    /// Where the result goes, if it is kept; the ending picks the container.
    pub output: Option<PathBuf>,
    /// What is stored for each sample of it.
    pub encoding: Encoding,
    /// The distance of the result from the hologram in metres, if a preview is wanted.
    pub preview: Option<f64>,
    /// The drives.
    pub roles: Roles,
    /// Bound on all memory.
    pub memory: Bytes,
    /// How scratch keeps samples.
    pub scratch_precision: ScratchPrecision,
    /// The samples `[y, x]` that each layer covers; outside them it is zero.
    pub layer_windows: Vec<[Range<usize>; 2]>,
    /// Memory that the layers hold, in bytes.
    pub layer_bytes: u64,
    /// Lines of a chunk; the most that fit if not given.
    pub chunk: Option<usize>,
    /// Chunks a stage may hold ahead.
    pub buffers: usize,
    /// Computing threads.
    pub threads: usize,
    /// The relative error that a padding may add.
    pub tolerance: f64,
    /// Streams along x; the method's own number if not given.
    pub streams: Option<usize>,
    /// Streams that go through phases 1 and 2 together, where others are to wait for less scratch.
    pub at_once: Option<usize>,
}

impl Job {
    /// How `padded` works through its streams.
    pub(super) fn streaming(&self) -> Streaming {
        let streams = self.streams.unwrap_or(self.at_once.map_or(2, |at_once| 2 * at_once));
        let at_once = self.at_once.unwrap_or(streams).min(streams);
        Streaming { streams, at_once, added: at_once < streams, ..Streaming::TWO }
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// Even the smallest chunk needs more memory.
    #[error(
        "memory: {memory} is too little; the smallest that works here is {needed} (chunks of {chunk} lines, \
         {buffers} buffers)"
    )]
    TooLittleMemory {
        /// What there is.
        memory: Bytes,
        /// What is needed.
        needed: Bytes,
        /// The smallest chunk.
        chunk: usize,
        /// The number of buffers.
        buffers: usize,
    },
    /// The doubled plane is needed, and the streams do not divide it.
    #[error(
        "streams: twice the plane's width is no multiple of {streams}; choose a number that divides it, such as 2"
    )]
    Streams {
        /// The number of streams.
        streams: usize,
    },
    /// The user's chunk needs more memory than there is.
    #[error(
        "chunk: {chunk} lines with {buffers} buffers need {needed}, but memory is {memory}; \
         chunks of {largest} lines fit"
    )]
    ChunkTooLarge {
        /// Lines wanted.
        chunk: usize,
        /// The number of buffers.
        buffers: usize,
        /// What that needs.
        needed: Bytes,
        /// What there is.
        memory: Bytes,
        /// The most lines that fit.
        largest: usize,
    },
}

/// The chains of the stepwise method (Lee & Kim 2023, section 5) for layers at `distances` (metres).
///
/// On each side of the hologram: from the farthest layer to the next, adding each, and last to the
/// hologram plane. Layers at one distance are added together; layers at zero belong to the side in
/// front, or behind if there is none in front.
#[must_use]
pub fn stepwise(distances: &[f64]) -> Vec<Vec<Step>> {
    let front = distances.iter().any(|&z| z > 0.0);
    let sides = [
        |z: f64, front: bool| z > 0.0 || (z == 0.0 && front),
        |z: f64, front: bool| z < 0.0 || (z == 0.0 && !front),
    ];
    let mut chains = Vec::new();
    for belongs in sides {
        let mut layers: Vec<_> = (0..distances.len()).filter(|&i| belongs(distances[i], front)).collect();
        layers.sort_by(|&a, &b| distances[b].abs().total_cmp(&distances[a].abs()));
        let groups: Vec<_> =
            layers.chunk_by(|&a, &b| distances[a].total_cmp(&distances[b]).is_eq()).collect();
        let mut chain = Vec::new();
        for (i, group) in groups.iter().enumerate() {
            let here = distances[group[0]];
            let next = groups.get(i + 1).map_or(0.0, |group| distances[group[0]]);
            let shown = |z: f64| if z == 0.0 { "the hologram".into() } else { mm(z) };
            let name = format!("from {} to {}", shown(here), shown(next));
            chain.push(Step::one(group.to_vec(), next - here, name));
        }
        if !chain.is_empty() {
            chains.push(chain);
        }
    }
    chains
}

/// The one step of the fused method for layers at `distances` (metres): every layer goes to the hologram by
/// itself, and they are added before the inverse transform. Layers at one distance go together.
#[must_use]
pub fn fused(distances: &[f64]) -> Vec<Vec<Step>> {
    let mut layers: Vec<_> = (0..distances.len()).collect();
    layers.sort_by(|&a, &b| distances[b].total_cmp(&distances[a]));
    let groups = layers.chunk_by(|&a, &b| distances[a].total_cmp(&distances[b]).is_eq());
    let waves: Vec<_> =
        groups.map(|group| Wave { layers: group.to_vec(), distance: -distances[group[0]] }).collect();
    if waves.is_empty() { Vec::new() } else { vec![vec![Step { waves, name: String::new() }]] }
}

fn mm(metres: f64) -> String {
    crate::optics::Length::metres(metres).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_farthest_layer_goes_first_and_the_last_step_ends_on_the_hologram() {
        let chains = stepwise(&[2e-3, 6e-3, 4e-3, 6e-3]);
        assert_eq!(chains.len(), 1);
        let steps: Vec<_> = chains[0]
            .iter()
            .map(|s| (s.waves[0].layers.clone(), (s.waves[0].distance * 1e6).round()))
            .collect();
        assert_eq!(steps, [(vec![1, 3], -2000.0), (vec![2], -2000.0), (vec![0], -2000.0)]);
        assert_eq!(chains[0][2].name, "from 2mm to the hologram");
    }

    #[test]
    fn fused_layers_go_to_the_hologram_one_by_one_those_of_one_depth_together() {
        let chains = fused(&[2e-3, -1e-3, 2e-3, 0.0]);
        assert!(chains.len() == 1 && chains[0].len() == 1);
        let waves: Vec<_> = chains[0][0].waves.iter().map(|w| (w.layers.clone(), w.distance)).collect();
        assert_eq!(waves, [(vec![0, 2], -2e-3), (vec![3], 0.0), (vec![1], 1e-3)]);
        assert!(fused(&[]).is_empty());
    }

    #[test]
    fn each_side_of_the_hologram_is_a_chain_of_its_own() {
        let chains = stepwise(&[-1e-3, 3e-3, 0.0, -2e-3]);
        let layers: Vec<Vec<_>> =
            chains.iter().map(|c| c.iter().map(|s| s.waves[0].layers.clone()).collect()).collect();
        assert_eq!(layers, [vec![vec![1], vec![2]], vec![vec![3], vec![0]]]);
        let sum = |chain: &[Step]| chain.iter().map(|s| s.waves[0].distance).sum::<f64>();
        assert!(sum(&chains[0]) < 0.0 && (sum(&chains[1]) - 2e-3).abs() < 1e-12);
        assert_eq!(stepwise(&[0.0, -1e-3])[0].last().unwrap().waves[0].layers, [0]);
    }
}
