//! The plots of a drive's card: stacked bars and throughput.

use egui::{FontId, Rangef, RichText, Stroke, Ui, vec2};
use egui_plot::{
    AxisHints, Bar, BarChart, GridInput, GridMark, Line, LineStyle, Plot, PlotPoint, PlotPoints, PlotUi,
};

use super::chunk_bins::ChunkBins;
use super::rates::Rates;
use super::run_view::DriveView;
use super::text;
use super::theme::{BARS_HEIGHT, RATE_HEIGHT, Tokens, tokens};
use crate::engine::Kind;

/// From the bottom of a bar to its top.
pub const STACK: [Kind; 4] = [Kind::Read, Kind::Compute, Kind::Write, Kind::Wait];

/// How strong an earlier run is drawn beside the one that is shown.
const EARLIER: f32 = 0.55;

/// What all cards have in common, so that they can be compared.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// The highest bar in seconds.
    pub most: f64,
    /// The highest rate in MB/s.
    pub fastest: f64,
    /// Height of the plots, relative to their usual one.
    pub scale: f32,
    /// Chunks of the pass that any card has seen.
    pub chunks: usize,
    /// The end of the latest event, in seconds from the run's start.
    pub until: f64,
    /// What an empty chart says.
    pub nothing: &'static str,
}

impl Look {
    /// The unit that keeps the bars' numbers short, and how many of it are a second.
    fn time_unit(self) -> (&'static str, f64) {
        if self.most < 0.5 { ("ms", 1e3) } else { ("s", 1.0) }
    }
}

/// A kind's name in the legend.
#[must_use]
pub const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "Read",
        Kind::Compute => "Compute",
        Kind::Write => "Write",
        Kind::Wait => "Wait",
    }
}

/// A plot that is only looked at, in the window's colours.
pub fn plain_plot(name: &str, height: f32, [x, y]: [&str; 2], tokens: &Tokens) -> Plot<'static> {
    let title = |text: &str| RichText::new(text).size(11.5).color(tokens.text_weak);
    Plot::new(name)
        .height(height)
        .allow_zoom(false)
        .allow_drag(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_double_click_reset(false)
        .allow_axis_zoom_drag(false)
        .show_grid([false, true])
        .grid_color(tokens.card_line)
        .show_crosshair(false)
        .y_grid_spacer(|input| marks(&input, 3, 0.0))
        .grid_spacing(Rangef::new(6.0, 14.0))
        .custom_x_axes(vec![axis(AxisHints::new_x(), 24.0).label(title(x))])
        .custom_y_axes(vec![axis(AxisHints::new_y(), 10.0).min_thickness(36.0).label(title(y))])
        .include_y(0.0)
        .set_margin_fraction(vec2(0.01, 0.06))
}

/// Shows the seconds per chunk, stacked.
pub fn bars(ui: &mut Ui, name: &str, bins: &ChunkBins, look: Look) {
    let tokens = tokens(ui);
    let (unit, per_second) = look.time_unit();
    let means = if bins.width() > 1 { format!(", means of {}", bins.width()) } else { String::new() };
    ui.label(RichText::new(format!("Time per chunk{means}")).small());
    let charts = stacked(bins, tokens, per_second);
    let response = plain_plot(name, look.scale * BARS_HEIGHT, ["Number of the chunk", unit], tokens)
        .include_y(if look.most > 0.0 { look.most * per_second } else { 1.0 })
        .show_grid([false, !bins.is_empty()])
        .y_grid_spacer(|input| marks(&input, 4, 0.0))
        .include_x(-0.5)
        .include_x(look.chunks.max(4) as f64 - 0.5)
        .x_grid_spacer(|input| marks(&input, 5, 1.0))
        .show(ui, |plot: &mut PlotUi<'_>| {
            for chart in charts {
                plot.bar_chart(chart);
            }
        });
    let response = response.response.accessible_name(name);
    if bins.is_empty() {
        let label = egui::Label::new(RichText::new(look.nothing).weak());
        ui.place(response.rect, label);
    }
}

/// One chart per kind that occurs, each on top of those before it.
fn stacked(bins: &ChunkBins, tokens: &Tokens, per_second: f64) -> Vec<BarChart> {
    let bars: Vec<_> = bins.bars().collect();
    let mut below = vec![0.0; bars.len()];
    let mut charts = Vec::new();
    for kind in STACK {
        if bins.total().of(kind) <= 0.0 {
            continue;
        }
        let (fill, stroke) = tokens.bar(kind);
        // An outline wider than the bar would hide its fill.
        let stroke = if bars.len() > 64 && kind != Kind::Wait { Stroke::NONE } else { stroke };
        let items = bars
            .iter()
            .zip(&mut below)
            .map(|(bar, below)| {
                let height = bar.seconds.of(kind) * per_second;
                let width = bins.width() as f64;
                let item = Bar::new(bar.first as f64 + (width - 1.0) / 2.0, height)
                    .base_offset(*below)
                    .width(width * 0.86)
                    .fill(fill)
                    .stroke(stroke)
                    .name(chunk_name(bar.first, bar.chunks));
                *below += height;
                item
            })
            .collect();
        let name = kind_name(kind);
        charts.push(BarChart::new(name, items).color(tokens.kind(kind)).element_formatter(Box::new(
            move |bar, _| format!("{}: {name} {}", bar.name, text::seconds(bar.value / per_second)),
        )));
    }
    charts
}

fn chunk_name(first: usize, chunks: usize) -> String {
    if chunks == 1 { format!("Chunk {first}") } else { format!("Chunks {first} to {}", first + chunks - 1) }
}

/// A drive of an earlier run that another is compared with.
#[derive(Clone, Copy)]
pub struct Earlier<'a> {
    /// The run's name.
    pub run: &'a str,
    /// The same drive there.
    pub drive: &'a DriveView,
    /// The end of that run's latest event.
    pub until: f64,
}

/// Shows the rates of a drive, over those of an earlier run if there is one.
pub fn throughput(ui: &mut Ui, index: usize, drive: &DriveView, earlier: Option<Earlier<'_>>, look: Look) {
    let tokens = tokens(ui);
    let points = |rates: &Rates, until: f64| {
        PlotPoints::Owned(rates.steps(until).map(|step| PlotPoint::new(step.at, step.rate / 1e6)).collect())
    };
    let pair = |drive: &DriveView, until: f64, of: &str, strength: f32| {
        let read = Line::new(format!("Read MB/s{of}"), points(&drive.read, until))
            .color(tokens.read.gamma_multiply(strength))
            .width(1.8 * strength);
        let write = Line::new(format!("Write MB/s{of}"), points(&drive.write, until))
            .color(tokens.write.gamma_multiply(strength))
            .width(1.8 * strength)
            .style(LineStyle::dashed_dense());
        [read, write]
    };
    let mut lines = Vec::new();
    if let Some(Earlier { run, drive, until }) = earlier {
        lines.extend(pair(drive, until, &format!(" of {run}"), EARLIER));
    }
    lines.extend(pair(drive, look.until, "", 1.0));
    let until = earlier.map_or(look.until, |earlier| earlier.until.max(look.until));
    let name = format!("Throughput of drive {}", index + 1);
    let response = plain_plot(&name, look.scale * RATE_HEIGHT, ["Seconds since the start", "MB/s"], tokens)
        .include_y(if look.fastest > 0.0 { look.fastest } else { 1.0 })
        .include_x(0.0)
        .include_x(until.max(0.1))
        .x_grid_spacer(|input| marks(&input, 5, 0.0))
        .show(ui, |plot: &mut PlotUi<'_>| {
            for line in lines {
                plot.line(line);
            }
        });
    response.response.accessible_name(name);
}

/// An axis whose labels have as many decimals as its steps, `apart` points from each other at least.
pub fn axis(hints: AxisHints<'static>, apart: f32) -> AxisHints<'static> {
    hints
        .label_spacing(Rangef::new(apart, 1.2 * apart))
        .tick_label_font(FontId::proportional(11.5))
        .formatter(|mark, _| number(mark.value, mark.step_size))
}

/// `value` with the decimals that `step` calls for.
pub fn number(value: f64, step: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 9")]
    let decimals = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
    format!("{value:.decimals$}")
}

/// Marks at about `wanted` round values, not closer than `least`.
pub fn marks(input: &GridInput, wanted: u8, least: f64) -> Vec<GridMark> {
    let (low, high) = input.bounds;
    let step = round_step((high - low) / f64::from(wanted)).max(least);
    let mut marks = Vec::new();
    if !(step.is_finite() && step > 0.0) {
        return marks;
    }
    let mut value = (low / step).ceil() * step;
    while value <= high && marks.len() < 4 * usize::from(wanted) {
        // Adding zero turns −0 into 0, which would be labelled `-0`.
        marks.push(GridMark { value: value + 0.0, step_size: step });
        value += step;
    }
    marks
}

/// The next of 1, 2, 5, 10, 20, … times a power of ten that is not below `step`.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let lead = step / power;
    let rounded = [1.0, 2.0, 5.0].into_iter().find(|&round| lead <= round * (1.0 + 1e-9));
    power * rounded.unwrap_or(10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_few() {
        let values = |bounds, wanted, least| -> Vec<f64> {
            let input = GridInput { bounds, base_step_size: 0.0 };
            marks(&input, wanted, least).into_iter().map(|mark| mark.value).collect()
        };
        assert_eq!(values((-0.5, 9.5), 5, 1.0), [0.0, 2.0, 4.0, 6.0, 8.0]);
        assert_eq!(values((-0.5, 3.5), 5, 1.0), [0.0, 1.0, 2.0, 3.0]);
        assert!(values((-0.5, 3.5), 5, 1.0)[0].is_sign_positive());
        assert_eq!(values((0.0, 81.0), 3, 0.0), [0.0, 50.0]);
        assert_eq!(
            (number(0.5, 0.5), number(1500.0, 500.0), number(0.04, 0.02)),
            ("0.5".into(), "1500".into(), "0.04".into())
        );
        assert!(values((0.0, 0.0), 3, 0.0).is_empty());
        assert!(values((f64::NAN, 1.0), 3, 0.0).is_empty());
    }
}
