//! Draws the window under test without a display or a graphics card, the same pixels everywhere.

use std::collections::HashMap;

use dream_soft_render::{ClipRect, Color, Mesh, SoftwareRenderer, TextureId, Vertex};
use egui::epaint::{ClippedPrimitive, ImageData, ImageDelta, Primitive};
use egui::{TexturesDelta, pos2};
use egui_kittest::TestRenderer;
use image::RgbaImage;

/// The largest part of a picture that is drawn at once; the renderer draws no larger ones.
const TILE: [u32; 2] = [1280 - 2 * MARGIN, 720 - 2 * MARGIN];

/// Pixels around a tile that are drawn and thrown away: shapes end badly at a surface's border.
const MARGIN: u32 = 2;

/// A renderer on the processor for [`egui_kittest::Harness`].
///
/// Textures are sampled at the nearest texel.
#[derive(Default)]
pub struct Painter {
    renderer: SoftwareRenderer,
    textures: HashMap<egui::TextureId, TextureId>,
}

impl Painter {
    fn set(&mut self, id: egui::TextureId, delta: &ImageDelta) -> Result<(), dream_soft_render::Error> {
        let ImageData::Color(image) = &delta.image;
        let ([width, height], pixels) = (image.size, image.as_raw());
        match (delta.pos, self.textures.get(&id)) {
            (Some([x, y]), Some(&texture)) => {
                self.renderer.update_texture(texture, x, y, width, height, pixels)
            }
            (_, old) => {
                if let Some(&old) = old {
                    self.renderer.free_texture(old)?;
                }
                let texture = self.renderer.create_texture(width, height, pixels)?;
                self.textures.insert(id, texture);
                Ok(())
            }
        }
    }

    /// Draws the part of the picture that begins at `corner`, in pixels.
    fn tile(
        &mut self,
        primitives: &[ClippedPrimitive],
        corner: [u32; 2],
        scale: f32,
    ) -> Result<RgbaImage, String> {
        let [left, top] = corner.map(|c| c as f32 - MARGIN as f32);
        let [width, height] = TILE.map(|size| size + 2 * MARGIN);
        let mut frame =
            self.renderer.begin_frame(width as usize, height as usize).map_err(|e| e.to_string())?;
        frame.clear(Color::BLACK);
        for ClippedPrimitive { clip_rect, primitive } in primitives {
            let Primitive::Mesh(mesh) = primitive else { return Err("a paint callback".into()) };
            let x = |at: f32| pixel(scale * at - left);
            let y = |at: f32| pixel(scale * at - top);
            let (min, max) = (clip_rect.min, clip_rect.max);
            let clip = ClipRect::new(x(min.x), y(min.y), x(max.x), y(max.y));
            let vertices: Vec<Vertex> = mesh
                .vertices
                .iter()
                .map(|vertex| {
                    let pos = pos2(scale * vertex.pos.x - left, scale * vertex.pos.y - top);
                    let [r, g, b, a] = vertex.color.to_array();
                    let color = Color::from_rgba_premultiplied(r, g, b, a);
                    Vertex::new([pos.x, pos.y], [vertex.uv.x, vertex.uv.y], color)
                })
                .collect();
            let texture = self.textures.get(&mesh.texture_id).copied();
            let drawn = Mesh { vertices: &vertices, indices: &mesh.indices, texture };
            frame.mesh(drawn, clip).map_err(|error| error.to_string())?;
        }
        let all = RgbaImage::from_raw(width, height, frame.surface().pixels.clone()).ok_or("a surface")?;
        Ok(image::imageops::crop_imm(&all, MARGIN, MARGIN, TILE[0], TILE[1]).to_image())
    }
}

/// The nearest pixel border, the picture's first one for what is before it.
fn pixel(at: f32) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least 0")]
    let border = at.round().max(0.0) as u32;
    border
}

impl TestRenderer for Painter {
    fn handle_delta(&mut self, delta: &mut TexturesDelta) {
        for (id, images) in delta.set.drain() {
            for image in images {
                self.set(id, &image).expect("a texture");
            }
        }
        for id in delta.free.drain() {
            if let Some(texture) = self.textures.remove(&id) {
                self.renderer.free_texture(texture).expect("a texture that was set");
            }
        }
    }

    fn render(&mut self, ctx: &egui::Context, output: &egui::FullOutput) -> Result<RgbaImage, String> {
        let scale = ctx.pixels_per_point();
        let primitives = ctx.tessellate(output.shapes.clone(), scale);
        let size = scale * ctx.content_rect().size();
        let [width, height] = [pixel(size.x), pixel(size.y)];
        let mut picture = RgbaImage::new(width, height);
        for top in (0..height).step_by(TILE[1] as usize) {
            for left in (0..width).step_by(TILE[0] as usize) {
                let tile = self.tile(&primitives, [left, top], scale)?;
                image::imageops::replace(&mut picture, &tile, i64::from(left), i64::from(top));
            }
        }
        Ok(picture)
    }
}
