//! A reduced picture of a plane's intensities.

use super::Raster;

/// The mean of |u|² over each preview sample of a raster, `[y, x]`.
#[derive(Debug, Clone, Copy)]
pub struct Picture<'a> {
    /// Where the samples lie.
    pub raster: Raster,
    values: &'a [f32],
}

impl<'a> Picture<'a> {
    /// A picture, if there is a value for each preview sample and at least one.
    #[must_use]
    pub fn new(raster: Raster, values: &'a [f32]) -> Option<Self> {
        (raster.scale > 0 && !values.is_empty() && values.len() == raster.count())
            .then_some(Self { raster, values })
    }

    /// All values, row after row.
    #[must_use]
    pub const fn values(&self) -> &'a [f32] {
        self.values
    }

    /// The values of row `y`.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, y: usize) -> &'a [f32] {
        let width = self.raster.size(0);
        &self.values[y * width..(y + 1) * width]
    }

    /// The value at column `x` of row `y`.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn at(&self, x: usize, y: usize) -> f32 {
        self.row(y)[x]
    }
}
