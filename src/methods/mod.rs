//! Methods: each turns a job into a plan. Knows nothing of threads.

#[cfg(test)]
mod example;
mod implicit;
mod job;
mod padded;
mod roles;
mod size;
mod three_phases;

pub use job::{Job, Optics, PlanError, Source, Step, Wave, fused, stepwise};
pub use roles::Roles;

use crate::engine::Plan;
use crate::project::Method;
use three_phases::Streaming;

/// The plan of `method` for `job`, its chunk as large as the memory allows unless the job says.
pub fn plan(job: &Job, method: Method) -> Result<Plan, PlanError> {
    let (method, padding) = match method {
        // The one that adds nothing to the definition, until a planner weighs them.
        Method::Auto | Method::Implicit => (Method::Implicit, implicit::padding(job)),
        // The same, its scratch in memory.
        Method::Padded | Method::InCore => (method, padded::padding(job)),
    };
    let streaming = if method == Method::InCore { Streaming::IN_CORE } else { Streaming::TWO };
    size::fit(job, |chunk| three_phases::plan(job, method, padding, streaming, chunk))
}
