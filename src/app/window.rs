//! Opens the window.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use eframe::NativeOptions;
use egui::ViewportBuilder;

use super::keeping::EVERY;
use super::log::Level;
use super::pages::Page;
use super::remembered::FIRST_SIZE;
use super::screenshot::{Outcome, Shooter};
use super::{App, Backend, Command, Engine, Screenshot, blank_project};
use crate::project::Project;

/// Has signals to end the program close the window as its own button does, without a question.
fn close_on_signals(app: &App, ctx: egui::Context) {
    let interrupted = app.interrupted();
    // Without the handler a signal still ends the program, only less tidily.
    let _ = ctrlc::set_handler(move || {
        interrupted.store(true, Ordering::Relaxed);
        ctx.request_repaint();
    });
}

/// Where the recent projects and unsaved changes are kept: `gigafringe` in the user's folder for state
/// (`XDG_STATE_HOME` where it is set), or for data where the system knows no state.
fn state_folder() -> Option<PathBuf> {
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::choose_base_strategy().ok()?;
    Some(strategy.state_dir().unwrap_or_else(|| strategy.data_dir()).join("gigafringe"))
}

/// Opens the window on a project file, or on an empty project, and returns when it is closed.
///
/// With a [`Screenshot`], the window takes its picture and closes by itself.
pub fn run(project: Option<PathBuf>, screenshot: Option<Screenshot>) -> anyhow::Result<()> {
    run_with(Arc::new(Engine), project, screenshot)
}

/// As [`run`], with another backend.
pub fn run_with(
    backend: Arc<dyn Backend>,
    path: Option<PathBuf>,
    screenshot: Option<Screenshot>,
) -> anyhow::Result<()> {
    let (project, path, refused) = match path.as_deref().map(Project::load) {
        None => (blank_project(), None, None),
        Some(Ok(project)) => (project, path, None),
        // Whoever opens a window looks there for the reason, not at a terminal.
        Some(Err(error)) if screenshot.is_none() => (blank_project(), None, Some(error.to_string())),
        Some(Err(error)) => return Err(error.into()),
    };
    let outcome = Outcome::default();
    let shooter = screenshot.clone().map(|plan| Shooter::new(plan, outcome.clone()));
    let mut options = NativeOptions {
        viewport: ViewportBuilder::default()
            .with_app_id("gigafringe")
            .with_inner_size(FIRST_SIZE)
            .with_min_inner_size([900.0, 600.0])
            .with_drag_and_drop(true),
        persist_window: shooter.is_none(),
        ..NativeOptions::default()
    };
    // A picture must not depend on how the last window was left, nor change the next.
    let fresh = shooter.is_some().then(tempfile::tempdir).transpose()?;
    options.persistence_path = fresh.as_ref().map(|folder| folder.path().join("window.ron"));
    eframe::run_native(
        "Gigafringe",
        options,
        Box::new(move |cc| {
            let mut app = App::new(backend, project, path, &cc.egui_ctx);
            if let Some(plan) = screenshot {
                cc.egui_ctx.set_theme(egui::Theme::from(plan.theme));
                match plan.page {
                    Some(Page::Inspect) => {
                        app.inspector.show_example();
                        app.send(Command::Inspect(0));
                    }
                    Some(page) => app.send(Command::Show(page)),
                    None => {}
                }
                if plan.lab {
                    app.send(Command::Show(Page::Lab));
                    app.send(Command::Compare(Box::new(super::lab::small())));
                }
            }
            if shooter.is_none() {
                if let Some(storage) = cc.storage {
                    app.restore(storage);
                }
                if let Some(folder) = state_folder() {
                    app.keep_in(&folder, EVERY);
                }
            }
            app.shooter = shooter;
            close_on_signals(&app, cc.egui_ctx.clone());
            if let Some(error) = refused {
                app.say(Level::Error, error);
            }
            Ok(Box::new(app))
        }),
    )
    // The window system's error cannot cross threads, so its words are kept instead.
    .map_err(|error| anyhow::anyhow!("{error}"))
    .context("no window can be opened here; `gigafringe run PROJECT.json` works without one")?;
    let result = outcome.lock().ok().and_then(|mut outcome| outcome.take());
    match (fresh, result) {
        (None, _) => Ok(()),
        (Some(_), Some(result)) => result,
        (Some(_), None) => Err(anyhow::anyhow!("the window was closed before the picture was taken")),
    }
}
