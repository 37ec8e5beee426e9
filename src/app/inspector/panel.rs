//! The numbers beside the picture.

use egui::{DragValue, Grid, RichText, Ui};

use super::super::commands::Command;
use super::super::text;
use super::super::theme::tokens;
use super::charts::histogram;
use super::contrast::heading;
use super::text::{decibel, value};
use super::{Current, Inspector, Sources};
use crate::inspect::{Agreement, Region, Statistics};

/// A number of the comparison: its name, what it is, and how it is written.
type Row = (&'static str, &'static str, fn(&Agreement) -> String);

impl Inspector {
    /// Shows the numbers and the settings.
    pub(super) fn panel(
        &mut self,
        ui: &mut Ui,
        current: &Current<'_>,
        sources: &Sources<'_>,
        commands: &mut Vec<Command>,
    ) {
        heading(ui, "Contrast", "Which intensities are black and white");
        self.levels.show(ui);
        ui.separator();
        self.region_fields(ui, current);
        let white = self.white().unwrap_or(0.0);
        if let Some(summary) = self.numbers.summary(self.layer) {
            heading(ui, "Whole reconstruction", "Of all preview samples");
            numbers(ui, "whole", &summary.whole, white);
            ui.separator();
            self.agreement(ui, current, sources);
            ui.separator();
            heading(
                ui,
                "Histogram",
                "Preview samples of each intensity; the last step ends at 1.25 white levels",
            );
            histogram(ui, &summary.histogram, white, tokens(ui));
            if summary.histogram.above > 0 {
                ui.weak(format!("Brighter: {} preview samples", text::count(summary.histogram.above)));
            }
        } else {
            ui.weak("Reading the reconstruction…");
        }
        ui.separator();
        self.exports(ui, current, sources, commands);
    }

    fn region_fields(&mut self, ui: &mut Ui, current: &Current<'_>) {
        heading(ui, "Region", "A rectangle of preview samples; choose “Region” above the picture and drag");
        let Some(region) = &mut self.region else {
            ui.weak("Choose “Region” above and drag a rectangle");
            return;
        };
        for (axis, name, range) in [(0, "x", &mut region.columns), (1, "y", &mut region.rows)] {
            let size = current.raster.size(axis);
            ui.horizontal(|ui| {
                ui.label(format!("Samples {name}")).on_hover_text("Preview samples, counted from 0");
                ui.add(DragValue::new(&mut range.start).range(0..=range.end - 1))
                    .accessible_name(format!("Region's first sample {name}"));
                ui.label("to");
                let mut last = range.end - 1;
                ui.add(DragValue::new(&mut last).range(range.start..=size - 1))
                    .accessible_name(format!("Region's last sample {name}"));
                range.end = last + 1;
            });
        }
        let region: &Region = region;
        match self.numbers.statistics(current.preview, region) {
            Some(statistics) => numbers(ui, "region", statistics, self.white().unwrap_or(0.0)),
            None => {
                ui.weak("Measuring…");
            }
        }
        ui.separator();
    }

    fn agreement(&self, ui: &mut Ui, current: &Current<'_>, sources: &Sources<'_>) {
        heading(
            ui,
            "Against the layer's image",
            "With T the layer's own intensities, reduced like the reconstruction R, and c = ΣRT/ΣR², which makes \
             Σ(cR − T)² least; the same with amplitudes, their square roots",
        );
        match self.numbers.own(current.preview) {
            None if sources.running => {
                ui.weak("Compared when the run has ended");
            }
            None => {
                ui.weak("Reading the layer's image…");
            }
            Some(Err(error)) => {
                ui.label(RichText::new(format!("⚠ {error}")).color(tokens(ui).warning));
            }
            Some(Ok(target)) => match &target.comparison {
                None => {
                    ui.weak("The layer's image is dark: there is nothing to compare with");
                }
                Some(comparison) => {
                    Grid::new("agreement").num_columns(3).spacing([10.0, 3.0]).show(ui, |ui| {
                        ui.label("");
                        ui.weak("intensity");
                        ui.weak("amplitude");
                        ui.end_row();
                        let rows: [Row; 4] = [
                            (
                                "Correlation",
                                "Pearson's: 1 where one is a multiple of the other plus a constant, 0 where they \
                                 have nothing in common",
                                |one| format!("{:.4}", one.correlation),
                            ),
                            ("PSNR", "10·log10(max(T)² / mean((cR − T)²))", |one| decibel(one.psnr)),
                            (
                                "Brightness",
                                "ΣRT/ΣT²: the factor that makes the layer fit the reconstruction best; with it \
                                 the layer's image is shown and plotted",
                                |one| value(one.brightness),
                            ),
                            ("Factor c", "What the reconstruction is multiplied with", |one| value(one.scale)),
                        ];
                        for (name, hover, number) in rows {
                            ui.label(name).on_hover_text(hover);
                            ui.label(number(&comparison.intensity));
                            ui.label(number(&comparison.amplitude));
                            ui.end_row();
                        }
                    });
                }
            },
        }
    }
}

/// A table of a region's numbers.
fn numbers(ui: &mut Ui, id: &str, statistics: &Statistics, white: f32) {
    let over =
        |number: f64| if white > 0.0 { format!("{:.4}", number / f64::from(white)) } else { "–".into() };
    Grid::new(("statistics", id)).num_columns(3).spacing([10.0, 3.0]).show(ui, |ui| {
        ui.label("");
        ui.weak("|u|²").on_hover_text("Intensity; the white of a layer of amplitude 1 has 1");
        ui.weak("over white").on_hover_text("Intensity over the white level, so without a unit");
        ui.end_row();
        for (name, hover, number) in [
            ("Mean", "Mean of |u|² over the samples", statistics.mean),
            ("Deviation", "Standard deviation of the preview samples", statistics.deviation),
            ("Least", "The darkest preview sample", statistics.least),
            ("Greatest", "The brightest preview sample", statistics.most),
        ] {
            ui.label(name).on_hover_text(hover);
            ui.label(value(number));
            ui.label(over(number));
            ui.end_row();
        }
        ui.label("Speckle contrast").on_hover_text(
            "Deviation over mean: 1 for fully developed speckle, less where a preview sample is a mean over \
             several grains",
        );
        ui.label(format!("{:.4}", statistics.contrast()));
        ui.end_row();
        ui.label("Energy share").on_hover_text("Σ|u|² here over that of the whole reconstruction");
        ui.label(format!("{:.3} %", 100.0 * statistics.energy_share));
        ui.end_row();
        ui.label("Samples").on_hover_text("Preview samples");
        ui.label(text::count(statistics.count as u64));
        ui.end_row();
    });
}
