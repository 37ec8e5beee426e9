//! Where the hologram goes.

use egui::Ui;

use super::super::backend::Ask;
use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};

/// Shows the output's settings.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>) {
    super::section(ui, "Output", |ui| {
        let output = &sheet.project.output;
        let words = ("Hologram", "The file of complex samples, .npy: readable from NumPy as it is");
        let path = output.path.display().to_string();
        fields::row(ui, sheet, Field::Output, words, &path, |sheet, text| {
            sheet.checked("output.path", Edit::OutputPath(text.into()))
        });
        ui.horizontal(|ui| {
            fields::label(ui, "", "");
            let button = ui
                .add_enabled(!sheet.dialog_open, egui::Button::new("Choose file…"))
                .on_hover_text("Choose the hologram's file")
                .on_disabled_hover_text("A file dialog is open");
            if button.clicked() {
                sheet.send(Command::Ask(Ask::OutputFile));
            }
        });
        let mut previews = output.previews;
        let toggle = ui.checkbox(&mut previews, "Reconstruct every layer afterwards").on_hover_text(
            "Propagate the finished hologram to each layer's depth and show the intensity there",
        );
        if toggle.changed() {
            sheet.send(Command::Edit(Edit::Previews(previews)));
        }
        let mut force = sheet.options.force;
        let toggle = ui.checkbox(&mut force, "Overwrite existing files").on_hover_text(
            "Replace the hologram's file and the previews if they exist; otherwise the run is refused",
        );
        if toggle.changed() {
            sheet.send(Command::SetForce(force));
        }
    });
}
