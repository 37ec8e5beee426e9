//! The timeline's page: the run, another to compare with, and files of events.

use std::path::Path;

use egui::{Button, RichText, ScrollArea, Ui};

use super::super::backend::Ask;
use super::super::commands::Command;
use super::super::fields::{self, Field, Sheet};
use super::super::history::History;
use super::super::records::RecordsCommand;
use super::super::run_view::RunView;
use super::super::theme::{GAP, SPACE};
use super::plot::{self, Shown};

/// Shows the page.
pub fn show(ui: &mut Ui, sheet: &mut Sheet<'_>, view: &RunView, history: &History) {
    ui.add_space(SPACE);
    let other = history.compared();
    let whole = controls(ui, sheet, view, history);
    fields::error_under(ui, sheet.drafts, Field::EventsFile);
    ui.separator();
    if view.timeline().bars() == 0 {
        ui.add_space(GAP);
        ui.label(
            RichText::new(
                "Every read, computation and write of a run is drawn here as a bar in time, live: press Run, or open \
                 a file of events that was saved before.",
            )
            .weak(),
        );
        return;
    }
    ui.horizontal_wrapped(|ui| {
        if let Some(entry) = history.current().and_then(|id| history.entry(id)) {
            ui.strong(format!("Run {}, {}", entry.id, entry.name)).on_hover_text("The run that is shown");
            ui.add_space(GAP);
        }
        plot::legend(ui);
        ui.add_space(GAP);
        ui.weak("Wheel zooms, dragging moves, a double click shows the whole run. Gaps are waiting.");
    });
    let own = history.name_of_current();
    let run = Shown { view, name: &own };
    let other = other.map(|entry| (entry.short_name(), entry.view()));
    let other = other.as_ref().and_then(|(name, view)| Some(Shown { view: (*view)?, name }));
    ScrollArea::vertical()
        .auto_shrink(false)
        .show(ui, |ui| plot::chart(ui, "Timeline of the run", run, other, whole));
}

/// The row of controls; whether all of the time is to be shown again.
fn controls(ui: &mut Ui, sheet: &mut Sheet<'_>, view: &RunView, history: &History) -> bool {
    let mut whole = false;
    ui.horizontal_wrapped(|ui| {
        whole = ui.button("Whole run").on_hover_text("Show all of the time again").clicked();
        let names: Vec<_> =
            history.entries().iter().filter(|e| e.view().is_some()).map(|e| (e.id, e.short_name())).collect();
        let mut options: Vec<(Option<usize>, &str, &str)> = vec![(None, "nothing", "The run alone")];
        options.extend(names.iter().map(|(id, name)| {
            (Some(*id), name.as_str(), "Lay this earlier run's rows between those of the run shown")
        }));
        ui.label("Compare with").on_hover_text("An earlier run, drawn on the same time's axis");
        let now = history.compared().map(|entry| entry.id);
        if let Some(picked) = fields::choice(ui, "compare", "Compare with", 190.0, now, &options) {
            sheet.send(Command::Records(RecordsCommand::Compare(picked)));
        }
        ui.separator();
        files(ui, sheet, view);
    });
    whole
}

fn files(ui: &mut Ui, sheet: &mut Sheet<'_>, view: &RunView) {
    let label = ui.label("Events file").on_hover_text("All that the charts are drawn from, as JSON lines");
    fields::input(ui, sheet, Field::EventsFile, "", 210.0, open)
        .labelled_by(label.id)
        .on_hover_text("Type a path: Enter opens that file, Save events writes to it");
    let idle = !sheet.dialog_open;
    let open = ui
        .add_enabled(idle && !view.is_active(), Button::new("Open events…"))
        .on_hover_text("Show a run that was saved before")
        .on_disabled_hover_text("A run is under way, or a file dialog is open");
    if open.clicked() {
        sheet.send(Command::Ask(Ask::OpenEvents));
    }
    let typed = sheet.drafts.text(Field::EventsFile).map(|text| text.trim().to_owned());
    let save = ui
        .add_enabled(idle && !view.is_active() && view.timeline().bars() > 0, Button::new("Save events"))
        .on_hover_text("Write this run's events to the file, to open them again later")
        .on_disabled_hover_text("There is no finished run to save");
    if save.clicked() {
        sheet.send(match typed.filter(|text| !text.is_empty()) {
            Some(path) => Command::Records(RecordsCommand::Save(path.into(), false)),
            None => Command::Ask(Ask::SaveEvents),
        });
    }
}

fn open(_: &Sheet<'_>, text: &str) -> Result<Command, String> {
    if Path::new(text).is_file() {
        Ok(Command::Records(RecordsCommand::Open(text.into())))
    } else {
        Err(format!("{text}: there is no such file yet; Save events writes it"))
    }
}
