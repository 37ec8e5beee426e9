//! What is kept of runs: the timeline, files of events, the history.

#[path = "support/fake_engine.rs"]
mod fake_engine;
#[path = "support/hands.rs"]
mod hands;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use gigafringe::app::{App, Command, RecordsCommand, RunState, blank_project};
use gigafringe::engine::Event;
use gigafringe::project::{Layer, Project};
use gigafringe::run::load_events;

use fake_engine::{Ending, FakeEngine};
use hands::{Window, click, enter, is_enabled, shows, wait};

fn project(folder: &Path) -> Project {
    let mut project = blank_project();
    let image = folder.join("layer.png");
    image::GrayImage::from_pixel(31, 20, image::Luma([200])).save(&image).unwrap();
    project.layers.push(Layer::new(image, "3mm".parse().unwrap()));
    project.output.path = folder.join("hologram.npy");
    project
}

fn open(folder: &Path) -> Window {
    open_with(FakeEngine::default(), folder)
}

fn open_with(engine: FakeEngine, folder: &Path) -> Window {
    let project = project(folder);
    Harness::builder()
        .with_size([1700.0, 1500.0])
        .build_eframe(move |cc| App::new(Arc::new(engine), project, None, &cc.egui_ctx))
}

/// Shows a page by its tab.
fn page(window: &mut Window, name: &'static str) {
    window.get_by_role_and_label(egui::accesskit::Role::Button, name).click();
    window.run_steps(3);
}

fn run(window: &mut Window) {
    window.state_mut().send(Command::RunOver);
    window.run_steps(2);
    wait(window, "the end", |w| matches!(w.state().view().state(), RunState::Finished(_)));
}

#[test]
fn a_run_is_saved_and_opened_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(folder.path());
    window.run_steps(3);
    page(&mut window, "Timeline");
    assert!(shows(&window, "Every read, computation and write of a run"));
    assert!(window.get_by_label("Save events").accesskit_node().is_disabled(), "there is no run yet");
    run(&mut window);
    assert!(window.query_by_label("Timeline of the run").is_some());

    let file = folder.path().join("first");
    enter(&mut window, "Events file", file.to_str().unwrap());
    // Enter opens what exists; this does not yet.
    assert!(shows(&window, "there is no such file yet"));
    click(&mut window, "Save events");
    let file = file.with_extension("jsonl");
    wait(&mut window, "the file", |w| shows(w, "Saved the events"));
    let events = load_events(&file).unwrap();
    assert!(events.iter().any(|event| matches!(event, Event::Finished { .. })));
    let chunks = events.iter().filter(|event| matches!(event, Event::Chunk(_))).count();
    // Two jobs of three passes of four chunks: read, computed, written, each.
    assert!(chunks >= 2 * 3 * 4 * 3, "{chunks}");

    // A name that is taken is not written over.
    enter(&mut window, "Events file", file.with_extension("").to_str().unwrap());
    std::fs::write(&file, "precious").unwrap();
    click(&mut window, "Save events");
    wait(&mut window, "the error", |w| shows(w, "exists; type another name"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");

    // A damaged file is refused, and the run stays in view.
    let bars = window.state().view().timeline().bars();
    window.state_mut().send(Command::Records(RecordsCommand::Open(file.clone())));
    wait(&mut window, "the refusal", |w| shows(w, "first.jsonl: line 1"));
    assert_eq!(window.state().view().timeline().bars(), bars);

    // What was saved shows the same again, in another window.
    let saved = folder.path().join("second.jsonl");
    window.state_mut().send(Command::Records(RecordsCommand::Save(saved.clone(), false)));
    wait(&mut window, "the file", |_| saved.exists());
    let mut other = open(folder.path());
    other.state_mut().send(Command::Records(RecordsCommand::Open(saved)));
    wait(&mut other, "the run", |w| matches!(w.state().view().state(), RunState::Finished(_)));
    assert_eq!(other.state().view().timeline().bars(), bars);
    assert_eq!(other.state().view().passes().len(), window.state().view().passes().len());
    assert!((other.state().view().latest() - window.state().view().latest()).abs() < 1e-9);
}

#[test]
fn runs_are_listed_compared_sorted_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(folder.path());
    window.run_steps(3);
    page(&mut window, "History");
    assert!(shows(&window, "No run has ended yet"));
    run(&mut window);
    enter(&mut window, "Buffers", "5");
    run(&mut window);
    page(&mut window, "History");
    let rows = |window: &Window| -> Vec<f32> {
        ["Show run 1", "Show run 2"].map(|name| window.get_by_label(name).rect().top()).into()
    };
    let before = rows(&window);
    assert!(before[0] < before[1]);
    // Twice: from the largest.
    click(&mut window, "buffers");
    click(&mut window, "buffers ⏶");
    let after = rows(&window);
    assert!(after[0] > after[1], "{after:?}");
    assert!(shows(&window, "hologram.npy") && shows(&window, "2048 × 2048"));

    click(&mut window, "Compare with run 1");
    assert!(shows(&window, "of the time of run 1"));
    click(&mut window, "Show run 2");
    // The timeline, with both runs' rows.
    assert!(shows(&window, "Compare with"));
    assert_eq!(
        window.get_by_role_and_label(egui::accesskit::Role::ComboBox, "Compare with").value().as_deref(),
        Some("run 1")
    );
    // The throughput of both in one chart, but not of a run over itself.
    page(&mut window, "Charts");
    assert!(shows(&window, "; thin: run 1, read"));
    page(&mut window, "History");
    click(&mut window, "Show run 1");
    page(&mut window, "Charts");
    assert!(shows(&window, "Read ") && !shows(&window, "; thin: "));
    page(&mut window, "History");
    click(&mut window, "Show run 2");
    page(&mut window, "History");
    let file = folder.path().join("table");
    enter(&mut window, "CSV file", file.to_str().unwrap());
    wait(&mut window, "the table", |w| shows(w, "Wrote the history"));
    let table = std::fs::read_to_string(file.with_extension("csv")).unwrap();
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    let column = lines[0].split(',').position(|name| name == "buffers").unwrap();
    let buffers: Vec<_> = lines[1..].iter().map(|line| line.split(',').nth(column).unwrap()).collect();
    assert_eq!(buffers, [Project::DEFAULT_BUFFERS.to_string(), "5".into()]);
    // Written over only when the file dialog has asked.
    enter(&mut window, "CSV file", file.to_str().unwrap());
    wait(&mut window, "the error", |w| shows(w, "exists; type another name"));
    click(&mut window, "Remove run 1");
    assert!(window.query_by_label("Show run 1").is_none());
    assert!(!shows(&window, "of the time of run 1"), "what is compared with is gone");
}

#[test]
fn a_failed_run_is_listed_as_such_with_what_it_did() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { ending: Ending::Fail("the drive is gone".into()), ..FakeEngine::default() };
    let mut window = open_with(engine, folder.path());
    window.run_steps(3);
    window.state_mut().send(Command::RunOver);
    window.run_steps(2);
    wait(&mut window, "the failure", |w| matches!(w.state().view().state(), RunState::Failed(_)));
    page(&mut window, "History");
    assert!(window.query_by_label("failed").is_some() && window.query_by_label("Show run 1").is_some());
    // Four chunks of the first pass: read, computed, written.
    assert!(window.state().view().timeline().bars() >= 12);
}

#[test]
fn the_history_outlives_the_window_and_what_is_removed_stays_away() {
    let folder = tempfile::tempdir().unwrap();
    let kept = tempfile::tempdir().unwrap();
    let start = |runs: usize| {
        let mut window = open(folder.path());
        window.state_mut().keep_in(kept.path(), Duration::from_secs(3));
        window.run_steps(3);
        page(&mut window, "History");
        for _ in 0..runs {
            run(&mut window);
        }
        page(&mut window, "History");
        window
    };
    let close = |mut window: Window| eframe::App::on_exit(window.state_mut(), None);
    close(start(2));
    let mut second = start(0);
    wait(&mut second, "the earlier runs", |w| w.query_by_label("Show run 2").is_some());
    assert!(!is_enabled(&second, "Show run 1"), "its charts were the first window's");
    assert!(shows(&second, "hologram.npy") && shows(&second, "2048 × 2048"));
    click(&mut second, "Compare with run 1");
    run(&mut second);
    page(&mut second, "History");
    assert!(shows(&second, "Run 3 took") && shows(&second, "of the time of run 1"));
    click(&mut second, "Remove run 2");
    close(second);
    // An entry that nobody understands does not take the others with it.
    let file = kept.path().join("history.json");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen('[', "[{\"id\": \"of another version\"},", 1)).unwrap();
    let mut third = start(0);
    wait(&mut third, "the earlier runs", |w| w.query_by_label("Show run 3").is_some());
    assert!(third.query_by_label("Show run 1").is_some() && third.query_by_label("Show run 2").is_none());
}

#[test]
fn the_project_gives_way_to_a_wide_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(folder.path());
    window.run_steps(3);
    let left = |window: &Window| window.get_by_label("Hide the project").rect().left();
    assert!(window.query_by_label("Layers").is_some() && left(&window) > 300.0);
    click(&mut window, "Hide the project");
    assert!(window.query_by_label("Layers").is_none());
    assert!(window.get_by_label("Show the project").rect().left() < 30.0);
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::B);
    window.run_steps(3);
    assert!(window.query_by_label("Layers").is_some());
}
