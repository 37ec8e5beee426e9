//! Methods: each turns a job into a plan. Knows nothing of threads.

mod blocks;
mod chain;
#[cfg(test)]
pub(crate) mod example;
mod implicit;
mod job;
mod padded;
mod roles;
mod size;
mod streamed;
mod three_phases;

pub use job::{Job, Optics, PlanError, Source, Step, Wave, fused, stepwise};
pub use roles::Roles;

use crate::engine::Plan;
use crate::project::Method;
use padded::Responses;
use three_phases::Streaming;

/// The plan of `method` for `job` that takes the least time by `seconds`, its chunk as large as the memory
/// allows unless the job says.
pub fn plan(job: &Job, method: Method, seconds: &dyn Fn(&Plan) -> f64) -> Result<Plan, PlanError> {
    let three = |method, padding, streaming| {
        size::fit(job, |chunk| three_phases::plan(job, method, padding, streaming, chunk))
    };
    match method {
        // Which is best the planner knows; without it, the one that adds nothing to the definition.
        Method::Auto | Method::Implicit => three(Method::Implicit, implicit::padding(job), Streaming::TWO),
        Method::ZeroPadded => three(method, implicit::padding(job), Streaming::ONE),
        Method::Padded => {
            let streaming = job.streaming();
            let padding = padded::padding(job, &Responses::of(job), streaming.streams)
                .ok_or(PlanError::Streams { streams: streaming.streams })?;
            three(method, padding, streaming)
        }
        Method::InCore => {
            let padding =
                padded::padding(job, &Responses::of(job), 2).ok_or(PlanError::Streams { streams: 2 })?;
            three(method, padding, Streaming::IN_CORE)
        }
        Method::Streamed => streamed::plan(job, seconds),
        Method::Blocks => blocks::plan(job, seconds),
    }
}
