//! Gigafringe makes and inspects holograms larger than memory, on a desktop, from several drives at once.

pub mod app;
pub mod engine;
pub mod optics;
pub mod project;
pub mod run;
pub mod storage;
