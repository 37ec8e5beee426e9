//! Three phases with residue streams and four roles of drives: what `implicit`, `padded` and `in-core` share.
//!
//! | pass | reads | writes |
//! |---|---|---|
//! | 1 rows | source: A | even: B, odd: C |
//! | 2 columns | even: B, odd: C | even: D, odd: A |
//! | 3 rows | even: D, odd: A | result: B |
//!
//! From one step of a chain to the next, A and B change places, so that the result of one is the source
//! of the next. Further streams, and further waves of a fused step, take the roles in turn.

use std::ops::Range;

use super::chain::{self, Ends, Files, Plane};
use super::{Job, Step, Wave};
use crate::engine::{Axis, Kernel, Lane, Layout, Order, Pass, Place, Plan, Port, RowsOf, Term};
use crate::optics::Encoding;
use crate::project::{Method, Precision, Role};
use crate::spectral::Split;
use crate::storage::Tiles;

/// How planes are padded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Padding {
    /// Padded samples `[y, x]`; along y even, along x a multiple of the streams.
    pub padded: [usize; 2],
    /// The relative error it adds to one propagation.
    pub error: f64,
}

/// How the streams along x are worked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streaming {
    /// Number of streams.
    pub streams: usize,
    /// Streams that go through phases 1 and 2 together; the others wait.
    pub at_once: usize,
    /// Whether what phase 1 writes stays in memory.
    pub spectra_in_memory: bool,
    /// Whether what phase 2 writes stays in memory.
    pub results_in_memory: bool,
    /// Whether each group of streams has a phase 3 of its own, which adds to the result; else one phase 3
    /// gathers all streams.
    pub added: bool,
}

impl Streaming {
    /// The paper's: even and odd at once.
    pub const TWO: Self =
        Self { streams: 2, at_once: 2, spectra_in_memory: false, results_in_memory: false, added: false };

    /// One stream: lines padded with zeros in memory.
    pub const ONE: Self = Self { streams: 1, at_once: 1, ..Self::TWO };

    /// Even and odd at once, in memory.
    pub const IN_CORE: Self = Self { spectra_in_memory: true, results_in_memory: true, ..Self::TWO };
}

/// The plan of `job` with chunks of `chunk` lines; it calls itself a plan of `method`.
pub fn plan(job: &Job, method: Method, padding: Padding, streaming: Streaming, chunk: usize) -> Plan {
    // Explicit zeros are padding along both axes.
    let along_y = if method == Method::ZeroPadded { 1 } else { 2 };
    let split_y = Split { length: job.grid.height, padded: padding.padded[0], streams: along_y };
    let split_x = Split { length: job.grid.width, padded: padding.padded[1], streams: streaming.streams };
    // A stream of rows is as wide as its transform.
    let (width, height) = (split_x.stream_length(), job.grid.height);
    let precision = job.scratch_precision;
    let tiles = Tiles { height, width, rows: chunk.min(height), columns: chunk.min(width), precision };
    let mut drives = job.roles.drives.clone();
    let mut memory = drives.len();
    if streaming.spectra_in_memory || streaming.results_in_memory {
        drives.push("memory".into());
    } else {
        memory = usize::MAX;
    }
    let mut builder = Builder {
        job,
        tiles,
        split_x,
        split_y,
        streaming,
        memory,
        files: Files::new(job, streaming.results_in_memory.then_some(memory)),
        passes: Vec::new(),
        slots: Vec::new(),
    };
    for (step, ends) in chain::steps(job, &mut builder.files) {
        builder.step(step, ends);
    }
    let Builder { files: Files { all: files, .. }, passes, .. } = builder;
    Plan {
        name: job.name.clone(),
        method,
        precision: job.precision,
        scratch_precision: precision,
        drives,
        stripes: job.roles.stripes.clone(),
        files,
        passes,
        layer_bytes: job.layer_bytes,
        chunk,
        buffers: job.buffers,
        threads: job.threads,
        error_bound: job.chains.iter().flatten().map(|step| step_error(job, step, padding.error)).sum(),
        predicted: None,
    }
}

/// Bound on the relative L2 error of one step: the padding's, the transforms', what scratch rounds away (it
/// is kept twice), and that of a phase in double precision, which grows with the number of wavelengths. The
/// waves of a step are independent: their errors add as their energies do, at worst all in one.
pub fn step_error(job: &Job, step: &Step, padding: f64) -> f64 {
    let transforms = match job.precision {
        Precision::F32 => 2e-6,
        Precision::F64 => 1e-12,
    };
    let kept_as_computed = job.scratch_precision.sample_bytes() >= job.precision.sample_bytes();
    let scratch =
        if kept_as_computed { 0.0 } else { std::f64::consts::SQRT_2 * job.scratch_precision.error() };
    let farthest = step.waves.iter().map(|wave| wave.distance.abs()).fold(0.0, f64::max);
    let phase = std::f64::consts::TAU * farthest / job.optics.wavelength;
    let one = padding + transforms + scratch + 1.5 * f64::EPSILON * phase;
    (step.waves.len() as f64).sqrt() * one
}

/// A scratch file that the steps take turns to use.
struct Slot {
    file: usize,
    drive: usize,
    taken: bool,
}

struct Builder<'a> {
    job: &'a Job,
    tiles: Tiles,
    split_x: Split,
    split_y: Split,
    streaming: Streaming,
    /// The drive that stands for memory.
    memory: usize,
    files: Files<'a>,
    passes: Vec<Pass>,
    slots: Vec<Slot>,
}

impl Builder<'_> {
    /// A scratch file of at least `bytes` that this step does not use yet, on the drive of `role` or in memory.
    fn take_slot(&mut self, role: Role, in_memory: bool, bytes: u64) -> usize {
        let drive = if in_memory { self.memory } else { self.job.roles.drive(role) };
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.drive == drive && !slot.taken) {
            slot.taken = true;
            let file = &mut self.files.all[slot.file];
            file.bytes = file.bytes.max(bytes);
            return slot.file;
        }
        let file = self.files.add(drive, bytes, if in_memory { Place::Memory } else { Place::Scratch });
        self.slots.push(Slot { file, drive, taken: true });
        file
    }

    fn lines(&self, plane: Plane) -> Port {
        let layout = Layout::Lines {
            offset: plane.offset,
            line_bytes: plane.line_bytes,
            lines: self.tiles.height,
            chunk: self.tiles.rows,
        };
        Port { file: plane.file, layout }
    }

    /// The rows that `wave` may have light in.
    fn rows(&self, wave: &Wave, source: bool) -> Range<usize> {
        let windows = wave.layers.iter().map(|&layer| &self.job.layer_windows[layer][0]);
        let all = 0..self.tiles.height;
        if source {
            return all;
        }
        let sum = |sum: Range<usize>, rows: Range<usize>| sum.start.min(rows.start)..sum.end.max(rows.end);
        // A pass has something to do, even if it is a dark row.
        windows.cloned().reduce(sum).filter(|rows| !rows.is_empty()).unwrap_or(0..1)
    }

    /// The passes of one step.
    fn step(&mut self, step: &Step, ends: Ends) {
        let Streaming { streams, at_once, spectra_in_memory, results_in_memory, added } = self.streaming;
        for slot in &mut self.slots {
            slot.taken = false;
        }
        let swap = |role| match role {
            Role::A if ends.swapped => Role::B,
            Role::B if ends.swapped => Role::A,
            role => role,
        };
        let transfer = |wave: &Wave| {
            let padded = [self.split_y.padded, self.split_x.padded];
            self.job.optics.transfer(&self.job.grid, padded, wave.distance)
        };
        let terms: Vec<_> = step
            .waves
            .iter()
            .enumerate()
            .map(|(k, wave)| {
                let rows = self.rows(wave, k == 0 && ends.source.is_some());
                let tiles = Tiles { height: rows.len(), ..self.tiles };
                Term { transfer: transfer(wave), first_row: rows.start, tiles }
            })
            .collect();
        // What phase 1 writes: for each wave, each stream that goes together with others.
        let order = [Role::B, Role::C, Role::D, Role::A].map(swap);
        let spectra: Vec<Vec<_>> = terms
            .iter()
            .enumerate()
            .map(|(k, term)| {
                let slot =
                    |i| self.take_slot(order[(2 * k + i) % 4], spectra_in_memory, term.tiles.file_bytes());
                (0..at_once.min(streams)).map(slot).collect()
            })
            .collect();
        // What phase 2 writes: every stream, or again those of a group.
        let kept = if added { at_once } else { streams };
        let results: Vec<_> = (0..kept)
            .map(|r| {
                let role = [Role::D, Role::A, Role::C, Role::B].map(swap)[r % 4];
                self.take_slot(role, results_in_memory, self.tiles.file_bytes())
            })
            .collect();
        let groups = streams.div_ceil(at_once);
        // Sums of groups are complex, whatever the result will be.
        let kept = ends.result.filter(|result| result.encoding == Encoding::Complex);
        let partial =
            if added && groups > 1 { kept.or_else(|| Some(self.files.add_plane(Role::B))) } else { None };
        for group in 0..groups {
            let lanes = group * at_once..streams.min((group + 1) * at_once);
            let name = |phase: &str| {
                let group = if groups > 1 {
                    format!("streams {} of {streams}", display(&lanes))
                } else {
                    String::new()
                };
                let parts = [&*step.name, &*group, phase];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
            };
            for (k, (wave, term)) in step.waves.iter().zip(&terms).enumerate() {
                let source = if k == 0 { ends.source } else { None };
                self.rows_forward(
                    &name,
                    (wave, term),
                    step.waves.len() > 1,
                    lanes.clone(),
                    source,
                    &spectra[k],
                );
            }
            let mine = if added { &results[..lanes.len()] } else { &results[lanes.clone()] };
            self.columns(name("phase 2: columns"), &terms, lanes.clone(), &spectra, mine);
            let last_group = group + 1 == groups;
            if added {
                let base = if group == 0 { ends.base } else { partial };
                let result = if last_group { ends.result } else { partial };
                let preview = ends.preview.filter(|_| last_group);
                self.rows_inverse(name("phase 3: rows"), lanes, mine, base, result, preview);
            }
        }
        if !added {
            let name = if step.name.is_empty() {
                "phase 3: rows".into()
            } else {
                format!("{}, phase 3: rows", step.name)
            };
            self.rows_inverse(name, 0..streams, &results, ends.base, ends.result, ends.preview);
        }
    }

    const fn tiled(tiles: Tiles, file: usize, order: Order, axis: Axis) -> Port {
        Port { file, layout: Layout::Tiles { tiles, order, axis } }
    }

    fn rows_forward(
        &mut self,
        name: &dyn Fn(&str) -> String,
        (wave, term): (&Wave, &Term),
        several: bool,
        lanes: Range<usize>,
        source: Option<Plane>,
        spectra: &[usize],
    ) {
        let phase = if several {
            format!("phase 1: rows over {}", crate::optics::Length::metres(wave.distance))
        } else {
            "phase 1: rows".into()
        };
        let outputs = &spectra[..lanes.len()];
        let buffers = self.job.buffers;
        let part = RowsOf { first_row: term.first_row, streams: lanes };
        self.passes.push(Pass {
            name: name(&phase),
            kernel: Kernel::RowsForward {
                source: source.map(|s| s.element),
                layers: wave.layers.clone(),
                split: self.split_x,
                part,
                tiles: term.tiles,
            },
            lanes: vec![Lane {
                name: "rows".into(),
                chunks: term.tiles.row_chunks(),
                inputs: source.into_iter().map(|s| self.lines(s)).collect(),
                outputs: outputs
                    .iter()
                    .map(|&f| Self::tiled(term.tiles, f, Order::ByColumns, Axis::Rows))
                    .collect(),
                in_place: false,
                input_sets: buffers,
                output_sets: buffers,
            }],
        });
    }

    fn columns(
        &mut self,
        name: String,
        terms: &[Term],
        streams: Range<usize>,
        spectra: &[Vec<usize>],
        results: &[usize],
    ) {
        let tiles = self.tiles;
        // In place where one plane is convolved, all of it.
        let in_place = terms.len() == 1 && terms[0].tiles == tiles;
        let lanes = streams.len();
        let (input_sets, output_sets) = if in_place {
            // As many buffers in all as the other phases have.
            ((3 * self.job.buffers / lanes).max(1), 0)
        } else {
            let sets = self.job.buffers.div_ceil(lanes);
            (sets, sets)
        };
        let lane = |(i, stream): (usize, usize)| Lane {
            name: match (self.streaming.streams, stream) {
                (1, _) => "all".into(),
                (2, 0) => "even".into(),
                (2, 1) => "odd".into(),
                _ => format!("stream {}", stream + 1),
            },
            chunks: tiles.column_chunks(),
            inputs: terms
                .iter()
                .zip(spectra)
                .map(|(term, files)| Self::tiled(term.tiles, files[i], Order::ByColumns, Axis::Columns))
                .collect(),
            outputs: vec![Self::tiled(tiles, results[i], Order::ByRows, Axis::Columns)],
            in_place,
            input_sets,
            output_sets,
        };
        let lanes = streams.clone().enumerate().map(lane).collect();
        let kernel = Kernel::Columns {
            terms: terms.to_vec(),
            split: self.split_y,
            lanes: streams,
            streams: self.streaming.streams,
            tiles,
        };
        self.passes.push(Pass { name, kernel, lanes });
    }

    fn rows_inverse(
        &mut self,
        name: String,
        streams: Range<usize>,
        files: &[usize],
        base: Option<Plane>,
        result: Option<Plane>,
        preview: Option<f64>,
    ) {
        let mut inputs: Vec<_> =
            files.iter().map(|&f| Self::tiled(self.tiles, f, Order::ByRows, Axis::Rows)).collect();
        inputs.extend(base.map(|base| self.lines(base)));
        let buffers = self.job.buffers;
        self.passes.push(Pass {
            name,
            kernel: Kernel::RowsInverse {
                split: self.split_x,
                streams,
                tiles: self.tiles,
                base: base.map(|base| base.element),
                preview,
                encoding: result.map_or(Encoding::Complex, |result| result.encoding),
            },
            lanes: vec![Lane {
                name: "rows".into(),
                chunks: self.tiles.row_chunks(),
                inputs,
                outputs: result.into_iter().map(|r| self.lines(r)).collect(),
                in_place: false,
                input_sets: buffers,
                output_sets: buffers,
            }],
        });
    }
}

/// Streams as they are counted in a name.
fn display(streams: &Range<usize>) -> String {
    if streams.len() == 1 {
        format!("{}", streams.start + 1)
    } else {
        format!("{} to {}", streams.start + 1, streams.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::example::job;
    use crate::methods::{Roles, fused, stepwise};
    use crate::project::Drive;

    /// The drives each pass reads and writes, by role.
    fn drives(plan: &Plan) -> Vec<(String, String)> {
        let letters = |ports: &dyn Fn(&Lane) -> Vec<usize>, pass: &Pass| {
            let files = pass.lanes.iter().flat_map(ports);
            files.map(|file| "ABCDM".chars().nth(plan.files[file].drive).unwrap()).collect::<String>()
        };
        let inputs = |lane: &Lane| lane.inputs.iter().map(|port| port.file).collect();
        let outputs = |lane: &Lane| lane.outputs.iter().map(|port| port.file).collect();
        plan.passes.iter().map(|pass| (letters(&inputs, pass), letters(&outputs, pass))).collect()
    }

    fn four_drives() -> Job {
        let folders = ["/a", "/b", "/c", "/d"];
        let given: Vec<_> =
            folders.iter().zip(Role::ALL).map(|(path, role)| Drive { path: path.into(), role }).collect();
        let mut job = job(100, 90, 64 << 20);
        job.roles = Roles::assign(&given, None, Some("/b/out.npy".as_ref()), |_, _| false);
        job
    }

    const PADDING: Padding = Padding { padded: [180, 200], error: 0.0 };

    fn table(reads: &str, writes: &str) -> (String, String) {
        (reads.to_owned(), writes.to_owned())
    }

    #[test]
    fn passes_read_and_write_the_drives_of_the_papers_table_and_a_and_b_take_turns() {
        let mut job = four_drives();
        job.chains = stepwise(&[1e-3, 2e-3, 3e-3]);
        job.layer_windows = vec![[0..90, 0..100]; 3];
        let plan = plan(&job, Method::Implicit, PADDING, Streaming::TWO, 32);
        let even_step = |source, result| [table(source, "BC"), table("BC", "DA"), table("DA", result)];
        let odd_step = |source, result| [table(source, "AC"), table("AC", "DB"), table("DB", result)];
        let expected = [even_step("", "B"), odd_step("B", "A"), even_step("A", "B")].concat();
        assert_eq!(drives(&plan), expected);
        let scratch = plan.files.iter().filter(|f| matches!(f.place, Place::Scratch));
        assert_eq!(scratch.count(), 4 + 2, "a file for each role, and two planes between steps");
    }

    #[test]
    fn fused_layers_are_spread_over_the_drives_and_only_their_rows_are_kept() {
        let mut job = four_drives();
        job.chains = fused(&[1e-3, 2e-3, 3e-3]);
        job.layer_windows = vec![[0..90, 0..100], [10..50, 0..100], [0..90, 5..9]];
        let plan = plan(&job, Method::Padded, PADDING, Streaming::TWO, 32);
        let expected =
            [table("", "BC"), table("", "DA"), table("", "BC"), table("BDBCAC", "DA"), table("DA", "B")];
        assert_eq!(drives(&plan), expected);
        let Kernel::Columns { terms, .. } = &plan.passes[3].kernel else { panic!("columns") };
        let rows: Vec<_> = terms.iter().map(|t| (t.first_row, t.tiles.height)).collect();
        assert_eq!(rows, [(0, 90), (10, 40), (0, 90)]);
    }

    #[test]
    fn streams_one_after_another_need_less_scratch() {
        let mut job = four_drives();
        job.chains = stepwise(&[1e-3]);
        let of = |streams, at_once, added, spectra_in_memory| {
            let streaming =
                Streaming { streams, at_once, added, spectra_in_memory, results_in_memory: false };
            plan(&job, Method::Padded, PADDING, streaming, 32)
        };
        let scratch = |plan: &Plan| (0..4).map(|drive| plan.new_bytes(drive).0).sum::<u64>();
        let all = scratch(&of(4, 4, false, false));
        let one = of(4, 1, true, false);
        assert_eq!(scratch(&one) * 4, all, "a quarter of it");
        assert_eq!(one.passes.len(), 12);
        let gathered = of(4, 1, false, true);
        assert_eq!(scratch(&gathered) * 2, all, "what phase 2 writes");
        assert_eq!(gathered.passes.len(), 9);
        assert_eq!(drives(&gathered)[8], table("DACB", "B"));
    }

    /// Sums of groups are read again: they cannot be kept in an output of levels.
    #[test]
    fn an_encoded_output_is_written_once_by_the_last_pass() {
        let mut job = job(100, 90, 64 << 20);
        job.encoding = Encoding::Phase8;
        let streaming = Streaming { streams: 4, at_once: 1, added: true, ..Streaming::TWO };
        let plan = plan(&job, Method::Padded, PADDING, streaming, 32);
        let output = plan.files.iter().position(|file| matches!(file.place, Place::Output(..))).unwrap();
        let last = plan.passes.len() - 1;
        for (index, pass) in plan.passes.iter().enumerate() {
            let lanes = || pass.lanes.iter();
            assert!(lanes().flat_map(|lane| &lane.inputs).all(|port| port.file != output));
            assert_eq!(lanes().flat_map(|lane| &lane.outputs).any(|p| p.file == output), index == last);
            if let Kernel::RowsInverse { encoding, .. } = pass.kernel {
                assert_eq!(encoding == Encoding::Phase8, index == last);
            }
        }
    }
}
