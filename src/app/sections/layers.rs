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

/// A layer that is dragged in the list, by its index.
struct Dragged(usize);

fn card(ui: &mut Ui, sheet: &mut Sheet<'_>, images: &Images, index: usize) {
    let project = sheet.project;
    let layer = &project.layers[index];
    let number = index + 1;
    let card = tokens(ui).card_frame().show(ui, |ui| {
        ui.horizontal_top(|ui| {
            let picture = thumbnail(ui, images, &layer.image, number);
            picture.on_hover_cursor(egui::CursorIcon::Grab).dnd_set_drag_payload(Dragged(index));
            ui.vertical(|ui| {
                name_row(ui, sheet, index);
                depth(ui, sheet, index);
                amplitude(ui, sheet, index);
            });
        });
        fields::error_under(ui, sheet.drafts, Field::Distance(index));
        fields::error_under(ui, sheet.drafts, Field::Amplitude(index));
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
        if !layer.enabled {
            ui.label(RichText::new("Disabled: kept in the project, not computed").weak().small());
        }
    });
    let card = card.response;
    if card.dnd_hover_payload::<Dragged>().is_some_and(|dragged| dragged.0 != index) {
        let stroke = egui::Stroke::new(2.0, tokens(ui).accent);
        ui.painter().rect_stroke(card.rect, 4.0, stroke, egui::StrokeKind::Outside);
    }
    if let Some(from) = card.dnd_release_payload::<Dragged>().map(|d| d.0).filter(|&from| from != index) {
        sheet.send(Command::Edit(Edit::MoveLayer { from, to: index }));
    }
}

/// Width of the words before a card's fields.
const WORDS_WIDTH: f32 = 66.0;

fn words(ui: &mut Ui, text: &str, hover: &str) {
    let layout = Layout::left_to_right(Align::Center);
    ui.allocate_ui_with_layout(vec2(WORDS_WIDTH, ui.spacing().interact_size.y), layout, |ui| {
        ui.set_min_width(WORDS_WIDTH);
        ui.label(text).on_hover_text(hover);
    });
}

fn depth(ui: &mut Ui, sheet: &mut Sheet<'_>, index: usize) {
    let hover = terms::DEPTH.line;
    ui.horizontal(|ui| {
        words(ui, "Depth z", hover);
        let width = ui.available_width();
        let current = text::length(sheet.project.layers[index].distance);
        fields::input(ui, sheet, Field::Distance(index), &current, width, |_, text| {
            let value: Length = text.parse().map_err(|e| format!("{e}"))?;
            Ok(Command::Edit(Edit::Distance(index, value)))
        })
        .accessible_name(format!("Depth of layer {}", index + 1))
        .on_hover_text(hover);
    });
}

fn amplitude(ui: &mut Ui, sheet: &mut Sheet<'_>, index: usize) {
    let hover = "A factor on the layer's amplitude: 2 makes its light four times as intense";
    ui.horizontal(|ui| {
        words(ui, "Amplitude", hover);
        let width = ui.available_width();
        let current = sheet.project.layers[index].amplitude.to_string();
        fields::input(ui, sheet, Field::Amplitude(index), &current, width, |sheet, text| {
            let value = text.trim_start_matches('×').trim().parse();
            let value = value.map_err(|_| format!("`{text}` is not a number; write for example 0.5"))?;
            sheet.checked(&format!("layers[{index}].amplitude"), Edit::Amplitude(index, value))
        })
        .accessible_name(format!("Amplitude of layer {}", index + 1))
        .on_hover_text(hover);
    });
}

fn name_row(ui: &mut Ui, sheet: &mut Sheet<'_>, index: usize) {
    let (number, layer) = (index + 1, &sheet.project.layers[index]);
    let (image, count) = (&layer.image, sheet.project.layers.len());
    let size = vec2(ui.available_width(), ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        let remove = ui
            .small_button("×")
            .accessible_name(format!("Remove layer {number}"))
            .on_hover_text(format!("Remove layer {number} from the project; the file stays"));
        if remove.clicked() {
            sheet.send(Command::Edit(Edit::RemoveLayer(index)));
        }
        for (sign, way, possible, to) in
            [("⏷", "down", number < count, index + 1), ("⏶", "up", index > 0, index.saturating_sub(1))]
        {
            let button = ui
                .add_enabled(possible, egui::Button::new(sign).small())
                .accessible_name(format!("Move layer {number} {way}"))
                .on_hover_text(format!("Move layer {number} {way} in the list; its depth stays"))
                .on_disabled_hover_text(format!("Layer {number} cannot go further {way}"));
            if button.clicked() {
                sheet.send(Command::Edit(Edit::MoveLayer { from: index, to }));
            }
        }
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            let mut enabled = layer.enabled;
            let toggle = ui
                .checkbox(&mut enabled, "")
                .accessible_name(format!("Enable layer {number}"))
                .on_hover_text("Untick to keep the layer in the project without computing it");
            if toggle.changed() {
                sheet.send(Command::Edit(Edit::Enabled(index, enabled)));
            }
            let name = RichText::new(format!("{number}  {}", text::file_name(image))).strong();
            ui.add(egui::Label::new(name).truncate()).on_hover_text(image.display().to_string());
        });
    });
}

/// A layer's picture, by which it can be dragged to another place in the list.
fn thumbnail(ui: &mut Ui, images: &Images, path: &std::path::Path, number: usize) -> egui::Response {
    let side = vec2(THUMBNAIL, THUMBNAIL);
    match images.get(path) {
        Some(images::Image::Ready(thumbnail)) => {
            let size = thumbnail.texture.size_vec2();
            let scale = THUMBNAIL / size.max_elem();
            let (rect, response) = ui.allocate_exact_size(side, egui::Sense::drag());
            ui.painter().rect_filled(rect, 2.0, egui::Color32::BLACK);
            let place = egui::Rect::from_center_size(rect.center(), size * scale);
            Image::new((thumbnail.texture.id(), size)).paint_at(ui, place);
            response.on_hover_text(format!(
                "{} × {} pixels; scaled to fit the plane and centred. Drag it onto another layer to change the \
                 order of the list",
                text::count(thumbnail.width as u64),
                text::count(thumbnail.height as u64)
            ))
        }
        Some(images::Image::Failed(_)) => placeholder(ui, "no image"),
        Some(images::Image::Loading) | None => placeholder(ui, &format!("layer {number}…")),
    }
}

fn placeholder(ui: &mut Ui, text: &str) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(vec2(THUMBNAIL, THUMBNAIL), egui::Sense::drag());
    ui.painter().rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
    ui.place(rect, egui::Label::new(RichText::new(text).weak().small()).wrap());
    response
}
