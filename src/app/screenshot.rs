//! A picture of the window, made without anybody at the screen.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use egui::{ColorImage, Context};

/// The theme of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Scheme {
    /// Light text on a dark background.
    Dark,
    /// Dark text on a light background.
    Light,
}

impl From<Scheme> for egui::Theme {
    fn from(scheme: Scheme) -> Self {
        match scheme {
            Scheme::Dark => Self::Dark,
            Scheme::Light => Self::Light,
        }
    }
}

/// A picture to take.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "one for each hidden option of the command line")]
pub struct Screenshot {
    /// The PNG file to write.
    pub path: PathBuf,
    /// Whether Run is pressed at once, and the picture taken after the run's end.
    pub run: bool,
    /// Whether the project panel is scrolled to the method.
    pub method: bool,
    /// Whether the lab is shown, after a small comparison.
    pub lab: bool,
    /// Whether the inspector is shown, with a profile and a region.
    pub inspect: bool,
    /// The theme.
    pub theme: Scheme,
}

/// Frames drawn after everything is in place, for layout and fades to settle.
const SETTLE: u32 = 20;

/// Takes the picture when the window is ready for it.
pub(super) struct Shooter {
    plan: Screenshot,
    pressed: bool,
    quiet: u32,
    asked: bool,
    picture: Arc<Mutex<Option<Arc<ColorImage>>>>,
    outcome: Outcome,
}

/// What became of a picture, for the caller outside the window.
pub(super) type Outcome = Arc<Mutex<Option<anyhow::Result<()>>>>;

/// What the window must do for the picture.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Press Run.
    PressRun,
    /// Draw another frame.
    Wait,
    /// Close the window.
    Close,
}

impl Shooter {
    pub(super) fn new(plan: Screenshot, outcome: Outcome) -> Self {
        Self { plan, pressed: false, quiet: 0, asked: false, picture: Arc::default(), outcome }
    }

    /// Whether the picture is of the method.
    pub(super) const fn shows_method(&self) -> bool {
        self.plan.method
    }

    /// To be called once a frame; `busy` while a run or pictures are being made.
    pub(super) fn step(&mut self, ctx: &Context, busy: bool, failure: Option<&str>) -> Step {
        if let Some(image) = self.picture.lock().ok().and_then(|mut picture| picture.take()) {
            let written = write(&self.plan.path, &image);
            let result = match failure {
                Some(text) => written.and(Err(anyhow::anyhow!("the run failed: {text}"))),
                None => written,
            };
            if let Ok(mut outcome) = self.outcome.lock() {
                *outcome = Some(result);
            }
            return Step::Close;
        }
        ctx.request_repaint();
        if busy {
            self.quiet = 0;
            return Step::Wait;
        }
        self.quiet += 1;
        if self.quiet < SETTLE {
            return Step::Wait;
        }
        if self.plan.run && !self.pressed {
            self.pressed = true;
            self.quiet = 0;
            return Step::PressRun;
        }
        if !self.asked {
            self.asked = true;
            let picture = self.picture.clone();
            ctx.request_screenshot(move |image| {
                if let Ok(mut picture) = picture.lock() {
                    *picture = Some(image);
                }
            });
        }
        Step::Wait
    }
}

fn write(path: &Path, image: &ColorImage) -> anyhow::Result<()> {
    let [width, height] = image.size.map(|side| u32::try_from(side).unwrap_or(u32::MAX));
    let bytes: Vec<u8> = image.pixels.iter().flat_map(|p| [p.r(), p.g(), p.b()]).collect();
    image::save_buffer(path, &bytes, width, height, image::ExtendedColorType::Rgb8)
        .with_context(|| format!("{}: cannot write the picture", path.display()))
}
