//! Journeys through the window, with a stand-in for the engine and no display.

#[path = "support/fake_engine.rs"]
mod fake_engine;
#[path = "support/hands.rs"]
mod hands;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use gigafringe::app::{App, Command, Edit, RunState, blank_project};
use gigafringe::project::{self, Encoding, Layer, Layering, Method, Project};
use gigafringe::storage::ScratchPrecision;

use hands::{Window, click, enter, is_enabled, shows, wait};

use fake_engine::{Ending, FakeEngine, NO_BLOCKS};

/// The longest a test waits for anything.
const PATIENCE: Duration = Duration::from_secs(30);

/// Two layers whose images exist, and an output that does not.
fn project(folder: &Path) -> Project {
    let mut project = blank_project();
    for (i, depth) in ["3mm", "4mm"].into_iter().enumerate() {
        let image = folder.join(format!("layer{i}.png"));
        image::GrayImage::from_fn(31, 20, |x, _| image::Luma([u8::try_from(8 * x % 256).unwrap()]))
            .save(&image)
            .unwrap();
        let distance = depth.parse().unwrap();
        project.layers.push(Layer::new(image, distance));
    }
    project.output.path = folder.join("hologram.npy");
    project
}

fn open(engine: FakeEngine, project: Project) -> Window {
    open_as(engine, project, None)
}

fn open_as(engine: FakeEngine, project: Project, path: Option<PathBuf>) -> Window {
    // Tall, so that nothing has to be scrolled to.
    Harness::builder()
        .with_size([1400.0, 3200.0])
        .build_eframe(move |cc| App::new(Arc::new(engine), project, path, &cc.egui_ctx))
}

#[test]
fn roles_are_assigned_the_run_is_followed_and_the_previews_appear() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { pace: Duration::from_millis(5), ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    wait(&mut window, "the drives", |w| shows(w, "nvme0n1"));
    window.state_mut().send(Command::AddFolder("/fake/sata/more".into()));
    window.run_steps(3);

    for (role, place) in [
        ("Role A", "/fake/fast (SSD, 800 GiB free)"),
        ("Role B", "/fake/sata (SSD, 400 GiB free)"),
        ("Role C", "/fake/sata/more"),
    ] {
        // An estimate that arrives would move what is below it.
        settle(&mut window);
        window.get_by_role_and_label(Role::ComboBox, role).click();
        settle(&mut window);
        window.get_all_by_label(place).last().unwrap().click();
        window.run_steps(3);
    }
    let drives: Vec<_> =
        window.state().project().drives.iter().map(|d| (d.role, d.path.to_str().unwrap())).collect();
    assert_eq!(
        drives,
        [
            (project::Role::A, "/fake/fast"),
            (project::Role::B, "/fake/sata"),
            (project::Role::C, "/fake/sata/more")
        ]
    );
    wait(&mut window, "the engine's note", |w| shows(w, "/fake/sata and /fake/sata/more are on one device"));

    assert!(shows(&window, "After the run: the reconstruction at 4 mm"));
    click(&mut window, "Run");
    wait(&mut window, "the second phase", |w| shows(w, "Job 1 of 3: hologram, phase 2: columns"));
    let progress = window.state().view().progress(0.0).fraction;
    assert!(progress > 0.0 && progress < 1.0, "{progress}");
    assert!(shows(&window, "Drive 1, role A") && shows(&window, "Processor"));
    assert!(shows(&window, "Elapsed"));

    wait(&mut window, "the end", |w| shows(w, "Finished in"));
    assert!(matches!(window.state().view().state(), RunState::Finished(_)));
    wait(&mut window, "both previews", |w| {
        w.query_by_label("Reconstruction of layer 1").is_some()
            && w.query_by_label("Reconstruction of layer 2").is_some()
    });
    assert!(shows(&window, "Layer 2 at 4 mm"));
    assert!(shows(&window, "1 : 4 preview, intensity |u|², relative"));
    assert!(is_enabled(&window, "Run"));

    // A click opens the inspector on that layer; the run is where it was.
    click(&mut window, "Reconstruction of layer 2");
    assert!(shows(&window, "Layer 2 of 2 at 4 mm"));
    click(&mut window, "Charts");
    assert!(shows(&window, "Layer 2 at 4 mm"));
    click(&mut window, "Show log");
    assert!(shows(&window, "no direct I/O"));
}

#[test]
fn a_preview_is_never_shown_as_something_it_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    click(&mut window, "Run");
    wait(&mut window, "both previews", |w| w.query_all_by_label_contains("Reconstruction of").count() == 2);
    assert!(!shows(&window, "the project has changed since"));
    enter(&mut window, "Depth of layer 2", "9mm");
    assert!(shows(&window, "; the project has changed since"));
    assert!(shows(&window, "Layer 2 at 9 mm") && shows(&window, "as run at 4 mm; changed since"));
    // The second layer moves up; the first layer's reconstruction must not stand beside it.
    click(&mut window, "Remove layer 1");
    assert_eq!(window.query_all_by_label_contains("Reconstruction of").count(), 0);
}

#[test]
fn cancel_stops_the_run_and_says_what_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { pace: Duration::from_millis(20), chunks: 500, ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    click(&mut window, "Run");
    wait(&mut window, "progress", |w| w.state().view().progress(0.0).fraction > 0.0);
    assert!(window.query_by_label("Run").is_none(), "one run at a time");
    let asked = Instant::now();
    click(&mut window, "Cancel");
    wait(&mut window, "the stop", |w| shows(w, "Stopped on request; scratch files were removed"));
    assert!(asked.elapsed() < Duration::from_secs(5));
    assert!(is_enabled(&window, "Run"));
}

#[test]
fn a_run_can_be_cancelled_while_it_is_still_being_checked() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { delay: Duration::from_millis(300), chunks: 100_000, ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    click(&mut window, "Run");
    click(&mut window, "Cancel");
    wait(&mut window, "the stop", |w| matches!(w.state().view().state(), RunState::Cancelled(_)));
}

#[test]
fn a_value_without_its_unit_is_refused_under_the_field_and_blocks_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    let before = window.state().project().clone();
    enter(&mut window, "Wavelength λ", "633");
    assert!(shows(&window, "`633` has no unit; write it as 633nm"));
    assert_eq!(window.state().project(), &before);
    assert!(!is_enabled(&window, "Run"));
    assert!(!window.state().title().contains('•'));

    enter(&mut window, "Wavelength λ", "633 nm");
    assert!(!shows(&window, "has no unit"));
    assert_eq!(window.state().project().wavelength, "633nm".parse().unwrap());
    assert!(is_enabled(&window, "Run"));
    assert_eq!(window.state().title(), "Gigafringe — untitled •");

    enter(&mut window, "Pitch", "-4um");
    assert!(shows(&window, "it must be above zero"));
    enter(&mut window, "Chunk", "0");
    assert!(shows(&window, "leave it out to fill the memory"));
    enter(&mut window, "Depth of layer 2", "5 parsec");
    assert!(shows(&window, "unknown unit"));
}

#[test]
fn escape_gives_the_value_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    enter(&mut window, "Width", "many");
    assert!(shows(&window, "is not a whole number"));
    window.get_by_label("Width").focus();
    window.step();
    window.key_press(egui::Key::Escape);
    window.run_steps(3);
    assert!(!shows(&window, "is not a whole number"));
    assert_eq!(window.get_by_label("Width").value().as_deref(), Some("2048"));
}

#[test]
fn one_pitch_serves_both_axes_until_they_are_parted() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    enter(&mut window, "Pitch", "5um");
    let grid = window.state().project().grid;
    assert_eq!((grid.pitch_x.to_string(), grid.pitch_y.to_string()), ("5um".into(), "5um".into()));
    click(&mut window, "Same pitch on both axes");
    enter(&mut window, "Pitch y", "7um");
    let grid = window.state().project().grid;
    assert_eq!((grid.pitch_x.to_string(), grid.pitch_y.to_string()), ("5um".into(), "7um".into()));
    click(&mut window, "Same pitch on both axes");
    assert_eq!(window.state().project().grid.pitch_y.to_string(), "5um");
}

#[test]
fn a_failed_run_shows_its_message_and_it_can_be_copied() {
    let folder = tempfile::tempdir().unwrap();
    let text = "/fake/disk: no space is left; free some or give role B to another drive";
    let engine = FakeEngine { ending: Ending::Fail(text.into()), ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    click(&mut window, "Run");
    wait(&mut window, "the failure", |w| shows(w, "The run failed: /fake/disk: no space is left"));
    window.get_by_label("Copy details").click();
    let mut copied = String::new();
    for _ in 0..6 {
        window.step();
        for command in &window.output().platform_output.commands {
            if let egui::OutputCommand::CopyText(text) = command {
                copied.clone_from(text);
            }
        }
    }
    assert!(copied.contains(text) && copied.contains("\"wavelength\""), "{copied}");
    click(&mut window, "Dismiss");
    assert!(window.query_by_label("Copy details").is_none());
    assert!(is_enabled(&window, "Run"));
}

#[test]
fn a_panic_of_the_engine_is_a_failure_not_an_endless_run() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { ending: Ending::Panic, ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    click(&mut window, "Run");
    wait(&mut window, "the failure", |w| matches!(w.state().view().state(), RunState::Failed(_)));
    assert!(shows(&window, "this is a defect of Gigafringe"));
    assert!(is_enabled(&window, "Run"));
}

#[test]
fn an_existing_output_is_overwritten_only_after_a_question_or_when_that_is_ticked() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path());
    std::fs::write(&project.output.path, "precious").unwrap();
    let engine = FakeEngine::default();
    let runs = engine.runs.clone();
    let mut window = open(engine, project);
    let finished = |w: &Window| matches!(w.state().view().state(), RunState::Finished(_));
    click(&mut window, "Run");
    wait(&mut window, "the question", |w| shows(w, "The output exists"));
    click(&mut window, "Back");
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    click(&mut window, "Run");
    wait(&mut window, "the question", |w| shows(w, "The output exists"));
    click(&mut window, "Overwrite and run");
    wait(&mut window, "the end", finished);
    assert_eq!(runs.load(Ordering::Relaxed), 1);
    // The question stands before the last run's charts and previews; it does not cost them.
    click(&mut window, "Run");
    wait(&mut window, "the question", |w| shows(w, "The output exists"));
    assert!(finished(&window) && window.query_by_label("Reconstruction of layer 1").is_some());
    click(&mut window, "Back");
    click(&mut window, "Overwrite existing files");
    click(&mut window, "Run");
    wait(&mut window, "the second run", |_| runs.load(Ordering::Relaxed) == 2);
    wait(&mut window, "the end", finished);
}

#[test]
fn an_encoding_is_chosen_with_an_ending_that_holds_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    window.run_steps(2);
    let choose = |window: &mut Window, option: &'static str| {
        window.get_by_role_and_label(Role::ComboBox, "Encoding").click();
        window.run_steps(3);
        click(window, option);
    };
    assert!(window.query_by_label("Full scale").is_none());
    choose(&mut window, "Amplitude, 8 bit");
    enter(&mut window, "Full scale", "2.5");
    let png = folder.path().join("hologram.png");
    enter(&mut window, "Hologram", png.to_str().unwrap());
    let output = window.state().project().output.clone();
    assert_eq!((output.encoding, output.full_scale, &output.path), (Encoding::Amplitude8, Some(2.5), &png));
    choose(&mut window, "Complex");
    assert_eq!(window.state().project().output.path, folder.path().join("hologram.npy"));
}

/// Draws frames until what is worked out in the background has long arrived.
fn settle(window: &mut Window) {
    for _ in 0..25 {
        window.step();
        std::thread::sleep(Duration::from_millis(4));
    }
}

fn choose(window: &mut Window, name: &'static str, option: &'static str) {
    settle(window);
    window.get_by_role_and_label(Role::ComboBox, name).click();
    settle(window);
    window.get_all_by_label(option).last().unwrap().click();
    window.run_steps(3);
}

/// Whether the plan whose row begins with `label` is marked as the chosen one.
fn is_chosen(window: &Window, label: &'static str) -> bool {
    use egui::accesskit::Toggled;
    let node = window.get_by_label_contains(label);
    let node = node.accesskit_node();
    assert_eq!(node.role(), Role::RadioButton);
    node.toggled() == Some(Toggled::True)
}

#[test]
fn every_method_can_be_chosen_and_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    wait(&mut window, "the estimate", |w| shows(w, "Predicted time"));
    assert!(shows(&window, "; here padded"), "what the planner has taken");
    for (option, help, method) in [
        ("implicit", "with full padding", Method::Implicit),
        ("padded", "as the light can reach", Method::Padded),
        ("streamed", "Part of the spectrum after part", Method::Streamed),
        ("blocks", "in blocks that overlap", Method::Blocks),
        ("in-core", "all scratch in memory", Method::InCore),
        ("automatic", "Takes the plan", Method::Auto),
    ] {
        choose(&mut window, "Method", option);
        assert_eq!(window.state().project().method, method);
        assert!(shows(&window, help), "{option}");
    }
}

#[test]
fn plans_stand_side_by_side_and_a_click_chooses_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    wait(&mut window, "the plans", |w| shows(w, "Plan padded: 2.00 s, moves 192 MiB, scratch 128 MiB"));
    assert!(is_chosen(&window, "Plan padded") && !is_chosen(&window, "Plan implicit"));
    assert!(shows(&window, "2.00 s (usual figures)"));
    assert!(shows(&window, "blocks cannot run: memory: 1GiB is too little"));

    window.get_by_label_contains("Plan implicit").click();
    wait(&mut window, "the choice", |w| is_chosen(w, "Plan implicit"));
    assert_eq!(window.state().project().method, Method::Implicit);
    assert!(!is_chosen(&window, "Plan padded"));

    // A method that cannot run does not hide those that can.
    choose(&mut window, "Method", "blocks");
    wait(&mut window, "the reason", |w| shows(w, "twice the plane's width is no multiple of 7"));
    assert!(!is_chosen(&window, "Plan padded") && !is_chosen(&window, "Plan implicit"));
    assert!(
        window.get_by_label_contains("blocks cannot run").rect().height() > 20.0,
        "{NO_BLOCKS} is wrapped"
    );
    window.get_by_label_contains("Plan streamed").click();
    wait(&mut window, "the choice", |w| is_chosen(w, "Plan streamed"));
    window.get_by_label("Compare the plans").click();
    window.run_steps(30);
    assert!(!shows(&window, "Plan streamed"));
}

#[test]
fn the_machine_is_measured_when_no_run_is_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { delay: Duration::from_millis(150), chunks: 100, ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    wait(&mut window, "the plans", |w| shows(w, "The times rest on usual figures, not all measured here"));
    click(&mut window, "Measure this machine");
    assert!(shows(&window, "Measuring…") && !is_enabled(&window, "Measure this machine"));
    assert!(!is_enabled(&window, "Run") && shows(&window, "This machine is being measured"));
    wait(&mut window, "the figures", |w| shows(w, "The times rest on figures measured on this machine"));
    assert!(!shows(&window, "Measuring…") && !shows(&window, "usual figures"));
    click(&mut window, "Run");
    assert!(!is_enabled(&window, "Measure this machine"));
    wait(&mut window, "the prediction", |w| shows(w, "This job: predicted 2.00 s"));
    wait(&mut window, "the comparison", |w| shows(w, ", predicted 6.00 s"));
    assert!(shows(&window, "Passes took") && is_enabled(&window, "Measure this machine"));
}

#[test]
fn measuring_that_fails_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { unmeasurable: true, ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    wait(&mut window, "the plans", |w| shows(w, "Plan padded"));
    click(&mut window, "Measure this machine");
    wait(&mut window, "the reason", |w| shows(w, "Measuring failed: /fake/disk: is away"));
    assert!(is_enabled(&window, "Measure this machine") && is_enabled(&window, "Run"));
}

#[test]
fn layering_scratch_and_streams_are_set() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    window.run_steps(3);
    choose(&mut window, "Layering", "fused");
    assert!(shows(&window, "only one transform leads back"));
    click(&mut window, "Advanced");
    window.run_steps(30);
    choose(&mut window, "Scratch keeps", "b16, 4 bytes a sample");
    assert!(shows(&window, "about 4e-5 each time a plane is kept"));
    enter(&mut window, "Streams", "4");
    enter(&mut window, "At once", "2");
    enter(&mut window, "Tolerance", "1e-4");
    let project = window.state().project().clone();
    assert_eq!(project.layering, Layering::Fused);
    assert_eq!(project.scratch_precision, Some(ScratchPrecision::B16));
    assert_eq!((project.streams, project.at_once, project.tolerance), (Some(4), Some(2), Some(1e-4)));
    enter(&mut window, "At once", "");
    assert_eq!(window.state().project().at_once, None);
    enter(&mut window, "Streams", "65");
    assert!(shows(&window, "65 cannot be used") && !is_enabled(&window, "Run"));
}

#[test]
fn fifty_passes_are_listed_and_do_not_break_the_layout() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { passes: Some(50), ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    click(&mut window, "Run");
    wait(&mut window, "the end", |w| shows(w, "Finished in"));
    let screen = window.ctx.content_rect();
    let within = |window: &Window, label: &'static str| {
        screen.contains_rect(window.get_by_label_contains(label).rect())
    };
    assert!(within(&window, "Passes took") && within(&window, "Processor"));
    let list = window.get_by_role_and_label(Role::ComboBox, "Pass shown");
    assert!(screen.contains_rect(list.rect()));
    list.click();
    window.run_steps(10);
    window.get_by_label("Hologram, pass 2 of 50: phase 2: columns").click();
    window.run_steps(3);
    assert!(window.query_by_label("Hologram, pass 3 of 50: phase 3: rows").is_none(), "the list is closed");
}

#[test]
fn closing_during_a_run_does_not_cost_unsaved_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    project(folder.path()).save(&path).unwrap();
    let engine = FakeEngine { pace: Duration::from_millis(20), ..FakeEngine::default() };
    let mut window = open_as(engine, Project::load(&path).unwrap(), Some(path.clone()));
    window.run_steps(2);
    enter(&mut window, "Depth of layer 1", "8 mm");
    click(&mut window, "Run");
    wait(&mut window, "the run", |w| *w.state().view().state() == RunState::Running);
    window.state_mut().send(Command::Close);
    window.run_steps(3);
    click(&mut window, "Stop and close");
    assert!(shows(&window, "The project has unsaved changes"));
    // The question's, not the toolbar's.
    window.get_all_by_label("Save").last().unwrap().click();
    wait(&mut window, "the stop", |w| !w.state().is_running());
    assert_eq!(Project::load(&path).unwrap().layers[0].distance.to_string(), "8mm");
}

#[test]
fn a_slow_engine_never_holds_a_frame_up() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine {
        delay: Duration::from_millis(700),
        picked: Some(Vec::new()),
        pace: Duration::from_millis(50),
        ..FakeEngine::default()
    };
    let mut slowest = Duration::ZERO;
    let mut pressed = false;
    let began = Instant::now();
    let mut window = open(engine, project(folder.path()));
    assert!(began.elapsed() < Duration::from_millis(600), "opening: {:?}", began.elapsed());
    let deadline = Instant::now() + Duration::from_secs(3);
    while Instant::now() < deadline {
        if !pressed && shows(&window, "Scratch space") {
            pressed = true;
            // A change, so that the estimate is made again while the run is being started.
            window.state_mut().send(Command::Edit(Edit::Seed(7)));
            for button in ["Run", "Add images…", "Refresh"] {
                window.get_by_label(button).click();
            }
        }
        let began = Instant::now();
        window.step();
        slowest = slowest.max(began.elapsed());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(pressed && window.state().view().progress(0.0).fraction > 0.0, "the run must have begun");
    // A step draws a frame for each event of the clicks; a wait for the engine would take 700 ms.
    assert!(slowest < Duration::from_millis(350), "{slowest:?}");
}

#[test]
fn an_idle_window_asks_for_no_frames() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    wait(&mut window, "the estimate", |w| shows(w, "Bytes to move"));
    std::thread::sleep(Duration::from_millis(200));
    let mut delay = Duration::ZERO;
    for _ in 0..200 {
        window.step();
        delay = window.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay;
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(delay > Duration::from_mins(1), "{delay:?}");
}

#[test]
fn closing_during_a_run_asks_first() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { pace: Duration::from_millis(20), chunks: 500, ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    click(&mut window, "Run");
    wait(&mut window, "progress", |w| w.state().view().progress(0.0).fraction > 0.0);
    request_close(&mut window);
    assert!(shows(&window, "Closing the window stops it"));
    click(&mut window, "Keep running");
    assert!(window.state().is_running() && !shows(&window, "Closing the window stops it"));
    request_close(&mut window);
    window.get_by_label("Stop and close").click();
    assert!(closes(&mut window) && !window.state().is_running());
}

/// Draws frames until the window asks to be closed, or patience ends.
fn closes(window: &mut Window) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        // Frame by frame, since the command to close is seen in one frame only.
        window.step();
        let commands = &window.output().viewport_output[&egui::ViewportId::ROOT].commands;
        if commands.contains(&egui::ViewportCommand::Close) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    false
}

#[test]
fn a_signal_stops_the_run_and_closes_without_a_question() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { pace: Duration::from_millis(20), chunks: 500, ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    // Not even unsaved changes are asked about.
    enter(&mut window, "Width", "1024");
    assert!(window.state().is_dirty());
    click(&mut window, "Run");
    wait(&mut window, "progress", |w| w.state().view().progress(0.0).fraction > 0.0);
    window.state().interrupted().store(true, Ordering::Relaxed);
    assert!(closes(&mut window));
    // The engine says this only when it was cancelled.
    let stopped = RunState::Cancelled("stopped on request; scratch files were removed".into());
    assert_eq!(window.state().view().state(), &stopped);
}

#[test]
fn a_signal_closes_a_window_without_a_run_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    enter(&mut window, "Width", "1024");
    request_close(&mut window);
    assert!(shows(&window, "The project has unsaved changes"));
    window.state().interrupted().store(true, Ordering::Relaxed);
    window.step();
    let commands = &window.output().viewport_output[&egui::ViewportId::ROOT].commands;
    assert!(commands.contains(&egui::ViewportCommand::Close));
}

/// Presses the window's close button.
fn request_close(window: &mut Window) {
    let viewport = window.input_mut().viewports.entry(egui::ViewportId::ROOT).or_default();
    viewport.events.push(egui::ViewportEvent::Close);
    window.step();
    if let Some(viewport) = window.input_mut().viewports.get_mut(&egui::ViewportId::ROOT) {
        viewport.events.clear();
    }
    window.run_steps(3);
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }
    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}

#[test]
fn images_are_added_by_dropping_typing_and_the_dialog_and_removed_again() {
    let folder = tempfile::tempdir().unwrap();
    let full = project(folder.path());
    let [first, second] = [&full.layers[0].image, &full.layers[1].image].map(PathBuf::clone);
    let engine = FakeEngine { picked: Some(vec![second.clone()]), ..FakeEngine::default() };
    let mut window = open(engine, blank_project());
    window.run_steps(2);
    assert!(shows(&window, "Start here: add an image"));
    assert!(!is_enabled(&window, "Run"));

    window.input_mut().dropped_files.push(Arc::new(Dropped(first.clone())));
    window.run_steps(3);
    enter(&mut window, "Image path", second.to_str().unwrap());
    click(&mut window, "Add images…");
    wait(&mut window, "the third layer", |w| w.state().project().layers.len() == 3);
    let layers: Vec<_> =
        window.state().project().layers.iter().map(|l| (l.image.clone(), l.distance.to_string())).collect();
    let expected = [(first, "3mm"), (second.clone(), "4mm"), (second, "5mm")];
    assert_eq!(layers, expected.map(|(path, depth)| (path, depth.to_string())));

    click(&mut window, "Remove layer 2");
    let depths: Vec<_> = window.state().project().layers.iter().map(|l| l.distance.to_string()).collect();
    assert_eq!(depths, ["3mm", "5mm"]);
    enter(&mut window, "Image path", "/no/such/image.png");
    assert!(shows(&window, "there is no such file"));
}

#[test]
fn a_dialog_that_cannot_be_shown_says_what_to_do_instead() {
    let mut window = open(FakeEngine::default(), blank_project());
    window.run_steps(2);
    click(&mut window, "Add images…");
    wait(&mut window, "the advice", |w| shows(w, "install xdg-desktop-portal, or type a path"));
    assert!(is_enabled(&window, "Add images…"));
}

#[test]
fn a_project_is_saved_where_its_path_says_and_changes_are_not_lost_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    let original = project(folder.path());
    original.save(&path).unwrap();
    let mut window = open_as(FakeEngine::default(), Project::load(&path).unwrap(), Some(path.clone()));
    window.run_steps(2);
    assert_eq!(window.state().title(), "Gigafringe — mine.json");

    enter(&mut window, "Depth of layer 1", "-7.5 mm");
    assert_eq!(window.state().title(), "Gigafringe — mine.json •");
    click(&mut window, "New");
    assert!(shows(&window, "The project has unsaved changes"));
    click(&mut window, "Back");
    assert_eq!(window.state().project().layers.len(), 2);

    click(&mut window, "Save");
    assert_eq!(window.state().title(), "Gigafringe — mine.json");
    assert_eq!(Project::load(&path).unwrap().layers[0].distance.to_string(), "-7.5mm");
    click(&mut window, "New");
    assert!(window.state().project().layers.is_empty());

    enter(&mut window, "Project", path.to_str().unwrap());
    assert_eq!(window.state().project().layers.len(), 2);
    assert_eq!(window.state().title(), "Gigafringe — mine.json");

    enter(&mut window, "Project", folder.path().join("none.json").to_str().unwrap());
    assert!(shows(&window, "there is no such file yet"));
    click(&mut window, "Save");
    assert!(folder.path().join("none.json").is_file());
    assert_eq!(window.state().title(), "Gigafringe — none.json");
}

#[test]
fn an_image_that_cannot_be_read_is_told_at_its_layer() {
    let folder = tempfile::tempdir().unwrap();
    let mut project = project(folder.path());
    std::fs::write(&project.layers[1].image, "not a picture").unwrap();
    project.layers[0].image = folder.path().join("gone.png");
    let mut window = open(FakeEngine::default(), project);
    wait(&mut window, "both messages", |w| shows(w, "gone.png: ") && shows(w, "layer1.png: "));
}
