//! What is inspected, as files: the picture as PNG, numbers as CSV.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Button, TextEdit, Ui};

use super::super::backend::Ask;
use super::super::commands::Command;
use super::super::fields;
use super::super::task::{Poll, Task, Wake};
use super::contrast::heading;
use super::{Current, Inspector, Sources};
use crate::engine::Preview;
use crate::inspect::{Statistics, Tone, histogram_table, numbers_table, profile, profile_table};
use crate::storage::save_gray_png;

/// What is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Export {
    /// The reconstruction with the contrast it is shown with.
    #[default]
    Picture,
    /// The profile.
    Profile,
    /// The numbers of the region, of all, and of the comparison.
    Numbers,
    /// The histogram.
    Histogram,
}

impl Export {
    const ALL: [(Self, &'static str, &'static str); 4] = [
        (
            Self::Picture,
            "Picture, PNG",
            "The whole reconstruction as shown: a pixel for each preview sample, 8 bit",
        ),
        (Self::Profile, "Profile, CSV", "Distance, position in mm and intensity of each point"),
        (Self::Numbers, "Numbers, CSV", "All numbers above, with their units"),
        (Self::Histogram, "Histogram, CSV", "Preview samples of each step of intensity"),
    ];

    /// The ending of its file, and a name for it.
    #[must_use]
    pub const fn ending(self) -> (&'static str, &'static str) {
        match self {
            Self::Picture => ("png", "inspected"),
            Self::Profile => ("csv", "profile"),
            Self::Numbers => ("csv", "numbers"),
            Self::Histogram => ("csv", "histogram"),
        }
    }
}

/// Something to be saved as a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportTo {
    /// What is saved.
    pub what: Export,
    /// The file.
    pub path: PathBuf,
    /// Whether a file that exists may be replaced.
    pub replace: bool,
}

impl ExportTo {
    /// The answer of a file dialog, which has asked about a file that exists, unless its name is completed.
    #[must_use]
    pub fn chosen(what: Export, mut path: PathBuf) -> Self {
        let replace = path.extension().is_some();
        if !replace {
            path.set_extension(what.ending().0);
        }
        Self { what, path, replace }
    }
}

/// What is being saved.
#[derive(Default)]
pub(super) struct Exporting {
    what: Export,
    /// The path as typed, if it was.
    typed: Option<String>,
    task: Option<Task<Result<PathBuf, String>>>,
}

/// What a file will hold.
enum Contents {
    Picture(Arc<Preview>, Tone),
    Text(String),
}

impl Inspector {
    /// Shows what can be saved.
    pub(super) fn exports(
        &mut self,
        ui: &mut Ui,
        current: &Current<'_>,
        sources: &Sources<'_>,
        commands: &mut Vec<Command>,
    ) {
        heading(ui, "Export as a file", "Save what is shown here as a file");
        ui.horizontal(|ui| {
            let what = self.exporting.what;
            if let Some(what) = fields::choice(ui, "export", "What is exported", 150.0, what, &Export::ALL) {
                self.exporting = Exporting { what, task: self.exporting.task.take(), ..Exporting::default() };
            }
            let button = ui
                .add_enabled(!sources.dialog_open, Button::new("Choose file…"))
                .on_hover_text("Choose the file and save")
                .on_disabled_hover_text("A file dialog is open");
            if button.clicked() {
                commands.push(Command::Ask(Ask::ExportFile(self.exporting.what)));
            }
        });
        let what = self.exporting.what;
        let mut path = self
            .exporting
            .typed
            .clone()
            .unwrap_or_else(|| self.suggested(current, what).display().to_string());
        ui.horizontal(|ui| {
            let label =
                ui.label("File").on_hover_text("The file to save; one that exists is not replaced unasked");
            let width = ui.available_width() - 56.0;
            let field = ui.add(TextEdit::singleline(&mut path).desired_width(width)).labelled_by(label.id);
            if field.changed() {
                self.exporting.typed = Some(path.clone());
            }
            let reason = if self.exporting.task.is_some() {
                Some("Being saved")
            } else if what == Export::Profile && self.cut.is_none() {
                Some("Set a profile first")
            } else if path.trim().is_empty() {
                Some("Give the file's path")
            } else {
                None
            };
            let button = ui
                .add_enabled(reason.is_none(), Button::new("Export"))
                .on_hover_text("Save the file")
                .on_disabled_hover_text(reason.unwrap_or_default());
            if button.clicked() {
                let path = PathBuf::from(path.trim());
                commands.push(Command::Export(ExportTo { what, path, replace: false }));
            }
        });
    }

    /// A file beside the hologram.
    fn suggested(&self, current: &Current<'_>, what: Export) -> PathBuf {
        let output = &current.project.output.path;
        let stem = output.file_stem().unwrap_or_default().to_string_lossy();
        let (ending, name) = what.ending();
        output.with_file_name(format!("{stem}-layer{}-{name}.{ending}", self.layer + 1))
    }

    /// Saves a file, off this thread; the error says why that cannot be begun.
    pub fn export(&mut self, to: ExportTo, sources: &Sources<'_>) -> Result<(), String> {
        let contents = self.contents(to.what, sources)?;
        let wake: Wake = sources.wake.clone();
        let write = move || write(&to, &contents).map(|()| to.path);
        self.exporting.task = Some(Task::spawn("export", wake, write));
        Ok(())
    }

    /// The file that was saved, or why it was not, once.
    pub fn poll_export(&mut self) -> Option<Result<PathBuf, String>> {
        let result = match self.exporting.task.as_ref()?.poll() {
            Poll::Pending => return None,
            Poll::Done(result) => result,
            Poll::Lost => Err("Exporting ended early: this is a defect of Gigafringe".into()),
        };
        self.exporting.task = None;
        Some(result)
    }

    fn contents(&self, what: Export, sources: &Sources<'_>) -> Result<Contents, String> {
        let current = self.current(sources).ok_or("There is no reconstruction to export")?;
        let picture = current.picture().ok_or("There is no reconstruction to export")?;
        let not_ready = "The reconstruction is still being read; export it again in a moment";
        let white = self.white().ok_or(not_ready)?;
        Ok(match what {
            Export::Picture => Contents::Picture(current.preview.clone(), self.levels.tone(white)),
            Export::Profile => {
                let cut = self.cut.ok_or("Set a profile first: choose one above the picture and drag")?;
                Contents::Text(profile_table(&profile(picture, cut), white.into()))
            }
            Export::Numbers => Contents::Text(numbers_table(&self.rows(&current, white))),
            Export::Histogram => {
                let summary = self.numbers.summary(self.layer).ok_or(not_ready)?;
                Contents::Text(histogram_table(&summary.histogram))
            }
        })
    }

    /// Every number that is known.
    fn rows(&self, current: &Current<'_>, white: f32) -> Vec<(String, f64, &'static str)> {
        let mut rows: Vec<(String, f64, &'static str)> = vec![
            ("layer".into(), (self.layer + 1) as f64, "1"),
            ("depth".into(), 1e3 * current.layer.distance.in_metres(), "mm"),
            ("samples along one side of a preview sample".into(), current.raster.scale as f64, "1"),
            ("white level |u|²".into(), white.into(), "1"),
        ];
        let mut all = |name: &str, one: &Statistics| {
            rows.extend([
                (format!("{name}: mean |u|²"), one.mean, "1"),
                (format!("{name}: standard deviation of |u|²"), one.deviation, "1"),
                (format!("{name}: speckle contrast"), one.contrast(), "1"),
                (format!("{name}: least |u|²"), one.least, "1"),
                (format!("{name}: greatest |u|²"), one.most, "1"),
                (format!("{name}: energy share"), one.energy_share, "1"),
                (format!("{name}: preview samples"), one.count as f64, "1"),
            ]);
        };
        if let Some(summary) = self.numbers.summary(self.layer) {
            all("whole", &summary.whole);
        }
        let region = self.region.as_ref();
        if let Some((region, one)) =
            region.and_then(|region| Some((region, self.numbers.statistics(current.preview, region)?)))
        {
            all("region", one);
            for (name, range) in [("x", &region.columns), ("y", &region.rows)] {
                rows.push((format!("region: first preview sample {name}"), range.start as f64, "1"));
                rows.push((format!("region: last preview sample {name}"), (range.end - 1) as f64, "1"));
            }
        }
        if let Some(Ok(target)) = self.numbers.own(current.preview)
            && let Some(comparison) = target.comparison
        {
            for (name, one) in [("intensity", comparison.intensity), ("amplitude", comparison.amplitude)] {
                rows.extend([
                    (format!("{name} against the layer: correlation"), one.correlation, "1"),
                    (format!("{name} against the layer: PSNR"), one.psnr, "dB"),
                    (format!("{name} against the layer: factor c"), one.scale, "1"),
                    (format!("{name} against the layer: brightness"), one.brightness, "1"),
                ]);
            }
        }
        rows
    }
}

fn write(to: &ExportTo, contents: &Contents) -> Result<(), String> {
    match contents {
        Contents::Picture(preview, tone) => {
            let levels = tone.levels(&preview.mean);
            save_gray_png(&to.path, preview.width, preview.height, &levels, to.replace)
                .map_err(|error| error.to_string())
        }
        Contents::Text(text) => write_text(&to.path, text, to.replace)
            .map_err(|error| format!("{}: cannot write: {error}", to.path.display())),
    }
}

/// Writes a file that has its name only once it is complete.
fn write_text(path: &Path, text: &str, replace: bool) -> std::io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    let named = if replace { file.persist(path) } else { file.persist_noclobber(path) };
    named.map(|_| ()).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_exists_is_kept_unless_it_may_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers.csv");
        let text = |text: &str| Contents::Text(text.into());
        let to = |replace| ExportTo { what: Export::Numbers, path: path.clone(), replace };
        write(&to(false), &text("one")).unwrap();
        let error = write(&to(false), &text("two")).unwrap_err();
        assert!(error.contains("numbers.csv") && std::fs::read_to_string(&path).unwrap() == "one", "{error}");
        write(&to(true), &text("three")).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "three");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
        let away = ExportTo { path: folder.path().join("none/numbers.csv"), ..to(false) };
        assert!(write(&away, &text("four")).unwrap_err().contains("cannot write"));
    }

    #[test]
    fn a_name_from_the_dialog_is_completed_and_then_asked_about() {
        let completed = ExportTo::chosen(Export::Picture, "a/b".into());
        assert_eq!((completed.path, completed.replace), ("a/b.png".into(), false));
        let chosen = ExportTo::chosen(Export::Histogram, "a/b.txt".into());
        assert_eq!((chosen.path, chosen.replace), ("a/b.txt".into(), true));
    }
}
