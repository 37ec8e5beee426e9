//! What a user's hands do in a window under test.

use egui::accesskit::Role;
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable as _;
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
