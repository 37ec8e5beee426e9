//! The two precisions the arithmetic can have.

use num_complex::Complex;
use rustfft::FftNum;

/// `f32` or `f64`.
pub trait Real: FftNum + bytemuck::Pod + Default + std::ops::AddAssign {
    /// The nearest value.
    fn rounded(value: f64) -> Self;

    /// The same value.
    fn widened(self) -> f64;

    /// |z|² in double precision.
    fn norm_sqr(z: Complex<Self>) -> f64 {
        let (re, im) = (z.re.widened(), z.im.widened());
        re * re + im * im
    }
}

impl Real for f32 {
    #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the point")]
    fn rounded(value: f64) -> Self {
        value as Self
    }

    fn widened(self) -> f64 {
        f64::from(self)
    }
}

impl Real for f64 {
    fn rounded(value: f64) -> Self {
        value
    }

    fn widened(self) -> f64 {
        self
    }
}
