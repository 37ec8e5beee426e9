//! The size of a chunk.

use super::{Job, PlanError};
use crate::engine::Plan;
use crate::optics::Bytes;
use crate::storage::PANEL;

/// Chunks a plane is cut into at least, where the user leaves the size open: with fewer, the
/// stages have little to overlap.
const LEAST_CHUNKS: usize = 8;

/// The plan with the job's chunk, or with the one that suits the job's memory best.
pub fn fit(job: &Job, plan: impl Fn(usize) -> Plan) -> Result<Plan, PlanError> {
    let needed = |plan: &Plan| Bytes(plan.memory().total());
    let longest = job.grid.width.max(job.grid.height);
    let most = match job.chunk {
        Some(_) => longest,
        None => longest.div_ceil(LEAST_CHUNKS).next_multiple_of(PANEL).min(longest),
    };
    if let Some(chunk) = job.chunk {
        let wanted = plan(chunk.min(longest));
        if needed(&wanted) <= job.memory {
            return Ok(wanted);
        }
    }
    // Tiles are padded to whole blocks, so memory does not simply grow with the chunk: all are looked at.
    let candidates: Vec<(usize, Bytes)> =
        candidates(most).map(|chunk| (chunk, needed(&plan(chunk)))).collect();
    let Some(largest) = candidates.iter().filter(|c| c.1 <= job.memory).map(|c| c.0).max() else {
        let &(chunk, needed) = candidates.iter().min_by_key(|c| c.1).unwrap_or(&(most, Bytes(u64::MAX)));
        return Err(PlanError::TooLittleMemory {
            memory: job.memory,
            needed: needed.rounded_up(),
            chunk,
            buffers: job.buffers,
        });
    };
    if let Some(chunk) = job.chunk {
        return Err(PlanError::ChunkTooLarge {
            chunk,
            buffers: job.buffers,
            needed: needed(&plan(chunk.min(longest))),
            memory: job.memory,
            largest,
        });
    }
    // Between three quarters of the largest and the largest, the one that moves the fewest bytes: what a
    // chunk leaves over at the plane's edge is moved for nothing.
    let best = candidates
        .into_iter()
        .filter(|c| c.1 <= job.memory && c.0 >= largest - largest / 4)
        .map(|c| plan(c.0))
        .min_by_key(|plan| (plan.bytes_moved(), usize::MAX - plan.chunk));
    Ok(best.unwrap_or_else(|| plan(largest)))
}

/// Chunks of whole panels up to `most`, and `most` itself.
fn candidates(most: usize) -> impl Iterator<Item = usize> {
    // Some thousand are enough; between them lies less than a percent.
    let step = PANEL * (most / PANEL / 1024).max(1);
    (PANEL..most).step_by(step).chain([most])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::example::job;
    use crate::methods::plan;
    use crate::project::Method;

    #[test]
    fn a_plan_never_needs_more_than_the_memory_and_the_smallest_named_works() {
        for (width, height) in [(4096, 4096), (100_000, 100_000), (131_064, 131_064), (5000, 37), (1, 1)] {
            for mib in [1, 3, 40, 190, 240, 700, 4000] {
                let mut job = job(width, height, mib << 20);
                match plan(&job, Method::Implicit, &|_| 0.0) {
                    Ok(plan) => assert!(plan.memory().total() <= job.memory.0, "{width} {height} {mib}"),
                    Err(PlanError::TooLittleMemory { needed, chunk, .. }) => {
                        assert!(needed > job.memory);
                        job.memory = needed;
                        assert!(plan(&job, Method::Implicit, &|_| 0.0).is_ok(), "{width} {height} {needed}");
                        // No other chunk would have done with the memory there was.
                        job.memory = Bytes(mib << 20);
                        for other in [8, 16, 24, 32, 64, chunk] {
                            job.chunk = Some(other);
                            assert!(
                                plan(&job, Method::Implicit, &|_| 0.0).is_err(),
                                "{width} {height} {mib} {other}"
                            );
                        }
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }

    #[test]
    fn an_even_chunk_leaves_little_over() {
        // 8192 = 41·200 − 8, and a tile of 200² samples fills 78.1 blocks: one percent is left over.
        let plan = plan(&job(8192, 8192, 96 << 20), Method::Implicit, &|_| 0.0).unwrap();
        let planes = plan.bytes_moved() as f64 / (8192.0 * 8192.0 * 8.0);
        // Without a source the first step moves 9 planes' worth, the second 10.
        assert!((planes - 19.0).abs() < 0.3, "{planes} with chunks of {}", plan.chunk);
    }
}
