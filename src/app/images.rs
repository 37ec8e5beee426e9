//! Pictures the window shows: reduced off the window's thread, then kept as textures.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use egui::{ColorImage, Context, TextureHandle, TextureOptions};

use super::task::{Poll, Task, Wake};

/// The longest side of a thumbnail in pixels.
const THUMBNAIL_SIDE: u32 = 512;
/// Images decoded at the same time.
const AT_ONCE: usize = 2;

/// A layer's image, reduced.
pub struct Thumbnail {
    /// The picture on the graphics card.
    pub texture: TextureHandle,
    /// Pixels of the file along x.
    pub width: u32,
    /// Pixels of the file along y.
    pub height: u32,
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
    width: u32,
    height: u32,
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
    ///
    /// A decoded image may take up to `memory` bytes.
    pub fn update<'a>(
        &mut self,
        ctx: &Context,
        wake: &Wake,
        wanted: impl Iterator<Item = &'a Path> + Clone,
        memory: u64,
    ) {
        self.known.retain(|path, _| wanted.clone().any(|w| w == path));
        let side = ctx.input(|i| i.max_texture_side).try_into().unwrap_or(THUMBNAIL_SIDE);
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
                let task = Task::spawn("image", wake.clone(), move || {
                    decode(&file, THUMBNAIL_SIDE.min(side), memory)
                });
                self.tasks.push((path.into(), task));
            }
        }
    }
}

/// Reads an image and reduces it to at most `side` pixels a side.
fn decode(path: &Path, side: u32, memory: u64) -> Result<Decoded, String> {
    let failed = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut reader = image::ImageReader::open(path)
        .map_err(|e| failed(&e))?
        .with_guessed_format()
        .map_err(|e| failed(&e))?;
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(memory);
    reader.limits(limits);
    let picture = reader.decode().map_err(|error| match error {
        image::ImageError::Limits(_) => {
            failed(&"the decoded image does not fit in Memory; raise Memory under Method")
        }
        error => failed(&error),
    })?;
    let (width, height) = (picture.width(), picture.height());
    let small = picture.thumbnail(side.min(width), side.min(height)).into_luma8();
    let size = [small.width() as usize, small.height() as usize];
    Ok(Decoded { gray: ColorImage::from_gray(size, small.as_raw()), width, height })
}
