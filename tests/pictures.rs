//! The main screen looks as it did when somebody looked: pictures drawn by a renderer on the processor.
//!
//! `UPDATE_SNAPSHOTS=1 cargo test --release --test pictures` draws `tests/pictures` anew; look at
//! them before they are committed. A picture that differs is left beside the old one, with the
//! difference.

#[path = "support/fake_engine.rs"]
mod fake_engine;
#[path = "support/hands.rs"]
mod hands;
#[path = "support/painter.rs"]
mod painter;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use egui::Theme;
use egui_kittest::kittest::Queryable as _;
use egui_kittest::{Harness, SnapshotOptions, try_image_snapshot_options};
use gigafringe::app::App;
use gigafringe::project::Project;

use fake_engine::FakeEngine;
use hands::{Window, click, shows, wait};
use painter::Painter;

/// The demo in a window of the usual size, with this many pixels per point.
fn window(theme: Theme, density: u8) -> Window {
    let path = PathBuf::from("assets/demo/project.json");
    let mut project = Project::load(&path).unwrap();
    // Another's hologram is not in the way, and no path of this machine is in the picture.
    project.output.path = "hologram.npy".into();
    let engine = FakeEngine { told: Some(0.1), pace: Duration::ZERO, ..FakeEngine::default() };
    let mut window = Harness::builder()
        .with_size([1400.0, 900.0])
        .with_pixels_per_point(density.into())
        .with_theme(theme)
        .renderer(Painter::default())
        .build_eframe(move |cc| App::new(Arc::new(engine), project, Some(path), &cc.egui_ctx));
    wait(&mut window, "the sampling", |w| !w.state().is_busy() && shows(w, "Sampling: all good"));
    window
}

/// Compares with the picture that is kept under this name.
fn compare(window: &mut Window, name: &str) {
    let picture = window.render().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
    let options = SnapshotOptions::new().output_path(folder).threshold(0.6).max_failed_pixels(10);
    if let Err(error) = try_image_snapshot_options(&picture, name, &options) {
        panic!("{error}");
    }
}

fn name(what: &str, theme: Theme, density: u8) -> String {
    let theme = if theme == Theme::Dark { "dark" } else { "light" };
    format!("{what}-{theme}-{density}")
}

#[test]
fn the_main_screen_before_and_after_a_run() {
    for theme in [Theme::Dark, Theme::Light] {
        for density in [1, 2] {
            let mut window = window(theme, density);
            if density == 1 {
                compare(&mut window, &name("start", theme, density));
            }
            click(&mut window, "Run");
            wait(&mut window, "the reconstructions", |w| {
                w.query_all_by_label_contains("Reconstruction of").count() == 3 && !w.state().is_busy()
            });
            // The pointer rests on Run.
            window.remove_cursor();
            window.run_steps(3);
            compare(&mut window, &name("run", theme, density));
        }
    }
}
