//! Everyday things in the window: shortcuts, the palette, undo, recent projects, recovery, the log.

#[path = "support/fake_engine.rs"]
mod fake_engine;
#[path = "support/hands.rs"]
mod hands;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use gigafringe::app::{App, Command, Contrast, Edit, blank_project};
use gigafringe::inspect::Curve;
use gigafringe::project::{Layer, Project};

use fake_engine::{Ending, FakeEngine};
use hands::{Window, click, enter, is_enabled, shows, wait};

const CTRL: Modifiers = Modifiers::COMMAND;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

/// Two layers, whose images need not be there.
fn project(folder: &Path) -> Project {
    let mut project = blank_project();
    for (i, depth) in ["3mm", "4mm"].into_iter().enumerate() {
        let image = folder.join(format!("layer{i}.png"));
        let distance = depth.parse().unwrap();
        project.layers.push(Layer::new(image, distance));
    }
    project.output.path = folder.join("hologram.npy");
    project
}

fn open(project: Project, path: Option<PathBuf>, state: Option<&Path>) -> Window {
    open_with(FakeEngine::default(), project, path, state)
}

/// A window that keeps its things in the folder `state`.
fn open_with(engine: FakeEngine, project: Project, path: Option<PathBuf>, state: Option<&Path>) -> Window {
    let mut window = Harness::builder().with_size([1400.0, 1600.0]).build_eframe(|cc| {
        let mut app = App::new(Arc::new(engine), project, path, &cc.egui_ctx);
        if let Some(state) = state {
            app.keep_in(state, Duration::ZERO);
        }
        app
    });
    window.run_steps(3);
    window
}

fn press(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.key_press_modifiers(modifiers, key);
    window.run_steps(3);
}

fn edit(window: &mut Window, edit: Edit) {
    window.state_mut().send(Command::Edit(edit));
    window.run_steps(2);
}

/// What is put on the clipboard within some frames after `act`.
fn copied(window: &mut Window, act: impl FnOnce(&mut Window)) -> String {
    act(window);
    let mut copied = String::new();
    for _ in 0..6 {
        window.step();
        for command in &window.output().platform_output.commands {
            if let egui::OutputCommand::CopyText(text) = command {
                copied.clone_from(text);
            }
        }
    }
    copied
}

fn search(window: &mut Window, text: &str) {
    press(window, CTRL_SHIFT, Key::P);
    window.get_by_label("Search commands").type_text(text);
    window.run_steps(3);
}

fn palette_is_open(window: &Window) -> bool {
    window.query_by_label("Search commands").is_some()
}

/// Projects kept for a recovery in the folder `state`.
fn kept(state: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(state.join("recovery")).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|ending| ending == "json")).collect()
}

/// Everything in the recovery folder.
fn left(state: &Path) -> usize {
    std::fs::read_dir(state.join("recovery")).map_or(0, Iterator::count)
}

/// Closes the window as the system does in the end.
fn close(mut window: Window) {
    eframe::App::on_exit(window.state_mut(), None);
}

#[test]
fn shortcuts_send_the_commands_they_are_listed_with() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    project(folder.path()).save(&path).unwrap();
    let mut window = open(Project::load(&path).unwrap(), Some(path.clone()), None);
    press(&mut window, CTRL, Key::Num5);
    assert!(shows(&window, "No run has ended yet"));
    press(&mut window, CTRL, Key::Num1);
    assert!(!shows(&window, "No run has ended yet"));
    press(&mut window, CTRL, Key::L);
    assert!(shows(&window, "Hide log"));
    edit(&mut window, Edit::Seed(5));
    press(&mut window, CTRL, Key::S);
    assert_eq!(Project::load(&path).unwrap().seed, 5);
    press(&mut window, CTRL, Key::R);
    wait(&mut window, "the run", |w| shows(w, "Finished in"));
    // One that cannot be carried out says why, once.
    for _ in 0..3 {
        press(&mut window, CTRL, Key::Period);
    }
    assert_eq!(window.query_all_by_label_contains("Cancel the run: no run is under way").count(), 2);
    press(&mut window, CTRL, Key::N);
    assert!(window.state().project().layers.is_empty());
    press(&mut window, Modifiers::NONE, Key::F5);
    assert!(shows(&window, "Run: Add at least one image as a layer first"));
}

#[test]
fn a_question_is_answered_before_any_shortcut() {
    let folder = tempfile::tempdir().unwrap();
    let mut window = open(project(folder.path()), None, None);
    edit(&mut window, Edit::Seed(5));
    press(&mut window, CTRL, Key::N);
    assert!(shows(&window, "The project has unsaved changes"));
    press(&mut window, CTRL, Key::Z);
    press(&mut window, CTRL_SHIFT, Key::P);
    assert_eq!(window.state().project().seed, 5);
    assert!(!palette_is_open(&window) && shows(&window, "The project has unsaved changes"));
}

#[test]
fn zoom_is_the_toolkits_own_and_the_palette_has_it_too() {
    let mut window = open(blank_project(), None, None);
    press(&mut window, CTRL, Key::Plus);
    assert!((window.ctx.zoom_factor() - 1.1).abs() < 1e-3, "once: {}", window.ctx.zoom_factor());
    search(&mut window, "reset zoom");
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!((window.ctx.zoom_factor() - 1.0).abs() < 1e-3);
}

#[test]
fn the_palette_finds_commands_pages_and_projects() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("holiday.json");
    project(folder.path()).save(&path).unwrap();
    let mut window = open(blank_project(), None, None);
    search(&mut window, "lab");
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(!palette_is_open(&window) && shows(&window, "Nothing has been compared yet"));

    // What cannot be done is shown with the reason, and Enter does not do it.
    search(&mut window, "undo");
    assert!(shows(&window, "Undo: nothing was changed"));
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(palette_is_open(&window));
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!palette_is_open(&window));

    // Arrow keys choose: the second of these opens the window of terms.
    search(&mut window, "explain");
    assert!(shows(&window, "Terms: Explain each term"));
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(shows(&window, "A complex wave field"));
    search(&mut window, "zoom");
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    press(&mut window, Modifiers::NONE, Key::ArrowDown);
    press(&mut window, Modifiers::NONE, Key::ArrowUp);
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!((window.ctx.zoom_factor() - 0.9).abs() < 1e-3, "Zoom out is the second");
    window.ctx.set_zoom_factor(1.0);

    window.state_mut().send(Command::Open(path));
    wait(&mut window, "the project", |w| w.state().project().layers.len() == 2);
    press(&mut window, CTRL, Key::N);
    search(&mut window, "holiday");
    wait(&mut window, "the recent project", |w| shows(w, "Open holiday.json: "));
    window.get_by_label_contains("Open holiday.json: ").click();
    window.run_steps(3);
    assert_eq!(window.state().title(), "Gigafringe — holiday.json");
    search(&mut window, "no such thing");
    assert!(shows(&window, "No command, page or recent project has such a name"));
}

#[test]
fn changes_are_undone_and_redone_and_the_dot_follows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    project(folder.path()).save(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut window = open(Project::load(&path).unwrap(), Some(path.clone()), None);
    let original = window.state().project().clone();
    assert!(!is_enabled(&window, "Undo") && !is_enabled(&window, "Redo"));

    enter(&mut window, "Depth of layer 2", "9mm");
    enter(&mut window, "Wavelength λ", "633");
    assert!(shows(&window, "has no unit"), "refused, and so no step");
    enter(&mut window, "Width", "1024");
    click(&mut window, "Remove layer 1");
    let changed = window.state().project().clone();
    for seen in ["Undo removing layer 1: ", "Undo width: ", "Undo depth of layer 2: "] {
        search(&mut window, "undo");
        assert!(shows(&window, seen), "{seen}");
        press(&mut window, Modifiers::NONE, Key::Escape);
        assert!(window.state().title().ends_with('•'));
        press(&mut window, CTRL, Key::Z);
    }
    assert_eq!(window.state().project(), &original);
    assert!(!window.state().title().ends_with('•'), "back at what is saved");
    assert!(!is_enabled(&window, "Undo"));
    assert!(shows(&window, "has no unit"), "what was typed stays");

    press(&mut window, CTRL_SHIFT, Key::Z);
    press(&mut window, CTRL, Key::Y);
    click(&mut window, "Redo");
    assert_eq!(window.state().project(), &changed);
    assert!(!is_enabled(&window, "Redo"));
    assert_eq!(std::fs::read(&path).unwrap(), bytes, "the file is not touched");

    // Saved in between: the way back is a change.
    click(&mut window, "Save");
    assert!(!window.state().title().ends_with('•'));
    click(&mut window, "Undo");
    assert!(window.state().title().ends_with('•'));
    click(&mut window, "Redo");
    click(&mut window, "New");
    assert!(!is_enabled(&window, "Undo"), "another project has a history of its own");
}

#[test]
fn parted_pitches_are_undone_into_one() {
    let mut window = open(blank_project(), None, None);
    click(&mut window, "Same pitch on both axes");
    enter(&mut window, "Pitch y", "7um");
    click(&mut window, "Same pitch on both axes");
    assert_eq!(window.state().project().grid.pitch_y.to_string(), "4um");
    edit(&mut window, Edit::Seed(1));
    press(&mut window, CTRL, Key::Z);
    press(&mut window, CTRL, Key::Z);
    let pitch = window.state().project().grid.pitch_y.to_string();
    assert!(pitch == "7um" || pitch == "4um");
    // Where the pitches differ both are shown.
    assert_eq!(window.query_by_label("Pitch y").is_some(), pitch == "7um");
}

#[test]
fn a_text_field_keeps_its_own_undo() {
    let mut window = open(blank_project(), None, None);
    edit(&mut window, Edit::Seed(5));
    window.get_by_role_and_label(Role::TextInput, "Width").focus();
    window.run_steps(2);
    window.get_by_role_and_label(Role::TextInput, "Width").type_text("77");
    window.run_steps(2);
    let typed = window.get_by_role_and_label(Role::TextInput, "Width").value().unwrap();
    assert_ne!(typed, "2048");
    press(&mut window, CTRL, Key::Z);
    assert_eq!(window.state().project().seed, 5, "the project's change stays");
    assert_ne!(window.get_by_role_and_label(Role::TextInput, "Width").value().unwrap(), typed);
    press(&mut window, Modifiers::NONE, Key::Escape);
    press(&mut window, CTRL, Key::Z);
    assert_eq!(window.state().project().seed, 0);
}

#[test]
fn recent_projects_are_opened_again_and_missing_ones_removed() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let [first, second] = ["first.json", "second.json"].map(|name| folder.path().join(name));
    for path in [&first, &second] {
        project(folder.path()).save(path).unwrap();
    }
    let mut window = open(Project::load(&first).unwrap(), Some(first.clone()), Some(&state));
    window.state_mut().send(Command::SaveAs(folder.path().join("third.json")));
    window.run_steps(2);
    window.state_mut().send(Command::Open(second.clone()));
    window.run_steps(2);
    close(window);
    std::fs::remove_file(&second).unwrap();

    let mut window = open(blank_project(), None, Some(&state));
    click(&mut window, "Recent");
    let gone = format!("⚠ {} is missing", second.display());
    wait(&mut window, "the list", |w| shows(w, &gone));
    assert!(shows(&window, "third.json"));
    let labels = [&gone, &format!("Remove {} from the list", second.display())];
    assert!(window.get_by_label(labels[0]).accesskit_node().is_disabled());
    window.get_by_label(labels[1]).click();
    window.run_steps(3);
    click(&mut window, "Recent");
    wait(&mut window, "the shorter list", |w| !shows(w, "second.json"));
    let label = first.display().to_string();
    if window.query_by_label(&label).is_none() {
        click(&mut window, "Recent");
    }
    window.get_by_label(&label).click();
    window.run_steps(3);
    assert_eq!(window.state().title(), "Gigafringe — first.json");
}

#[test]
fn a_window_without_a_folder_writes_nothing_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.json");
    project(folder.path()).save(&path).unwrap();
    let mut window = open(Project::load(&path).unwrap(), Some(path), None);
    edit(&mut window, Edit::Seed(5));
    window.run_steps(5);
    close(window);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn unsaved_changes_survive_a_crash() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let path = folder.path().join("mine.json");
    project(folder.path()).save(&path).unwrap();
    let mut window = open(Project::load(&path).unwrap(), Some(path.clone()), Some(&state));
    window.run_steps(3);
    assert_eq!(left(&state), 0, "nothing is unsaved");
    edit(&mut window, Edit::Seed(5));
    edit(&mut window, Edit::Width(640));
    let seed = |path: &PathBuf| Project::load(path).ok().map(|project| (project.seed, project.grid.width));
    wait(&mut window, "the file", |_| kept(&state).first().and_then(seed) == Some((5, 640)));
    assert_eq!(seed(&path), Some((0, 2048)), "the project's own file is not touched");

    // What a living window keeps is never offered to another one.
    let mut other = open(blank_project(), None, Some(&state));
    edit(&mut other, Edit::Seed(9));
    wait(&mut other, "its own file", |_| kept(&state).len() == 2);
    assert!(!shows(&other, "Recover"));
    close(other_discarded(other));
    assert_eq!(kept(&state).len(), 1);

    // Dropped without being closed: as in a crash, the system takes the locks back.
    drop(window);
    let mut window = open(blank_project(), None, Some(&state));
    wait(&mut window, "the question", |w| shows(w, "Recover unsaved changes of project mine.json from "));
    // Put off, it is asked again at the next start.
    click(&mut window, "Ask later");
    assert!(!shows(&window, "Recover unsaved changes"));
    close(window);
    let mut window = open(blank_project(), None, Some(&state));
    wait(&mut window, "the question", |w| shows(w, "Recover unsaved changes"));
    click(&mut window, "Recover");
    assert_eq!((window.state().project().seed, window.state().project().grid.width), (5, 640));
    assert_eq!(window.state().title(), "Gigafringe — mine.json •");
    // Until they are saved they are kept.
    window.run_steps(3);
    assert_eq!(kept(&state).len(), 1);
    drop(window);
    let mut window = open(blank_project(), None, Some(&state));
    wait(&mut window, "the question", |w| shows(w, "Recover unsaved changes"));
    click(&mut window, "Recover");
    click(&mut window, "Save");
    assert_eq!(seed(&path), Some((5, 640)));
    wait(&mut window, "that it is forgotten", |_| left(&state) == 0);
    close(window);
    assert_eq!(left(&state), 0);
}

/// The window after its changes were given up.
fn other_discarded(mut window: Window) -> Window {
    window.state_mut().send(Command::Close);
    window.run_steps(3);
    click(&mut window, "Discard changes");
    window
}

#[test]
fn what_was_left_behind_can_be_discarded() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let mut window = open(blank_project(), None, Some(&state));
    edit(&mut window, Edit::Seed(5));
    wait(&mut window, "the file", |_| kept(&state).len() == 1);
    drop(window);
    let mut window = open(blank_project(), None, Some(&state));
    wait(&mut window, "the question", |w| shows(w, "Recover unsaved changes of project untitled"));
    click(&mut window, "Discard");
    assert_eq!((window.state().project().seed, left(&state)), (0, 0));
}

#[test]
fn undoing_everything_forgets_what_was_kept_and_a_signal_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    let mut window = open(blank_project(), None, Some(&state));
    edit(&mut window, Edit::Seed(5));
    wait(&mut window, "the file", |_| kept(&state).len() == 1);
    press(&mut window, CTRL, Key::Z);
    wait(&mut window, "that it is forgotten", |_| left(&state) == 0);
    // Nobody is asked when a signal ends the program, so nothing is given up.
    press(&mut window, CTRL_SHIFT, Key::Z);
    window.state().interrupted().store(true, Ordering::Relaxed);
    window.run_steps(3);
    close(window);
    assert_eq!(Project::load(&kept(&state)[0]).unwrap().seed, 5);
}

#[test]
fn a_recovery_that_cannot_be_kept_is_told_once_and_costs_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("taken");
    std::fs::write(&state, "a file where the folder should be").unwrap();
    let mut window = open(blank_project(), None, Some(&state));
    for seed in 1..4 {
        edit(&mut window, Edit::Seed(seed));
    }
    click(&mut window, "Show log");
    wait(&mut window, "the note", |w| shows(w, "Unsaved changes cannot be kept for a recovery: "));
    edit(&mut window, Edit::Seed(7));
    window.run_steps(5);
    // In the log, and perhaps in the status line.
    assert!(window.query_all_by_label_contains("Unsaved changes cannot be kept").count() <= 2);
    close(window);
}

#[test]
fn the_log_has_times_levels_and_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let engine = FakeEngine { ending: Ending::Fail("the disk is away".into()), ..FakeEngine::default() };
    let mut window = open_with(engine, project(folder.path()), None, None);
    click(&mut window, "Run");
    wait(&mut window, "the failure", |w| shows(w, "Copy details"));
    click(&mut window, "Dismiss");
    click(&mut window, "Show log");
    let text = copied(&mut window, |w| w.get_by_label("Copy all").click());
    let line = text.lines().find(|line| line.ends_with(" info: Checking the project")).expect("the line");
    let clock: Vec<&str> = line.split(' ').next().unwrap().split(':').collect();
    assert!(
        clock.len() == 3 && clock.iter().all(|part| part.len() == 2 && part.parse::<u8>().is_ok()),
        "{line}"
    );
    assert!(text.contains(" error: The run failed: the disk is away\n"), "{text}");

    assert!(shows(&window, "Checking the project"));
    window.get_by_label_contains("Info (").click();
    window.run_steps(3);
    assert!(!shows(&window, "Checking the project"), "hidden");
    assert!(shows(&window, "The run failed: the disk is away") && shows(&window, "Errors (1)"));
    window.get_by_label_contains("Info (").click();
    window.run_steps(3);
    assert!(shows(&window, "Checking the project"));
}

/// What the toolkit writes to a file.
#[derive(Default)]
struct Storage(HashMap<String, String>);

impl eframe::Storage for Storage {
    fn get_string(&self, key: &str) -> Option<String> {
        self.0.get(key).cloned()
    }
    fn set_string(&mut self, key: &str, value: String) {
        self.0.insert(key.into(), value);
    }
    fn remove_string(&mut self, key: &str) {
        self.0.remove(key);
    }
    fn flush(&mut self) {}
}

/// A window that is opened as `storage` has it, and the theme it has before the test sets one.
fn open_again(storage: &Storage) -> (Window, egui::ThemePreference) {
    let mut theme = egui::ThemePreference::System;
    let mut window: Window = Harness::builder().with_size([1400.0, 3200.0]).build_eframe(|cc| {
        if let Some(memory) = eframe::get_value(storage, "egui") {
            cc.egui_ctx.memory_mut(|m| *m = memory);
        }
        theme = cc.egui_ctx.options(|options| options.theme_preference);
        let mut app = App::new(Arc::new(FakeEngine::default()), blank_project(), None, &cc.egui_ctx);
        app.restore(storage);
        app
    });
    window.run_steps(3);
    (window, theme)
}

#[test]
fn the_window_is_left_and_found_as_it_was() {
    let field = |w: &Window| w.get_by_role_and_label(Role::TextInput, "Folder path").rect().width();
    let mut storage = Storage::default();
    let (mut window, _) = open_again(&storage);
    let usual = field(&window);
    click(&mut window, "Same pitch on both axes");
    click(&mut window, "Lab");
    click(&mut window, "Show log");
    window.get_by_label_contains("Notes (").click();
    window.state_mut().send(Command::SetTheme(egui::ThemePreference::Light));
    let contrast = Contrast { common: false, gain: 2.5, curve: Curve::Linear, ..Contrast::default() };
    window.state_mut().send(Command::SetContrast(contrast));
    let edge = window.get_by_label("Run").rect().left() - 9.0;
    window.drag_at(egui::pos2(edge, 700.0));
    window.run_steps(3);
    window.hover_at(egui::pos2(edge + 80.0, 700.0));
    window.run_steps(3);
    window.drop_at(egui::pos2(edge + 80.0, 700.0));
    window.run_steps(3);
    let wide = field(&window);
    assert!(wide > usual + 40.0, "{usual} {wide}");
    eframe::App::save(window.state_mut(), &mut storage);
    // As the toolkit itself does.
    eframe::set_value(&mut storage, "egui", &window.ctx.memory(Clone::clone));
    drop(window);

    let (mut window, theme) = open_again(&storage);
    assert!(window.query_by_label("Pitch y").is_some(), "the pitches are apart");
    assert!(shows(&window, "Nothing has been compared yet") && shows(&window, "Hide log"));
    assert!((field(&window) - wide).abs() < 2.0);
    assert_eq!(theme, egui::ThemePreference::Light);
    let ticked = |w: &Window, label| {
        w.get_by_label_contains(label).accesskit_node().toggled() == Some(egui::accesskit::Toggled::True)
    };
    assert!(ticked(&window, "Info (") && !ticked(&window, "Notes ("));
    let mut again = Storage::default();
    eframe::App::save(window.state_mut(), &mut again);
    assert_eq!(again.0["gigafringe"], storage.0["gigafringe"], "the contrast, too");
    assert!(storage.0["gigafringe"].contains("2.5") && storage.0["gigafringe"].contains("linear"));

    window.state_mut().send(Command::SetTheme(theme));
    search(&mut window, "reset layout");
    press(&mut window, Modifiers::NONE, Key::Enter);
    window.run_steps(5);
    // A scroll bar may have come; it is 10 points wide.
    assert!((field(&window) - usual).abs() < 12.0, "as at first");
    assert!(!shows(&window, "Nothing has been compared yet") && shows(&window, "Show log"));
    assert_eq!(window.ctx.theme(), egui::Theme::Light, "the theme is no layout");
}

#[test]
fn what_cannot_be_understood_leaves_the_window_as_at_first() {
    for text in ["", "{", "[]", r#"{"page": "No such page", "contrast_gain": -1.0, "more": 1}"#] {
        let mut storage = Storage::default();
        storage.0.insert("gigafringe".into(), text.into());
        let (mut window, _) = open_again(&storage);
        assert!(shows(&window, "Show log") && !shows(&window, "Nothing has been compared yet"), "{text}");
        eframe::App::save(window.state_mut(), &mut storage);
        assert!(storage.0["gigafringe"].contains(r#""contrast_gain":1.0"#), "{text}");
    }
}

#[test]
fn the_help_lists_shortcuts_and_explains_terms() {
    let mut window = open(blank_project(), None, None);
    press(&mut window, Modifiers::NONE, Key::F1);
    for text in ["Ctrl+Shift+S", "Ctrl+Z", "Ctrl+Shift+Z  or  Ctrl+Y", "Ctrl+R  or  F5", "Page Lab"] {
        assert!(shows(&window, text), "{text}");
    }
    click(&mut window, "Terms");
    assert!(shows(&window, "A complex wave field"));
    window.get_by_label("Search terms").focus();
    window.run_steps(2);
    window.get_by_label("Search terms").type_text("duplex");
    window.run_steps(3);
    assert!(shows(&window, "Half duplex") && !shows(&window, "A complex wave field"));
    window.get_by_label("Search terms").type_text(" xyzzy");
    window.run_steps(3);
    assert!(shows(&window, "No term has these words"));
    window.state_mut().send(Command::ShowHelp(None));
    window.run_steps(3);
    assert!(window.query_by_label("Search terms").is_none());
}

#[test]
fn escape_closes_what_is_on_top_whatever_has_the_keyboard() {
    let mut window = open(blank_project(), None, None);
    let help_is_open = |w: &Window| w.query_by_label("Close the help").is_some();
    for searching in [false, true] {
        press(&mut window, Modifiers::NONE, Key::F1);
        if searching {
            click(&mut window, "Terms");
            window.get_by_label("Search terms").focus();
            window.run_steps(2);
            window.get_by_label("Search terms").type_text("role");
            window.run_steps(2);
        }
        assert!(help_is_open(&window));
        press(&mut window, Modifiers::NONE, Key::Escape);
        assert!(!help_is_open(&window), "{searching}");
    }
    // A field of the project that was left with a draft in it.
    window.get_by_role_and_label(Role::TextInput, "Width").focus();
    window.run_steps(2);
    press(&mut window, Modifiers::NONE, Key::F1);
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!help_is_open(&window));
    press(&mut window, Modifiers::NONE, Key::F1);
    click(&mut window, "Close the help");
    assert!(!help_is_open(&window));

    // A question first, and only that.
    edit(&mut window, Edit::Seed(5));
    press(&mut window, CTRL, Key::N);
    assert!(shows(&window, "The project has unsaved changes"));
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!shows(&window, "The project has unsaved changes"));
    press(&mut window, CTRL, Key::K);
    assert!(palette_is_open(&window));
    press(&mut window, Modifiers::NONE, Key::Escape);
    assert!(!palette_is_open(&window));
}

#[test]
fn what_lies_beneath_says_nothing_above_the_palette_or_the_help() {
    let mut window = open(blank_project(), None, None);
    let hover = "Open a project that was open lately";
    let button = window.get_by_label("Recent").rect().center();
    for open in [Key::F1, Key::F2] {
        window.hover_at(button);
        window.run_steps(12);
        assert!(shows(&window, hover), "while nothing lies above");
        match open {
            Key::F1 => press(&mut window, Modifiers::NONE, Key::F1),
            _ => press(&mut window, CTRL, Key::K),
        }
        window.run_steps(3);
        assert!(!shows(&window, hover), "{open:?}");
        press(&mut window, Modifiers::NONE, Key::Escape);
        window.hover_at(button + egui::vec2(300.0, 300.0));
        window.run_steps(3);
    }
}
