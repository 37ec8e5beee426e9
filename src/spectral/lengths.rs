//! Lengths whose transforms are fast.

/// Whether a transform of `length` is a product of short ones; others go by way of longer ones.
#[must_use]
pub const fn is_smooth(mut length: usize) -> bool {
    let primes = [2, 3, 5, 7, 11];
    let mut i = 0;
    while i < primes.len() {
        while length.is_multiple_of(primes[i]) && length > 0 {
            length /= primes[i];
        }
        i += 1;
    }
    length == 1
}

/// The multiple of `factor`, from `least` on, whose parts of a `factor`th are likely to be transformed fastest:
/// smooth, and at most a sixteenth longer than the shortest that is.
#[must_use]
pub fn fast_length(least: usize, factor: usize) -> usize {
    let first = least.div_ceil(factor).max(1);
    // Doubling comes by a power of two.
    let shortest = (first..2 * first).find(|&length| is_smooth(length)).unwrap_or(first);
    let smooth = (shortest..=shortest + shortest / 16).filter(|&length| is_smooth(length));
    let fastest = smooth.min_by(|&a, &b| cost(a).total_cmp(&cost(b)));
    factor * fastest.unwrap_or(shortest)
}

/// What a transform of a smooth length costs, relative to others of about that length. As measured with
/// rustfft's AVX kernels at 4000 to 19000 samples: powers of two and three are done up to about 1024 samples at
/// once, and by twelves from there on; each factor of 5, 7 or 11 is a pass of its own over the samples; short
/// powers of two leave vectors half empty.
fn cost(length: usize) -> f64 {
    let mut rest = length;
    let mut passes = 0.0;
    for (prime, pass) in [(5, 1.0), (7, 1.0), (11, 1.4)] {
        while rest.is_multiple_of(prime) {
            rest /= prime;
            passes += pass;
        }
    }
    while rest > 1024 {
        rest /= 12;
        passes += 1.0;
    }
    let vectors = match length.trailing_zeros() {
        0 | 1 => 0.5,
        2 => 0.2,
        3 | 4 => 0.1,
        _ => 0.0,
    };
    length as f64 * (1.0 + 0.12 * passes + vectors)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_lengths_are_smooth_multiples_and_not_far_off() {
        assert_eq!(fast_length(1, 2), 2);
        assert_eq!(fast_length(17, 17), 17);
        // 4116 = 4·3·7³ is the shortest, 4320 = 32·27·5 the fastest.
        assert_eq!(fast_length(4100, 1), 4320);
        assert_eq!(fast_length(4096, 1), 4096);
        assert_eq!(fast_length(17572, 1), 17920);
        for least in (1000..200_000).step_by(977) {
            for factor in [1, 2, 3, 16] {
                let fast = fast_length(least, factor);
                assert!(fast >= least && fast.is_multiple_of(factor), "{least} {factor} {fast}");
                assert!(is_smooth(fast / factor), "{least} {factor} {fast}");
                assert!(fast < least + least / 9 + 10 * factor, "{least} {factor} {fast}");
            }
        }
    }
}
