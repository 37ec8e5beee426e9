//! How far a comparison is, and how long it may still take.

use std::time::{Duration, Instant};

use egui::{ProgressBar, RichText, Spinner, Ui};

use super::super::text;
use crate::lab::{Step, Told};

/// Lines that are shown.
const LINES: usize = 8;

/// What has been told of a comparison.
#[derive(Debug, Default)]
pub struct Progress {
    lines: Vec<String>,
    /// The run that is under way, and since when.
    now: Option<(Step, Instant)>,
    /// What the runs that are done took together.
    spent: Duration,
}

impl Progress {
    /// Takes in what is told at `at`.
    pub fn hear(&mut self, told: Told<'_>, at: Instant) {
        match told {
            Told::Line(line) => self.lines.push(line.to_owned()),
            Told::Step(step) => {
                if let Some((_, since)) = &self.now {
                    self.spent += at.saturating_duration_since(*since);
                }
                self.now = Some((step.clone(), at));
            }
        }
    }

    /// Seconds that are left, if the runs to come take as long as those that are done.
    fn left(&self, at: Instant) -> Option<f64> {
        let (step, since) = self.now.as_ref().filter(|(step, _)| step.done > 0)?;
        let each = self.spent.as_secs_f64() / step.done as f64;
        let this = (each - at.saturating_duration_since(*since).as_secs_f64()).max(0.0);
        Some(this + each * step.of.saturating_sub(step.done + 1) as f64)
    }

    /// Shows it.
    pub fn show(&self, ui: &mut Ui, at: Instant) {
        if let Some((step, _)) = &self.now {
            let left = match self.left(at) {
                Some(seconds) => {
                    // The time runs down also while nothing is told.
                    ui.ctx().request_repaint_after(Duration::from_secs(1));
                    format!("about {} left", text::seconds(seconds))
                }
                None => "the time left is known after the first".into(),
            };
            let share = step.done as f32 / step.of.max(1) as f32;
            let words = format!("{} of {} runs done, {left}", step.done, step.of);
            ui.add(ProgressBar::new(share).desired_height(14.0))
                .accessible_name("Progress of the comparison");
            ui.label(words).on_hover_text(
                "Every way in every round, with those that are tried out first; the time is what the runs so far \
                 took, for each that is to come",
            );
        }
        ui.horizontal(|ui| {
            ui.add(Spinner::new());
            ui.vertical(|ui| {
                if let Some((step, _)) = &self.now {
                    let turn = match step.turn {
                        Some([round, rounds]) => format!("Round {round} of {rounds}"),
                        None => "Tried out before the rounds".into(),
                    };
                    ui.label(RichText::new(&step.stage).strong());
                    ui.label(format!("{turn}: {}", step.way));
                }
                for line in self.lines.iter().skip(self.lines.len().saturating_sub(LINES)) {
                    ui.small(line);
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_what_the_runs_so_far_took_for_each_to_come() {
        let step = |done| Step { stage: "io".into(), turn: Some([1, 2]), way: "padded".into(), done, of: 5 };
        let (mut progress, start) = (Progress::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        progress.hear(Told::Step(&step(0)), at(0));
        assert_eq!(progress.left(at(3)), None);
        // What is told between changes nothing.
        progress.hear(Told::Line("  1 of 2: padded: 4.00 s"), at(4));
        progress.hear(Told::Step(&step(1)), at(4));
        progress.hear(Told::Step(&step(2)), at(10));
        // Two took 10 s: 3 s of the third are over, two more follow.
        assert_eq!(progress.left(at(13)), Some(2.0 + 2.0 * 5.0));
        // A run that takes longer than usual leaves the others.
        assert_eq!(progress.left(at(30)), Some(10.0));
    }
}
