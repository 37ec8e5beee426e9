//! The sampling of a plane.

use serde::{Deserialize, Serialize};

use super::Length;

/// A plane's samples: `height × width` of them, in C order `[y, x]`, at a pitch per axis.
///
/// Sample `floor(n / 2)` of an axis is its coordinate zero.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "GridFile", into = "GridFile")]
pub struct Grid {
    /// Samples along x.
    pub width: usize,
    /// Samples along y.
    pub height: usize,
    /// Distance of neighbouring samples along x.
    pub pitch_x: Length,
    /// Distance of neighbouring samples along y.
    pub pitch_y: Length,
}

/// A grid as a project file holds it: one `pitch`, or `pitch_x` and `pitch_y`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GridFile {
    width: usize,
    height: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pitch: Option<Length>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pitch_x: Option<Length>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pitch_y: Option<Length>,
}

impl TryFrom<GridFile> for Grid {
    type Error = &'static str;

    fn try_from(file: GridFile) -> Result<Self, Self::Error> {
        let (pitch_x, pitch_y) = match (file.pitch, file.pitch_x, file.pitch_y) {
            (Some(pitch), None, None) => (pitch, pitch),
            (None, Some(x), Some(y)) => (x, y),
            _ => return Err("grid: give either `pitch`, or both `pitch_x` and `pitch_y`"),
        };
        Ok(Self { width: file.width, height: file.height, pitch_x, pitch_y })
    }
}

impl From<Grid> for GridFile {
    fn from(grid: Grid) -> Self {
        let one = grid.pitch_x == grid.pitch_y;
        Self {
            width: grid.width,
            height: grid.height,
            pitch: one.then_some(grid.pitch_x),
            pitch_x: (!one).then_some(grid.pitch_x),
            pitch_y: (!one).then_some(grid.pitch_y),
        }
    }
}

impl Grid {
    /// Number of samples.
    #[must_use]
    pub const fn samples(&self) -> u64 {
        self.width as u64 * self.height as u64
    }
}
