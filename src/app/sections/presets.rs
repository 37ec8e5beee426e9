//! Choices that fill in a device's samples, or a wavelength.

use egui::Ui;

use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Sheet};
use super::super::presets::{Device, EXAMPLE, Light, Presets};
use super::super::text;

/// Shows the two choices.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, presets: &Presets) {
    let file = presets.file.as_ref().map_or_else(String::new, |file| {
        format!("\n\nAdd your own in {}, for example:\n{EXAMPLE}", file.display())
    });
    let words = format!("Fill in the pixels and pitch of a device, or a wavelength.{file}");
    ui.horizontal(|ui| {
        fields::label(ui, "Presets…", &words);
        let width = (ui.available_width() - ui.spacing().item_spacing.x) / 2.0;
        devices(ui, sheet, presets, width);
        let width = ui.available_width();
        wavelengths(ui, sheet, presets, width);
    });
}

fn devices(ui: &mut Ui, sheet: &mut Sheet<'_>, presets: &Presets, width: f32) {
    let current = presets.devices.iter().position(|device| device.is(&sheet.project.grid));
    let words: Vec<_> = presets.devices.iter().map(|device| (title(device), details(device))).collect();
    let mut options = vec![(None, "device", "The width, height and pitch below are no device's of the list")];
    options.extend(words.iter().enumerate().map(|(i, (title, details))| (Some(i), &**title, &**details)));
    let picked = fields::choice(ui, "device preset", "Device preset", width, current, &options).flatten();
    if let Some((device, [pitch_y, pitch_x])) =
        picked.and_then(|i| presets.devices.get(i)).and_then(|device| Some((device, device.pitches()?)))
    {
        let size = device.width.zip(device.height);
        sheet.send(Command::Edit(Edit::Device { size, pitch_x, pitch_y }));
    }
}

fn title(device: &Device) -> String {
    let size = device.width.zip(device.height);
    let size = size.map_or_else(String::new, |(width, height)| format!("{width} × {height}, "));
    let pitch = match device.pitches() {
        Some([y, x]) if x == y => text::length(x),
        Some([y, x]) => format!("{} × {}", text::length(x), text::length(y)),
        None => String::new(),
    };
    format!("{}: {size}{pitch}", device.name)
}

fn details(device: &Device) -> String {
    let source = device.source.as_deref().unwrap_or("your presets file");
    let note = device.note.as_ref().map_or_else(String::new, |note| format!("{}. ", text::sentence(note)));
    format!("{note}Source: {source}")
}

fn wavelengths(ui: &mut Ui, sheet: &mut Sheet<'_>, presets: &Presets, width: f32) {
    let current = presets.wavelengths.iter().position(|light| light.wavelength == sheet.project.wavelength);
    let title = |light: &Light| {
        let name = light.name.as_ref().map_or_else(String::new, |name| format!(", {name}"));
        format!("{}{name}", text::length(light.wavelength))
    };
    let source =
        |light: &Light| format!("Source: {}", light.source.as_deref().unwrap_or("your presets file"));
    let words: Vec<_> = presets.wavelengths.iter().map(|light| (title(light), source(light))).collect();
    let mut options = vec![(None, "wavelength", "The wavelength below is none of the list")];
    options.extend(words.iter().enumerate().map(|(i, (title, source))| (Some(i), &**title, &**source)));
    let picked = fields::choice(ui, "wavelength preset", "Wavelength preset", width, current, &options);
    if let Some(light) = picked.flatten().and_then(|i| presets.wavelengths.get(i)) {
        sheet.send(Command::Edit(Edit::Wavelength(light.wavelength)));
    }
}
