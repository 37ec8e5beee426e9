//! The command line: the same jobs as the window, without one.

mod arguments;
mod commands;
mod lab;
mod measure;
mod output;

pub use arguments::Arguments;
pub use commands::execute;
