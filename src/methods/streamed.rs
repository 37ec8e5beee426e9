//! `streamed`: as `padded`, one stream after another, each in memory between phases 1 and 2.
//!
//! What phase 1 writes for one of S streams is an S-th of a padded plane; with enough streams it fits in memory,
//! and only what phase 2 writes goes to the drives: `2·P/N` planes' worth of bytes are moved for each wave of a
//! hologram less. In return phase 1 runs S times: layers are formed, or the source is read, S times.

use super::three_phases::{self, Streaming};
use super::{Job, PlanError, padded, size};
use crate::engine::Plan;
use crate::project::Method;

/// Numbers of streams that are tried.
const STREAMS: [usize; 14] = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48];

/// The plan that takes the least time by `seconds` of those that fit in the job's memory.
pub fn plan(job: &Job, seconds: &dyn Fn(&Plan) -> f64) -> Result<Plan, PlanError> {
    let mut best: Option<(f64, Plan)> = None;
    let mut refused = None;
    let responses = padded::Responses::of(job);
    let given = job.streams.map(|streams| vec![streams]);
    for streams in given.unwrap_or_else(|| STREAMS.to_vec()) {
        let Some(padding) = padded::padding(job, &responses, streams) else { continue };
        let streaming = Streaming {
            streams,
            at_once: 1,
            spectra_in_memory: true,
            results_in_memory: false,
            added: false,
        };
        match size::fit(job, |chunk| three_phases::plan(job, Method::Streamed, padding, streaming, chunk)) {
            Ok(plan) => {
                let seconds = seconds(&plan);
                if best.as_ref().is_none_or(|best| seconds < best.0) {
                    best = Some((seconds, plan));
                }
            }
            Err(error) => refused = Some(error),
        }
    }
    match (best, refused) {
        (Some((_, plan)), _) => Ok(plan),
        (None, Some(error)) => Err(error),
        (None, None) => Err(PlanError::Streams { streams: job.streams.unwrap_or(1) }),
    }
}
