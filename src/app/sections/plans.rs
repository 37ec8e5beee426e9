//! Every plan the project can have, side by side.

use egui::accesskit::Role;
use egui::text::{LayoutJob, TextFormat};
use egui::{Align2, FontId, RichText, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};

use super::super::commands::Command;
use super::super::edits::Edit;
use super::super::fields::Sheet;
use super::super::running::TICK;
use super::super::text;
use super::super::theme::tokens;
use crate::planner::ChoiceRow;

/// Whether this machine can be measured now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measurement {
    /// Yes.
    Possible,
    /// It is being measured.
    UnderWay,
    /// No, a run is under way.
    RunUnderWay,
}

/// Width of the methods' names with the sign of the chosen one.
const NAME_WIDTH: f32 = 72.0;
const ROW_HEIGHT: f32 = 22.0;
/// Width of a cell's own unit, with the space before it.
const UNIT_WIDTH: f32 = 22.0;
const UNIT_SPACE: f32 = 3.0;
/// Lines of a reason; the rest is shown on hover.
const REASON_LINES: usize = 3;

/// A number, and its unit where that is not the column's.
type Cell = (String, &'static str);

/// A column: its name, its unit and what it means; and a row's cell.
struct Column {
    name: &'static str,
    /// The unit of all cells; none where each has its own.
    unit: Option<&'static str>,
    hover: &'static str,
    cell: Box<dyn Fn(&ChoiceRow) -> Cell>,
}

/// Shows the plans, what the predictions rest on, and how to measure.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, rows: &[ChoiceRow], measured: bool, now: Measurement) {
    egui::CollapsingHeader::new("Compare the plans").default_open(true).show_unindented(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 2.0;
        let (can, cannot): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.seconds.is_some());
        if !can.is_empty() {
            let columns = columns(&can);
            head(ui, &columns);
            for row in can {
                plan(ui, sheet, &columns, row);
            }
        }
        ui.add_space(2.0);
        for row in cannot {
            refused(ui, row);
        }
        ui.add_space(4.0);
        measuring(ui, sheet, measured, now);
    });
}

/// The columns. Bytes have a unit that suits all rows; times may be thousands apart, and have each their own.
fn columns(rows: &[&ChoiceRow]) -> [Column; 5] {
    let most = |of: fn(&ChoiceRow) -> Option<f64>| rows.iter().filter_map(|row| of(row)).fold(0.0, f64::max);
    let column = |name, hover, of: fn(&ChoiceRow) -> Option<f64>, (unit, size): (&'static str, f64)| Column {
        name,
        unit: Some(unit),
        hover,
        cell: Box::new(move |row| (of(row).map_or_else(|| "–".into(), |value| short(value / size)), "")),
    };
    let moved = |row: &ChoiceRow| row.bytes_moved.map(|bytes| bytes as f64);
    let scratch = |row: &ChoiceRow| row.scratch_bytes.map(|bytes| bytes as f64);
    let memory = |row: &ChoiceRow| row.memory.map(|bytes| bytes as f64);
    [
        Column {
            name: "Time",
            unit: None,
            hover: "Predicted time of the hologram; its reconstructions come on top",
            cell: Box::new(|row| row.seconds.map_or_else(|| ("–".into(), ""), time)),
        },
        column(
            "Moved",
            "Bytes read and written over all passes; of in-core most of them in memory",
            moved,
            byte_unit(most(moved)),
        ),
        column(
            "Scratch",
            "Intermediate files on the drives, removed at the end",
            scratch,
            byte_unit(most(scratch)),
        ),
        column("Memory", "All buffers together", memory, byte_unit(most(memory))),
        Column {
            name: "Error",
            unit: Some("at most"),
            hover: "Bound on the hologram's relative error, for light that fills the plane",
            cell: Box::new(|row| (row.error_bound.map_or_else(|| "–".into(), error), "")),
        },
    ]
}

/// An error bound in a few letters.
pub fn error(bound: f64) -> String {
    if bound == 0.0 { "0".into() } else { format!("{bound:.0e}") }
}

/// A time as a number and the unit that suits it.
fn time(seconds: f64) -> Cell {
    let (unit, size) = match seconds {
        _ if seconds < 0.5 => ("ms", 1e-3),
        _ if seconds < 120.0 => ("s", 1.0),
        _ if seconds < 7200.0 => ("min", 60.0),
        _ if seconds < 48.0 * 3600.0 => ("h", 3600.0),
        _ => ("d", 24.0 * 3600.0),
    };
    (short(seconds / size), unit)
}

/// A unit of bytes with its bytes.
fn byte_unit(most: f64) -> (&'static str, f64) {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let (mut unit, mut size) = (UNITS[0], 1024.0);
    for larger in &UNITS[1..] {
        if most >= 1024.0 * size {
            (unit, size) = (larger, 1024.0 * size);
        }
    }
    (unit, size)
}

/// Three digits.
fn short(value: f64) -> String {
    match value {
        _ if value <= 0.0 => "0".into(),
        _ if value < 0.01 => "<0.01".into(),
        _ if value < 9.995 => format!("{value:.2}"),
        _ if value < 99.95 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

fn small(ui: &Ui) -> FontId {
    TextStyle::Small.resolve(ui.style())
}

/// The right edges of the columns within a row of `width`.
fn edges(width: f32, columns: usize) -> impl Iterator<Item = f32> {
    let each = (width - NAME_WIDTH - 4.0) / columns as f32;
    (1..=columns).map(move |i| NAME_WIDTH + each * i as f32)
}

fn head(ui: &mut Ui, columns: &[Column; 5]) {
    let (font, color) = (small(ui), tokens(ui).text_weak);
    let width = ui.available_width();
    let line = font.size + 2.0;
    let (rect, _) = ui.allocate_exact_size(vec2(width, 2.0 * line), Sense::hover());
    let mut left = NAME_WIDTH;
    for (column, right) in columns.iter().zip(edges(width, columns.len())) {
        for (i, words) in (0_u8..).zip([column.name, column.unit.unwrap_or_default()]) {
            let place = pos2(rect.left() + right, rect.top() + f32::from(i) * line);
            ui.painter().text(place, Align2::RIGHT_TOP, words, font.clone(), color);
        }
        let cell = egui::Rect::from_x_y_ranges(rect.left() + left..=rect.left() + right, rect.y_range());
        let response = ui.interact(cell, ui.scope_id().with(column.name), Sense::hover());
        response.on_hover_text(column.hover);
        left = right;
    }
}

/// A plan that can run; a click chooses its method.
fn plan(ui: &mut Ui, sheet: &mut Sheet<'_>, columns: &[Column; 5], row: &ChoiceRow) {
    let width = ui.available_width();
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW_HEIGHT), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, row.chosen, in_words(row)));
    let visuals = ui.visuals();
    let corner = 4.0;
    if row.chosen {
        ui.painter().rect_filled(rect, corner, visuals.selection.bg_fill);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, corner, visuals.widgets.hovered.weak_bg_fill);
    }
    if response.has_focus() {
        let stroke = visuals.selection.stroke;
        ui.painter().rect_stroke(rect, corner, stroke, egui::StrokeKind::Inside);
    }
    let color = if row.chosen { visuals.strong_text_color() } else { visuals.text_color() };
    let middle = pos2(rect.left() + 10.0, rect.center().y);
    ui.painter().circle_stroke(middle, 4.5, egui::Stroke::new(1.0, color));
    if row.chosen {
        ui.painter().circle_filled(middle, 2.5, color);
    }
    let font = small(ui);
    let name = pos2(rect.left() + 19.0, rect.center().y);
    ui.painter().text(name, Align2::LEFT_CENTER, row.method.to_string(), font.clone(), color);
    for (column, right) in columns.iter().zip(edges(width, columns.len())) {
        let place = pos2(rect.left() + right, rect.center().y);
        let (number, unit) = (column.cell)(row);
        let mut end = place;
        if column.unit.is_none() {
            // All numbers end on one line, all units begin on another.
            end.x -= UNIT_WIDTH;
            let begin = end + vec2(UNIT_SPACE, 0.0);
            ui.painter().text(begin, Align2::LEFT_CENTER, unit, font.clone(), color);
        }
        ui.painter().text(end, Align2::RIGHT_CENTER, number, font.clone(), color);
    }
    if response.on_hover_text(on_hover(row)).clicked() {
        sheet.send(Command::Edit(Edit::Method(row.method)));
    }
}

/// A row as it is read out.
fn in_words(row: &ChoiceRow) -> String {
    let bytes = |bytes: Option<u64>| bytes.map_or_else(|| "–".into(), text::amount);
    format!(
        "Plan {}: {}, moves {}, scratch {}, memory {}, error at most {}",
        row.method,
        row.seconds.map_or_else(|| "–".into(), text::seconds),
        bytes(row.bytes_moved),
        bytes(row.scratch_bytes),
        bytes(row.memory),
        row.error_bound.map_or_else(|| "–".into(), error)
    )
}

fn on_hover(row: &ChoiceRow) -> String {
    let mut lines = vec![in_words(row)];
    if !row.remark.is_empty() {
        lines.push(text::sentence(&row.remark));
    }
    for (folder, read, written) in &row.drives {
        lines.push(format!("{folder}: reads {}, writes {}", text::amount(*read), text::amount(*written)));
    }
    lines.push(if row.chosen { "This one runs" } else { "Click to use this method" }.into());
    lines.join("\n")
}

/// A plan that cannot run, with the reason.
fn refused(ui: &mut Ui, row: &ChoiceRow) {
    let mut job = LayoutJob::default();
    let (font, tokens) = (small(ui), tokens(ui));
    let name = format!("{} cannot run: ", row.method);
    job.append(&name, 0.0, TextFormat::simple(font.clone(), ui.visuals().text_color()));
    job.append(&row.remark, 0.0, TextFormat::simple(font, tokens.text_weak));
    job.wrap.max_rows = REASON_LINES;
    ui.add(egui::Label::new(job).wrap().show_tooltip_when_elided(false)).on_hover_text(&row.remark);
}

fn measuring(ui: &mut Ui, sheet: &mut Sheet<'_>, measured: bool, now: Measurement) {
    let (words, hover) = if measured {
        (
            "The times rest on figures measured on this machine.",
            "Measure again after a change of drives or processor: with the button, or `gigafringe plan --refresh`",
        )
    } else {
        (
            "The times rest on usual figures, not all measured here. Measure with the button, or with \
             `gigafringe plan --refresh`",
            "Predictions get better, and so does the automatic choice, when the processor and the drives were \
             measured once",
        )
    };
    let (font, color) = (small(ui), tokens(ui).text_weak);
    let mut job = LayoutJob::default();
    // What is to be typed in its own letters, in which two hyphens are two.
    for (i, part) in words.split('`').enumerate() {
        let font = if i % 2 == 1 { FontId::monospace(font.size) } else { font.clone() };
        job.append(part, 0.0, TextFormat::simple(font, color));
    }
    ui.add(egui::Label::new(job).wrap()).on_hover_text(hover);
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        let button = ui
            .add_enabled(now == Measurement::Possible, egui::Button::new("Measure this machine"))
            .on_hover_text(
                "Time this machine's computing and the project's drives, which takes some seconds each; kept for \
                 later. Other drives are measured on the page Drives",
            )
            .on_disabled_hover_text(match now {
                Measurement::RunUnderWay => "A run is under way; it would spoil the figures",
                _ => "Under way",
            });
        if button.clicked() {
            sheet.send(Command::Measure);
        }
        if now == Measurement::UnderWay {
            spinner(ui);
            ui.label(RichText::new("Measuring…").weak());
        }
    });
}

/// Turns a few times a second: drawing must not take the cores that are measured.
fn spinner(ui: &mut Ui) {
    const DOTS: u8 = 8;
    let (rect, _) = ui.allocate_exact_size(vec2(18.0, 18.0), Sense::hover());
    let steps = ui.input(|i| i.time) / TICK.as_secs_f64();
    let color = tokens(ui).accent;
    for dot in 0..DOTS {
        let behind = (steps - f64::from(dot)).floor().rem_euclid(f64::from(DOTS));
        let angle = std::f32::consts::TAU * f32::from(dot) / f32::from(DOTS);
        #[expect(clippy::cast_possible_truncation, reason = "between 0 and 7")]
        let faded = color.gamma_multiply(1.0 - 0.11 * behind as f32);
        ui.painter().circle_filled(rect.center() + 6.5 * egui::Vec2::angled(angle), 1.8, faded);
    }
    ui.ctx().request_repaint_after(TICK);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slow_plan_leaves_the_other_times_their_units() {
        let row = |seconds| ChoiceRow { seconds, ..ChoiceRow::default() };
        let rows = [Some(0.25), Some(1.9), Some(119.0), Some(300.0), Some(9000.0), Some(1e6), None].map(row);
        let columns = columns(&rows.iter().collect::<Vec<_>>());
        let cells = rows.each_ref().map(|row| (columns[0].cell)(row));
        let shown = cells.each_ref().map(|(number, unit)| format!("{number} {unit}"));
        assert_eq!(shown, ["250 ms", "1.90 s", "119 s", "5.00 min", "2.50 h", "11.6 d", "– "]);
        assert!(columns[0].unit.is_none() && columns[1..].iter().all(|column| column.unit.is_some()));
    }

    #[test]
    fn a_column_of_bytes_has_one_unit_and_three_digits() {
        assert_eq!(byte_unit(0.0).0, "KiB");
        assert_eq!(byte_unit(5e9), ("GiB", f64::from(1 << 30)));
        let texts = [0.0, 0.004, 0.5, 9.996, 12.34, 99.96, 4096.0].map(short);
        assert_eq!(texts, ["0", "<0.01", "0.50", "10.0", "12.3", "100", "4096"]);
        assert_eq!([0.0, 2e-6, 4.3e-5].map(error), ["0", "2e-6", "4e-5"]);
    }
}
