//! The plane that a run is making, as it grows line by line.

use egui::{
    Color32, ColorImage, Context, Image, Rect, RichText, Sense, TextureHandle, TextureOptions, Ui, vec2,
};

use super::previews::fit;
use super::run_view::RunView;
use super::text;
use super::theme::tokens;
use crate::engine::Lines;
use crate::inspect::{Curve, Tone, percentile};
use crate::project::Project;

/// Every so many bins one is looked at for the white level.
const SPARSE: usize = 7;
/// The card's width beside the previews, as a share of the page.
const SHARE: f32 = 0.3;
/// The card's greatest and least width.
const WIDTH: std::ops::RangeInclusive<f32> = 220.0..=440.0;
/// Height of the card's words and margins.
const WORDS: f32 = 84.0;

/// The plane that a pass is making, put together from its parts.
#[derive(Debug, Clone)]
pub struct Growing {
    /// Index of the pass in [`RunView::passes`].
    pub pass: usize,
    /// The part that came last.
    last: Lines,
    /// Bins along x and y.
    bins: [usize; 2],
    mean: Vec<f32>,
    parts: u64,
}

impl Growing {
    /// Adds `lines` of pass `pass` to what is `known`, which is forgotten when it is another pass's.
    #[must_use]
    pub fn with(known: Option<Self>, pass: usize, lines: &Lines) -> Self {
        let bins = [lines.width, lines.height].map(|side| side.div_ceil(lines.scale.max(1)));
        let parts = known.as_ref().map_or(0, |known| known.parts) + 1;
        let mut mean = known
            .filter(|known| known.pass == pass && known.bins == bins)
            .map_or_else(|| vec![f32::NAN; bins[0] * bins[1]], |known| known.mean);
        for (row, part) in lines.rows.clone().zip(lines.mean.chunks(lines.columns.len().max(1))) {
            let start = row * bins[0] + lines.columns.start;
            if let Some(place) = mean.get_mut(start..start + part.len()) {
                place.copy_from_slice(part);
            }
        }
        let last = Lines { mean: Vec::new(), ..lines.clone() };
        Self { pass, last, bins, mean, parts }
    }

    /// Whether every sample is made.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.last.samples >= self.last.width as u64 * self.last.height as u64
    }

    /// How much of the plane is made: `line 12 345 of 65 536`.
    #[must_use]
    pub fn how_far(&self) -> String {
        let Lines { width, height, samples, .. } = self.last;
        if self.last.whole_lines {
            let line = samples / (width as u64).max(1);
            format!("line {} of {}", text::count(line), text::count(height as u64))
        } else {
            let share = 100.0 * samples as f64 / (width as f64 * height as f64).max(1.0);
            format!("{share:.0} % of the samples")
        }
    }

    /// Grey where samples are made; dark hatching where not.
    fn picture(&self) -> ColorImage {
        let sparse: Vec<f32> = self.mean.iter().copied().step_by(SPARSE).collect();
        let tone = Tone { black: 0.0, white: percentile(&sparse, 0.995), curve: Curve::SquareRoot };
        let levels = tone.levels(&self.mean);
        let pixel = |(i, (&level, mean)): (usize, (&u8, &f32))| {
            let [x, y] = [i % self.bins[0], i / self.bins[0]];
            if !mean.is_nan() {
                Color32::from_gray(level)
            } else if (x + y) % 8 < 2 {
                Color32::from_gray(78)
            } else {
                Color32::from_gray(46)
            }
        };
        let pixels = levels.iter().zip(&self.mean).enumerate().map(pixel).collect();
        ColorImage::new(self.bins, pixels)
    }
}

/// The card's picture on the graphics card.
#[derive(Default)]
pub struct GrowingPicture {
    texture: Option<TextureHandle>,
    /// Which plane it shows, and how much of it.
    shows: Option<(usize, u64)>,
}

impl GrowingPicture {
    /// Brings the picture up to date.
    pub fn update(&mut self, ctx: &Context, view: &RunView) {
        let Some(growing) = view.growing().filter(|_| view.is_active()) else {
            *self = Self::default();
            return;
        };
        let wanted = Some((growing.pass, growing.parts));
        if self.shows != wanted {
            let picture = growing.picture();
            match &mut self.texture {
                Some(texture) => texture.set(picture, TextureOptions::LINEAR),
                None => self.texture = Some(ctx.load_texture("growing", picture, TextureOptions::LINEAR)),
            }
            self.shows = wanted;
        }
    }
}

/// The width that the card takes of a page, of `width × height` points, beside the previews.
#[must_use]
pub fn card_width(width: f32, height: f32) -> f32 {
    (SHARE * width).min(height - WORDS).clamp(*WIDTH.start(), *WIDTH.end())
}

/// Shows the card.
pub fn show(ui: &mut Ui, view: &RunView, project: &Project, picture: &GrowingPicture) {
    let growing = view.growing();
    let title = title(view, growing);
    ui.add(egui::Label::new(RichText::new(&title).strong()).truncate()).on_hover_text(&title);
    let space = vec2(ui.available_width(), (ui.available_height() - WORDS / 2.0).max(60.0));
    let grid = project.grid;
    #[expect(clippy::cast_possible_truncation, reason = "a size on the screen")]
    let plane = vec2(
        (grid.width as f64 * grid.pitch_x.in_metres() * 1e3) as f32,
        (grid.height as f64 * grid.pitch_y.in_metres() * 1e3) as f32,
    );
    let (place, response) = ui.allocate_exact_size(fit(plane, space), Sense::hover());
    ui.painter().rect_filled(place, 0.0, Color32::from_gray(46));
    if let (Some(texture), Some(growing)) = (&picture.texture, growing) {
        // The last bins may reach beyond the plane.
        let part = |samples: usize, bins: usize| samples as f32 / (bins * growing.last.scale).max(1) as f32;
        let [x, y] = growing.bins;
        let uv = Rect::from_min_max(
            egui::pos2(0.0, 0.0),
            egui::pos2(part(growing.last.width, x), part(growing.last.height, y)),
        );
        Image::new((texture.id(), texture.size_vec2())).uv(uv).paint_at(ui, place);
    }
    response
        .accessible_name("The plane that is being made")
        .on_hover_text("Each line as it is computed and handed to the drive; hatched: not made yet");
    let words = match growing {
        Some(growing) => format!("1 : {}, mean |u|² before encoding, relative", growing.last.scale),
        None => "Lines appear here as the run makes them".into(),
    };
    ui.add(egui::Label::new(RichText::new(words).small().color(tokens(ui).text_weak)).truncate())
        .on_hover_text(
            "The mean of |u|² over squares of samples; white is the intensity below which 99.5 % of what is \
             made so far lies, so without a unit",
        );
}

fn title(view: &RunView, growing: Option<&Growing>) -> String {
    let Some(growing) = growing else { return "No plane is being written yet".into() };
    let job = view.passes().get(growing.pass).map_or(0, |pass| pass.job);
    let name = view.jobs().get(job).map_or("", |job| job.name.as_str());
    let (verb, done) = if job == 0 { ("written", "Written") } else { ("made", "Made") };
    let verb = if growing.is_complete() { done.into() } else { format!("Being {verb}") };
    let what =
        if growing.last.result { name.into() } else { format!("a plane between two steps of the {name}") };
    format!("{verb}: {what}, {}", growing.how_far())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(rows: std::ops::Range<usize>, samples: u64, value: f32) -> Lines {
        let mean = vec![value; rows.len() * 4];
        Lines {
            width: 11,
            height: 8,
            scale: 3,
            result: true,
            columns: 0..4,
            rows,
            mean,
            samples,
            whole_lines: true,
        }
    }

    #[test]
    fn parts_are_put_together_and_what_is_not_made_is_hatched() {
        let growing = Growing::with(None, 2, &part(0..2, 55, 1.0));
        assert_eq!((growing.how_far(), growing.is_complete()), ("line 5 of 8".into(), false));
        let picture = growing.picture();
        assert_eq!(picture.size, [4, 3]);
        assert_eq!(picture.pixels[7], Color32::WHITE);
        assert!(picture.pixels[8] != Color32::WHITE && picture.pixels[8] != Color32::BLACK);
        // The second row again, now complete, and the rest.
        let growing = Growing::with(Some(growing), 2, &part(1..3, 88, 0.25));
        assert!(growing.is_complete());
        assert_eq!(growing.mean, [[1.0; 4], [0.25; 4], [0.25; 4]].concat());
        // Another pass begins anew.
        let growing = Growing::with(Some(growing), 3, &part(0..1, 33, 2.0));
        assert_eq!(growing.mean.iter().filter(|mean| mean.is_nan()).count(), 8);
    }

    #[test]
    fn blocks_beside_each_other_are_told_in_percent() {
        let lines = Lines { whole_lines: false, ..part(0..3, 44, 1.0) };
        assert_eq!(Growing::with(None, 0, &lines).how_far(), "50 % of the samples");
    }
}
