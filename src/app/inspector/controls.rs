//! The rows above the picture: which layer, how it is seen, what dragging does.

use egui::{Align, Button, Label, Layout, RichText, Slider, Ui, vec2};

use super::super::fields;
use super::super::text;
use super::super::theme::{GAP, tokens};
use super::{Inspector, Mode, Sources, Tool};

/// Room for a layer's number and depth.
const TITLE_WIDTH: f32 = 180.0;

const MODES: [(Mode, &str, &str); 5] = [
    (Mode::Alone, "Reconstruction", "The hologram's light at the layer's depth"),
    (Mode::Beside, "Beside the layer", "The reconstruction and the layer's own image, in one view"),
    (Mode::Split, "Split", "The reconstruction on the left, the layer's own image on the right"),
    (Mode::Blink, "Blink", "The reconstruction and the layer's own image in turn"),
    (Mode::Own, "The layer", "The layer's own image, as bright as the reconstruction"),
];

const TOOLS: [(Tool, &str, &str); 5] = [
    (Tool::Move, "Move", "Drag the plane; the wheel enlarges about the pointer"),
    (Tool::Row, "Profile x", "Click or drag to a row: its intensities are plotted below"),
    (Tool::Column, "Profile y", "Click or drag to a column: its intensities are plotted below"),
    (Tool::Line, "Profile", "Drag from one point to another: the intensities between are plotted below"),
    (Tool::Region, "Region", "Drag a rectangle: its numbers stand on the right"),
];

impl Inspector {
    /// Shows the rows.
    pub(super) fn controls(&mut self, ui: &mut Ui, sources: &Sources<'_>) {
        // What is of another width for another layer or plane comes last, or has its own place.
        ui.horizontal(|ui| {
            self.choose_layer(ui, sources);
            ui.add_space(GAP);
            if let Some(mode) = fields::choice(ui, "inspector mode", "Show", 132.0, self.mode, &MODES) {
                self.mode = mode;
            }
            if self.mode == Mode::Split {
                ui.spacing_mut().slider_width = 80.0;
                let label = ui.label("Split at").on_hover_text("Where the layer's own image begins");
                ui.add(Slider::new(&mut self.split, 0.0..=1.0).show_value(false)).labelled_by(label.id);
            }
            self.scale(ui, sources);
        });
        // A row of its own: the picture must not move when something is chosen.
        ui.horizontal_wrapped(|ui| {
            if ui
                .selectable_label(self.view.is_fitted(), "Fit")
                .on_hover_text("Show all of the plane")
                .clicked()
            {
                self.view.fit();
            }
            let pixels_per_point = ui.pixels_per_point();
            let at_one = self.raster.is_some_and(|raster| {
                (self.view.pixels_per_sample(&raster, pixels_per_point) - 1.0).abs() < 1e-6
            });
            let one = ui.selectable_label(at_one, "1:1").on_hover_text(
                "One preview sample on each pixel of the screen, along the axis of the smaller pitch",
            );
            if let (true, Some(raster)) = (one.clicked(), &self.raster) {
                self.view.one_to_one(raster, pixels_per_point);
            }
            ui.add_space(GAP);
            ui.label("Drag:").on_hover_text("What dragging in the picture does");
            for (tool, name, hover) in TOOLS {
                if ui.selectable_label(tool == self.tool, name).on_hover_text(hover).clicked() {
                    self.tool = tool;
                }
            }
            let something = self.cut.is_some() || self.region.is_some();
            let clear = ui
                .add_enabled(something, Button::new("Clear"))
                .on_hover_text("Take profile and region away")
                .on_disabled_hover_text("There is no profile and no region");
            if clear.clicked() {
                (self.cut, self.region) = (None, None);
            }
        });
        ui.add_space(2.0);
    }

    fn choose_layer(&mut self, ui: &mut Ui, sources: &Sources<'_>) {
        let layers = sources.ran.map_or(0, |project| project.layers.len());
        let step = |ui: &mut Ui, sign: &str, name: &str, possible: bool| {
            ui.add_enabled(possible, Button::new(sign)).on_hover_text(name).accessible_name(name).clicked()
        };
        if step(ui, "⏴", "Previous layer (left arrow key)", self.layer > 0) {
            self.step(-1, sources);
        }
        let title = match sources.ran.and_then(|project| project.layers.get(self.layer)) {
            Some(layer) => {
                format!("Layer {} of {layers} at {}", self.layer + 1, text::length(layer.distance))
            }
            None => "No layer".into(),
        };
        let size = vec2(TITLE_WIDTH, ui.spacing().interact_size.y);
        ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_width(TITLE_WIDTH);
            ui.add(Label::new(RichText::new(&title).strong().size(15.0)).truncate()).on_hover_text(title);
        });
        if step(ui, "⏵", "Next layer (right arrow key)", self.layer + 1 < layers) {
            self.step(1, sources);
        }
    }

    /// What a sample of the picture stands for.
    fn scale(&self, ui: &mut Ui, sources: &Sources<'_>) {
        let preview = sources.previews.get(&self.layer);
        if let Some(preview) = preview {
            let scale = preview.scale;
            let text = if scale == 1 {
                "every sample".into()
            } else {
                format!("1 : {scale} preview: mean over {scale} × {scale} samples")
            };
            ui.add(Label::new(RichText::new(text).color(tokens(ui).text_weak)).truncate())
                .on_hover_text("What one sample of this picture stands for on the plane");
        }
    }
}
