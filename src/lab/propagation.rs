//! Targets 1 and 3: one plane, propagated by every method.

use super::Speed;
use super::bench::{Bench, Stage, Tune};
use super::inputs::Input;
use super::runs::Entry;
use crate::methods::Optics;
use crate::optics::{Bytes, Evanescent, Length};
use crate::project::{Method, Precision, Project};
use crate::run::{Kept, Propagation, Settings};
use crate::storage::ScratchPrecision;

/// The largest plane that is compared sample by sample.
const COMPARED: usize = 4096;
/// The least memory for that, in bytes.
const COMPARED_MEMORY: u64 = 512 << 20;

/// The paper's optics (Lee & Kim 2023): 5 µm, 660 nm, −90 mm.
pub fn propagation(bench: &Bench<'_>) -> Propagation {
    Propagation {
        source: bench.folder().join("plane.npy"),
        encoding: None,
        full_scale: 1.0,
        target: bench.folder().join("result.npy"),
        result: Kept::Plane,
        pitch: [Length::metres(PITCH); 2],
        optics: Optics {
            wavelength: WAVELENGTH,
            evanescent: Evanescent::Decay,
            band_limit: false,
            rolloff: 0.0,
        },
        distance: Length::metres(DISTANCE),
        name: "propagation".into(),
    }
}

/// Metres.
pub const PITCH: f64 = 5e-6;
/// Metres.
pub const WAVELENGTH: f64 = 660e-9;
/// Metres.
pub const DISTANCE: f64 = -90e-3;

/// Settings of a job in f32 on one drive.
pub fn settings(bench: &Bench<'_>, memory: Bytes) -> Settings {
    Settings {
        method: Method::Implicit,
        precision: Precision::F32,
        streams: None,
        at_once: None,
        scratch_precision: None,
        drives: Vec::new(),
        striped: false,
        memory,
        chunk: None,
        buffers: Project::DEFAULT_BUFFERS,
        threads: bench.threads,
        tolerance: None,
        bypass: None,
        serial: false,
        measuring: None,
        force: false,
        emulation: None,
    }
}

/// The plane timed, and a smaller one compared.
pub fn stages(bench: &Bench<'_>, speed: &Speed) -> Vec<Stage> {
    let mut stages = Vec::new();
    if !speed.has(1) && !speed.has(3) && !speed.has(5) {
        return stages;
    }
    let (baseline, entries) = entries(bench, speed.memory);
    let timed = Stage {
        name: "propagation",
        what: format!("{0} × {0} random samples, 5 µm, 660 nm, −90 mm, {1}", speed.size, speed.memory),
        size: speed.size,
        memory: speed.memory,
        rounds: speed.rounds(),
        inputs: vec![Input::plane(propagation(bench).source, speed.size)],
        baseline: Some(baseline),
        entries,
        parts: speed.has(3),
        planes: false,
        tune: Tune::Baseline,
        verify: false,
        timelines: false,
        emulated: None,
        scipy: None,
        notes: vec![
            "each method with its own roll-off: implicit 0, the others 0.02".into(),
            "implicit has the number of buffers of 2, 3, 4 that was fastest in a run before; the others 2"
                .into(),
        ],
    };
    let size = speed.size.min(COMPARED);
    // Enough for every method: it is not timed.
    let memory = Bytes(speed.memory.0.max(COMPARED_MEMORY));
    let (mut reference, entries) = self::entries(bench, memory);
    if let super::runs::Work::Propagation(propagation) = &mut reference.work {
        propagation.optics.rolloff = Method::Auto.rolloff();
    }
    let compared = Stage {
        name: "agreement",
        what: format!("{size} × {size} random samples, every method's plane against implicit's, {memory}"),
        size,
        memory,
        rounds: 1,
        inputs: vec![Input::plane(propagation(bench).source, size)],
        baseline: Some(reference),
        entries,
        parts: false,
        planes: true,
        tune: Tune::None,
        verify: false,
        timelines: false,
        emulated: None,
        scipy: None,
        notes: vec!["implicit with the others' roll-off of 0.02; 256 rows are compared".into()],
    };
    stages.push(timed);
    if speed.has(1) {
        stages.push(compared);
    }
    stages
}

/// `implicit`, and all that is compared with it.
fn entries(bench: &Bench<'_>, memory: Bytes) -> (Entry, Vec<Entry>) {
    let entry =
        |(method, scratch)| Entry::propagation(propagation(bench), settings(bench, memory), method, scratch);
    let others = [
        (Method::Padded, None),
        (Method::Blocks, None),
        (Method::Streamed, None),
        (Method::Padded, Some(ScratchPrecision::B16)),
        (Method::Blocks, Some(ScratchPrecision::B16)),
    ];
    (entry((Method::Implicit, None)), others.map(entry).into())
}
