//! The command palette: everything that can be asked for, found by its name.

use egui::{Align2, FontId, Id, Key, Modal, Modifiers, Rect, ScrollArea, Sense, TextEdit, TextStyle, Ui};
use egui::{WidgetInfo, accesskit::Role, pos2, vec2};

use super::actions::{self, Item};
use super::commands::Command;
use super::theme::{SPACE, tokens};

/// Width of the palette.
const WIDTH: f32 = 560.0;
/// Space above it.
const TOP: f32 = 90.0;
/// Height of a command's two lines.
const ROW_HEIGHT: f32 = 40.0;
/// The most that the list takes of the window's height.
const LIST_HEIGHT: f32 = 440.0;

/// The palette, while it is open.
#[derive(Debug, Default)]
pub struct Palette {
    query: String,
    selected: usize,
    /// Whether the search field has been given the keyboard.
    begun: bool,
}

/// Shows the palette over everything else; `items` are all commands in their usual order.
pub fn show(ui: &Ui, palette: &mut Palette, items: Vec<Item>, commands: &mut Vec<Command>) {
    let mut close = false;
    // Its top stays where it is, however much is found.
    let place = Modal::default_area(Id::unique("palette")).anchor(Align2::CENTER_TOP, vec2(0.0, TOP));
    let response = Modal::new(Id::unique("palette")).area(place).show(ui.ctx(), |ui| {
        let width = WIDTH.min(ui.ctx().content_rect().width() - 60.0);
        ui.set_width(width);
        // Before the field, which would take them for itself.
        let [up, down, enter] = [Key::ArrowUp, Key::ArrowDown, Key::Enter]
            .map(|key| ui.input_mut(|i| i.count_and_consume_key(Modifiers::NONE, key)));
        search(ui, palette);
        let found = find(items, &palette.query);
        let last = found.len().saturating_sub(1);
        palette.selected = (palette.selected + down).min(last).saturating_sub(up);
        ui.add_space(SPACE);
        let clicked = list(ui, &found, palette.selected, up + down > 0);
        let chosen = clicked.or((enter > 0).then_some(palette.selected));
        if let Some(item) = chosen.and_then(|i| found.into_iter().nth(i))
            && item.blocked.is_none()
        {
            close = true;
            commands.push(Command::ShowPalette(false));
            commands.push(item.command);
        }
    });
    if !close && response.should_close() {
        commands.push(Command::ShowPalette(false));
    }
}

fn search(ui: &mut Ui, palette: &mut Palette) {
    let field = ui
        .add(
            TextEdit::singleline(&mut palette.query)
                .id(Id::unique("palette search"))
                .desired_width(f32::INFINITY)
                .hint_text("Type what to do: arrow keys choose, Enter does it"),
        )
        .accessible_name("Search commands");
    if field.changed() {
        palette.selected = 0;
    }
    if !palette.begun {
        palette.begun = true;
        field.request_focus();
    }
}

/// Shows the commands that were found; which one was clicked.
fn list(ui: &mut Ui, found: &[Item], selected: usize, moved: bool) -> Option<usize> {
    if found.is_empty() {
        ui.label("No command, page or recent project has such a name");
    }
    let height = LIST_HEIGHT.min(ui.ctx().content_rect().height() - TOP - 80.0);
    let mut clicked = None;
    ScrollArea::vertical().max_height(height).auto_shrink([false, true]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        for (i, item) in found.iter().enumerate() {
            let response = row(ui, item, i == selected);
            if i == selected && moved {
                response.scroll_to_me(None);
            }
            if response.clicked() {
                clicked = Some(i);
            }
        }
    });
    clicked
}

fn row(ui: &mut Ui, item: &Item, selected: bool) -> egui::Response {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), ROW_HEIGHT), Sense::click());
    let words = format!("{}: {}", item.name, item.blocked.as_ref().unwrap_or(&item.about));
    let enabled = item.blocked.is_none();
    response.widget_info(|| WidgetInfo::selected(Role::ListBoxOption, enabled, selected, &words));
    let (visuals, tokens) = (ui.visuals(), tokens(ui));
    if selected {
        ui.painter().rect_filled(rect, 4.0, visuals.selection.bg_fill);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, 4.0, visuals.widgets.hovered.weak_bg_fill);
    }
    let weak = visuals.weak_text_color();
    let strong = if selected { visuals.strong_text_color() } else { visuals.text_color() };
    let (font, small) = (TextStyle::Body.resolve(ui.style()), TextStyle::Small.resolve(ui.style()));
    let inner = rect.shrink2(vec2(8.0, 3.0));
    let keys: Vec<String> = item.keys.iter().map(|keys| actions::in_words(ui.ctx(), *keys)).collect();
    let place = pos2(inner.right(), inner.top());
    let keys = ui.painter().text(place, Align2::RIGHT_TOP, keys.join("  "), small.clone(), strong);
    let name = Rect::from_min_max(inner.min, pos2(keys.left() - SPACE, inner.bottom()));
    line(ui, name, Align2::LEFT_TOP, &item.name, font, if enabled { strong } else { weak });
    let (words, color) = match &item.blocked {
        Some(reason) => (format!("⚠ {reason}"), tokens.warning),
        None if selected => (item.about.clone(), strong),
        None => (item.about.clone(), weak),
    };
    line(ui, inner, Align2::LEFT_BOTTOM, &words, small, color);
    response
}

/// A line of text that ends with the space it has.
fn line(ui: &Ui, space: Rect, align: Align2, text: &str, font: FontId, color: egui::Color32) {
    let mut job = egui::text::LayoutJob::simple_singleline(text.into(), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(space.width());
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    let place = align.align_size_within_rect(galley.size(), space);
    ui.painter().galley(place.min, galley, color);
}

/// The commands that fit `query`, the best first; all in their usual order when it is empty.
fn find(items: Vec<Item>, query: &str) -> Vec<Item> {
    let query = query.to_lowercase();
    let mut found: Vec<(u32, Item)> = items
        .into_iter()
        .filter_map(|item| Some((rank(&query, &item.name.to_lowercase(), &item.about.to_lowercase())?, item)))
        .collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, item)| item).collect()
}

/// How well a command fits, less being better; none if a word of `query` is nowhere in it.
fn rank(query: &str, name: &str, about: &str) -> Option<u32> {
    query.split_whitespace().map(|word| rank_word(word, name, about)).sum()
}

fn rank_word(word: &str, name: &str, about: &str) -> Option<u32> {
    let begins_a_word =
        |text: &str| text.match_indices(word).any(|(i, _)| !text[..i].ends_with(char::is_alphanumeric));
    if name.starts_with(word) {
        Some(0)
    } else if begins_a_word(name) {
        Some(1)
    } else if name.contains(word) {
        Some(2)
    } else if begins_a_word(about) {
        Some(3)
    } else if about.contains(word) {
        Some(4)
    } else {
        // Letters left out: `svas` finds `save as`. Two letters are in nearly every name.
        let mut letters = name.chars();
        let all = word.chars().all(|letter| letters.any(|other| other == letter));
        (all && word.chars().count() > 2).then_some(5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(query: &str) -> Vec<String> {
        let item = |name: &str, about: &str| Item {
            name: name.into(),
            about: about.into(),
            keys: Vec::new(),
            blocked: None,
            command: Command::Save,
        };
        let items = vec![
            item("Open…", "Open a project file"),
            item("Save", "Write the project to its file"),
            item("Save as…", "Write the project to another file"),
            item("Undo", "Take the last change back"),
            item("Run", "Compute the hologram"),
            item("Cancel the run", "Stop it"),
            item("Open saved.json", "/home/me/saved.json"),
        ];
        find(items, query).into_iter().map(|item| item.name).collect()
    }

    #[test]
    fn the_best_name_comes_first() {
        assert_eq!(names("").len(), 7);
        assert_eq!(names("save"), ["Save", "Save as…", "Open saved.json"]);
        assert_eq!(names("SAVE  as"), ["Save as…"]);
        assert_eq!(names("run"), ["Run", "Cancel the run"]);
        assert_eq!(names("hologram"), ["Run"], "by what it does");
        assert_eq!(names("svas"), ["Save as…"], "letters left out");
        assert_eq!(names("home open"), ["Open saved.json"]);
        assert!(names("xyzzy").is_empty());
    }
}
