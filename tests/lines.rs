//! A plane that is watched while it is made: what was sent is what the file holds.

mod common;

use std::path::Path;

use common::{Plane, image, read_plane};
use gigafringe::engine::{Cancel, Event, EventSink, Lines, Preview};
use gigafringe::project::Project;
use gigafringe::run::{Settings, run_project};

/// Odd, oblong, with unequal pitches and two layers; the picture has three samples a bin.
const SIZE: [usize; 2] = [1101, 317];

fn project(folder: &Path, changes: &serde_json::Value) -> Project {
    let mut value = serde_json::json!({
        "grid": { "width": SIZE[0], "height": SIZE[1], "pitch_x": "2um", "pitch_y": "3um" },
        "wavelength": "532nm",
        "layers": [
            { "image": folder.join("a.png"), "distance": "2mm" },
            { "image": folder.join("b.png"), "distance": "3mm" },
        ],
        "memory": "64MiB",
        "seed": 5,
        "output": { "path": folder.join("hologram.npy"), "previews": true },
    });
    for (key, change) in changes.as_object().unwrap() {
        value[key] = change.clone();
    }
    serde_json::from_value(value).unwrap()
}

fn run(project: &Project, watched: bool) -> Vec<Event> {
    let (sink, events) = EventSink::channel(|| {});
    let sink = if watched { sink.watching() } else { sink };
    let settings = Settings { force: true, ..Settings::from(project) };
    run_project(project, &settings, &sink, &Cancel::default()).unwrap();
    drop(sink);
    events.iter().collect()
}

/// One pass's picture, put together from all that was sent of it.
struct Picture {
    pass: usize,
    last: Lines,
    mean: Vec<f32>,
}

/// The pictures of every pass of each job.
fn pictures(events: &[Event]) -> Vec<Vec<Picture>> {
    let mut jobs: Vec<Vec<Picture>> = Vec::new();
    for event in events {
        match event {
            Event::JobStarted { .. } => jobs.push(Vec::new()),
            Event::Lines { pass, lines: Some(lines) } => {
                let job = jobs.last_mut().unwrap();
                let columns = lines.width.div_ceil(lines.scale);
                if job.last().is_none_or(|picture| picture.pass != *pass) {
                    let mean = vec![f32::NAN; columns * lines.height.div_ceil(lines.scale)];
                    job.push(Picture { pass: *pass, last: (**lines).clone(), mean });
                }
                let picture = job.last_mut().unwrap();
                for (row, part) in lines.rows.clone().zip(lines.mean.chunks(lines.columns.len())) {
                    let start = row * columns + lines.columns.start;
                    picture.mean[start..start + part.len()].copy_from_slice(part);
                }
                picture.last = (**lines).clone();
            }
            _ => {}
        }
    }
    jobs
}

/// The mean of |u|² over each bin, straight from the plane.
fn naive(plane: &Plane, scale: usize) -> Vec<f64> {
    let mut means = Vec::new();
    for y in (0..plane.height).step_by(scale) {
        for x in (0..plane.width).step_by(scale) {
            let mut bin = Vec::new();
            for row in y..plane.height.min(y + scale) {
                bin.extend((x..plane.width.min(x + scale)).map(|column| plane.at(row, column).norm_sqr()));
            }
            means.push(bin.iter().sum::<f64>() / bin.len() as f64);
        }
    }
    means
}

fn assert_same(got: &[f32], expected: &[f64], what: &str) {
    assert_eq!(got.len(), expected.len());
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        let difference = (f64::from(*got) - expected).abs();
        assert!(difference <= 2e-5 * (1e-3 + expected), "{what}: bin {i}: {got} for {expected}");
    }
}

#[test]
fn what_is_sent_of_the_plane_is_what_the_file_holds_for_every_method() {
    let folder = tempfile::tempdir().unwrap();
    image(&folder.path().join("a.png"), 90, 60, |y, x| u8::try_from((y * x) % 251).unwrap());
    image(&folder.path().join("b.png"), 20, 20, |y, x| u8::try_from(12 * (y + x) % 256).unwrap());
    for changes in [
        serde_json::json!({ "method": "implicit", "chunk": 13 }),
        serde_json::json!({ "method": "padded", "streams": 4, "at_once": 1, "rolloff": 0.1 }),
        serde_json::json!({ "method": "streamed", "layering": "fused" }),
        serde_json::json!({ "method": "in-core" }),
        serde_json::json!({ "method": "blocks", "rolloff": 0.1, "memory": "12MiB" }),
        serde_json::json!({ "method": "blocks", "layering": "fused" }),
    ] {
        let project = project(folder.path(), &changes);
        let events = run(&project, true);
        let jobs = pictures(&events);
        assert_eq!(jobs.len(), 3, "{changes}");
        let plane = read_plane(&project.output.path);
        let hologram = jobs[0].last().unwrap();
        assert!(hologram.last.result, "{changes}");
        assert_eq!((hologram.last.width, hologram.last.height, hologram.last.scale), (SIZE[0], SIZE[1], 3));
        assert_eq!(hologram.last.samples, (SIZE[0] * SIZE[1]) as u64);
        assert_same(&hologram.mean, &naive(&plane, 3), &changes.to_string());

        // A reconstruction's lines add up to its preview, which has all samples here.
        let previews: Vec<_> = events.iter().filter_map(preview).collect();
        assert_eq!((previews.len(), previews[0].scale), (2, 1));
        for (job, preview) in jobs[1..].iter().zip(previews) {
            let amplitude = |y: usize, x: usize| f64::from(preview.mean[y * SIZE[0] + x]).sqrt().into();
            let plane = Plane::from_fn(SIZE[1], SIZE[0], amplitude);
            assert_same(&job.last().unwrap().mean, &naive(&plane, 3), &changes.to_string());
        }

        // Nobody pays for what nobody watches, and the bytes are the same.
        let watched = std::fs::read(&project.output.path).unwrap();
        let events = run(&project, false);
        assert!(!events.iter().any(|event| matches!(event, Event::Lines { .. })));
        assert!(watched == std::fs::read(&project.output.path).unwrap(), "{changes}");
    }
}

fn preview(event: &Event) -> Option<&Preview> {
    match event {
        Event::Preview { preview, .. } => preview.as_deref(),
        _ => None,
    }
}

#[test]
fn the_plane_between_two_steps_is_told_from_the_result() {
    let folder = tempfile::tempdir().unwrap();
    image(&folder.path().join("a.png"), 90, 60, |y, x| u8::try_from((y * x) % 251).unwrap());
    image(&folder.path().join("b.png"), 20, 20, |y, x| u8::try_from(12 * (y + x) % 256).unwrap());
    let project = project(folder.path(), &serde_json::json!({ "method": "implicit" }));
    let events = run(&project, true);
    let jobs = pictures(&events);
    let results: Vec<_> = jobs[0].iter().map(|picture| picture.last.result).collect();
    assert_eq!(results, [false, true]);
    let saved: Vec<_> = events
        .iter()
        .filter(|event| matches!(event, Event::Lines { .. }))
        .map(|event| serde_json::to_string(event).unwrap())
        .collect();
    assert!(saved.contains(&r#"{"event":"lines","pass":2}"#.to_owned()), "{saved:?}");
}
