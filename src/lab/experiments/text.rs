//! A comparison as text.

use std::fmt::Write as _;

use super::super::table::section;
use super::ExperimentReport;
use crate::optics::Bytes;

/// The report as tables, with the ratios last.
#[must_use]
pub fn text(report: &ExperimentReport) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let machine = &report.machine;
    let _ = writeln!(
        text,
        "{}: gigafringe {}, {}, {} threads, {} of memory; {} rounds",
        report.experiment.name(),
        machine.gigafringe,
        machine.processor,
        machine.threads,
        Bytes(machine.memory),
        report.rounds
    );
    for (name, rates) in &report.emulated {
        let _ = writeln!(
            text,
            "emulated {name}: {rates} a drive, {}, in the ratio to this machine's transforms that the paper's had",
            rates.duplex
        );
    }
    report.sections.iter().for_each(|one| section(&mut text, one));
    for one in &report.sections {
        for series in one.series.iter().filter(|_| report.experiment == super::Experiment::Breakdown) {
            let _ = writeln!(text, "\n{}", series.name);
            for pass in &series.passes {
                let drives: Vec<_> = pass
                    .drives
                    .iter()
                    .map(|drive| format!("read {:.2} write {:.2}", drive.read_seconds, drive.write_seconds))
                    .collect();
                let _ = writeln!(
                    text,
                    "  {}: {:.2} s, computing {:.2}; by drive: {}",
                    pass.name,
                    pass.seconds,
                    pass.compute_seconds,
                    drives.join("; ")
                );
            }
        }
    }
    text += "\ntimes over the first\n";
    for ratio in &report.comparisons {
        let published =
            ratio.published.map_or(String::new(), |published| format!(", published {published:.2}"));
        let _ = writeln!(
            text,
            "  {}: {:.2} (in single rounds {:.2} to {:.2}){published}",
            ratio.what, ratio.measured, ratio.rounds[0], ratio.rounds[1]
        );
    }
    report.notes.iter().for_each(|note| {
        let _ = writeln!(text, "note: {note}");
    });
    let _ = writeln!(text, "measured in {:.0} s", report.seconds);
    text
}
