//! The chart: a row for each drive and stream, time from left to right.

use egui::{Color32, CornerRadius, FontId, Rangef, Rect, RichText, Sense, Ui, Vec2b, pos2, vec2};
use egui_plot::{AxisHints, GridMark, Plot, PlotBounds, PlotTransform};

use super::super::plots::{STACK, axis, kind_name, marks};
use super::super::run_view::RunView;
use super::super::text;
use super::super::theme::{Tokens, tokens};
use super::data::Bar;
use crate::engine::{Kind, Track};

/// The least and the greatest height of a row, in points.
const ROW: [f32; 2] = [24.0, 44.0];
/// Height of the jobs' and passes' names above the rows, in rows.
const HEAD: f32 = 1.2;
/// Height of a line of those names.
const LINE: f32 = 13.0;
/// Height of the axis below the rows, with its title.
const AXIS: f32 = 56.0;
/// Width of the rows' names.
const NAMES: f32 = 168.0;
/// How near to a bar the pointer must be.
const NEAR: f32 = 3.0;
/// The kinds of work that have bars.
const KINDS: [Kind; 3] = [Kind::Read, Kind::Write, Kind::Compute];

/// A run in the chart.
#[derive(Clone, Copy)]
pub struct Shown<'a> {
    /// The run.
    pub view: &'a RunView,
    /// Its name, where there are two.
    pub name: &'a str,
}

/// One row of the chart.
struct Row<'a> {
    run: Shown<'a>,
    track: Track,
    /// Whether this is the run that another is compared with.
    other: bool,
    name: String,
}

/// Shows one run, or two with their rows in turn; `whole` shows all of the time again. `id` is the chart's own.
pub fn chart(ui: &mut Ui, id: &str, run: Shown<'_>, other: Option<Shown<'_>>, whole: bool) {
    let rows = rows(run, other);
    let until = [Some(run), other].into_iter().flatten().map(|run| run.view.latest()).fold(0.0, f64::max);
    let count = rows.len();
    let height = ((ui.available_height() - AXIS) / (count as f32 + HEAD)).clamp(ROW[0], ROW[1]);
    let tokens = tokens(ui);
    let title = |text: &str| RichText::new(text).size(11.5).color(tokens.text_weak);
    let names: Vec<String> = rows.iter().map(|row| row.name.clone()).collect();
    let mut plot = Plot::new(id)
        .height((count as f32 + HEAD) * height + AXIS)
        .allow_zoom([true, false])
        .allow_drag([true, false])
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag([true, false])
        .allow_double_click_reset(true)
        .show_crosshair(false)
        .show_grid([true, false])
        .grid_color(tokens.card_line)
        .grid_spacing(Rangef::new(6.0, 14.0))
        .label_formatter(|_| None)
        .set_margin_fraction(vec2(0.0, 0.0))
        .include_y(0.0)
        .include_y(count as f64 + f64::from(HEAD))
        .include_x(0.0)
        .include_x(until.max(1e-3))
        .x_grid_spacer(|input| marks(&input, 8, 0.0))
        .y_grid_spacer(move |_| {
            (0..count).map(|row| GridMark { value: row as f64 + 0.5, step_size: 1.0 }).collect()
        })
        .custom_x_axes(vec![axis(AxisHints::new_x(), 24.0).label(title("Seconds since the start"))])
        .custom_y_axes(vec![
            AxisHints::new_y()
                .min_thickness(NAMES)
                .label_spacing(Rangef::new(4.0, 8.0))
                .tick_label_font(FontId::proportional(12.0))
                .formatter(move |mark, _| name_at(&names, mark.value)),
        ])
        .sense(Sense::click_and_drag());
    if whole {
        plot = plot.reset();
    }
    let shown = plot.show(ui, |plot| {
        // The wheel zooms, as people expect of a timeline; dragging moves.
        let hovered = plot.response().hovered();
        let turned = plot.ctx().input(|input| input.smooth_scroll_delta.y);
        if hovered && turned != 0.0 {
            plot.zoom_bounds_around_hovered(vec2((turned / 200.0).exp(), 1.0));
            let bounds = plot.plot_bounds();
            plot.set_auto_bounds(Vec2b::new(false, true));
            plot.set_plot_bounds(kept(bounds, until));
        }
    });
    let (response, transform) = (shown.response, shown.transform);
    let painter = ui.painter().with_clip_rect(*transform.frame());
    for (index, row) in rows.iter().enumerate() {
        stripe(&painter, &transform, index, count, row.other, tokens);
        for kind in KINDS {
            bars(&painter, &transform, (index, count), row, kind, tokens);
        }
    }
    passes(&painter, &transform, run.view, tokens);
    let response = response.accessible_name(id);
    if let Some(position) = response.hover_pos()
        && let Some(words) = under(&transform, position, &rows)
    {
        response.on_hover_ui_at_pointer(|ui| {
            ui.label(words);
        });
    }
}

/// Bounds that do not lose the run from sight.
fn kept(bounds: PlotBounds, until: f64) -> PlotBounds {
    let ([min_x, max_x], y) = ([bounds.min()[0], bounds.max()[0]], [bounds.min()[1], bounds.max()[1]]);
    let (min_x, max_x) = (min_x.clamp(-0.05 * until, until), max_x.clamp(0.0, 1.05 * until));
    if max_x - min_x < 1e-5 { bounds } else { PlotBounds::from_min_max([min_x, y[0]], [max_x, y[1]]) }
}

/// The rows of all tracks; those of two runs below each other.
fn rows<'a>(run: Shown<'a>, other: Option<Shown<'a>>) -> Vec<Row<'a>> {
    let mut tracks = run.view.timeline().tracks();
    tracks.extend(other.iter().flat_map(|other| other.view.timeline().tracks()));
    tracks.sort();
    tracks.dedup();
    let mut rows = Vec::new();
    for track in tracks {
        for (shown, is_other) in [(Some(run), false), (other, true)] {
            let Some(shown) = shown else { continue };
            let name = match (other.is_some(), track) {
                (true, _) => format!("{}: {}", shown.name, track.name()),
                (false, Track::Drive(drive)) => {
                    let folder = shown.view.drives().get(drive).map_or("", |drive| drive.name.as_str());
                    shortened(&format!("{} {folder}", track.name()), 26)
                }
                (false, Track::Stream(_)) => track.name(),
            };
            rows.push(Row { run: shown, track, other: is_other, name });
        }
    }
    rows
}

/// The last part of a text that is too long, after its beginning.
fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(8).collect();
    let tail: String = text.chars().skip(count - (most - 9)).collect();
    format!("{head}…{tail}")
}

/// The name of the row at a mark; the first row is at the top.
fn name_at(names: &[String], value: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a row's number")]
    let from_below = value.max(0.0) as usize;
    names.len().checked_sub(from_below + 1).and_then(|row| names.get(row)).cloned().unwrap_or_default()
}

/// The top and the height of a row on the screen.
fn place(transform: &PlotTransform, index: usize, count: usize) -> (f32, f32) {
    let top = transform.position_from_point_y((count - index) as f64);
    let bottom = transform.position_from_point_y((count - index - 1) as f64);
    (top, bottom - top)
}

/// A pale ground for every other row, and for those of the other run.
fn stripe(
    painter: &egui::Painter,
    transform: &PlotTransform,
    index: usize,
    count: usize,
    other: bool,
    tokens: &Tokens,
) {
    let (top, height) = place(transform, index, count);
    let frame = transform.frame();
    let ground = Rect::from_min_size(pos2(frame.left(), top + 1.0), vec2(frame.width(), height - 2.0));
    painter.rect_filled(ground, 2.0, tokens.card_line.gamma_multiply(if other { 0.55 } else { 0.25 }));
}

/// The part of a row that a kind of work has: a drive reads in the upper half and writes in the lower.
const fn part(kind: Kind) -> (f32, f32) {
    match kind {
        Kind::Read => (0.10, 0.38),
        Kind::Write => (0.52, 0.38),
        Kind::Compute | Kind::Wait => (0.10, 0.80),
    }
}

/// The bars of a row that can be seen; those less than a point apart are drawn as one.
fn bars(
    painter: &egui::Painter,
    transform: &PlotTransform,
    (index, count): (usize, usize),
    row: &Row<'_>,
    kind: Kind,
    tokens: &Tokens,
) {
    let Some(found) = row.run.view.timeline().row(row.track, kind) else { return };
    let (top, height) = place(transform, index, count);
    let (from, share) = part(kind);
    let (fill, stroke) = tokens.bar(kind);
    let strength = if row.other { 0.6 } else { 1.0 };
    let (fill, edge) = (fill.gamma_multiply(strength), stroke.color.gamma_multiply(strength));
    let bounds = transform.bounds();
    let draw = |left: f32, right: f32| {
        let size = vec2((right - left).max(0.8), share * height);
        let place = Rect::from_min_size(pos2(left, top + from * height), size);
        // Narrow bars are all edge.
        if fill == edge || size.x < 3.0 {
            painter.rect_filled(place, CornerRadius::ZERO, edge);
        } else {
            let stroke = egui::Stroke::new(stroke.width, edge);
            painter.rect(place, CornerRadius::ZERO, fill, stroke, egui::StrokeKind::Inside);
        }
    };
    let mut open: Option<(f32, f32)> = None;
    for bar in found.between(bounds.min()[0], bounds.max()[0]) {
        let left = transform.position_from_point_x(bar.start);
        let right = transform.position_from_point_x(bar.end).max(left);
        open = match open {
            Some((first, last)) if left < last + 0.6 => Some((first, last.max(right))),
            Some((first, last)) => {
                draw(first, last);
                Some((left, right))
            }
            None => Some((left, right)),
        };
    }
    if let Some((first, last)) = open {
        draw(first, last);
    }
}

/// Where jobs and passes begin, with their names as far as these have room before the next.
fn passes(painter: &egui::Painter, transform: &PlotTransform, view: &RunView, tokens: &Tokens) {
    let frame = *transform.frame();
    let started: Vec<_> = view.passes().iter().filter(|pass| pass.started).collect();
    let x = |at: f64| transform.position_from_point_x(at);
    let write = |from: f32, to: f32, line: f32, names: &[&str]| {
        // What began further left is named from where it can be seen.
        let (from, to) = (from.max(frame.left()) + 3.0, to.min(frame.right()) - 3.0);
        let layout = |name: &&str| {
            painter.layout_no_wrap((*name).to_owned(), FontId::proportional(11.0), tokens.text_weak)
        };
        if let Some(name) = names.iter().map(layout).find(|name| name.size().x <= to - from) {
            painter.galley(pos2(from, frame.top() + 1.0 + line * LINE), name, Color32::PLACEHOLDER);
        }
    };
    let mut job_from = 0;
    for (index, pass) in started.iter().enumerate() {
        let next = started.get(index + 1);
        let begins = index == 0 || started[index - 1].job != pass.job;
        job_from = if begins { index } else { job_from };
        let (from, to) = (x(pass.at), next.map_or(frame.right(), |next| x(next.at)));
        let weight = if begins { 1.0 } else { 0.45 };
        painter.vline(from, frame.y_range(), egui::Stroke::new(1.0, tokens.text_weak.gamma_multiply(weight)));
        write(from, to, 1.0, &pass_names(&pass.info.name));
        if next.is_none_or(|next| next.job != pass.job) {
            let job = view.jobs().get(pass.job).map_or("", |job| job.name.as_str());
            write(x(started[job_from].at), to, 0.0, &[job, job.trim_start_matches("reconstruction ")]);
        }
    }
}

/// A pass's name, shorter and shorter: `phase 2: columns`, `columns`, `2`.
fn pass_names(name: &str) -> Vec<&str> {
    let name = name.rsplit(", ").next().unwrap_or_default();
    match name.split_once(": ") {
        Some((phase, what)) => vec![name, what, phase.trim_start_matches("phase ")],
        None => vec![name],
    }
}

/// What is under the pointer, in words.
fn under(transform: &PlotTransform, position: egui::Pos2, rows: &[Row<'_>]) -> Option<String> {
    let index = (0..rows.len()).find(|&index| {
        let (top, height) = place(transform, index, rows.len());
        (top..top + height).contains(&position.y)
    })?;
    let row = &rows[index];
    let (top, height) = place(transform, index, rows.len());
    let upper = position.y < top + 0.5 * height;
    let kinds = match row.track {
        Track::Stream(_) => [Kind::Compute; 2],
        Track::Drive(_) if upper => [Kind::Read, Kind::Write],
        Track::Drive(_) => [Kind::Write, Kind::Read],
    };
    let time = transform.value_from_position(position).x;
    let bounds = transform.bounds();
    let near = f64::from(NEAR) * bounds.width() / f64::from(transform.frame().width());
    let found = kinds.into_iter().find_map(|kind| {
        let bar = row.run.view.timeline().row(row.track, kind)?.at(time, near)?;
        Some((kind, *bar))
    });
    Some(match found {
        Some((kind, bar)) => words(row.run.view, &row.name, kind, &bar),
        None => format!("{}\nnothing at {}", row.name, text::seconds(time.max(0.0))),
    })
}

/// A bar in words.
fn words(view: &RunView, row: &str, kind: Kind, bar: &Bar) -> String {
    let stream = view
        .passes()
        .get(bar.pass)
        .and_then(|pass| pass.info.streams.get(bar.stream))
        .map_or(String::new(), |name| format!(", stream {name}"));
    let chunk = match bar.chunks {
        1 => format!("chunk {}", bar.chunk),
        count => format!("{count} chunks from {}", bar.chunk),
    };
    let length = bar.end - bar.start;
    let rate = if bar.bytes > 0 && length > 0.0 {
        format!("\n{}, {:.0} MB/s", text::bytes(bar.bytes), bar.bytes as f64 / 1e6 / length)
    } else {
        String::new()
    };
    format!(
        "{row}: {}\n{}\n{chunk}{stream}\n{} from {} on{rate}",
        kind_name(kind),
        view.pass_name(bar.pass),
        text::seconds(length),
        text::seconds(bar.start)
    )
}

/// What the colours and places mean.
pub fn legend(ui: &mut Ui) {
    let tokens = tokens(ui);
    for kind in STACK.into_iter().filter(|kind| KINDS.contains(kind)) {
        let (rect, response) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
        let (from, share) = part(kind);
        let size = vec2(rect.width(), share * rect.height());
        let bar = Rect::from_min_size(rect.min + vec2(0.0, from * rect.height()), size);
        let (fill, stroke) = tokens.bar(kind);
        ui.painter().rect(bar, 0.0, fill, stroke, egui::StrokeKind::Inside);
        let hover = match kind {
            Kind::Read => "A drive delivers: the upper half of its row",
            Kind::Write => "A drive takes: the lower half of its row",
            Kind::Compute | Kind::Wait => "The processor works on a chunk of the stream",
        };
        response.on_hover_text(hover);
        ui.label(kind_name(kind)).on_hover_text(hover);
        ui.add_space(4.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_shorter_until_they_fit() {
        let expected: [(&str, &[&str]); 3] = [
            ("phase 2: columns", &["phase 2: columns", "columns", "2"]),
            ("layer 1 of 3, phase 1: rows", &["phase 1: rows", "rows", "1"]),
            ("blocks", &["blocks"]),
        ];
        for (name, names) in expected {
            assert_eq!(pass_names(name), names);
        }
        assert_eq!(shortened("drive 12 /a/very/long/folder/of/drives", 26), "drive 12…/folder/of/drives");
    }
}
