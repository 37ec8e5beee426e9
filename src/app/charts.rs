//! Live charts: where the time of each drive and of the processor goes, and how fast bytes move.

use egui::{RichText, Sense, Stroke, Ui, vec2};
use egui_plot::{Bar, BarChart, Line, LineStyle, Plot, PlotPoints, PlotUi};

use super::chunk_bins::ChunkBins;
use super::commands::Command;
use super::fields;
use super::rates::Rates;
use super::run_view::{DriveView, RunState, RunView};
use super::text;
use super::theme::{BARS_HEIGHT, CARD_WIDTH, GAP, RATE_HEIGHT, Tokens, tokens};
use crate::engine::Kind;
use crate::project::Project;

/// From the bottom of a bar to its top.
const STACK: [Kind; 4] = [Kind::Read, Kind::Compute, Kind::Write, Kind::Wait];

/// What all cards have in common, so that they can be compared.
#[derive(Debug, Clone, Copy)]
struct Look {
    /// The highest bar in seconds.
    most: f64,
    /// The highest rate in MB/s.
    fastest: f64,
    /// Whether the cards take more than one row and have to be lower.
    compact: bool,
}

impl Look {
    fn height(self, full: f32) -> f32 {
        if self.compact { 0.7 * full } else { full }
    }

    /// The unit that keeps the bars' numbers short, and how many of it are a second.
    fn time_unit(self) -> (&'static str, f64) {
        if self.most < 0.5 { ("Milliseconds", 1e3) } else { ("Seconds", 1.0) }
    }
}

const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "Read",
        Kind::Compute => "Compute",
        Kind::Write => "Write",
        Kind::Wait => "Wait",
    }
}

const fn kind_hover(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "Solid: time the drive delivered; solid line: the rate it did",
        Kind::Compute => "Solid: time the processor spent on transforms and the transfer function",
        Kind::Write => "Pale: time the drive took data; dashed line: the rate it did",
        Kind::Wait => "Hollow: time the drive's reader or writer had nothing it could do",
    }
}

/// Shows the charts of one pass, or what to do when there is none.
pub fn show(
    ui: &mut Ui,
    view: &RunView,
    project: &Project,
    selected: Option<usize>,
    commands: &mut Vec<Command>,
) {
    let Some(index) = selected.or_else(|| view.current()).filter(|&i| i < view.passes().len()) else {
        newcomer(ui, view, project);
        return;
    };
    header(ui, view, selected, commands);
    let pass = &view.passes()[index];
    let empty = ChunkBins::default();
    let most = most_per_chunk(pass.drives.iter().chain([&pass.processor]));
    let fastest = fastest(view);
    let cards = view.drives().len() + 1;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful of columns")]
    let fit = (ui.available_width() / CARD_WIDTH).floor().max(1.0) as usize;
    let columns = fit.min(cards);
    let look = Look { most, fastest, compact: cards > columns };
    for row in (0..cards).step_by(columns) {
        ui.columns(columns, |uis| {
            for (ui, card) in uis.iter_mut().zip(row..cards) {
                tokens(ui).card_frame().show(ui, |ui| match view.drives().get(card) {
                    Some(drive) => {
                        let bins = pass.drives.get(card).unwrap_or(&empty);
                        drive_card(ui, view, project, card, drive, bins, look);
                    }
                    None => processor_card(ui, &pass.processor, look),
                });
            }
        });
        ui.add_space(GAP / 2.0);
    }
}

fn newcomer(ui: &mut Ui, view: &RunView, project: &Project) {
    ui.add_space(GAP);
    if view.is_active() {
        ui.label(RichText::new("The charts begin with the first chunk.").weak());
        return;
    }
    if let RunState::Failed(_) | RunState::Cancelled(_) = view.state() {
        ui.label(RichText::new("The run ended before its first phase; there is nothing to chart.").weak());
        return;
    }
    ui.heading("Make a hologram in four steps");
    ui.add_space(GAP / 2.0);
    let layers = project.layers.len();
    let steps = [
        format!("Layers: add images and give each its depth ({layers} so far)."),
        "Optics: set the wavelength, the pitch and the number of samples.".into(),
        "Drives: give the roles A to D to folders on different drives; one drive works too.".into(),
        "Run: watch what every drive does here, and see each layer come into focus below.".into(),
    ];
    for (i, step) in steps.iter().enumerate() {
        ui.label(format!("{}.  {step}", i + 1));
    }
    ui.add_space(GAP / 2.0);
    ui.label(
        RichText::new(
            "The hologram may be larger than memory: it is computed in chunks that stream from drive to drive.",
        )
        .weak(),
    );
}

fn header(ui: &mut Ui, view: &RunView, selected: Option<usize>, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        ui.label("Phase").on_hover_text("Each propagation takes three phases: rows, columns, rows");
        let follow = match view.current() {
            Some(i) if view.is_active() => format!("Latest ({})", view.pass_name(i)),
            Some(i) => format!("Last ({})", view.pass_name(i)),
            None => "Latest".into(),
        };
        let names: Vec<(usize, String)> = view
            .passes()
            .iter()
            .enumerate()
            .filter(|(_, pass)| pass.started)
            .map(|(i, _)| (i, view.pass_name(i)))
            .collect();
        let mut options: Vec<(Option<usize>, &str, &str)> =
            vec![(None, &follow, "The charts follow the run")];
        options
            .extend(names.iter().map(|(i, name)| (Some(*i), name.as_str(), "The charts stay at this phase")));
        if let Some(pass) = fields::choice(ui, "phase", "Phase shown", 330.0, selected, &options) {
            commands.push(Command::SelectPass(pass));
        }
        ui.add_space(GAP);
        for kind in STACK {
            swatch(ui, kind);
        }
    });
    ui.add_space(GAP / 2.0);
}

/// One entry of the legend.
fn swatch(ui: &mut Ui, kind: Kind) {
    let (fill, stroke) = tokens(ui).bar(kind);
    let (rect, response) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
    ui.painter().rect(rect.shrink(1.0), 1.0, fill, stroke, egui::StrokeKind::Inside);
    response.on_hover_text(kind_hover(kind));
    ui.label(kind_name(kind)).on_hover_text(kind_hover(kind));
    ui.add_space(4.0);
}

fn drive_card(
    ui: &mut Ui,
    view: &RunView,
    project: &Project,
    index: usize,
    drive: &DriveView,
    bins: &ChunkBins,
    look: Look,
) {
    let roles: Vec<String> = project
        .drives
        .iter()
        .filter(|d| d.path.display().to_string() == drive.name)
        .map(|d| d.role.to_string())
        .collect();
    let roles = if roles.is_empty() { String::new() } else { format!(", role {}", roles.join(" ")) };
    title(ui, &format!("Drive {}{roles}", index + 1), &drive.name);
    bars(ui, &format!("Time per chunk of drive {}", index + 1), bins, look);
    let rate = |rates: &Rates| rates.mean().map_or_else(|| "–".into(), megabytes);
    ui.label(
        RichText::new(format!(
            "MB/s over seconds; mean read {}, write {}",
            rate(&drive.read),
            rate(&drive.write)
        ))
        .small()
        .weak(),
    )
    .on_hover_text("Megabytes per second of this drive over the whole run; the means count busy time only");
    throughput(ui, index, drive, view, look);
}

fn processor_card(ui: &mut Ui, bins: &ChunkBins, look: Look) {
    title(ui, "Processor", "all threads together");
    bars(ui, "Time per chunk of the processor", bins, look);
    ui.label(
        RichText::new(format!("Computed for {} in this phase", text::seconds(bins.total().compute)))
            .small()
            .weak(),
    );
}

fn title(ui: &mut Ui, name: &str, detail: &str) {
    ui.horizontal(|ui| {
        ui.label(RichText::new(name).strong());
        ui.add(egui::Label::new(RichText::new(detail).weak()).truncate()).on_hover_text(detail);
    });
}

fn megabytes(rate: f64) -> String {
    let rate = rate / 1e6;
    if rate < 10.0 { format!("{rate:.1} MB/s") } else { format!("{rate:.0} MB/s") }
}

/// The highest bar of any series, so that all charts share one scale and can be compared.
fn most_per_chunk<'a>(series: impl Iterator<Item = &'a ChunkBins>) -> f64 {
    series
        .flat_map(ChunkBins::bars)
        .map(|bar| STACK.iter().map(|&kind| bar.seconds.of(kind)).sum())
        .fold(0.0, f64::max)
}

fn fastest(view: &RunView) -> f64 {
    let until = until(view);
    view.drives()
        .iter()
        .flat_map(|drive| drive.read.steps(until).chain(drive.write.steps(until)))
        .map(|step| step.rate / 1e6)
        .fold(0.0, f64::max)
}

/// How far rates are drawn: a step that is still filling would look like a drop.
fn until(view: &RunView) -> f64 {
    view.latest()
}

fn plain_plot(name: &str, height: f32, tokens: &Tokens) -> Plot<'static> {
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
        .grid_spacing(egui::Rangef::new(12.0, 48.0))
        .y_axis_min_width(34.0)
        .include_y(0.0)
        .set_margin_fraction(vec2(0.01, 0.06))
}

fn bars(ui: &mut Ui, name: &str, bins: &ChunkBins, look: Look) {
    let tokens = tokens(ui);
    let (unit, per_second) = look.time_unit();
    let means = if bins.width() > 1 { format!("; means of {}", bins.width()) } else { String::new() };
    ui.label(RichText::new(format!("{unit} per chunk, by chunk{means}")).small().weak());
    let charts = stacked(bins, tokens, per_second);
    let response = plain_plot(name, look.height(BARS_HEIGHT), tokens)
        .include_y(if look.most > 0.0 { look.most * per_second } else { 1.0 })
        .include_x(-0.5)
        .include_x(4.0)
        .show(ui, |plot: &mut PlotUi<'_>| {
            for chart in charts {
                plot.bar_chart(chart);
            }
        });
    let response = response.response.accessible_name(name);
    if bins.is_empty() {
        let label = egui::Label::new(RichText::new("Not used in this phase").weak());
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

fn throughput(ui: &mut Ui, index: usize, drive: &DriveView, view: &RunView, look: Look) {
    let tokens = tokens(ui);
    let until = until(view);
    let points = |rates: &Rates| {
        PlotPoints::Owned(
            rates.steps(until).map(|step| egui_plot::PlotPoint::new(step.at, step.rate / 1e6)).collect(),
        )
    };
    let read = Line::new("Read MB/s", points(&drive.read)).color(tokens.read).width(1.8);
    let write = Line::new("Write MB/s", points(&drive.write))
        .color(tokens.write)
        .width(1.8)
        .style(LineStyle::dashed_dense());
    let response =
        plain_plot(&format!("Throughput of drive {}", index + 1), look.height(RATE_HEIGHT), tokens)
            .include_y(if look.fastest > 0.0 { look.fastest } else { 1.0 })
            .include_x(0.0)
            .include_x(until.max(0.1))
            .show(ui, |plot: &mut PlotUi<'_>| {
                plot.line(read);
                plot.line(write);
            });
    response.response.accessible_name(format!("Throughput of drive {}", index + 1));
}
