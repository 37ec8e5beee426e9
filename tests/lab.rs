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
            let any = moved.iter().any(|drive| (0..2).any(|way| drive[way].as_u64().unwrap() > 0));
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

/// Every comparison at toy size, and the page that is made of them.
#[test]
fn every_comparison_runs_and_methods_give_one_plane() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    std::fs::create_dir(&place).unwrap();
    let program = |arguments: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_gigafringe"))
            .current_dir(folder.path())
            .env("XDG_CACHE_HOME", folder.path().join("cache"))
            .args(arguments)
            .output()
            .unwrap()
    };
    let experiments =
        ["table1", "io", "breakdown", "memory", "table2", "drives", "overlap", "hologram", "real"];
    let mut files = Vec::new();
    for experiment in experiments {
        let mut arguments =
            vec!["lab", "compare", experiment, "--json", "--folder=place", "--size=300", "--repeat=1"];
        // Small as the planes are, tables need some megabytes.
        arguments.push("--memory=16MiB");
        if experiment == "real" {
            arguments.push("--drives=place,place");
        }
        let output = program(&arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{experiment}: {errors}");
        assert!(is_empty(&place), "{experiment}: nothing is left");
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["experiment"], experiment);
        assert_eq!(json["emulated"].as_array().unwrap().is_empty(), experiment == "real");
        for section in json["sections"].as_array().unwrap() {
            let series = section["series"].as_array().unwrap();
            assert!(series.len() >= 2, "{experiment}: {section}");
            for series in series {
                assert!(series["median"].as_f64().unwrap() > 0.0, "{series}");
                assert!(series["bytes_off"].as_f64().unwrap() <= 0.01, "{series}");
                assert!(!series["passes"].as_array().unwrap().is_empty(), "{series}");
            }
            let planes = section["agreement"].as_array().unwrap();
            assert_eq!(planes.is_empty(), ["io", "overlap"].contains(&experiment), "{experiment}");
            for plane in planes {
                assert_eq!(plane["agrees"], true, "{experiment}: {plane}");
            }
        }
        match experiment {
            "overlap" => overlap_is_told(&json["sections"][0]),
            "real" => assert_eq!(json["sections"][0]["series"][0]["name"], "implicit, 2 drives"),
            "table1" => buffers_and_chunks_were_tried(&json["sections"][0]),
            _ => {}
        }
        let ratios = json["comparisons"].as_array().unwrap();
        assert!(!ratios.is_empty(), "{experiment}");
        let published = ratios.iter().filter(|ratio| ratio["published"].is_f64()).count();
        let expected = match experiment {
            "table1" => 6,
            "io" => 2,
            "drives" | "hologram" => 1,
            _ => 0,
        };
        assert_eq!(published, expected, "{experiment}");
        let file = folder.path().join(format!("{experiment}.json"));
        std::fs::write(&file, &output.stdout).unwrap();
        files.push(file.to_str().unwrap().to_owned());
    }

    let mut arguments = vec!["lab", "report", "--output=page.html"];
    arguments.extend(files.iter().map(String::as_str));
    assert!(program(&arguments).status.success());
    let page = std::fs::read_to_string(folder.path().join("page.html")).unwrap();
    for experiment in experiments {
        assert!(page.contains(&format!("<h2>{experiment}</h2>")), "{experiment}");
    }
    assert!(page.contains("When each did what") && page.contains("compute, stream 2"));
    assert!(page.contains("published 2.43") && page.contains("<svg") && !page.contains("http"));
    // A page that is there is not lost.
    assert_eq!(program(&arguments).status.code(), Some(2));
    arguments[2] = "--output=page.md";
    assert!(program(&arguments).status.success());
    assert!(std::fs::read_to_string(folder.path().join("page.md")).unwrap().contains("| 2.43 |"));

    for (arguments, word) in [
        (vec!["lab", "compare", "real"], "--drives"),
        (vec!["lab", "compare", "io", "--drives=place"], "real"),
        (vec!["lab", "compare", "io", "--size=7"], "size"),
        (vec!["lab", "compare", "io", "--repeat=0"], "repeat"),
        (vec!["lab", "report", "nothing.json", "--output=x.html"], "nothing.json"),
        (vec!["lab", "report", "page.md", "--output=x.html"], "page.md"),
        (vec!["lab", "report", &files[0], "--output=x.pdf"], "x.pdf"),
    ] {
        let output = program(&arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(word), "{arguments:?} should say `{word}`: {error}");
        assert!(is_empty(&place));
    }
}

/// The whole jobs of a comparison with and without overlap have their timelines, and the gain is said.
fn overlap_is_told(section: &serde_json::Value) {
    for series in section["series"].as_array().unwrap() {
        let Some(events) = series["timeline"].as_array() else { continue };
        let of = |kind: &str| events.iter().filter(|event| event["kind"] == kind).collect::<Vec<_>>();
        assert!(!of("compute").is_empty() && !of("read").is_empty(), "{}", series["name"]);
        // In turns a drive never reads while it, or another, writes.
        if series["name"].as_str().unwrap().contains("one after another") {
            for (read, write) in
                of("read").iter().flat_map(|read| of("write").into_iter().map(move |w| (read, w)))
            {
                let at = |event: &serde_json::Value, name: &str| event[name].as_f64().unwrap();
                let apart = at(read, "end") <= at(write, "start") + 1e-4
                    || at(write, "end") <= at(read, "start") + 1e-4;
                assert!(apart, "{read} {write}");
            }
        }
    }
    let note = section["notes"][0].as_str().unwrap();
    assert!(note.contains("times as fast") && note.contains("would allow up to"), "{note}");
}

/// Each way has runs with other numbers of buffers and other chunks.
fn buffers_and_chunks_were_tried(section: &serde_json::Value) {
    let tuning = section["tuning"].as_array().unwrap();
    for series in section["series"].as_array().unwrap() {
        let tried: Vec<_> = tuning.iter().filter(|tuning| tuning["name"] == series["name"]).collect();
        let different = |key: &str| tried.iter().any(|one| one[key] != tried[0][key]);
        assert!(different("buffers") && different("chunk"), "{tried:?}");
        let best = tried.iter().map(|one| one["seconds"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
        let used = |one: &&&serde_json::Value| {
            one["buffers"] == series["buffers"] && one["chunk"] == series["chunk"]
        };
        assert!(tried.iter().filter(used).any(|one| one["seconds"] == best), "{series}");
    }
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
