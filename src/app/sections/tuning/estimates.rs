//! What settings of chunk and buffers cost and bring: estimated once each, off the window's thread.

use std::sync::{Arc, Mutex, PoisonError};

use super::super::super::backend::Backend;
use crate::engine::Cancel;
use crate::methods::PlanError;
use crate::planner::METHODS;
use crate::project::{Method, Project};
use crate::run::{Estimate, RunError};
use crate::storage::PANEL;

/// Halvings of the largest chunk that are compared.
const HALVINGS: u32 = 6;

/// What a setting costs and brings.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The method that runs, as the engine names it.
    method: String,
    /// Lines of a chunk.
    pub chunk: usize,
    /// Memory in bytes.
    pub memory: u64,
    /// Seconds that are predicted.
    pub seconds: Option<f64>,
}

impl Outcome {
    /// What an estimate says of its setting.
    pub fn of(estimate: &Estimate) -> Self {
        Self {
            method: estimate.method.clone(),
            chunk: estimate.chunk,
            memory: estimate.memory,
            seconds: estimate.seconds,
        }
    }
}

/// Why a setting cannot run.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    /// The reason.
    pub reason: String,
    /// The largest chunk that fits, where the chunk is too large.
    largest: Option<usize>,
}

impl Refused {
    /// A refusal for a reason that no other chunk changes.
    pub const fn because(reason: String) -> Self {
        Self { reason, largest: None }
    }
}

impl From<RunError> for Refused {
    fn from(error: RunError) -> Self {
        let largest = match &error {
            RunError::Plan(PlanError::ChunkTooLarge { largest, .. }) => Some(*largest),
            _ => None,
        };
        Self { reason: error.to_string(), largest }
    }
}

/// What is known of a setting.
pub type Answer = Result<Outcome, Refused>;

/// The settings of a project that change how it runs, and not what it makes.
type Setting = (Method, Option<usize>, usize);

const fn setting(project: &Project) -> Setting {
    (project.method, project.chunk, project.buffers)
}

/// The project without its settings, and without what changes neither plans nor their times.
pub fn subject(project: &Project) -> Project {
    let mut subject = Project { method: Method::Auto, chunk: None, buffers: 1, seed: 0, ..project.clone() };
    subject.output.previews = false;
    for layer in &mut subject.layers {
        layer.amplitude = 1.0;
    }
    subject
}

/// The answers for settings of one project, kept until it changes or something was measured.
#[derive(Debug, Default)]
pub struct Known(Mutex<Answers>);

#[derive(Debug, Default)]
struct Answers {
    of: Option<Project>,
    /// Raised whenever earlier answers are worth nothing any more.
    generation: u64,
    all: Vec<(Setting, Answer)>,
}

impl Known {
    fn answers<R>(&self, act: impl FnOnce(&mut Answers) -> R) -> R {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Keeps the answers if they are about `subject`, and forgets them otherwise.
    pub fn be_about(&self, subject: Project) {
        self.answers(|answers| {
            if answers.of.as_ref() != Some(&subject) {
                answers.of = Some(subject);
                answers.generation += 1;
                answers.all.clear();
            }
        });
    }

    /// Forgets all answers.
    pub fn forget(&self) {
        self.answers(|answers| {
            answers.of = None;
            answers.generation += 1;
            answers.all.clear();
        });
    }

    /// What is known of the settings of `project`.
    pub fn get(&self, project: &Project) -> Option<Answer> {
        self.answers(|answers| answers.get(setting(project)))
    }

    /// Remembers an answer.
    pub fn put(&self, project: &Project, answer: Answer) {
        self.answers(|answers| answers.put(setting(project), answer));
    }
}

impl Answers {
    fn get(&self, setting: Setting) -> Option<Answer> {
        self.all.iter().find(|one| one.0 == setting).map(|one| one.1.clone())
    }

    fn put(&mut self, setting: Setting, answer: Answer) {
        if self.all.iter().all(|one| one.0 != setting) {
            self.all.push((setting, answer));
        }
    }
}

/// Asks for estimates of one project, which need not be the one that answers are kept of any more.
pub struct Asking {
    known: Arc<Known>,
    generation: u64,
    backend: Arc<dyn Backend>,
}

impl Asking {
    /// Begins to ask about the project that `known` is about.
    pub fn new(known: &Arc<Known>, backend: &Arc<dyn Backend>) -> Self {
        let generation = known.answers(|answers| answers.generation);
        Self { known: known.clone(), generation, backend: backend.clone() }
    }

    /// The answer for the settings of `project`, estimated if it is not known.
    pub fn find(&self, project: &Project) -> Answer {
        let setting = setting(project);
        let current = |answers: &Answers| answers.generation == self.generation;
        if let Some(answer) = self.known.answers(|a| a.get(setting).filter(|_| current(a))) {
            return answer;
        }
        let answer = self.backend.estimate(project).map(|e| Outcome::of(&e)).map_err(Refused::from);
        self.known.answers(|answers| {
            if current(answers) {
                answers.put(setting, answer.clone());
            }
        });
        answer
    }
}

/// What is known of other chunks.
#[derive(Debug, Default, PartialEq)]
pub struct Ladder {
    /// The largest chunk that fits in the memory.
    pub largest: usize,
    /// The chunk that is taken where none is set.
    pub automatic: Option<usize>,
    /// Chunks that can run, by size.
    pub rungs: Vec<Outcome>,
}

impl Ladder {
    /// Chunks of `project`, whose own chunk does not matter; none where `cancel` came first.
    pub fn of(asking: &Asking, project: &Project, cancel: &Cancel) -> Option<Self> {
        let longest = project.grid.width.max(project.grid.height);
        let with = |chunk| Project { chunk, ..project.clone() };
        let find = |project: &Project| (!cancel.is_cancelled()).then(|| asking.find(project));
        let Ok(automatic) = find(&with(None))? else {
            return Some(Self { largest: longest, ..Self::default() });
        };
        // Left to the planner, a chunk too large for one method would only change the method.
        let method = METHODS.into_iter().find(|method| method.to_string() == automatic.method);
        let all = Project { method: method.unwrap_or(project.method), ..with(Some(longest)) };
        let largest = match find(&all)? {
            Err(Refused { largest: Some(largest), .. }) => largest,
            _ => longest,
        };
        let mut rungs = Vec::new();
        for chunk in chunks(largest, automatic.chunk) {
            if chunk == automatic.chunk {
                rungs.push(automatic.clone());
            } else if let Ok(outcome) = find(&with(Some(chunk)))? {
                rungs.push(outcome);
            }
        }
        Some(Self { largest, automatic: Some(automatic.chunk), rungs })
    }

    /// The chunk with the least time, with its seconds.
    pub fn fastest(&self) -> Option<(usize, f64)> {
        let timed = self.rungs.iter().filter_map(|rung| Some((rung.chunk, rung.seconds?)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// The chunks that are compared: the largest halved again and again, and the automatic one.
fn chunks(largest: usize, automatic: usize) -> Vec<usize> {
    let mut all: Vec<_> = (0..=HALVINGS).map(|i| whole_panels(largest >> i)).collect();
    all.push(automatic);
    all.retain(|&chunk| chunk > 0);
    all.sort_unstable();
    all.dedup();
    all
}

/// Lines in whole panels, as far as there are some: others leave parts of blocks empty.
pub const fn whole_panels(lines: usize) -> usize {
    if lines < PANEL { lines } else { lines / PANEL * PANEL }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::app::blank_project;

    fn outcome(chunk: usize, seconds: Option<f64>) -> Outcome {
        Outcome { method: "padded".into(), chunk, memory: 1, seconds }
    }

    #[test]
    fn chunks_are_halved_in_whole_panels() {
        assert_eq!(chunks(1000, 512), [8, 24, 56, 120, 248, 496, 512, 1000]);
        assert_eq!(chunks(1024, 512), [16, 32, 64, 128, 256, 512, 1024]);
        assert_eq!(chunks(5, 5), [1, 2, 5]);
    }

    #[test]
    fn the_fastest_is_named_among_those_with_a_time() {
        let rungs = [(8, None), (16, Some(3.0)), (32, Some(2.0)), (64, Some(2.5))];
        let rungs = rungs.map(|(chunk, seconds)| outcome(chunk, seconds)).into();
        assert_eq!(Ladder { largest: 64, automatic: None, rungs }.fastest(), Some((32, 2.0)));
        assert_eq!(Ladder::default().fastest(), None);
    }

    #[test]
    fn answers_are_kept_for_each_setting_until_the_project_changes() {
        let known = Known::default();
        let with = |chunk, buffers| Project { chunk, buffers, ..blank_project() };
        known.be_about(subject(&with(None, 2)));
        known.put(&with(Some(8), 2), Ok(outcome(8, None)));
        known.be_about(subject(&with(Some(16), 3)));
        assert_eq!(known.get(&with(Some(8), 2)), Some(Ok(outcome(8, None))));
        assert_eq!(known.get(&with(Some(8), 3)), None);
        let larger = Project { memory: crate::optics::Bytes(1 << 34), ..with(None, 2) };
        known.be_about(subject(&larger));
        assert_eq!(known.get(&with(Some(8), 2)), None);
    }

    /// Says how large the chunk is, and counts.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Backend for Counting {
        fn start(
            &self,
            _: &Project,
            _: bool,
            _: Box<dyn Fn() + Send + Sync>,
        ) -> Result<crate::run::RunHandle, RunError> {
            unreachable!("nothing is run")
        }

        fn estimate(&self, project: &Project) -> Result<Estimate, RunError> {
            self.0.fetch_add(1, Ordering::Relaxed);
            let chunk = project.chunk.unwrap_or(64);
            Ok(Estimate { method: "padded".into(), chunk, ..Estimate::default() })
        }

        fn measure(&self, project: &Project) -> Result<Estimate, RunError> {
            self.estimate(project)
        }

        fn detect_drives(&self) -> Vec<crate::storage::DetectedDrive> {
            Vec::new()
        }

        fn ask(&self, _: crate::app::Ask) -> Option<Vec<std::path::PathBuf>> {
            None
        }
    }

    #[test]
    fn what_is_asked_of_a_project_that_has_changed_is_no_answer_for_the_new_one() {
        let (known, counting) = (Arc::new(Known::default()), Arc::new(Counting::default()));
        let backend: Arc<dyn Backend> = counting.clone();
        let count = || counting.0.load(Ordering::Relaxed);
        let with = |chunk| Project { chunk, ..blank_project() };
        known.be_about(subject(&with(None)));
        let asking = Asking::new(&known, &backend);
        let answer = asking.find(&with(Some(8)));
        assert_eq!(
            (asking.find(&with(Some(8))), known.get(&with(Some(8))), count()),
            (answer.clone(), Some(answer), 1)
        );
        known.forget();
        assert!(asking.find(&with(Some(8))).is_ok() && count() == 2);
        assert_eq!(known.get(&with(Some(8))), None);
    }

    #[test]
    fn a_ladder_that_is_not_wanted_any_more_asks_for_nothing() {
        let (known, counting) = (Arc::new(Known::default()), Arc::new(Counting::default()));
        let backend: Arc<dyn Backend> = counting.clone();
        let cancel = Cancel::default();
        let ladder = |cancel: &Cancel| Ladder::of(&Asking::new(&known, &backend), &blank_project(), cancel);
        let whole = ladder(&cancel).unwrap();
        assert_eq!((whole.largest, whole.automatic, whole.rungs.len()), (2048, Some(64), 7));
        // The automatic chunk and all chunks but that one; the largest chunk by the method's name once more.
        assert_eq!(counting.0.load(Ordering::Relaxed), 8);
        cancel.cancel();
        assert_eq!(ladder(&cancel), None);
        assert_eq!(counting.0.load(Ordering::Relaxed), 8);
    }
}
