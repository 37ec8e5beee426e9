//! `lab speed` as a user starts it.

use std::path::Path;
use std::process::{Command, Output};

fn lab(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gigafringe"))
        .current_dir(folder)
        // What this test measures is not to be remembered.
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .args(["lab", "speed", "--quick", "--json", "--no-scipy"])
        .args(arguments)
        .output()
        .unwrap()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn every_target_is_measured_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let output = lab(folder.path(), &["--folder=place", "--size=2048", "--memory=24MiB", "--repeat=2"]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    assert!(is_empty(&place), "nothing is left");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();

    let drive = &json["drive"];
    for figure in ["read", "write", "read_while_writing", "write_while_reading"] {
        assert!(drive["median"][figure].as_f64().unwrap() > 0.0, "{drive}");
    }
    assert_eq!(drive["measured"].as_array().unwrap().len(), 3, "at the start, and in each round");
    assert_eq!(json["parameters"]["size"], 2048);
    assert!(json["machine"]["threads"].as_u64().unwrap() > 0);

    let sections = json["sections"].as_array().unwrap();
    let names: Vec<_> = sections.iter().map(|s| s["name"].as_str().unwrap()).collect();
    let all = ["propagation", "agreement", "hologram", "hologram, four emulated SATA drives", "scipy"];
    assert_eq!(names, all);
    for section in sections {
        let series = section["series"].as_array().unwrap();
        assert!(series.len() >= 2, "{section}");
        for series in series {
            let rounds = section["rounds"].as_u64().unwrap();
            let seconds = series["seconds"].as_array().unwrap();
            assert_eq!(seconds.len() as u64, rounds, "{series}");
            assert!(seconds.iter().all(|s| s.as_f64().unwrap() > 0.0));
            assert!(series["bytes_off"].as_f64().unwrap() <= 0.01, "{series}");
            let moved = series["bytes_moved"].as_array().unwrap();
            let any = moved.iter().any(|drive| drive[0].as_u64().unwrap() > 0);
            assert_eq!(any, series["left_out"] != "io", "{series}");
        }
    }
    let parts: Vec<_> =
        sections[0]["series"].as_array().unwrap().iter().map(|s| s["left_out"].as_str()).collect();
    assert_eq!(parts[..3], [None, Some("compute"), Some("io")]);
    assert_eq!(sections[0]["series"][0]["name"], "implicit");
    assert!(sections[0]["tuning"].as_array().unwrap().len() >= 2);

    let planes = sections[1]["agreement"].as_array().unwrap();
    assert!(planes.len() >= 4, "{planes:?}");
    for plane in planes {
        assert_eq!(plane["agrees"], true, "{plane}");
    }
    // Planes of other digits were really compared.
    let b16 = planes.iter().find(|plane| plane["name"] == "padded b16").unwrap();
    assert!(b16["difference"].as_f64().unwrap() > 1e-6, "{b16}");

    let targets = json["targets"].as_array().unwrap();
    for number in 1..=5 {
        let found: Vec<_> = targets.iter().filter(|t| t["number"] == number).collect();
        assert!(!found.is_empty(), "target {number}");
        for target in found {
            let measured = number != 4;
            assert_eq!(target["measured"].is_f64(), measured, "{target}");
            assert_eq!(target["met"].is_boolean(), measured, "{target}");
        }
    }
    assert_eq!(sections[4]["scipy"]["skipped"], "--no-scipy was given");
}

#[test]
fn what_cannot_be_measured_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let refused = |arguments: &[&str], words: &[&str]| {
        let output = lab(folder.path(), arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        for word in words {
            assert!(error.contains(word), "{arguments:?} should say `{word}`: {error}");
        }
        assert!(output.stdout.is_empty() && is_empty(&place), "{arguments:?}");
    };
    refused(&["--folder=nowhere"], &["nowhere", "cannot be used"]);
    refused(&["--folder=place", "--target=6"], &["target", "1 to 5"]);
    refused(&["--folder=place", "--size=4"], &["size"]);
    refused(&["--folder=place", "--repeat=0"], &["repeat"]);
    refused(&["--folder=place", "--memory=1MiB"], &["memory", "too little"]);
    // Some 10 TiB for each plane.
    let large = ["--folder=place", "--target=1", "--size=1048576", "--memory=16GiB"];
    refused(&large, &["place", "are free", "this needs", "TiB", "--size"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gigafringe"))
        .current_dir(folder.path())
        .env("XDG_CACHE_HOME", folder.path().join("cache"))
        .args(["lab", "speed", "--quick", "--no-scipy", "--folder=place", "--target=1"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // Once the first run is done, it is in the middle of the next.
    let stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut lines = std::io::BufRead::lines(stderr);
    assert!(lines.any(|line| line.unwrap().contains("tried")));
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    lines.for_each(drop);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(is_empty(&place));
}
