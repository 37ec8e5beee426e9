//! Target 2: a hologram of three layers, on the drive as it is and on four emulated ones.

use std::path::{Path, PathBuf};

use super::Speed;
use super::bench::{Bench, Stage, Tune};
use super::inputs::Input;
use super::runs::Entry;
use crate::optics::{Bytes, Encoding, Grid, Length};
use crate::project::{Drive, Layer, Layering, Method, Output, Precision, Project, Role};
use crate::run::RunError;
use crate::storage::{Rates, ScratchPrecision};

/// Depths of the layers in metres.
const DEPTHS: [f64; 3] = [0.25e-3, 0.5e-3, 0.75e-3];
/// The largest image's side.
const IMAGE: usize = 4096;

/// The hologram on the folder's drive, and on four emulated drives.
pub fn stages(bench: &Bench<'_>, speed: &Speed) -> Result<Vec<Stage>, RunError> {
    if !speed.has(2) {
        return Ok(Vec::new());
    }
    let real = Shape {
        size: speed.size,
        memory: speed.memory,
        drives: Vec::new(),
        output: bench.folder().join("hologram.tif"),
        encoding: Encoding::Phase8,
        images: images(bench.folder(), "image", speed.size),
        emulated: None,
    };
    let size = speed.size / if speed.quick { 4 } else { 1 };
    let mut drives = Vec::new();
    for role in Role::ALL {
        drives.push(Drive { path: bench.sub_folder(&format!("drive-{role}"))?, role });
    }
    let emulated = Shape {
        size,
        memory: speed.memory_for(size),
        // Where the last step's result goes.
        output: drives[1].path.join("hologram.tif"),
        encoding: Encoding::Phase8,
        drives,
        images: images(bench.folder(), "small-image", size),
        emulated: Some(Rates::SATA),
    };
    let what = |shape: &Shape| {
        format!(
            "{0} × {0} samples, 0.5 µm, 660 nm, images of {1} × {1} at 0.25, 0.5, 0.75 mm, 8-bit phase, {2}",
            shape.size, shape.images[0].size, shape.memory
        )
    };
    Ok(vec![
        Stage {
            name: "hologram",
            what: what(&real),
            rounds: speed.rounds(),
            tune: Tune::Baseline,
            notes: vec!["implicit's number of buffers was tried out before, 2 to 4".into()],
            ..real.stage(&[None, Some(ScratchPrecision::B16)], &[])
        },
        Stage {
            name: "hologram, four emulated SATA drives",
            what: what(&emulated),
            rounds: speed.slow_rounds(),
            notes: vec![
                "50 MB/s a drive, half duplex; implicit with the buffers that were best for the hologram before"
                    .into(),
            ],
            ..emulated.stage(&[None, Some(ScratchPrecision::B16)], &[Method::Streamed, Method::Blocks])
        },
    ])
}

/// `implicit` against `zero-padded` with roles, both step by step, on emulated `drives` of `rates`; its planes
/// are compared.
pub fn against_zero_padded(
    bench: &Bench<'_>,
    drives: &[Drive],
    preset: &str,
    rates: Rates,
    size: usize,
    memory: Bytes,
) -> Stage {
    let shape = Shape {
        size,
        memory,
        output: drives[1.min(drives.len() - 1)].path.join("hologram.npy"),
        encoding: Encoding::Complex,
        drives: drives.into(),
        images: images(bench.folder(), "image", size),
        emulated: Some(rates),
    };
    let entry = |method, name: &str| Entry {
        name: name.into(),
        ..Entry::hologram(shape.project(method, Layering::Stepwise, None), shape.emulated)
    };
    Stage {
        what: format!(
            "{size} × {size} samples, f32, 0.5 µm, 660 nm, three layers step by step, {memory}, emulated {preset} \
             drives of {rates} ({})",
            rates.duplex
        ),
        baseline: Some(entry(Method::Implicit, "implicit, 4 drives")),
        entries: vec![entry(Method::ZeroPadded, "zero-padded multi")],
        verify: true,
        timelines: false,
        ..shape.stage(&[], &[])
    }
}

fn images(folder: &Path, name: &str, size: usize) -> Vec<Input> {
    let side = (size / 4).min(IMAGE);
    let image = |i: u64| Input::image(folder.join(format!("{name}{i}.png")), side, 10 + i);
    (1..=DEPTHS.len() as u64).map(image).collect()
}

/// What is computed, and where.
struct Shape {
    size: usize,
    memory: Bytes,
    drives: Vec<Drive>,
    output: PathBuf,
    encoding: Encoding,
    images: Vec<Input>,
    emulated: Option<Rates>,
}

impl Shape {
    fn project(&self, method: Method, layering: Layering, scratch: Option<ScratchPrecision>) -> Project {
        let layer = |(image, depth): (&Input, f64)| Layer::new(&image.path, Length::metres(depth));
        let pitch = Length::metres(0.5e-6);
        Project {
            grid: Grid { width: self.size, height: self.size, pitch_x: pitch, pitch_y: pitch },
            wavelength: Length::metres(660e-9),
            layers: self.images.iter().zip(DEPTHS).map(layer).collect(),
            layering,
            method,
            precision: Precision::F32,
            evanescent: crate::optics::Evanescent::default(),
            band_limit: false,
            rolloff: None,
            tolerance: None,
            streams: None,
            at_once: None,
            scratch_precision: scratch,
            seed: 0,
            memory: self.memory,
            chunk: None,
            buffers: Project::DEFAULT_BUFFERS,
            drives: self.drives.clone(),
            output: Output {
                path: self.output.clone(),
                encoding: self.encoding,
                full_scale: None,
                previews: false,
            },
        }
    }

    /// Stepwise `implicit` against fused `padded` with each of `scratches`, `auto`, and `more` with b16.
    fn stage(&self, scratches: &[Option<ScratchPrecision>], more: &[Method]) -> Stage {
        let entry = |method, layering, scratch| {
            Entry::hologram(self.project(method, layering, scratch), self.emulated)
        };
        let fused = |method, scratch| entry(method, Layering::Fused, scratch);
        let mut entries: Vec<_> = scratches.iter().map(|&s| fused(Method::Padded, s)).collect();
        entries.push(fused(Method::Auto, None));
        entries.extend(more.iter().map(|&method| fused(method, Some(ScratchPrecision::B16))));
        Stage {
            name: "hologram",
            what: String::new(),
            size: self.size,
            memory: self.memory,
            rounds: 1,
            inputs: self.images.clone(),
            baseline: Some(entry(Method::Implicit, Layering::Stepwise, None)),
            entries,
            parts: false,
            planes: false,
            tune: Tune::None,
            verify: false,
            timelines: false,
            emulated: self.emulated,
            scipy: None,
            notes: Vec::new(),
        }
    }
}
