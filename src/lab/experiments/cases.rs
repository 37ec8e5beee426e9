//! What each comparison runs.

use std::path::PathBuf;

use tempfile::TempDir;

use super::super::bench::{Bench, Stage, Tune, temporary_folder};
use super::super::hologram;
use super::super::inputs::Input;
use super::super::propagation::{propagation, settings};
use super::super::runs::Entry;
use super::{Comparing, Experiment};
use crate::optics::Bytes;
use crate::project::{Bypass, Drive, Method, Precision, Role};
use crate::run::{RunError, Settings};
use crate::storage::Rates;

/// Drives of the paper's machine.
pub const DRIVES: usize = 4;

/// What is to be run.
pub struct Cases {
    /// The stages, in order.
    pub stages: Vec<Stage>,
    /// What the reader should know.
    pub notes: Vec<String>,
    /// Temporary folders on the user's drives.
    pub folders: Vec<TempDir>,
}

/// A way to do the job.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    method: Method,
    drives: usize,
    striped: bool,
}

const fn way(name: &'static str, method: Method, drives: usize, striped: bool) -> Way {
    Way { name, method, drives, striped }
}

/// All others are compared with this one.
const IMPLICIT: Way = way("implicit, 4 drives", Method::Implicit, DRIVES, false);
const ZERO_PADDED: Way = way("zero-padded, 1 drive", Method::ZeroPadded, 1, false);
const MULTI: Way = way("zero-padded multi", Method::ZeroPadded, DRIVES, false);
const RAID: Way = way("zero-padded raid", Method::ZeroPadded, DRIVES, true);
const IMPLICIT_RAID: Way = way("implicit raid", Method::Implicit, DRIVES, true);
const FEWER: [Way; 3] = [
    way("implicit, 1 drive", Method::Implicit, 1, false),
    way("implicit, 2 drives", Method::Implicit, 2, false),
    way("implicit, 3 drives", Method::Implicit, 3, false),
];

/// The drives of a comparison and what is the same for all of its entries.
struct Place<'b> {
    bench: &'b Bench<'b>,
    folders: Vec<PathBuf>,
    size: usize,
    memory: Bytes,
    rounds: usize,
}

/// The stages of `comparing`; `presets` are SATA and `NVMe`.
pub fn of(
    comparing: &Comparing,
    bench: &Bench<'_>,
    presets: &[(&'static str, Rates)],
) -> Result<Cases, RunError> {
    let mut held = Vec::new();
    let mut folders = Vec::new();
    if comparing.experiment == Experiment::Real {
        for drive in &comparing.drives {
            let folder = temporary_folder(drive)?;
            folders.push(folder.path().to_path_buf());
            held.push(folder);
        }
    } else {
        for role in Role::ALL {
            folders.push(bench.sub_folder(&format!("drive-{role}"))?);
        }
    }
    let place =
        Place { bench, folders, size: comparing.size, memory: comparing.memory(), rounds: comparing.repeat };
    let others = [ZERO_PADDED, MULTI, RAID, IMPLICIT_RAID];
    let sata = presets.first().copied();
    let mut notes =
        vec!["every method without a roll-off, with planes padded to twice their size".to_owned()];
    let stages = match comparing.experiment {
        Experiment::Table1 => {
            notes.push(
                "each with the number of buffers of 2, 3 and 4 that was fastest before, and then the largest chunk \
                 that fits, a half or a quarter of it"
                    .into(),
            );
            both(presets, |preset, precision| Stage {
                tune: Tune::All,
                ..place.stage("whole job", Some(preset), precision, &others)
            })
        }
        Experiment::Io => both(presets, |preset, precision| {
            let mut stage = place.stage("drives alone", Some(preset), precision, &others);
            let without = |entry: Entry| entry.without(Bypass::Compute);
            stage.baseline = stage.baseline.map(without);
            stage.entries = stage.entries.into_iter().map(without).collect();
            stage.verify = false;
            stage
        }),
        Experiment::Breakdown => {
            vec![place.stage("phases", sata, Precision::F32, &[ZERO_PADDED, MULTI])]
        }
        Experiment::Memory => vec![place.memory(sata)],
        Experiment::Table2 => vec![place.chunks_and_buffers(sata)?],
        Experiment::Drives => vec![place.stage("drives", sata, Precision::F32, &FEWER)],
        Experiment::Overlap => presets.iter().map(|&preset| place.overlap(preset)).collect(),
        Experiment::Hologram => {
            let (name, rates) = sata.unwrap_or(("SATA", Rates::SATA));
            let drives = place.roles(DRIVES);
            let stage = hologram::against_zero_padded(bench, &drives, name, rates, place.size, place.memory);
            vec![Stage { rounds: place.rounds, ..stage }]
        }
        Experiment::Real => {
            let count = place.folders.len();
            let ways = [Way { drives: 1, ..ZERO_PADDED }, MULTI, RAID, IMPLICIT_RAID];
            let ways: Vec<_> = ways.iter().filter(|way| count > 1 || way.drives == 1).copied().collect();
            [Precision::F32, Precision::F64]
                .map(|precision| place.stage("whole job", None, precision, &ways))
                .into()
        }
    };
    if comparing.experiment == Experiment::Real {
        notes.push("raid: scratch is striped over the drives; source and result are whole files".into());
    }
    Ok(Cases { stages, notes, folders: held })
}

/// A stage for both precisions on each kind of drive.
fn both(
    presets: &[(&'static str, Rates)],
    stage: impl Fn((&'static str, Rates), Precision) -> Stage,
) -> Vec<Stage> {
    let of = |&preset| [Precision::F32, Precision::F64].map(|precision| stage(preset, precision));
    presets.iter().flat_map(of).collect()
}

impl Place<'_> {
    /// The first `count` drives with their roles.
    fn roles(&self, count: usize) -> Vec<Drive> {
        let folders = self.folders.iter().zip(Role::ALL).take(count);
        folders.map(|(path, role)| Drive { path: path.clone(), role }).collect()
    }

    fn entry(&self, way: Way, precision: Precision, emulation: Option<Rates>) -> Entry {
        let drives = self.roles(way.drives);
        let mut job = propagation(self.bench);
        job.source = self.folders[0].join("plane.npy");
        job.target = drives[1.min(drives.len() - 1)].path.join("result.npy");
        let settings = Settings {
            precision,
            striped: way.striped,
            emulation,
            drives,
            ..settings(self.bench, self.memory)
        };
        // The user may have fewer drives than the paper.
        let name = match (way.drives, self.folders.len()) {
            (DRIVES, 1) => way.name.replace("4 drives", "1 drive"),
            (DRIVES, count) => way.name.replace("4 drives", &format!("{count} drives")),
            _ => way.name.into(),
        };
        Entry { name, ..Entry::propagation(job, settings, way.method, None) }
    }

    /// Whether planes of `precision` get twice the memory: they have twice the bytes.
    const fn memory_for(&self, precision: Precision) -> Bytes {
        match precision {
            Precision::F32 => self.memory,
            Precision::F64 => Bytes(2 * self.memory.0),
        }
    }

    /// `implicit` on all drives against `others`.
    fn stage(
        &self,
        name: &'static str,
        preset: Option<(&'static str, Rates)>,
        precision: Precision,
        others: &[Way],
    ) -> Stage {
        let emulation = preset.map(|preset| preset.1);
        let memory = self.memory_for(precision);
        let entry = |way| {
            let mut entry = self.entry(way, precision, emulation);
            entry.settings.memory = memory;
            entry
        };
        let drives = preset.map_or("these drives".into(), |(name, rates)| {
            format!("emulated {name} drives of {rates} ({})", rates.duplex)
        });
        Stage {
            name,
            what: format!(
                "{0} × {0} random samples, {precision}, 5 µm, 660 nm, −90 mm, {memory}, {drives}",
                self.size
            ),
            size: self.size,
            memory,
            rounds: self.rounds,
            inputs: vec![Input::plane_of(self.folders[0].join("plane.npy"), self.size, precision)],
            baseline: Some(entry(IMPLICIT)),
            entries: others.iter().map(|&way| entry(way)).collect(),
            parts: false,
            planes: false,
            tune: Tune::None,
            verify: true,
            timelines: false,
            emulated: emulation,
            scipy: None,
            notes: Vec::new(),
        }
    }

    /// The same job in a quarter of the memory, half of it, and so on.
    fn memory(&self, preset: Option<(&'static str, Rates)>) -> Stage {
        let mut stage = self.stage("memory", preset, Precision::F32, &[]);
        for way in [IMPLICIT, MULTI] {
            for quarters in [1, 2, 4, 8, 16] {
                let memory = Bytes(self.memory.0 * quarters / 4);
                let mut entry = self.entry(way, Precision::F32, stage.emulated);
                entry.settings.memory = memory;
                entry.name = format!("{}, {memory}", way.name);
                stage.entries.push(entry);
            }
        }
        stage
    }

    /// The largest chunk that each number of buffers leaves room for, and halves of it.
    fn chunks_and_buffers(&self, preset: Option<(&'static str, Rates)>) -> Result<Stage, RunError> {
        let mut stage = self.stage("chunk and buffers", preset, Precision::F32, &[]);
        stage.inputs.iter().try_for_each(Input::outline)?;
        for buffers in [1, 2, 3, 4, 6, 8] {
            let most = self.entry(IMPLICIT, Precision::F32, stage.emulated).with_buffers(buffers);
            // Where not even one line fits there is nothing to compare.
            let Ok(plan) = most.plan() else { continue };
            for part in [1, 2, 4, 8] {
                let mut entry = most.clone();
                entry.settings.chunk = Some((plan.chunk / part).max(1));
                entry.name = format!("{buffers} buffers, {} lines", plan.chunk / part);
                stage.entries.push(entry);
            }
        }
        stage.inputs.iter().for_each(Input::remove);
        Ok(stage)
    }

    /// One job whose stages overlap, and whose stages take turns.
    fn overlap(&self, preset: (&'static str, Rates)) -> Stage {
        let mut stage = self.stage("overlap", Some(preset), Precision::F32, &[]);
        let mut serial = self.entry(IMPLICIT, Precision::F32, stage.emulated);
        serial.settings.serial = true;
        serial.name = "implicit, one after another".into();
        stage.entries.push(serial);
        stage.parts = true;
        stage.verify = false;
        stage.timelines = true;
        stage
    }
}
