//! What a user's hands do in a window under test, and what the eyes see.

#![allow(dead_code, reason = "each file of tests uses a part of it")]

use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use gigafringe::app::App;

pub type Window = Harness<'static, App>;

/// Replaces a field's text and presses Enter.
pub fn enter(window: &mut Window, field: &'static str, text: &str) {
    window.get_by_role_and_label(Role::TextInput, field).focus();
    window.step();
    window.key_press_modifiers(egui::Modifiers::COMMAND, egui::Key::A);
    window.step();
    // Before the text, which may be empty.
    window.key_press(egui::Key::Backspace);
    window.step();
    window.get_by_role_and_label(Role::TextInput, field).type_text(text);
    window.step();
    window.key_press(egui::Key::Enter);
    window.run_steps(3);
}

/// The longest a test waits for anything.
const PATIENCE: Duration = Duration::from_mins(1);

/// Draws frames until `done`, or fails with what was waited for.
pub fn wait(window: &mut Window, what: &str, done: impl Fn(&Window) -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !done(window) {
        assert!(Instant::now() < deadline, "{what} never came; state: {:?}", window.state().view().state());
        window.step();
        std::thread::sleep(Duration::from_millis(2));
    }
    window.run_steps(3);
}

/// Whether a label contains this text; spaces that hold a number and its unit together are spaces.
pub fn shows(window: &Window, text: &str) -> bool {
    let contains = |node: egui_kittest::Node<'_>| {
        let node = node.accesskit_node();
        let shown = if node.role() == Role::Label { node.value() } else { node.label() };
        shown.is_some_and(|shown| shown.replace('\u{a0}', " ").contains(text))
    };
    window.root().children_recursive().any(contains)
}

/// Clicks what has this label.
pub fn click(window: &mut Window, label: &str) {
    window.get_by_label(label).click();
    window.run_steps(3);
}

/// Whether what has this label can be used.
pub fn is_enabled(window: &Window, label: &str) -> bool {
    !window.get_by_label(label).accesskit_node().is_disabled()
}
