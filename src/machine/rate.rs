//! How many samples a second all threads together get done.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use super::MachineError;

/// How long a task is measured, in slices of which the fastest counts: what else the machine does slows
/// some of them down.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Seconds of a slice.
    pub slice: Duration,
    /// Number of slices.
    pub slices: usize,
}

impl Slot {
    /// As figures are measured.
    pub const USUAL: Self = Self { slice: Duration::from_millis(12), slices: 2 };
}

/// Wall-clock nanoseconds for a sample when `threads` threads do a task at the same time.
///
/// `prepare` makes a thread's task, which does its work once and returns the number of samples.
pub fn nanoseconds<F: FnMut() -> usize>(
    threads: usize,
    slot: Slot,
    prepare: impl Fn() -> F + Sync,
) -> Result<f64, MachineError> {
    let barrier = Barrier::new(threads);
    let one = || {
        let mut task = prepare();
        // Tables, caches and pages are there before the time starts.
        task();
        (0..slot.slices)
            .map(|_| {
                barrier.wait();
                let started = Instant::now();
                let mut samples = 0;
                while started.elapsed() < slot.slice {
                    samples += task();
                }
                samples as f64 / started.elapsed().as_secs_f64()
            })
            .collect::<Vec<_>>()
    };
    // The pool starts all its threads, or none: a barrier is no place to wait for one that never comes.
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("measure-{i}"))
        .build()
        .map_err(|e| MachineError::Threads(std::io::Error::other(e)))?;
    let rates = pool.broadcast(|_| one());
    let slices = (0..slot.slices).map(|slice| rates.iter().map(|rates| rates[slice]).sum::<f64>());
    Ok(1e9 / slices.fold(f64::MIN_POSITIVE, f64::max))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_work_at_the_same_time_share_the_wall_clock() {
        let slot = Slot { slice: Duration::from_millis(20), slices: 2 };
        let wait = || {
            || {
                std::thread::sleep(Duration::from_millis(4));
                1000
            }
        };
        let (one, two) = (nanoseconds(1, slot, wait).unwrap(), nanoseconds(2, slot, wait).unwrap());
        // Four microseconds a sample at best; a sleep can be late, so the bounds are wide.
        assert!((4000.0..16_000.0).contains(&one), "{one}");
        assert!((2000.0..8000.0).contains(&two), "{two}");
    }
}
