//! Layered holograms: from a project to its files.

mod common;

use std::path::Path;

use common::{Plane, element_error, image, propagate_plane, read_plane, samples};
use gigafringe::engine::{Cancel, Event, EventSink, Preview};
use gigafringe::methods::Optics;
use gigafringe::optics::{Length, Phase};
use gigafringe::project::{Drive, Precision, Project, Role};
use gigafringe::run::{Settings, preview_path, run_project};

fn project(folder: &Path, width: usize, height: usize, layers: &[(&str, &str, &str)]) -> Project {
    let layers: Vec<_> = layers
        .iter()
        .map(|(image, distance, phase)| {
            serde_json::json!({
                "image": folder.join(image), "distance": distance, "values": "amplitude", "phase": phase
            })
        })
        .collect();
    serde_json::from_value(serde_json::json!({
        "grid": { "width": width, "height": height, "pitch_x": "2um", "pitch_y": "3um" },
        "wavelength": "532nm",
        "layers": layers,
        "precision": "f64",
        "memory": "64MiB",
        "method": "implicit",
        "seed": 5,
        "output": { "path": folder.join("hologram.npy") },
    }))
    .unwrap()
}

fn run(project: &Project) -> Vec<Event> {
    let (sink, events) = EventSink::channel(|| {});
    run_project(project, &Settings::from(project), &sink, &Cancel::default()).unwrap();
    drop(sink);
    events.iter().collect()
}

fn sum(a: &Plane, b: &Plane) -> Plane {
    Plane::from_fn(a.height, a.width, |y, x| a.at(y, x) + b.at(y, x))
}

#[test]
fn a_hologram_is_its_layers_moved_step_by_step_to_the_hologram_plane() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let (width, height) = (50, 37);
    let images = [
        image(&path.join("a.png"), width, height, |y, x| u8::try_from((y * x) % 251).unwrap()),
        image(&path.join("b.png"), 20, 20, |y, x| u8::try_from(12 * (y + x) % 256).unwrap()),
        image(&path.join("c.png"), width, height, |y, x| if y > 9 && x < 30 { 200 } else { 0 }),
    ];
    let phases = [Phase::Random, Phase::Quadratic, Phase::Uniform];
    let names = ["random", "quadratic", "uniform"];
    // The order in the file is not the order in depth; the second set lies on both sides of the
    // hologram; the third has two layers at one depth and one on the hologram itself.
    for depths in [["1mm", "3mm", "2mm"], ["1mm", "-2mm", "0.5mm"], ["2mm", "2mm", "0mm"]] {
        let layers: Vec<_> = ["a.png", "b.png", "c.png"]
            .into_iter()
            .zip(depths)
            .zip(names)
            .map(|((i, d), p)| (i, d, p))
            .collect();
        let mut project = project(path, width, height, &layers);
        project.output.previews = false;
        let optics = Optics::from(&project);
        let pitch = [project.grid.pitch_y, project.grid.pitch_x].map(Length::in_metres);
        let go = |p: &Plane, z: f64| propagate_plane(p, pitch, optics, z, Precision::F64);
        let planes: Vec<_> = (0..3)
            .map(|i| samples(&images[i], phases[i], &project.grid, u32::try_from(i).unwrap()))
            .collect();
        let expected = match depths[1] {
            "3mm" => go(&sum(&planes[0], &go(&sum(&planes[2], &go(&planes[1], -1e-3)), -1e-3)), -1e-3),
            "-2mm" => {
                let front = go(&sum(&planes[2], &go(&planes[0], -0.5e-3)), -0.5e-3);
                sum(&front, &go(&planes[1], 2e-3))
            }
            _ => sum(&go(&sum(&planes[0], &planes[1]), -2e-3), &planes[2]),
        };
        for drives in 0..=4 {
            project.drives = common::drives(path, drives);
            project.chunk = [None, Some(5), Some(8), Some(16), Some(37)][drives];
            run(&project);
            let got = read_plane(&project.output.path);
            let error = element_error(&got, &expected);
            println!("{depths:?} {drives} drives: {error:e}");
            assert!(error < 1e-12, "{depths:?} on {drives} drives: {error:e}");
            std::fs::remove_file(&project.output.path).unwrap();
            for drive in &project.drives {
                assert_eq!(std::fs::read_dir(&drive.path).unwrap().count(), 0, "scratch is gone");
            }
        }
    }
}

#[test]
fn two_points_come_to_focus_each_at_its_own_depth_and_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    // Far enough from the edges that no light leaves the window on its way.
    let (width, height) = (260, 240);
    let points = [(110, 150), (130, 100)];
    for (i, &(py, px)) in points.iter().enumerate() {
        image(&path.join(format!("{i}.png")), width, height, |y, x| if (y, x) == (py, px) { 255 } else { 0 });
    }
    let mut project =
        project(path, width, height, &[("0.png", "0.6mm", "uniform"), ("1.png", "1.1mm", "random")]);
    // Square, so that a pixel of the image is a sample of the plane.
    project.grid.pitch_y = project.grid.pitch_x;
    let events = run(&project);
    let previews: Vec<(usize, &Preview)> = events
        .iter()
        .filter_map(|e| match e {
            Event::Preview { layer, preview } => Some((*layer, &**preview.as_ref().unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(previews.iter().map(|p| p.0).collect::<Vec<_>>(), [0, 1]);
    for (layer, preview) in previews {
        assert_eq!((preview.width, preview.height, preview.scale), (width, height, 1));
        assert!((preview.distance - [0.6e-3, 1.1e-3][layer]).abs() < 1e-12);
        let brightest =
            (0..width * height).max_by(|&a, &b| preview.mean[a].total_cmp(&preview.mean[b])).unwrap();
        assert_eq!((brightest / width, brightest % width), points[layer], "layer {layer} in its place");
        let (own, other) = (points[layer], points[1 - layer]);
        let at = |(y, x): (usize, usize)| preview.mean[y * width + x];
        // In focus: hardly less than the layer's own 1. Out of focus: spread over many samples.
        assert!(at(own) > 0.9, "{}", at(own));
        assert!(at(other) < 0.02 * at(own), "{} beside {}", at(other), at(own));
    }
    assert!(matches!(events.last(), Some(Event::Finished { .. })));
    for layer in 0..2 {
        assert!(preview_path(&project.output.path, layer).is_file());
    }
}

#[test]
fn a_cancelled_run_says_so_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    image(&path.join("a.png"), 64, 64, |y, x| u8::try_from(y + x).unwrap());
    let mut project = project(path, 1024, 1024, &[("a.png", "1mm", "random"), ("a.png", "2mm", "random")]);
    let drive = path.join("drive");
    std::fs::create_dir(&drive).unwrap();
    project.drives = vec![Drive { path: drive.clone(), role: Role::A }];
    let handle = gigafringe::run::start(&project, false, || {}).unwrap();
    let mut last = None;
    for event in &handle.events {
        if matches!(event, Event::PassStarted { pass: 1, .. }) {
            handle.cancel.cancel();
        }
        last = Some(event);
    }
    assert!(matches!(last, Some(Event::Cancelled { .. })), "{last:?}");
    handle.join();
    assert!(!project.output.path.exists());
    assert_eq!(std::fs::read_dir(&drive).unwrap().count(), 0);
    let left: Vec<_> = std::fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the image and the drive's folder: {left:?}");
}

/// A read-out of the wrong kind would be noticed: a hologram whose layer is a letter F shows an F,
/// neither mirrored nor turned.
#[test]
fn a_letter_f_stays_a_letter_f() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let f = |y: usize, x: usize| {
        let stem = (8..16).contains(&x) && (6..42).contains(&y);
        let bars = (8..36).contains(&x) && ((6..13).contains(&y) || (20..26).contains(&y) && x < 28);
        if stem || bars { 255 } else { 0 }
    };
    image(&path.join("f.png"), 48, 48, f);
    let project = project(path, 48, 48, &[("f.png", "20um", "uniform")]);
    // One image pixel is 2 µm × 3 µm of plane here, so the letter is fitted to the narrower axis.
    let events = run(&project);
    let preview = events.iter().find_map(|e| match e {
        Event::Preview { preview, .. } => preview.clone(),
        _ => None,
    });
    let preview = preview.unwrap();
    let grid = project.grid;
    let mean = |inside: bool| {
        let (mut total, mut count) = (0.0, 0.0);
        for y in 0..grid.height {
            for x in 0..grid.width {
                // Where the sample lies in the letter's own coordinates, true to aspect.
                let row = (y as f64 + 0.5 - 24.0) * 3.0 / 2.0 + 24.0;
                if !(0.0..48.0).contains(&row) {
                    continue;
                }
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0..48")]
                let lit = f(row as usize, x) > 0;
                if lit == inside {
                    total += f64::from(preview.mean[y * grid.width + x]);
                    count += 1.0;
                }
            }
        }
        total / count
    };
    assert!(mean(true) > 0.6 && mean(false) < 0.1, "{} {}", mean(true), mean(false));
}
