//! Gigafringe makes and inspects holograms larger than memory, on a desktop, from several drives at once.

pub mod cli;
pub mod engine;
pub mod inspect;
pub mod methods;
pub mod optics;
pub mod project;
pub mod run;
pub mod spectral;
pub mod storage;
