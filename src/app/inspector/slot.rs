//! A picture at its full size on the graphics card, made off the window's thread.

use std::sync::Arc;

use egui::{ColorImage, Context, Rect, TextureFilter, TextureHandle, TextureOptions, pos2};

use super::super::preview_images::Reduced;
use super::super::task::{Poll, Task, Wake};
use crate::engine::Preview;
use crate::inspect::{Raster, Tone};

/// Samples are seen as squares when enlarged, and as means when reduced.
const FILTER: TextureOptions = TextureOptions {
    magnification: TextureFilter::Nearest,
    mipmap_mode: Some(TextureFilter::Linear),
    ..TextureOptions::LINEAR
};

/// What a picture is made of.
#[derive(Clone)]
struct Made {
    preview: Arc<Preview>,
    tone: Tone,
}

impl Made {
    fn is(&self, preview: &Arc<Preview>, tone: Tone) -> bool {
        Arc::ptr_eq(&self.preview, preview) && self.tone == tone
    }
}

struct Drawn {
    image: ColorImage,
    scale: usize,
}

/// One picture.
#[derive(Default)]
pub struct Slot {
    shown: Option<(Made, TextureHandle, usize)>,
    task: Option<(Made, Task<Drawn>)>,
}

impl Slot {
    /// Makes a picture of `preview` in `tone`, unless that is what it shows.
    pub fn update(&mut self, ctx: &Context, wake: &Wake, preview: &Arc<Preview>, tone: Tone) {
        if let Some((made, task)) = &self.task {
            match task.poll() {
                Poll::Pending => return,
                Poll::Done(drawn) => {
                    let made = made.clone();
                    self.show(ctx, made, drawn);
                    self.task = None;
                }
                Poll::Lost => self.task = None,
            }
        }
        if self.shown.as_ref().is_some_and(|shown| shown.0.is(preview, tone)) {
            return;
        }
        let side = ctx.input(|i| i.max_texture_side);
        let made = Made { preview: preview.clone(), tone };
        let preview = preview.clone();
        let draw = move || {
            let reduced = Reduced::of(&preview, side);
            let image = ColorImage::from_gray([reduced.width, reduced.height], &reduced.gray(tone));
            Drawn { image, scale: reduced.scale }
        };
        self.task = Some((made, Task::spawn("inspector", wake.clone(), draw)));
    }

    fn show(&mut self, ctx: &Context, made: Made, Drawn { image, scale }: Drawn) {
        let texture = match self.shown.take() {
            Some((_, mut texture, _)) => {
                texture.set(image, FILTER);
                texture
            }
            None => ctx.load_texture("inspector", image, FILTER),
        };
        self.shown = Some((made, texture, scale));
    }

    /// Whether a picture is being made.
    pub const fn busy(&self) -> bool {
        self.task.is_some()
    }

    /// The picture of `preview`, and the part of it that the plane covers.
    pub fn get(&self, preview: &Arc<Preview>, raster: &Raster) -> Option<(&TextureHandle, Rect)> {
        let (made, texture, scale) = self.shown.as_ref()?;
        let part = |axis: usize| raster.plane[axis] as f32 / (texture.size()[axis] * scale) as f32;
        Arc::ptr_eq(&made.preview, preview)
            .then(|| (texture, Rect::from_min_max(pos2(0.0, 0.0), pos2(part(0), part(1)))))
    }
}
