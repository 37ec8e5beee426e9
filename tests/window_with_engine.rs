//! The window's main path with the real engine: the demo, made small, on two folders.

#[path = "support/hands.rs"]
mod hands;

use std::path::Path;
use std::sync::Arc;

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
use gigafringe::app::{App, Command, Engine, RunState, blank_project};
use gigafringe::engine::{Cancel, EventSink};
use gigafringe::lab::{Comparing, Experiment};
use gigafringe::optics::Bytes;
use gigafringe::project::Project;
use gigafringe::run::{Settings, run_project};

use hands::{Window, enter, shows, wait};

/// The demo's files in a folder of the test's own.
fn demo(folder: &Path) -> std::path::PathBuf {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo");
    for file in ["project.json", "camera.png", "cat.png", "coffee.png"] {
        std::fs::copy(demo.join(file), folder.join(file)).unwrap();
    }
    folder.join("project.json")
}

#[test]
fn the_demo_is_loaded_given_drives_run_and_its_layers_seen() {
    let folder = tempfile::tempdir().unwrap();
    let path = demo(folder.path());
    let project = Project::load(&path).unwrap();
    let mut window: Window = Harness::builder()
        .with_size([1400.0, 1800.0])
        .build_eframe(move |cc| App::new(Arc::new(Engine), project, Some(path), &cc.egui_ctx));
    window.run_steps(3);
    enter(&mut window, "Width", "256");
    enter(&mut window, "Height", "256");
    enter(&mut window, "Pitch", "16um");
    for (role, name) in [("Role A", "a"), ("Role B", "b")] {
        let drive = folder.path().join(name);
        std::fs::create_dir(&drive).unwrap();
        enter(&mut window, "Folder path", drive.to_str().unwrap());
        window.get_by_role_and_label(Role::ComboBox, role).click();
        window.run_steps(3);
        window.get_all_by_label_contains(drive.to_str().unwrap()).last().unwrap().click();
        window.run_steps(3);
    }
    assert_eq!(window.state().project().drives.len(), 2);

    window.get_by_label("Run").click();
    wait(&mut window, "the end", |w| !w.state().is_running() && *w.state().view().state() != RunState::Idle);
    assert!(
        matches!(window.state().view().state(), RunState::Finished(_)),
        "{:?}",
        window.state().view().state()
    );
    for layer in ["Reconstruction of layer 1", "Reconstruction of layer 2", "Reconstruction of layer 3"] {
        wait(&mut window, layer, |w| w.query_by_label(layer).is_some());
    }
    assert!(window.query_all_by_label_contains("Drive 1").next().is_some());

    // What the window made is what the same project makes without one, byte for byte.
    let project = window.state().project().clone();
    let made = std::fs::read(&project.output.path).unwrap();
    let other = Project {
        output: gigafringe::project::Output {
            path: folder.path().join("other.npy"),
            ..project.output.clone()
        },
        drives: Vec::new(),
        ..project
    };
    let (sink, _events) = EventSink::channel(|| {});
    run_project(&other, &Settings::from(&other), &sink, &Cancel::default()).unwrap();
    assert!(made == std::fs::read(&other.output.path).unwrap());
    for drive in ["a", "b"] {
        assert_eq!(std::fs::read_dir(folder.path().join(drive)).unwrap().count(), 0, "scratch is gone");
    }
}

/// The lab's page: a comparison runs, is followed, and is drawn; another one is stopped.
#[test]
fn a_comparison_is_made_and_another_one_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_path_buf();
    let mut window: Window = Harness::builder()
        .with_size([1400.0, 1200.0])
        .build_eframe(|cc| App::new(Arc::new(Engine), blank_project(), None, &cc.egui_ctx));
    let comparing = |size| Comparing {
        experiment: Experiment::Breakdown,
        size,
        memory: Some(Bytes(16 << 20)),
        repeat: 1,
        folder: place.clone(),
        drives: Vec::new(),
    };
    window.get_by_label("Lab").click();
    window.run_steps(3);
    assert!(shows(&window, "Nothing has been compared yet"));
    let until = |window: &mut Window, text: &'static str| wait(window, text, |w| shows(w, text));
    window.state_mut().send(Command::Compare(Box::new(comparing(300))));
    window.run_steps(2);
    until(&mut window, "All gave one plane");
    for text in ["zero-padded, 1 drive over implicit, 4 drives", "Emulated SATA drives", "Compare"] {
        assert!(shows(&window, text), "{text}");
    }
    // A large one, which is stopped in its middle.
    window.state_mut().send(Command::Compare(Box::new(comparing(2048))));
    window.run_steps(2);
    until(&mut window, "Stop");
    until(&mut window, "1 of 1: implicit");
    window.get_by_label("Stop").click();
    until(&mut window, "stopped on request");
    assert!(shows(&window, "All gave one plane"), "what was compared before stays");
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0, "nothing is left");
    // Closing the window stops one, too, and waits for it.
    window.state_mut().send(Command::Compare(Box::new(comparing(2048))));
    window.run_steps(2);
    until(&mut window, "1 of 1: implicit");
    window.state_mut().send(Command::Close);
    wait(&mut window, "the end, with nothing left", |_| std::fs::read_dir(&place).unwrap().count() == 0);
}
