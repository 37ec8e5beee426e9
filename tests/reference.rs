//! Planes with exact results: every case of `tests/reference`, in both precisions, on one to four drives.
//!
//! The expected planes were computed by explicit matrices (`make_reference.py`), so they share no
//! code and no method with the program.

mod common;

use common::{Case, element_error, read_plane, run};
use gigafringe::project::Precision;

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
