//! The seam to the operating system: everything that differs between Linux, macOS and Windows.

mod identity;
mod io;
mod memory;

pub use identity::{bus_of, device_names, file_system, file_system_kind, is_virtual};
pub use io::{open_direct, read_at, write_at};
pub use memory::peak_memory;
