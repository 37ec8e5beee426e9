//! Journeys through the layers' list, the scene, the sampling's rows and the presets.

#[path = "support/fake_engine.rs"]
mod fake_engine;
#[path = "support/hands.rs"]
mod hands;

use std::path::Path;
use std::sync::Arc;

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use gigafringe::app::{App, Command, Edit, blank_project};
use gigafringe::optics::Length;
use gigafringe::project::{Layer, Project};

use fake_engine::FakeEngine;
use hands::{Window, click, enter, wait};

/// Three layers whose images exist.
fn project(folder: &Path) -> Project {
    let mut project = blank_project();
    for (i, depth) in ["3mm", "4mm", "-2mm"].into_iter().enumerate() {
        let image = folder.join(format!("layer{i}.png"));
        let pixel = |x, _| image::Luma([u8::try_from(8 * x % 256).unwrap()]);
        image::GrayImage::from_fn(31, 20, pixel).save(&image).unwrap();
        project.layers.push(Layer::new(image, depth.parse().unwrap()));
    }
    project.output.path = folder.join("hologram.npy");
    project
}

fn open(engine: FakeEngine, project: Project) -> Window {
    Harness::builder()
        .with_size([1400.0, 2600.0])
        .build_eframe(move |cc| App::new(Arc::new(engine), project, None, &cc.egui_ctx))
}

fn shows(window: &Window, text: &str) -> bool {
    let says = |words: Option<String>| words.is_some_and(|words| words.replace('\u{a0}', " ").contains(text));
    let mut nodes = window.query_all_by(|node| says(node.label()) || says(node.value()));
    nodes.next().is_some()
}

fn disabled(window: &Window, label: &str) -> bool {
    window.get_by_label(label).accesskit_node().is_disabled()
}

fn depths(window: &Window) -> Vec<String> {
    window.state().project().layers.iter().map(|layer| layer.distance.to_string()).collect()
}

/// Presses at one place, moves, and lets go at another.
fn drag(window: &mut Window, from: egui::Pos2, to: egui::Pos2) {
    window.hover_at(from);
    window.step();
    window.drag_at(from);
    window.step();
    for part in 1_u8..=4 {
        window.hover_at(from.lerp(to, f32::from(part) / 4.0));
        window.step();
    }
}

fn drop_there(window: &mut Window, at: egui::Pos2) {
    window.drop_at(at);
    window.run_steps(3);
}

#[test]
fn layers_are_moved_with_buttons_and_by_dragging() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    window.run_steps(3);
    assert!(disabled(&window, "Move layer 1 up") && disabled(&window, "Move layer 3 down"));
    click(&mut window, "Move layer 1 down");
    assert_eq!(depths(&window), ["4mm", "3mm", "-2mm"]);
    click(&mut window, "Move layer 3 up");
    assert_eq!(depths(&window), ["4mm", "-2mm", "3mm"]);

    // What was typed belongs to a number that is another layer's now.
    window.get_by_role_and_label(Role::TextInput, "Depth of layer 1").focus();
    window.step();
    window.get_by_role_and_label(Role::TextInput, "Depth of layer 1").type_text("9");
    window.run_steps(2);
    window.state_mut().send(Command::Edit(Edit::MoveLayer { from: 0, to: 2 }));
    window.run_steps(3);
    assert_eq!(depths(&window), ["-2mm", "3mm", "4mm"]);
    let field = window.get_by_role_and_label(Role::TextInput, "Depth of layer 1");
    assert_eq!(field.accesskit_node().value().as_deref(), Some("-2 mm"));

    // The picture stands to the left of the fields.
    let picture = |window: &Window, number: usize| {
        let name = format!("Depth of layer {number}");
        window.get_by_role_and_label(Role::TextInput, &name).rect().left_center() - egui::vec2(110.0, 0.0)
    };
    let (first, third) = (picture(&window, 1), picture(&window, 3));
    drag(&mut window, first, third);
    drop_there(&mut window, third);
    assert_eq!(depths(&window), ["3mm", "4mm", "-2mm"]);
}

#[test]
fn a_disabled_layer_stays_and_is_not_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    window.run_steps(3);
    click(&mut window, "Enable layer 2");
    assert!(!window.state().project().layers[1].enabled && window.state().is_dirty());
    assert!(shows(&window, "Disabled: kept in the project"));
    click(&mut window, "Run");
    wait(&mut window, "the end", |w| shows(w, "Finished in"));
    wait(&mut window, "the previews", |w| {
        w.query_by_label("Reconstruction of layer 1").is_some()
            && w.query_by_label("Reconstruction of layer 3").is_some()
    });
    assert!(window.query_by_label("Reconstruction of layer 2").is_none());
    assert!(shows(&window, "Disabled: this layer takes no part in a run"));

    click(&mut window, "Enable layer 1");
    click(&mut window, "Enable layer 3");
    assert!(disabled(&window, "Run"), "nothing is left to compute");
    wait(&mut window, "the reason", |w| shows(w, "All are disabled") || shows(w, "all are disabled"));
    click(&mut window, "Enable layer 3");
    assert!(!disabled(&window, "Run"));
}

#[test]
fn a_factor_on_the_amplitude_is_set_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    window.run_steps(3);
    enter(&mut window, "Amplitude of layer 2", "0.5");
    assert_eq!(
        window.state().project().layers.iter().map(|l| l.amplitude).collect::<Vec<_>>(),
        [1.0, 0.5, 1.0]
    );
    enter(&mut window, "Amplitude of layer 3", "-2");
    assert!(shows(&window, "must be above zero"));
    enter(&mut window, "Amplitude of layer 3", "bright");
    assert!(shows(&window, "`bright` is not a number"));
    assert!(window.state().project().layers[2].amplitude >= 1.0 && disabled(&window, "Run"));
}

#[test]
fn a_layer_is_dragged_along_z_in_the_scene() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    window.run_steps(3);
    click(&mut window, "Scene");
    window.run_steps(3);
    assert!(shows(&window, "Light travels toward +z"));
    // sin θ = 532/8000; 4 mm · 0.0665/sqrt(1 − 2·0.0665²) = 267.2 µm.
    assert!(shows(&window, "Largest diffraction angle 3.81°; reach from 4 mm: 267 µm"));
    assert!(shows(&window, "Not to scale"));

    let at = |window: &Window, label: &str| window.get_by_label(label).rect().center();
    let (first, second) = (
        at(&window, "Layer 1 in the scene, at 3\u{a0}mm"),
        at(&window, "Layer 2 in the scene, at 4\u{a0}mm"),
    );
    let millimetre = second.x - first.x;
    assert!(millimetre > 20.0, "{millimetre}");
    // Half a millimetre back, as the plot has it.
    let to = second - egui::vec2(1.5 * millimetre, 0.0);
    drag(&mut window, second, to);
    assert_eq!(depths(&window), ["3mm", "4mm", "-2mm"], "nothing is changed before the release");
    window.step();
    assert!(!shows(&window, "Layer 2 in the scene, at 4 mm"), "the value goes along");
    drop_there(&mut window, to);
    let depth = window.state().project().layers[1].distance;
    assert!((depth.in_metres() - 2.5e-3).abs() < 0.03e-3, "{depth}");
    let hundredths = depth.in_metres() * 1e5;
    assert!((hundredths - hundredths.round()).abs() < 1e-9, "{depth}");
    assert_eq!(depths(&window)[0], "3mm");

    // Escape gives the depth back.
    let first = window.get_by_label("Layer 1 in the scene, at 3\u{a0}mm").rect().center();
    let to = first + egui::vec2(40.0, 0.0);
    drag(&mut window, first, to);
    window.key_press(egui::Key::Escape);
    window.step();
    drop_there(&mut window, to);
    assert_eq!(depths(&window)[0], "3mm");

    click(&mut window, "Same scale on both axes");
    window.run_steps(3);
    assert!(shows(&window, "To scale: both axes alike") && !shows(&window, "Not to scale"));
}

#[test]
fn the_sampling_is_judged_as_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    wait(&mut window, "the estimate", |w| shows(w, "Bytes to move: "));
    assert!(shows(&window, "Sampling: all good"));
    for row in ["Hologram size: 8.19 mm × 8.19 mm, good", "Largest angle: 3.81°, good", "Reach: 267 µm, good"]
    {
        assert!(shows(&window, row), "{row}");
    }
    assert!(shows(&window, "Memory: 512 MiB of 1 GiB, good") && shows(&window, "Time: about 2.00 s, good"));
    enter(&mut window, "Pitch", "0.3um");
    assert!(shows(&window, ", check") && shows(&window, "beyond 1/λ"), "the corner is evanescent");
    enter(&mut window, "Pitch", "2um");
    assert!(shows(&window, "Evanescent: 0 %, good"));
    enter(&mut window, "Depth of layer 2", "300mm");
    assert!(shows(&window, "Reach: ") && shows(&window, "comes back from its other side"));
    assert!(shows(&window, "problems"), "the summary says so, too");
    assert!(!disabled(&window, "Run"), "it can run all the same");
}

#[test]
fn a_chunk_that_takes_far_longer_is_named_with_a_better_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    wait(&mut window, "the time", |w| shows(w, "Time: about 2.00 s, good"));
    for (chunk, row) in [
        (16, "Time: about 5.90 s, check"),
        (256, "Time: about 1.90 s, good"),
        (1, "Time: about 9.90 s, problem"),
    ] {
        window.state_mut().send(Command::Edit(Edit::Chunk(Some(chunk))));
        wait(&mut window, row, |w| shows(w, row));
        assert_eq!(shows(&window, "A chunk of 256 lines takes 1.90 s instead"), chunk != 256, "{chunk}");
    }
    // Also where the other chunks are not shown.
    click(&mut window, "Tuning");
    window.run_steps(30);
    assert!(!shows(&window, "Other chunks"));
    window.state_mut().send(Command::Edit(Edit::Buffers(3)));
    window.run_steps(3);
    wait(&mut window, "the remedy", |w| shows(w, "A chunk of 256 lines takes 1.90 s instead"));
    assert!(!disabled(&window, "Run"), "slow, and possible all the same");
}

#[test]
fn an_empty_or_wrong_number_is_named_where_it_stands_and_beside_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    window.run_steps(3);
    for (field, words) in [
        ("Pitch", "the pitch is empty: write for example 1 µm"),
        ("Wavelength λ", "the wavelength is empty: write for example 532 nm"),
        ("Height", "the height is empty: write for example 4096"),
        ("Depth of layer 2", "the depth of layer 2 is empty: write for example 3 mm"),
        ("Amplitude of layer 1", "the amplitude of layer 1 is empty: write for example 0.5"),
        ("Buffers", "the number of buffers is empty: write for example 2"),
        ("Memory", "the memory is empty: write for example 2 GiB"),
    ] {
        enter(&mut window, field, "");
        assert!(shows(&window, words), "{words}");
        let sentence =
            format!("The {}: correct it, or press Escape in its field", &words[4..words.find(':').unwrap()]);
        assert!(shows(&window, &sentence) && disabled(&window, "Run"), "{sentence}");
        window.get_by_role_and_label(Role::TextInput, field).focus();
        window.step();
        window.key_press(egui::Key::Escape);
        window.run_steps(3);
        assert!(!shows(&window, "is empty") && !disabled(&window, "Run"), "{field}");
    }
    enter(&mut window, "Width", "0");
    assert!(shows(&window, "it lies between 1 and 16 777 216"), "in groups");
    assert!(shows(&window, "The width cannot be `0`: correct it, or press Escape in its field"));
    enter(&mut window, "Height", "many");
    assert!(shows(&window, "The width cannot be `0`, and one more value is wrong"));
}

#[test]
fn presets_fill_in_a_device_or_a_wavelength() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("presets.json");
    let mine = r#"{ "devices": [{ "name": "Mine", "width": 640, "height": 480, "pitch_x": "3um", "pitch_y": "2um" }] }"#;
    std::fs::write(&file, mine).unwrap();
    let engine = FakeEngine { presets: Some(file), ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    window.run_steps(3);
    let pick = |window: &mut Window, combo: &str, option: &str| {
        window.get_by_role_and_label(Role::ComboBox, combo).click();
        wait(window, option, |w| w.query_by_label(option).is_some());
        window.get_by_label(option).scroll_to_me();
        window.run_steps(3);
        window.get_by_label(option).click();
        window.run_steps(3);
    };
    pick(&mut window, "Device preset", "HOLOEYE GAEA-2: 3840 × 2160, 3.74\u{a0}µm");
    let grid = window.state().project().grid;
    assert_eq!((grid.width, grid.height, grid.pitch_x.to_string()), (3840, 2160, "3.74um".into()));
    pick(&mut window, "Device preset", "Mine: 640 × 480, 3\u{a0}µm × 2\u{a0}µm");
    let grid = window.state().project().grid;
    assert_eq!((grid.width, grid.height), (640, 480));
    assert_eq!((grid.pitch_x, grid.pitch_y), (Length::metres(3e-6), Length::metres(2e-6)));
    assert!(window.query_by_role_and_label(Role::TextInput, "Pitch y").is_some(), "the pitches are apart");
    pick(&mut window, "Wavelength preset", "632.8\u{a0}nm, He–Ne");
    assert_eq!(window.state().project().wavelength.to_string(), "632.8nm");
}

#[test]
fn a_presets_file_that_cannot_be_used_is_said_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("presets.json");
    std::fs::write(&file, r#"{ "devices": [{ "name": "x", "pitch": 8 }] }"#).unwrap();
    let engine = FakeEngine { presets: Some(file), ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    wait(&mut window, "the note", |w| shows(w, "devices[0].pitch"));
    assert!(shows(&window, "its presets are left out"));
}
