//! The scene from the side: the hologram, the layers at their depths, and how far their light spreads.

use egui::{
    Align2, Color32, Id, Rect, RichText, Role, Sense, Stroke, TextStyle, Ui, Vec2b, WidgetInfo, pos2,
};
use egui_plot::{Line, LineStyle, Plot, PlotPoints, PlotTransform, Polygon};

use super::commands::Command;
use super::edits::Edit;
use super::images::{Image, Images};
use super::text;
use super::theme::{GAP, tokens};
use crate::inspect::Raster;
use crate::optics::{LayerSource, Length, Sampling, largest_angle, reach};
use crate::project::Project;
use crate::run::sampling;

/// A dragged layer stops at multiples of this many millimetres.
const SNAP: f64 = 0.01;
/// Points beside a bar at which it can still be taken hold of.
const GRIP: f32 = 6.0;
/// Height of the line under the plot.
const NOTE_HEIGHT: f32 = 26.0;
/// Light is drawn up to this many halves of the hologram's height, so that the layers stay visible.
const HIGHEST: f64 = 4.0;
/// The longest name of a layer in the plot, in letters.
const LONGEST_NAME: usize = 20;

/// The page's own state.
#[derive(Debug, Default)]
pub struct ScenePage {
    same_scale: bool,
    dragged: Option<Dragged>,
}

/// A layer under way to another depth.
#[derive(Debug, Clone, Copy)]
struct Dragged {
    layer: usize,
    /// Its depth now, in mm.
    depth: f64,
    /// What is to be added to the pointer's depth.
    offset: f64,
    /// Whether the view followed the layers before.
    followed: Vec2b,
}

/// A layer as it is drawn; lengths in mm.
struct Bar {
    layer: usize,
    depth: f64,
    /// Where its image begins and ends along y, which counts downward as the rows do.
    heights: [f64; 2],
    enabled: bool,
    name: String,
}

impl ScenePage {
    /// Shows the page.
    pub fn show(&mut self, ui: &mut Ui, project: &Project, images: &Images, commands: &mut Vec<Command>) {
        if self.dragged.is_some_and(|dragged| dragged.layer >= project.layers.len())
            || ui.input(|i| i.key_pressed(egui::Key::Escape))
        {
            self.dragged = None;
        }
        self.head(ui, project);
        let bars = self.bars(project, images);
        let height = (ui.available_height() - NOTE_HEIGHT).max(120.0);
        let (transform, followed) = self.plot(ui, project, &bars, height);
        for bar in &bars {
            self.grip(ui, &transform, followed, bar, commands);
        }
        names(ui, &transform, &bars);
        scale_note(ui, &transform);
    }

    fn head(&mut self, ui: &mut Ui, project: &Project) {
        ui.horizontal_wrapped(|ui| {
            ui.label(RichText::new("Scene from the side").strong().size(15.0));
            ui.add_space(GAP);
            ui.checkbox(&mut self.same_scale, "Same scale on both axes")
                .on_hover_text("A millimetre along z is drawn as long as a millimetre of height");
            ui.add_space(GAP);
            ui.label(RichText::new("Light travels toward +z ➡").weak());
        });
        ui.label(facts(project)).on_hover_text(
            "The cone shows how far the light of one point spreads on its way to the hologram; the dotted lines \
             where the light of the whole layer ends. Both are drawn up to twice the hologram's height",

        );
        ui.label(
            RichText::new(
                "Drag a layer along z to change its depth, or type it under Layers. Drag elsewhere to move the \
                 view, Ctrl and wheel to zoom, double click to see all.",
            )
            .weak()
            .small(),
        );
    }

    fn bars(&self, project: &Project, images: &Images) -> Vec<Bar> {
        let grid = &project.grid;
        let raster = raster(project);
        let bar = |(index, layer): (usize, &crate::project::Layer)| {
            let rows = match images.get(&layer.image) {
                Some(Image::Ready(picture)) if grid.width > 0 && grid.height > 0 => {
                    LayerSource::window_of(picture.width, picture.height, grid)[0].clone()
                }
                _ => 0..grid.height,
            };
            let dragged = self.dragged.filter(|dragged| dragged.layer == index);
            let letters: Vec<char> = text::file_name(&layer.image).chars().collect();
            let mut name: String = letters.iter().take(LONGEST_NAME).collect();
            if letters.len() > LONGEST_NAME {
                name.push('…');
            }
            Bar {
                layer: index,
                depth: dragged.map_or(1e3 * layer.distance.in_metres(), |dragged| dragged.depth),
                heights: [rows.start, rows.end].map(|row| 1e3 * raster.position(1, row as f64)),
                enabled: layer.enabled,
                name: format!("{} {name}", index + 1),
            }
        };
        project.layers.iter().enumerate().map(bar).collect()
    }

    /// Draws the plot; tells where things are, and whether the view follows them.
    fn plot(&self, ui: &mut Ui, project: &Project, bars: &[Bar], height: f32) -> (PlotTransform, Vec2b) {
        let tokens = tokens(ui);
        let half = 0.5e3 * project.grid.height as f64 * project.grid.pitch_y.in_metres();
        let mut plot = Plot::new("scene")
            .height(height)
            .show_crosshair(false)
            .grid_color(tokens.card_line)
            .label_formatter(|_| None)
            .x_axis_label(axis_title("Depth z in mm", tokens.text_weak))
            .y_axis_label(axis_title("y in mm, downward", tokens.text_weak))
            .invert_y(true)
            .set_margin_fraction(egui::vec2(0.08, 0.16));
        if self.same_scale {
            plot = plot.data_aspect(1.0);
        }
        if bars.iter().all(|bar| bar.depth == 0.0) {
            plot = plot.include_x(-1.0).include_x(1.0);
        }
        let dragging = self.dragged.is_some();
        let shown = plot.show(ui, |plot| {
            for side in [1.0, -1.0] {
                for item in cone(project, bars, side, half) {
                    match item {
                        Drawn::Cone(points) => plot.polygon(
                            Polygon::new("cone", points)
                                .fill_color(tokens.accent.gamma_multiply(0.18))
                                .stroke(Stroke::new(1.0, tokens.accent))
                                .allow_hover(false),
                        ),
                        Drawn::Edge(points) => plot.line(
                            Line::new("edge", points)
                                .color(tokens.text_weak)
                                .width(1.2)
                                .style(LineStyle::dotted_dense())
                                .allow_hover(false),
                        ),
                    }
                }
            }
            let hologram = raster(project).edges(1).map(|y| [0.0, 1e3 * y]);
            let hologram = PlotPoints::from(hologram.to_vec());
            plot.line(Line::new("hologram", hologram).color(tokens.accent).width(5.0).allow_hover(false));
            for bar in bars {
                let points = PlotPoints::from(bar.heights.map(|y| [bar.depth, y]).to_vec());
                let (style, color) = if bar.enabled {
                    (LineStyle::Solid, tokens.compute)
                } else {
                    (LineStyle::dashed_loose(), tokens.wait)
                };
                let line = Line::new(format!("layer {}", bar.layer + 1), points);
                plot.line(line.color(color).width(4.0).style(style).allow_hover(false));
            }
            let followed = plot.auto_bounds();
            // The view must not run away from the pointer.
            if dragging {
                plot.set_auto_bounds(false);
            }
            followed
        });
        shown.response.accessible_name("Scene from the side");
        let followed = self.dragged.map_or(shown.inner, |dragged| dragged.followed);
        let place = shown.transform.position_from_point_x(0.0);
        let frame = *shown.transform.frame();
        if frame.x_range().contains(place) {
            let font = TextStyle::Small.resolve(ui.style());
            let at = pos2(place, frame.bottom() - 4.0);
            ui.painter().with_clip_rect(frame).text(
                at,
                Align2::CENTER_BOTTOM,
                "hologram",
                font,
                tokens.accent,
            );
        }
        (shown.transform, followed)
    }

    /// Lets a layer be dragged.
    fn grip(
        &mut self,
        ui: &Ui,
        transform: &PlotTransform,
        followed: Vec2b,
        bar: &Bar,
        commands: &mut Vec<Command>,
    ) {
        let x = transform.position_from_point_x(bar.depth);
        let [top, bottom] = bar.heights.map(|y| transform.position_from_point_y(y));
        let place = Rect::from_x_y_ranges(x - GRIP..=x + GRIP, top..=bottom).intersect(*transform.frame());
        let held = self.dragged.is_some_and(|dragged| dragged.layer == bar.layer);
        if !held && !place.is_positive() {
            return;
        }
        let number = bar.layer + 1;
        let depth = text::length(snapped_length(bar.depth));
        let response = ui.interact(place, Id::unique(("scene layer", bar.layer)), Sense::drag());
        let words = format!("Layer {number} in the scene, at {depth}");
        response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &words));
        let at = |position: egui::Pos2| transform.value_from_position(position).x;
        if response.drag_started() {
            let pressed = ui.input(|i| i.pointer.press_origin()).map_or(bar.depth, at);
            let (layer, depth) = (bar.layer, bar.depth);
            self.dragged = Some(Dragged { layer, depth, offset: depth - pressed, followed });
        }
        let Some(dragged) = self.dragged.as_mut().filter(|dragged| dragged.layer == bar.layer) else {
            response
                .on_hover_cursor(egui::CursorIcon::ResizeHorizontal)
                .on_hover_text(format!("{words}; drag to move it"));
            return;
        };
        if let Some(pointer) = response.interact_pointer_pos() {
            let depth = snapped(at(pointer) + dragged.offset);
            if (depth - dragged.depth).abs() > 0.0 {
                dragged.depth = depth;
                // The bar was drawn before.
                ui.ctx().request_repaint();
            }
        }
        ui.set_cursor_icon(egui::CursorIcon::ResizeHorizontal);
        if response.drag_stopped() {
            commands.push(Command::Edit(Edit::Distance(bar.layer, snapped_length(dragged.depth))));
            self.dragged = None;
        }
    }
}

/// Something that shows where light goes.
enum Drawn {
    /// The light of one point.
    Cone(PlotPoints<'static>),
    /// An edge of the light of a whole layer.
    Edge(PlotPoints<'static>),
}

/// Where the plane's samples lie, as the inspector has it.
fn raster(project: &Project) -> Raster {
    let grid = project.grid;
    let pitch = [grid.pitch_x.in_metres(), grid.pitch_y.in_metres()];
    Raster { plane: [grid.width, grid.height], pitch, scale: 1 }
}

/// The light of the farthest layer on one side of the hologram.
fn cone(project: &Project, bars: &[Bar], side: f64, half: f64) -> Vec<Drawn> {
    let on_side = bars.iter().filter(|bar| bar.enabled && bar.depth * side > 0.0);
    let Some(bar) = on_side.max_by(|a, b| a.depth.abs().total_cmp(&b.depth.abs())) else {
        return Vec::new();
    };
    let Some(reach) = reach_in_height(project, bar.depth) else { return Vec::new() };
    let depth = bar.depth;
    let most = HIGHEST * half;
    let edge = |from: f64, to: f64| {
        let [z, y] = cut([depth, from], to, most);
        Drawn::Edge(PlotPoints::from(vec![[depth, from], [z, y]]))
    };
    let middle = f64::midpoint(bar.heights[0], bar.heights[1]);
    vec![
        Drawn::Cone(PlotPoints::from(vec![
            [depth, middle],
            cut([depth, middle], middle + reach, most),
            [0.0, (middle + reach).min(most)],
            [0.0, (middle - reach).max(-most)],
            cut([depth, middle], middle - reach, most),
        ])),
        edge(bar.heights[0].max(-half), bar.heights[0].max(-half) - reach),
        edge(bar.heights[1].min(half), bar.heights[1].min(half) + reach),
    ]
}

/// Where the line from `[z, y]` to `[0, to]` ends that is drawn up to the height `most` only, on either side.
fn cut([z, y]: [f64; 2], to: f64, most: f64) -> [f64; 2] {
    if to.abs() <= most {
        return [0.0, to];
    }
    let end = most.copysign(to);
    [z * (1.0 - (end - y) / (to - y)), end]
}

/// The reach in height over `depth`, both in mm; along the axis alone where the band's corner does not travel.
fn reach_in_height(project: &Project, depth: f64) -> Option<f64> {
    let (wavelength, pitch) = (project.wavelength.in_metres(), project.grid.pitch_y.in_metres());
    let corner = reach(wavelength, [pitch, project.grid.pitch_x.in_metres()], 1e-3 * depth)[0];
    let whole = 1e3 * corner * pitch;
    let axis = depth.abs() * largest_angle(wavelength, pitch).to_radians().tan();
    [whole, axis].into_iter().find(|reach| reach.is_finite() && *reach < 1e6 * depth.abs())
}

/// The angles and the reach in words.
fn facts(project: &Project) -> String {
    let Sampling { angle, reach, .. } = sampling(project, None);
    let [y, x] = angle.map(|angle| format!("{angle:.2}°"));
    let angle = if x == y { x } else { format!("{x} along x, {y} along y") };
    let far = project.enabled_layers().map(|(_, layer)| layer.distance);
    let far = far.max_by(|a, b| a.in_metres().abs().total_cmp(&b.in_metres().abs()));
    let reach = match far {
        None => "; no layer yet: add an image under Layers".into(),
        Some(far) if reach[0].is_infinite() => {
            format!("; the light of the finest samples runs along the plane, also from {}", text::length(far))
        }
        Some(far) => format!("; reach from {}: {}", text::length(far), rounded(reach[0])),
    };
    format!("Largest diffraction angle {angle}{reach}")
}

/// A length with three digits.
fn rounded(metres: f64) -> String {
    format!("{metres:.2e}m").parse().map_or_else(|_| format!("{metres:.2e} m"), text::length)
}

/// The layers' names, above one another where they would overlap.
fn names(ui: &Ui, transform: &PlotTransform, bars: &[Bar]) {
    let (font, tokens) = (TextStyle::Small.resolve(ui.style()), tokens(ui));
    let frame = *transform.frame();
    let painter = ui.painter().with_clip_rect(frame);
    let mut taken: Vec<Rect> = Vec::new();
    for bar in bars {
        let off = if bar.enabled { "" } else { " (disabled)" };
        let depth = text::length(snapped_length(bar.depth));
        let galley = painter.layout_no_wrap(
            format!("{}, {depth}{off}", bar.name),
            font.clone(),
            if bar.enabled { ui.visuals().text_color() } else { tokens.text_weak },
        );
        let x = transform.position_from_point_x(bar.depth);
        if !frame.x_range().expand(1.0).contains(x) {
            continue;
        }
        let left = (x - 0.5 * galley.size().x)
            .clamp(frame.left() + 2.0, (frame.right() - galley.size().x - 2.0).max(frame.left() + 2.0));
        let mut place = Rect::from_min_size(pos2(left, frame.top() + 3.0), galley.size());
        while taken.iter().any(|other| other.intersects(place.expand2(egui::vec2(4.0, 0.0)))) {
            place = place.translate(egui::vec2(0.0, galley.size().y + 1.0));
        }
        painter.rect_filled(place.expand(1.0), 2.0, ui.visuals().extreme_bg_color.gamma_multiply(0.8));
        painter.galley(place.min, galley, Color32::PLACEHOLDER);
        taken.push(place);
    }
}

/// Says how the axes compare.
fn scale_note(ui: &mut Ui, transform: &PlotTransform) {
    let [x, y] = transform.dpos_dvalue().map(f64::abs);
    let ratio = x / y;
    let text = if (0.99..1.01).contains(&ratio) {
        "To scale: both axes alike.".to_owned()
    } else if ratio >= 1.0 {
        format!("Not to scale: depth is drawn {} times as large as y.", number(ratio))
    } else {
        format!("Not to scale: y is drawn {} times as large as depth.", number(1.0 / ratio))
    };
    ui.label(RichText::new(text).weak().small());
}

fn number(value: f64) -> String {
    if value < 9.95 { format!("{value:.1}") } else { format!("{value:.0}") }
}

fn axis_title(text: &str, color: Color32) -> RichText {
    RichText::new(text).size(11.5).color(color)
}

/// The nearest depth at which a dragged layer stops, in mm.
fn snapped(depth: f64) -> f64 {
    // Adding zero turns −0 into 0.
    (depth / SNAP).round() * SNAP + 0.0
}

/// A depth in mm as a length without digits of binary arithmetic.
fn snapped_length(depth: f64) -> Length {
    format!("{depth:.6}mm").parse().unwrap_or(Length::metres(1e-3 * depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dragged_layer_stops_at_hundredths_of_a_millimetre() {
        assert_eq!(snapped_length(snapped(3.4567)).to_string(), "3.46mm");
        assert_eq!(snapped_length(snapped(-0.004)).to_string(), "0mm");
        assert_eq!(snapped_length(snapped(-12.005_1)).to_string(), "-12.01mm");
        assert_eq!(snapped_length(0.0125).to_string(), "12.5um");
    }

    #[test]
    fn light_is_drawn_up_to_a_height() {
        // Down from 1 to −9 over 6 mm: −4 is half of the way.
        for (from, to, end) in
            [([6.0, 1.0], 3.0, [0.0, 3.0]), ([6.0, 1.0], -9.0, [3.0, -4.0]), ([-6.0, 0.0], 8.0, [-3.0, 4.0])]
        {
            let got: [f64; 2] = cut(from, to, 4.0);
            assert!((got[0] - end[0]).abs() + (got[1] - end[1]).abs() < 1e-12, "{got:?}");
        }
    }

    #[test]
    fn the_cone_is_as_wide_as_the_reach() {
        let mut project = crate::app::blank_project();
        // sin θ = 0.0665: 4 mm · 0.0665/sqrt(1 − 2·0.0665²).
        let reach = reach_in_height(&project, -4.0).unwrap();
        assert!((reach - 0.267_187).abs() < 1e-5, "{reach}");
        // The corner does not travel; along the axis sin θ = 0.76.
        [project.grid.pitch_x, project.grid.pitch_y] = [Length::metres(0.35e-6); 2];
        let reach = reach_in_height(&project, 1.0).unwrap();
        assert!((reach - 0.76 / (1.0 - 0.76f64.powi(2)).sqrt()).abs() < 1e-9, "{reach}");
        project.grid.pitch_y = Length::metres(0.2e-6);
        assert_eq!(reach_in_height(&project, 1.0), None);
    }
}
