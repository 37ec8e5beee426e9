//! Encoded holograms: each encoding in each container against the definition, and read back.

mod common;

use std::path::Path;

use common::{Plane, element_error, read_plane};
use gigafringe::engine::{Cancel, Event, EventSink, Preview};
use gigafringe::methods::Optics;
use gigafringe::optics::{Encoding, LayerSource, Length};
use gigafringe::project::{Layer, Precision, Project};
use gigafringe::run::{Kept, Propagation, RunReport, Settings, preview_path, propagate, run_project};
use gigafringe::storage::{Container, PlaneHeader, open_layer, save_gray_png};
use num_complex::Complex64;

/// Oblong and odd, the width no multiple of 4.
const WIDTH: usize = 61;
const HEIGHT: usize = 37;

fn project(folder: &Path, precision: &str) -> Project {
    let pixels: Vec<u8> = (0..30 * 40).map(|i| u8::try_from(i * i * 13 % 256).unwrap()).collect();
    let image = folder.join("layer.png");
    if !image.exists() {
        save_gray_png(&image, 40, 30, &pixels, false).unwrap();
    }
    serde_json::from_value(serde_json::json!({
        "grid": { "width": WIDTH, "height": HEIGHT, "pitch_x": "2um", "pitch_y": "3um" },
        "wavelength": "532nm",
        "layers": [
            { "image": image, "distance": "1mm", "values": "amplitude" },
            { "image": image, "distance": "-0.4mm", "phase": "quadratic" },
            { "image": image, "distance": "2mm" },
        ],
        "precision": precision,
        "memory": "64MiB",
        "method": "implicit",
        "chunk": 8,
        "output": { "path": folder.join("complex.npy"), "previews": false },
    }))
    .unwrap()
}

fn run(project: &Project, threads: usize) -> (RunReport, Vec<Event>) {
    let (sink, events) = EventSink::channel(|| {});
    let settings = Settings { threads, ..Settings::from(project) };
    let report = run_project(project, &settings, &sink, &Cancel::default()).unwrap();
    drop(sink);
    (report, events.iter().collect())
}

/// The mean of |u|² over the plane, summed over the layers, sample by sample.
fn mean_square(project: &Project) -> f64 {
    let mean = |(layer, key): (&Layer, u32)| {
        let image = open_layer(&layer.image, 1 << 20).unwrap();
        let source = LayerSource::new(image, layer.values, layer.phase, &project.grid, 0, key);
        let mut plane = vec![Complex64::default(); HEIGHT * WIDTH];
        plane.chunks_mut(WIDTH).enumerate().for_each(|(y, line)| source.add_line(y, 0, line));
        plane.iter().map(Complex64::norm_sqr).sum::<f64>() / plane.len() as f64
    };
    project.layers.iter().zip(0..).map(mean).sum()
}

/// The lines of an encoded hologram, without what pads them.
fn lines(path: &Path, encoding: Encoding) -> Vec<u8> {
    let header = PlaneHeader::read(path, Some(encoding)).unwrap();
    assert_eq!((header.height, header.width), (HEIGHT, WIDTH));
    if header.is_packed() {
        return image::open(path).unwrap().into_luma8().into_raw();
    }
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(bytes.len() as u64, header.file_bytes(), "nothing behind the lines");
    let data = &bytes[usize::try_from(header.data_offset).unwrap()..];
    let width = WIDTH * header.element.bytes();
    let line = |line: &[u8]| {
        assert!(line[width..].iter().all(|&b| b == 0), "lines are padded with zeros");
        line[..width].to_vec()
    };
    data.chunks(header.line_bytes).flat_map(line).collect()
}

/// Checks an encoded sample against its definition in double precision.
fn check(encoding: Encoding, u: Complex64, full_scale: f64, bytes: &[u8]) {
    // How near a half a value may lie to be rounded the other way: the rounding of a single sample.
    let level = |exact: f64| {
        let distance = (f64::from(bytes[0]) - exact).abs();
        let distance = distance.min(256.0 - distance);
        assert!(distance <= 0.5 + 1e-3, "{encoding} of {u}: {} for {exact}", bytes[0]);
    };
    let single = |exact: f64| {
        let got = f64::from(f32::from_le_bytes(bytes.try_into().unwrap()));
        assert!((got - exact).abs() <= 2e-7 * exact, "{encoding} of {u}: {got} for {exact}");
    };
    match encoding {
        Encoding::Complex => unreachable!(),
        Encoding::Phase8 => level(u.arg().rem_euclid(std::f64::consts::TAU) / std::f64::consts::TAU * 256.0),
        Encoding::Amplitude8 => level((u.norm() / full_scale * 255.0).min(255.0)),
        Encoding::Amplitude => single(u.norm()),
        Encoding::Intensity => single(u.norm_sqr()),
    }
}

#[test]
fn each_encoding_in_each_container_is_what_its_definition_says() {
    for precision in ["f32", "f64"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut project = project(path, precision);
        run(&project, 1);
        let plane = read_plane(&project.output.path);
        for encoding in Encoding::ALL.into_iter().skip(1) {
            project.output.encoding = encoding;
            for ending in Container::endings(encoding) {
                project.output.path = path.join(format!("{encoding}.{ending}"));
                let (report, events) = run(&project, 2);
                let job = &report.jobs[0];
                let full_scale = job.full_scale.unwrap_or(1.0);
                let bytes = lines(&project.output.path, encoding);
                let size = encoding.sample_bytes(0);
                assert_eq!(bytes.len(), HEIGHT * WIDTH * size);
                for (u, bytes) in plane.samples.iter().zip(bytes.chunks(size)) {
                    check(encoding, *u, full_scale, bytes);
                }
                if encoding == Encoding::Amplitude8 {
                    let expected = 4.0 * mean_square(&project).sqrt();
                    assert!((full_scale - expected).abs() < 1e-6 * expected, "{full_scale} {expected}");
                } else {
                    assert_eq!((job.full_scale, job.clipped), (None, None));
                }
                assert!(!events.iter().any(|e| matches!(e, Event::Note { text } if text.contains("255"))));

                // The same bytes, however the work is cut.
                let whole = std::fs::read(&project.output.path).unwrap();
                for (chunk, drives, threads) in [(None, 0, 1), (Some(16), 2, 3), (Some(11), 4, 2)] {
                    let mut other = project.clone();
                    other.chunk = chunk;
                    other.drives = common::drives(path, drives);
                    other.output.path = path.join(format!("other.{ending}"));
                    run(&other, threads);
                    assert!(
                        std::fs::read(&other.output.path).unwrap() == whole,
                        "{encoding} .{ending} {chunk:?}"
                    );
                    std::fs::remove_file(&other.output.path).unwrap();
                }
            }
        }
        let left = std::fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
        assert!(!left.into_iter().any(|name| name.starts_with('.') || name.contains("scratch")));
    }
}

#[test]
fn what_is_brighter_than_a_given_full_scale_is_counted_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut project = project(folder.path(), "f64");
    run(&project, 1);
    let plane = read_plane(&project.output.path);
    project.output.encoding = Encoding::Amplitude8;
    project.output.full_scale = Some(0.7);
    project.output.path = folder.path().join("amplitude8.bmp");
    let (report, events) = run(&project, 2);
    let beyond = plane.samples.iter().filter(|u| u.norm() > 0.7).count();
    assert!(beyond > 0 && beyond < plane.samples.len());
    let job = &report.jobs[0];
    assert_eq!(job.full_scale, Some(0.7));
    let share = beyond as f64 / plane.samples.len() as f64;
    assert!((job.clipped.unwrap() - share).abs() < 1e-12);
    let said = format!("{beyond} samples");
    assert!(events.iter().any(|e| matches!(e, Event::Note { text } if text.starts_with(&said))));
    let bytes = lines(&project.output.path, Encoding::Amplitude8);
    plane.samples.iter().zip(&bytes).for_each(|(u, b)| check(Encoding::Amplitude8, *u, 0.7, &[*b]));
}

/// What an encoded sample stands for.
fn decoded(encoding: Encoding, full_scale: f64, bytes: &[u8]) -> Complex64 {
    let single = || f64::from(f32::from_le_bytes(bytes.try_into().unwrap()));
    match encoding {
        Encoding::Complex => unreachable!(),
        Encoding::Phase8 => Complex64::cis(std::f64::consts::TAU * f64::from(bytes[0]) / 256.0),
        Encoding::Amplitude8 => (f64::from(bytes[0]) / 255.0 * full_scale).into(),
        Encoding::Amplitude => single().into(),
        Encoding::Intensity => single().sqrt().into(),
    }
}

#[test]
fn an_encoded_hologram_is_reconstructed_from_what_its_samples_stand_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut project = project(path, "f64");
    project.output.previews = true;
    let pitch = [project.grid.pitch_y, project.grid.pitch_x];
    for encoding in Encoding::ALL.into_iter().skip(1) {
        project.output.encoding = encoding;
        for ending in Container::endings(encoding) {
            project.output.path = path.join(format!("{encoding}-{ending}.{ending}"));
            let (report, events) = run(&project, 2);
            let full_scale = report.jobs[0].full_scale.unwrap_or(1.0);
            let bytes = lines(&project.output.path, encoding);
            let size = encoding.sample_bytes(0);
            let plane = Plane::from_fn(HEIGHT, WIDTH, |y, x| {
                decoded(encoding, full_scale, &bytes[(y * WIDTH + x) * size..][..size])
            });
            let target = path.join("back.npy");
            let propagation = Propagation {
                source: project.output.path.clone(),
                encoding: Some(encoding),
                full_scale,
                target: target.clone(),
                result: Kept::Plane,
                pitch,
                optics: Optics::from(&project),
                distance: Length::metres(1e-3),
                name: String::new(),
            };
            let (sink, _events) = EventSink::channel(|| {});
            propagate(&propagation, &Settings::from(&project), (0, 1), &sink, &Cancel::default()).unwrap();
            let got = read_plane(&target);
            std::fs::remove_file(target).unwrap();
            let optics = Optics::from(&project);
            let metres = pitch.map(Length::in_metres);
            let expected = common::propagate_plane(&plane, metres, optics, 1e-3, Precision::F64);
            let error = element_error(&got, &expected);
            // A full scale is known to single precision.
            assert!(error < 1e-7, "{encoding} .{ending}: {error:e}");

            // And so is the preview of the layer at that depth, 1 : 1 here.
            assert!(preview_path(&project.output.path, 0).is_file());
            let preview: &Preview = events
                .iter()
                .find_map(|e| match e {
                    Event::Preview { layer: 0, preview } => preview.as_deref(),
                    _ => None,
                })
                .unwrap();
            for (mean, u) in preview.mean.iter().zip(&expected.samples) {
                assert!((f64::from(*mean) - u.norm_sqr()).abs() < 1e-6 * (1.0 + u.norm_sqr()));
            }
        }
    }
}
