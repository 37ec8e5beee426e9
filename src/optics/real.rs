//! The two precisions the arithmetic can have.

use num_complex::Complex;
use rustfft::FftNum;

/// `f32` or `f64`.
pub trait Real: FftNum + PartialOrd + bytemuck::Pod + Default + std::ops::AddAssign {
    /// The nearest value.
    fn rounded(value: f64) -> Self;

    /// The same value.
    fn widened(self) -> f64;

    /// Σ|u|² over `line` in double precision, added in an order that depends on its length alone.
    fn energy(line: &[Complex<Self>]) -> f64 {
        let square = |u: Complex<Self>| {
            let (re, im) = (u.re.widened(), u.im.widened());
            re * re + im * im
        };
        // Eight sums side by side, so that none waits for the one before.
        let mut sums = [0.0; 8];
        let (blocks, rest) = line.as_chunks::<8>();
        for block in blocks {
            for (sum, &u) in sums.iter_mut().zip(block) {
                *sum += square(u);
            }
        }
        sums.iter().sum::<f64>() + rest.iter().map(|&u| square(u)).sum::<f64>()
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
