//! Layers with a factor on their amplitude, and layers that are kept but not computed.

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Plane, element_error, image, propagate_plane, read_plane, samples};
use gigafringe::engine::{Cancel, Event, EventSink};
use gigafringe::methods::Optics;
use gigafringe::optics::{Encoding, Image, Length, Phase};
use gigafringe::project::{Layering, Precision, Project, ProjectError};
use gigafringe::run::{RunError, RunReport, Settings, estimate, outputs, plan_project, run_project};

const WIDTH: usize = 45;
const HEIGHT: usize = 31;

/// Three layers on an odd and oblong grid, with their images.
fn project(folder: &Path) -> (Project, [Image; 3]) {
    let images = [
        image(&folder.join("a.png"), WIDTH, HEIGHT, |y, x| u8::try_from((y * x) % 251).unwrap()),
        image(&folder.join("b.png"), 20, 20, |y, x| u8::try_from(12 * (y + x) % 256).unwrap()),
        image(&folder.join("c.png"), WIDTH, HEIGHT, |y, x| if y > 9 && x < 30 { 200 } else { 0 }),
    ];
    let layer = |name: &str, distance: &str, phase: &str| {
        serde_json::json!({
            "image": folder.join(name), "distance": distance, "values": "amplitude", "phase": phase
        })
    };
    let project = serde_json::from_value(serde_json::json!({
        "grid": { "width": WIDTH, "height": HEIGHT, "pitch_x": "2um", "pitch_y": "3um" },
        "wavelength": "532nm",
        "layers": [
            layer("a.png", "1mm", "random"), layer("b.png", "3mm", "random"), layer("c.png", "-2mm", "uniform"),
        ],
        "precision": "f64",
        "memory": "64MiB",
        "method": "implicit",
        "seed": 5,
        "output": { "path": folder.join("hologram.npy"), "previews": false },
    }))
    .unwrap();
    (project, images)
}

fn run(project: &Project) -> (RunReport, Vec<Event>) {
    let (sink, events) = EventSink::channel(|| {});
    let settings = Settings { force: true, ..Settings::from(project) };
    let report = run_project(project, &settings, &sink, &Cancel::default()).unwrap();
    drop(sink);
    (report, events.iter().collect())
}

/// The bytes of the hologram.
fn bytes(project: &Project) -> Vec<u8> {
    run(project);
    std::fs::read(&project.output.path).unwrap()
}

fn without(project: &Project, layer: usize) -> Project {
    let mut project = project.clone();
    project.layers.remove(layer);
    project
}

fn disabled(project: &Project, layer: usize) -> Project {
    let mut project = project.clone();
    project.layers[layer].enabled = false;
    project
}

#[test]
fn twice_the_amplitude_is_exactly_twice_the_field() {
    let folder = tempfile::tempdir().unwrap();
    let (project, images) = project(folder.path());
    let optics = Optics::from(&project);
    let pitch = [project.grid.pitch_y, project.grid.pitch_x].map(Length::in_metres);
    let go = |p: &Plane, z: f64| propagate_plane(p, pitch, optics, z, Precision::F64);
    let phases = [Phase::Random, Phase::Random, Phase::Uniform];
    let planes: Vec<_> =
        (0..3_u32).map(|i| samples(&images[i as usize], phases[i as usize], &project.grid, i)).collect();
    let factors = [2.0, 0.25, 3.0];
    for layering in [Layering::Stepwise, Layering::Fused] {
        let mut one = project.clone();
        one.layering = layering;
        run(&one);
        let plain = read_plane(&one.output.path);
        let mut all = one.clone();
        all.layers.iter_mut().for_each(|layer| layer.amplitude = 2.0);
        run(&all);
        let doubled = read_plane(&all.output.path);
        // A power of two changes no digit.
        assert!(plain.samples.iter().zip(&doubled.samples).all(|(p, d)| 2.0 * p == *d));

        let mut each = one.clone();
        each.layers.iter_mut().zip(factors).for_each(|(layer, factor)| layer.amplitude = factor);
        run(&each);
        let add =
            |a: &Plane, b: &Plane, s: f64| Plane::from_fn(HEIGHT, WIDTH, |y, x| a.at(y, x) + s * b.at(y, x));
        let zero = Plane::from_fn(HEIGHT, WIDTH, |_, _| 0.0.into());
        let front = match layering {
            // From 3 mm to 1 mm, and on to the hologram.
            Layering::Stepwise => {
                let far = go(&add(&zero, &planes[1], factors[1]), -2e-3);
                go(&add(&far, &planes[0], factors[0]), -1e-3)
            }
            Layering::Fused => {
                let far = go(&add(&zero, &planes[1], factors[1]), -3e-3);
                add(&far, &go(&planes[0], -1e-3), factors[0])
            }
        };
        let expected = add(&front, &go(&planes[2], 2e-3), factors[2]);
        let error = element_error(&read_plane(&each.output.path), &expected);
        // Three times an 8-bit amplitude is rounded to single precision.
        assert!(error < 1e-7, "{layering:?}: {error:e}");
    }
}

#[test]
fn the_amplitude_counts_in_the_full_scale() {
    let folder = tempfile::tempdir().unwrap();
    let (mut project, _) = project(folder.path());
    project.output.path = folder.path().join("hologram.png");
    project.output.encoding = Encoding::Amplitude8;
    let plain = bytes(&project);
    project.layers.iter_mut().for_each(|layer| layer.amplitude = 8.0);
    assert!(bytes(&project) == plain, "eight times the field over eight times the scale");
    project.output.full_scale = Some(1.0);
    assert!(bytes(&project) != plain);
}

#[test]
fn a_disabled_layer_gives_the_same_bytes_as_a_project_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let (project, _) = project(folder.path());
    let all = bytes(&project);
    for layering in [Layering::Stepwise, Layering::Fused] {
        let project = Project { layering, ..project.clone() };
        for layer in 0..3 {
            let off = bytes(&disabled(&project, layer));
            assert!(off == bytes(&without(&project, layer)), "{layering:?}, layer {layer}");
            assert!(off != all, "layer {layer} is seen");
        }
    }
    // Not even its file is looked at.
    let mut gone = disabled(&project, 1);
    gone.layers[1].image = folder.path().join("gone.png");
    assert!(bytes(&gone) == bytes(&without(&project, 1)));
    let needs = |project: &Project| {
        let plan = plan_project(project, &Settings::from(project)).unwrap();
        (plan.memory(), plan.bytes_moved(), plan.passes.len())
    };
    assert_eq!(needs(&gone), needs(&without(&project, 1)));
    assert_ne!(needs(&gone), needs(&project));
}

#[test]
fn previews_keep_the_numbers_of_the_project() {
    let folder = tempfile::tempdir().unwrap();
    let (mut project, _) = project(folder.path());
    project.output.previews = true;
    let project = disabled(&project, 1);
    let (report, events) = run(&project);
    let numbers: Vec<_> = events
        .iter()
        .filter_map(|event| if let Event::Preview { layer, .. } = event { Some(*layer) } else { None })
        .collect();
    assert_eq!(numbers, [0, 2]);
    let jobs: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::JobStarted { name, job, jobs, .. } => Some((name.as_str(), *job, *jobs)),
            _ => None,
        })
        .collect();
    assert_eq!(jobs, [("hologram", 0, 3), ("reconstruction at 1mm", 1, 3), ("reconstruction at -2mm", 2, 3)]);
    let names: Vec<_> = report.files.iter().map(|file| file.file_name().unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["hologram.npy", "hologram-layer1.png", "hologram-layer3.png"]);
    assert_eq!(report.files, outputs(&project));
    assert!(report.files.iter().all(|file| file.is_file()));
}

#[test]
fn values_that_cannot_be_used_are_refused_with_their_field() {
    let folder = tempfile::tempdir().unwrap();
    let (project, _) = project(folder.path());
    for amplitude in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e300] {
        let mut project = project.clone();
        project.layers[1].amplitude = amplitude;
        let error = project.validate().unwrap_err();
        assert!(
            matches!(&error, ProjectError::Value { field, .. } if field == "layers[1].amplitude"),
            "{error}"
        );
    }
    let mut none = project.clone();
    none.layers.iter_mut().for_each(|layer| layer.enabled = false);
    let error = estimate(&none, &Settings::from(&none)).unwrap_err();
    assert!(
        matches!(error, RunError::Project(_)) && error.to_string().contains("all are disabled"),
        "{error}"
    );
}

#[test]
fn what_is_as_usual_is_left_out_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let (mut project, _) = project(folder.path());
    let path = folder.path().join("project.json");
    project.save(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("enabled") && !text.contains("amplitude\":"), "{text}");
    project.layers[2].enabled = false;
    project.layers[0].amplitude = 0.5;
    project.save(&path).unwrap();
    let read = Project::load(&path).unwrap();
    let layers: Vec<_> = read.layers.iter().map(|layer| (layer.enabled, layer.amplitude)).collect();
    assert_eq!(layers, [(true, 0.5), (true, 1.0), (false, 1.0)]);
}

/// The program itself: the same from the command line.
#[test]
fn the_command_line_leaves_disabled_layers_out_and_says_what_the_samples_carry() {
    let folder = tempfile::tempdir().unwrap();
    let (project, _) = project(folder.path());
    let program = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_gigafringe"))
            .current_dir(folder.path())
            .args(arguments)
            .output()
            .unwrap()
    };
    let make = |project: &Project, name: &str| -> PathBuf {
        let mut project = project.clone();
        project.output.path = folder.path().join(format!("{name}.npy"));
        project.save(&folder.path().join(format!("{name}.json"))).unwrap();
        let output = program(&["run", &format!("{name}.json")]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        project.output.path
    };
    let [off, out, all] =
        [make(&disabled(&project, 0), "off"), make(&without(&project, 0), "out"), make(&project, "all")]
            .map(|path| std::fs::read(path).unwrap());
    assert!(off == out && off != all);

    let output = program(&["plan", "all.json"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // 45 × 31 samples of 2 µm × 3 µm; light of 3 mm goes about ten times as far.
    assert!(text.contains("Hologram size  good     90.0 µm × 93.0 µm\n"), "{text}");
    assert!(text.contains("Window fill    problem"), "{text}");
    let json = program(&["plan", "all.json", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert!((json["sampling"]["size"][0].as_f64().unwrap() - 93e-6).abs() < 1e-12);

    let mut none = project.clone();
    none.layers.iter_mut().for_each(|layer| layer.enabled = false);
    none.save(&folder.path().join("none.json")).unwrap();
    for arguments in [["run", "none.json"], ["plan", "none.json"]] {
        let output = program(&arguments);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains("layers: all are disabled"), "{error}");
    }
}
