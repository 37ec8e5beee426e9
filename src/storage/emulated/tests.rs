//! Emulated drives on a clock that needs no time.

use std::sync::Condvar;

use super::*;
use crate::storage::MemoryStore;

/// A clock that moves on when all its threads sleep, to the first of them that wakes up.
struct VirtualClock {
    state: Mutex<State>,
    moved: Condvar,
    /// How late a sleeper wakes up.
    overshoot: Duration,
}

struct State {
    now: Duration,
    awake: usize,
    sleepers: Vec<Duration>,
}

impl VirtualClock {
    fn new(threads: usize, overshoot: Duration) -> Arc<Self> {
        let state = State { now: Duration::ZERO, awake: threads, sleepers: Vec::new() };
        Arc::new(Self { state: Mutex::new(state), moved: Condvar::new(), overshoot })
    }

    /// Lets time pass if nobody is awake.
    fn turn(&self, state: &mut State) {
        if state.awake == 0
            && let Some(&first) = state.sleepers.iter().min()
        {
            state.now = state.now.max(first);
            let before = state.sleepers.len();
            state.sleepers.retain(|&time| time > first);
            state.awake += before - state.sleepers.len();
            self.moved.notify_all();
        }
    }

    fn leave(&self) {
        let mut state = self.state.lock().unwrap();
        state.awake -= 1;
        self.turn(&mut state);
    }
}

impl Clock for Arc<VirtualClock> {
    fn now(&self) -> Duration {
        self.state.lock().unwrap().now
    }

    fn sleep_until(&self, time: Duration) {
        let mut state = self.state.lock().unwrap();
        if time <= state.now {
            return;
        }
        let time = time + self.overshoot;
        state.sleepers.push(time);
        state.awake -= 1;
        self.turn(&mut state);
        while state.now < time {
            state = self.moved.wait(state).unwrap();
        }
    }
}

/// A store whose requests take as long as a drive of `rate` bytes a second.
struct Real(Arc<VirtualClock>, f64);

impl Real {
    #[expect(clippy::unnecessary_wraps, reason = "what a store returns")]
    fn take(&self, bytes: usize) -> Result<(), StorageError> {
        let time = self.0.now() + Duration::from_secs_f64(bytes as f64 / self.1);
        self.0.sleep_until(time);
        Ok(())
    }
}

impl Store for Real {
    fn read_at(&self, buffer: &mut [u8], _: u64) -> Result<(), StorageError> {
        self.take(buffer.len())
    }
    fn write_at(&self, buffer: &[u8], _: u64) -> Result<(), StorageError> {
        self.take(buffer.len())
    }
    fn allocate(&self, _: u64) -> Result<(), StorageError> {
        Ok(())
    }
    fn sync(&self) -> Result<(), StorageError> {
        Ok(())
    }
    fn len(&self) -> Result<u64, StorageError> {
        Ok(u64::MAX)
    }
}

struct Trial {
    rates: Rates,
    /// Reading and writing threads.
    threads: [usize; 2],
    request: usize,
    /// Requests of a thread.
    count: usize,
    overshoot: Duration,
    /// Bytes a second of the real store.
    real: f64,
    /// What a thread does between two requests.
    pause: Duration,
}

impl Trial {
    fn new(rates: Rates, threads: [usize; 2], request: usize, count: usize) -> Self {
        let (overshoot, pause) = (Duration::ZERO, Duration::ZERO);
        Self { rates, threads, request, count, overshoot, pause, real: 1e12 }
    }

    /// Seconds that all the requests take.
    fn seconds(&self) -> f64 {
        let clock = VirtualClock::new(self.threads[0] + self.threads[1], self.overshoot);
        let drive = Arc::new(EmulatedDrive::with_clock(self.rates, Box::new(clock.clone())));
        let one = |write: bool| {
            let store = EmulatedStore::new(Arc::new(Real(clock.clone(), self.real)), drive.clone());
            let mut buffer = vec![0; self.request];
            for _ in 0..self.count {
                if write {
                    store.write_at(&buffer, 0).unwrap();
                } else {
                    store.read_at(&mut buffer, 0).unwrap();
                }
                clock.sleep_until(clock.now() + self.pause);
            }
            clock.leave();
        };
        std::thread::scope(|scope| {
            for _ in 0..self.threads[0] {
                scope.spawn(|| one(false));
            }
            for _ in 0..self.threads[1] {
                scope.spawn(|| one(true));
            }
        });
        clock.now().as_secs_f64()
    }

    fn takes(&self, expected: f64) {
        let seconds = self.seconds();
        assert!((seconds / expected - 1.0).abs() < 0.03, "{seconds} s instead of {expected} s");
    }
}

fn rates(read: f64, write: f64, duplex: Duplex) -> Rates {
    Rates { read, write, latency: Duration::ZERO, duplex }
}

#[test]
fn the_rate_is_right_for_every_size_of_requests_and_number_of_threads() {
    for duplex in [Duplex::Half, Duplex::Full] {
        for (request, count) in [(16 << 20, 12), (4096, 4000)] {
            for threads in [1, 3] {
                for overshoot in [0, 60] {
                    let mut trial = Trial::new(rates(50e6, 25e6, duplex), [threads, 0], request, count);
                    trial.overshoot = Duration::from_micros(overshoot);
                    let bytes = (threads * request * count) as f64;
                    trial.takes(bytes / 50e6);
                    trial.threads = [0, threads];
                    trial.takes(bytes / 25e6);
                }
            }
        }
    }
}

#[test]
fn both_directions_share_the_time_of_a_half_duplex_drive_only() {
    let bytes = f64::from(20 << 20);
    Trial::new(rates(50e6, 25e6, Duplex::Half), [1, 1], 1 << 20, 20).takes(bytes / 50e6 + bytes / 25e6);
    Trial::new(rates(50e6, 25e6, Duplex::Full), [1, 1], 1 << 20, 20).takes(bytes / 25e6);
}

#[test]
fn latency_is_waited_for_one_by_one_or_together() {
    let latency = Duration::from_millis(2);
    for (duplex, threads, expected) in [
        (Duplex::Half, 1, 100.0 * 0.003),
        (Duplex::Half, 4, 400.0 * 0.003),
        (Duplex::Full, 1, 100.0 * 0.003),
        // Four wait at the same time, and the transfers still take turns.
        (Duplex::Full, 4, 400.0 * 0.001),
    ] {
        let rates = Rates { latency, ..rates(50e6, 50e6, duplex) };
        Trial::new(rates, [threads, 0], 50_000, 100).takes(expected);
    }
}

#[test]
fn a_slower_real_store_counts_alone_and_a_faster_one_not_at_all() {
    let mut trial = Trial::new(rates(50e6, 50e6, Duplex::Half), [1, 0], 1 << 20, 20);
    let bytes = f64::from(20 << 20);
    trial.real = 40e6;
    trial.takes(bytes / 40e6);
    trial.real = 60e6;
    trial.takes(bytes / 50e6);
}

#[test]
fn time_in_which_nobody_asks_is_not_made_good() {
    let mut trial = Trial::new(rates(50e6, 50e6, Duplex::Full), [1, 0], 1 << 20, 20);
    trial.pause = Duration::from_millis(4);
    trial.takes(20.0 * (0.004 + f64::from(1 << 20) / 50e6));
}

#[test]
fn the_bytes_are_those_of_the_store_below() {
    let drive = Arc::new(EmulatedDrive::new(Rates::NVME));
    let store = EmulatedStore::new(Arc::new(MemoryStore::new(&[0; 100])), drive);
    store.write_at(&[1, 2, 3], 50).unwrap();
    let mut back = [0; 5];
    store.read_at(&mut back, 49).unwrap();
    assert_eq!((back, store.len().unwrap()), ([0, 1, 2, 3, 0], 100));
    assert!(store.read_at(&mut back, 96).is_err());
}

/// By hand: `cargo test --release emulated -- --ignored --nocapture`, on a machine that is idle.
#[test]
#[ignore = "measures real time"]
fn the_rate_is_right_on_the_systems_clock() {
    let mut worst = 0.0f64;
    for (text, request) in
        [("50:50:half", 16 << 20), ("50:50:half", 4096), ("500:500:full", 16 << 20), ("500:500:full", 4096)]
    {
        for threads in [[1, 0], [0, 1], [1, 1], [3, 3]] {
            let rates: Rates = text.parse().unwrap();
            let drive = Arc::new(EmulatedDrive::new(rates));
            let memory: Arc<dyn Store> = Arc::new(MemoryStore::new(&vec![0; request]));
            let count = threads[0] + threads[1];
            let turns = if rates.duplex == Duplex::Full { threads[0].max(threads[1]) } else { count };
            let busy = (turns * request) as f64 / rates.read;
            // A second and a half, in whole requests.
            let repeat = (1.5 / busy).ceil();
            let started = Instant::now();
            std::thread::scope(|scope| {
                for i in 0..count {
                    let store = EmulatedStore::new(memory.clone(), drive.clone());
                    scope.spawn(move || {
                        let mut buffer = vec![0; request];
                        let mut left = repeat;
                        while left >= 1.0 {
                            if i < threads[0] {
                                store.read_at(&mut buffer, 0).unwrap();
                            } else {
                                store.write_at(&buffer, 0).unwrap();
                            }
                            left -= 1.0;
                        }
                    });
                }
            });
            let error = started.elapsed().as_secs_f64() / (busy * repeat) - 1.0;
            println!("{text}, requests of {request}, threads {threads:?}: {:+.2} %", 100.0 * error);
            worst = worst.max(error.abs());
        }
    }
    assert!(worst < 0.03, "{worst}");
}
