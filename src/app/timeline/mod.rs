//! What each drive and stream did when, as bars along the time.

mod data;
mod page;
mod plot;

pub use data::{Bar, Timeline};
pub use page::show;
