//! Journeys through the inspector, and the plane that is watched during a run.

#[path = "support/fake_engine.rs"]
mod fake_engine;
#[path = "support/hands.rs"]
mod hands;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use egui::accesskit::Role;
use egui::{Pos2, Rect, Vec2, pos2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use gigafringe::app::{App, Ask, Command, Edit, Export, ExportTo, Page, RunState, blank_project};
use gigafringe::inspect::Raster;
use gigafringe::project::{Layer, Project};

use fake_engine::FakeEngine;
use hands::{Window, click, enter, is_enabled, shows, wait};

/// The fake plane: 1401 × 501 samples, three to a preview sample; y has twice the pitch.
const PLANE: [usize; 2] = [1401, 501];
const RASTER: Raster = Raster { plane: PLANE, pitch: [4e-6, 8e-6], scale: 3 };

/// Two layers on an odd, oblong plane of unequal pitches.
fn project(folder: &Path) -> Project {
    let mut project = blank_project();
    Edit::Width(PLANE[0]).apply(&mut project);
    Edit::Height(PLANE[1]).apply(&mut project);
    Edit::PitchY("8um".parse().unwrap()).apply(&mut project);
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
    Harness::builder()
        .with_size([1500.0, 1800.0])
        .build_eframe(move |cc| App::new(Arc::new(engine), project, None, &cc.egui_ctx))
}

/// A window whose run is over, with the inspector open on the first layer.
fn inspecting(folder: &Path, engine: FakeEngine) -> Window {
    let mut window = open(engine, project(folder));
    window.run_steps(2);
    window.state_mut().send(Command::Run);
    wait(&mut window, "the end", |w| matches!(w.state().view().state(), RunState::Finished(_)));
    window.state_mut().send(Command::Inspect(0));
    wait(&mut window, "the numbers", |w| shows(w, "Whole reconstruction") && shows(w, "Correlation"));
    window
}

fn choose(window: &mut Window, name: &str, option: &str) {
    window.get_by_role_and_label(Role::ComboBox, name).click();
    window.run_steps(3);
    window.get_all_by_label(option).last().unwrap().click();
    window.run_steps(3);
}

/// The picture itself, without the room for its axes.
fn area(window: &Window, name: &str) -> Rect {
    let place = window.get_by_label(name).rect();
    Rect::from_min_max(place.min + Vec2::new(54.0, 4.0), place.max - Vec2::new(6.0, 36.0))
}

/// The plane as it is seen when it is fitted: true to its proportions in metres.
fn fitted(area: Rect) -> Rect {
    let [width, height] = [1401.0 * 4e-6, 501.0 * 8e-6];
    let scale = (area.width() / width).min(area.height() / height);
    Rect::from_center_size(area.center(), Vec2::new(width, height) * scale)
}

/// Where the middle of a preview sample is seen on the fitted plane.
fn place(plane: Rect, column: usize, row: usize) -> Pos2 {
    let at = |axis: usize, index: usize| {
        let [start, end] = RASTER.edges(axis);
        #[expect(clippy::cast_possible_truncation, reason = "a place on the screen")]
        let share = ((RASTER.middle(axis, index) - start) / (end - start)) as f32;
        share
    };
    plane.min + Vec2::new(at(0, column) * plane.width(), at(1, row) * plane.height())
}

fn drag(window: &mut Window, from: Pos2, to: Pos2) {
    window.hover_at(from);
    window.step();
    window.drag_at(from);
    window.step();
    for share in [0.3, 0.7, 1.0] {
        window.hover_at(from + share * (to - from));
        window.step();
    }
    window.drop_at(to);
    window.run_steps(3);
}

const PICTURE: &str = "Inspected reconstruction of layer 1";

#[test]
fn a_click_on_a_preview_opens_it_and_arrows_go_from_layer_to_layer() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    window.run_steps(2);
    click(&mut window, "Inspect");
    assert!(shows(&window, "Run the project first"));
    window.state_mut().send(Command::Run);
    wait(&mut window, "the end", |w| matches!(w.state().view().state(), RunState::Finished(_)));
    click(&mut window, "Charts");
    wait(&mut window, "the previews", |w| w.query_by_label("Reconstruction of layer 2").is_some());
    click(&mut window, "Reconstruction of layer 2");
    assert!(
        shows(&window, "Layer 2 of 2 at 4 mm") && shows(&window, "1 : 3 preview: mean over 3 × 3 samples")
    );
    let enabled = |window: &Window, label| !window.get_by_label(label).accesskit_node().is_disabled();
    let (previous, next) = ("Previous layer (left arrow key)", "Next layer (right arrow key)");
    assert!(enabled(&window, previous) && !enabled(&window, next));
    click(&mut window, previous);
    assert!(shows(&window, "Layer 1 of 2 at 3 mm"));
    // What has the focus has the arrow keys, too.
    window.ctx.memory_mut(egui::Memory::stop_text_input);
    window.step();
    window.key_press(egui::Key::ArrowRight);
    window.run_steps(3);
    assert!(shows(&window, "Layer 2 of 2 at 4 mm"));
    window.key_press(egui::Key::ArrowRight);
    window.run_steps(3);
    assert!(shows(&window, "Layer 2 of 2 at 4 mm"), "there is no third");
    window.key_press(egui::Key::ArrowLeft);
    window.run_steps(3);
    assert!(shows(&window, "Layer 1 of 2 at 3 mm"));
}

#[test]
fn what_is_under_the_pointer_is_read_out() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = inspecting(folder.path(), FakeEngine::default());
    assert!(shows(&window, "Point at the picture to read its values"));
    let plane = fitted(area(&window, PICTURE));
    // Sample 700 of 1401 is zero; it is the second of preview sample 233.
    window.hover_at(place(plane, 233, 83));
    window.run_steps(3);
    assert!(shows(&window, "x 0.000") && shows(&window, "sample x 699…701, y 249…251"));
    let mean = &window.state().view().previews()[&0].mean;
    let intensity = f64::from(mean[83 * RASTER.size(0) + 233]);
    let digits = if intensity < 0.01 { 6 } else { 5 };
    assert!((0.001..0.1).contains(&intensity), "so few digits are shown: {intensity}");
    assert!(shows(&window, &format!("intensity |u|² {intensity:.digits$}")));
    assert!(shows(&window, "relative to white = ") && shows(&window, "the layer's own"));
    // Beyond the plane there is nothing to read.
    window.hover_at(pos2(plane.center().x, plane.top() - 12.0));
    window.run_steps(3);
    assert!(shows(&window, "Point at the picture to read its values"));
}

#[test]
fn the_wheel_enlarges_about_the_pointer_and_one_to_one_is_a_sample_a_pixel() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = inspecting(folder.path(), FakeEngine::default());
    let picture = area(&window, PICTURE);
    let pointer = place(fitted(picture), 100, 40);
    window.hover_at(pointer);
    window.run_steps(3);
    let before = "sample x 300…302, y 120…122";
    assert!(shows(&window, before));
    for _ in 0..3 {
        window.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: Vec2::new(0.0, 60.0),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Wheel,
            modifiers: egui::Modifiers::NONE,
        });
        window.run_steps(20);
    }
    assert!(shows(&window, before), "the same sample is under the pointer");
    // One sample along x is one pixel now, and its neighbour the next; y has twice the pitch.
    click(&mut window, "1:1");
    assert!(shows(&window, "1.000 screen pixels per preview sample"));
    let read = |window: &Window| {
        let label = window.query_all_by_label_contains("sample x ").next().unwrap();
        let text = label.accesskit_node().value().unwrap();
        let number = |after: &str| -> usize {
            let samples = text.split("sample ").nth(1).unwrap();
            let rest = samples.split(after).nth(1).unwrap();
            rest[..rest.find('…').unwrap()].parse().unwrap()
        };
        (number("x "), number(", y "))
    };
    let at = picture.center() + Vec2::new(-30.5, 10.5);
    let mut samples = Vec::new();
    for step in [Vec2::ZERO, Vec2::new(20.0, 0.0), Vec2::new(20.0, 20.0)] {
        window.hover_at(at + step);
        window.run_steps(3);
        samples.push(read(&window));
    }
    assert_eq!(samples[1].0 - samples[0].0, 3 * 20);
    assert_eq!(samples[2].1 - samples[1].1, 3 * 10);
    // The plane follows the pointer when dragged.
    let dragged = at + Vec2::new(40.0, -20.0);
    window.hover_at(at);
    window.run_steps(3);
    let grabbed = read(&window);
    drag(&mut window, at, dragged);
    window.hover_at(dragged);
    window.run_steps(3);
    assert_eq!(read(&window), grabbed);
    click(&mut window, "Fit");
    window.hover_at(pointer);
    window.run_steps(3);
    assert!(shows(&window, before));
}

fn csv(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

fn saved(window: &mut Window, path: &Path) {
    let path = path.to_path_buf();
    wait(window, "the file", move |_| path.exists());
}

#[test]
fn a_profile_is_plotted_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = inspecting(folder.path(), FakeEngine::default());
    choose(&mut window, "What is exported", "Profile, CSV");
    assert!(window.get_by_label("Export").accesskit_node().is_disabled(), "there is no profile yet");
    click(&mut window, "Profile x");
    let plane = fitted(area(&window, PICTURE));
    drag(&mut window, place(plane, 50, 20), place(plane, 60, 40));
    assert!(window.query_by_label("Profile of intensities").is_some());
    assert!(shows(&window, "the layer's own, scaled"));
    let path = folder.path().join("profile.csv");
    enter(&mut window, "File", path.to_str().unwrap());
    click(&mut window, "Export");
    saved(&mut window, &path);
    let rows = csv(&path);
    assert_eq!(rows.len(), 1 + RASTER.size(0));
    let mean = window.state().view().previews()[&0].mean.clone();
    for (x, row) in rows[1..].iter().enumerate() {
        let [_, x_mm, y_mm, intensity, _] = &row[..] else { panic!("{row:?}") };
        let number = |text: &str| text.parse::<f64>().unwrap();
        assert!((number(x_mm) - 1e3 * RASTER.middle(0, x)).abs() < 1e-6);
        assert!((number(y_mm) - 1e3 * RASTER.middle(1, 40)).abs() < 1e-6);
        assert!((number(intensity) - f64::from(mean[40 * RASTER.size(0) + x])).abs() < 1e-6);
    }

    // The same for a column, and between two points.
    click(&mut window, "Profile y");
    drag(&mut window, place(plane, 50, 20), place(plane, 60, 40));
    let column = folder.path().join("column.csv");
    enter(&mut window, "File", column.to_str().unwrap());
    click(&mut window, "Export");
    saved(&mut window, &column);
    assert_eq!(csv(&column).len(), 1 + RASTER.size(1));
    window.get_all_by_label("Profile").next().unwrap().click();
    window.run_steps(3);
    drag(&mut window, place(plane, 50, 20), place(plane, 150, 40));
    let slanted = folder.path().join("slanted.csv");
    enter(&mut window, "File", slanted.to_str().unwrap());
    click(&mut window, "Export");
    saved(&mut window, &slanted);
    let rows = csv(&slanted);
    assert!((100..=103).contains(&(rows.len() - 1)), "{}", rows.len());
    click(&mut window, "Clear");
    assert!(window.query_by_label("Profile of intensities").is_none());
    assert!(shows(&window, "Drag in the picture to set it"));
}

#[test]
fn a_profile_between_two_points_ends_where_the_picture_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = inspecting(folder.path(), FakeEngine::default());
    window.get_all_by_label("Profile").next().unwrap().click();
    window.run_steps(3);
    let plane = fitted(area(&window, PICTURE));
    // From the middle to far above the plane, where the picture's ground is.
    let from = place(plane, 233, 83);
    drag(&mut window, from, pos2(from.x, plane.top() - 60.0));
    let line = strokes(&window).last().unwrap().to_owned();
    assert!((line[0] - from).length() < 1.0, "{line:?} from {from}");
    assert!((line[1] - pos2(from.x, plane.top())).length() < 1.0, "{line:?} to the edge of {plane}");
}

/// The lines that are drawn as a profile's mark, from end to end.
fn strokes(window: &Window) -> Vec<[Pos2; 2]> {
    let shapes = window.output().shapes.iter();
    let lines = shapes.filter_map(|clipped| match &clipped.shape {
        egui::Shape::LineSegment { points, stroke } if (stroke.width - 3.0).abs() < 1e-6 => Some(*points),
        _ => None,
    });
    lines.collect()
}

#[test]
fn the_toolbar_stays_where_it_is_whatever_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let mut project = project(folder.path());
    // A depth of more digits.
    Edit::Distance(1, "12.3456mm".parse().unwrap()).apply(&mut project);
    let mut window = open(FakeEngine::default(), project);
    window.run_steps(2);
    let places = |window: &Window| -> Vec<Rect> {
        let arrows = ["Previous layer (left arrow key)", "Next layer (right arrow key)"];
        let buttons = ["Fit", "1:1", "Move", "Profile x", "Profile y", "Clear"];
        let buttons = arrows.into_iter().chain(buttons).map(|name| window.get_by_label(name).rect());
        let choice = window.get_by_role_and_label(Role::ComboBox, "Show").rect();
        buttons.chain([choice]).collect()
    };
    window.state_mut().send(Command::Run);
    wait(&mut window, "the end", |w| matches!(w.state().view().state(), RunState::Finished(_)));
    window.state_mut().send(Command::Inspect(0));
    wait(&mut window, "the numbers", |w| shows(w, "Whole reconstruction") && shows(w, "Correlation"));
    let at_first = places(&window);
    click(&mut window, "Next layer (right arrow key)");
    assert!(shows(&window, "Layer 2 of 2 at 12.3456 mm"));
    assert_eq!(places(&window), at_first, "with a longer title");
    choose(&mut window, "Show", "Split");
    assert_eq!(places(&window), at_first, "with a slider for the split");
    click(&mut window, "Profile x");
    let plane = fitted(area(&window, "Inspected reconstruction of layer 2"));
    drag(&mut window, place(plane, 50, 20), place(plane, 60, 40));
    assert!(is_enabled(&window, "Clear"));
    assert_eq!(places(&window), at_first, "with a profile");
}

#[test]
fn the_layers_own_light_is_weighted_as_the_project_says() {
    let folder = tempfile::tempdir().unwrap();
    let mut project = project(folder.path());
    image::GrayImage::from_pixel(31, 20, image::Luma([255])).save(folder.path().join("layer0.png")).unwrap();
    project.layers[0].amplitude = 3.0;
    let mut window = open(FakeEngine::default(), project);
    window.run_steps(2);
    window.state_mut().send(Command::Run);
    wait(&mut window, "the end", |w| matches!(w.state().view().state(), RunState::Finished(_)));
    window.state_mut().send(Command::Inspect(0));
    wait(&mut window, "the numbers", |w| shows(w, "Correlation"));
    window.hover_at(place(fitted(area(&window, PICTURE)), 233, 83));
    window.run_steps(3);
    // White of three times the amplitude has nine times the intensity of white.
    assert!(shows(&window, "the layer's own 9.000"));
}

#[test]
fn y_counts_downward_in_the_scene_as_in_the_inspector() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = inspecting(folder.path(), FakeEngine::default());
    let plane = fitted(area(&window, PICTURE));
    for (row, sign) in [(20, "y −"), (140, "y ")] {
        window.hover_at(place(plane, 233, row));
        window.run_steps(3);
        // The pointer is there to a pixel: a tenth of a millimetre, cut off.
        let y = (RASTER.middle(1, row).abs() * 1e4).floor() / 10.0;
        assert!(shows(&window, &format!("{sign}{y:.1}")), "row {row} at {y}");
        assert!(shows(&window, "mm downward"));
    }
    window.state_mut().send(Command::Show(Page::Scene));
    window.run_steps(4);
    let scene = window.get_all_by_label("Scene from the side").last().unwrap().rect();
    let numbers = texts(&window);
    let height = |text: &str| {
        let at_axis = |place: &Pos2| (scene.left() - 60.0..scene.left() + 20.0).contains(&place.x);
        let found = numbers.iter().find(|(words, place)| words == text && at_axis(place));
        found.unwrap_or_else(|| panic!("{text} is not at the axis of {scene}")).1.y
    };
    assert!(height("-1") < height("1"), "rows run downward");
}

/// What is written, and where.
fn texts(window: &Window) -> Vec<(String, Pos2)> {
    let shapes = window.output().shapes.iter();
    let texts = shapes.filter_map(|clipped| match &clipped.shape {
        egui::Shape::Text(text) => Some((text.galley.text().to_owned(), text.pos)),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_regions_numbers_are_shown_and_exported() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = inspecting(folder.path(), FakeEngine::default());
    assert!(shows(&window, "Choose “Region” above and drag a rectangle"));
    window.get_all_by_label("Region").next().unwrap().click();
    window.run_steps(3);
    let plane = fitted(area(&window, PICTURE));
    drag(&mut window, place(plane, 120, 60), place(plane, 20, 30));
    // 101 columns by 31 rows.
    wait(&mut window, "the region", |w| shows(w, "3 131"));
    choose(&mut window, "What is exported", "Numbers, CSV");
    let path = folder.path().join("numbers.csv");
    enter(&mut window, "File", path.to_str().unwrap());
    click(&mut window, "Export");
    saved(&mut window, &path);
    let rows = csv(&path);
    let number = |name: &str| -> f64 {
        let name = format!("\"{name}\"");
        rows.iter().find(|row| row[0] == name).unwrap_or_else(|| panic!("{name}"))[1].parse().unwrap()
    };
    let mean = &window.state().view().previews()[&0].mean;
    let values: Vec<f64> = (30..=60)
        .flat_map(|y| (20..=120).map(move |x| (x, y)))
        .map(|(x, y)| f64::from(mean[y * RASTER.size(0) + x]))
        .collect();
    let n = values.len() as f64;
    let average = values.iter().sum::<f64>() / n;
    let deviation = (values.iter().map(|v| (v - average).powi(2)).sum::<f64>() / n).sqrt();
    assert!((number("region: mean |u|²") - average).abs() < 1e-9);
    assert!((number("region: speckle contrast") - deviation / average).abs() < 1e-9);
    assert!((number("region: first preview sample x") - 20.0).abs() < 1e-9);
    assert!(number("whole: energy share") > 0.999_999 && number("region: energy share") < 0.2);
    assert!(number("intensity against the layer: correlation").abs() <= 1.0);
    assert!((number("depth") - 3.0).abs() < 1e-9);
}

#[test]
fn a_picture_is_exported_and_never_replaces_a_file_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let chosen = folder.path().join("chosen");
    let engine = FakeEngine { picked: Some(vec![chosen.clone()]), ..FakeEngine::default() };
    let mut window = inspecting(folder.path(), engine);
    let path = folder.path().join("hologram-layer1-inspected.png");
    click(&mut window, "Export");
    saved(&mut window, &path);
    let picture = image::open(&path).unwrap().to_luma8();
    assert_eq!([picture.width() as usize, picture.height() as usize], [RASTER.size(0), RASTER.size(1)]);
    assert!(picture.pixels().any(|p| p.0[0] == 255) && picture.pixels().any(|p| p.0[0] < 60));

    std::fs::write(&path, "precious").unwrap();
    click(&mut window, "Export");
    assert!(shows(&window, "The file exists"));
    click(&mut window, "Back");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    click(&mut window, "Export");
    click(&mut window, "Replace");
    wait(&mut window, "the picture", |_| image::open(&path).is_ok());
    // A darker one: what the contrast says is what is written.
    window.state_mut().send(Command::Ask(Ask::ExportFile(Export::Picture)));
    let completed: PathBuf = chosen.with_extension("png");
    saved(&mut window, &completed);
    assert_eq!(std::fs::read(&completed).unwrap(), std::fs::read(&path).unwrap());
    let away = folder.path().join("none/picture.png");
    let to = ExportTo { what: Export::Picture, path: away, replace: false };
    window.state_mut().send(Command::Export(to));
    wait(&mut window, "the reason", |w| shows(w, "none/picture.png"));
}

#[test]
fn the_layers_own_image_can_be_seen_beside_in_the_split_and_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = inspecting(folder.path(), FakeEngine::default());
    let own = "Inspected image of layer 1";
    assert!(window.query_by_label(own).is_none());
    choose(&mut window, "Show", "Beside the layer");
    let [left, right] = [PICTURE, own].map(|name| area(&window, name));
    assert!((left.size() - right.size()).length() < 1.0 && left.right() < right.left());
    // Both have one view: what is pointed at in one is the same place in the other.
    for picture in [left, right] {
        window.hover_at(place(fitted(picture), 200, 100));
        window.run_steps(3);
        assert!(shows(&window, "sample x 600…602, y 300…302"));
    }
    choose(&mut window, "Show", "Split");
    assert!(window.query_by_label("Split at").is_some() && window.query_by_label(own).is_none());
    choose(&mut window, "Show", "Blink");
    window.run_steps(2);
    let delay = window.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay;
    assert!(delay <= Duration::from_millis(750), "the other one comes: {delay:?}");
    choose(&mut window, "Show", "Reconstruction");
    for _ in 0..60 {
        window.step();
    }
    let delay = window.output().viewport_output[&egui::ViewportId::ROOT].repaint_delay;
    assert!(delay > Duration::from_mins(1), "nothing moves any more: {delay:?}");
}

#[test]
fn an_image_that_is_gone_is_said_and_costs_only_the_comparison() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(FakeEngine::default(), project(folder.path()));
    window.run_steps(2);
    window.state_mut().send(Command::Run);
    wait(&mut window, "the end", |w| matches!(w.state().view().state(), RunState::Finished(_)));
    std::fs::remove_file(folder.path().join("layer0.png")).unwrap();
    window.state_mut().send(Command::Inspect(0));
    wait(&mut window, "the reason", |w| shows(w, "layer0.png: cannot read the image"));
    wait(&mut window, "the numbers", |w| shows(w, "Speckle contrast"));
    assert!(!shows(&window, "Correlation"));
}

#[test]
fn one_contrast_serves_all_depths_until_it_is_unlocked() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = inspecting(folder.path(), FakeEngine::default());
    let relative = |window: &mut Window| {
        let picture = area(window, "Inspected reconstruction of layer 2");
        window.hover_at(place(fitted(picture), 233, 83));
        window.run_steps(3);
        let label = window.query_all_by_label_contains("relative to white = ").next().unwrap();
        let text = label.accesskit_node().value().unwrap();
        let rest = text.split("relative to white = ").nth(1).unwrap();
        rest.split(';').next().unwrap().trim().parse::<f64>().unwrap()
    };
    window.state_mut().send(Command::Inspect(1));
    wait(&mut window, "layer 2", |w| shows(w, "Layer 2 of 2") && shows(w, "Correlation"));
    let locked = relative(&mut window);
    click(&mut window, "Same contrast at all depths");
    let own = relative(&mut window);
    // The fake second layer is half as bright as the first.
    assert!(own > 1.5 * locked && locked > 0.0, "{own} {locked}");
}

#[test]
fn the_plane_that_is_being_written_is_watched_line_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { pace: Duration::from_millis(15), chunks: 40, ..FakeEngine::default() };
    let mut window = open(engine, project(folder.path()));
    window.run_steps(2);
    window.state_mut().send(Command::Run);
    wait(&mut window, "the card", |w| shows(w, "No plane is being written yet"));
    wait(&mut window, "the plane between", |w| {
        shows(w, "Being written: a plane between two steps of the hologram, line ")
    });
    wait(&mut window, "the hologram", |w| shows(w, "Being written: hologram, line "));
    assert!(shows(&window, "of 501") && shows(&window, "1 : 3, mean |u|² before encoding, relative"));
    wait(&mut window, "all of it", |w| shows(w, "Written: hologram, line 501 of 501"));
    // Previews keep their place beside it.
    let card = window.get_by_label_contains("Written: hologram, line 501 of 501").rect();
    let previews = window.get_by_label("Previews").rect();
    assert!(previews.right() < card.left() && card.right() <= 1500.0);
    wait(&mut window, "the reconstruction", |w| shows(w, "Being made: reconstruction at 3mm, line "));
    wait(&mut window, "the end", |w| matches!(w.state().view().state(), RunState::Finished(_)));
    assert!(!shows(&window, "line 501 of 501"));
}
