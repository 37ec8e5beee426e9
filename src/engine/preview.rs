//! A reduced intensity image, gathered while a plane's lines stream past.

/// The mean intensity |u|² of a plane over square bins, `[y, x]`.
///
/// A bin covers `scale × scale` samples (fewer at the right and lower edge), so the image is
/// "1 : scale". It has at most [`Preview::MAX_SIDE`] bins a side.
#[derive(Debug, Clone, PartialEq)]
pub struct Preview {
    /// Bins along x.
    pub width: usize,
    /// Bins along y.
    pub height: usize,
    /// Samples of the plane along one side of a bin.
    pub scale: usize,
    /// The distance of the plane from the hologram in metres.
    pub distance: f64,
    /// The mean of |u|² in each bin, `height × width`, C order.
    pub mean: Vec<f32>,
}

impl Preview {
    /// The longest side of a preview, in bins.
    pub const MAX_SIDE: usize = 2048;
}
