//! Journeys through the drives' page and the tuning, with a stand-in for the engine and no display.

#[path = "support/fake_engine.rs"]
mod fake_engine;
#[path = "support/hands.rs"]
mod hands;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use egui::accesskit::{Role, Toggled};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use gigafringe::app::{App, Command, Edit, RunState, blank_project};
use gigafringe::project::{self, Drive, Layer, Project};

use fake_engine::{FakeEngine, LARGEST};
use hands::{Window, enter, shows, wait};

/// One layer, which is drawn as soon as it is there, and `folders` for the roles from A on.
fn project(folder: &Path, folders: &[&str]) -> Project {
    let mut project = blank_project();
    let image = folder.join("layer.png");
    image::GrayImage::from_pixel(31, 20, image::Luma([200])).save(&image).unwrap();
    let distance = "3mm".parse().unwrap();
    project.layers.push(Layer::new(image, distance));
    project.output.path = folder.join("hologram.npy");
    let roles = project::Role::ALL.into_iter().zip(folders);
    project.drives = roles.map(|(role, path)| Drive { path: path.into(), role }).collect();
    project
}

fn open(engine: FakeEngine, project: Project) -> Window {
    // Tall, so that nothing has to be scrolled to.
    Harness::builder()
        .with_size([1500.0, 2600.0])
        .build_eframe(move |cc| App::new(Arc::new(engine), project, None, &cc.egui_ctx))
}

/// The drives' page, once it has looked at its folders.
fn open_page(engine: FakeEngine, project: Project) -> Window {
    let mut window = open(engine, project);
    window.run_steps(2);
    click(&mut window, "Drives");
    wait(&mut window, "the folders", |w| shows(w, "Drag /fake") && is_enabled(w, "Assign for me"));
    window
}

/// Clicks the last of what has this name: a page comes after the panel beside it.
fn click(window: &mut Window, label: &'static str) {
    window.get_all_by_label(label).last().unwrap().click();
    window.run_steps(3);
}

/// Whether the first of what has this name can be clicked: a button comes before the tab of its name.
fn is_enabled(window: &Window, label: &'static str) -> bool {
    !window.get_all_by_label(label).next().unwrap().accesskit_node().is_disabled()
}

/// The folders of the roles A to D, `-` where none is set.
fn roles(window: &Window) -> String {
    let drives = &window.state().project().drives;
    let folder = |role| drives.iter().find(|d| d.role == role).map_or("-", |d| d.path.to_str().unwrap());
    project::Role::ALL.map(folder).join(" ")
}

#[test]
fn devices_are_listed_with_their_folders_and_what_is_wrong_with_the_choice() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine::default();
    let window =
        &mut open_page(engine, project(folder.path(), &["/fake/fast", "/fake/fast/b", "/fake/disk"]));
    for words in ["nvme0n1", "NVMe", "SATA", "ext4", "800 GiB of 1.56 TiB", "not measured"] {
        assert!(shows(window, words), "{words}");
    }
    for chip in ["Drag /fake/fast to a role", "Drag /fake/fast/b to a role", "Drag /fake/sata to a role"] {
        assert!(window.query_by_label(chip).is_some(), "{chip}");
    }
    // Two folders on one device are below one row.
    let page = window.get_by_label("Devices").rect().left();
    let on_page = window.get_all_by_label("nvme0n1").filter(|node| node.rect().left() > page - 1.0);
    assert_eq!(on_page.count(), 1);
    assert!(shows(window, "⚠ Slower: A and B are on the same device (nvme0n1)"));
    assert!(shows(window, "⚠ Slower: C: no direct I/O here (/fake/disk)"));
    wait(window, "the shortage", |w| {
        shows(w, "✖ Problem: /fake/disk: only 16 MiB free, this project needs 32 MiB here")
    });
    // Beside the folder, too.
    assert!(shows(window, "✖ only 16 MiB free, this project needs 32 MiB here"));
}

#[test]
fn a_role_is_given_by_its_list_and_by_dragging_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let window = &mut open_page(FakeEngine::default(), project(folder.path(), &[]));
    window.get_by_role_and_label(Role::ComboBox, "Folder of role B").click();
    window.run_steps(3);
    // The list's, not the table's.
    let is_option = |node: &egui_kittest::Node<'_>| node.accesskit_node().role() != Role::Label;
    window.get_all_by_label("/fake/sata").find(is_option).unwrap().click();
    window.run_steps(3);
    assert_eq!(roles(window), "- /fake/sata - -");

    let from = window.get_by_label("Drag /fake/disk to a role").rect().center();
    let to = window.get_by_role_and_label(Role::ComboBox, "Folder of role D").rect().center_bottom();
    let to = to + egui::vec2(0.0, 20.0);
    window.drag_at(from);
    window.step();
    for part in [0.2, 0.6, 1.0] {
        window.hover_at(from + part * (to - from));
        window.step();
    }
    window.drop_at(to);
    window.run_steps(3);
    assert_eq!(roles(window), "- /fake/sata - /fake/disk");
    wait(window, "the role at the folder", |w| shows(w, "role D"));

    // Dropped beside the slots it changes nothing.
    let from = window.get_by_label("Drag /fake/fast to a role").rect().center();
    window.drag_at(from);
    window.step();
    window.hover_at(from + egui::vec2(60.0, 40.0));
    window.step();
    window.drop_at(from + egui::vec2(60.0, 40.0));
    window.run_steps(3);
    assert_eq!(roles(window), "- /fake/sata - /fake/disk");

    window.get_by_role_and_label(Role::ComboBox, "Folder of role B").click();
    window.run_steps(3);
    window.get_all_by_label("automatic").last().unwrap().click();
    window.run_steps(3);
    assert_eq!(roles(window), "- - - /fake/disk");
}

#[test]
fn roles_are_proposed_with_reasons_and_taken_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let window = &mut open_page(FakeEngine::default(), project(folder.path(), &["/fake/disk"]));
    click(window, "Assign for me");
    wait(window, "the proposal", |w| shows(w, "Proposed: "));
    assert_eq!(roles(window), "/fake/disk - - -", "nothing changes before the user agrees");
    assert!(shows(window, "By the kinds of the drives, not all of which were measured"));
    assert!(shows(window, "Left out: /fake/disk (slower than these)."));
    click(window, "Keep the roles");
    assert!(!shows(window, "Proposed: ") && roles(window) == "/fake/disk - - -");
    click(window, "Assign for me");
    wait(window, "the proposal", |w| shows(w, "Proposed: A, B and C on /fake/fast; D on /fake/sata"));
    click(window, "Use these roles");
    assert_eq!(roles(window), "/fake/fast /fake/fast /fake/fast /fake/sata");
    assert!(!shows(window, "Proposed: "));
}

#[test]
fn folders_without_space_are_left_out_of_the_proposal() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { drives: vec!["sdb"], ..FakeEngine::default() };
    let window = &mut open_page(engine, project(folder.path(), &[]));
    click(window, "Assign for me");
    wait(window, "the reason", |w| shows(w, "⚠ No roles are proposed: no folder can have a role"));
    assert!(shows(window, "/fake/disk (only 16MiB free, this project needs 128MiB there)"));
    assert_eq!(roles(window), "- - - -");
}

#[test]
fn drives_are_measured_after_a_question_and_the_figures_are_shown_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { delay: Duration::from_millis(60), ..FakeEngine::default() };
    let window = &mut open_page(engine, project(folder.path(), &["/fake/fast", "/fake/sata"]));
    click(window, "Measure drives…");
    assert!(shows(window, "In each chosen folder a file is made, written, read, and both at once"));
    assert!(shows(window, "Takes up to about 9 s"), "three folders");
    click(window, "/fake/disk (sdb)");
    assert!(shows(window, "Takes up to about 5 s"), "two folders");
    click(window, "Back");
    assert!(!shows(window, "In each chosen folder") && shows(window, "not measured"));

    click(window, "Measure drives…");
    click(window, "Measure");
    wait(window, "the progress", |w| shows(w, "Measuring /fake/sata alone"));
    assert!(!is_enabled(window, "Measure drives…") && !is_enabled(window, "Run"));
    wait(window, "the figures", |w| shows(w, "full duplex (1.90)"));
    assert!(!shows(window, "Stop measuring") && is_enabled(window, "Run"));
    for words in ["2000", "1900 / 1900", "half duplex (1.02)", "255 / 255", "half duplex (0.80)"] {
        assert!(window.query_all_by_label(words).next().is_some(), "{words}");
    }
    assert!(!shows(window, "not measured"));
    let words = "⚠ Slower: A and B share a bottleneck: together they reach 52 % of what they reach alone";
    assert!(shows(window, words));
    assert!(shows(window, "how many times as much a drive moves when it reads and writes at once"));
    assert!(shows(
        window,
        "Measured 3 drives: predictions use what was measured, and usual figures for the rest"
    ));

    // With figures, one fast drive does better alone than with a slower one on the same cable.
    click(window, "Assign for me");
    wait(window, "the proposal", |w| shows(w, "Proposed: A, B, C and D on /fake/fast"));
    assert!(shows(window, "All roles are on /fake/fast: no other drive would make it faster."));
    assert!(shows(window, "/fake/sata (shares a bottleneck with /fake/fast)"));
    click(window, "Use these roles");
    assert_eq!(roles(window), ["/fake/fast"; 4].join(" "));
}

#[test]
fn shared_bottlenecks_are_known_to_the_next_window() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), &["/fake/fast", "/fake/sata"]);
    let words = "⚠ Slower: A and B share a bottleneck: together they reach 52 %";
    let engine = FakeEngine::default();
    let known = engine.bottlenecks.clone();
    let mut window = open_page(engine, project.clone());
    assert!(!shows(&window, words));
    click(&mut window, "Measure drives…");
    click(&mut window, "Measure");
    wait(&mut window, "the bottleneck", |w| shows(w, words));
    drop(window);

    let engine = FakeEngine { bottlenecks: known.clone(), ..FakeEngine::default() };
    let mut window = open_page(engine, project.clone());
    assert!(shows(&window, words));
    // The machine, and with it the project's drives, is measured anew: nothing is known of both at once.
    known.lock().unwrap().clear();
    click(&mut window, "Measure this machine");
    wait(&mut window, "the measurement", |w| shows(w, "Measured this machine"));
    wait(&mut window, "the folders", |w| is_enabled(w, "Assign for me"));
    assert!(!shows(&window, words));
}

#[test]
fn drives_are_measured_from_the_palette_on_any_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path(), &[]));
    window.run_steps(2);
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::K);
    window.run_steps(3);
    window.get_by_label("Search commands").type_text("measure drives");
    window.run_steps(3);
    window.key_press(egui::Key::Enter);
    wait(&mut window, "the question", |w| shows(w, "In each chosen folder a file is made"));
    assert!(shows(&window, "/fake/fast (nvme0n1)"));
    click(&mut window, "Back");
    assert!(!shows(&window, "In each chosen folder") && shows(&window, "Assign for me"));
    window.run_steps(10);
    assert!(!shows(&window, "In each chosen folder"), "asked once");
}

#[test]
fn measuring_can_be_stopped_and_says_why_it_failed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { delay: Duration::from_millis(100), ..FakeEngine::default() };
    let window = &mut open_page(engine, project(folder.path(), &[]));
    click(window, "Measure drives…");
    click(window, "Measure");
    click(window, "Stop measuring");
    assert!(shows(window, "Stopping…"));
    wait(window, "the stop", |w| shows(w, "Measuring was stopped; its files were removed"));
    wait(window, "the button", |w| is_enabled(w, "Measure drives…"));
    assert!(shows(window, "not measured"));

    let engine = FakeEngine { unmeasurable: true, ..FakeEngine::default() };
    let window = &mut open_page(engine, project(folder.path(), &[]));
    click(window, "Measure drives…");
    click(window, "Measure");
    wait(window, "the reason", |w| shows(w, "Measuring failed: /fake/disk: is away"));
    wait(window, "the button", |w| is_enabled(w, "Measure drives…"));
}

#[test]
fn nothing_is_measured_during_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { pace: Duration::from_millis(20), chunks: 500, ..FakeEngine::default() };
    let window = &mut open_page(engine, project(folder.path(), &["/fake/fast"]));
    window.state_mut().send(Command::Run);
    wait(window, "the run", |w| *w.state().view().state() == RunState::Running);
    assert!(!is_enabled(window, "Measure drives…"));
    assert!(shows(window, "Changes here apply to the next run, not to the one under way"));
    window.state_mut().send(Command::Cancel);
    wait(window, "the stop", |w| !w.state().is_running());
    assert!(is_enabled(window, "Measure drives…"));
    assert!(!shows(window, "Changes here apply to the next run"));
}

#[test]
fn the_left_panel_leads_to_the_page() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path(), &[]));
    window.run_steps(2);
    assert!(!shows(&window, "Assign for me"));
    click(&mut window, "Show the page Drives");
    assert!(shows(&window, "Assign for me"));
}

fn value(window: &Window, slider: &'static str) -> f64 {
    window.get_by_role_and_label(Role::Slider, slider).accesskit_node().numeric_value().unwrap()
}

#[test]
fn chunks_are_compared_and_one_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let window = &mut open(FakeEngine::default(), project(folder.path(), &[]));
    wait(window, "the chunks", |w| shows(w, "Chunk of 1 024 lines"));
    assert!(shows(window, "512 MiB of 1 GiB") && shows(window, "2.00 s with chunks of 128 lines"));
    // The largest that fits, not the plane's 2048, ends the list; each with its memory and time.
    assert!(!shows(window, "Chunk of 2 048 lines") && LARGEST == 1024);
    assert!(shows(window, "fastest") && shows(window, "automatic"));
    assert!(window.query_all_by_label("128\u{a0}MiB").next().is_some() && shows(window, "3.90 s"));
    assert!((value(window, "Chunk slider") - 128.0).abs() < 1e-9);

    click(window, "Chunk of 256 lines");
    assert_eq!(window.state().project().chunk, Some(256));
    wait(window, "its costs", |w| shows(w, "1.90 s with chunks of 256 lines"));
    assert!(shows(window, "128 MiB of 1 GiB"));
    let is_taken = |w: &Window, label: &'static str| {
        w.get_by_label(label).accesskit_node().toggled() == Some(Toggled::True)
    };
    assert!(is_taken(window, "Chunk of 256 lines") && !is_taken(window, "Chunk of 128 lines"));
    assert!((value(window, "Chunk slider") - 256.0).abs() < 1e-9);

    // More than fits is refused with what fits.
    enter(window, "Chunk", "2000");
    wait(window, "the reason", |w| shows(w, "chunks of 1024 lines fit"));
    click(window, "Automatic chunk");
    assert_eq!(window.state().project().chunk, None);
    wait(window, "its costs", |w| shows(w, "2.00 s with chunks of 128 lines"));
    click(window, "Automatic chunk");
    assert_eq!(window.state().project().chunk, Some(128));
}

#[test]
fn sliders_show_what_they_cost_while_they_are_moved() {
    let folder = tempfile::tempdir().unwrap();
    let window = &mut open(FakeEngine::default(), project(folder.path(), &[]));
    wait(window, "the chunks", |w| shows(w, "Chunk of 1 024 lines"));
    let rect = window.get_by_role_and_label(Role::Slider, "Chunk slider").rect();
    window.drag_at(rect.left_center() + egui::vec2(0.5 * rect.width(), 0.0));
    window.run_steps(2);
    window.hover_at(rect.right_center() - egui::vec2(1.0, 0.0));
    // Still held: shown, but not the project's.
    wait(window, "the costs", |w| shows(w, "3.90 s with chunks of 1 024 lines"));
    assert!(shows(window, "1 024 lines") && shows(window, "512 MiB of 1 GiB"));
    assert_eq!(window.state().project().chunk, None);
    window.drop_at(rect.right_center());
    window.run_steps(3);
    assert_eq!(window.state().project().chunk, Some(1024));

    let rect = window.get_by_role_and_label(Role::Slider, "Buffers slider").rect();
    window.drag_at(rect.left_center() + egui::vec2(1.0, 0.0));
    window.run_steps(2);
    window.drop_at(rect.left_center() + egui::vec2(1.0, 0.0));
    window.run_steps(3);
    let project = window.state().project();
    assert_eq!((project.buffers, project.chunk), (1, Some(1024)));
    wait(window, "the costs", |w| shows(w, "256 MiB of 1 GiB"));
}

/// Estimates that the window asks for until it is at rest.
fn asked(window: &mut Window, count: &AtomicUsize) -> usize {
    let before = count.load(Ordering::Relaxed);
    let (mut last, mut still) = (before, 0);
    while still < 40 {
        window.step();
        std::thread::sleep(Duration::from_millis(2));
        let now = count.load(Ordering::Relaxed);
        still = if now == last { still + 1 } else { 0 };
        last = now;
    }
    last - before
}

#[test]
fn what_was_estimated_is_not_asked_for_again() {
    let folder = tempfile::tempdir().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let engine = FakeEngine { estimates: count.clone(), ..FakeEngine::default() };
    let window = &mut open(engine, project(folder.path(), &[]));
    asked(window, &count);
    let first = count.load(Ordering::Relaxed);
    let mut edit = |edit| {
        window.state_mut().send(Command::Edit(edit));
        asked(window, &count)
    };
    let counts = [
        first,
        edit(Edit::Chunk(Some(256))),
        edit(Edit::Chunk(None)),
        edit(Edit::Buffers(3)),
        edit(Edit::Buffers(2)),
        edit(Edit::Seed(9)),
        edit(Edit::Memory("2GiB".parse().unwrap())),
    ];
    // Before: ten each time but for another chunk. Now the project's own, the largest chunk's, and six more;
    // with other buffers too, and nothing but its own where those were known or do not depend on the change.
    assert_eq!(counts, [8, 1, 1, 8, 1, 1, 8]);
}

#[test]
fn a_slider_stays_under_the_pointer_when_something_is_said_above_it() {
    let folder = tempfile::tempdir().unwrap();
    let project = project(folder.path(), &[]);
    // So low that the panel scrolls.
    let mut window: Window = Harness::builder()
        .with_size([1500.0, 700.0])
        .build_eframe(move |cc| App::new(Arc::new(FakeEngine::default()), project, None, &cc.egui_ctx));
    wait(&mut window, "the chunks", |w| shows(w, "Chunk of 1 024 lines"));
    let slider = |w: &Window| w.get_by_role_and_label(Role::Slider, "Chunk slider").rect();
    window.get_by_role_and_label(Role::Slider, "Chunk slider").scroll_to_me();
    window.run_steps(60);
    let before = slider(&window);
    assert!(before.top() > 100.0 && before.bottom() < 650.0, "{before:?}");
    let plan = |w: &Window| w.get_by_label("Compare the plans").rect().top() - slider(w).top();
    let above = plan(&window);
    let layers = |w: &Window| w.get_by_label("Layers").rect().top() - slider(w).top();
    let panel = layers(&window);

    // Notes on the sampling, and the reason why no plan can run, stand above.
    window.hover_at(before.center());
    window.run_steps(2);
    for edit in [
        Edit::Distance(0, "400mm".parse().unwrap()),
        Edit::Chunk(Some(2000)),
        Edit::Chunk(Some(1)),
        Edit::Distance(0, "3mm".parse().unwrap()),
    ] {
        window.state_mut().send(Command::Edit(edit.clone()));
        window.run_steps(20);
        std::thread::sleep(Duration::from_millis(20));
        window.run_steps(20);
        assert!((layers(&window) - panel).abs() > 5.0 || (plan(&window) - above).abs() < 5.0);
        assert!(
            (slider(&window).top() - before.top()).abs() < 1.0,
            "{edit:?}: {:?} {before:?}",
            slider(&window)
        );
    }
    // Elsewhere nothing scrolls by itself.
    window.hover_at(egui::pos2(1000.0, 400.0));
    window.run_steps(2);
    window.state_mut().send(Command::Edit(Edit::Distance(0, "400mm".parse().unwrap())));
    window.run_steps(40);
    assert!((slider(&window).top() - before.top()).abs() > 5.0);
}
