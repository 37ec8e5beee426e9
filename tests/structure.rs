//! The modules' arrows point one way, and the engine's side knows no window.

use std::path::{Path, PathBuf};

/// Each module of the library with those it may use; later ones may use earlier ones only.
const MODULES: [(&str, &[&str]); 14] = [
    ("optics", &[]),
    ("spectral", &["optics"]),
    ("storage", &["optics"]),
    ("machine", &["optics", "spectral", "storage"]),
    ("project", &["optics", "storage"]),
    ("engine", &["optics", "spectral", "storage", "project"]),
    ("methods", &["optics", "spectral", "storage", "project", "engine"]),
    ("planner", &["optics", "spectral", "storage", "machine", "project", "engine", "methods"]),
    ("inspect", &["optics"]),
    ("run", &["optics", "storage", "machine", "project", "engine", "methods", "planner", "inspect"]),
    ("lab", &["optics", "storage", "machine", "project", "engine", "methods", "planner", "inspect", "run"]),
    (
        "cli",
        &["optics", "storage", "machine", "project", "engine", "methods", "planner", "inspect", "run", "lab"],
    ),
    (
        "app",
        &["optics", "storage", "machine", "project", "engine", "methods", "planner", "inspect", "run", "lab"],
    ),
    ("main", &["app", "cli", "project", "run"]),
];

const WINDOW_CRATES: [&str; 5] = ["egui", "eframe", "egui_plot", "rfd", "winit"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// The files of a module, with their text.
fn files(module: &str) -> Vec<(PathBuf, String)> {
    fn walk(path: &Path, all: &mut Vec<(PathBuf, String)>) {
        if path.is_dir() {
            for entry in std::fs::read_dir(path).unwrap() {
                walk(&entry.unwrap().path(), all);
            }
        } else if path.is_file() {
            all.push((path.into(), std::fs::read_to_string(path).unwrap()));
        }
    }
    let mut all = Vec::new();
    walk(&source().join(module), &mut all);
    walk(&source().join(format!("{module}.rs")), &mut all);
    assert!(!all.is_empty(), "module {module} has files");
    all
}

/// Names that follow `prefix::` in `text`, also those in braces.
fn names_after<'t>(text: &'t str, prefix: &str) -> Vec<&'t str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(prefix)
        .filter(|(i, _)| !text[..*i].ends_with(is_name))
        .map(|(i, _)| {
            let rest = &text[i + prefix.len()..];
            &rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())]
        })
        .collect()
}

#[test]
fn every_module_is_listed() {
    let lib = std::fs::read_to_string(source().join("lib.rs")).unwrap();
    let mut declared = names_after(&lib, "pub mod ");
    let mut listed: Vec<_> = MODULES.iter().map(|m| m.0).filter(|m| *m != "main").collect();
    declared.sort_unstable();
    listed.sort_unstable();
    assert_eq!(declared, listed);
}

#[test]
fn arrows_point_one_way() {
    let mut seen = 0;
    for (module, allowed) in MODULES {
        for (path, text) in files(module) {
            for prefix in ["crate::", "gigafringe::"] {
                for used in names_after(&text, prefix).into_iter().filter(|u| *u != module) {
                    seen += 1;
                    assert!(allowed.contains(&used), "{}: {module} must not use {used}", path.display());
                }
            }
        }
    }
    assert!(seen > 50, "the test reads the sources: {seen}");
}

#[test]
fn only_the_window_knows_of_windows() {
    for (module, _) in MODULES.into_iter().filter(|m| m.0 != "app") {
        for (path, text) in files(module) {
            for name in WINDOW_CRATES {
                let used = names_after(&text, &format!("{name}::")).len();
                assert_eq!(used, 0, "{}: {module} must not use {name}", path.display());
            }
        }
    }
    let app: String = files("app").into_iter().map(|f| f.1).collect();
    assert!(!names_after(&app, "egui::").is_empty(), "the test finds what it looks for");
}
