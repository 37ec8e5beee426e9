//! The sections of the project panel.

pub mod drives;
pub mod layers;
pub mod method;
pub mod optics;
pub mod output;
pub mod plans;
pub mod presets;
pub mod sampling;
pub mod tuning;

use egui::{CollapsingHeader, RichText, Ui};

/// A section with its heading, open at first.
fn section<R>(ui: &mut Ui, name: &str, contents: impl FnOnce(&mut Ui) -> R) {
    CollapsingHeader::new(RichText::new(name).strong().size(15.0))
        .id_salt(name)
        .default_open(true)
        .show_unindented(ui, |ui| {
            contents(ui);
            ui.add_space(super::theme::GAP);
        });
}

/// Several commits share this: a whole number, or what would be one.
fn whole<T: std::str::FromStr>(text: &str, example: &str) -> Result<T, String> {
    text.replace([' ', '\u{a0}', '_'], "")
        .parse()
        .map_err(|_| format!("`{text}` is not a whole number; write for example {example}"))
}
