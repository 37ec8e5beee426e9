//! Planes with exact results: every case of `tests/reference`, in both precisions, on one to four drives.
//!
//! The expected planes were computed by explicit matrices (`make_reference.py`), so they share no
//! code and no method with the program.

mod common;

use common::{Case, Plane, element_error, propagate_file, read_plane, run, write_plane};
use gigafringe::methods::Optics;
use gigafringe::optics::Evanescent;
use gigafringe::project::{Method, Precision};
use gigafringe::storage::Rates;
use num_complex::Complex64;
use proptest::prelude::*;

#[test]
fn every_reference_plane_is_reached_on_one_to_four_drives() {
    let cases = Case::all();
    assert_eq!(cases.len(), 8);
    for case in &cases {
        let expected = read_plane(&case.expected());
        for (precision, bound) in [(Precision::F64, 1e-12), (Precision::F32, 2e-6)] {
            for drives in 1..=4 {
                let result = run(case, precision, drives, |_| {});
                let error = element_error(&result, &expected);
                println!("{} {precision:?} {drives} drives: {error:.2e}", case.name);
                assert!(error <= bound, "{} {precision:?} on {drives} drives: {error:e}", case.name);
            }
        }
    }
}

/// Chunk sizes, buffers, threads and drives are how, not what: the output is the same bytes.
#[test]
fn the_result_is_the_same_bytes_for_every_chunk_buffers_threads_and_drives() {
    for case in Case::all().iter().filter(|c| ["odd_oblong", "two_pitches", "evanescent"].contains(&&*c.name))
    {
        for precision in [Precision::F32, Precision::F64] {
            let reference = run(case, precision, 1, |s| s.threads = 1);
            for (chunk, buffers, threads, drives) in
                [(1, 1, 1, 1), (3, 2, 2, 4), (8, 3, 3, 2), (13, 4, 2, 3), (24, 1, 4, 4), (1000, 5, 2, 2)]
            {
                let other = run(case, precision, drives, |s| {
                    s.chunk = Some(chunk);
                    s.buffers = buffers;
                    s.threads = threads;
                });
                assert!(
                    reference == other,
                    "{} chunk {chunk} buffers {buffers} threads {threads}",
                    case.name
                );
            }
        }
    }
}

/// Where scratch lies, and whether stages overlap, changes no byte of the result.
#[test]
fn striped_volumes_and_stages_that_take_turns_give_the_same_bytes() {
    for case in Case::all().iter().filter(|c| ["odd_oblong", "two_pitches"].contains(&&*c.name)) {
        for method in [Method::Implicit, Method::ZeroPadded, Method::Blocks] {
            let reference = run(case, Precision::F64, 1, |s| s.method = method);
            for (drives, striped, serial, emulation) in [
                (4, true, false, None),
                (3, true, true, None),
                (2, false, true, None),
                (4, true, false, Some(Rates { read: 1e9, write: 1e9, ..Rates::NVME })),
            ] {
                let other = run(case, Precision::F64, drives, |s| {
                    (s.method, s.striped, s.serial, s.emulation) = (method, striped, serial, emulation);
                    s.chunk = Some(16);
                });
                assert!(reference == other, "{} {method} {drives} {striped} {serial}", case.name);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// The same over planes of any shape, one sample wide or high included.
    #[test]
    fn planes_of_any_shape_give_the_same_bytes_however_they_are_cut(
        height in 1usize..70,
        width in 1usize..70,
        chunk in 1usize..80,
        buffers in 1usize..5,
        threads in 1usize..4,
        drives in 1usize..5,
        double in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("source.npy");
        let sample = |y: usize, x: usize| Complex64::new(((y * 31 + x * 17) % 23) as f64, ((y + 3 * x) % 19) as f64);
        write_plane(&source, &Plane::from_fn(height, width, sample));
        let precision = if double { Precision::F64 } else { Precision::F32 };
        let optics =
            Optics { wavelength: 532e-9, evanescent: Evanescent::Decay, band_limit: false, rolloff: 0.1 };
        let mut settings = common::settings(common::drives(folder.path(), drives), precision);
        let go = |settings: &_| propagate_file(folder.path(), &source, [1e-6, 2e-6], optics, -5e-5, settings);
        let expected = go(&settings);
        settings.chunk = Some(chunk);
        settings.buffers = buffers;
        settings.threads = threads;
        prop_assert!(go(&settings) == expected);
    }
}
