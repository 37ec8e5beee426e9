//! What was changed, to be undone and redone.

use std::collections::VecDeque;

use super::App;
use super::edits::Edit;
use super::fields::Field;
use crate::project::Project;

/// Steps that can be undone.
const STEPS: usize = 200;
/// Changes of one field are one step if they follow each other as closely, in seconds.
const TOGETHER: f64 = 1.0;

/// A change, and the project on its other side.
#[derive(Debug)]
struct Step {
    name: String,
    project: Project,
}

/// The steps back and forth from the project as it is.
#[derive(Debug, Default)]
pub struct Steps {
    undo: VecDeque<Step>,
    redo: Vec<Step>,
    /// When the latest step was made, as long as the same field may still extend it.
    open_since: Option<f64>,
}

impl Steps {
    /// Notes that the change called `name` was made to `before`, which has become `after`.
    ///
    /// A change that may `extend` joins the latest step if that has the same name and is not older than a second.
    pub fn record(&mut self, name: String, before: Project, after: &Project, extend: bool, now: f64) {
        if before == *after {
            return;
        }
        self.redo.clear();
        let recent = self.open_since.is_some_and(|at| now - at < TOGETHER);
        match self.undo.back() {
            Some(last) if extend && recent && last.name == name => {
                if last.project == *after {
                    self.undo.pop_back();
                }
            }
            _ => {
                if self.undo.len() == STEPS {
                    self.undo.pop_front();
                }
                self.undo.push_back(Step { name, project: before });
            }
        }
        self.open_since = (extend && !self.undo.is_empty()).then_some(now);
    }

    /// The project as it was before the latest change of `project`, and that change's name.
    pub fn undo(&mut self, project: &Project) -> Option<(Project, String)> {
        self.open_since = None;
        let Step { name, project: before } = self.undo.pop_back()?;
        self.redo.push(Step { name: name.clone(), project: project.clone() });
        Some((before, name))
    }

    /// The project as it was before `undo`, and the name of the change that is made again.
    pub fn redo(&mut self, project: &Project) -> Option<(Project, String)> {
        self.open_since = None;
        let Step { name, project: after } = self.redo.pop()?;
        self.undo.push_back(Step { name: name.clone(), project: project.clone() });
        Some((after, name))
    }

    /// The name of the change that would be undone.
    #[must_use]
    pub fn undo_name(&self) -> Option<&str> {
        self.undo.back().map(|step| step.name.as_str())
    }

    /// The name of the change that would be made again.
    #[must_use]
    pub fn redo_name(&self) -> Option<&str> {
        self.redo.last().map(|step| step.name.as_str())
    }

    /// Forgets everything, since another project was opened.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

impl App {
    /// Changes the project, as a step that can be undone.
    pub(super) fn edit(&mut self, edit: Edit) {
        if matches!(edit, Edit::RemoveLayer(_) | Edit::MoveLayer { .. }) {
            self.drafts.clear_layers();
        }
        if let Edit::Device { pitch_x, pitch_y, .. } = edit {
            self.options.pitch_linked = pitch_x == pitch_y;
            for field in [Field::Width, Field::Height, Field::PitchX, Field::PitchY] {
                self.drafts.forget(field);
            }
        }
        let (name, extend) = (edit.name(), edit.is_of_one_field());
        self.change(name, extend, |project| edit.apply(project));
    }

    /// Makes `change` to the project, as a step called `name` that can be undone.
    pub(super) fn change(&mut self, name: String, extend: bool, change: impl FnOnce(&mut Project)) {
        let before = self.project.clone();
        change(&mut self.project);
        let now = self.now();
        self.steps.record(name, before, &self.project, extend, now);
    }

    /// Takes the latest change back.
    pub(super) fn undo(&mut self) {
        if let Some((project, name)) = self.steps.undo(&self.project) {
            self.step_to(project, &format!("Undone: {name}"));
        }
    }

    /// Makes the change again that was undone last.
    pub(super) fn redo(&mut self) {
        if let Some((project, name)) = self.steps.redo(&self.project) {
            self.step_to(project, &format!("Redone: {name}"));
        }
    }

    fn step_to(&mut self, project: Project, said: &str) {
        if project.layers.len() != self.project.layers.len() {
            self.drafts.clear_layers();
        }
        self.options.pitch_linked &= project.grid.pitch_x == project.grid.pitch_y;
        self.project = project;
        self.say(super::Level::Info, said);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::blank_project;

    /// A project under edit, with a clock of its own.
    struct Desk {
        project: Project,
        steps: Steps,
    }

    impl Desk {
        fn new() -> Self {
            Self { project: blank_project(), steps: Steps::default() }
        }

        fn edit(&mut self, edit: Edit, now: f64) {
            let before = self.project.clone();
            let (name, extend) = (edit.name(), edit.is_of_one_field());
            edit.apply(&mut self.project);
            self.steps.record(name, before, &self.project, extend, now);
        }

        fn undo(&mut self) -> Option<String> {
            let (project, name) = self.steps.undo(&self.project)?;
            self.project = project;
            Some(name)
        }

        fn redo(&mut self) -> Option<String> {
            let (project, name) = self.steps.redo(&self.project)?;
            self.project = project;
            Some(name)
        }
    }

    #[test]
    fn every_state_is_passed_back_and_forth() {
        let mut desk = Desk::new();
        let edits =
            [Edit::Seed(1), Edit::AddLayer("a.png".into()), Edit::AddLayer("b.png".into()), Edit::Width(7)];
        let mut states = vec![desk.project.clone()];
        for edit in edits {
            desk.edit(edit, 0.0);
            states.push(desk.project.clone());
        }
        for state in states.iter().rev().skip(1) {
            assert!(desk.undo().is_some());
            assert_eq!(&desk.project, state);
        }
        assert_eq!(desk.undo(), None);
        for state in &states[1..] {
            assert!(desk.redo().is_some());
            assert_eq!(&desk.project, state);
        }
        assert_eq!(desk.redo(), None);
    }

    #[test]
    fn a_field_set_again_within_a_second_is_one_step() {
        let mut desk = Desk::new();
        desk.edit(Edit::Seed(1), 0.0);
        desk.edit(Edit::Seed(2), 0.9);
        desk.edit(Edit::Seed(3), 1.8);
        desk.edit(Edit::Seed(4), 3.0);
        assert_eq!(desk.undo().as_deref(), Some("seed"));
        assert_eq!(desk.project.seed, 3, "a second had passed");
        desk.undo();
        assert_eq!(desk.project.seed, 0, "the first three were one");
        // After an undo a new step is begun, however quickly.
        desk.edit(Edit::Seed(5), 3.1);
        desk.edit(Edit::Width(9), 3.2);
        desk.edit(Edit::Seed(6), 3.3);
        assert_eq!(
            [desk.undo(), desk.undo(), desk.undo()].map(|name| name.unwrap()),
            ["seed", "width", "seed"]
        );
    }

    #[test]
    fn a_change_taken_back_by_hand_leaves_no_step() {
        let mut desk = Desk::new();
        desk.edit(Edit::BandLimit(false), 0.0);
        assert_eq!(desk.undo(), None, "nothing was changed");
        desk.edit(Edit::BandLimit(true), 0.0);
        desk.edit(Edit::BandLimit(false), 0.5);
        assert_eq!(desk.undo(), None);
    }

    #[test]
    fn a_new_change_ends_what_could_be_redone() {
        let mut desk = Desk::new();
        desk.edit(Edit::Seed(1), 0.0);
        desk.undo();
        assert_eq!(desk.steps.redo_name(), Some("seed"));
        desk.edit(Edit::Width(5), 0.0);
        assert_eq!(desk.redo(), None);
        assert_eq!((desk.project.seed, desk.project.grid.width), (0, 5));
    }

    #[test]
    fn the_oldest_steps_are_given_up() {
        let mut desk = Desk::new();
        for i in 0..STEPS + 20 {
            desk.edit(Edit::Seed(i as u64 + 1), 2.0 * i as f64);
        }
        let mut steps = 0;
        while desk.undo().is_some() {
            steps += 1;
        }
        assert_eq!((steps, desk.project.seed), (STEPS, 20));
    }
}
