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
    let largest = largest(job, most, &plan).ok_or_else(|| PlanError::TooLittleMemory {
        memory: job.memory,
        needed: needed(&plan(smallest)),
        chunk: smallest,
        buffers: job.buffers,
    })?;
    Ok(plan(even(largest.chunk, &[job.grid.width, job.grid.height])))
}

/// The chunk between three quarters of `most` and `most` that cuts `lengths` with the least left over:
/// tiles are stored whole, so what is left over is moved for nothing.
fn even(most: usize, lengths: &[usize]) -> usize {
    let waste = |chunk: usize| -> f64 {
        let stored = |n: usize| (n.div_ceil(chunk) * chunk) as f64 / n as f64;
        lengths.iter().map(|&n| stored(n)).product()
    };
    let candidates = (most - most / 4..=most).filter(|chunk| *chunk == most || chunk.is_multiple_of(PANEL));
    candidates.rev().min_by(|&a, &b| waste(a).total_cmp(&waste(b))).unwrap_or(most)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_chunk_leaves_little_over() {
        assert_eq!(even(240, &[8192, 8192]), 200);
        assert_eq!(even(512, &[4096, 4096]), 512);
        assert_eq!(even(5, &[5, 3]), 5);
        assert_eq!(even(1, &[1, 1]), 1);
    }
}
