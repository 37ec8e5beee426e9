//! Where the hologram goes.

use egui::Ui;

use super::super::backend::Ask;
use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};
use super::super::terms;
use crate::project::Encoding;

/// The encodings: name, and what is stored in which files.
pub const ENCODINGS: [(Encoding, &str, &str); 5] = [
    (Encoding::Complex, "Complex", "Complex samples, as computed: .npy"),
    (Encoding::Phase8, "Phase, 8 bit", "256 levels a turn, for a phase modulator: .npy, .tif, .bmp, .png"),
    (
        Encoding::Amplitude8,
        "Amplitude, 8 bit",
        "256 levels up to the full scale, for an amplitude modulator: .npy, .tif, .bmp, .png",
    ),
    (Encoding::Amplitude, "Amplitude", "|u| in single precision: .npy, .tif"),
    (Encoding::Intensity, "Intensity", "|u|² in single precision: .npy, .tif"),
];

/// Shows the output's settings.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>) {
    super::section(ui, "Output", |ui| {
        let output = &sheet.project.output;
        let words =
            ("Hologram", "The hologram's file; its ending picks the container: .npy, .tif, .bmp or .png");
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
                sheet.send(Command::Ask(Ask::OutputFile(output.encoding)));
            }
        });
        let words = terms::ENCODING.words();
        if let Some(value) = fields::choice_row(ui, words, output.encoding, &ENCODINGS) {
            sheet.send(Command::Edit(Edit::Encoding(value)));
        }
        if output.encoding == Encoding::Amplitude8 {
            let words = terms::FULL_SCALE.words();
            let shown = output.full_scale.map_or_else(String::new, |value| value.to_string());
            fields::row(ui, sheet, Field::FullScale, words, &shown, |sheet, text| {
                let value = match text.trim() {
                    "" => None,
                    text => Some(
                        text.parse()
                            .map_err(|_| format!("`{text}` is not a number; write for example 2.5"))?,
                    ),
                };
                sheet.checked("output.full_scale", Edit::FullScale(value))
            });
        }
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
