//! `blocks`: overlap-save. Each block of the plane is one 2-D transform in memory; nothing is kept on a drive
//! between reading and writing.
//!
//! A block needs a guard as wide as the response all round, so columns of a plane of N² samples in blocks of
//! B² are (B / (B − 2·guard)) times as long in all; where the light's reach is short against what fits in
//! memory that is little. Rows that blocks share stay in memory: with blocks as wide as the plane, which is
//! what is mostly chosen, a propagation moves the plane and its result and nothing else.

use std::sync::Arc;

use super::chain::{self, Ends, Files, Plane};
use super::padded::Responses;
use super::three_phases::step_error;
use super::{Job, PlanError, Step};
use crate::engine::{BlockPlan, BlockWave, Kernel, Lane, Layout, Pass, Plan, Port, Rect};
use crate::optics::{Bytes, Encoding};
use crate::project::Method;
use crate::spectral::Blocks;
use crate::storage::{ALIGNMENT, PANEL, SCALE_ROWS, block_offset};

/// More blocks than this along one axis would be mostly guard.
const MOST_BLOCKS: usize = 64;
/// A strip's rows of one buffer are no more bytes than this: larger requests are not faster.
const STRIP_BYTES: usize = 8 << 20;

/// Strips of all blocks; beyond this there would be more bookkeeping than work.
const MOST_STRIPS: usize = 1 << 20;

/// How planes are cut.
#[derive(Debug, Clone, Copy)]
struct Cut {
    blocks: [Blocks; 2],
    strip: usize,
    error: f64,
}

/// The plan that takes the least time by `seconds` of those that fit in the job's memory.
pub fn plan(job: &Job, seconds: &dyn Fn(&Plan) -> f64) -> Result<Plan, PlanError> {
    let lengths = [job.grid.height, job.grid.width];
    let responses = Responses::of(job);
    // Rows of a block begin a common scale; its results' columns begin blocks of the file.
    let fine = match job.encoding {
        Encoding::Phase8 | Encoding::Amplitude8 if lengths[1] >= 8 * ALIGNMENT => ALIGNMENT,
        _ if lengths[1] >= ALIGNMENT => ALIGNMENT / 8,
        _ => SCALE_ROWS,
    };
    let axis = |axis: usize, count: usize, grain: usize| {
        let length = lengths[axis];
        let valid = length.div_ceil(count).next_multiple_of(grain).min(length);
        // Both axes add their part, and so do what is missing and what wraps around.
        let Some((width, tail)) = responses.width(axis, length, valid, job.tolerance / 2.0) else {
            return (count == 1).then(|| (Blocks::doubled(length), 0.0));
        };
        let guard = width.next_multiple_of(SCALE_ROWS);
        if count == 1 && length + guard >= 2 * length {
            return Some((Blocks::doubled(length), 0.0));
        }
        // A cut that gives no more blocks than were asked for, and none that is mostly guard.
        let blocks = Blocks::new(length, valid, guard);
        (blocks.count() == count && (count == 1 || 8 * valid > guard))
            .then_some((blocks, std::f64::consts::SQRT_2 * tail))
    };
    let waves = job.chains.iter().flatten().map(|step| step.waves.len()).max().unwrap_or(1);
    // The blocks themselves need most; a cut into too many strips is none.
    let block_bytes = |y: &Blocks, x: &Blocks| {
        let samples = y.transform as u64 * x.transform.next_multiple_of(PANEL) as u64;
        samples * job.scratch_precision.sample_bytes() as u64 * if waves > 1 { 2 } else { 1 }
    };
    let strips = |y: &Blocks, x: &Blocks| (y.transform / SCALE_ROWS + 1) * y.count() * x.count();
    let needed = |plan: &Plan| Bytes(plan.memory().total());
    let mut best: Option<(f64, Plan)> = None;
    let mut least: Option<(u64, Cut)> = None;
    for ny in 1..=MOST_BLOCKS {
        let Some((y, error_y)) = axis(0, ny, SCALE_ROWS) else { continue };
        for nx in 1..=MOST_BLOCKS {
            let Some((x, error_x)) = axis(1, nx, fine) else { continue };
            let cut = |strip| Cut { blocks: [y, x], strip, error: error_y.hypot(error_x) };
            let bytes = block_bytes(&y, &x);
            if strips(&y, &x) > MOST_STRIPS {
                break;
            }
            if least.is_none_or(|least| bytes < least.0) {
                least = Some((bytes, cut(SCALE_ROWS)));
            }
            if bytes > job.memory.0 || needed(&build(job, cut(SCALE_ROWS))) > job.memory {
                continue;
            }
            let most = job.chunk.unwrap_or_else(|| (y.transform / 8).min(STRIP_BYTES / (x.transform * 8)));
            let mut strip = most.max(SCALE_ROWS).next_multiple_of(SCALE_ROWS);
            let mut plan = build(job, cut(strip));
            while strip > SCALE_ROWS && needed(&plan) > job.memory {
                strip = (strip * 3 / 4 / SCALE_ROWS * SCALE_ROWS).max(SCALE_ROWS);
                plan = build(job, cut(strip));
            }
            let seconds = seconds(&plan);
            if best.as_ref().is_none_or(|best| seconds < best.0) {
                best = Some((seconds, plan));
            }
            // More blocks along x only add guards.
            break;
        }
    }
    best.map(|best| best.1).ok_or_else(|| PlanError::TooLittleMemory {
        memory: job.memory,
        needed: least.map_or(Bytes(u64::MAX), |(_, cut)| needed(&build(job, cut)).rounded_up()),
        chunk: SCALE_ROWS,
        buffers: job.buffers,
    })
}

fn build(job: &Job, cut: Cut) -> Plan {
    let mut files = Files::new(job, None);
    let steps = chain::steps(job, &mut files);
    let passes = steps.into_iter().map(|(step, ends)| pass(job, &cut, step, ends)).collect();
    let Files { all: files, .. } = files;
    Plan {
        name: job.name.clone(),
        method: Method::Blocks,
        precision: job.precision,
        scratch_precision: job.scratch_precision,
        drives: job.roles.drives.clone(),
        stripes: job.roles.stripes.clone(),
        files,
        passes,
        layer_bytes: job.layer_bytes,
        chunk: cut.strip,
        buffers: job.buffers,
        threads: job.threads,
        error_bound: job.chains.iter().flatten().map(|step| step_error(job, step, cut.error)).sum(),
        predicted: None,
    }
}

/// The pass of one step.
fn pass(job: &Job, cut: &Cut, step: &Step, ends: Ends) -> Pass {
    let Ends { source, base, result, preview, .. } = ends;
    let padded = cut.blocks.map(|axis| axis.transform);
    let window = |layers: &[usize]| {
        let mut windows = layers.iter().map(|&layer| &job.layer_windows[layer]);
        let first = windows.next().cloned().unwrap_or([0..0, 0..0]);
        let [rows, columns] = windows.fold(first, |sum, window| {
            [0, 1].map(|axis| {
                let (a, b) = (&sum[axis], &window[axis]);
                a.start.min(b.start)..a.end.max(b.end)
            })
        });
        Rect { rows, columns }
    };
    let waves = step.waves.iter().map(|wave| BlockWave {
        layers: wave.layers.clone(),
        window: window(&wave.layers),
        transfer: job.optics.transfer(&job.grid, padded, wave.distance),
    });
    let plan = BlockPlan {
        source: source.map(|source| source.element),
        waves: waves.collect(),
        blocks: cut.blocks,
        strip: cut.strip,
        kept: job.scratch_precision,
        base: base.map(|base| base.element),
        preview,
        encoding: result.map_or(Encoding::Complex, |result| result.encoding),
    };
    let chunks = plan.chunks();
    let brought: Arc<[Rect]> = (0..chunks).map(|chunk| plan.brought(chunk)).collect();
    let taken: Arc<[Rect]> = (0..chunks).map(|chunk| plan.taken(chunk)).collect();
    let port = |plane: Plane, rects: &Arc<[Rect]>| Port {
        file: plane.file,
        layout: Layout::Rects {
            offset: plane.offset,
            line_bytes: plane.line_bytes,
            sample_bytes: plane.element.bytes(),
            rects: rects.clone(),
        },
    };
    // Reading whole blocks of the file, as far as they lie in the line, is faster than exactly what is needed.
    let wider = |plane: Plane| -> Arc<[Rect]> {
        let bytes = plane.element.bytes();
        let at = |x: usize| block_offset(plane.offset + (x * bytes) as u64);
        let lines_agree = plane.line_bytes.is_multiple_of(ALIGNMENT);
        let widened = brought.iter().map(|rect| {
            let Rect { rows, columns } = rect.clone();
            let start = columns.start.checked_sub(at(columns.start) / bytes).unwrap_or(columns.start);
            let end = columns.end + (ALIGNMENT - at(columns.end)) % ALIGNMENT / bytes;
            let end = if end <= job.grid.width { end } else { columns.end };
            if lines_agree && !columns.is_empty() { Rect { rows, columns: start..end } } else { rect.clone() }
        });
        widened.collect()
    };
    let inputs = source.map(|source| port(source, &wider(source))).into_iter();
    let inputs = inputs.chain(base.map(|base| port(base, &taken))).collect();
    let [ny, nx] = plan.blocks.map(|axis| axis.count());
    let blocks = format!("{ny} × {nx} blocks");
    let name = if step.name.is_empty() { blocks } else { format!("{}, {blocks}", step.name) };
    Pass {
        name,
        kernel: Kernel::Blocks(plan),
        lanes: vec![Lane {
            name: "blocks".into(),
            chunks,
            inputs,
            outputs: result.into_iter().map(|result| port(result, &taken)).collect(),
            in_place: false,
            input_sets: job.buffers,
            output_sets: job.buffers,
        }],
    }
}
