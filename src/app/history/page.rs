//! The history's page: a table of runs.

use egui::{Button, Grid, RichText, ScrollArea, Ui};

use super::super::backend::Ask;
use super::super::commands::Command;
use super::super::fields::{self, Field, Sheet};
use super::super::records::RecordsCommand;
use super::super::theme::{GAP, SPACE, tokens};
use super::{Column, Ended, Entry, History};

/// Shows the page.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, history: &History) {
    ui.add_space(SPACE);
    ui.horizontal_wrapped(|ui| {
        ui.heading("History");
        ui.label("Every run that has ended, to find the chunk and the buffers that suit the drives");
    });
    if history.entries().is_empty() {
        ui.add_space(GAP);
        ui.weak("No run has ended yet. Each gets a row here when it ends.");
        return;
    }
    export(ui, sheet);
    fields::error_under(ui, sheet.drafts, Field::HistoryFile);
    comparison(ui, history);
    ui.separator();
    let (column, down) = history.sorted;
    let mut entries: Vec<_> = history.entries().iter().collect();
    entries.sort_by(|one, other| {
        let order = column.order(one, other);
        if down { order.reverse() } else { order }
    });
    ScrollArea::both().auto_shrink(false).show(ui, |ui| {
        Grid::new("history").striped(true).spacing([10.0, 6.0]).show(ui, |ui| {
            head(ui, sheet, history);
            for entry in entries {
                row(ui, sheet, history, entry);
            }
        });
    });
}

fn export(ui: &mut Ui, sheet: &mut Sheet<'_>) {
    ui.horizontal(|ui| {
        let label = ui.label("CSV file").on_hover_text("A table that spreadsheets and scripts read");
        fields::input(ui, sheet, Field::HistoryFile, "", 260.0, |_, text| {
            Ok(Command::Records(RecordsCommand::Export(text.into(), false)))
        })
        .labelled_by(label.id)
        .on_hover_text("Type a path and press Enter to write the table there");
        let button = ui
            .add_enabled(!sheet.dialog_open, Button::new("Export CSV…"))
            .on_hover_text("Write the table to a file, with plain numbers")
            .on_disabled_hover_text("A file dialog is open");
        if button.clicked() {
            let typed = sheet.drafts.text(Field::HistoryFile).map(|text| text.trim().to_owned());
            sheet.send(match typed.filter(|text| !text.is_empty()) {
                Some(path) => Command::Records(RecordsCommand::Export(path.into(), false)),
                None => Command::Ask(Ask::HistoryFile),
            });
        }
    });
}

/// The run that is shown against the one it is compared with, in words.
fn comparison(ui: &mut Ui, history: &History) {
    let Some(base) = history.compared() else {
        ui.weak("Choose a run to compare the others with.");
        return;
    };
    let shown = history.current().and_then(|id| history.entry(id)).filter(|entry| entry.id != base.id);
    ui.label(match shown {
        Some(entry) => against(entry, base),
        None => format!("The others are compared with {}.", base.short_name()),
    });
}

/// How long a run took beside another.
fn against(entry: &Entry, base: &Entry) -> String {
    let ratio = |own: f64, base: f64| {
        if own > 0.0 && base > 0.0 { format!("{:.2}", own / base) } else { "–".into() }
    };
    let phases: Vec<_> = (0..3).map(|phase| ratio(entry.phases[phase], base.phases[phase])).collect();
    format!(
        "Run {} took {} of the time of run {}; phase by phase {}.",
        entry.id,
        ratio(entry.seconds, base.seconds),
        base.id,
        phases.join(", ")
    )
}

fn head(ui: &mut Ui, sheet: &mut Sheet<'_>, history: &History) {
    ui.label("");
    ui.label("");
    if let Some(base) = history.compared() {
        ui.label(RichText::new(format!("over\nrun {}", base.id)).strong())
            .on_hover_text("Seconds in parts of those of the run that is compared with");
    }
    for (column, name, hover) in Column::ALL {
        let (sorted, down) = history.sorted;
        let sign = match (sorted == column, down) {
            (false, _) => "",
            (true, false) => " ⏶",
            (true, true) => " ⏷",
        };
        let button = ui
            .add(Button::new(RichText::new(format!("{name}{sign}")).strong()).frame(false))
            .accessible_name(format!("{}{sign}", name.replace('\n', " ")))
            .on_hover_text(format!("{hover}. Click to sort"));
        if button.clicked() {
            sheet.send(Command::Records(RecordsCommand::Sort(column)));
        }
    }
    ui.end_row();
}

fn row(ui: &mut Ui, sheet: &mut Sheet<'_>, history: &History, entry: &Entry) {
    let base = history.compared();
    let is_base = base.is_some_and(|base| base.id == entry.id);
    ui.horizontal(|ui| {
        let show = ui
            .add_enabled(entry.view().is_some(), Button::new("Show").small())
            .accessible_name(format!("Show run {}", entry.id))
            .on_hover_text("Show this run's charts and timeline")
            .on_disabled_hover_text(
                "The charts of so old a run are not kept. Save events, on the page Timeline, keeps those of a run",
            );
        if show.clicked() {
            sheet.send(Command::Records(RecordsCommand::Show(entry.id)));
        }
        let compare = ui
            .add(Button::new("Compare").small().selected(is_base))
            .accessible_name(format!("Compare with run {}", entry.id))
            .on_hover_text("Compare the others with this run, here and in the timeline");
        if compare.clicked() {
            sheet.send(Command::Records(RecordsCommand::Compare((!is_base).then_some(entry.id))));
        }
    });
    let remove = ui
        .small_button("×")
        .accessible_name(format!("Remove run {}", entry.id))
        .on_hover_text("Take this row off the table; no file is touched");
    if remove.clicked() {
        sheet.send(Command::Records(RecordsCommand::Remove(entry.id)));
    }
    if let Some(base) = base {
        ui.label(match (is_base, base.seconds > 0.0) {
            (true, _) => "1".into(),
            (false, true) => format!("{:.2}", entry.seconds / base.seconds),
            (false, false) => "–".into(),
        });
    }
    for (column, ..) in Column::ALL {
        let mut text = RichText::new(column.text(entry));
        if history.current() == Some(entry.id) {
            text = text.strong();
        }
        if column == Column::Ended && entry.ended != Ended::Finished {
            text = text.color(tokens(ui).warning);
        }
        let cell = ui.label(text);
        if let Some(detail) = column.detail(entry) {
            cell.on_hover_text(detail);
        }
    }
    ui.end_row();
}
