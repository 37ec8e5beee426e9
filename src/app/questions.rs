//! Questions that are asked before something is lost.

use std::path::PathBuf;

use egui::{Id, Modal, Ui};

use super::commands::Command;
use super::inspector::ExportTo;
use super::theme::GAP;

/// What the user is asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// The window was to be closed while a run is under way.
    CloseDuringRun,
    /// The command would lose unsaved changes.
    Unsaved(Command),
    /// The file exists.
    Replace(PathBuf),
    /// What is exported would replace the file.
    ReplaceExport(ExportTo),
    /// A run would replace the file.
    Overwrite(PathBuf),
    /// A window that ended early has left unsaved changes of a project.
    Recover {
        /// The project's name.
        name: String,
        /// The time of day.
        when: String,
    },
}

/// Shows the question over everything else.
pub fn show(ui: &Ui, question: &Question, commands: &mut Vec<Command>) {
    let response = Modal::new(Id::unique("question")).show(ui.ctx(), |ui| {
        ui.set_max_width(420.0);
        let (title, text, answers) = wording(question);
        ui.heading(title);
        ui.add_space(GAP / 2.0);
        ui.label(text);
        ui.add_space(GAP);
        ui.horizontal(|ui| {
            for (label, command) in answers {
                if ui.button(label).clicked() {
                    commands.push(command);
                }
            }
        });
    });
    if response.should_close() {
        commands.push(Command::DismissQuestion);
    }
}

fn wording(question: &Question) -> (&'static str, String, Vec<(&'static str, Command)>) {
    match question {
        Question::CloseDuringRun => (
            "A run is under way",
            "Closing the window stops it. A hologram that is already complete is kept; the rest is lost."
                .into(),
            vec![("Keep running", Command::DismissQuestion), ("Stop and close", Command::StopAndClose)],
        ),
        Question::Unsaved(next) => (
            "The project has unsaved changes",
            "Save them to the project file, or go on without them?".into(),
            vec![
                ("Save", Command::SaveThen(Box::new(next.clone()))),
                ("Discard changes", Command::Discard(Box::new(next.clone()))),
                ("Back", Command::DismissQuestion),
            ],
        ),
        Question::Replace(path) => (
            "The file exists",
            format!("Replace {}?", path.display()),
            vec![("Replace", Command::Replace(path.clone())), ("Back", Command::DismissQuestion)],
        ),
        Question::ReplaceExport(to) => (
            "The file exists",
            format!("Replace {}?", to.path.display()),
            vec![
                ("Replace", Command::Export(ExportTo { replace: true, ..to.clone() })),
                ("Back", Command::DismissQuestion),
            ],
        ),
        Question::Overwrite(path) => (
            "The output exists",
            format!("{} was made before. Run again and overwrite it, and its previews?", path.display()),
            vec![("Overwrite and run", Command::RunOver), ("Back", Command::DismissQuestion)],
        ),
        Question::Recover { name, when } => (
            "Gigafringe ended with unsaved changes",
            format!(
                "Recover unsaved changes of project {name} from {when}? The project's file is not touched."
            ),
            vec![
                ("Recover", Command::Recover),
                ("Discard", Command::DiscardFound),
                ("Ask later", Command::DismissQuestion),
            ],
        ),
    }
}
