//! The pages beside the project, and the tabs that choose one.

use egui::{RichText, Ui};

use super::commands::Command;

/// What is shown beside the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Page {
    /// The run, its charts and previews.
    #[default]
    Run,
    /// One reconstruction, large, with its numbers.
    Inspect,
    /// The lab.
    Lab,
}

impl Page {
    /// Every page with its name and what it is for, in the tabs' order.
    pub const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Run, "Run", "What every drive does, chunk by chunk, and the layers' reconstructions"),
        (Self::Inspect, "Inspect", "One layer's reconstruction, large, with profiles and numbers"),
        (Self::Lab, "Lab", "The published methods against each other, on this machine"),
    ];
}

/// Shows the tabs.
pub fn tabs(ui: &mut Ui, shown: Page, commands: &mut Vec<Command>) {
    ui.horizontal_wrapped(|ui| {
        for (page, name, hover) in Page::ALL {
            let name = RichText::new(name).size(14.5);
            let mut tab = ui.selectable_label(page == shown, name);
            if page == Page::Run {
                // Read aloud, it would be taken for the button that starts a run.
                tab = tab.accessible_name("Page Run");
            }
            if tab.on_hover_text(hover).clicked() {
                commands.push(Command::Show(page));
            }
        }
    });
}
