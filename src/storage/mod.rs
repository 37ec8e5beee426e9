//! Storage: drives and their identity. Knows nothing of optics.

pub mod drives;
