//! Live charts: where the time of each drive and of the processor goes, and how fast bytes move.

use egui::{RichText, Sense, Ui, vec2};

use super::chunk_bins::ChunkBins;
use super::commands::Command;
use super::fields;
use super::plots::{self, Earlier, Look, STACK, kind_name};
use super::rates::Rates;
use super::run_view::{DriveView, RunState, RunView};
use super::text;
use super::theme::{BARS_HEIGHT, CARD_WIDTH, GAP, RATE_HEIGHT, tokens};
use crate::engine::Kind;
use crate::project::Project;

const fn kind_hover(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "Solid: time the drive delivered; solid line: the rate it did",
        Kind::Compute => "Solid: time the processor spent on transforms and the transfer function",
        Kind::Write => "Pale: time the drive took data; dashed line: the rate it did",
        Kind::Wait => "Hollow: time with nothing to do but to wait for another stage",
    }
}

/// Height of the plots, relative to their usual one, when the cards take more than one row
/// or the window is low.
const COMPACT: f32 = 0.72;
/// Height of what stands above, between and below the plots of a card.
const WORDS_HEIGHT: f32 = 140.0;
/// Width of the choice of the pass.
const PASS_WIDTH: f32 = 500.0;

/// Height of the plots, relative to their usual one: more in a high window, less in a low one.
fn scale(ui: &Ui) -> f32 {
    (ui.ctx().content_rect().height() / 800.0).clamp(COMPACT, 1.4)
}

/// Height of one row of cards with all that belongs to it; kept free from the beginning of a run, so
/// that nothing below moves with its first chunk.
#[must_use]
pub fn usual_height(ui: &Ui) -> f32 {
    scale(ui) * (BARS_HEIGHT + RATE_HEIGHT) + WORDS_HEIGHT
}

/// An earlier run whose throughput is drawn under that of the one that is shown.
#[derive(Clone, Copy)]
pub struct Other<'a> {
    /// Its name.
    pub name: &'a str,
    /// The run.
    pub view: &'a RunView,
}

impl<'a> Other<'a> {
    /// The drive there that stands for drive `index` here: the same folder, or else the one in its place.
    fn drive(self, index: usize, drive: &DriveView) -> Option<Earlier<'a>> {
        let drives = self.view.drives();
        let same = drives.iter().find(|other| other.name == drive.name);
        let drive = same.or_else(|| drives.get(index))?;
        Some(Earlier { run: self.name, drive, until: self.view.latest() })
    }
}

/// Shows the charts of one pass, or what to do when there is none.
pub fn show(
    ui: &mut Ui,
    view: &RunView,
    project: &Project,
    selected: Option<usize>,
    other: Option<Other<'_>>,
    commands: &mut Vec<Command>,
) {
    let Some(index) = selected.or_else(|| view.telling()).filter(|&i| i < view.passes().len()) else {
        newcomer(ui, view, project);
        return;
    };
    header(ui, view, selected, commands);
    let pass = &view.passes()[index];
    let empty = ChunkBins::default();
    let most = most_per_chunk(pass.drives.iter().chain([&pass.processor]));
    let fastest = fastest(view).max(other.map_or(0.0, |other| fastest(other.view)));
    let cards = view.drives().len() + 1;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful of columns")]
    let fit = (ui.available_width() / CARD_WIDTH).floor().max(1.0) as usize;
    // Rows of about the same length.
    let columns = cards.div_ceil(cards.div_ceil(fit));
    let chunks = pass.drives.iter().chain([&pass.processor]).map(ChunkBins::chunks).max();
    let look = Look {
        most,
        fastest,
        scale: if cards > columns { COMPACT } else { scale(ui) },
        chunks: chunks.unwrap_or(0),
        until: view.latest(),
        nothing: match (pass.seconds, view.is_active()) {
            (Some(_), _) => "Not used in this pass",
            (None, true) => "Nothing yet in this pass",
            (None, false) => "The run ended before this",
        },
    };
    for row in (0..cards).step_by(columns) {
        ui.columns(columns, |uis| {
            for (ui, card) in uis.iter_mut().zip(row..cards) {
                ui.spacing_mut().item_spacing.y = 3.0;
                tokens(ui).card_frame().show(ui, |ui| match view.drives().get(card) {
                    Some(drive) => {
                        let bins = pass.drives.get(card).unwrap_or(&empty);
                        let earlier = other.and_then(|other| other.drive(card, drive));
                        drive_card(ui, project, (card, drive), bins, earlier, look);
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
        ui.label(RichText::new("The run ended before its first pass; there is nothing to chart.").weak());
        return;
    }
    ui.heading("Make a hologram in four steps");
    ui.add_space(GAP / 2.0);
    let layers = project.enabled_layers().count();
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
    super::sections::sampling::summary(ui, project);
    ui.add_space(GAP / 2.0);
    ui.label(
        RichText::new(
            "The hologram may be larger than memory: it is computed in chunks that stream from drive to drive.",
        )
        .weak(),
    );
}

fn header(ui: &mut Ui, view: &RunView, selected: Option<usize>, commands: &mut Vec<Command>) {
    let legend = |ui: &mut Ui| {
        for kind in STACK {
            swatch(ui, kind);
        }
    };
    // The legend has a row of its own where it would not fit whole.
    let broad = ui.available_width() > PASS_WIDTH + 380.0;
    ui.horizontal(|ui| {
        ui.label("Pass").on_hover_text(
            "A pass streams planes once from drives through the processor to drives. Blocks propagate in one pass, \
             the other methods in three: rows, columns, rows",
        );
        let (follow, hover) = match (view.state(), view.telling()) {
            (_, None) => ("Latest".into(), "The charts follow the run"),
            (RunState::Finished(_), Some(i)) => (
                format!("Longest ({})", view.pass_name(i)),
                "The pass of the hologram that took the longest; the others can be chosen here",
            ),
            (RunState::Cancelled(_) | RunState::Failed(_), Some(i)) => {
                (format!("Last ({})", view.pass_name(i)), "The pass in which the run ended")
            }
            (RunState::Idle | RunState::Starting | RunState::Running, Some(i)) => {
                (format!("Latest ({})", view.pass_name(i)), "The charts follow the run")
            }
        };
        let names: Vec<(usize, String)> = view
            .passes()
            .iter()
            .enumerate()
            .filter(|(_, pass)| pass.started)
            .map(|(i, _)| (i, view.pass_name(i)))
            .collect();
        let mut options: Vec<(Option<usize>, &str, &str)> = vec![(None, &follow, hover)];
        options
            .extend(names.iter().map(|(i, name)| (Some(*i), name.as_str(), "The charts stay at this pass")));
        let size = vec2(PASS_WIDTH.min(ui.available_width()), ui.spacing().interact_size.y);
        let layout = egui::Layout::left_to_right(egui::Align::Center);
        // In an area of its own, so that a long name is cut.
        let picked = ui.allocate_ui_with_layout(size, layout, |ui| {
            fields::choice(ui, "pass", "Pass shown", size.x, selected, &options)
        });
        if let Some(pass) = picked.inner {
            commands.push(Command::SelectPass(pass));
        }
        if broad {
            ui.add_space(GAP);
            legend(ui);
        }
    });
    if !broad {
        ui.horizontal(legend);
    }
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
    project: &Project,
    (index, drive): (usize, &DriveView),
    bins: &ChunkBins,
    earlier: Option<Earlier<'_>>,
    look: Look,
) {
    let roles: Vec<String> = project
        .drives
        .iter()
        .filter(|d| d.path.display().to_string() == drive.name)
        .map(|d| d.role.to_string())
        .collect();
    let roles = if roles.is_empty() { String::new() } else { format!(", role {}", roles.join(" ")) };
    let place = if drive.name == "." { "the working folder" } else { &drive.name };
    title(ui, &format!("Drive {}{roles}", index + 1), place);
    plots::bars(ui, &format!("Time per chunk of drive {}", index + 1), bins, look);
    let rate = |rates: &Rates| rates.mean().map_or_else(|| "–".into(), megabytes);
    let both = |drive: &DriveView| format!("Read {}, write {} MB/s", rate(&drive.read), rate(&drive.write));
    let mut rates = both(drive);
    let mut hover = String::from(
        "Megabytes per second of this drive over the whole run; the two numbers are means over the time it was \
         reading or writing",
    );
    if let Some(Earlier { run, drive, .. }) = earlier {
        let now = both(drive).to_lowercase();
        rates = format!("{rates}; thin: {run}, {}", now.replace(" mb/s", ""));
        hover = format!("{hover}. The thin lines are {run}, which the pages Timeline and History choose");
    }
    ui.add(egui::Label::new(RichText::new(rates).small()).truncate()).on_hover_text(hover);
    plots::throughput(ui, index, drive, earlier, look);
}

fn processor_card(ui: &mut Ui, bins: &ChunkBins, look: Look) {
    title(ui, "Processor", "all threads together");
    plots::bars(ui, "Time per chunk of the processor", bins, look);
    ui.label(
        RichText::new(format!("Computed for {} in this pass", text::seconds(bins.total().compute)))
            .small()
            .weak(),
    );
}

fn title(ui: &mut Ui, name: &str, detail: &str) {
    ui.label(RichText::new(name).strong());
    ui.add(egui::Label::new(RichText::new(detail).weak().small()).truncate()).on_hover_text(detail);
}

fn megabytes(rate: f64) -> String {
    let rate = rate / 1e6;
    if rate < 10.0 { format!("{rate:.1}") } else { format!("{rate:.0}") }
}

/// The highest bar of any series, so that all charts share one scale and can be compared.
fn most_per_chunk<'a>(series: impl Iterator<Item = &'a ChunkBins>) -> f64 {
    series
        .flat_map(ChunkBins::bars)
        .map(|bar| STACK.iter().map(|&kind| bar.seconds.of(kind)).sum())
        .fold(0.0, f64::max)
}

fn fastest(view: &RunView) -> f64 {
    let until = view.latest();
    view.drives()
        .iter()
        .flat_map(|drive| drive.read.steps(until).chain(drive.write.steps(until)))
        .map(|step| step.rate / 1e6)
        .fold(0.0, f64::max)
}
