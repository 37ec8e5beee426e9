//! A comparison's runs, whose events were kept, as if they had run in the window.

use super::super::run_view::RunView;
use crate::engine::{Event, PassInfo};
use crate::lab::{Section, Series};

/// The runs of a section whose events were kept, by name.
pub fn replayed(section: &Section) -> Vec<(String, RunView)> {
    let kept =
        section.series.iter().filter(|series| !series.timeline.is_empty() && series.left_out.is_none());
    kept.map(|series| (series.name.clone(), replay(series))).collect()
}

fn replay(series: &Series) -> RunView {
    let drives = series.timeline.iter().filter_map(|event| event.drive).max().map_or(0, |last| last + 1);
    let pass = |name: &str| PassInfo { name: name.into(), streams: Vec::new(), chunks: 0, bytes: 0 };
    let mut view = RunView::starting(0.0);
    let started = Event::JobStarted {
        name: series.name.clone(),
        job: 0,
        jobs: 1,
        method: series.method.to_string(),
        drives: (1..=drives).map(|drive| format!("drive {drive}")).collect(),
        passes: series.passes.iter().map(|report| pass(&report.name)).collect(),
        predicted: None,
        chunk: series.chunk,
        buffers: series.buffers,
        memory: series.memory_planned,
    };
    view.apply(started, 0.0);
    for index in 0..series.passes.len() {
        let of_pass = series.timeline.iter().filter(|event| event.pass == index);
        let at = of_pass.map(|event| event.start).fold(f64::INFINITY, f64::min);
        if at.is_finite() {
            view.apply(Event::PassStarted { pass: index, at }, 0.0);
        }
    }
    for event in &series.timeline {
        view.apply(Event::Chunk(event.clone()), 0.0);
    }
    view
}
