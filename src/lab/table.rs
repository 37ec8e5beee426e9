//! The report as text.

use std::fmt::Write as _;

use super::report::{Section, SpeedReport, Target};
use super::series::Series;
use crate::optics::Bytes;

/// The report as tables; the targets last.
#[must_use]
pub fn table(report: &SpeedReport) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let machine = &report.machine;
    let load = machine.load.map(|load| load.map_or("unknown".into(), |load| format!("{load:.2}")));
    let _ = writeln!(
        text,
        "gigafringe {}, {}, {} threads, {} of memory, {}; load {} before, {} after",
        machine.gigafringe,
        machine.processor,
        machine.threads,
        Bytes(machine.memory),
        machine.system,
        load[0],
        load[1]
    );
    if let Some(drive) = &report.drive.median {
        let [read, write, both_read, both_write] =
            [drive.read, drive.write, drive.read_while_writing, drive.write_while_reading]
                .map(|rate| rate / 1e6);
        let _ = writeln!(
            text,
            "drive {}: reads {read:.0} MB/s, writes {write:.0} MB/s, both at once {both_read:.0} and {both_write:.0} \
             MB/s (median of {}){}",
            report.drive.device,
            report.drive.measured.len(),
            if drive.direct { "" } else { ", through the system's cache" }
        );
    }
    if machine.was_busy() {
        text += "note: the machine was busy with something else; these times are too long\n";
    }
    if machine.debug_build {
        text += "note: this program was compiled without optimisation; these times mean nothing\n";
    }
    report.sections.iter().for_each(|one| section(&mut text, one));
    text += "\ntargets\n";
    report.targets.iter().for_each(|one| target(&mut text, one));
    let _ = writeln!(text, "measured in {:.0} s", report.seconds);
    text
}

/// One section as a table.
pub fn section(text: &mut String, section: &Section) {
    let _ = writeln!(text, "\n{}: {}", section.name, section.what);
    for tuning in &section.tuning {
        let _ = writeln!(
            text,
            "  tried {} with {} buffers, chunks of {}: {:.2} s",
            tuning.name, tuning.buffers, tuning.chunk, tuning.seconds
        );
    }
    let names = section.series.iter().map(|series| label(series).chars().count());
    let longest = names.max().unwrap_or(0).max(8);
    let _ = writeln!(
        text,
        "  {:longest$}  {:>9}  {:>6}  {:>6}  {:>11}  {:>10}  each round, s",
        "", "median, s", "spread", "ratio", "bytes moved", "/predicted"
    );
    for series in &section.series {
        let ratio = section.ratios.iter().find(|r| series.left_out.is_none() && r.name == series.name);
        let ratio = ratio.map_or(String::new(), |ratio| format!("{:.2}", ratio.ratio));
        let predicted = series.measured_over_predicted.map_or(String::new(), |ratio| format!("{ratio:.2}"));
        let moved: u64 = series.bytes_moved.as_flattened().iter().sum();
        let rounds: Vec<_> = series.seconds.iter().map(|seconds| format!("{seconds:.2}")).collect();
        let _ = writeln!(
            text,
            "  {:longest$}  {:>9.2}  {:>4.0} %  {ratio:>6}  {:>11}  {predicted:>10}  {}",
            label(series),
            series.median,
            100.0 * series.spread,
            Bytes(moved).to_string(),
            rounds.join(" ")
        );
    }
    if let Some(scipy) = &section.scipy {
        let rounds: Vec<_> = scipy.seconds.iter().map(|seconds| format!("{seconds:.2}")).collect();
        let _ = match (scipy.median, &scipy.skipped) {
            (Some(median), _) => {
                let (version, memory) =
                    (scipy.version.as_deref().unwrap_or(""), Bytes(scipy.peak_memory.unwrap_or(0)));
                writeln!(
                    text,
                    "  {:longest$}  {median:>9.2}  version {version}, {memory} of memory: {}",
                    "scipy",
                    rounds.join(" ")
                )
            }
            (None, reason) => writeln!(text, "  scipy: not run: {}", reason.as_deref().unwrap_or("")),
        };
    }
    for plane in &section.agreement {
        let word = if plane.agrees { "agrees" } else { "DIFFERS" };
        let _ = writeln!(
            text,
            "  {}: {word}, relative L2 difference {:.1e}, stated {:.1e}",
            plane.name, plane.difference, plane.bound
        );
    }
    for skipped in &section.skipped {
        let _ = writeln!(text, "  {} cannot run: {}", skipped.name, skipped.reason);
    }
    for note in &section.notes {
        let _ = writeln!(text, "  note: {note}");
    }
}

/// A series' name, what ran where that was chosen, and what was left out.
fn label(series: &Series) -> String {
    let method = series.method.to_string();
    let chosen = if series.name.starts_with("auto") { format!(" ({method})") } else { String::new() };
    let out = series.left_out.map_or(String::new(), |what| format!(", without {what}"));
    format!("{}{chosen}{out}", series.name)
}

fn target(text: &mut String, target: &Target) {
    let number = target.number.map_or("–".into(), |number| number.to_string());
    let measured = target.measured.map_or("–".into(), |value| {
        if value.abs() < 0.005 && value > 0.0 { format!("{value:.0e}") } else { format!("{value:.2}") }
    });
    let word = match target.met {
        Some(true) => "met",
        Some(false) => "missed",
        None => "not measured",
    };
    let sign = if target.at_most { "≤" } else { "≥" };
    let _ = writeln!(text, "{number}  {}: {measured}, aim {sign} {}: {word}", target.what, target.aim);
    if !target.detail.is_empty() {
        let _ = writeln!(text, "     {}", target.detail);
    }
}
