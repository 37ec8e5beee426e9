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
/// The least width of a card's content, for its words.
const LEAST_WIDTH: f32 = 190.0;
/// Below this height of the pictures the cards stand in one row that is scrolled.
const SMALL_SIDE: f32 = 110.0;
/// The least height of the pictures.
const LEAST_SIDE: f32 = 80.0;
/// The largest height of the pictures; they have not many more pixels.
const LARGEST_SIDE: f32 = 560.0;
/// A card's margins and outline, both sides together.
const CARD_MARGIN: f32 = 18.0;
/// Height of a card's words.
const WORDS_HEIGHT: f32 = 46.0;
/// The same of its slider, when it has one.
const SLIDER_HEIGHT: f32 = 30.0;

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
        ui.label(RichText::new("Each layer and its reconstruction will stand here together.").weak());
        return;
    }
    let words = WORDS_HEIGHT + if sources.pictures.contrast.common { 0.0 } else { SLIDER_HEIGHT };
    let shapes = [project, sources.ran.unwrap_or(project)].map(|project| plane_size(project, 1.0));
    let look = arrange(ui.available_size(), project.layers.len(), shapes, words);
    egui::ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        let layers: Vec<_> = project.layers.iter().enumerate().collect();
        for row in layers.chunks(look.columns) {
            ui.horizontal_top(|ui| {
                for &(index, layer) in row {
                    card(ui, sources, index, layer, look, commands);
                }
            });
        }
    });
}

/// How the cards are laid out.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Arrangement {
    /// Cards in a row.
    columns: usize,
    /// Whether a card's pictures stand one above the other, instead of side by side.
    stacked: bool,
    /// The pictures' height.
    side: f32,
}

/// The arrangement of `count` cards that shows all of them in `space` with the largest pictures.
///
/// `shapes` are the sizes of a card's pictures in a space of height 1, `words` is the height of its
/// words. Where the pictures would be small, the cards stand in one row and are scrolled.
fn arrange(space: Vec2, count: usize, shapes: [Vec2; 2], words: f32) -> Arrangement {
    let [one, other] = shapes;
    let side = |columns: usize, stacked: bool| {
        let rows = count.div_ceil(columns);
        let width = (space.x + GAP / 2.0) / columns as f32 - GAP / 2.0 - CARD_MARGIN;
        let height = (space.y + GAP / 2.0) / rows as f32 - GAP / 2.0 - CARD_MARGIN - words;
        match (width >= LEAST_WIDTH, stacked) {
            (false, _) => 0.0,
            (true, false) => ((width - GAP / 2.0) / (one.x + other.x)).min(height / one.y.max(other.y)),
            (true, true) => (width / one.x.max(other.x)).min((height - GAP / 2.0) / (one.y + other.y)),
        }
    };
    let scrolled = (space.y - CARD_MARGIN - words - GAP).max(LEAST_SIDE);
    let mut best = Arrangement { columns: count, stacked: false, side: scrolled };
    let mut largest = SMALL_SIDE;
    for columns in (1..=count).rev() {
        for stacked in [false, true] {
            let side = side(columns, stacked);
            if side > largest {
                largest = side;
                best = Arrangement { columns, stacked, side };
            }
        }
    }
    best.side = best.side.floor().min(LARGEST_SIDE);
    best
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
    Arrangement { stacked, side, .. }: Arrangement,
    commands: &mut Vec<Command>,
) {
    let tokens = tokens(ui);
    tokens.card_frame().show(ui, |ui| {
        ui.vertical(|ui| {
            let ran = sources.ran.unwrap_or(sources.project);
            let [one, other] = [sources.project, ran].map(|project| plane_size(project, side).x);
            let width = if stacked { one.max(other) } else { one + other + ui.spacing().item_spacing.x };
            ui.set_width(width.max(LEAST_WIDTH));
            let title = format!("Layer {} at {}", index + 1, text::length(layer.distance));
            ui.label(RichText::new(title).strong());
            let down = egui::Layout::top_down(egui::Align::Min);
            let across = egui::Layout::left_to_right(egui::Align::Min);
            ui.with_layout(if stacked { down } else { across }, |ui| {
                source(ui, sources, layer, side);
                reconstruction(ui, sources, index, layer, side, commands);
            });
            let shown = sources.shown(index, layer);
            caption(ui, shown, layer, if stacked { ["Above", "Below"] } else { ["Left", "Right"] });
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

/// What the second picture is, also when the layer has been changed since.
fn caption(ui: &mut Ui, shown: Option<(&Shown, &Layer)>, layer: &Layer, [first, second]: [&str; 2]) {
    let text = match shown {
        None => RichText::new(format!("{first}: the layer's image")).weak(),
        Some((shown, ran)) if ran == layer => {
            let scale = shown.reduced.scale;
            RichText::new(format!("{second}: 1 : {scale} preview, intensity |u|², relative")).weak()
        }
        Some((_, ran)) => {
            let depth = text::length(ran.distance);
            RichText::new(format!("⚠ {second}: as run at {depth}; changed since")).color(tokens(ui).warning)
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
pub fn fit(size: Vec2, space: Vec2) -> Vec2 {
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
        .on_hover_text("The hologram's light at this depth; click to inspect it");
    if response.clicked() {
        commands.push(Command::Inspect(index));
    }
}

fn picture(ui: &Ui, shown: &Shown, place: Rect) {
    Image::new((shown.texture.id(), shown.texture.size_vec2())).paint_at(ui, place);
}

fn placeholder(sources: &Sources<'_>, layer: &Layer) -> String {
    let depth = text::length(layer.distance);
    if !layer.enabled {
        return "Disabled: this layer takes no part in a run".into();
    }
    if !sources.project.output.previews {
        return "Off: tick “Reconstruct every layer” under Output".into();
    }
    match sources.view.state() {
        RunState::Idle => format!("After the run: the reconstruction at {depth}"),
        RunState::Starting | RunState::Running => format!("Waiting for the reconstruction at {depth}"),
        _ if sources.ran.is_some_and(|p| p.layers.iter().all(|l| l.image != layer.image)) => {
            "This layer was not in the last run".into()
        }
        _ if sources.ran.is_none() => "This run is shown by its events, which hold no pictures".into(),
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

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: [Vec2; 2] = [Vec2::splat(1.0); 2];

    #[test]
    fn the_cards_fill_the_space_they_have() {
        let arranged = |x, y, count, shapes| {
            let look = arrange(vec2(x, y), count, shapes, WORDS_HEIGHT);
            (look.columns, look.stacked, look.side)
        };
        // Wide and low: side by side. Higher: one above the other is larger.
        assert_eq!(arranged(1500.0, 280.0, 3, SQUARE), (3, false, 216.0));
        let (columns, stacked, side) = arranged(1000.0, 480.0, 3, SQUARE);
        assert!(columns == 3 && stacked && side > 190.0, "{columns} {stacked} {side}");
        // Narrow and high: one below the other.
        assert_eq!(arranged(500.0, 1000.0, 3, SQUARE), (1, false, 238.0));
        // One layer has all the space, up to what its pictures can show.
        assert_eq!(arranged(3000.0, 1200.0, 1, SQUARE), (1, false, LARGEST_SIDE));
        // Wide planes rather stand one above the other.
        let wide = [vec2(WIDEST, 0.2); 2];
        assert!(arranged(700.0, 400.0, 1, wide).1);
    }

    #[test]
    fn what_would_be_too_small_is_scrolled_instead() {
        let look = arrange(vec2(540.0, 190.0), 3, SQUARE, WORDS_HEIGHT);
        assert_eq!((look.columns, look.stacked), (3, false));
        assert!(look.side >= LEAST_SIDE);
        let look = arrange(vec2(1000.0, 300.0), 40, SQUARE, WORDS_HEIGHT);
        assert_eq!(look.columns, 40);
        assert!(look.side > 200.0, "{look:?}");
    }
}
