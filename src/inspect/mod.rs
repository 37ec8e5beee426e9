//! Inspection: what a plane's samples look like to the eye. Knows nothing of the window.

mod tone;

pub use tone::{Curve, Tone, percentile};
