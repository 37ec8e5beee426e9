//! Ratios measured here beside those that were published.

use serde::Serialize;

use super::super::report::Section;
use super::super::series::Series;
use super::Experiment;
use crate::project::Precision;

/// A ratio measured here, beside the one in Lee & Kim (2023) if it has one.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// What is compared, in words.
    pub what: String,
    /// Measured here: the medians' ratio.
    pub measured: f64,
    /// The least and the greatest ratio within a round.
    pub rounds: [f64; 2],
    /// Published.
    pub published: Option<f64>,
}

/// What the paper states: experiment, drives, precision, way, and time over that of `implicit` on four drives.
/// I/O times are stated as savings of 58 and 57 %.
const PAPER: [(Experiment, &str, Precision, &str, f64); 11] = [
    (Experiment::Table1, "SATA", Precision::F32, "zero-padded, 1 drive", 2.43),
    (Experiment::Table1, "SATA", Precision::F32, "zero-padded multi", 1.56),
    (Experiment::Table1, "SATA", Precision::F64, "zero-padded, 1 drive", 2.06),
    (Experiment::Table1, "SATA", Precision::F64, "zero-padded multi", 1.55),
    (Experiment::Table1, "NVMe", Precision::F32, "zero-padded, 1 drive", 1.52),
    (Experiment::Table1, "NVMe", Precision::F64, "zero-padded, 1 drive", 1.71),
    (Experiment::Io, "SATA", Precision::F32, "zero-padded, 1 drive", 1.0 / 0.42),
    (Experiment::Io, "SATA", Precision::F64, "zero-padded, 1 drive", 1.0 / 0.43),
    (Experiment::Drives, "SATA", Precision::F32, "implicit, 1 drive", 1.99),
    // 946 and 685 minutes.
    (Experiment::Hologram, "SATA", Precision::F32, "zero-padded multi", 946.0 / 685.0),
    (Experiment::Hologram, "NVMe", Precision::F32, "zero-padded multi", 946.0 / 685.0),
];

/// The ratios of all sections.
pub fn all(experiment: Experiment, sections: &[Section]) -> Vec<Comparison> {
    sections.iter().flat_map(|section| of(experiment, section)).collect()
}

fn of(experiment: Experiment, section: &Section) -> Vec<Comparison> {
    let Some(base) = section.series.first() else { return Vec::new() };
    let drives = ["SATA", "NVMe"].into_iter().find(|name| section.what.contains(name));
    let precision = [Precision::F32, Precision::F64]
        .into_iter()
        .find(|precision| section.what.contains(&format!(", {precision},")))
        .unwrap_or_default();
    let shown = |series: &Series| match series.left_out {
        Some(out) if base.left_out.is_none() => format!("{} without {out}", series.name),
        _ => series.name.clone(),
    };
    section
        .series
        .iter()
        .skip(1)
        .map(|series| {
            let ratios = series.seconds.iter().zip(&base.seconds).map(|(other, base)| other / base);
            let rounds = ratios
                .fold([f64::INFINITY, 0.0f64], |[least, most], ratio| [least.min(ratio), most.max(ratio)]);
            let published = PAPER.iter().find(|(e, d, p, way, _)| {
                *e == experiment && Some(*d) == drives && *p == precision && *way == series.name
            });
            Comparison {
                what: format!(
                    "{} over {}{}, {precision}",
                    shown(series),
                    shown(base),
                    drives.map_or(String::new(), |drives| format!(", emulated {drives}"))
                ),
                measured: series.median / base.median,
                rounds,
                published: published.map(|row| row.4),
            }
        })
        .collect()
}
