//! Reconstructions as pictures: reduced for the screen, with a contrast the user sets.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use egui::{ColorImage, Context, TextureHandle, TextureOptions};

use super::task::{Poll, Task, Wake};
use crate::engine::Preview;
use crate::inspect::{Curve, Tone};

/// The longest side of a shown preview in pixels.
const SIDE: usize = 768;
/// The contrast of the previews: how intensities become grey.
#[derive(Debug, Clone, PartialEq)]
pub struct Contrast {
    /// One white level, the brightest layer's, for all layers.
    pub common: bool,
    /// Brightness of all layers.
    pub gain: f32,
    /// Brightness of single layers, when not `common`.
    pub gains: BTreeMap<usize, f32>,
    /// What lies between black and white.
    pub curve: Curve,
}

impl Default for Contrast {
    fn default() -> Self {
        Self { common: true, gain: 1.0, gains: BTreeMap::new(), curve: Curve::SquareRoot }
    }
}

impl Contrast {
    /// The brightness of a layer.
    #[must_use]
    pub fn gain_of(&self, layer: usize) -> f32 {
        if self.common { self.gain } else { self.gains.get(&layer).copied().unwrap_or(self.gain) }
    }
}

/// A preview small enough for the screen.
#[derive(Debug, Clone, PartialEq)]
pub struct Reduced {
    /// Pixels along x.
    pub width: usize,
    /// Pixels along y.
    pub height: usize,
    /// Samples of the plane along one side of a pixel.
    pub scale: usize,
    /// The intensity that becomes white.
    pub white: f32,
    mean: Vec<f32>,
}

impl Reduced {
    /// Joins bins until no side is longer than `side`.
    #[must_use]
    pub fn of(preview: &Preview, side: usize) -> Self {
        let step = preview.width.max(preview.height).div_ceil(side.max(1)).max(1);
        let (width, height) = (preview.width.div_ceil(step), preview.height.div_ceil(step));
        let mut mean = Vec::with_capacity(width * height);
        for y in 0..height {
            let rows = y * step..((y + 1) * step).min(preview.height);
            for x in 0..width {
                let columns = x * step..((x + 1) * step).min(preview.width);
                let sum: f64 = rows
                    .clone()
                    .flat_map(|r| &preview.mean[r * preview.width..][columns.clone()])
                    .map(|&v| f64::from(v))
                    .sum();
                #[expect(clippy::cast_possible_truncation, reason = "an intensity for the screen")]
                mean.push((sum / (rows.len() * columns.len()) as f64) as f32);
            }
        }
        Self { width, height, scale: preview.scale * step, white: Tone::of(&mean).white, mean }
    }

    /// The grey values in `tone`.
    #[must_use]
    pub fn gray(&self, tone: Tone) -> Vec<u8> {
        tone.levels(&self.mean)
    }
}

/// A preview on the screen.
pub struct Shown {
    /// The reduced preview.
    pub reduced: Reduced,
    /// The picture with the current contrast.
    pub texture: TextureHandle,
    /// The tone that the picture was made with.
    made_with: Option<Tone>,
}

/// The pictures of a run's previews.
#[derive(Default)]
pub struct PreviewImages {
    sources: HashMap<usize, Arc<Preview>>,
    tasks: Vec<(usize, Task<Reduced>)>,
    shown: BTreeMap<usize, Shown>,
    /// How intensities become grey.
    pub contrast: Contrast,
}

impl PreviewImages {
    /// Forgets the pictures of the last run; the contrast stays.
    pub fn clear(&mut self) {
        self.sources.clear();
        self.tasks.clear();
        self.shown.clear();
    }

    /// A layer's picture, once it is ready.
    #[must_use]
    pub fn get(&self, layer: usize) -> Option<&Shown> {
        self.shown.get(&layer)
    }

    /// Whether pictures are being made.
    #[must_use]
    pub fn busy(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Makes pictures of new previews, and of all when the contrast has changed.
    pub fn update(&mut self, ctx: &Context, wake: &Wake, previews: &BTreeMap<usize, Arc<Preview>>) {
        let side = SIDE.min(ctx.input(|i| i.max_texture_side));
        for (&layer, preview) in previews {
            if self.sources.get(&layer).is_some_and(|known| Arc::ptr_eq(known, preview)) {
                continue;
            }
            self.sources.insert(layer, preview.clone());
            let preview = preview.clone();
            let task = Task::spawn("preview", wake.clone(), move || Reduced::of(&preview, side));
            self.tasks.push((layer, task));
        }
        let mut done = Vec::new();
        self.tasks.retain(|(layer, task)| match task.poll() {
            Poll::Pending => true,
            Poll::Done(reduced) => {
                done.push((*layer, reduced));
                false
            }
            Poll::Lost => false,
        });
        for (layer, reduced) in done {
            let blank = ColorImage::from_gray([1, 1], &[0]);
            let texture = ctx.load_texture(format!("preview {layer}"), blank, TextureOptions::LINEAR);
            self.shown.insert(layer, Shown { reduced, texture, made_with: None });
        }
        let brightest = self.shown.values().map(|s| s.reduced.white).fold(0.0, f32::max);
        for (&layer, shown) in &mut self.shown {
            let white = if self.contrast.common { brightest } else { shown.reduced.white };
            let wanted =
                Tone { black: 0.0, white: white / self.contrast.gain_of(layer), curve: self.contrast.curve };
            if Some(wanted) != shown.made_with {
                let size = [shown.reduced.width, shown.reduced.height];
                let gray = shown.reduced.gray(wanted);
                shown.texture.set(ColorImage::from_gray(size, &gray), TextureOptions::LINEAR);
                shown.made_with = Some(wanted);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preview(width: usize, height: usize, mean: Vec<f32>) -> Preview {
        Preview { width, height, scale: 4, distance: 3e-3, mean }
    }

    #[test]
    fn reducing_keeps_the_mean_also_where_the_last_bin_is_cut() {
        let p = preview(3, 2, vec![1.0, 3.0, 10.0, 5.0, 7.0, 20.0]);
        let r = Reduced::of(&p, 2);
        assert_eq!((r.width, r.height, r.scale), (2, 1, 8));
        assert_eq!(r.mean, vec![4.0, 15.0]);
    }

    #[test]
    fn white_ignores_a_few_bright_samples_and_grey_is_monotonic() {
        let mut mean = vec![1.0; 1000];
        mean[7] = 1e6;
        mean[8] = f32::NAN;
        mean[9] = 0.25;
        let r = Reduced::of(&preview(40, 25, mean), 100);
        assert!((r.white - 1.0).abs() < 1e-6);
        let gray = r.gray(Tone { black: 0.0, white: r.white, curve: Curve::SquareRoot });
        assert_eq!((gray[0], gray[7], gray[9]), (255, 255, 128));
    }

    #[test]
    fn one_white_for_all_keeps_a_dark_layer_dark() {
        let ctx = Context::default();
        let wake = Wake::new(&ctx);
        let mut images = PreviewImages::default();
        let previews = BTreeMap::from([
            (0, Arc::new(preview(2, 2, vec![4.0; 4]))),
            (1, Arc::new(preview(2, 2, vec![1.0; 4]))),
        ]);
        while images.shown.len() < 2 {
            images.update(&ctx, &wake, &previews);
            std::thread::yield_now();
        }
        assert!((images.shown[&1].made_with.unwrap().white - 4.0).abs() < 1e-6);
        images.contrast.common = false;
        images.update(&ctx, &wake, &previews);
        assert!((images.shown[&1].made_with.unwrap().white - 1.0).abs() < 1e-6);
    }
}
