//! The inspector: one layer's reconstruction, large, with its numbers.

mod canvas;
mod charts;
mod contrast;
mod controls;
mod export;
mod numbers;
mod panel;
mod slot;
mod text;
mod view;

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{Key, Modifiers, RichText, Ui};

use super::commands::Command;
use super::task::Wake;
use super::theme::GAP;
use crate::engine::Preview;
use crate::inspect::{Cut, Picture, Raster, Region};
use crate::project::{Layer, Project};
use contrast::Levels;
pub use export::{Export, ExportTo};
use numbers::Numbers;
use slot::Slot;
use view::View;

/// Width of the numbers.
const PANEL_WIDTH: f32 = 304.0;
/// Height of the profile, when there is one.
const PROFILE_HEIGHT: f32 = 186.0;

/// What stands beside the reconstruction, or in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Mode {
    /// Nothing.
    #[default]
    Alone,
    /// The layer's own image.
    Beside,
    /// The layer's own image in the right part.
    Split,
    /// Both in turn.
    Blink,
    /// The layer's own image alone.
    Own,
}

/// What dragging does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Tool {
    /// Moves the plane.
    #[default]
    Move,
    /// Sets a profile along x.
    Row,
    /// Sets a profile along y.
    Column,
    /// Sets a profile between two points.
    Line,
    /// Sets a region.
    Region,
}

/// What the inspector is shown from.
pub struct Sources<'a> {
    /// The project as it was when the last run began.
    pub ran: Option<&'a Project>,
    /// The reconstructions so far.
    pub previews: &'a BTreeMap<usize, Arc<Preview>>,
    /// Whether a run is under way, which nothing may slow.
    pub running: bool,
    /// Whether a file dialog is open.
    pub dialog_open: bool,
    /// Wakes the window.
    pub wake: &'a Wake,
}

/// The page's state.
pub struct Inspector {
    layer: usize,
    mode: Mode,
    /// The share of the width left of the split.
    split: f32,
    tool: Tool,
    view: View,
    levels: Levels,
    cut: Option<Cut>,
    region: Option<Region>,
    /// Where dragging began, in metres.
    anchor: Option<[f64; 2]>,
    /// What the pointer is over, in metres.
    pointer: Option<[f64; 2]>,
    /// The plane that view, cut and region are of.
    raster: Option<Raster>,
    numbers: Numbers,
    picture: Slot,
    own_picture: Slot,
    exporting: export::Exporting,
    /// Whether something was being computed in the last frame.
    busy: bool,
    /// Whether a profile and a region are to be set on the next plane.
    example: bool,
}

impl Default for Inspector {
    fn default() -> Self {
        Self {
            layer: 0,
            mode: Mode::default(),
            split: 0.5,
            tool: Tool::default(),
            view: View::default(),
            levels: Levels::default(),
            cut: None,
            region: None,
            anchor: None,
            pointer: None,
            raster: None,
            numbers: Numbers::default(),
            picture: Slot::default(),
            own_picture: Slot::default(),
            exporting: export::Exporting::default(),
            busy: false,
            example: false,
        }
    }
}

/// The layer that is inspected.
struct Current<'a> {
    project: &'a Project,
    layer: &'a Layer,
    preview: &'a Arc<Preview>,
    raster: Raster,
}

impl Current<'_> {
    /// The reconstruction.
    fn picture(&self) -> Option<Picture<'_>> {
        Picture::new(self.raster, &self.preview.mean)
    }
}

impl Inspector {
    /// Shows layer `layer` next.
    pub fn open(&mut self, layer: usize) {
        self.layer = layer;
    }

    /// Whether something that is shown is still being computed.
    #[must_use]
    pub const fn busy(&self) -> bool {
        self.busy
    }

    /// Shows a profile and a region on the next plane, for a picture of the window.
    pub const fn show_example(&mut self) {
        self.example = true;
    }

    /// The reconstruction that is shown, if there is one.
    fn current<'a>(&self, sources: &Sources<'a>) -> Option<Current<'a>> {
        let project = sources.ran?;
        let layer = project.layers.get(self.layer)?;
        let preview = sources.previews.get(&self.layer)?;
        let raster = numbers::raster(project, preview)?;
        Some(Current { project, layer, preview, raster })
    }

    /// Shows the page.
    pub fn show(&mut self, ui: &mut Ui, sources: &Sources<'_>, commands: &mut Vec<Command>) {
        self.arrows(ui, sources);
        egui::Panel::top("inspector controls").show(ui, |ui| self.controls(ui, sources));
        let Some(current) = self.current(sources) else {
            egui::CentralPanel::default().show(ui, |ui| nothing(ui, sources));
            return;
        };
        self.adapt(&current);
        self.work(ui, &current, sources);
        egui::Panel::right("inspector numbers").exact_size(PANEL_WIDTH).show(ui, |ui| {
            egui::ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                self.panel(ui, &current, sources, commands);
            });
        });
        // Also before there is one, so that the picture does not move while it is set.
        if self.cut.is_some() || matches!(self.tool, Tool::Row | Tool::Column | Tool::Line) {
            egui::Panel::bottom("inspector profile")
                .exact_size(PROFILE_HEIGHT)
                .show(ui, |ui| self.profile(ui, &current));
        }
        egui::Panel::bottom("inspector read-out").show(ui, |ui| self.read_out(ui, &current));
        egui::CentralPanel::default().show(ui, |ui| self.pictures(ui, &current));
    }

    /// The arrow keys go to the previous and the next layer, unless something else has them.
    fn arrows(&mut self, ui: &Ui, sources: &Sources<'_>) {
        if ui.ctx().memory(|memory| memory.focused().is_some()) {
            return;
        }
        let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
        let step = isize::from(pressed(Key::ArrowRight)) - isize::from(pressed(Key::ArrowLeft));
        self.step(step, sources);
    }

    /// Goes on or back by a layer, as far as there are any.
    fn step(&mut self, step: isize, sources: &Sources<'_>) {
        let layers = sources.ran.map_or(0, |project| project.layers.len());
        self.layer = self.layer.saturating_add_signed(step).min(layers.saturating_sub(1));
    }

    /// Forgets what was set on another plane.
    fn adapt(&mut self, current: &Current<'_>) {
        if self.raster != Some(current.raster) {
            self.raster = Some(current.raster);
            self.view = View::default();
            (self.cut, self.region, self.anchor, self.pointer) = (None, None, None, None);
            if self.example {
                let [width, height] = [0, 1].map(|axis| current.raster.size(axis));
                self.cut = Some(Cut::Row(height / 3));
                self.region = Some(Region { columns: width / 3..width / 2, rows: height / 5..height / 2 });
            }
        }
    }

    /// Keeps numbers and pictures up to date, off this thread.
    fn work(&mut self, ui: &Ui, current: &Current<'_>, sources: &Sources<'_>) {
        let (wake, ctx) = (sources.wake, ui.ctx());
        self.numbers.summarise(wake, current.project, sources.previews);
        if let Some(region) = &self.region {
            self.numbers.measure(wake, current.preview, current.raster, region);
        }
        let region = self.region.as_ref();
        let measured = region.is_none_or(|r| self.numbers.statistics(current.preview, r).is_some());
        let of = (current.project, current.layer);
        self.numbers.compare(wake, of, current.preview, current.raster, !sources.running);
        self.busy = !measured || self.numbers.own(current.preview).is_none() || self.picture.busy();
        let Some(white) = self.white() else { return };
        let tone = self.levels.tone(white);
        self.picture.update(ctx, wake, current.preview, tone);
        if let (true, Some(Ok(target))) = (self.mode != Mode::Alone, self.numbers.own(current.preview)) {
            // As bright as it is in the reconstruction.
            let factor = target.comparison.map_or(1.0, |comparison| comparison.intensity.brightness);
            #[expect(clippy::cast_possible_truncation, reason = "an intensity for the screen")]
            let scale = if factor > 0.0 { (1.0 / factor) as f32 } else { 1.0 };
            let tone = crate::inspect::Tone { black: tone.black * scale, white: tone.white * scale, ..tone };
            self.own_picture.update(ctx, wake, &target.picture, tone);
        }
    }

    /// The intensity that stands for white, once it is known.
    fn white(&self) -> Option<f32> {
        let own = self.numbers.summary(self.layer)?.white;
        Some(if self.levels.locked { self.numbers.brightest() } else { own })
    }
}

/// What the page says without a reconstruction.
fn nothing(ui: &mut Ui, sources: &Sources<'_>) {
    ui.add_space(GAP);
    let text = match sources.ran {
        None => "Run the project first; its reconstructions can then be looked at here.",
        Some(_) if sources.running => "The run has not come to this layer's reconstruction yet.",
        Some(project) if !project.output.previews => {
            "The last run made no reconstructions: tick “Reconstruct every layer afterwards” under Output."
        }
        Some(_) => "The last run made no reconstruction of this layer.",
    };
    ui.label(RichText::new(text).weak());
}
