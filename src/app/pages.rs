//! The pages beside the project, and the tabs that choose one.

use egui::{Button, RichText, Ui};

use super::actions::{Action, in_words};
use super::commands::Command;

/// What is shown beside the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Page {
    /// The run, its charts and previews.
    #[default]
    Run,
    /// The layers' depths, seen from the side.
    Scene,
    /// The drives, their speed and their roles.
    Drives,
    /// What each drive and stream did when.
    Timeline,
    /// The runs that have ended.
    History,
    /// One reconstruction, large, with its numbers.
    Inspect,
    /// The lab.
    Lab,
}

impl Page {
    /// Every page with its name and what it is for, in the tabs' order.
    pub const ALL: [(Self, &'static str, &'static str); 7] = [
        (Self::Run, "Charts", "What every drive does, chunk by chunk, and the layers' reconstructions"),
        (Self::Scene, "Scene", "The layers at their depths from the side, and how far their light spreads"),
        (Self::Drives, "Drives", "Every drive with its folders, how fast it is, and the roles"),
        (
            Self::Timeline,
            "Timeline",
            "Each drive's reads and writes and each stream's computing as bars in time",
        ),
        (Self::History, "History", "Every run that has ended: what it took, to compare and export"),
        (Self::Inspect, "Inspect", "One layer's reconstruction, large, with profiles and numbers"),
        (Self::Lab, "Lab", "The published methods against each other, on this machine"),
    ];
}

impl Page {
    /// The page of a name, as its tab has it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|page| page.1.eq_ignore_ascii_case(name)).map(|page| page.0)
    }
}

/// Shows the tabs, and what hides the project beside them or shows it again.
pub fn tabs(ui: &mut Ui, shown: Page, project_hidden: bool, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        let (sign, name) =
            if project_hidden { ("⏵", "Show the project") } else { ("⏴", "Hide the project") };
        let keys = Action::Project.keys().first().map(|&keys| in_words(ui.ctx(), keys));
        let fold = ui.add(Button::new(sign).frame(false)).accessible_name(name);
        let (_, about) = Action::Project.words();
        if fold.on_hover_text(format!("{name}: {about} ({})", keys.unwrap_or_default())).clicked() {
            commands.push(Command::ShowProject(project_hidden));
        }
        for (page, name, hover) in Page::ALL {
            let name = RichText::new(name).size(14.5);
            let hover = match Action::Show(page).keys().first() {
                Some(keys) => format!("{hover} ({})", in_words(ui.ctx(), *keys)),
                None => hover.into(),
            };
            let tab = ui.selectable_label(page == shown, name);
            if tab.on_hover_text(hover).clicked() {
                commands.push(Command::Show(page));
            }
        }
    });
}
