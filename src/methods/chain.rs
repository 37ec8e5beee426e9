//! A job's chains of steps, and the files between them: what every method shares.

use super::{Job, Step};
use crate::engine::{Place, PlanFile};
use crate::optics::Encoding;
use crate::project::{Precision, Role};
use crate::storage::{Container, Element, PlaneHeader};

/// The file a step starts from, adds to or ends in.
#[derive(Clone, Copy)]
pub struct Plane {
    /// Index of the file.
    pub file: usize,
    /// Offset of the first line.
    pub offset: u64,
    /// Bytes of a line.
    pub line_bytes: usize,
    /// What is read for each sample.
    pub element: Element,
    /// What is written for each sample.
    pub encoding: Encoding,
}

impl Plane {
    /// The plane of a file with `header`.
    const fn of(file: usize, header: &PlaneHeader, encoding: Encoding) -> Self {
        let PlaneHeader { data_offset, line_bytes, element, .. } = *header;
        Self { file, offset: data_offset, line_bytes, element, encoding }
    }
}

/// What a step starts from and what becomes of it.
#[derive(Clone, Copy)]
pub struct Ends {
    /// Whether the roles A and B have changed places.
    pub swapped: bool,
    /// The plane the step starts from; zero if none.
    pub source: Option<Plane>,
    /// A plane that is added to the result.
    pub base: Option<Plane>,
    /// Where the result goes, if it is kept.
    pub result: Option<Plane>,
    /// The distance of the result from the hologram, if a preview is wanted.
    pub preview: Option<f64>,
}

/// The files of a plan in the making.
pub struct Files<'a> {
    job: &'a Job,
    /// The drive that stands for memory, where planes between steps are held there.
    memory: Option<usize>,
    /// All files so far.
    pub all: Vec<PlanFile>,
}

impl<'a> Files<'a> {
    /// No files yet. Planes between steps lie on the drives of their roles, or on the drive `memory`, which
    /// stands for memory.
    pub const fn new(job: &'a Job, memory: Option<usize>) -> Self {
        Self { job, memory, all: Vec::new() }
    }

    const fn element(&self) -> Element {
        match self.job.precision {
            Precision::F32 => Element::Complex64,
            Precision::F64 => Element::Complex128,
        }
    }

    /// Adds a file.
    pub fn add(&mut self, drive: usize, bytes: u64, place: Place) -> usize {
        self.all.push(PlanFile { drive, bytes, place });
        self.all.len() - 1
    }

    /// Adds a plane that holds complex samples between steps.
    pub fn add_plane(&mut self, role: Role) -> Plane {
        let element = self.element();
        let bytes = self.job.grid.samples() * element.bytes() as u64;
        let file = match self.memory {
            Some(memory) => self.add(memory, bytes, Place::Memory),
            None => self.add(self.job.roles.drive(role), bytes, Place::Scratch),
        };
        let line_bytes = self.job.grid.width * element.bytes();
        Plane { file, offset: 0, line_bytes, element, encoding: Encoding::Complex }
    }

    fn source(&mut self) -> Option<Plane> {
        let source = self.job.source.as_ref()?;
        let (header, path) = (source.header, source.path.clone());
        let place = if header.is_packed() { Place::Packed(path, header) } else { Place::Source(path) };
        let file = self.add(self.job.roles.source, header.file_bytes(), place);
        Some(Plane::of(file, &header, Encoding::Complex))
    }

    fn output(&mut self) -> Option<Plane> {
        let job = self.job;
        let path = job.output.as_ref()?;
        let container = Container::of(path).unwrap_or(Container::Npy);
        let element = Element::encoded(job.encoding, self.element());
        let header = PlaneHeader::new(container, job.grid.height, job.grid.width, element);
        let place = Place::Output(path.clone(), header);
        let file = self.add(job.roles.output, header.file_bytes(), place);
        Some(Plane::of(file, &header, job.encoding))
    }
}

/// The steps of all of the job's chains in order, each with its ends; their planes are added to `files`.
pub fn steps<'j>(job: &'j Job, files: &mut Files<'_>) -> Vec<(&'j Step, Ends)> {
    let source = files.source();
    let output = files.output();
    // Planes between steps, one on each of the drives that change places; and between chains.
    let longest = job.chains.iter().map(Vec::len).max().unwrap_or(0);
    let between =
        [(Role::B, 2), (Role::A, 3)].map(|(role, steps)| (longest >= steps).then(|| files.add_plane(role)));
    let mut base = None;
    let mut all = Vec::new();
    for (index, chain) in job.chains.iter().enumerate() {
        let last_chain = index + 1 == job.chains.len();
        let mut plane = if index == 0 { source } else { None };
        for (i, step) in chain.iter().enumerate() {
            let last = i + 1 == chain.len();
            let result = match (last, last_chain) {
                (true, true) => output,
                (true, false) => Some(files.add_plane([Role::C, Role::D][index % 2])),
                (false, _) => between[i % 2],
            };
            let ends = Ends {
                swapped: i % 2 == 1,
                source: plane,
                base: if last { base } else { None },
                result,
                preview: job.preview.filter(|_| last && last_chain),
            };
            all.push((step, ends));
            if last {
                base = result;
            } else {
                plane = result;
            }
        }
    }
    all
}
