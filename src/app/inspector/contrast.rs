//! The inspector's contrast, and the colour bar that tells it.

use egui::{Align2, Color32, FontId, Rect, RichText, Sense, Slider, Stroke, StrokeKind, Ui, pos2, vec2};

use super::super::theme::tokens;
use super::text::value;
use crate::inspect::{Curve, Tone};

/// Width of the colour bar with its numbers.
pub const BAR_WIDTH: f32 = 74.0;
/// Width of the grey strip.
const STRIP: f32 = 16.0;
/// Steps of the grey strip.
const STEPS: usize = 64;

/// How intensities become grey in the inspector.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Levels {
    /// Whether all depths have one white level, the brightest one's.
    pub locked: bool,
    /// What is shown as black, in white levels.
    pub black: f32,
    /// What is shown as white, in white levels.
    pub white: f32,
    /// What lies between.
    pub curve: Curve,
}

impl Default for Levels {
    fn default() -> Self {
        Self { locked: true, black: 0.0, white: 1.0, curve: Curve::SquareRoot }
    }
}

impl Levels {
    /// The tone where white is `white`.
    pub fn tone(self, white: f32) -> Tone {
        Tone {
            black: self.black * white,
            white: self.white.max(self.black + 1e-3) * white,
            curve: self.curve,
        }
    }

    /// Shows the settings.
    pub fn show(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            ui.checkbox(&mut self.locked, "Same contrast at all depths").on_hover_text(
                "The white level is the intensity below which 99.5 % of the brightest layer's preview samples \
                 lie; untick to take each layer's own",
            );
            let mut root = self.curve == Curve::SquareRoot;
            ui.checkbox(&mut root, "Square root")
                .on_hover_text("Show the square root of the intensity, which lifts dark parts");
            self.curve = if root { Curve::SquareRoot } else { Curve::Linear };
        });
        egui::Grid::new("levels").num_columns(2).show(ui, |ui| {
            ui.spacing_mut().slider_width = 110.0;
            let label = ui.label("Black").on_hover_text("The intensity shown as black, in white levels");
            ui.add(Slider::new(&mut self.black, 0.0..=0.99).max_decimals(2).suffix(" of white"))
                .labelled_by(label.id);
            ui.end_row();
            let label = ui.label("White").on_hover_text("The intensity shown as white, in white levels");
            ui.add(
                Slider::new(&mut self.white, 0.02..=5.0)
                    .logarithmic(true)
                    .max_decimals(2)
                    .suffix(" of white"),
            )
            .labelled_by(label.id);
            ui.end_row();
        });
        if *self != (Self { locked: self.locked, ..Self::default() })
            && ui.button("Reset contrast").on_hover_text("Black 0, white 1, square root").clicked()
        {
            *self = Self { locked: self.locked, ..Self::default() };
        }
    }
}

/// Shows which grey is which intensity, in a strip `height` points high.
pub fn bar(ui: &mut Ui, tone: Tone, white: f32, height: f32) {
    let (place, response) = ui.allocate_exact_size(vec2(BAR_WIDTH, height), Sense::hover());
    let top = place.top() + 34.0;
    let strip =
        Rect::from_min_max(pos2(place.left(), top), pos2(place.left() + STRIP, place.bottom() - 30.0));
    if strip.height() < 40.0 {
        return;
    }
    let tokens = tokens(ui);
    let painter = ui.painter();
    let at = |share: f32| strip.bottom() - share * strip.height();
    let range = tone.white - tone.black;
    let shares: Vec<f32> = (0..STEPS).map(|i| (i as f32 + 0.5) / STEPS as f32).collect();
    let intensities: Vec<f32> = shares.iter().map(|share| tone.black + share * range).collect();
    for (i, level) in tone.levels(&intensities).into_iter().enumerate() {
        let [low, high] = [i, i + 1].map(|edge| at(edge as f32 / STEPS as f32));
        let step = Rect::from_min_max(pos2(strip.left(), high), pos2(strip.right(), low + 0.5));
        painter.rect_filled(step, 0.0, Color32::from_gray(level));
    }
    painter.rect_stroke(strip, 0.0, Stroke::new(1.0, tokens.card_line), StrokeKind::Outside);
    let font = FontId::proportional(11.5);
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let intensity = tone.black + share * range;
        let relative = if white > 0.0 { intensity / white } else { 0.0 };
        let y = at(share);
        painter.hline(strip.right()..=strip.right() + 4.0, y, Stroke::new(1.0, tokens.text_weak));
        let color = ui.visuals().text_color();
        painter.text(
            pos2(strip.right() + 7.0, y),
            Align2::LEFT_CENTER,
            format!("{relative:.2}"),
            font.clone(),
            color,
        );
    }
    let words = |y: f32, align: Align2, text: String| {
        painter.text(pos2(place.left(), y), align, text, font.clone(), tokens.text_weak);
    };
    words(place.top(), Align2::LEFT_TOP, "|u|² over".into());
    words(place.top() + 13.0, Align2::LEFT_TOP, "white level".into());
    words(place.bottom(), Align2::LEFT_BOTTOM, format!("1.00: {}", value(white.into())));
    response
        .accessible_name("Colour bar: intensity |u|² relative to the white level")
        .on_hover_text(format!(
            "Intensity |u|² relative to the white level, so without a unit; the white level is |u|² = {}, where \
             the white of a layer of amplitude 1 has 1",
            value(white.into())
        ));
}

/// A heading within the numbers.
pub fn heading(ui: &mut Ui, text: &str, hover: &str) {
    ui.add_space(4.0);
    ui.label(RichText::new(text).strong()).on_hover_text(hover);
}
