//! The window of keyboard shortcuts and terms.

use egui::{Align, Id, LayerId, Layout, Modal, RichText, ScrollArea, TextEdit, Ui, vec2};

use super::actions::{Action, Group, Item, in_words};
use super::terms;
use super::theme::{GAP, SPACE};

/// Width of the keys' column.
const KEYS_WIDTH: f32 = 190.0;

/// The window's size, where there is room.
const SIZE: egui::Vec2 = vec2(620.0, 560.0);

/// What the window is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    /// Every command that has a shortcut.
    Shortcuts,
    /// Every term in one line.
    Terms,
}

/// The layer that the window is drawn on.
#[must_use]
pub fn layer() -> LayerId {
    Modal::default_area(Id::unique("help")).layer()
}

/// The window, open or not.
#[derive(Debug, Default)]
pub struct Help {
    topic: Option<Topic>,
    search: String,
}

impl Help {
    /// Opens the window on a topic; none closes it.
    pub fn show(&mut self, topic: Option<Topic>) {
        self.topic = topic;
    }

    /// Whether it is open.
    pub const fn is_open(&self) -> bool {
        self.topic.is_some()
    }

    /// Draws the window over everything else if it is open; Escape closes it, whatever has the keyboard.
    pub fn ui(&mut self, ui: &Ui, items: &[(Action, Item)]) {
        let Some(mut topic) = self.topic else { return };
        let room = ui.ctx().content_rect().size() - vec2(60.0, 60.0);
        let mut close = false;
        let response = Modal::new(Id::unique("help")).show(ui.ctx(), |ui| {
            ui.set_min_size(SIZE.min(room));
            ui.set_max_size(SIZE.min(room));
            ui.horizontal(|ui| {
                ui.heading("Help");
                for (one, name, hover) in [
                    (Topic::Shortcuts, "Keyboard shortcuts", "Every command that has a shortcut"),
                    (Topic::Terms, "Terms", "Each term of the window in one line"),
                ] {
                    ui.selectable_value(&mut topic, one, name).on_hover_text(hover);
                }
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    let button = ui.button("×").accessible_name("Close the help");
                    close = button.on_hover_text("Close the help (Escape)").clicked();
                });
            });
            ui.separator();
            match topic {
                Topic::Shortcuts => shortcuts(ui, items),
                Topic::Terms => self.terms(ui),
            }
        });
        self.topic = (!close && !response.should_close()).then_some(topic);
    }

    fn terms(&mut self, ui: &mut Ui) {
        ui.add(
            TextEdit::singleline(&mut self.search)
                .id(Id::unique("terms search"))
                .desired_width(f32::INFINITY)
                .hint_text("Search terms"),
        )
        .accessible_name("Search terms");
        ui.add_space(SPACE);
        let search = self.search.trim().to_lowercase();
        let fits = |term: &terms::Term| {
            [term.name, term.line].iter().any(|text| text.to_lowercase().contains(&search))
        };
        let mut any = false;
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            for (heading, terms) in terms::all() {
                let terms: Vec<_> = terms.into_iter().filter(fits).collect();
                if terms.is_empty() {
                    continue;
                }
                any = true;
                ui.label(RichText::new(heading).strong().size(15.0));
                for term in terms {
                    ui.label(RichText::new(term.name).strong());
                    ui.label(term.line);
                    ui.add_space(SPACE / 2.0);
                }
                ui.add_space(GAP);
            }
            if !any {
                ui.label("No term has these words");
            }
        });
    }
}

fn shortcuts(ui: &mut Ui, items: &[(Action, Item)]) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        for (group, heading) in Group::ALL {
            ui.label(RichText::new(heading).strong().size(15.0));
            let listed = items.iter().filter(|(action, item)| action.group() == group && !item.keys.is_empty());
            for (action, item) in listed {
                ui.horizontal(|ui| {
                    let keys: Vec<_> = item.keys.iter().map(|keys| in_words(ui.ctx(), *keys)).collect();
                    ui.allocate_ui_with_layout(
                        egui::vec2(KEYS_WIDTH, 18.0),
                        egui::Layout::left_to_right(egui::Align::Center),
                        |ui| {
                            ui.set_min_width(KEYS_WIDTH);
                            ui.label(RichText::new(keys.join("  or  ")).monospace());
                        },
                    );
                    let name = if let Action::Show(_) = action { &item.name } else { action.words().0 };
                    ui.label(RichText::new(name.trim_end_matches('…')).strong()).on_hover_text(&item.about);
                    ui.add(egui::Label::new(RichText::new(&item.about).weak()).truncate());
                });
            }
            ui.add_space(GAP);
        }
        ui.label(
            "While a text field is being edited, Undo and Redo are the field's own, and Ctrl+K stays with it.",
        );
    });
}
