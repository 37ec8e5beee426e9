//! What the tests share.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::{Path, PathBuf};

use gigafringe::engine::{Cancel, EventSink};
use gigafringe::methods::Optics;
use gigafringe::optics::{Bytes, Evanescent, Grid, Image, LayerSource, Length, Phase, Samples, Values};
use gigafringe::project::{Drive, Method, Precision, Role};
use gigafringe::run::{Kept, Propagation, Settings, propagate};
use gigafringe::storage::{Element, NpyHeader, save_gray_png};
use num_complex::Complex64;

/// One case of `tests/reference`.
pub struct Case {
    pub name: String,
    pub pitch: [f64; 2],
    pub optics: Optics,
    pub distance: f64,
}

impl Case {
    pub fn all() -> Vec<Self> {
        let mut cases: Vec<_> = std::fs::read_dir(folder())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "json"))
            .map(|path| {
                let json: serde_json::Value =
                    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
                let number = |value: &serde_json::Value| value.as_f64().unwrap();
                Self {
                    name: path.file_stem().unwrap().to_str().unwrap().into(),
                    pitch: [number(&json["pitch_yx_m"][0]), number(&json["pitch_yx_m"][1])],
                    optics: Optics {
                        wavelength: number(&json["wavelength_m"]),
                        evanescent: Evanescent::Decay,
                        band_limit: json["band_limit"].as_bool().unwrap(),
                        rolloff: number(&json["rolloff"]),
                    },
                    distance: number(&json["z_m"]),
                }
            })
            .collect();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        cases
    }

    pub fn source(&self) -> PathBuf {
        folder().join(format!("{}.in.npy", self.name))
    }

    pub fn expected(&self) -> PathBuf {
        folder().join(format!("{}.out.npy", self.name))
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference")
}

/// A plane with its shape `[y, x]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Plane {
    pub height: usize,
    pub width: usize,
    pub samples: Vec<Complex64>,
}

impl Plane {
    pub fn from_fn(height: usize, width: usize, sample: impl Fn(usize, usize) -> Complex64) -> Self {
        let samples = (0..height * width).map(|i| sample(i / width, i % width)).collect();
        Self { height, width, samples }
    }

    pub fn at(&self, y: usize, x: usize) -> Complex64 {
        self.samples[y * self.width + x]
    }
}

pub fn read_plane(path: &Path) -> Plane {
    let header = NpyHeader::read(path).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let data = &bytes[usize::try_from(header.data_offset).unwrap()..];
    assert_eq!(data.len(), header.height * header.line_bytes(), "nothing behind the samples");
    let samples = match header.element {
        Element::Complex64 => data
            .as_chunks::<8>()
            .0
            .iter()
            .map(|b| {
                let part = |i: usize| f64::from(f32::from_le_bytes(b[i..i + 4].try_into().unwrap()));
                Complex64::new(part(0), part(4))
            })
            .collect(),
        Element::Complex128 => data
            .as_chunks::<16>()
            .0
            .iter()
            .map(|b| {
                let part = |i: usize| f64::from_le_bytes(b[i..i + 8].try_into().unwrap());
                Complex64::new(part(0), part(8))
            })
            .collect(),
        other => panic!("{other:?}"),
    };
    Plane { height: header.height, width: header.width, samples }
}

pub fn write_plane(path: &Path, plane: &Plane) {
    let mut bytes = NpyHeader::new(plane.height, plane.width, Element::Complex128).encode();
    for sample in &plane.samples {
        bytes.extend_from_slice(&sample.re.to_le_bytes());
        bytes.extend_from_slice(&sample.im.to_le_bytes());
    }
    std::fs::write(path, bytes).unwrap();
}

/// Relative L2 error of `got`.
pub fn element_error(got: &Plane, expected: &Plane) -> f64 {
    assert_eq!((got.height, got.width), (expected.height, expected.width));
    let difference: f64 = got.samples.iter().zip(&expected.samples).map(|(a, b)| (a - b).norm_sqr()).sum();
    let norm: f64 = expected.samples.iter().map(Complex64::norm_sqr).sum();
    (difference / norm).sqrt()
}

/// Folders for so many drives, with their roles in order.
pub fn drives(folder: &Path, count: usize) -> Vec<Drive> {
    Role::ALL[..count]
        .iter()
        .map(|&role| {
            let path = folder.join(format!("drive {role}"));
            std::fs::create_dir_all(&path).unwrap();
            Drive { path, role }
        })
        .collect()
}

pub fn settings(drives: Vec<Drive>, precision: Precision) -> Settings {
    Settings {
        method: Method::Implicit,
        precision,
        streams: None,
        at_once: None,
        scratch_precision: None,
        drives,
        memory: Bytes(256 << 20),
        chunk: None,
        buffers: 2,
        threads: 2,
        tolerance: None,
        bypass: None,
        measuring: None,
        force: false,
        emulation: None,
        striped: false,
        serial: false,
    }
}

/// Runs a case on so many drives; nothing but the output may be left.
pub fn run(case: &Case, precision: Precision, count: usize, change: impl FnOnce(&mut Settings)) -> Plane {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings(drives(folder.path(), count), precision);
    change(&mut settings);
    propagate_file(folder.path(), &case.source(), case.pitch, case.optics, case.distance, &settings)
}

/// Propagates the plane in `source`; scratch and output go below `folder`.
pub fn propagate_file(
    folder: &Path,
    source: &Path,
    pitch: [f64; 2],
    optics: Optics,
    distance: f64,
    settings: &Settings,
) -> Plane {
    let output = folder.join("result.npy");
    let propagation = Propagation {
        encoding: None,
        full_scale: 1.0,
        source: source.into(),
        target: output.clone(),
        result: Kept::Plane,
        pitch: pitch.map(Length::metres),
        optics,
        distance: Length::metres(distance),
        name: "propagation".into(),
    };
    let (sink, _events) = EventSink::channel(|| {});
    propagate(&propagation, settings, (0, 1), &sink, &Cancel::default()).unwrap();
    for drive in &settings.drives {
        assert_eq!(std::fs::read_dir(&drive.path).unwrap().count(), 0, "scratch is gone");
    }
    let plane = read_plane(&output);
    std::fs::remove_file(output).unwrap();
    plane
}

/// Propagates a plane in memory with one drive.
pub fn propagate_plane(
    plane: &Plane,
    pitch: [f64; 2],
    optics: Optics,
    distance: f64,
    precision: Precision,
) -> Plane {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.npy");
    write_plane(&source, plane);
    let settings = settings(drives(folder.path(), 1), precision);
    propagate_file(folder.path(), &source, pitch, optics, distance, &settings)
}

/// A source that fills the band: every sample independent.
pub fn noise(height: usize, width: usize) -> Plane {
    let mut state = 23u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31) - 0.5
    };
    let samples = (0..height * width).map(|_| Complex64::new(next(), next())).collect();
    Plane { height, width, samples }
}

/// A grey image by its pixels.
pub fn image(path: &Path, width: usize, height: usize, pixel: impl Fn(usize, usize) -> u8) -> Image {
    let pixels: Vec<_> = (0..width * height).map(|i| pixel(i / width, i % width)).collect();
    save_gray_png(path, width, height, &pixels, false).unwrap();
    Image { width, height, samples: Samples::U8(pixels) }
}

/// The layer's samples in memory.
pub fn samples(image: &Image, phase: Phase, grid: &Grid, index: u32) -> Plane {
    let source = LayerSource::new(image.clone(), Values::Amplitude, phase, grid, 5, index);
    let mut plane = Plane::from_fn(grid.height, grid.width, |_, _| Complex64::default());
    for (y, line) in plane.samples.chunks_mut(grid.width).enumerate() {
        source.add_line(y, 0, line);
    }
    plane
}
