//! Storage: stores with positional access, direct files, planes in `.npy` and picture files. Knows nothing of optics.

mod aligned;
mod direct;
mod drives;
mod emulated;
mod error;
mod images;
mod npy;
mod planes;
mod platform;
mod rates;
mod store;
mod striped;
mod tiles;

pub use aligned::{ALIGNMENT, AlignedBuffer, align_up, block_offset};
pub use direct::DirectFile;
pub use drives::{
    DetectedDrive, DeviceId, description_of, detect, device_of, existing, folder_on, free_space,
    has_direct_io, one_on_each, same_device, same_file_system, volume_of,
};
pub use emulated::{Clock, EmulatedDrive, EmulatedStore};
pub use error::{StorageError, folder_of};
pub use images::{ImageError, open_layer, probe, save_gray_png, thumbnail};
pub use npy::{Element, NpyHeader};
pub use planes::{Container, PlaneHeader};
pub use platform::peak_memory;
pub use rates::{Duplex, Rates, RatesError};
pub use store::{MemoryStore, Store};
pub use striped::{STRIPE, StripedStore};
pub use tiles::{PANEL, SCALE_ROWS, ScratchPrecision, Tiles};
