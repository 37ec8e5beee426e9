//! Page-aligned memory for direct I/O.

use aligned_vec::{AVec, ConstAlign};

/// What offset, length and address of a direct request are multiples of.
pub const ALIGNMENT: usize = 4096;

/// `bytes` rounded up to a multiple of [`ALIGNMENT`].
#[must_use]
pub const fn align_up(bytes: usize) -> usize {
    bytes.next_multiple_of(ALIGNMENT)
}

/// How far `offset` lies behind the last block boundary.
#[must_use]
pub fn block_offset(offset: u64) -> usize {
    usize::try_from(offset % ALIGNMENT as u64).unwrap_or(0)
}

/// A zeroed buffer whose first byte lies on a page boundary.
#[derive(Debug)]
pub struct AlignedBuffer(AVec<u8, ConstAlign<ALIGNMENT>>);

impl AlignedBuffer {
    /// Allocates `bytes` bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let mut memory = AVec::with_capacity(ALIGNMENT, bytes);
        memory.resize(bytes, 0);
        Self(memory)
    }
}

impl std::ops::Deref for AlignedBuffer {
    type Target = [u8];
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl std::ops::DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}
