//! The size of a chunk.

use super::{Job, PlanError};
use crate::engine::Plan;
use crate::optics::Bytes;
use crate::storage::PANEL;

/// Chunks a plane is cut into at least, where the user leaves the size open: with fewer, the
/// stages have little to overlap.
const LEAST_CHUNKS: usize = 8;

/// The plan with the job's chunk, or with the largest that fits in the job's memory.
pub fn fit(job: &Job, plan: impl Fn(usize) -> Plan) -> Result<Plan, PlanError> {
    let needed = |plan: &Plan| Bytes(plan.memory().total());
    let longest = job.grid.width.max(job.grid.height);
    let smallest = PANEL.min(longest);
    if let Some(chunk) = job.chunk {
        let chunk = chunk.min(longest);
        let wanted = plan(chunk);
        if needed(&wanted) <= job.memory {
            return Ok(wanted);
        }
        let too_little = |needed| PlanError::TooLittleMemory {
            memory: job.memory,
            needed,
            chunk: smallest,
            buffers: job.buffers,
        };
        let largest = largest(job, longest, &plan).ok_or_else(|| too_little(needed(&plan(smallest))))?;
        return Err(PlanError::ChunkTooLarge {
            chunk,
            buffers: job.buffers,
            needed: needed(&wanted),
            memory: job.memory,
            largest: largest.chunk,
        });
    }
    let most = longest.div_ceil(LEAST_CHUNKS).next_multiple_of(PANEL).min(longest);
    largest(job, most, &plan).ok_or_else(|| PlanError::TooLittleMemory {
        memory: job.memory,
        needed: needed(&plan(smallest)),
        chunk: smallest,
        buffers: job.buffers,
    })
}

/// The plan with the largest chunk of at most `most` lines that fits, whole panels where possible.
fn largest(job: &Job, most: usize, plan: &impl Fn(usize) -> Plan) -> Option<Plan> {
    let fits = |chunk: usize| Some(plan(chunk)).filter(|p| Bytes(p.memory().total()) <= job.memory);
    if let Some(plan) = fits(most) {
        return Some(plan);
    }
    // Memory grows with the chunk: the last multiple of a panel that fits.
    let (mut low, mut high) = (0, most.div_ceil(PANEL));
    while high - low > 1 {
        let middle = low.midpoint(high);
        if fits(middle * PANEL).is_some() { low = middle } else { high = middle }
    }
    if low == 0 { None } else { fits(low * PANEL) }
}
