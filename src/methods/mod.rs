//! Methods: each turns a job into a plan. Knows nothing of threads.

mod implicit;
mod job;
mod roles;
mod size;

pub use job::{Job, Optics, PlanError, Source, Step, stepwise};
pub use roles::Roles;

use crate::engine::Plan;
use crate::project::Method;

/// The plan of `method` for `job`, its chunk as large as the memory allows unless the job says.
pub fn plan(job: &Job, method: Method) -> Result<Plan, PlanError> {
    match method {
        // The only method so far, so also the best.
        Method::Auto | Method::Implicit => size::fit(job, |chunk| implicit::plan(job, chunk)),
    }
}
