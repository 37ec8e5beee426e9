//! Gigafringe makes and inspects holograms larger than memory, on a desktop, from several drives at once.
//!
//! [`project::Project`] holds all that a user sets; [`run`] turns it into files; [`app`] and [`cli`] are
//! two ways to do so. ARCHITECTURE.md follows one job through the modules.

#[cfg(not(target_pointer_width = "64"))]
compile_error!("planes of 2^32 samples and more need a 64-bit machine");

pub mod app;
pub mod cli;
pub mod engine;
pub mod inspect;
pub mod lab;
pub mod machine;
pub mod methods;
pub mod optics;
pub mod planner;
pub mod project;
pub mod run;
pub mod spectral;
pub mod storage;
