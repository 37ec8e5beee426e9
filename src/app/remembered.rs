//! How the window was left, for its next start.
//!
//! The toolkit keeps the theme, the zoom, the panels' sizes and the window's own; the rest is here.

use egui::{Context, ViewportCommand, vec2};
use serde::{Deserialize, Serialize};

use super::App;
use super::log::{Filter, Level};
use super::pages::Page;
use crate::inspect::Curve;

/// The name under which it is stored.
const KEY: &str = "gigafringe";
/// The name of the curve in proportion.
const LINEAR: &str = "linear";
/// The window's size at its first start, in points.
pub const FIRST_SIZE: [f32; 2] = [1400.0, 900.0];

/// What is kept; what is missing in the file is as at the first start.
#[expect(clippy::struct_excessive_bools, reason = "switches that do not depend on each other")]
#[derive(Debug, Serialize, Deserialize)]
#[serde(default)]
struct Remembered {
    /// The page's name; one that there is no more is forgotten.
    page: String,
    project_hidden: bool,
    log_open: bool,
    log_hides: Vec<String>,
    pitch_linked: bool,
    contrast_common: bool,
    contrast_gain: f32,
    /// The curve's name.
    contrast_curve: String,
}

impl Default for Remembered {
    fn default() -> Self {
        Self {
            page: String::new(),
            project_hidden: false,
            log_open: false,
            log_hides: Vec::new(),
            pitch_linked: true,
            contrast_common: true,
            contrast_gain: 1.0,
            contrast_curve: String::new(),
        }
    }
}

impl App {
    /// Takes up how the last window was left.
    pub fn restore(&mut self, storage: &dyn eframe::Storage) {
        let text = storage.get_string(KEY).unwrap_or_default();
        let Ok(kept) = serde_json::from_str::<Remembered>(&text) else { return };
        if let Some((page, ..)) = Page::ALL.iter().find(|(_, name, _)| *name == kept.page) {
            self.options.page = *page;
        }
        self.options.project_hidden = kept.project_hidden;
        self.options.log_open = kept.log_open;
        for (level, name, _) in Level::ALL {
            let shown = !kept.log_hides.iter().any(|hidden| hidden == name);
            self.options.log_filter = self.options.log_filter.with(level, shown);
        }
        // Two pitches are shown as two, however they were linked before.
        self.options.pitch_linked &= kept.pitch_linked;
        let contrast = &mut self.pictures.contrast;
        contrast.common = kept.contrast_common;
        if kept.contrast_gain.is_finite() && kept.contrast_gain > 0.0 {
            contrast.gain = kept.contrast_gain;
        }
        contrast.curve = if kept.contrast_curve == LINEAR { Curve::Linear } else { Curve::SquareRoot };
    }

    /// Notes how the window is left.
    pub(super) fn remember(&self, storage: &mut dyn eframe::Storage) {
        let page = Page::ALL.iter().find(|one| one.0 == self.options.page);
        let contrast = &self.pictures.contrast;
        let hidden = |(level, ..): &&(Level, &str, &str)| !self.options.log_filter.shows(*level);
        let kept = Remembered {
            page: page.map_or_else(String::new, |one| one.1.into()),
            project_hidden: self.options.project_hidden,
            log_open: self.options.log_open,
            log_hides: Level::ALL.iter().filter(hidden).map(|level| level.1.into()).collect(),
            pitch_linked: self.options.pitch_linked,
            contrast_common: contrast.common,
            contrast_gain: contrast.gain,
            contrast_curve: match contrast.curve {
                Curve::Linear => LINEAR.into(),
                Curve::SquareRoot => "square root".into(),
            },
        };
        if let Ok(text) = serde_json::to_string(&kept) {
            storage.set_string(KEY, text);
        }
    }

    /// Arranges the window as at the first start; the theme and the project stay.
    pub(super) fn reset_layout(&mut self, ctx: &Context) {
        self.options.page = Page::default();
        self.options.project_hidden = false;
        self.options.log_open = false;
        self.options.log_filter = Filter::default();
        ctx.set_zoom_factor(1.0);
        ctx.memory_mut(|memory| {
            memory.data.clear();
            memory.reset_areas();
        });
        ctx.send_viewport_cmd(ViewportCommand::InnerSize(vec2(FIRST_SIZE[0], FIRST_SIZE[1])));
        self.say(Level::Info, "The window is arranged as at the first start");
    }
}
