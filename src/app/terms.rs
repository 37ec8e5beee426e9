//! The window's terms, each explained in one line.
//!
//! Fields show the same lines when the pointer rests on them.

use super::fields::role_hover;
use super::sections::{layers, method, optics, output};
use crate::project::Role;

/// A term and its line.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// The term as the window has it.
    pub name: &'static str,
    /// What it means.
    pub line: &'static str,
}

const fn term(name: &'static str, line: &'static str) -> Term {
    Term { name, line }
}

/// The field of the wavelength.
pub const WAVELENGTH: Term = term("Wavelength λ", "The light's wavelength with its unit, for example 660 nm");
/// The field of the pitch.
pub const PITCH: Term = term("Pitch", "Distance of neighbouring samples with its unit, for example 5 µm");
/// The field of a layer's depth.
pub const DEPTH: Term =
    term("Depth z", "Distance of the layer from the hologram with its unit; light travels toward +z");
/// The choice of the arithmetic.
pub const PRECISION: Term = term("Precision", "The arithmetic of the samples");
/// The choice of what becomes of evanescent waves.
pub const EVANESCENT: Term =
    term("Evanescent", "What becomes of frequencies beyond 1/λ, which do not travel");
/// The field of the roll-off.
pub const ROLLOFF: Term = term(
    "Roll-off",
    "Fraction of each axis's band over which the transfer function falls to zero, 0 to 1. Empty: the method's \
     own, 0.02 for automatic and all fast methods, which need it to be exact with less padding; 0 for implicit",
);
/// The tick of the band limit.
pub const BAND_LIMIT: Term = term(
    "Band limit",
    "Remove frequencies that the padded window cannot carry (Matsushima & Shimobaba 2009)",
);
/// The field of the seed.
pub const SEED: Term = term("Seed", "Key of the random phases: the same seed gives the same hologram");
/// The choice of the method.
pub const METHOD: Term = term("Method", "How planes are propagated between depths");
/// The choice of the layering.
pub const LAYERING: Term = term("Layering", "How several layers become one hologram");
/// The field of the memory.
pub const MEMORY: Term = term("Memory", "Bound on all buffers with its unit, for example 2 GiB");
/// The field of the chunk.
pub const CHUNK: Term = term("Chunk", "Lines handled at once; leave it empty to fill the memory");
/// The field of the buffers.
pub const BUFFERS: Term =
    term("Buffers", "Chunks a stage may hold ahead, so that drives and processor need not wait");
/// The choice of the scratch's precision.
pub const SCRATCH_KEEPS: Term = term("Scratch keeps", "How scratch files keep samples between passes");
/// The field of the tolerance.
pub const TOLERANCE: Term = term(
    "Tolerance",
    "The relative error that a reduced padding may add, for example 1e-6; empty: below the arithmetic's own",
);
/// The field of the streams.
pub const STREAMS: Term = term(
    "Streams",
    "Parts that a row's spectrum is split into, each a file of its own; empty: the method's own number",
);
/// The field of the streams at once.
pub const AT_ONCE: Term = term(
    "At once",
    "Streams of `padded` that are worked on together; the others wait, which needs less scratch and more time. \
     Empty: the method's own number",
);
/// The choice of the encoding.
pub const ENCODING: Term = term("Encoding", "What is stored for each sample of the hologram");
/// The field of the full scale.
pub const FULL_SCALE: Term = term(
    "Full scale",
    "The amplitude that is stored as 255, where a layer's white has 1; empty: four times the layers' root mean \
     square",
);

impl Term {
    /// The term with its line, as a field's row takes them.
    #[must_use]
    pub const fn words(self) -> (&'static str, &'static str) {
        (self.name, self.line)
    }
}

const OPTICS: [Term; 19] = [
    term("Hologram", "The plane at z = 0 that all layers are propagated to, stored by its encoding"),
    term("Layer", "An image with an initial phase, at a depth of its own"),
    term("Plane", "A complex wave field of width × height samples"),
    DEPTH,
    WAVELENGTH,
    PITCH,
    term("Grid", "The hologram's samples: how many along x and y, and their pitch"),
    term("Amplitude", "The size |u| of the field at a sample"),
    term("Intensity", "The amplitude squared, |u|²: what the eye and a camera see"),
    term("Phase", "Where in its period the wave is at a sample, as an angle"),
    term("Propagation", "One diffraction of a plane over a signed distance"),
    term("Band", "The spatial frequencies that a pitch can hold: up to 1 / (2 × pitch) along each axis"),
    ROLLOFF,
    BAND_LIMIT,
    EVANESCENT,
    term("Reach", "How far light of the band walks off sideways over a distance, in samples"),
    term("Reconstruction", "The hologram propagated back to a layer's depth: what would be seen there"),
    term("Preview", "A reduced picture of a reconstruction's intensity, several samples a pixel"),
    SEED,
];

const COMPUTING: [Term; 21] = [
    METHOD,
    LAYERING,
    term("Padding", "Zeros around a plane, so that light leaving on one side does not come in on the other"),
    term("Pass", "One sweep over a plane, chunk by chunk: read, compute, write"),
    term(
        "Phase 1",
        "The pass over rows: reads the source, transforms each row, writes its spectrum's streams",
    ),
    term("Phase 2", "The pass over columns: transforms, applies the propagation, and transforms back"),
    term("Phase 3", "The pass over rows: transforms the streams back and writes the result"),
    term("Line", "A row in phases 1 and 3, a column in phase 2; what one transform is made of"),
    STREAMS,
    AT_ONCE,
    CHUNK,
    BUFFERS,
    MEMORY,
    PRECISION,
    term(
        "b16",
        "Two 16-bit integers a sample with a scale for every 128 samples; a way scratch may keep samples",
    ),
    TOLERANCE,
    term("Error at most", "Bound on the hologram's relative error, for light that fills the plane"),
    term("Plan", "The passes of a job by one method, with the bytes, memory and time they take"),
    term("Predicted time", "What the planner expects a plan to take, by measured or by usual figures"),
    ENCODING,
    FULL_SCALE,
];

const DRIVES: [Term; 10] = [
    term("Drive", "A physical device with a folder on it that scratch files may use"),
    term("Role A", role_hover(Role::A)),
    term("Role B", role_hover(Role::B)),
    term("Role C", role_hover(Role::C)),
    term("Role D", role_hover(Role::D)),
    term("Scratch", "A run's intermediate files, removed at its end"),
    SCRATCH_KEEPS,
    term("Half duplex", "A drive that reads or writes at one time, as SATA drives do"),
    term(
        "Full duplex",
        "A drive that reads and writes at the same time at full rate, as NVMe drives nearly do",
    ),
    term("Direct I/O", "Reading and writing past the system's cache, so that the drive itself is waited for"),
];

/// All terms under their headings.
#[must_use]
pub fn all() -> Vec<(&'static str, Vec<Term>)> {
    vec![
        ("Light and hologram", OPTICS.into()),
        ("Computing", COMPUTING.into()),
        ("Drives", DRIVES.into()),
        ("Methods", of(&method::METHODS)),
        ("Layering", of(&method::LAYERINGS)),
        ("Precision", of(&optics::PRECISIONS)),
        ("Scratch keeps", of(&method::SCRATCH)),
        ("Evanescent", of(&optics::EVANESCENT)),
        ("Values of a layer", of(&layers::VALUES)),
        ("Phase of a layer", of(&layers::PHASES)),
        ("Encodings", of(&output::ENCODINGS)),
    ]
}

/// A choice's options as terms.
fn of<T>(options: &[(T, &'static str, &'static str)]) -> Vec<Term> {
    options.iter().map(|(_, name, line)| term(name, line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_has_one_line_and_is_listed_once_under_its_heading() {
        let mut count = 0;
        for (heading, terms) in all() {
            let mut seen = Vec::new();
            for Term { name, line } in terms {
                count += 1;
                assert!(!seen.contains(&name), "{heading}: {name} is listed twice");
                assert!(line.len() > 10 && !line.ends_with('.') && !line.contains('\n'), "{name}: {line}");
                seen.push(name);
            }
        }
        assert!(count > 60, "{count}");
    }

    #[test]
    fn what_the_window_speaks_of_is_explained() {
        let names: Vec<_> =
            all().into_iter().flat_map(|group| group.1).map(|t| t.name.to_lowercase()).collect();
        for wanted in [
            "hologram",
            "layer",
            "depth z",
            "wavelength",
            "pitch",
            "grid",
            "band",
            "roll-off",
            "band limit",
            "evanescent",
            "reach",
            "padding",
            "streams",
            "phase 1",
            "phase 2",
            "phase 3",
            "pass",
            "chunk",
            "buffers",
            "role a",
            "role d",
            "scratch",
            "drive",
            "half duplex",
            "full duplex",
            "implicit",
            "padded",
            "streamed",
            "blocks",
            "in-core",
            "zero-padded",
            "stepwise",
            "fused",
            "precision",
            "b16",
            "tolerance",
            "amplitude",
            "intensity",
            "complex",
            "phase, 8 bit",
            "amplitude, 8 bit",
            "preview",
            "seed",
        ] {
            assert!(names.iter().any(|name| name.starts_with(wanted)), "{wanted} is missing");
        }
    }
}
