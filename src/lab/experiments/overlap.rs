//! What overlap gained, in words and as timelines one over the other.

use std::fmt::Write as _;

use serde_json::Value;

use super::super::report::Section;
use crate::engine::{ChunkEvent, Kind, Track};

/// Points.
const WIDTH: f64 = 760.0;
const NAME: f64 = 140.0;
const ROW: f64 = 18.0;
/// Marks on the time's axis.
const MARKS: u32 = 5;

/// How much faster overlap made a job, and how much drives and arithmetic leave room for: with perfect overlap the
/// longer of the two is all that is left.
pub fn words(section: &Section) -> Option<String> {
    let median = |name: usize, out| section.series.iter().filter(|s| s.left_out == out).nth(name);
    let [overlapped, drives, computing] =
        [None, Some("compute"), Some("io")].map(|out| median(0, out).map(|series| series.median));
    let serial = median(1, None)?.median;
    let (overlapped, drives, computing) = (overlapped?, drives?, computing?);
    let (longer, which) =
        if drives >= computing { (drives, "the drives") } else { (computing, "the arithmetic") };
    Some(format!(
        "overlap: {serial:.2} s one after another, {overlapped:.2} s at the same time: {:.2} times as fast; drives \
         alone take {drives:.2} s and computing alone {computing:.2} s, so {which} would allow up to {:.2}",
        serial / overlapped,
        serial / longer
    ))
}

/// The timelines of a section as one picture, all on one scale; nothing if none were kept.
pub fn timelines(series: &[Value]) -> String {
    let kept = series.iter().filter_map(|series| {
        let events: Vec<ChunkEvent> = serde_json::from_value(series["timeline"].clone()).ok()?;
        (!events.is_empty() && series["left_out"].is_null())
            .then(|| (super::html::text(&series["name"]), events))
    });
    let kept: Vec<_> = kept.collect();
    let until = kept.iter().flat_map(|(_, events)| events).map(|event| event.end).fold(1e-9, f64::max);
    let mut drawn = String::new();
    let mut top = 0.0;
    for (name, events) in &kept {
        let _ = write!(
            drawn,
            "<text x=\"0\" y=\"{:.0}\" style=\"font-weight:bold\">{}</text>",
            top + 13.0,
            super::html::escape(name)
        );
        top += ROW;
        for track in Track::all(events) {
            let _ = write!(drawn, "<text x=\"0\" y=\"{:.0}\">{}</text>", top + 13.0, track.name());
            let of_track = || events.iter().filter(|event| Track::of(event) == Some(track));
            for kind in [Kind::Read, Kind::Compute, Kind::Write] {
                let (color, from, height) = look(kind);
                for (start, end) in joined(of_track().filter(|e| e.kind == kind), until / WIDTH) {
                    let _ = write!(
                        drawn,
                        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{height}\" fill=\"{color}\"/>",
                        NAME + start / until * WIDTH,
                        top + 1.0 + from,
                        ((end - start) / until * WIDTH).max(0.4)
                    );
                }
            }
            top += ROW;
        }
        top += ROW / 2.0;
    }
    if kept.is_empty() {
        return String::new();
    }
    for mark in 0..=MARKS {
        let share = f64::from(mark) / f64::from(MARKS);
        let x = NAME + share * WIDTH;
        let _ = write!(
            drawn,
            "<line x1=\"{x:.0}\" x2=\"{x:.0}\" y1=\"0\" y2=\"{top:.0}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.0}\" y=\"{:.0}\" text-anchor=\"middle\">{:.2} s</text>",
            top + 13.0,
            share * until
        );
    }
    format!(
        "<h4>When each did what: <span style=\"color:{}\">■</span> reading, <span style=\"color:{}\">■</span> \
         writing, <span style=\"color:{}\">■</span> computing</h4>\n\
         <svg width=\"{:.0}\" height=\"{:.0}\">{drawn}</svg>\n",
        look(Kind::Read).0,
        look(Kind::Write).0,
        look(Kind::Compute).0,
        NAME + WIDTH + 40.0,
        top + ROW
    )
}

/// Colour, distance from a row's top, and height: a drive reads in the upper half and writes in the lower.
const fn look(kind: Kind) -> (&'static str, f64, f64) {
    match kind {
        Kind::Read => ("#3b96d2", 0.0, 7.5),
        Kind::Write => ("#e08a1e", 8.0, 7.5),
        Kind::Compute | Kind::Wait => ("#00a078", 0.0, 15.5),
    }
}

/// Stretches of time in order, those closer than `apart` joined, so that a picture stays small.
fn joined<'e>(events: impl Iterator<Item = &'e ChunkEvent>, apart: f64) -> Vec<(f64, f64)> {
    let mut times: Vec<_> = events.map(|event| (event.start, event.end)).collect();
    times.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut all: Vec<(f64, f64)> = Vec::new();
    for (start, end) in times {
        match all.last_mut() {
            Some(last) if start <= last.1 + apart / 2.0 => last.1 = last.1.max(end),
            _ => all.push((start, end)),
        }
    }
    all
}
