//! What was aimed at, and whether it was met.

use super::Speed;
use super::report::{Section, Target};
use super::series::{Series, median};
use crate::machine::DriveFigures;

/// Bytes moved may differ from the plan's by so much.
const BYTES_OFF: f64 = 0.01;

impl Target {
    fn new(number: Option<u8>, what: String, measured: Option<f64>, aim: f64, detail: String) -> Self {
        Self { number, what, measured, aim, at_most: false, met: measured.map(|value| value >= aim), detail }
    }

    fn at_most(self) -> Self {
        Self { at_most: true, met: self.measured.map(|value| value <= self.aim), ..self }
    }
}

/// Every target that was asked for.
pub fn all(sections: &[Section], drive: Option<&DriveFigures>, speed: &Speed) -> Vec<Target> {
    let named = |name: &'static str| sections.iter().filter(move |section| section.name == name);
    let mut targets = Vec::new();
    if speed.has(1) {
        targets.extend(named("propagation").map(|section| best(1, section, 2.5, "one propagation")));
        targets.extend(named("agreement").map(agreement));
    }
    if speed.has(2) {
        targets.extend(named("hologram").map(|section| best(2, section, 3.5, "three-layer hologram")));
        targets.extend(
            sections
                .iter()
                .filter(|s| s.emulated.is_some())
                .map(|section| best(2, section, 10.0, "the same, four emulated SATA drives")),
        );
    }
    if speed.has(3) {
        targets.extend(named("propagation").flat_map(|section| parts(section, drive)));
    }
    if speed.has(4) {
        targets.extend(named("scipy").map(|section| {
            let target = best(4, section, 8.0, "one call against scipy in memory");
            match section.scipy.as_ref().and_then(|scipy| scipy.skipped.clone()) {
                Some(reason) => Target { detail: format!("not measured: {reason}"), ..target },
                None => target,
            }
        }));
    }
    if speed.has(5) {
        targets.push(bytes(sections));
    }
    targets.extend(predictions(sections));
    targets
}

/// The fastest of a section against its baseline.
fn best(number: u8, section: &Section, aim: f64, what: &str) -> Target {
    let best = section.ratios.iter().max_by(|a, b| a.ratio.total_cmp(&b.ratio));
    let detail = best.map_or_else(String::new, |best| {
        let least = best.rounds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = best.rounds.iter().copied().fold(0.0, f64::max);
        format!("{} against {}; in single rounds {least:.2} to {most:.2}", best.name, best.baseline)
    });
    let what = format!("{what}: times faster than the baseline");
    Target::new(Some(number), what, best.map(|best| best.ratio), aim, detail)
}

/// The plane that is farthest from the reference, in parts of what is stated.
fn agreement(section: &Section) -> Target {
    let parts = |of: &super::Agreement| of.difference / of.bound;
    let worst = section.agreement.iter().max_by(|a, b| parts(a).total_cmp(&parts(b)));
    let detail = worst
        .map_or_else(String::new, |w| format!("{}: {:.1e}, stated {:.1e}", w.name, w.difference, w.bound));
    let what = "all methods give one plane: largest difference over the stated error".into();
    Target::new(Some(1), what, worst.map(parts), 1.0, detail).at_most()
}

/// Each method's time against its parts, and its input and output against a plain copy.
fn parts(section: &Section, drive: Option<&DriveFigures>) -> Vec<Target> {
    let find = |name: &str, out| section.series.iter().find(|s| s.name == name && s.left_out == Some(out));
    let mut targets = Vec::new();
    for whole in section.series.iter().filter(|series| series.left_out.is_none()) {
        let (Some(io), Some(compute)) = (find(&whole.name, "compute"), find(&whole.name, "io")) else {
            continue;
        };
        let longest = io.median.max(compute.median);
        let detail = format!(
            "{:.2} s; I/O alone {:.2} s, computing alone {:.2} s",
            whole.median, io.median, compute.median
        );
        let what = format!("{}: whole time over its longer part", whole.name);
        targets.push(Target::new(Some(3), what, Some(whole.median / longest), 1.2, detail).at_most());
        let copy = drive.map(|drive| copy_seconds(io, drive));
        let detail = copy.map_or_else(String::new, |copy| {
            let passes = median(&io.pass_seconds);
            format!("{:.2} s, of it its passes {passes:.2} s; copy {copy:.2} s", io.median)
        });
        let what = format!("{}: I/O alone over a plain copy of its bytes", whole.name);
        targets.push(Target::new(Some(3), what, copy.map(|copy| io.median / copy), 1.15, detail).at_most());
    }
    targets
}

/// Seconds to read and write the bytes of each pass on `drive`, as fast as it does.
fn copy_seconds(series: &Series, drive: &DriveFigures) -> f64 {
    series.pass_bytes.iter().map(|&[read, written]| drive.seconds(read as f64, written as f64)).sum()
}

/// The run whose bytes are farthest from its plan's.
fn bytes(sections: &[Section]) -> Target {
    let all = || sections.iter().flat_map(|section| &section.series).filter(|s| s.left_out != Some("io"));
    let worst = all().max_by(|a, b| a.bytes_off.total_cmp(&b.bytes_off));
    let runs: usize = all().map(|series| series.seconds.len()).sum();
    let detail = worst.map_or_else(String::new, |worst| {
        if worst.bytes_off > 0.0 {
            format!("of {runs} runs, worst {}", worst.name)
        } else {
            format!("all {runs} runs to the byte")
        }
    });
    let what = "bytes moved by each drive: largest part they differ from the plan".into();
    Target::new(Some(5), what, worst.map(|worst| worst.bytes_off), BYTES_OFF, detail).at_most()
}

/// How far times are from what the planner expected, for each section.
fn predictions(sections: &[Section]) -> Vec<Target> {
    let off = |ratio: f64| if ratio > 1.0 { ratio - 1.0 } else { 1.0 - ratio };
    let section = |section: &Section| {
        let ratios: Vec<_> = section
            .series
            .iter()
            .filter_map(|series| series.measured_over_predicted.map(|ratio| (&series.name, ratio)))
            .collect();
        let worst = ratios.iter().max_by(|a, b| off(a.1).total_cmp(&off(b.1)))?;
        let near = ratios.iter().filter(|ratio| off(ratio.1) <= 0.2).count();
        let detail = format!(
            "worst {}: measured {:.2} of predicted; {near} of {} within 20 %",
            worst.0,
            worst.1,
            ratios.len()
        );
        let what = format!("planner's prediction, {}: largest part it is off", section.name);
        Some(Target::new(None, what, Some(off(worst.1)), 0.2, detail).at_most())
    };
    // Planes that are compared are too small to be timed.
    sections.iter().filter(|s| s.name != "agreement").filter_map(section).collect()
}
