//! What a column of phase 2 costs: its transforms, and the transfer function between them.
//!
//! The transfer function must not cost more than the transforms of its pass. Both are measured for
//! one stream of a column (a forward and an inverse transform of length N; N values of H); the
//! counter gives samples per second.

use divan::Bencher;
use divan::counter::ItemsCount;
use gigafringe::optics::{Encoder, Encoding, Evanescent, Transfer, TransferLines, TransferReal};
use gigafringe::spectral::{Split, Streams};
use num_complex::Complex;

const LENGTHS: [usize; 3] = [4096, 16_384, 131_072];

fn main() {
    divan::main();
}

fn line<T: TransferReal>(n: usize) -> Vec<Complex<T>> {
    (0..n).map(|i| Complex::new(T::rounded((i % 17) as f64 - 8.0), T::rounded((i % 13) as f64))).collect()
}

#[divan::bench(types = [f32, f64], args = LENGTHS)]
fn transforms<T: TransferReal>(bencher: Bencher, n: usize) {
    let streams = Streams::<T>::new(Split { length: n, padded: 2 * n, streams: 2 });
    let source = line::<T>(n);
    let mut scratch = vec![Complex::default(); streams.scratch_length()];
    let (mut stream, mut back) = (source.clone(), source.clone());
    bencher.counter(ItemsCount::new(n)).bench_local(|| {
        streams.forward(1, &source, &mut stream, &mut scratch);
        streams.inverse_add(1, &mut stream, &mut back, &mut scratch);
    });
}

#[divan::bench(types = [f32, f64], args = LENGTHS)]
fn transfer_function<T: TransferReal>(bencher: Bencher, n: usize) {
    let transfer = Transfer {
        wavelength: 660e-9,
        distance: -90e-3,
        pitch: [5e-6; 2],
        padded: [2 * n; 2],
        evanescent: Evanescent::Decay,
        band_limit: false,
        rolloff: 0.0,
    };
    let lines = TransferLines::<T>::new(transfer, 2);
    let mut table = vec![Complex::default(); lines.table_length()];
    let mut column = line::<T>(n);
    bencher
        .counter(ItemsCount::new(n))
        .bench_local(|| lines.multiply(12_345 % n, 1, &mut column, &mut table));
}

#[divan::bench(types = [f32, f64], args = [16_384])]
fn encode_phase8<T: TransferReal>(bencher: Bencher, n: usize) {
    encode::<T>(bencher, n, Encoding::Phase8);
}

#[divan::bench(types = [f32, f64], args = [16_384])]
fn encode_amplitude8<T: TransferReal>(bencher: Bencher, n: usize) {
    encode::<T>(bencher, n, Encoding::Amplitude8);
}

#[divan::bench(types = [f32, f64], args = [16_384])]
fn encode_amplitude<T: TransferReal>(bencher: Bencher, n: usize) {
    encode::<T>(bencher, n, Encoding::Amplitude);
}

/// The samples of a hologram's last write step.
fn encode<T: TransferReal>(bencher: Bencher, n: usize, encoding: Encoding) {
    let (line, encoder) = (line::<T>(n), Encoder { encoding, full_scale: 20.0 });
    let mut out = vec![0; n * encoding.sample_bytes(0)];
    bencher.counter(ItemsCount::new(n)).bench_local(|| encoder.encode(&line, &mut out));
}
