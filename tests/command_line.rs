//! The program as a user starts it: what it makes, what it refuses, and how much memory it takes.

mod common;

use std::io::{BufRead, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use common::{Plane, element_error, propagate_plane, read_plane, write_plane};
use gigafringe::methods::Optics;
use gigafringe::optics::Evanescent;
use gigafringe::project::Precision;
use gigafringe::storage::{Element, NpyHeader, save_gray_png};
use num_complex::Complex64;

struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// A folder with a small plane, an image and a project.
    fn new() -> Self {
        let bench = Self { folder: tempfile::tempdir().unwrap() };
        write_plane(&bench.path("in.npy"), &plane(40, 56));
        let pixels: Vec<u8> = (0..32 * 32u32).map(|i| u8::try_from(i % 256).unwrap()).collect();
        save_gray_png(&bench.path("layer.png"), 32, 32, &pixels, false).unwrap();
        bench.project(|_| {});
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes `project.json`, changed.
    fn project(&self, change: impl FnOnce(&mut serde_json::Value)) {
        let mut json = serde_json::json!({
            "grid": { "width": 64, "height": 48, "pitch": "2um" },
            "wavelength": "532nm",
            "layers": [{ "image": "layer.png", "distance": "1mm" }],
            "memory": "64MiB",
            "method": "implicit",
            "output": { "path": "out.npy" },
        });
        change(&mut json);
        std::fs::write(self.path("project.json"), json.to_string()).unwrap();
    }

    fn files(&self) -> Vec<String> {
        let mut names: Vec<_> = std::fs::read_dir(self.folder.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gigafringe"))
            .current_dir(self.folder.path())
            .args(arguments)
            .output()
            .unwrap()
    }

    /// Runs a command that must succeed; returns its JSON.
    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs a command that must be refused: status 2, one error that has all of `words`, nothing
    /// made, nothing changed.
    fn refused(&self, arguments: &[&str], words: &[&str]) {
        let (before, kept) = (self.files(), std::fs::read(self.path("in.npy")).ok());
        let output = self.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        for word in words {
            assert!(error.contains(word), "{arguments:?} should say `{word}`: {error}");
        }
        assert!(!error.contains("panicked"), "{error}");
        assert_eq!(self.files(), before, "{arguments:?}: {error}");
        assert_eq!(std::fs::read(self.path("in.npy")).ok(), kept);
    }
}

fn plane(height: usize, width: usize) -> Plane {
    Plane::from_fn(height, width, |y, x| Complex64::new(((y * 7 + x) % 13) as f64, ((y + x * 5) % 11) as f64))
}

const PROPAGATE: [&str; 7] = [
    "propagate",
    "in.npy",
    "result.npy",
    "--wavelength=532nm",
    "--pitch=4um",
    "--distance=-2mm",
    "--method=implicit",
];

#[test]
fn propagate_writes_the_plane_and_reports_what_it_did() {
    let bench = Bench::new();
    let json =
        bench.json(&[&PROPAGATE[..], &["--json", "--precision=f64", "--events=events.jsonl"]].concat());
    let optics =
        Optics { wavelength: 532e-9, evanescent: Evanescent::Decay, band_limit: false, rolloff: 0.0 };
    let expected = propagate_plane(&plane(40, 56), [4e-6; 2], optics, -2e-3, Precision::F64);
    assert!(element_error(&read_plane(&bench.path("result.npy")), &expected) < 1e-15);
    let job = &json["jobs"][0];
    assert_eq!(job["passes"].as_array().unwrap().len(), 3);
    assert_eq!(json["method"], "implicit");
    let bound = json["error_bound"].as_f64().unwrap();
    assert!(bound > 1e-12 && bound < 1e-11, "{bound}");
    assert!(json["peak_memory"].as_u64().unwrap() > 1 << 20);
    // What the events tell of the drives is what the report sums up.
    let events = std::fs::read_to_string(bench.path("events.jsonl")).unwrap();
    let events: Vec<serde_json::Value> = events.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let moved = |kind: &str, pass: u64| -> u64 {
        events
            .iter()
            .filter(|e| e["event"] == "chunk" && e["kind"] == kind && e["pass"] == pass)
            .map(|e| e["bytes"].as_u64().unwrap())
            .sum()
    };
    for pass in 0..3u64 {
        let drives = job["passes"][usize::try_from(pass).unwrap()]["drives"].as_array().unwrap();
        let total = |key: &str| drives.iter().map(|d| d[key].as_u64().unwrap()).sum::<u64>();
        assert_eq!(moved("read", pass), total("read_bytes"));
        assert_eq!(moved("write", pass), total("written_bytes"));
        assert!(total("read_bytes") > 0 && total("written_bytes") > 0);
    }
    assert_eq!(events.last().unwrap()["event"], "finished");
}

#[test]
fn unequal_pitches_are_taken_as_given() {
    let bench = Bench::new();
    let arguments = [
        "propagate",
        "in.npy",
        "r.npy",
        "--wavelength=532nm",
        "--pitch-x=4um",
        "--pitch-y=3um",
        "--method=implicit",
    ];
    bench.json(&[&arguments[..], &["--distance=1mm", "--json", "--precision=f64", "--band-limit"]].concat());
    let optics = Optics { wavelength: 532e-9, evanescent: Evanescent::Decay, band_limit: true, rolloff: 0.0 };
    let expected = propagate_plane(&plane(40, 56), [3e-6, 4e-6], optics, 1e-3, Precision::F64);
    assert!(element_error(&read_plane(&bench.path("r.npy")), &expected) < 1e-15);
}

#[test]
fn run_makes_hologram_and_previews_and_reconstruct_reads_them_back() {
    let bench = Bench::new();
    let json = bench.json(&["run", "project.json", "--json"]);
    assert_eq!(json["jobs"].as_array().unwrap().len(), 2);
    assert!(bench.path("out.npy").is_file() && bench.path("out-layer1.png").is_file());
    // The same files a second time are not replaced, unless asked for.
    let before = std::fs::read(bench.path("out.npy")).unwrap();
    bench.refused(&["run", "project.json"], &["out.npy", "exists", "--force"]);
    bench.json(&["run", "project.json", "--json", "--force", "--chunk=9", "--buffers=3", "--threads=1"]);
    assert_eq!(std::fs::read(bench.path("out.npy")).unwrap(), before, "same bytes");

    bench.json(&["reconstruct", "project.json", "--distance=1mm", "--output=back.npy", "--json"]);
    let optics =
        Optics { wavelength: 532e-9, evanescent: Evanescent::Decay, band_limit: false, rolloff: 0.0 };
    let hologram = read_plane(&bench.path("out.npy"));
    let expected = propagate_plane(&hologram, [2e-6; 2], optics, 1e-3, Precision::F32);
    assert!(element_error(&read_plane(&bench.path("back.npy")), &expected) < 1e-7);
    let options = ["--distance=1mm", "--wavelength=532nm", "--pitch=2um", "--output=back.png"];
    let output = bench.run(&[&["reconstruct", "out.npy"][..], &options].concat());
    assert!(output.status.success());
    let picture = image::open(bench.path("back.png")).unwrap();
    assert_eq!((picture.width(), picture.height()), (64, 48));
}

#[test]
fn plan_tells_passes_scratch_and_memory_without_making_anything() {
    let bench = Bench::new();
    let before = bench.files();
    let json = bench.json(&["plan", "project.json", "--json"]);
    assert_eq!(json["passes"].as_array().unwrap().len(), 3);
    assert!(json["scratch_bytes"].as_u64().unwrap() >= 4 * 64 * 48 * 8);
    assert_eq!(json["output_bytes"], 4096 + 64 * 48 * 8);
    assert!(json["memory"].as_u64().unwrap() <= 64 << 20);
    let table = bench.run(&["plan", "project.json"]);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("phase 2: columns") && table.contains("memory"), "{table}");
    assert_eq!(bench.files(), before);
    let drives = bench.json(&["drives", "--json"]);
    assert!(drives["drives"].is_array());
}

#[test]
fn bad_quantities_are_refused_with_their_remedy() {
    let bench = Bench::new();
    let with = |change: &[&'static str]| -> Vec<&'static str> {
        let key = |a: &str| a.split('=').next().unwrap().to_owned();
        let kept = PROPAGATE.iter().filter(|a| change.iter().all(|c| key(c) != key(a)));
        kept.chain(change).copied().collect()
    };
    bench.refused(&with(&["--distance=5"]), &["5mm", "unit"]);
    bench.refused(&with(&["--wavelength=0nm"]), &["wavelength", "above zero"]);
    bench.refused(&with(&["--wavelength=-532nm"]), &["wavelength", "above zero"]);
    bench.refused(&with(&["--pitch=0um"]), &["pitch", "above zero"]);
    bench.refused(&with(&["--pitch=-4um"]), &["pitch", "above zero"]);
    bench.refused(&with(&["--pitch=4 parsec"]), &["unknown unit", "um"]);
    bench.refused(&with(&["--memory=5KiB"]), &["memory", "smallest that works"]);
    bench.refused(&with(&["--chunk=0"]), &["chunk"]);
    bench.refused(&with(&["--buffers=0"]), &["buffers"]);
    bench.refused(&with(&["--threads=0"]), &["threads"]);
    bench.refused(&with(&["--threads=100000"]), &["threads"]);
    bench.refused(&with(&["--buffers=1000000"]), &["buffers"]);
    bench.refused(&with(&["--distance=1000000m"]), &["distance", "too far", "532m"]);
    bench.refused(&with(&["--rolloff=1.5"]), &["rolloff", "between 0 and 1"]);
    bench.refused(&PROPAGATE[..5], &["--distance"]);
    bench.refused(&["propagate", "in.npy", "x.npy", "--distance=1mm", "--pitch=4um"], &["--wavelength"]);
    bench.refused(&["propagate", "in.npy", "x.npy", "--distance=1mm", "--wavelength=1um"], &["--pitch"]);
    bench.refused(&["frobnicate"], &["frobnicate", "no such command"]);
    bench.refused(&[&PROPAGATE[..], &["--emulate=floppy"]].concat(), &["--emulate", "sata, nvme"]);
    bench.refused(&[&PROPAGATE[..], &["--drives=.,.,.,.,."]].concat(), &["drives", "one to four"]);
    bench.refused(&with(&["--wavelength=1e-300m"]), &["wavelength", "0.001nm"]);
}

#[test]
fn encoded_holograms_are_made_planned_and_read_back() {
    let bench = Bench::new();
    bench.project(|p| {
        p["output"] = serde_json::json!({ "path": "out.png", "encoding": "phase8", "previews": false });
    });
    let plan = bench.json(&["plan", "project.json", "--json"]);
    assert_eq!(plan["output_bytes"], 64 * 48);
    let run = bench.json(&["run", "project.json", "--json"]);
    assert_eq!(run["jobs"][0]["clipped"], serde_json::Value::Null);
    // With the project its encoding is known, without it not.
    let light = ["--wavelength=532nm", "--pitch=2um", "--distance=1mm", "--method=implicit"];
    bench.json(&["reconstruct", "project.json", "--distance=1mm", "--output=a.npy", "--json"]);
    bench.refused(
        &[&["reconstruct", "out.png", "--output=b.npy"], &light[..]].concat(),
        &["out.png", "--encoding"],
    );
    bench.refused(
        &[&["propagate", "out.png", "b.npy"], &light[..]].concat(),
        &["out.png", "--encoding phase8"],
    );
    let given = ["reconstruct", "out.png", "--output=b.npy", "--encoding=phase8", "--json"];
    bench.json(&[&given[..], &light].concat());
    assert_eq!(read_plane(&bench.path("a.npy")), read_plane(&bench.path("b.npy")));
    // A project's encoding gives way to the command's.
    bench.project(|p| p["output"]["path"] = "level.npy".into());
    let plan = bench.json(&["plan", "project.json", "--encoding=intensity", "--json"]);
    assert_eq!(plan["output_bytes"], 4096 + 4 * 64 * 48);
    let run = bench.json(&["run", "project.json", "--encoding=amplitude8", "--json"]);
    assert!(run["jobs"][0]["full_scale"].as_f64().unwrap() > 0.0);
    assert!(run["jobs"][0]["clipped"].as_f64().unwrap() < 1e-3);
    bench.refused(
        &["reconstruct", "project.json", "--distance=1mm", "--output=c.npy"],
        &["level.npy", "complex"],
    );
    let output = bench.run(
        &[&["reconstruct", "level.npy", "--output=c.png", "--encoding=amplitude8"], &light[..]].concat(),
    );
    assert!(output.status.success());
    // A picture that ends early is found when it is unpacked.
    let png = std::fs::read(bench.path("out.png")).unwrap();
    std::fs::write(bench.path("out.png"), &png[..png.len() / 2]).unwrap();
    bench.refused(&[&given[..], &["--force"], &light].concat(), &["out.png", "cut short"]);
}

#[test]
fn a_chunk_too_large_for_the_memory_names_one_that_fits() {
    let bench = Bench::new();
    write_plane(&bench.path("in.npy"), &plane(512, 512));
    let arguments = [&PROPAGATE[..], &["--memory=8MiB", "--chunk=500", "--precision=f64"]].concat();
    let output = bench.run(&arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{error}");
    let largest: usize =
        error.split("chunks of ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    let chunk = format!("--chunk={largest}");
    bench.json(&[&PROPAGATE[..], &["--memory=8MiB", &chunk, "--precision=f64", "--json"]].concat());
    // And the smallest memory it names works.
    let arguments = [&PROPAGATE[..], &["--memory=1KiB", "--precision=f64", "--force"]].concat();
    let error = String::from_utf8(bench.run(&arguments).stderr).unwrap();
    let smallest = error.split("works here is ").nth(1).unwrap().split(' ').next().unwrap();
    let memory = format!("--memory={smallest}");
    bench.json(&[&PROPAGATE[..], &[&memory, "--precision=f64", "--force", "--json"]].concat());
}

#[test]
fn bad_planes_are_refused_and_named() {
    let bench = Bench::new();
    let go = |bench: &Bench, words: &[&str]| bench.refused(&PROPAGATE, words);
    let good = std::fs::read(bench.path("in.npy")).unwrap();
    let put = |bytes: &[u8]| std::fs::write(bench.path("in.npy"), bytes).unwrap();
    put(&good[..good.len() - 1]);
    go(&bench, &["in.npy", "cut short"]);
    put(&good[..100]);
    go(&bench, &["in.npy"]);
    put(b"hello");
    go(&bench, &["in.npy", "not a .npy"]);
    let mut integers = good.clone();
    let at = good.windows(6).position(|w| w == b"'<c16'").unwrap();
    integers[at..at + 6].copy_from_slice(b"'<i8' ");
    put(&integers);
    go(&bench, &["in.npy", "complex64"]);
    std::fs::remove_file(bench.path("in.npy")).unwrap();
    go(&bench, &["in.npy", "cannot open"]);
    std::fs::create_dir(bench.path("in.npy")).unwrap();
    go(&bench, &["in.npy", "folder"]);
    std::fs::remove_dir(bench.path("in.npy")).unwrap();
    let nan = Plane::from_fn(9, 9, |y, x| Complex64::new(if y == x { f64::NAN } else { 1.0 }, 0.0));
    write_plane(&bench.path("in.npy"), &nan);
    go(&bench, &["NaN"]);
    let bright = Plane::from_fn(90, 90, |_, _| Complex64::new(1e37, 0.0));
    write_plane(&bench.path("in.npy"), &bright);
    go(&bench, &["too large", "f64"]);
    // The same in double precision, and samples near the smallest of single precision, are fine.
    bench.json(&[&PROPAGATE[..], &["--precision=f64", "--json"]].concat());
    let faint = Plane::from_fn(90, 90, |y, x| Complex64::new((y + x) as f64 * 1e-42, 0.0));
    write_plane(&bench.path("in.npy"), &faint);
    bench.json(&[&PROPAGATE[..], &["--force", "--json"]].concat());
    let dark = Plane::from_fn(90, 90, |_, _| Complex64::default());
    write_plane(&bench.path("in.npy"), &dark);
    bench.json(&[&PROPAGATE[..], &["--force", "--json"]].concat());
    assert_eq!(read_plane(&bench.path("result.npy")), dark);
}

#[test]
fn outputs_that_would_be_lost_or_cannot_be_made_are_refused() {
    let bench = Bench::new();
    let to = |output: &'static str| [&["propagate", "in.npy", output], &PROPAGATE[3..]].concat();
    bench.refused(&to("in.npy"), &["in.npy"]);
    bench.refused(&[&to("in.npy")[..], &["--force"]].concat(), &["in.npy", "the same file"]);
    bench.refused(&to("missing/out.npy"), &["missing", "make the folder"]);
    bench.refused(&to("layer.png/out.npy"), &["layer.png"]);
    bench.refused(&to("out.tif"), &["out.tif", ".npy"]);
    std::fs::write(bench.path("mine.npy"), "keep").unwrap();
    bench.refused(&to("mine.npy"), &["mine.npy", "--force"]);
    assert_eq!(std::fs::read(bench.path("mine.npy")).unwrap(), b"keep");
    bench.refused(&[&to("new.npy")[..], &["--drives=nowhere"]].concat(), &["nowhere", "make the folder"]);
    bench.refused(&[&to("new.npy")[..], &["--events=mine.npy"]].concat(), &["mine.npy", "--force"]);
    bench.refused(&[&to("new.npy")[..], &["--drives=.,layer.png"]].concat(), &["layer.png", "not a folder"]);
}

/// `--force` replaces what a run makes, never what it reads.
#[test]
fn no_input_is_ever_overwritten() {
    let bench = Bench::new();
    let refused = |arguments: &[&str], name: &str| {
        let kept = std::fs::read(bench.path(name)).unwrap();
        bench.refused(&[arguments, &["--force"]].concat(), &[name, "the same file"]);
        assert_eq!(std::fs::read(bench.path(name)).unwrap(), kept);
    };
    refused(&[&PROPAGATE[..], &["--events=in.npy"]].concat(), "in.npy");
    refused(&["run", "project.json", "--events=project.json"], "project.json");
    refused(&["run", "project.json", "--events=layer.png"], "layer.png");
    std::fs::hard_link(bench.path("layer.png"), bench.path("scene-layer1.png")).unwrap();
    bench.project(|p| {
        p["output"]["path"] = "scene.npy".into();
        p["layers"][0]["image"] = "scene-layer1.png".into();
    });
    refused(&["run", "project.json"], "scene-layer1.png");
    // A run that fails for its input leaves an older file of events as it was.
    std::fs::write(bench.path("events.jsonl"), "old").unwrap();
    std::fs::write(bench.path("scene-layer1.png"), "no image").unwrap();
    bench.refused(&["run", "project.json", "--force", "--events=events.jsonl"], &["scene-layer1.png"]);
    assert_eq!(std::fs::read(bench.path("events.jsonl")).unwrap(), b"old");
}

#[test]
fn roles_on_one_device_are_allowed_and_said() {
    let bench = Bench::new();
    for name in ["a", "b"] {
        std::fs::create_dir(bench.path(name)).unwrap();
    }
    let output = bench.run(&[&PROPAGATE[..], &["--drives=a,b"]].concat());
    assert!(output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("a and b are on one device"), "{said}");
}

#[test]
fn drives_are_measured_and_left_as_they_were() {
    let bench = Bench::new();
    for name in ["a", "b"] {
        std::fs::create_dir(bench.path(name)).unwrap();
    }
    let before = bench.files();
    let report = bench.json(&["drives", "--measure", "a", "b", "--measure-size=16MiB", "--json"]);
    for (drive, folder) in report["measured"].as_array().unwrap().iter().zip(["a", "b"]) {
        assert_eq!((&drive["folder"], &drive["remembered"]), (&folder.into(), &false.into()));
        for rate in ["read", "write", "read_while_writing", "write_while_reading", "read_together"] {
            assert!(drive[rate].as_f64().unwrap() > 0.0, "{rate}: {drive}");
        }
        assert!(drive["duplex_index"].as_f64().unwrap() > 0.0 && drive["direct"].is_boolean());
        assert_eq!(std::fs::read_dir(bench.path(folder)).unwrap().count(), 0);
    }
    assert!(report["drives"].is_array() && report["shared"].is_array());
    assert_eq!(bench.files(), before);
    let table = bench.run(&["drives", "--measure", "a", "--measure-size=16MiB"]);
    let table = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(table.contains("duplex") && table.lines().count() == 3, "{table}");
    bench.refused(&["drives", "--measure", "nowhere"], &["nowhere", "cannot measure"]);
    bench.refused(&["drives", "a"], &["--measure"]);
}

#[test]
fn roles_are_proposed_for_folders_with_the_option_that_uses_them() {
    let bench = Bench::new();
    for name in ["a", "b"] {
        std::fs::create_dir(bench.path(name)).unwrap();
    }
    // Both are on one device: the first has all roles.
    let report = bench.json(&["drives", "--assign", "a", "b", "--json"]);
    let roles = ["A", "B", "C", "D"].map(|role| serde_json::json!({ "path": "a", "role": role }));
    assert_eq!(report["roles"], serde_json::json!(roles));
    assert!(report["reasons"][1].as_str().unwrap().contains("b (on the same device as a)"), "{report}");
    assert!(report.get("measured").is_none());
    let output = bench.run(&["drives", "--assign", "--measure", "a", "--measure-size=16MiB"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("duplex") && text.ends_with("--drives=a,a,a,a\n"), "{text}");
    assert!(text.contains("All roles are on a: no other drive can be used."), "{text}");
    bench.refused(&["drives", "--assign", "nowhere"], &["nowhere", "no file can be made there"]);
}

/// The paper's drives on one disk: the same bytes, in the time that such drives take.
#[test]
fn emulated_drives_take_their_time_and_are_called_emulated() {
    let bench = Bench::new();
    for name in ["a", "b"] {
        std::fs::create_dir(bench.path(name)).unwrap();
    }
    bench.json(&[&PROPAGATE[..], &["--drives=a,b", "--json"]].concat());
    let plain = std::fs::read(bench.path("result.npy")).unwrap();
    let emulated = ["--drives=a,b", "--force", "--json", "--emulate=1:1:half"];
    let output = bench.run(&[&PROPAGATE[..], &emulated].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("2 drives are emulated: 1 MB/s each, half duplex"), "{said}");
    assert!(!said.contains("on one device"), "{said}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let job = &report["jobs"][0];
    assert_eq!(job["drives"], serde_json::json!(["a (emulated 1 MB/s)", "b (emulated 1 MB/s)"]));
    for pass in job["passes"].as_array().unwrap() {
        for drive in pass["drives"].as_array().unwrap() {
            let bytes = drive["read_bytes"].as_f64().unwrap() + drive["written_bytes"].as_f64().unwrap();
            // All but the lateness that is made good.
            assert!(pass["seconds"].as_f64().unwrap() > bytes / 1e6 - 0.006, "{pass}");
        }
    }
    assert_eq!(std::fs::read(bench.path("result.npy")).unwrap(), plain);
    assert!(bench.files().iter().all(|name| !name.contains("scratch")));
}

#[test]
fn bad_projects_are_refused_with_file_and_field() {
    let bench = Bench::new();
    let case = |change: &dyn Fn(&mut serde_json::Value), words: &[&str]| {
        bench.project(change);
        bench.refused(&["run", "project.json"], words);
    };
    case(&|p| p["colour"] = "red".into(), &["project.json", "colour", "unknown field"]);
    case(&|p| p["wavelength"] = "532".into(), &["project.json", "wavelength", "532nm"]);
    case(&|p| p["wavelength"] = "0nm".into(), &["wavelength", "above zero"]);
    case(&|p| p["grid"]["pitch"] = "-1um".into(), &["grid.pitch", "above zero"]);
    case(&|p| p["grid"]["width"] = 0.into(), &["grid.width"]);
    case(&|p| p["grid"]["width"] = 4_000_000_000u64.into(), &["grid.width"]);
    case(&|p| p["grid"]["pitch_x"] = "1um".into(), &["pitch"]);
    case(&|p| p["layers"] = serde_json::json!([]), &["layers", "add at least one"]);
    case(&|p| p["layers"][0]["distance"] = 3.into(), &["project.json", "layers[0].distance", "660nm"]);
    case(&|p| p["layers"][0]["distance"] = "3".into(), &["project.json", "3mm"]);
    case(&|p| p["layers"][0]["image"] = "gone.png".into(), &["gone.png"]);
    case(&|p| p["layers"][0]["image"] = "in.npy".into(), &["in.npy", "image"]);
    case(&|p| p["layers"][0]["phase"] = "noisy".into(), &["project.json", "random"]);
    case(&|p| p["output"]["path"] = "out.tif".into(), &["output.path", ".npy"]);
    case(&|p| p["output"]["full_scale"] = 0.into(), &["output.full_scale", "above zero"]);
    case(
        &|p| p["output"] = serde_json::json!({ "path": "o.tif", "encoding": "complex" }),
        &["another encoding"],
    );
    case(
        &|p| p["output"] = serde_json::json!({ "path": "o.bmp", "encoding": "intensity" }),
        &["o.bmp", ".tif"],
    );
    case(&|p| p["output"]["path"] = "gone/out.npy".into(), &["gone"]);
    case(&|p| p["output"]["encoding"] = "phase9".into(), &["complex"]);
    case(&|p| p["memory"] = "1KiB".into(), &["memory", "smallest that works"]);
    case(&|p| p["buffers"] = 0.into(), &["buffers"]);
    case(&|p| p["rolloff"] = 2.into(), &["rolloff"]);
    let two = serde_json::json!([{ "path": ".", "role": "A" }, { "path": ".", "role": "A" }]);
    case(&|p| p["drives"] = two.clone(), &["drives", "role A is given twice"]);
    std::fs::write(bench.path("project.json"), "{ not json").unwrap();
    bench.refused(&["run", "project.json"], &["project.json", "line 1"]);
    bench.refused(&["run", "missing.json"], &["missing.json"]);
    bench.refused(&["plan", "missing.json"], &["missing.json"]);
    // A truncated image is found when it is decoded, before anything is made.
    let image = std::fs::read(bench.path("layer.png")).unwrap();
    std::fs::write(bench.path("layer.png"), &image[..image.len() / 2]).unwrap();
    bench.project(|_| {});
    bench.refused(&["run", "project.json"], &["layer.png"]);
}

#[test]
fn a_full_drive_is_refused_before_the_first_byte() {
    let bench = Bench::new();
    // More scratch than any drive has: 16 million samples a side, in chunks that fit in memory.
    bench.project(|p| {
        p["grid"]["width"] = (1u64 << 24).into();
        p["grid"]["height"] = (1u64 << 24).into();
        p["memory"] = "64GiB".into();
    });
    bench.refused(&["run", "project.json"], &["free", "drive"]);
}

/// Ctrl-C: stopped soon, said, and nothing left.
#[cfg(unix)]
#[test]
fn an_interrupt_stops_the_run_and_leaves_nothing() {
    let bench = Bench::new();
    bench.project(|p| {
        p["grid"]["width"] = 4096.into();
        p["grid"]["height"] = 4096.into();
        // Many small chunks, so that the run takes a while.
        p["chunk"] = 8.into();
    });
    let before = bench.files();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gigafringe"))
        .current_dir(bench.folder.path())
        .args(["run", "project.json"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Interrupted as soon as it has said that the job began.
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut said = String::new();
    while !said.contains("hologram\n") {
        assert!(stderr.read_line(&mut said).unwrap() > 0, "ended early: {said}");
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    stderr.read_to_string(&mut said).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{said}");
    assert!(said.contains("stopped on request") && said.contains("removed"), "{said}");
    assert_eq!(bench.files(), before);
}

/// 8192², half a gibibyte, within 96 MiB of buffers: the process stays below 96 + 160 MiB.
#[test]
fn a_plane_five_times_the_memory_stays_within_the_memory() {
    let bench = Bench::new();
    let n = 8192;
    let header = NpyHeader::new(n, n, Element::Complex64);
    let mut line: Vec<u8> = Vec::with_capacity(n * 8);
    let file = std::fs::File::create(bench.path("in.npy")).unwrap();
    let mut file = std::io::BufWriter::new(file);

    file.write_all(&header.encode()).unwrap();
    for y in 0..n {
        line.clear();
        for x in 0..n {
            let value = f32::from(u16::try_from((y * 31 + x * 17) % 1009).unwrap()) / 1009.0 - 0.5;
            line.extend_from_slice(&value.to_le_bytes());
            line.extend_from_slice(&(0.25 - value * value).to_le_bytes());
        }
        file.write_all(&line).unwrap();
    }
    file.flush().unwrap();
    drop(file);
    let light = ["--wavelength=660nm", "--pitch=5um", "--method=implicit"];
    let arguments = [&["propagate", "in.npy", "out.npy"][..], &light].concat();
    let json = bench.json(&[&arguments[..], &["--distance=-90mm", "--memory=96MiB", "--json"]].concat());
    let peak = json["peak_memory"].as_u64().unwrap();
    println!("peak {} MiB", peak >> 20);
    assert!(peak < (96 + 160) << 20, "peak {} MiB", peak >> 20);
    assert!(json["jobs"][0]["memory_planned"].as_u64().unwrap() <= 96 << 20);
    // And back again: what had not left the window is what it was.
    let back = [&["propagate", "out.npy", "back.npy", "--distance=90mm"][..], &light].concat();
    let json = bench.json(&[&back[..], &["--memory=96MiB", "--json"]].concat());
    assert!(json["peak_memory"].as_u64().unwrap() < (96 + 160) << 20);
    let middle = |name: &str| read_part(&bench.path(name), n / 2, n / 2, 512);
    let (a, b) = (middle("in.npy"), middle("back.npy"));
    let difference: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).norm_sqr()).sum();
    let norm: f64 = a.iter().map(Complex64::norm_sqr).sum();
    let error = (difference / norm).sqrt();
    // The window's end cuts 1191 of 8192 samples' walk at each side; the middle sees little of it.
    println!("middle after there and back: {error:e}");
    assert!(error < 2e-2, "{error:e}");
}

/// `count` samples of line `y` from column `x`.
fn read_part(path: &Path, y: usize, x: usize, count: usize) -> Vec<Complex64> {
    let header = NpyHeader::read(path).unwrap();
    let mut file = std::fs::File::open(path).unwrap();
    let offset = header.data_offset + ((y * header.width + x) * 8) as u64;
    file.seek(SeekFrom::Start(offset)).unwrap();
    let mut bytes = vec![0; count * 8];
    file.read_exact(&mut bytes).unwrap();
    let part = |b: &[u8]| f64::from(f32::from_le_bytes(b.try_into().unwrap()));
    bytes.as_chunks::<8>().0.iter().map(|b| Complex64::new(part(&b[..4]), part(&b[4..]))).collect()
}
