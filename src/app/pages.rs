//! The pages beside the project, and the tabs that choose one.

use egui::{RichText, Ui};

use super::commands::Command;

/// What is shown beside the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Page {
    /// The run, its charts and previews.
    #[default]
    Run,
    /// What each drive and stream did when.
    Timeline,
    /// The runs of this window.
    History,
    /// The drives, their speed and their roles.
    Drives,
    /// The lab.
    Lab,
}

impl Page {
    /// Every page with its name and what it is for, in the tabs' order.
    pub const ALL: [(Self, &'static str, &'static str); 5] = [
        (Self::Run, "Charts", "What every drive does, chunk by chunk, and the layers' reconstructions"),
        (
            Self::Timeline,
            "Timeline",
            "Each drive's reads and writes and each stream's computing as bars in time",
        ),
        (Self::History, "History", "The runs of this window: what they took, to compare and export"),
        (Self::Drives, "Drives", "Every drive with its folders, how fast it is, and the roles"),
        (Self::Lab, "Lab", "The published methods against each other, on this machine"),
    ];
}

/// Shows the tabs.
pub fn tabs(ui: &mut Ui, shown: Page, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        for (page, name, hover) in Page::ALL {
            let name = RichText::new(name).size(14.5);
            if ui.selectable_label(page == shown, name).on_hover_text(hover).clicked() {
                commands.push(Command::Show(page));
            }
        }
    });
}
