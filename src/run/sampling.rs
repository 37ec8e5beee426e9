//! What a project's samples can carry and what it needs, judged: what is fine, what to look at, what is wrong.

use super::Estimate;
use crate::methods::{fused, stepwise};
use crate::optics::{Bytes, Evanescent, Sampled, Sampling};
use crate::project::{Layering, Project, validate_grid, validate_light};

/// How a quantity is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// As it should be.
    Fine,
    /// Something is lost; the user should know.
    Doubtful,
    /// The hologram will not show what its layers show, or the run cannot end well.
    Wrong,
}

impl Verdict {
    /// One word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Fine => "good",
            Self::Doubtful => "check",
            Self::Wrong => "problem",
        }
    }
}

/// One quantity with its verdict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is, for example `Window fill`.
    pub name: String,
    /// Its value with its unit.
    pub value: String,
    /// How it is judged.
    pub verdict: Verdict,
    /// Why, and what to change.
    pub note: Option<String>,
}

impl Finding {
    fn new(name: impl Into<String>, value: impl Into<String>, judged: Option<(Verdict, String)>) -> Self {
        let (verdict, note) = judged.map_or((Verdict::Fine, None), |(verdict, note)| (verdict, Some(note)));
        Self { name: name.into(), value: value.into(), verdict, note }
    }
}

/// How many times the least possible time is a reason to look, and how many are far too many.
const TIMES: [f64; 2] = [1.5, 5.0];
/// The least share of the band that is no reason to look, and that is no loss of most of it.
const BAND_KEPT: [f64; 2] = [0.9, 0.5];
/// The widths of one point's light, in planes, from which some and from which most of it is lost.
const FILL: [f64; 2] = [1.0, 4.0];
/// The share of a drive's free space from which it is nearly full.
const NEARLY_FULL: f64 = 0.9;

/// What the samples of `project` can carry, with planes padded to `padded` samples `[y, x]` (twice their
/// own if that is not known yet).
#[must_use]
pub fn sampling(project: &Project, padded: Option<[usize; 2]>) -> Sampling {
    let grid = project.grid;
    let distances: Vec<_> = project.enabled_layers().map(|(_, layer)| layer.distance.in_metres()).collect();
    let chains = match project.layering {
        Layering::Stepwise => stepwise(&distances),
        Layering::Fused => fused(&distances),
    };
    let steps = chains.iter().flatten().flat_map(|step| &step.waves);
    let longest = |distances: &mut dyn Iterator<Item = f64>| distances.map(f64::abs).fold(0.0, f64::max);
    let samples = [grid.height, grid.width];
    Sampling::of(&Sampled {
        samples,
        pitch: [grid.pitch_y, grid.pitch_x].map(crate::optics::Length::in_metres),
        wavelength: project.wavelength.in_metres(),
        farthest: longest(&mut distances.iter().copied()),
        longest: longest(&mut steps.map(|wave| wave.distance)),
        padded: padded.filter(|p| p[0].min(p[1]) > 0).unwrap_or(samples.map(|n| 2 * n)),
        band_limit: project.band_limit,
        rolloff: project.rolloff.unwrap_or(project.method.rolloff()),
    })
}

/// [`sampling`], judged.
#[must_use]
pub fn sampling_findings(project: &Project, padded: Option<[usize; 2]>) -> Vec<Finding> {
    let sound = validate_grid(&project.grid, "grid.")
        .and_then(|()| validate_light(project.wavelength, project.rolloff.unwrap_or_default()));
    if let Err(error) = sound {
        return vec![Finding::new("Optics", "cannot be computed", Some((Verdict::Wrong, error.to_string())))];
    }
    let found = sampling(project, padded);
    vec![
        Finding::new("Hologram size", size(&found), None),
        angle(project, &found),
        reach(project, &found),
        fill(&found),
        band(project, &found),
        evanescent(project, &found),
    ]
}

fn size(found: &Sampling) -> String {
    let [y, x] = found.size.map(length);
    format!("{x} × {y}")
}

fn angle(project: &Project, found: &Sampling) -> Finding {
    let beyond = found.angle.iter().any(|&angle| angle >= 90.0);
    let half = length(0.5 * project.wavelength.in_metres());
    Finding::new(
        "Largest angle",
        both(found.angle, |angle| format!("{}°", digits(angle))),
        beyond.then(|| {
            let note =
                format!("the pitch is below half a wavelength, which light cannot use; {half} is enough");
            (Verdict::Doubtful, note)
        }),
    )
}

fn reach(project: &Project, found: &Sampling) -> Finding {
    let unlimited = found.reach.iter().any(|reach| reach.is_infinite());
    let beyond = found.shift.iter().any(|&shift| shift >= 1.0);
    let judged = match (unlimited, beyond, project.band_limit) {
        (true, ..) => Some((
            Verdict::Doubtful,
            format!(
                "light of the finest frequencies runs along the plane; a pitch above {} has none such",
                length(project.wavelength.in_metres() / 2f64.sqrt())
            ),
        )),
        (false, true, false) => Some((
            Verdict::Wrong,
            "light goes farther than the plane is wide and comes back from its other side; set the band limit, \
             bring the layers nearer, or use more samples"
                .into(),
        )),
        (false, true, true) => Some((
            Verdict::Doubtful,
            "light would go farther than the plane is wide; the band limit removes it. Nearer layers or more \
             samples keep it"
                .into(),
        )),
        (false, false, _) => None,
    };
    Finding::new("Reach", both(found.reach, length), judged)
}

fn fill(found: &Sampling) -> Finding {
    let most = found.fill[0].max(found.fill[1]);
    let remedy = "bring the layers nearer, use more samples, or a larger pitch";
    let judged = match most {
        // Said of the reach already; the light beyond the window is little.
        _ if most.is_infinite() => {
            Some((Verdict::Doubtful, format!("some light leaves the window sideways; {remedy}")))
        }
        _ if most > FILL[1] => Some((
            Verdict::Wrong,
            format!("most light of a point misses the hologram, which blurs the layers; {remedy}"),
        )),
        _ if most > FILL[0] => Some((
            Verdict::Doubtful,
            format!("the light of a point is wider than the hologram, so that some is lost; {remedy}"),
        )),
        _ => None,
    };
    Finding::new("Window fill", both(found.fill, percent), judged)
}

fn band(project: &Project, found: &Sampling) -> Finding {
    let kept = found.band_kept;
    let rolloff = project.rolloff.unwrap_or(project.method.rolloff());
    let verdict = match kept {
        _ if kept >= BAND_KEPT[0] => None,
        _ if kept >= BAND_KEPT[1] => Some(Verdict::Doubtful),
        _ => Some(Verdict::Wrong),
    };
    let remedy = match (project.band_limit, rolloff > 0.0) {
        (true, true) => {
            "set a smaller roll-off; nearer layers or more samples leave more within the band limit"
        }
        (true, false) => "the band limit removes the rest: bring the layers nearer, or use more samples",
        (false, _) => "the roll-off removes the rest; set a smaller one",
    };
    Finding::new("Band kept", percent(kept), verdict.map(|verdict| (verdict, remedy.into())))
}

fn evanescent(project: &Project, found: &Sampling) -> Finding {
    let share = found.evanescent;
    let fate = match project.evanescent {
        Evanescent::Decay => "decay",
        Evanescent::Drop => "are set to zero",
    };
    let judged = (share > 0.0).then(|| {
        let pitch = length(project.wavelength.in_metres() / 2f64.sqrt());
        let note =
            format!("frequencies beyond 1/λ {fate} instead of travelling; a pitch above {pitch} has none");
        (if share > 0.5 { Verdict::Wrong } else { Verdict::Doubtful }, note)
    });
    Finding::new("Evanescent", percent(share), judged)
}

/// What a project needs by its estimate, judged.
#[must_use]
pub fn needs_findings(project: &Project, estimate: &Estimate) -> Vec<Finding> {
    let mut findings = vec![Finding::new(
        "Memory",
        format!("{} of {}", bytes(estimate.memory), bytes(project.memory.0)),
        (estimate.memory > project.memory.0)
            .then(|| (Verdict::Wrong, "more than the project allows; raise memory".into())),
    )];
    for drive in &estimate.drives {
        let needed = drive.scratch_bytes + drive.output_bytes;
        if needed == 0 {
            continue;
        }
        let free = drive.free_bytes;
        let (value, judged) = match free {
            None => (bytes(needed), None),
            Some(free) => {
                let judged = match needed as f64 / (free as f64).max(1.0) {
                    full if full > 1.0 => Some(Verdict::Wrong),
                    full if full > NEARLY_FULL => Some(Verdict::Doubtful),
                    _ => None,
                };
                (format!("{} of {} free", bytes(needed), bytes(free)), judged)
            }
        };
        let remedy = "make room, give its roles to another drive, or choose a plan with less scratch";
        findings.push(Finding::new(
            if drive.path == "." { "Working folder".into() } else { format!("Space on {}", drive.path) },
            value,
            judged.map(|verdict| (verdict, remedy.into())),
        ));
    }
    findings.push(Finding::new("Bytes to move", bytes(estimate.bytes_moved), None));
    findings
}

/// How a time is judged where another chunk would take `least`.
#[must_use]
pub fn time_verdict(seconds: f64, least: f64) -> Verdict {
    match seconds / least.max(f64::MIN_POSITIVE) {
        times if times > TIMES[1] => Verdict::Wrong,
        times if times > TIMES[0] => Verdict::Doubtful,
        _ => Verdict::Fine,
    }
}

/// A pair `[y, x]` as x × y, or one where they are shown alike.
fn both(pair: [f64; 2], shown: impl Fn(f64) -> String) -> String {
    let [y, x] = pair.map(shown);
    if x == y { x } else { format!("{x} × {y}") }
}

/// Three digits.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 || size == 0.0 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// A length with three digits.
fn length(metres: f64) -> String {
    let (scale, unit) = match metres.abs() {
        _ if metres.is_infinite() => return "without end".into(),
        size if size >= 0.9995 => (1.0, "m"),
        size if size >= 0.9995e-3 => (1e3, "mm"),
        size if size >= 0.9995e-6 => (1e6, "µm"),
        _ => (1e9, "nm"),
    };
    format!("{} {unit}", digits(scale * metres))
}

fn percent(share: f64) -> String {
    match share {
        _ if share.is_infinite() => "without end".into(),
        _ if share > 0.0 && share < 5e-5 => "below 0.01 %".into(),
        _ => format!("{} %", digits(100.0 * share)),
    }
}

fn bytes(bytes: u64) -> String {
    let text = Bytes(bytes).to_string();
    let unit = text.find(char::is_alphabetic).unwrap_or(text.len());
    format!("{} {}", &text[..unit], &text[unit..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optics::Length;
    use crate::project::Layer;

    /// 1024 × 512 samples of 4 µm, 532 nm, layers at 3 and 5 mm.
    fn project(change: impl FnOnce(&mut Project)) -> Project {
        let mut project: Project = serde_json::from_value(serde_json::json!({
            "grid": { "width": 1024, "height": 512, "pitch": "4um" },
            "wavelength": "532nm",
            "layers": [{ "image": "a", "distance": "3mm" }, { "image": "b", "distance": "5mm" }],
            "output": { "path": "out.npy" },
        }))
        .unwrap();
        change(&mut project);
        project
    }

    fn verdict(project: &Project, name: &str) -> Verdict {
        let findings = sampling_findings(project, None);
        findings.iter().find(|finding| finding.name == name).unwrap().verdict
    }

    #[test]
    fn a_sound_project_has_nothing_to_say() {
        let findings = sampling_findings(&project(|_| {}), None);
        assert!(findings.iter().all(|f| f.verdict == Verdict::Fine && f.note.is_none()), "{findings:#?}");
        let value = |name: &str| findings.iter().find(|f| f.name == name).unwrap().value.clone();
        assert_eq!(value("Hologram size"), "4.10 mm × 2.05 mm");
        // sin θ = 0.0665.
        assert_eq!(value("Largest angle"), "3.81°");
        // 5 mm · 0.0665/sqrt(1 − 2·0.0665²) = 333.98 µm; two of them in 4.096 and 2.048 mm.
        assert_eq!(value("Reach"), "334 µm");
        assert_eq!(value("Window fill"), "16.3 % × 32.6 %");
        // The automatic method's roll-off of 2 %: (1 − 5·0.02/8)².
        assert_eq!(value("Band kept"), "97.5 %");
        assert_eq!(value("Evanescent"), "0 %");
    }

    #[test]
    fn a_disabled_layer_is_not_looked_at_and_steps_are_those_of_the_layering() {
        let far = project(|p| p.layers.push(Layer::new("c", Length::metres(0.4))));
        assert_eq!(verdict(&far, "Window fill"), Verdict::Wrong);
        let off = project(|p| {
            p.layers.push(Layer { enabled: false, ..Layer::new("c", Length::metres(0.4)) });
        });
        assert_eq!(sampling(&off, None), sampling(&project(|_| {}), None));
        let shift = |layering| sampling(&project(|p| p.layering = layering), None).shift[1];
        assert!((shift(Layering::Fused) / shift(Layering::Stepwise) - 5.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn light_that_comes_back_from_the_other_side_is_a_problem_unless_the_band_is_limited() {
        let far = |limit: bool| {
            project(|p| {
                p.layers.push(Layer::new("c", Length::metres(0.1)));
                p.band_limit = limit;
            })
        };
        assert_eq!(verdict(&far(false), "Reach"), Verdict::Wrong);
        assert_eq!(verdict(&far(true), "Reach"), Verdict::Doubtful);
        assert_eq!(verdict(&far(false), "Band kept"), Verdict::Fine);
        assert_eq!(verdict(&far(true), "Band kept"), Verdict::Wrong);
    }

    #[test]
    fn a_pitch_too_fine_for_light_is_said() {
        let pitch = |metres: f64| project(|p| [p.grid.pitch_x, p.grid.pitch_y] = [Length::metres(metres); 2]);
        assert_eq!(verdict(&pitch(0.38e-6), "Evanescent"), Verdict::Fine);
        assert_eq!(verdict(&pitch(0.36e-6), "Evanescent"), Verdict::Doubtful);
        assert_eq!(verdict(&pitch(0.1e-6), "Evanescent"), Verdict::Wrong);
        assert_eq!(verdict(&pitch(0.25e-6), "Largest angle"), Verdict::Doubtful);
        let unsound = sampling_findings(&pitch(0.0), None);
        assert!(unsound.len() == 1 && unsound[0].note.as_ref().unwrap().contains("grid.pitch_x"));
    }

    #[test]
    fn a_chunk_that_takes_much_longer_than_another_is_no_good() {
        for (seconds, expected) in [
            (40.0, Verdict::Fine),
            (59.0, Verdict::Fine),
            (61.0, Verdict::Doubtful),
            (199.0, Verdict::Doubtful),
            (201.0, Verdict::Wrong),
            (2000.0, Verdict::Wrong),
            (39.0, Verdict::Fine),
        ] {
            assert_eq!(time_verdict(seconds, 40.0), expected, "{seconds}");
        }
        assert_eq!(time_verdict(0.0, 0.0), Verdict::Fine);
    }

    #[test]
    fn a_drive_without_room_is_a_problem() {
        let drive = |free| super::super::DriveEstimate {
            path: "/fast".into(),
            scratch_bytes: 3 << 30,
            output_bytes: 1 << 30,
            free_bytes: free,
        };
        for (free, expected) in [
            (Some(3 << 30), Verdict::Wrong),
            (Some(4 << 30), Verdict::Doubtful),
            (Some(5 << 30), Verdict::Fine),
            (None, Verdict::Fine),
        ] {
            let estimate = Estimate { drives: vec![drive(free)], ..Estimate::default() };
            let findings = needs_findings(&project(|_| {}), &estimate);
            let finding = findings.iter().find(|f| f.name == "Space on /fast").unwrap();
            assert_eq!((finding.verdict, finding.note.is_some()), (expected, expected != Verdict::Fine));
            assert!(finding.value.starts_with("4 GiB"), "{}", finding.value);
        }
    }
}
