//! The profile and the histogram.

use egui::{DragValue, RichText, Ui};
use egui_plot::{Bar, BarChart, Line, LineStyle, PlotPoint, PlotPoints, PlotUi};

use super::super::plots::{marks, plain_plot};
use super::super::theme::{Tokens, tokens};
use super::{Current, Inspector};
use crate::inspect::{Cut, Histogram, Picture, ProfilePoint, profile};

/// Height of the histogram.
const HISTOGRAM_HEIGHT: f32 = 128.0;
/// Height of the profile's words.
const WORDS: f32 = 34.0;

impl Inspector {
    /// Shows the intensities along the cut, if one is set.
    pub(super) fn profile(&mut self, ui: &mut Ui, current: &Current<'_>) {
        let Some(cut) = self.cut else {
            ui.label(RichText::new("Profile").strong());
            ui.weak("Drag in the picture to set it");
            return;
        };
        let Some(picture) = current.picture() else { return };
        let points = profile(picture, cut);
        let tokens = tokens(ui);
        let own = self.own_profile(current, cut);
        ui.horizontal_wrapped(|ui| {
            self.cut_fields(ui, current, cut);
            ui.colored_label(tokens.read, "■ reconstruction");
            if own.is_some() {
                ui.colored_label(tokens.write, "■ the layer's own, scaled (dashed)").on_hover_text(
                    "The layer's own intensities times the factor that makes them fit the reconstruction best",
                );
            }
        });
        let (title, at): (_, fn(&ProfilePoint) -> f64) = match cut {
            Cut::Row(_) => ("x in mm", |point| point.position[0]),
            Cut::Column(_) => ("y in mm", |point| point.position[1]),
            Cut::Between(..) => ("Distance in mm", |point| point.distance),
        };
        let line = |points: &[ProfilePoint], scale: f64| {
            let points = points.iter().map(|point| PlotPoint::new(1e3 * at(point), point.intensity * scale));
            PlotPoints::Owned(points.collect())
        };
        let height = (ui.available_height() - 2.0).max(60.0);
        let shown = Line::new("|u|²", line(&points, 1.0)).color(tokens.read).width(1.4);
        let wide = points.iter().map(|point| 1e3 * at(point));
        let (from, to) = wide.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let mut plot = plain_plot("Profile", height, [title, "|u|²"], tokens)
            .x_grid_spacer(|input| marks(&input, 8, 0.0))
            .height(height.max(WORDS));
        if from < to {
            plot = plot.include_x(from).include_x(to);
        }
        let response = plot.show(ui, |plot: &mut PlotUi<'_>| {
            plot.line(shown);
            if let Some((points, scale)) = &own {
                let own = Line::new("The layer's own, scaled", line(points, *scale));
                plot.line(own.color(tokens.write).width(1.2).style(LineStyle::dashed_dense()));
            }
        });
        response.response.accessible_name("Profile of intensities");
    }

    /// The layer's own intensities along `cut`, and the factor that makes them as bright.
    fn own_profile(&self, current: &Current<'_>, cut: Cut) -> Option<(Vec<ProfilePoint>, f64)> {
        let target = self.numbers.own(current.preview)?.ok()?;
        let scale = target.comparison?.intensity.brightness;
        let picture = Picture::new(current.raster, &target.picture.mean)?;
        (scale > 0.0).then(|| (profile(picture, cut), scale))
    }

    /// Which row or column it is, to be set exactly.
    fn cut_fields(&mut self, ui: &mut Ui, current: &Current<'_>, cut: Cut) {
        ui.label(RichText::new("Profile").strong()).on_hover_text("Intensities along the orange line");
        let (axis, name, mut index) = match cut {
            Cut::Row(row) => (1, "Row", row),
            Cut::Column(column) => (0, "Column", column),
            Cut::Between(..) => return,
        };
        let label = ui.label(name).on_hover_text("The preview samples that are plotted, counted from 0");
        let last = current.raster.size(axis) - 1;
        if ui.add(DragValue::new(&mut index).range(0..=last)).labelled_by(label.id).changed() {
            self.cut = Some(if axis == 1 { Cut::Row(index) } else { Cut::Column(index) });
        }
    }
}

/// Shows how often which intensity occurs, over the white level.
pub(super) fn histogram(ui: &mut Ui, histogram: &Histogram, white: f32, tokens: &Tokens) {
    let over = if white > 0.0 { 1.0 / f64::from(white) } else { 1.0 };
    let step = histogram.step() * over;
    let bars = histogram
        .counts
        .iter()
        .enumerate()
        .map(|(i, &count)| Bar::new((i as f64 + 0.5) * step, count as f64).width(step))
        .collect();
    let response = plain_plot("Histogram", HISTOGRAM_HEIGHT, ["|u|² over the white level", ""], tokens)
        .x_grid_spacer(|input| marks(&input, 5, 0.0))
        .y_axis_formatter(|mark, _| thousands(mark.value))
        .show(ui, |plot: &mut PlotUi<'_>| {
            plot.bar_chart(BarChart::new("Preview samples", bars).color(tokens.read));
        });
    response.response.accessible_name("Histogram of intensities");
}

/// A count, short enough for an axis.
fn thousands(count: f64) -> String {
    if count >= 1e6 {
        format!("{} M", count / 1e6)
    } else if count >= 1e3 {
        format!("{} k", count / 1e3)
    } else {
        format!("{count}")
    }
}
