//! Overlap-save along one axis: a line is computed in blocks, each with a guard on either side.
//!
//! A block's `valid` outputs need its own inputs and `guard` more on both sides, as far as the line has them.
//! They are placed in a transform of `transform ≥ valid + 2·guard` samples, where the response's far ends wrap
//! around into the guards alone. One block that is the whole line needs no more than `length + guard` samples.

use std::ops::Range;

use super::fast_length;

/// How a line is cut into blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blocks {
    /// Samples of the line.
    pub length: usize,
    /// Samples of the line that a block gives; the last may give fewer.
    pub valid: usize,
    /// Samples on either side that a block needs beside its own.
    pub guard: usize,
    /// Samples of a block's transform.
    pub transform: usize,
}

impl Blocks {
    /// Blocks of `valid` samples for a line of `length` with a response that is negligible from `guard` samples
    /// on; the transform has a fast length, an even one.
    ///
    /// # Panics
    /// If there is nothing to cut.
    #[must_use]
    pub fn new(length: usize, valid: usize, guard: usize) -> Self {
        assert!(length > 0 && valid > 0, "a line and its blocks");
        let valid = valid.min(length);
        let least = if valid == length { length + guard } else { valid + 2 * guard };
        let even = least.next_multiple_of(2);
        let fast = fast_length(even, 1);
        let transform = if fast.is_multiple_of(2) { fast } else { fast_length(even, 2) };
        Self { length, valid, guard, transform }
    }

    /// One block for a line of `length`, whose transform is the definition's own doubled line.
    #[must_use]
    pub const fn doubled(length: usize) -> Self {
        Self { length, valid: length, guard: length, transform: 2 * length }
    }

    /// Number of blocks.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.length.div_ceil(self.valid)
    }

    /// The samples that block `block` gives.
    #[must_use]
    pub fn output(&self, block: usize) -> Range<usize> {
        block * self.valid..self.length.min((block + 1) * self.valid)
    }

    /// The samples that block `block` needs.
    #[must_use]
    pub fn input(&self, block: usize) -> Range<usize> {
        let output = self.output(block);
        output.start.saturating_sub(self.guard)..self.length.min(output.end + self.guard)
    }

    /// Where sample `index` of the line lies in the transform of block `block`, which needs it.
    #[must_use]
    pub const fn place(&self, block: usize, index: usize) -> usize {
        if self.count() == 1 { index } else { index + self.guard - block * self.valid }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_output_is_given_once_and_within_its_transform_nothing_false_reaches_it() {
        for length in [1, 7, 40, 97] {
            for valid in [1, 5, 40, 200] {
                for guard in [0, 3, 16] {
                    let blocks = Blocks::new(length, valid, guard);
                    let mut next = 0;
                    for block in 0..blocks.count() {
                        let (output, input) = (blocks.output(block), blocks.input(block));
                        assert_eq!(output.start, next);
                        next = output.end;
                        for m in output {
                            let place = blocks.place(block, m);
                            assert!(place < blocks.transform);
                            // All of the line within the guard is there …
                            let near = m.saturating_sub(guard)..length.min(m + guard + 1);
                            assert!(input.start <= near.start && input.end >= near.end, "{blocks:?} {m}");
                            for n in input.clone() {
                                let other = blocks.place(block, n);
                                assert!(other < blocks.transform);
                                assert_eq!(place.wrapping_sub(other), m.wrapping_sub(n));
                                // … and what is there wraps around by no less than the guard.
                                let wrapped = blocks.transform - place.abs_diff(other);
                                assert!(wrapped >= guard, "{blocks:?}: {m} and {n}");
                            }
                        }
                    }
                    assert_eq!(next, length);
                }
            }
        }
    }
}
