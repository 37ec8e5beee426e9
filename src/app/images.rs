//! Pictures the window shows: reduced off the window's thread, then kept as textures.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use egui::{ColorImage, Context, TextureHandle, TextureOptions};

use super::task::{Poll, Task, Wake};
use crate::optics::Samples;
use crate::storage::{ImageError, probe, thumbnail};

/// The longest side of a thumbnail in pixels.
const THUMBNAIL_SIDE: usize = 512;
/// Bytes that decoding one image for its thumbnail may take.
const DECODING_MEMORY: u64 = 512 << 20;
/// Images decoded at the same time.
const AT_ONCE: usize = 2;

/// A layer's image, reduced.
pub struct Thumbnail {
    /// The picture on the graphics card.
    pub texture: TextureHandle,
    /// Pixels of the image along x.
    pub width: usize,
    /// Pixels of the image along y.
    pub height: usize,
}

/// What is known of an image file.
pub enum Image {
    /// Being read, or waiting for its turn.
    Loading,
    /// Ready to be shown.
    Ready(Thumbnail),
    /// Cannot be shown, with the reason.
    Failed(String),
}

struct Decoded {
    gray: ColorImage,
    width: usize,
    height: usize,
}

/// The images of the project's layers.
#[derive(Default)]
pub struct Images {
    known: HashMap<PathBuf, Image>,
    tasks: Vec<(PathBuf, Task<Result<Decoded, String>>)>,
}

impl Images {
    /// The image of a file; none when it was not asked for yet.
    #[must_use]
    pub fn get(&self, path: &Path) -> Option<&Image> {
        self.known.get(path)
    }

    /// Whether some images are still being read.
    #[must_use]
    pub fn busy(&self) -> bool {
        !self.tasks.is_empty()
    }

    /// Forgets images, so that changed files are read again.
    pub fn clear(&mut self) {
        self.known.clear();
        self.tasks.clear();
    }

    /// Reads what `wanted` names and is not known, takes in what is read, forgets the rest.
    pub fn update<'a>(&mut self, ctx: &Context, wake: &Wake, wanted: impl Iterator<Item = &'a Path> + Clone) {
        self.known.retain(|path, _| wanted.clone().any(|w| w == path));
        let side = THUMBNAIL_SIDE.min(ctx.input(|i| i.max_texture_side));
        let known = &mut self.known;
        self.tasks.retain(|(path, task)| {
            let image = match task.poll() {
                Poll::Pending => return true,
                Poll::Done(Ok(decoded)) => Image::Ready(Thumbnail {
                    texture: ctx.load_texture(
                        path.display().to_string(),
                        decoded.gray,
                        TextureOptions::LINEAR,
                    ),
                    width: decoded.width,
                    height: decoded.height,
                }),
                Poll::Done(Err(error)) => Image::Failed(error),
                Poll::Lost => Image::Failed(format!("{}: reading the image panicked", path.display())),
            };
            known.insert(path.clone(), image);
            false
        });
        for path in wanted {
            if self.tasks.len() >= AT_ONCE {
                break;
            }
            if !self.known.contains_key(path) {
                self.known.insert(path.into(), Image::Loading);
                let file = path.to_path_buf();
                let task = Task::spawn("image", wake.clone(), move || decode(&file, side));
                self.tasks.push((path.into(), task));
            }
        }
    }
}

/// Reads an image as the layer it becomes, reduced to at most `side` pixels a side.
fn decode(path: &Path, side: usize) -> Result<Decoded, String> {
    let (width, height, _) = probe(path).map_err(|e| e.to_string())?;
    let small = thumbnail(path, side, DECODING_MEMORY).map_err(|error| match error {
        // The run has a bound of its own, and its own word on this.
        ImageError::TooLarge { path, width, height, needed, limit } => format!(
            "{}: no picture of it is shown, since decoding {width} × {height} pixels takes about {needed} and \
             thumbnails get {limit}; a run can still use it",
            path.display(),
        ),
        error => error.to_string(),
    })?;
    let Samples::U8(pixels) = small.samples else {
        return Err(format!("{}: its picture cannot be shown", path.display()));
    };
    Ok(Decoded { gray: ColorImage::from_gray([small.width, small.height], &pixels), width, height })
}
