//! `blocks`: overlap-save. Each block of the plane is one 2-D transform in memory; nothing is kept on a drive
//! between reading and writing.
//!
//! A block needs a guard as wide as the response all round, so a plane of N² samples in blocks of B² reads
//! and computes (B / (B − 2·guard))² times as much; where the light's reach is short against what fits in
//! memory that is little, and a propagation moves not much more than the plane and its result.

use std::sync::Arc;

use super::padded::Responses;
use super::three_phases::step_error;
use super::{Job, PlanError, Step};
use crate::engine::{BlockPlan, BlockWave, Kernel, Lane, Layout, Pass, Place, Plan, PlanFile, Port, Rect};
use crate::optics::Bytes;
use crate::project::{Method, Precision, Role};
use crate::spectral::Blocks;
use crate::storage::{ALIGNMENT, Element, NpyHeader, SCALE_ROWS, block_offset};

/// More blocks than this along one axis would be mostly guard.
const MOST_BLOCKS: usize = 64;
/// A strip's rows of one buffer are no more bytes than this: larger requests are not faster.
const STRIP_BYTES: usize = 32 << 20;

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
    let fine = if lengths[1] >= 8192 { ALIGNMENT / 8 } else { SCALE_ROWS };
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
    let mut best: Option<(f64, Plan)> = None;
    let mut least: Option<(Bytes, usize)> = None;
    for ny in 1..=MOST_BLOCKS {
        let Some((y, error_y)) = axis(0, ny, SCALE_ROWS) else { continue };
        for nx in 1..=MOST_BLOCKS {
            let Some((x, error_x)) = axis(1, nx, fine) else { continue };
            let cut = |strip| Cut { blocks: [y, x], strip, error: error_y.hypot(error_x) };
            let needed = |plan: &Plan| Bytes(plan.memory().total());
            let build = |strip| build(job, cut(strip));
            let smallest = build(SCALE_ROWS);
            let bytes = needed(&smallest);
            if least.is_none_or(|(least, _)| bytes < least) {
                least = Some((bytes, SCALE_ROWS));
            }
            if bytes > job.memory {
                continue;
            }
            let most = job.chunk.map_or_else(
                || (y.transform / 8).min(STRIP_BYTES / (x.transform * 8)).max(SCALE_ROWS),
                |chunk| chunk.max(SCALE_ROWS),
            );
            let mut strip = most.next_multiple_of(SCALE_ROWS);
            let mut plan = build(strip);
            while strip > SCALE_ROWS && needed(&plan) > job.memory {
                strip = (strip * 3 / 4 / SCALE_ROWS * SCALE_ROWS).max(SCALE_ROWS);
                plan = build(strip);
            }
            let seconds = seconds(&plan);
            if best.as_ref().is_none_or(|best| seconds < best.0) {
                best = Some((seconds, plan));
            }
            // More blocks along x only add guards.
            break;
        }
    }
    let (needed, chunk) = least.unwrap_or((Bytes(u64::MAX), SCALE_ROWS));
    best.map(|best| best.1).ok_or(PlanError::TooLittleMemory {
        memory: job.memory,
        needed,
        chunk,
        buffers: job.buffers,
    })
}

/// The file a step starts from or ends in.
#[derive(Clone, Copy)]
struct Plane {
    file: usize,
    offset: u64,
    element: Element,
}

fn build(job: &Job, cut: Cut) -> Plan {
    let mut builder = Builder { job, cut, files: Vec::new(), passes: Vec::new() };
    builder.run();
    let Builder { files, passes, .. } = builder;
    Plan {
        name: job.name.clone(),
        method: Method::Blocks,
        precision: job.precision,
        scratch_precision: job.scratch_precision,
        drives: job.roles.drives.clone(),
        files,
        passes,
        layer_bytes: job.layer_bytes,
        chunk: cut.strip,
        buffers: job.buffers,
        threads: job.threads,
        error_bound: job.chains.iter().flatten().map(|step| step_error(job, step, cut.error)).sum(),
    }
}

struct Builder<'a> {
    job: &'a Job,
    cut: Cut,
    files: Vec<PlanFile>,
    passes: Vec<Pass>,
}

impl Builder<'_> {
    fn run(&mut self) {
        let job = self.job;
        let source = job.source.as_ref().map(|source| {
            let header = source.header;
            let file =
                self.add_file(job.roles.source, header.file_bytes(), Place::Source(source.path.clone()));
            Plane { file, offset: header.data_offset, element: header.element }
        });
        let output = job.output.as_ref().map(|path| {
            let header = NpyHeader::new(job.grid.height, job.grid.width, self.element());
            let place = Place::Output(path.clone(), header);
            let file = self.add_file(job.roles.output, header.file_bytes(), place);
            Plane { file, offset: header.data_offset, element: header.element }
        });
        // Planes between steps take turns on the drives A and B, those between chains on C and D.
        let longest = job.chains.iter().map(Vec::len).max().unwrap_or(0);
        let between = [(Role::B, 2), (Role::A, 3)]
            .map(|(role, steps)| (longest >= steps).then(|| self.add_plane(role)));
        let mut base = None;
        for (index, chain) in job.chains.iter().enumerate() {
            let last_chain = index + 1 == job.chains.len();
            let mut plane = if index == 0 { source } else { None };
            for (i, step) in chain.iter().enumerate() {
                let last = i + 1 == chain.len();
                let result = match (last, last_chain) {
                    (true, true) => output,
                    (true, false) => Some(self.add_plane([Role::C, Role::D][index % 2])),
                    (false, _) => between[i % 2],
                };
                let preview = job.preview.filter(|_| last && last_chain);
                self.step(step, plane, if last { base } else { None }, result, preview);
                if last {
                    base = result;
                } else {
                    plane = result;
                }
            }
        }
    }

    const fn element(&self) -> Element {
        match self.job.precision {
            Precision::F32 => Element::Complex64,
            Precision::F64 => Element::Complex128,
        }
    }

    fn add_file(&mut self, drive: usize, bytes: u64, place: Place) -> usize {
        self.files.push(PlanFile { drive, bytes, place });
        self.files.len() - 1
    }

    fn add_plane(&mut self, role: Role) -> Plane {
        let element = self.element();
        let bytes = self.job.grid.samples() * element.bytes() as u64;
        Plane { file: self.add_file(self.job.roles.drive(role), bytes, Place::Scratch), offset: 0, element }
    }

    fn step(
        &mut self,
        step: &Step,
        source: Option<Plane>,
        base: Option<Plane>,
        result: Option<Plane>,
        preview: Option<f64>,
    ) {
        let job = self.job;
        let padded = self.cut.blocks.map(|axis| axis.transform);
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
            blocks: self.cut.blocks,
            strip: self.cut.strip,
            kept: job.scratch_precision,
            base: base.map(|base| base.element),
            preview,
        };
        let chunks = plan.chunks();
        let brought: Arc<[Rect]> = (0..chunks).map(|chunk| plan.brought(chunk)).collect();
        let taken: Arc<[Rect]> = (0..chunks).map(|chunk| plan.taken(chunk)).collect();
        let port = |plane: Plane, rects: &Arc<[Rect]>| Port {
            file: plane.file,
            layout: Layout::Rects {
                offset: plane.offset,
                line_bytes: job.grid.width * plane.element.bytes(),
                sample_bytes: plane.element.bytes(),
                rects: rects.clone(),
            },
        };
        // Reading whole blocks of the file, as far as they lie in the line, is faster than exactly what is needed.
        let wider = |plane: Plane| -> Arc<[Rect]> {
            let bytes = plane.element.bytes();
            let at = |x: usize| block_offset(plane.offset + (x * bytes) as u64);
            let lines_agree = (job.grid.width * bytes).is_multiple_of(ALIGNMENT);
            let widened = brought.iter().map(|rect| {
                let Rect { rows, columns } = rect.clone();
                let start = columns.start.checked_sub(at(columns.start) / bytes).unwrap_or(columns.start);
                let end = columns.end + (ALIGNMENT - at(columns.end)) % ALIGNMENT / bytes;
                let end = if end <= job.grid.width { end } else { columns.end };
                if lines_agree && !columns.is_empty() {
                    Rect { rows, columns: start..end }
                } else {
                    rect.clone()
                }
            });
            widened.collect()
        };
        let inputs = source.map(|source| port(source, &wider(source))).into_iter();
        let inputs = inputs.chain(base.map(|base| port(base, &taken))).collect();
        let [ny, nx] = plan.blocks.map(|axis| axis.count());
        let blocks = format!("{ny} × {nx} blocks");
        let name = if step.name.is_empty() { blocks } else { format!("{}, {blocks}", step.name) };
        self.passes.push(Pass {
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
        });
    }
}
