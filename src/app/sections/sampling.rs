//! What the samples can carry and what the run will need, judged, before anything is computed.

use egui::text::{LayoutJob, TextWrapping};
use egui::{Color32, RichText, Role, Sense, TextStyle, Ui, WidgetInfo, pos2, vec2};

use super::super::needs::Needs;
use super::super::text;
use super::super::theme::tokens;
use crate::project::Project;
use crate::run::{Estimate, Finding, Verdict, needs_findings, sampling_findings, time_verdict};

/// What each quantity means.
const HOVERS: [(&str, &str); 8] = [
    ("Hologram size", "Samples times pitch along x and y"),
    ("Largest angle", "The angle of the finest light the samples can hold, asin(λ/2p), along x and y"),
    ("Reach", "How far the farthest layer's light walks off sideways on its way to the hologram, at most"),
    (
        "Window fill",
        "Width of the light of one point of the farthest layer at the hologram, over the hologram's",
    ),
    ("Band kept", "Share of the light's energy that roll-off and band limit keep, if it fills the band"),
    ("Evanescent", "Share of the samples' frequencies that do not travel, because they are beyond 1/λ"),
    ("Memory", "All buffers of the run, of what the project allows"),
    ("Bytes to move", "Bytes read from and written to the drives by the hologram"),
];

/// The same of a row that is named after its drive.
const ON_DRIVE: &str = "Scratch and output that go to this drive, of what is free on it";

/// Width of a row's verdict and of its name.
const VERDICT_WIDTH: f32 = 66.0;
const NAME_WIDTH: f32 = 96.0;
const ROW_HEIGHT: f32 = 17.0;

/// Shows the rows; `fastest` is the chunk that takes least, with its seconds.
pub fn show(ui: &mut Ui, project: &Project, needs: &Needs, fastest: Option<(usize, f64)>) {
    super::section(ui, "Sampling", |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        let estimate = if let Needs::Known(estimate) = needs { Some(&**estimate) } else { None };
        for finding in findings(project, needs) {
            let hover = HOVERS.iter().find(|(of, _)| *of == finding.name).map(|hover| hover.1);
            row(ui, &finding, hover.unwrap_or(ON_DRIVE));
        }
        match estimate {
            Some(estimate) => time(ui, estimate, fastest),
            None if matches!(needs, Needs::Unknown) => {
                ui.label(RichText::new("Working out memory, bytes and time…").weak().small());
            }
            None => {}
        }
    });
}

/// One line on the whole: how many quantities are to be looked at.
pub fn summary(ui: &mut Ui, project: &Project) {
    let findings = sampling_findings(project, None);
    let count = |verdict| findings.iter().filter(|finding| finding.verdict == verdict).count();
    let (problems, doubts) = (count(Verdict::Wrong), count(Verdict::Doubtful));
    let (verdict, words) = match (problems, doubts) {
        (0, 0) => (Verdict::Fine, "Sampling: all good".to_owned()),
        (0, doubts) => (Verdict::Doubtful, format!("Sampling: {doubts} to check, see there")),
        (problems, 0) => (Verdict::Wrong, format!("Sampling: {}, see there", counted(problems))),
        (problems, doubts) => {
            (Verdict::Wrong, format!("Sampling: {} and {doubts} to check, see there", counted(problems)))
        }
    };
    let (sign, color) = sign(ui, verdict);
    ui.label(RichText::new(format!("{sign} {words}")).color(color)).on_hover_text(
        "Whether the samples can carry the layers' light; each quantity stands in the section Sampling",
    );
}

fn counted(problems: usize) -> String {
    if problems == 1 { "1 problem".into() } else { format!("{problems} problems") }
}

fn findings(project: &Project, needs: &Needs) -> Vec<Finding> {
    match needs {
        Needs::Known(estimate) => {
            let mut all = sampling_findings(project, Some(estimate.padded));
            all.extend(needs_findings(project, estimate));
            all
        }
        Needs::Unknown => sampling_findings(project, None),
        Needs::Refused(refusal) => {
            let mut all = sampling_findings(project, None);
            // A newcomer's project without layers is no problem yet, and the list of layers says so.
            if !project.layers.is_empty() {
                all.push(Finding {
                    name: "Plan".into(),
                    value: "none can run".into(),
                    verdict: Verdict::Wrong,
                    note: Some(refusal.reason.clone()),
                });
            }
            all
        }
    }
}

fn sign(ui: &Ui, verdict: Verdict) -> (&'static str, Color32) {
    let tokens = tokens(ui);
    match verdict {
        Verdict::Fine => ("✔", tokens.success),
        Verdict::Doubtful => ("⚠", tokens.warning),
        Verdict::Wrong => ("✖", tokens.error),
    }
}

fn row(ui: &mut Ui, finding: &Finding, hover: &str) {
    let Finding { name, value, verdict, note } = finding;
    let (sign, color) = sign(ui, *verdict);
    let note = note.as_ref().map(|note| text::bound(&text::sentence(note)));
    let hover = note.as_ref().map_or_else(|| hover.to_owned(), |note| format!("{hover}\n{note}"));
    let words = format!("{name}: {value}, {}", verdict.word());
    let hover = format!("{name}: {value}\n{hover}");
    line(ui, [(sign, verdict.word()), (name, value)], color, &hover, &words);
    if let Some(note) = note {
        let text = RichText::new(note).color(color).small();
        ui.horizontal(|ui| {
            ui.add_space(VERDICT_WIDTH + ui.spacing().item_spacing.x);
            ui.add(egui::Label::new(text).wrap());
        });
    }
}

/// A row: sign and word, name and value; read out as one.
fn line(ui: &mut Ui, cells: [(&str, &str); 2], color: Color32, hover: &str, words: &str) {
    let [(sign, word), (name, value)] = cells;
    let visuals = ui.visuals();
    let cells = [
        (format!("{sign} {word}"), color, VERDICT_WIDTH),
        (name.to_owned(), visuals.text_color(), NAME_WIDTH),
        (value.to_owned(), visuals.strong_text_color(), f32::INFINITY),
    ];
    let font = TextStyle::Small.resolve(ui.style());
    let (rect, whole) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::hover());
    let (mut left, space) = (rect.left(), ui.spacing().item_spacing.x);
    for (text, color, width) in cells {
        let mut job = LayoutJob::simple_singleline(text, font.clone(), color);
        job.wrap = TextWrapping::truncate_at_width(width.min(rect.right() - left));
        let galley = ui.painter().layout_job(job);
        let top = rect.center().y - 0.5 * galley.size().y;
        ui.painter().galley(pos2(left, top), galley, color);
        left += width + space;
    }
    whole.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
    whole.on_hover_text(hover);
}

fn time(ui: &mut Ui, estimate: &Estimate, fastest: Option<(usize, f64)>) {
    let Some(seconds) = estimate.seconds else { return };
    let hover = if estimate.measured {
        "The hologram's time by figures measured on this machine; previews come on top"
    } else {
        "The hologram's time by usual figures, not all measured here; previews come on top"
    };
    row(ui, &time_finding(seconds, fastest), hover);
}

fn time_finding(seconds: f64, fastest: Option<(usize, f64)>) -> Finding {
    let (mut verdict, mut note) = (Verdict::Fine, None);
    if let Some((chunk, least)) = fastest {
        verdict = time_verdict(seconds, least);
        note = (verdict != Verdict::Fine).then(|| {
            format!(
                "a chunk of {} takes {} instead; the section Tuning has all of them",
                text::lines(chunk),
                text::seconds(least)
            )
        });
    }
    Finding { name: "Time".into(), value: format!("about {}", text::seconds(seconds)), verdict, note }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_chunk_is_named_with_the_one_that_is_fast() {
        let found = time_finding(2000.0, Some((512, 40.0)));
        assert_eq!((found.verdict, text::plain(&found.value)), (Verdict::Wrong, "about 33 min 20 s".into()));
        let note = found.note.unwrap();
        assert!(text::plain(&note).starts_with("a chunk of 512 lines takes 40.0 s instead"), "{note}");
        assert_eq!(time_finding(41.0, Some((512, 40.0))).note, None);
        assert_eq!(time_finding(2000.0, None).verdict, Verdict::Fine, "nothing to compare with yet");
    }
}
