//! Three phases with two streams and four roles of drives: what `implicit` and `padded` share.
//!
//! | pass | reads | writes |
//! |---|---|---|
//! | 1 rows | source: A | even: B, odd: C |
//! | 2 columns | even: B, odd: C | even: D, odd: A |
//! | 3 rows | even: D, odd: A | result: B |
//!
//! From one step of a chain to the next, A and B change places, so that the result of one is the source
//! of the next.

use super::{Job, Step};
use crate::engine::{Axis, Kernel, Lane, Layout, Order, Pass, Place, Plan, PlanFile, Port};
use crate::optics::Encoding;
use crate::project::{Method, Precision, Role};
use crate::spectral::Split;
use crate::storage::{Container, Element, PlaneHeader, Tiles};

/// How planes are padded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Padding {
    /// Padded samples `[y, x]`, even.
    pub padded: [usize; 2],
    /// The relative error it adds to one propagation.
    pub error: f64,
}

/// The plan of `job` with chunks of `chunk` lines; it calls itself a plan of `method`. Its scratch is on the
/// drives of the roles, or, `in_core`, in memory.
pub fn plan(job: &Job, method: Method, padding: Padding, in_core: bool, chunk: usize) -> Plan {
    let split = |length, padded| Split { length, padded, streams: 2 };
    let split_y = split(job.grid.height, padding.padded[0]);
    let split_x = split(job.grid.width, padding.padded[1]);
    // A stream of rows is as wide as its transform.
    let (width, height) = (split_x.stream_length(), job.grid.height);
    let sample_bytes = job.precision.sample_bytes();
    let tiles = Tiles { height, width, rows: chunk.min(height), columns: chunk.min(width), sample_bytes };
    let mut drives = job.roles.drives.clone();
    let memory = in_core.then(|| {
        drives.push("memory".into());
        drives.len() - 1
    });
    let mut builder = Builder { job, tiles, split_x, split_y, memory, files: Vec::new(), passes: Vec::new() };
    builder.run();
    let Builder { files, passes, .. } = builder;
    let bound = |step: &Step| padding.error + error_bound(job, step.distance);
    Plan {
        name: job.name.clone(),
        method,
        precision: job.precision,
        drives,
        files,
        passes,
        layer_bytes: job.layer_bytes,
        chunk,
        buffers: job.buffers,
        threads: job.threads,
        error_bound: job.chains.iter().flatten().map(bound).sum(),
    }
}

/// Bound on the relative L2 error of one propagation over `distance` metres: the transforms', and that of
/// a phase in double precision, which grows with the number of wavelengths.
fn error_bound(job: &Job, distance: f64) -> f64 {
    let transforms = match job.precision {
        Precision::F32 => 2e-6,
        Precision::F64 => 1e-12,
    };
    let phase = std::f64::consts::TAU * distance.abs() / job.optics.wavelength;
    transforms + 1.5 * f64::EPSILON * phase
}

/// The file a step starts from or adds to.
#[derive(Clone, Copy)]
struct Plane {
    file: usize,
    offset: u64,
    line_bytes: usize,
    element: Element,
}

impl Plane {
    /// The plane of a file with `header`.
    const fn of(file: usize, header: &PlaneHeader) -> Self {
        let PlaneHeader { data_offset, line_bytes, element, .. } = *header;
        Self { file, offset: data_offset, line_bytes, element }
    }
}

struct Builder<'a> {
    job: &'a Job,
    tiles: Tiles,
    split_x: Split,
    split_y: Split,
    /// The drive that stands for memory, where scratch is held there.
    memory: Option<usize>,
    files: Vec<PlanFile>,
    passes: Vec<Pass>,
}

impl Builder<'_> {
    fn run(&mut self) {
        let job = self.job;
        let source = job.source.as_ref().map(|source| {
            let (header, path) = (source.header, source.path.clone());
            let place = if header.is_packed() { Place::Packed(path, header) } else { Place::Source(path) };
            Plane::of(self.add_file(job.roles.source, header.file_bytes(), place), &header)
        });
        let output = job.output.as_ref().map(|path| {
            let container = Container::of(path).unwrap_or(Container::Npy);
            let element = Element::encoded(job.encoding, self.element());
            let header = PlaneHeader::new(container, job.grid.height, job.grid.width, element);
            let place = Place::Output(path.clone(), header);
            Plane::of(self.add_file(job.roles.output, header.file_bytes(), place), &header)
        });
        // One tiled file for each role; the steps take turns.
        let slots = Role::ALL.map(|role| self.add_scratch(role, self.tiles.file_bytes()));
        // Planes between steps, one on each of the drives that change places; and between chains.
        let longest = job.chains.iter().map(Vec::len).max().unwrap_or(0);
        let between = [(Role::B, 2), (Role::A, 3)]
            .map(|(role, steps)| (longest >= steps).then(|| self.add_plane(role)));
        let sums = [Role::C, Role::D];
        let mut base = None;
        for (index, chain) in job.chains.iter().enumerate() {
            let last_chain = index + 1 == job.chains.len();
            let mut plane = if index == 0 { source } else { None };
            for (i, step) in chain.iter().enumerate() {
                let last = i + 1 == chain.len();
                let swapped = i % 2 == 1;
                let result = match (last, last_chain) {
                    (true, true) => output,
                    (true, false) => Some(self.add_plane(sums[index % 2])),
                    (false, _) => between[usize::from(swapped)],
                };
                let added = if last { base } else { None };
                self.step(step, swapped, slots, plane, added, result, last && last_chain);
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

    /// A scratch file on the drive of `role`, or in memory.
    fn add_scratch(&mut self, role: Role, bytes: u64) -> usize {
        match self.memory {
            Some(memory) => self.add_file(memory, bytes, Place::Memory),
            None => self.add_file(self.job.roles.drive(role), bytes, Place::Scratch),
        }
    }

    /// A scratch plane on the drive of `role`.
    fn add_plane(&mut self, role: Role) -> Plane {
        let element = self.element();
        let bytes = self.job.grid.samples() * element.bytes() as u64;
        let file = self.add_scratch(role, bytes);
        Plane { file, offset: 0, line_bytes: self.split_x.length * element.bytes(), element }
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

    const fn tiled(&self, file: usize, order: Order, axis: Axis) -> Port {
        Port { file, layout: Layout::Tiles { tiles: self.tiles, order, axis } }
    }

    /// The three passes of one propagation.
    #[expect(clippy::too_many_arguments, reason = "each is one end of the step")]
    fn step(
        &mut self,
        step: &Step,
        swapped: bool,
        slots: [usize; 4],
        source: Option<Plane>,
        base: Option<Plane>,
        result: Option<Plane>,
        final_step: bool,
    ) {
        let Self { job, tiles, split_x, split_y, .. } = *self;
        let [mut a, mut b, c, d] = slots;
        if swapped {
            std::mem::swap(&mut a, &mut b);
        }
        let buffers = job.buffers;
        let (rows, columns) = (tiles.row_chunks(), tiles.column_chunks());
        let name = |phase: &str| {
            if step.name.is_empty() { phase.to_owned() } else { format!("{}, {phase}", step.name) }
        };
        self.passes.push(Pass {
            name: name("phase 1: rows"),
            kernel: Kernel::RowsForward {
                source: source.map(|s| s.element),
                layers: step.layers.clone(),
                split: split_x,
                tiles,
            },
            lanes: vec![Lane {
                name: "rows".into(),
                chunks: rows,
                inputs: source.into_iter().map(|s| self.lines(s)).collect(),
                outputs: [b, c].map(|f| self.tiled(f, Order::ByColumns, Axis::Rows)).into(),
                in_place: false,
                input_sets: buffers,
                output_sets: buffers,
            }],
        });
        let lane = |name: &str, from, to| Lane {
            name: name.into(),
            chunks: columns,
            inputs: vec![self.tiled(from, Order::ByColumns, Axis::Columns)],
            outputs: vec![self.tiled(to, Order::ByRows, Axis::Columns)],
            in_place: true,
            // As many buffers in all as the other phases have.
            input_sets: (3 * buffers / 2).max(1),
            output_sets: 0,
        };
        self.passes.push(Pass {
            name: name("phase 2: columns"),
            kernel: Kernel::Columns {
                transfer: job.optics.transfer(&job.grid, [split_y.padded, split_x.padded], step.distance),
                split: split_y,
                streams: split_x.streams,
                tiles,
            },
            lanes: vec![lane("even", b, d), lane("odd", c, a)],
        });
        let mut inputs: Vec<_> = [d, a].map(|f| self.tiled(f, Order::ByRows, Axis::Rows)).into();
        inputs.extend(base.map(|base| self.lines(base)));
        self.passes.push(Pass {
            name: name("phase 3: rows"),
            kernel: Kernel::RowsInverse {
                split: split_x,
                tiles,
                base: base.map(|base| base.element),
                preview: job.preview.filter(|_| final_step),
                encoding: if final_step { job.encoding } else { Encoding::Complex },
            },
            lanes: vec![Lane {
                name: "rows".into(),
                chunks: rows,
                inputs,
                outputs: result.into_iter().map(|r| self.lines(r)).collect(),
                in_place: false,
                input_sets: buffers,
                output_sets: buffers,
            }],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::example::job;
    use crate::methods::{Roles, stepwise};
    use crate::project::Drive;

    /// The drives each pass reads and writes, by role.
    fn drives(plan: &Plan) -> Vec<(String, String)> {
        let letters = |ports: &dyn Fn(&Lane) -> Vec<usize>, pass: &Pass| {
            let files = pass.lanes.iter().flat_map(ports);
            files.map(|file| "ABCD".chars().nth(plan.files[file].drive).unwrap()).collect::<String>()
        };
        let inputs = |lane: &Lane| lane.inputs.iter().map(|port| port.file).collect();
        let outputs = |lane: &Lane| lane.outputs.iter().map(|port| port.file).collect();
        plan.passes.iter().map(|pass| (letters(&inputs, pass), letters(&outputs, pass))).collect()
    }

    #[test]
    fn passes_read_and_write_the_drives_of_the_papers_table_and_a_and_b_take_turns() {
        let folders = ["/a", "/b", "/c", "/d"];
        let given: Vec<_> =
            folders.iter().zip(Role::ALL).map(|(path, role)| Drive { path: path.into(), role }).collect();
        let mut job = job(100, 90, 64 << 20);
        job.chains = stepwise(&[1e-3, 2e-3, 3e-3]);
        job.roles = Roles::assign(&given, None, Some("/b/out.npy".as_ref()), |_, _| false);
        let padding = Padding { padded: [180, 200], error: 0.0 };
        let plan = plan(&job, Method::Implicit, padding, false, 32);
        let table = |reads: &str, writes: &str| (reads.to_owned(), writes.to_owned());
        let even_step = |source, result| [table(source, "BC"), table("BC", "DA"), table("DA", result)];
        let odd_step = |source, result| [table(source, "AC"), table("AC", "DB"), table("DB", result)];
        let expected = [even_step("", "B"), odd_step("B", "A"), even_step("A", "B")].concat();
        assert_eq!(drives(&plan), expected);
    }
}
