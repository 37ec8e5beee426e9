//! The pipeline by itself, over stores and kernels made for the purpose.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use gigafringe::engine::{
    Cancel, ChunkKernel, EngineError, Event, EventSink, Kind, Lane, Layout, PassContext, PassUse, Port, Stop,
    run_pass,
};
use gigafringe::storage::{AlignedBuffer, MemoryStore, StorageError, Store};

const LINE: usize = 64;

/// A store that takes its time, counts its requests, and can fail or panic at one of them.
struct SlowStore {
    inner: MemoryStore,
    delay: Duration,
    requests: AtomicUsize,
    fails_at: Option<usize>,
    panics: bool,
}

impl SlowStore {
    fn new(bytes: &[u8], delay: Duration, fails_at: Option<usize>) -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryStore::new(bytes),
            delay,
            requests: AtomicUsize::new(0),
            fails_at,
            panics: false,
        })
    }

    fn request(&self) -> Result<(), StorageError> {
        std::thread::sleep(self.delay);
        assert!(!self.panics, "made to panic in a drive");
        if Some(self.requests.fetch_add(1, Ordering::Relaxed)) == self.fails_at {
            return Err(StorageError::file("do it", "slow store", std::io::Error::other("made to fail")));
        }
        Ok(())
    }
}

impl Store for SlowStore {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<(), StorageError> {
        self.request()?;
        self.inner.read_at(buffer, offset)
    }
    fn write_at(&self, buffer: &[u8], offset: u64) -> Result<(), StorageError> {
        self.request()?;
        self.inner.write_at(buffer, offset)
    }
    fn allocate(&self, length: u64) -> Result<(), StorageError> {
        self.inner.allocate(length)
    }
    fn sync(&self) -> Result<(), StorageError> {
        Ok(())
    }
    fn len(&self) -> Result<u64, StorageError> {
        self.inner.len()
    }
}

/// Adds one to every byte, slowly; remembers the order of the chunks.
struct AddOne {
    delay: Duration,
    order: Arc<Mutex<Vec<(usize, usize)>>>,
    panics_at: Option<usize>,
    cancels_at: Option<(usize, Cancel)>,
}

impl ChunkKernel for AddOne {
    fn compute(
        &mut self,
        lane: usize,
        chunk: usize,
        inputs: &mut [&mut [u8]],
        outputs: &mut [&mut [u8]],
        _stop: &Stop,
    ) {
        assert!(self.panics_at != Some(chunk), "made to panic at chunk {chunk}");
        if let Some((_, cancel)) = self.cancels_at.as_ref().filter(|c| c.0 == chunk) {
            cancel.cancel();
        }
        std::thread::sleep(self.delay);
        self.order.lock().unwrap().push((lane, chunk));
        if outputs.is_empty() {
            inputs[0].iter_mut().for_each(|b| *b = b.wrapping_add(1));
        } else {
            for (to, from) in outputs[0].iter_mut().zip(inputs[0].iter()) {
                *to = from.wrapping_add(1);
            }
        }
    }
}

fn port(file: usize, chunks: usize) -> Port {
    Port { file, layout: Layout::Lines { offset: 0, line_bytes: LINE, lines: chunks, chunk: 1 } }
}

fn lane(input: usize, output: usize, chunks: usize, in_place: bool) -> Lane {
    Lane {
        name: format!("{input} to {output}"),
        chunks,
        inputs: vec![port(input, chunks)],
        outputs: vec![port(output, chunks)],
        in_place,
        input_sets: if in_place { 3 } else { 2 },
        output_sets: if in_place { 0 } else { 2 },
    }
}

struct Outcome {
    result: Result<PassUse, EngineError>,
    events: Vec<Event>,
    buffers: usize,
}

/// Runs `lanes` over `stores`, each on a drive of its own.
fn run(lanes: &[Lane], stores: &[Arc<SlowStore>], kernel: &mut AddOne, cancel: &Cancel) -> Outcome {
    let drive_of: Vec<_> = (0..stores.len()).collect();
    run_on(lanes, stores, &drive_of, kernel, cancel)
}

/// Runs `lanes` over `stores` on the drives of `drive_of`.
fn run_on(
    lanes: &[Lane],
    stores: &[Arc<SlowStore>],
    drive_of: &[usize],
    kernel: &mut dyn ChunkKernel,
    cancel: &Cancel,
) -> Outcome {
    let (sink, receiver) = EventSink::channel(|| {});
    let stores: Vec<Arc<dyn Store>> = stores.iter().map(|s| s.clone() as Arc<dyn Store>).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let count = lanes.iter().map(|l| l.input_sets * l.inputs.len() + l.output_sets * l.outputs.len()).sum();
    let mut buffers: Vec<_> = (0..count).map(|_| AlignedBuffer::new(8192)).collect();
    let context = PassContext {
        serial: false,
        pass: 0,
        stores: &stores,
        drive_of,
        drives: stores.len(),
        clock: Instant::now(),
        sink: &sink,
        cancel,
        bypass: None,
        pool: &pool,
    };
    let result = run_pass(lanes, kernel, &mut buffers, &context);
    drop(sink);
    Outcome { result, events: receiver.iter().collect(), buffers: buffers.len() }
}

fn bytes(chunks: usize, salt: usize) -> Vec<u8> {
    (0..chunks * LINE).map(|i| u8::try_from((i * 7 + salt) % 256).unwrap()).collect()
}

fn add_one(delay: Duration) -> AddOne {
    AddOne { delay, order: Arc::default(), panics_at: None, cancels_at: None }
}

#[test]
fn reading_computing_and_writing_overlap() {
    let chunks = 40;
    let delay = Duration::from_millis(10);
    for in_place in [false, true] {
        let source = SlowStore::new(&bytes(chunks, 0), delay, None);
        let target = SlowStore::new(&vec![0; chunks * LINE], delay, None);
        let mut kernel = add_one(delay);
        let lanes = [lane(0, 1, chunks, in_place)];
        let outcome = run(&lanes, &[source, target.clone()], &mut kernel, &Cancel::default());
        let used = outcome.result.unwrap();
        let expected: Vec<_> = bytes(chunks, 0).iter().map(|b| b.wrapping_add(1)).collect();
        assert_eq!(target.inner.bytes(), expected);
        // Busy seconds over elapsed seconds: 1 without any overlap, 3 if it is perfect. Both grow
        // alike on a busy machine. Above 2 a chunk costs nearer to one delay than to three.
        let busy: f64 =
            used.compute_seconds + used.drives.iter().map(|d| d.read_seconds + d.write_seconds).sum::<f64>();
        let overlap = busy / used.seconds;
        println!("{:.1} ms a chunk, overlap {overlap:.2}", used.seconds * 1e3 / chunks as f64);
        assert!(overlap > 2.0, "in place {in_place}: {overlap}");
    }
}

#[test]
fn all_streams_of_a_pass_are_in_flight_at_the_same_time() {
    let chunks = 30;
    let (slow, instant) = (Duration::from_millis(10), Duration::ZERO);
    let store = |salt| SlowStore::new(&bytes(chunks, salt), slow, None);
    let stores = [store(0), store(1), store(2), store(3)];
    let mut kernel = add_one(instant);
    let lanes = [lane(0, 2, chunks, true), lane(1, 3, chunks, true)];
    let outcome = run(&lanes, &stores, &mut kernel, &Cancel::default());
    let used = outcome.result.unwrap();
    let busy: f64 = used.drives.iter().map(|d| d.read_seconds + d.write_seconds).sum();
    // Four drives that work at the same time; one stream after the other would give 2 at most.
    assert!(busy / used.seconds > 2.5, "{}", busy / used.seconds);
    for (i, salt) in [(2, 0), (3, 1)] {
        let expected: Vec<_> = bytes(chunks, salt).iter().map(|b| b.wrapping_add(1)).collect();
        assert_eq!(stores[i].inner.bytes(), expected);
    }
    assert_eq!(kernel.order.lock().unwrap().len(), 2 * chunks);
}

#[test]
fn events_tell_every_chunk_once_in_each_kind_and_buffers_come_back() {
    let chunks = 17;
    let source = SlowStore::new(&bytes(chunks, 0), Duration::ZERO, None);
    let target = SlowStore::new(&vec![0; chunks * LINE], Duration::ZERO, None);
    let lanes = [lane(0, 1, chunks, false)];
    let mut kernel = add_one(Duration::ZERO);
    let outcome = run(&lanes, &[source, target], &mut kernel, &Cancel::default());
    let used = outcome.result.unwrap();
    assert_eq!(outcome.buffers, 4);
    assert_eq!((used.drives[0].read_bytes, used.drives[1].written_bytes), (17 * 64, 17 * 64));
    assert_eq!((used.drives[0].written_bytes, used.drives[1].read_bytes), (0, 0));
    for kind in [Kind::Read, Kind::Compute, Kind::Write] {
        let mut seen: Vec<_> = outcome
            .events
            .iter()
            .filter_map(|e| match e {
                Event::Chunk(c) if c.kind == kind => {
                    assert!(c.start <= c.end);
                    assert_eq!(c.bytes, if kind == Kind::Compute { 0 } else { 64 });
                    Some(c.chunk)
                }
                _ => None,
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..chunks).collect::<Vec<_>>(), "{kind:?}");
    }
}

#[test]
fn a_drive_that_fails_ends_the_pass_with_its_error() {
    for (fails_reading, fails_writing) in [(Some(5), None), (None, Some(3))] {
        let source = SlowStore::new(&bytes(9, 0), Duration::ZERO, fails_reading);
        let target = SlowStore::new(&vec![0; 9 * LINE], Duration::ZERO, fails_writing);
        let lanes = [lane(0, 1, 9, false)];
        let outcome = run(&lanes, &[source, target], &mut add_one(Duration::ZERO), &Cancel::default());
        let error = outcome.result.unwrap_err().to_string();
        assert!(error.contains("made to fail"), "{error}");
    }
}

#[test]
fn a_panic_in_a_drives_thread_ends_the_pass_with_its_message() {
    for reading in [true, false] {
        let store = |panics| {
            let inner = MemoryStore::new(&[0; 9 * LINE]);
            let requests = AtomicUsize::new(0);
            Arc::new(SlowStore { inner, delay: Duration::ZERO, requests, fails_at: None, panics })
        };
        let stores = [store(reading), store(!reading)];
        let outcome = run(&[lane(0, 1, 9, false)], &stores, &mut add_one(Duration::ZERO), &Cancel::default());
        let error = outcome.result.unwrap_err().to_string();
        assert!(error.contains("made to panic in a drive"), "{error}");
    }
}

/// Fills every output with the sum of the inputs and the chunk's number.
struct Sum;

impl ChunkKernel for Sum {
    fn compute(
        &mut self,
        _lane: usize,
        chunk: usize,
        inputs: &mut [&mut [u8]],
        outputs: &mut [&mut [u8]],
        _stop: &Stop,
    ) {
        for i in 0..LINE {
            let sum =
                inputs.iter().fold(u8::try_from(chunk).unwrap(), |sum, input| sum.wrapping_add(input[i]));
            for output in outputs.iter_mut() {
                output[i] = sum;
            }
        }
    }
}

/// Lanes of every shape a plan can have, also with one buffer, all on one drive.
#[test]
fn lanes_of_any_shape_complete_and_give_their_buffers_back() {
    let chunks = 7;
    for (inputs, outputs) in [(0, 1), (0, 2), (1, 0), (2, 0), (2, 1), (1, 3), (3, 2)] {
        for sets in [1, 2, 5] {
            let count = inputs + outputs;
            let stores: Vec<_> =
                (0..2 * count).map(|i| SlowStore::new(&bytes(chunks, i), Duration::ZERO, None)).collect();
            let lanes: Vec<_> = [0, count]
                .iter()
                .map(|&first| Lane {
                    name: String::new(),
                    chunks,
                    inputs: (0..inputs).map(|i| port(first + i, chunks)).collect(),
                    outputs: (0..outputs).map(|i| port(first + inputs + i, chunks)).collect(),
                    in_place: false,
                    input_sets: sets,
                    output_sets: sets,
                })
                .collect();
            let expected: Vec<_> = [0, count]
                .iter()
                .map(|&first| {
                    let sums = (0..chunks * LINE).map(|i| {
                        let start = u8::try_from(i / LINE).unwrap();
                        (0..inputs).fold(start, |sum, k| sum.wrapping_add(bytes(chunks, first + k)[i]))
                    });
                    sums.collect::<Vec<u8>>()
                })
                .collect();
            let outcome = run_on(&lanes, &stores, &vec![0; stores.len()], &mut Sum, &Cancel::default());
            outcome.result.unwrap();
            assert_eq!(outcome.buffers, 2 * sets * count, "{inputs} {outputs} {sets}");
            for (lane, &first) in [0, count].iter().enumerate() {
                for store in &stores[first + inputs..first + count] {
                    assert!(store.inner.bytes() == expected[lane], "{inputs} {outputs} {sets}");
                }
            }
        }
    }
}

#[test]
fn a_panic_while_computing_is_an_error_with_its_message() {
    let source = SlowStore::new(&bytes(9, 0), Duration::ZERO, None);
    let target = SlowStore::new(&vec![0; 9 * LINE], Duration::ZERO, None);
    let mut kernel = AddOne { panics_at: Some(4), ..add_one(Duration::ZERO) };
    let outcome = run(&[lane(0, 1, 9, false)], &[source, target], &mut kernel, &Cancel::default());
    let error = outcome.result.unwrap_err().to_string();
    assert!(error.contains("made to panic at chunk 4"), "{error}");
}

#[test]
fn a_cancelled_pass_leaves_the_rest_undone() {
    let chunks = 1000;
    let source = SlowStore::new(&bytes(chunks, 0), Duration::from_millis(1), None);
    let target = SlowStore::new(&vec![0; chunks * LINE], Duration::from_millis(1), None);
    let cancel = Cancel::default();
    let mut kernel = AddOne { cancels_at: Some((20, cancel.clone())), ..add_one(Duration::ZERO) };
    let stores = [source.clone(), target.clone()];
    let outcome = run(&[lane(0, 1, chunks, false)], &stores, &mut kernel, &cancel);
    assert!(matches!(outcome.result, Err(EngineError::Cancelled)));
    // What was under way may end: at most a request for each of the two buffers on either side.
    assert!(source.requests.load(Ordering::Relaxed) <= 20 + 4);
    assert!(target.requests.load(Ordering::Relaxed) <= 20 + 4);
    assert_eq!(kernel.order.lock().unwrap().len(), 21);
}
