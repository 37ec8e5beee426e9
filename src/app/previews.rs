//! The previews: each layer's image beside its reconstruction at that depth.

use egui::{Color32, Image, Rect, RichText, Sense, Slider, Ui, Vec2, vec2};

use super::commands::Command;
use super::images::{self, Images};
use super::preview_images::{PreviewImages, Shown};
use super::run_view::{RunState, RunView};
use super::text;
use super::theme::{GAP, tokens};
use crate::inspect::Curve;
use crate::project::{Layer, Project};

/// The widest picture, in heights.
const WIDEST: f32 = 1.6;
/// The least width of a card, for its words.
const LEAST_WIDTH: f32 = 190.0;

/// What the previews are drawn from.
pub struct Sources<'a> {
    /// The project.
    pub project: &'a Project,
    /// The project as it was when the last run began.
    pub ran: Option<&'a Project>,
    /// The run.
    pub view: &'a RunView,
    /// The layers' images.
    pub images: &'a Images,
    /// The reconstructions' pictures.
    pub pictures: &'a PreviewImages,
}

impl<'a> Sources<'a> {
    /// A layer's reconstruction, with the layer as the run had it; none when the run had another.
    fn shown(&self, index: usize, layer: &Layer) -> Option<(&'a Shown, &'a Layer)> {
        let ran = self.ran?.layers.get(index).filter(|ran| ran.image == layer.image)?;
        Some((self.pictures.get(index)?, ran))
    }
}

/// Shows one card a layer.
pub fn show(ui: &mut Ui, sources: &Sources<'_>, commands: &mut Vec<Command>) {
    contrast(ui, sources, commands);
    let project = sources.project;
    if project.layers.is_empty() {
        ui.label(RichText::new("Each layer and its reconstruction will stand here side by side.").weak());
        return;
    }
    // Title, caption, frame, scroll bar, and the slider of each card when it has one.
    let rest = if sources.pictures.contrast.common { 80.0 } else { 112.0 };
    let side = (ui.available_height() - rest).clamp(96.0, 300.0);
    egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        ui.horizontal_top(|ui| {
            for (index, layer) in project.layers.iter().enumerate() {
                card(ui, sources, index, layer, side, commands);
            }
        });
    });
}

fn contrast(ui: &mut Ui, sources: &Sources<'_>, commands: &mut Vec<Command>) {
    let mut contrast = sources.pictures.contrast.clone();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().slider_width = 72.0;
        ui.label(RichText::new("Previews").strong().size(15.0));
        ui.add_space(GAP);
        ui.checkbox(&mut contrast.common, "Same contrast for all").on_hover_text(
            "White is the intensity below which 99.5 % of the brightest layer's samples lie; \
             untick to scale each layer by itself",
        );
        let mut root = contrast.curve == Curve::SquareRoot;
        ui.checkbox(&mut root, "Square root")
            .on_hover_text("Show the square root of the intensity, which lifts dark parts");
        contrast.curve = if root { Curve::SquareRoot } else { Curve::Linear };
        if contrast.common {
            ui.add_space(GAP);
            let label =
                ui.label("Contrast").on_hover_text("Brightness of all previews: 1 shows white as it is");
            ui.add(gain(&mut contrast.gain)).labelled_by(label.id);
        }
    });
    if contrast != sources.pictures.contrast {
        commands.push(Command::SetContrast(contrast));
    }
}

fn gain(value: &mut f32) -> Slider<'_> {
    Slider::new(value, 0.1..=10.0).logarithmic(true).max_decimals(2).prefix("×")
}

fn card(
    ui: &mut Ui,
    sources: &Sources<'_>,
    index: usize,
    layer: &Layer,
    side: f32,
    commands: &mut Vec<Command>,
) {
    let tokens = tokens(ui);
    tokens.card_frame().show(ui, |ui| {
        ui.vertical(|ui| {
            let ran = sources.ran.unwrap_or(sources.project);
            let widths = plane_size(sources.project, side).x + plane_size(ran, side).x;
            ui.set_width((widths + ui.spacing().item_spacing.x).max(LEAST_WIDTH));
            let title = format!("Layer {} at {}", index + 1, text::length(layer.distance));
            ui.label(RichText::new(title).strong());
            ui.horizontal_top(|ui| {
                source(ui, sources, layer, side);
                reconstruction(ui, sources, index, layer, side, commands);
            });
            let shown = sources.shown(index, layer);
            caption(ui, shown, layer);
            if let (false, Some(_)) = (sources.pictures.contrast.common, shown) {
                let mut contrast = sources.pictures.contrast.clone();
                let mut value = contrast.gain_of(index);
                let name = format!("Contrast of layer {}", index + 1);
                if ui.add(gain(&mut value)).accessible_name(&name).on_hover_text(name).changed() {
                    contrast.gains.insert(index, value);
                    commands.push(Command::SetContrast(contrast));
                }
            }
        });
    });
}

/// What the right picture is, also when the layer has been changed since.
fn caption(ui: &mut Ui, shown: Option<(&Shown, &Layer)>, layer: &Layer) {
    let text = match shown {
        None => RichText::new("Left: the layer's image").weak(),
        Some((shown, ran)) if ran == layer => {
            RichText::new(format!("Right: 1 : {} preview, intensity |u|², relative", shown.reduced.scale))
                .weak()
        }
        Some((_, ran)) => {
            let depth = text::length(ran.distance);
            RichText::new(format!("⚠ Right: as run at {depth}; changed since")).color(tokens(ui).warning)
        }
    };
    ui.add(egui::Label::new(text.small()).truncate()).on_hover_text(
        "The mean of |u|² over squares of samples; relative to the white level, so without a unit",
    );
}

/// The plane's size on the screen, in a space `side` high.
fn plane_size(project: &Project, side: f32) -> Vec2 {
    let grid = project.grid;
    #[expect(clippy::cast_possible_truncation, reason = "a size on the screen")]
    let plane = vec2(
        (grid.width as f64 * grid.pitch_x.in_metres() * 1e3) as f32,
        (grid.height as f64 * grid.pitch_y.in_metres() * 1e3) as f32,
    );
    fit(plane, vec2(WIDEST * side, side))
}

/// A black area of the plane's shape.
fn frame(ui: &mut Ui, project: &Project, side: f32, sense: Sense) -> (Rect, egui::Response) {
    let (place, response) = ui.allocate_exact_size(plane_size(project, side), sense);
    ui.painter().rect_filled(place, 0.0, Color32::BLACK);
    (place, response)
}

/// `size` scaled to fit in `space`.
fn fit(size: Vec2, space: Vec2) -> Vec2 {
    let scale = (space.x / size.x).min(space.y / size.y);
    if scale.is_finite() { size * scale } else { space }
}

fn source(ui: &mut Ui, sources: &Sources<'_>, layer: &Layer, side: f32) {
    let (plane, response) = frame(ui, sources.project, side, Sense::hover());
    match sources.images.get(&layer.image) {
        Some(images::Image::Ready(thumbnail)) => {
            let size = thumbnail.texture.size_vec2();
            let place = Rect::from_center_size(plane.center(), fit(size, plane.size()));
            Image::new((thumbnail.texture.id(), size)).paint_at(ui, place);
        }
        Some(images::Image::Failed(_)) => words(ui, plane, "The image cannot be shown"),
        Some(images::Image::Loading) | None => words(ui, plane, "Reading the image…"),
    }
    response.on_hover_text(format!("The layer's image: {}", layer.image.display()));
}

fn reconstruction(
    ui: &mut Ui,
    sources: &Sources<'_>,
    index: usize,
    layer: &Layer,
    side: f32,
    commands: &mut Vec<Command>,
) {
    let shown = sources.shown(index, layer);
    let sense = if shown.is_some() { Sense::click() } else { Sense::hover() };
    let (plane, response) = frame(ui, sources.ran.unwrap_or(sources.project), side, sense);
    let Some((shown, _)) = shown else {
        words(ui, plane, &placeholder(sources, layer));
        return;
    };
    picture(ui, shown, plane);
    let response = response
        .accessible_name(format!("Reconstruction of layer {}", index + 1))
        .on_hover_text("The hologram's light at this depth; click to enlarge");
    if response.clicked() {
        commands.push(Command::Enlarge(Some(index)));
    }
}

fn picture(ui: &Ui, shown: &Shown, place: Rect) {
    Image::new((shown.texture.id(), shown.texture.size_vec2())).paint_at(ui, place);
}

fn placeholder(sources: &Sources<'_>, layer: &Layer) -> String {
    let depth = text::length(layer.distance);
    if !sources.project.output.previews {
        return "Off: tick “Reconstruct every layer” under Output".into();
    }
    match sources.view.state() {
        RunState::Idle => format!("After the run: the reconstruction at {depth}"),
        RunState::Starting | RunState::Running => format!("Waiting for the reconstruction at {depth}"),
        _ if sources.ran.is_some_and(|p| p.layers.iter().all(|l| l.image != layer.image)) => {
            "This layer was not in the last run".into()
        }
        RunState::Finished(_) => "This run made no reconstruction here".into(),
        RunState::Cancelled(_) | RunState::Failed(_) => "The run ended before this reconstruction".into(),
    }
}

fn words(ui: &mut Ui, place: Rect, text: &str) {
    let color = Color32::from_gray(170);
    let label = egui::Label::new(RichText::new(text).color(color).small()).wrap();
    let inner = place.shrink(8.0);
    // A child that takes no space: the area was allocated by the picture's frame.
    let layout = egui::Layout::top_down(egui::Align::Center);
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(inner).layout(layout));
    child.add_space(inner.height() * 0.3);
    child.add(label);
}

/// Shows one reconstruction as large as the window allows.
pub fn enlarged(ui: &Ui, sources: &Sources<'_>, index: usize, commands: &mut Vec<Command>) {
    let Some((layer, shown)) = sources.ran.and_then(|p| p.layers.get(index)).zip(sources.pictures.get(index))
    else {
        commands.push(Command::Enlarge(None));
        return;
    };
    let space = ui.ctx().content_rect().size() * 0.86 - vec2(0.0, 70.0);
    let response = egui::Modal::new(egui::Id::unique("enlarged")).show(ui.ctx(), |ui| {
        ui.horizontal(|ui| {
            ui.heading(format!("Layer {} at {}", index + 1, text::length(layer.distance)));
            ui.label(
                RichText::new(format!("1 : {} preview, intensity |u|², relative", shown.reduced.scale))
                    .weak(),
            );
        });
        let side = space.y.min(space.x / WIDEST);
        let (plane, _) = frame(ui, sources.ran.unwrap_or(sources.project), side, Sense::hover());
        picture(ui, shown, plane);
        if ui.button("Close").clicked() {
            commands.push(Command::Enlarge(None));
        }
    });
    if response.should_close() {
        commands.push(Command::Enlarge(None));
    }
}
