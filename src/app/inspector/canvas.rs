//! The picture itself: drawn, moved, enlarged, and measured with the pointer.

use std::fmt::Write as _;
use std::time::Duration;

use egui::{
    Align, Align2, Color32, FontId, Label, Layout, PointerButton, Pos2, Rect, Response, Sense, Stroke,
    StrokeKind, TextureId, Ui, pos2, vec2,
};
use egui_plot::GridInput;

use super::super::plots::{marks, number};
use super::super::theme::{on_pictures, tokens};
use super::contrast::{BAR_WIDTH, bar};
use super::text::{millimetres, signed, value};
use super::{Current, Inspector, Mode, Tool};
use crate::inspect::{Cut, Region};

/// Room for the numbers of y, and of x.
const AXES: egui::Vec2 = egui::Vec2::new(54.0, 36.0);
/// How long each picture is shown in turn.
const BLINK: Duration = Duration::from_millis(700);
/// Points that turn the wheel into twice the size.
const WHEEL: f32 = 200.0;

/// Which picture is drawn where.
struct Part {
    texture: Option<(TextureId, Rect)>,
    clip: Rect,
    words: &'static str,
}

impl Inspector {
    /// Shows the pictures and the colour bar.
    pub(super) fn pictures(&mut self, ui: &mut Ui, current: &Current<'_>) {
        let space = ui.available_size();
        let beside = self.mode == Mode::Beside;
        let gap = ui.spacing().item_spacing.x;
        let width = space.x - BAR_WIDTH - gap;
        let width = if beside { (width - gap) / 2.0 } else { width };
        let size = vec2(width.max(120.0), space.y.max(100.0));
        let layer = self.layer + 1;
        let pointed = self.pointer.take();
        ui.horizontal_top(|ui| {
            let own = match self.mode {
                Mode::Alone | Mode::Beside | Mode::Split => false,
                Mode::Own => true,
                Mode::Blink => blinks(ui),
            };
            let name = format!("Inspected reconstruction of layer {layer}");
            self.canvas(ui, current, size, &name, own);
            if beside {
                self.canvas(ui, current, size, &format!("Inspected image of layer {layer}"), true);
            }
            if let Some(white) = self.white() {
                bar(ui, self.levels.tone(white), white, size.y);
            }
        });
        if self.pointer != pointed {
            // What is read out stands above this in the order of drawing.
            ui.ctx().request_repaint();
        }
    }

    /// One picture with its axes; `own` is the layer's own image.
    fn canvas(&mut self, ui: &mut Ui, current: &Current<'_>, size: egui::Vec2, name: &str, own: bool) {
        let (place, response) = ui.allocate_exact_size(size, Sense::click_and_drag());
        let area =
            Rect::from_min_max(pos2(place.left() + AXES.x, place.top() + 4.0), place.max - vec2(6.0, AXES.y));
        self.view.settle(&current.raster, area.size());
        self.handle(ui, current, &response, area);
        // As it is after that.
        self.view.settle(&current.raster, area.size());
        ui.painter().rect_filled(area, 0.0, Color32::from_gray(32));
        let middle = area.left() + self.split * area.width();
        let parts = if self.mode == Mode::Split {
            let [left, right] = [area.left()..=middle, middle..=area.right()]
                .map(|x| Rect::from_x_y_ranges(x, area.y_range()));
            vec![self.part(current, false, left), self.part(current, true, right)]
        } else {
            vec![self.part(current, own, area)]
        };
        let plane = self.view.plane(area, &current.raster, ui.pixels_per_point());
        for part in &parts {
            let painter = ui.painter().with_clip_rect(part.clip.intersect(ui.clip_rect()));
            match part.texture {
                Some((texture, uv)) => {
                    painter.image(texture, plane, uv, Color32::WHITE);
                }
                None => {
                    painter.rect_filled(plane, 0.0, Color32::BLACK);
                }
            }
            // On a ground of its own, since the picture may be black or white.
            let font = FontId::proportional(12.0);
            let galley = painter.layout_no_wrap(part.words.into(), font, Color32::WHITE);
            let corner = part.clip.left_top() + vec2(6.0, 6.0);
            let ground = Rect::from_min_size(corner, galley.size() + vec2(8.0, 4.0));
            painter.rect_filled(ground, 3.0, Color32::from_black_alpha(170));
            painter.galley(corner + vec2(4.0, 2.0), galley, Color32::WHITE);
        }
        if self.mode == Mode::Split {
            ui.painter().vline(middle, area.y_range(), Stroke::new(1.5, on_pictures().read));
        }
        self.marks(ui, current, area);
        self.axes(ui, area);
        response.accessible_name(name);
    }

    /// The reconstruction, or the layer's own image, in `clip`.
    fn part(&self, current: &Current<'_>, own: bool, clip: Rect) -> Part {
        let (slot, preview, words) = if own {
            match self.numbers.own(current.preview) {
                Some(Ok(target)) => (&self.own_picture, &target.picture, "The layer's image, scaled"),
                Some(Err(_)) => {
                    return Part { texture: None, clip, words: "The layer's image cannot be read" };
                }
                None => return Part { texture: None, clip, words: "Reading the layer's image…" },
            }
        } else {
            (&self.picture, current.preview, "Reconstruction")
        };
        let texture = slot.get(preview, &current.raster).map(|(texture, uv)| (texture.id(), uv));
        Part { texture, clip, words }
    }

    /// Wheel and drag.
    fn handle(&mut self, ui: &Ui, current: &Current<'_>, response: &Response, area: Rect) {
        if let Some(place) = response.hover_pos().filter(|place| area.contains(*place)) {
            self.pointer = Some(self.view.to_plane(area, place));
            let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
            let factor = pinch * 2f32.powf(scroll / WHEEL);
            if (factor - 1.0).abs() > 1e-4 {
                self.view.zoom(area, place, factor);
            }
        }
        let moves = self.tool == Tool::Move;
        let pans = |button| response.dragged_by(button);
        if pans(PointerButton::Middle)
            || pans(PointerButton::Secondary)
            || (moves && pans(PointerButton::Primary))
        {
            self.view.pan(response.drag_delta());
        }
        if response.double_clicked() && moves {
            self.view.fit();
        }
        if moves {
            return;
        }
        if response.drag_started_by(PointerButton::Primary) {
            let origin = ui.input(|input| input.pointer.press_origin());
            self.anchor = origin.map(|origin| self.view.to_plane(area, origin));
        }
        let Some(place) = response.interact_pointer_pos() else { return };
        let now = self.view.to_plane(area, place);
        if response.dragged_by(PointerButton::Primary) {
            self.measure(current, self.anchor.unwrap_or(now), now);
        } else if response.clicked() && matches!(self.tool, Tool::Row | Tool::Column) {
            self.measure(current, now, now);
        }
        if response.drag_stopped() {
            self.anchor = None;
        }
    }

    /// Sets what the tool sets between two positions.
    fn measure(&mut self, current: &Current<'_>, from: [f64; 2], to: [f64; 2]) {
        let raster = current.raster;
        // The nearest one on the plane.
        let place = |position: [f64; 2]| {
            [0, 1].map(|axis| {
                let [start, end] = raster.edges(axis);
                raster.place(axis, position[axis].clamp(start, end))
            })
        };
        let (from, to) = (place(from), place(to));
        let nearest = |axis: usize| {
            let last = raster.size(axis) - 1;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the plane")]
            let index = to[axis].floor().clamp(0.0, last as f64) as usize;
            index
        };
        match self.tool {
            Tool::Move => {}
            Tool::Row => self.cut = Some(Cut::Row(nearest(1))),
            Tool::Column => self.cut = Some(Cut::Column(nearest(0))),
            Tool::Line => self.cut = Some(Cut::Between(from, to)),
            Tool::Region => {
                let [columns, rows] = [0, 1].map(|axis| {
                    let size = raster.size(axis) as f64;
                    let (start, end) = (from[axis].min(to[axis]).floor(), from[axis].max(to[axis]).ceil());
                    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within it")]
                    let range = start.clamp(0.0, size) as usize..end.clamp(0.0, size) as usize;
                    range
                });
                self.region =
                    Some(Region { columns, rows }).filter(|r| !r.columns.is_empty() && !r.rows.is_empty());
            }
        }
    }

    /// The profile's line and the region's outline.
    fn marks(&self, ui: &Ui, current: &Current<'_>, area: Rect) {
        let raster = &current.raster;
        let painter = ui.painter().with_clip_rect(area.intersect(ui.clip_rect()));
        let color = on_pictures().write;
        let line = |from: [f64; 2], to: [f64; 2]| {
            let ends = [from, to].map(|position| self.view.to_screen(area, position));
            painter.line_segment(ends, Stroke::new(3.0, Color32::from_black_alpha(150)));
            painter.line_segment(ends, Stroke::new(1.5, color));
        };
        let [left, right] = raster.edges(0);
        let [top, bottom] = raster.edges(1);
        match self.cut {
            Some(Cut::Row(row)) => {
                let y = raster.middle(1, row);
                line([left, y], [right, y]);
            }
            Some(Cut::Column(column)) => {
                let x = raster.middle(0, column);
                line([x, top], [x, bottom]);
            }
            Some(Cut::Between(from, to)) => {
                let [from, to] =
                    [from, to].map(|place| [0, 1].map(|axis| raster.position(axis, place[axis])));
                line(from, to);
                painter.circle_filled(self.view.to_screen(area, from), 3.5, color);
            }
            None => {}
        }
        if let Some(region) = &self.region {
            let corner = |columns: usize, rows: usize| {
                let position = [raster.position(0, columns as f64), raster.position(1, rows as f64)];
                self.view.to_screen(area, position)
            };
            let place = Rect::from_min_max(
                corner(region.columns.start, region.rows.start),
                corner(region.columns.end, region.rows.end),
            );
            painter.rect_stroke(
                place,
                0.0,
                Stroke::new(3.0, Color32::from_black_alpha(150)),
                StrokeKind::Middle,
            );
            painter.rect_stroke(place, 0.0, Stroke::new(1.5, on_pictures().read), StrokeKind::Middle);
        }
    }

    /// Marks and numbers along x and y, in millimetres.
    fn axes(&self, ui: &Ui, area: Rect) {
        let tokens = tokens(ui);
        let (painter, font) = (ui.painter(), FontId::proportional(11.5));
        let line = Stroke::new(1.0, tokens.text_weak);
        painter.rect_stroke(area, 0.0, Stroke::new(1.0, tokens.card_line), StrokeKind::Outside);
        for (axis, points) in [(0, area.width()), (1, area.height())] {
            let [from, to] = self.view.seen(area, axis).map(|metres| 1e3 * metres);
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few marks")]
            let wanted = (points / 90.0).clamp(2.0, 12.0) as u8;
            for mark in marks(&GridInput { bounds: (from, to), base_step_size: 0.0 }, wanted, 0.0) {
                let text = signed(&number(mark.value, mark.step_size));
                let mut position = [0.0; 2];
                position[axis] = mark.value / 1e3;
                let at: Pos2 = self.view.to_screen(area, position);
                if axis == 0 {
                    painter.vline(at.x, area.bottom()..=area.bottom() + 4.0, line);
                    let place = pos2(at.x, area.bottom() + 5.0);
                    painter.text(place, Align2::CENTER_TOP, text, font.clone(), ui.visuals().text_color());
                } else {
                    painter.hline(area.left() - 4.0..=area.left(), at.y, line);
                    let place = pos2(area.left() - 6.0, at.y);
                    painter.text(place, Align2::RIGHT_CENTER, text, font.clone(), ui.visuals().text_color());
                }
            }
        }
        let below = pos2(area.center().x, area.bottom() + 20.0);
        painter.text(below, Align2::CENTER_TOP, "x in mm", font.clone(), tokens.text_weak);
        let galley = painter.layout_no_wrap("y in mm, downward".into(), font, tokens.text_weak);
        // Turned by a quarter, from below to above.
        let place = pos2(area.left() - AXES.x + 2.0, area.center().y + galley.size().x / 2.0);
        let text = egui::epaint::TextShape::new(place, galley, tokens.text_weak);
        painter.add(text.with_angle(-std::f32::consts::FRAC_PI_2));
    }

    /// What is under the pointer, in two lines whatever it is: the picture must not move.
    pub(super) fn read_out(&self, ui: &mut Ui, current: &Current<'_>) {
        let zoom = value(self.view.pixels_per_sample(&current.raster, ui.pixels_per_point()));
        let [place, intensity] = self.pointed(current).unwrap_or_else(|| {
            ["Point at the picture to read its values".into(), "intensity |u|², a layer's white is 1".into()]
        });
        let line = |ui: &mut Ui, text: String, hover: &str| {
            ui.add(Label::new(text).truncate()).on_hover_text(hover);
        };
        line(
            ui,
            place,
            "From coordinate zero, which is sample floor(n/2) of n, y counted downward as the plane's rows lie in \
             its file; and the plane's samples, from 0",
        );
        ui.horizontal(|ui| {
            let zoom = format!("{zoom} screen pixels per preview sample");
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.weak(zoom).on_hover_text("The enlargement, along the axis of the smaller pitch");
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    line(
                        ui,
                        intensity,
                        "Where the white of a layer of amplitude 1 has 1; and over the white level",
                    );
                });
            });
        });
    }

    /// Where the pointer is, and how bright it is there.
    fn pointed(&self, current: &Current<'_>) -> Option<[String; 2]> {
        let (position, raster) = (self.pointer?, current.raster);
        let (x, y) = (raster.index(0, position[0])?, raster.index(1, position[1])?);
        let intensity = f64::from(current.picture()?.at(x, y));
        let sample = |axis: usize, index: usize| {
            let samples = raster.samples(axis, index);
            if samples.len() == 1 {
                samples.start.to_string()
            } else {
                format!("{}…{}", samples.start, samples.end - 1)
            }
        };
        let place = format!(
            "x {} mm, y {} mm downward; sample x {}, y {}",
            millimetres(position[0]),
            millimetres(position[1]),
            sample(0, x),
            sample(1, y),
        );
        let mut text = format!("intensity |u|² {}", value(intensity));
        if let Some(white) = self.white().filter(|&white| white > 0.0) {
            let _ = write!(text, ", relative to white = {:.3}", intensity / f64::from(white));
        }
        if let Some(Ok(target)) = self.numbers.own(current.preview)
            && let Some(own) = target.picture.mean.get(y * raster.size(0) + x)
        {
            let _ = write!(text, "; the layer's own {}", value(f64::from(*own)));
        }
        Some([place, text])
    }
}

/// Whether the second of two pictures in turn is shown now; asks for the frame that changes it.
fn blinks(ui: &Ui) -> bool {
    let turns = ui.input(|input| input.time) / BLINK.as_secs_f64();
    ui.ctx().request_repaint_after(BLINK.mul_f64(1.0 - turns.fract()));
    #[expect(clippy::cast_possible_truncation, reason = "a count of turns")]
    let second = (turns as i64) % 2 == 1;
    second
}
