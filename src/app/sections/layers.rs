//! The layers: images at their depths.

use egui::{Align, Image, Layout, RichText, Ui, vec2};

use super::super::backend::Ask;
use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::{self, Field, Sheet};
use super::super::images::{self, Images};
use super::super::theme::{THUMBNAIL, tokens};
use super::super::{terms, text};
use crate::optics::Length;
use crate::project::{Phase, Values};

/// What a layer's values may mean, each with its name and what it means.
pub const VALUES: [(Values, &str, &str); 3] = [
    (Values::Srgb, "sRGB photo", "Values as in photographs; decoded to linear intensity first"),
    (Values::Intensity, "intensity", "Values proportional to the light's intensity"),
    (Values::Amplitude, "amplitude", "Values proportional to the field's amplitude"),
];

/// The phases a layer may begin with, each with its name and what it means.
pub const PHASES: [(Phase, &str, &str); 3] = [
    (Phase::Random, "random phase", "Every sample has its own phase: a diffuse object, seen from everywhere"),
    (Phase::Uniform, "uniform phase", "Phase zero everywhere: an object lit by a plane wave"),
    (Phase::Quadratic, "quadratic phase", "A smooth lens-like phase that spreads the light without speckle"),
];

/// Shows the layers and the ways to add some.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, images: &Images) {
    super::section(ui, "Layers", |ui| {
        let project = sheet.project;
        if project.layers.is_empty() {
            ui.label(
                RichText::new(
                    "Start here: add an image. Each image becomes a layer at its own depth. \
                     Drop files on the window, choose them, or type a path.",
                )
                .weak(),
            );
        }
        for layer in 0..project.layers.len() {
            ui.push_id(layer, |ui| card(ui, sheet, images, layer));
        }
        ui.horizontal(|ui| {
            let button = ui
                .add_enabled(!sheet.dialog_open, egui::Button::new("Add images…"))
                .on_hover_text("Choose PNG, JPEG, TIFF or BMP files; each becomes a layer")
                .on_disabled_hover_text("A file dialog is open");
            if button.clicked() {
                sheet.send(Command::Ask(Ask::AddImages));
            }
            let width = ui.available_width();
            fields::input(ui, sheet, Field::NewLayer, "", width, |_, text| add(text))
                .accessible_name("Image path")
                .on_hover_text("Type the path of an image and press Enter to add it as a layer");
        });
        fields::error_under(ui, sheet.drafts, Field::NewLayer);
    });
}

fn add(path: &str) -> Result<Command, String> {
    // One metadata look-up on Enter; a missing file is better said here than at the run.
    if std::path::Path::new(path).is_file() {
        Ok(Command::Edit(Edit::AddLayer(path.into())))
    } else {
        Err(format!("{path}: there is no such file"))
    }
}

fn card(ui: &mut Ui, sheet: &mut Sheet<'_>, images: &Images, index: usize) {
    let project = sheet.project;
    let layer = &project.layers[index];
    let number = index + 1;
    tokens(ui).card_frame().show(ui, |ui| {
        ui.horizontal_top(|ui| {
            thumbnail(ui, images, &layer.image, number);
            ui.vertical(|ui| {
                name_row(ui, sheet, number, &layer.image);
                ui.horizontal(|ui| {
                    ui.label("Depth z");
                    let width = ui.available_width();
                    let current = text::length(layer.distance);
                    fields::input(ui, sheet, Field::Distance(index), &current, width, |_, text| {
                        let value: Length = text.parse().map_err(|e| format!("{e}"))?;
                        Ok(Command::Edit(Edit::Distance(index, value)))
                    })
                    .accessible_name(format!("Depth of layer {number}"))
                    .on_hover_text(terms::DEPTH.line);
                });
            });
        });
        fields::error_under(ui, sheet.drafts, Field::Distance(index));
        ui.horizontal(|ui| {
            let width = (ui.available_width() - ui.spacing().item_spacing.x) / 2.0;
            let name = format!("Values of layer {number}");
            if let Some(values) = fields::choice(ui, "values", &name, width, layer.values, &VALUES) {
                sheet.send(Command::Edit(Edit::Values(index, values)));
            }
            let name = format!("Phase of layer {number}");
            let width = ui.available_width();
            if let Some(phase) = fields::choice(ui, "phase", &name, width, layer.phase, &PHASES) {
                sheet.send(Command::Edit(Edit::Phase(index, phase)));
            }
        });
        if let Some(images::Image::Failed(error)) = images.get(&layer.image) {
            ui.label(RichText::new(format!("⚠ {error}")).color(tokens(ui).error).small());
        }
    });
}

fn name_row(ui: &mut Ui, sheet: &mut Sheet<'_>, number: usize, image: &std::path::Path) {
    ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
        let remove = ui
            .small_button("×")
            .accessible_name(format!("Remove layer {number}"))
            .on_hover_text(format!("Remove layer {number} from the project; the file stays"));
        if remove.clicked() {
            sheet.send(Command::Edit(Edit::RemoveLayer(number - 1)));
        }
        ui.with_layout(Layout::left_to_right(Align::Min), |ui| {
            let name = RichText::new(format!("{number}  {}", text::file_name(image))).strong();
            ui.add(egui::Label::new(name).truncate()).on_hover_text(image.display().to_string());
        });
    });
}

fn thumbnail(ui: &mut Ui, images: &Images, path: &std::path::Path, number: usize) {
    let side = vec2(THUMBNAIL, THUMBNAIL);
    match images.get(path) {
        Some(images::Image::Ready(thumbnail)) => {
            let size = thumbnail.texture.size_vec2();
            let scale = THUMBNAIL / size.max_elem();
            let (rect, response) = ui.allocate_exact_size(side, egui::Sense::hover());
            ui.painter().rect_filled(rect, 2.0, egui::Color32::BLACK);
            let place = egui::Rect::from_center_size(rect.center(), size * scale);
            Image::new((thumbnail.texture.id(), size)).paint_at(ui, place);
            response.on_hover_text(format!(
                "{} × {} pixels; scaled to fit the plane and centred",
                text::count(thumbnail.width as u64),
                text::count(thumbnail.height as u64)
            ));
        }
        Some(images::Image::Failed(_)) => placeholder(ui, "no image"),
        Some(images::Image::Loading) | None => placeholder(ui, &format!("layer {number}…")),
    }
}

fn placeholder(ui: &mut Ui, text: &str) {
    let (rect, _) = ui.allocate_exact_size(vec2(THUMBNAIL, THUMBNAIL), egui::Sense::hover());
    ui.painter().rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
    ui.place(rect, egui::Label::new(RichText::new(text).weak().small()).wrap());
}
