//! Which part of the plane is seen, and how large.

use egui::{Pos2, Rect, Vec2, emath::GuiRounding as _, pos2};

use crate::inspect::Raster;

/// The plane never gets smaller than this share of its fitted size.
const SMALLEST: f64 = 0.25;
/// The most points that a preview sample is enlarged to.
const LARGEST: f64 = 128.0;

/// A view of the plane; x and y have one scale, in metres.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// The position in the middle, along x and y in metres.
    centre: [f64; 2],
    metres_per_point: f64,
    /// Whether all of the plane is kept in view.
    fitted: bool,
}

impl Default for View {
    fn default() -> Self {
        Self { centre: [0.0; 2], metres_per_point: 1.0, fitted: true }
    }
}

impl View {
    /// Shows all of the plane.
    pub const fn fit(&mut self) {
        self.fitted = true;
    }

    /// Whether all of the plane is kept in view.
    pub const fn is_fitted(&self) -> bool {
        self.fitted
    }

    /// Shows one preview sample on each physical pixel, along the axis of the smaller pitch.
    pub fn one_to_one(&mut self, raster: &Raster, pixels_per_point: f32) {
        self.fitted = false;
        self.metres_per_point = sample(raster) * f64::from(pixels_per_point);
    }

    /// Physical pixels of a preview sample, along the axis of the smaller pitch.
    pub fn pixels_per_sample(&self, raster: &Raster, pixels_per_point: f32) -> f64 {
        sample(raster) / self.metres_per_point * f64::from(pixels_per_point)
    }

    /// Adapts to the plane and to the size it is seen in.
    pub fn settle(&mut self, raster: &Raster, size: Vec2) {
        let fitted = fitted(raster, size);
        if self.fitted {
            self.metres_per_point = fitted;
            self.centre = [0, 1].map(|axis| raster.edges(axis).iter().sum::<f64>() / 2.0);
            return;
        }
        let [closest, farthest] = [sample(raster) / LARGEST, fitted / SMALLEST];
        self.metres_per_point = self.metres_per_point.clamp(closest.min(farthest), farthest);
        for axis in [0, 1] {
            let [start, end] = raster.edges(axis);
            self.centre[axis] = self.centre[axis].clamp(start, end);
        }
    }

    /// Where a position, in metres, is seen in `area`.
    pub fn to_screen(self, area: Rect, position: [f64; 2]) -> Pos2 {
        #[expect(clippy::cast_possible_truncation, reason = "a place on the screen")]
        let offset = |axis: usize| ((position[axis] - self.centre[axis]) / self.metres_per_point) as f32;
        area.center() + Vec2::new(offset(0), offset(1))
    }

    /// The position, in metres, that is seen at `place`.
    pub fn to_plane(self, area: Rect, place: Pos2) -> [f64; 2] {
        let offset = place - area.center();
        [offset.x, offset.y].map(|points| f64::from(points) * self.metres_per_point).zip_with(self.centre)
    }

    /// Where the whole plane is seen; on whole pixels when its samples are as large as these.
    pub fn plane(&self, area: Rect, raster: &Raster, pixels_per_point: f32) -> Rect {
        let corner = |end: usize| [0, 1].map(|axis| raster.edges(axis)[end]);
        let [from, to] = [corner(0), corner(1)].map(|corner| self.to_screen(area, corner));
        let place = Rect::from_min_max(from, to);
        if (self.pixels_per_sample(raster, pixels_per_point) - 1.0).abs() < 1e-6 {
            Rect::from_min_size(place.min.round_to_pixels(pixels_per_point), place.size())
        } else {
            place
        }
    }

    /// Enlarges by `factor` about `place`, which stays where it is.
    pub fn zoom(&mut self, area: Rect, place: Pos2, factor: f32) {
        let kept = self.to_plane(area, place);
        self.fitted = false;
        self.metres_per_point /= f64::from(factor);
        let moved = self.to_plane(area, place);
        for axis in [0, 1] {
            self.centre[axis] += kept[axis] - moved[axis];
        }
    }

    /// Moves the plane by so many points.
    pub fn pan(&mut self, points: Vec2) {
        self.fitted = false;
        for (centre, points) in self.centre.iter_mut().zip([points.x, points.y]) {
            *centre -= f64::from(points) * self.metres_per_point;
        }
    }

    /// The positions along `axis` that are seen in `area`, in metres.
    pub fn seen(&self, area: Rect, axis: usize) -> [f64; 2] {
        let [from, to] = [area.min, area.max].map(|corner| self.to_plane(area, pos2(corner.x, corner.y)));
        [from[axis], to[axis]]
    }
}

trait ZipWith {
    fn zip_with(self, other: Self) -> Self;
}

impl ZipWith for [f64; 2] {
    fn zip_with(self, other: Self) -> Self {
        [self[0] + other[0], self[1] + other[1]]
    }
}

/// The smaller side of a preview sample, in metres.
fn sample(raster: &Raster) -> f64 {
    raster.scale as f64 * raster.pitch[0].min(raster.pitch[1])
}

/// Metres a point with all of the plane in view.
fn fitted(raster: &Raster, size: Vec2) -> f64 {
    let along = |axis: usize, points: f32| {
        let [start, end] = raster.edges(axis);
        (end - start) / f64::from(points.max(1.0))
    };
    along(0, size.x).max(along(1, size.y))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RASTER: Raster = Raster { plane: [4001, 999], pitch: [2e-6, 4e-6], scale: 2 };
    const AREA: Rect = Rect { min: Pos2 { x: 50.0, y: 20.0 }, max: Pos2 { x: 850.0, y: 620.0 } };

    fn close(a: Pos2, b: Pos2) -> bool {
        (a - b).length() < 1e-2
    }

    #[test]
    fn all_of_the_plane_fits_true_to_its_proportions() {
        let mut view = View::default();
        view.settle(&RASTER, AREA.size());
        let plane = view.plane(AREA, &RASTER, 1.0);
        // 8.002 mm by 3.996 mm in 800 by 600 points.
        assert!((plane.width() - 800.0).abs() < 1e-2 && close(plane.center(), AREA.center()), "{plane:?}");
        assert!((plane.height() / plane.width() - 3.996 / 8.002).abs() < 1e-4);
    }

    #[test]
    fn zooming_keeps_what_is_under_the_pointer() {
        let mut view = View::default();
        view.settle(&RASTER, AREA.size());
        let pointer = pos2(300.0, 350.0);
        let before = view.to_plane(AREA, pointer);
        view.zoom(AREA, pointer, 3.0);
        view.settle(&RASTER, AREA.size());
        assert!(close(view.to_screen(AREA, before), pointer) && !view.is_fitted());
        view.pan(Vec2::new(10.0, -7.0));
        assert!(close(view.to_screen(AREA, before), pointer + Vec2::new(10.0, -7.0)));
        view.fit();
        view.settle(&RASTER, AREA.size());
        assert!(close(view.plane(AREA, &RASTER, 1.0).center(), AREA.center()));
    }

    #[test]
    fn one_to_one_is_a_preview_sample_a_physical_pixel() {
        for pixels_per_point in [1.0, 1.5, 2.0] {
            let mut view = View::default();
            view.one_to_one(&RASTER, pixels_per_point);
            view.settle(&RASTER, AREA.size());
            assert!((view.pixels_per_sample(&RASTER, pixels_per_point) - 1.0).abs() < 1e-9);
            let plane = view.plane(AREA, &RASTER, pixels_per_point);
            // 4001 samples, two to a preview sample; y has twice the pitch.
            assert!((plane.width() * pixels_per_point - 2000.5).abs() < 0.05, "{plane:?}");
            assert!((plane.height() * pixels_per_point - 999.0).abs() < 0.05, "{plane:?}");
            let left = plane.min.x * pixels_per_point;
            assert!((left - left.round()).abs() < 1e-2, "on whole pixels: {left}");
        }
    }

    #[test]
    fn a_view_is_never_lost() {
        let mut view = View::default();
        view.settle(&RASTER, AREA.size());
        view.pan(Vec2::splat(1e9));
        view.zoom(AREA, AREA.center(), 1e-9);
        view.settle(&RASTER, AREA.size());
        assert!(AREA.intersects(view.plane(AREA, &RASTER, 1.0)));
        view.zoom(AREA, AREA.center(), 1e9);
        view.settle(&RASTER, AREA.size());
        assert!((view.pixels_per_sample(&RASTER, 1.0) - LARGEST).abs() < 1e-6);
    }
}
