//! What a run will need, known before it starts.

use serde::Serialize;

use super::hologram::hologram_job;
use super::sampling::sampling;
use super::{RunError, Settings};
use crate::engine::{Kernel, Memory, PassInfo, Plan, device_notes};
use crate::machine::Place;
use crate::optics::{Sampling, Transfer};
use crate::planner::{self, ChoiceRow, Shortage};
use crate::project::{Method, Project};
use crate::storage::Rates;

/// What a job will need.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The method, as the command line names it.
    pub method: String,
    /// Samples `[y, x]` of a transform: of the padded plane, or of a block.
    pub padded: [usize; 2],
    /// How planes are cut, for example `2 streams, padded to 4608 × 4608` or `2 × 3 blocks`.
    pub cut: String,
    /// Lines of a chunk.
    pub chunk: usize,
    /// Chunks a stage may hold ahead.
    pub buffers: usize,
    /// Memory in bytes, all of it.
    pub memory: u64,
    /// The same by what it is for.
    pub memory_parts: Memory,
    /// Bytes of scratch on all drives.
    pub scratch_bytes: u64,
    /// Bytes of the output.
    pub output_bytes: u64,
    /// Bytes read and written over all passes.
    pub bytes_moved: u64,
    /// Bound on the relative L2 error, for light that fills the plane.
    pub error_bound: f64,
    /// Seconds it is expected to take, if that was predicted.
    pub seconds: Option<f64>,
    /// Whether the prediction rests on figures that were measured on this machine.
    pub measured: bool,
    /// Every method with what it would take, the fastest first.
    pub choices: Vec<ChoiceRow>,
    /// The passes in order.
    pub passes: Vec<PassInfo>,
    /// What is put on each drive.
    pub drives: Vec<DriveEstimate>,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
    /// What the hologram's samples can carry, where it is a project's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
}

/// What a job puts on one drive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DriveEstimate {
    /// The folder.
    pub path: String,
    /// Bytes of scratch.
    pub scratch_bytes: u64,
    /// Bytes of output.
    pub output_bytes: u64,
    /// Free bytes, where the system tells.
    pub free_bytes: Option<u64>,
}

impl Estimate {
    /// The estimate of a plan whose drives are emulated, if they are.
    #[must_use]
    pub fn of(plan: &Plan, emulation: Option<Rates>) -> Self {
        let memory = plan.memory();
        let drives: Vec<_> = plan
            .drives
            .iter()
            .zip(plan.drive_names(emulation))
            .enumerate()
            .map(|(index, (path, name))| {
                let (scratch_bytes, output_bytes) = plan.new_bytes(index);
                DriveEstimate {
                    path: name,
                    scratch_bytes,
                    output_bytes,
                    free_bytes: crate::storage::free_space(path).ok(),
                }
            })
            .collect();
        Self {
            method: plan.method.to_string(),
            padded: transfer(plan).map_or([0; 2], |transfer| transfer.padded),
            cut: plan.cut(),
            chunk: plan.chunk,
            buffers: plan.buffers,
            memory: memory.total(),
            memory_parts: memory,
            scratch_bytes: drives.iter().map(|d| d.scratch_bytes).sum(),
            output_bytes: drives.iter().map(|d| d.output_bytes).sum(),
            bytes_moved: plan.bytes_moved(),
            error_bound: plan.error_bound,
            seconds: plan.predicted.as_ref().map(|predicted| predicted.1),
            measured: false,
            choices: Vec::new(),
            passes: plan.passes.iter().map(crate::engine::Pass::info).collect(),
            notes: notes(plan, emulation),
            sampling: None,
            drives,
        }
    }
}

impl Estimate {
    /// The folders without room for what is put there. Folders of one file system, as `places` tell, share its
    /// space.
    #[must_use]
    pub fn shortages(&self, places: &[Place]) -> Vec<Shortage> {
        let needed = |drive: &DriveEstimate| drive.scratch_bytes + drive.output_bytes;
        let volume = |drive: &DriveEstimate| {
            let place = places.iter().find(|place| place.folder.display().to_string() == drive.path);
            place.and_then(|place| place.volume.as_deref())
        };
        let shares = |one: &DriveEstimate, other: &DriveEstimate| {
            one == other || (volume(one).is_some() && volume(one) == volume(other))
        };
        let shortage = |drive: &DriveEstimate| {
            let free = drive.free_bytes?;
            let needed: u64 = self.drives.iter().filter(|other| shares(drive, other)).map(needed).sum();
            (needed > free).then(|| Shortage { folder: drive.path.clone().into(), free, needed })
        };
        self.drives.iter().filter(|drive| needed(drive) > 0).filter_map(shortage).collect()
    }
}

/// The transfer function of a plan's first step.
fn transfer(plan: &Plan) -> Option<&Transfer> {
    plan.passes.iter().find_map(|pass| match &pass.kernel {
        Kernel::Columns { terms, .. } => terms.first().map(|term| &term.transfer),
        Kernel::Blocks(blocks) => blocks.waves.first().map(|wave| &wave.transfer),
        _ => None,
    })
}

/// What the user should know of a plan, a sentence each.
fn notes(plan: &Plan, emulation: Option<Rates>) -> Vec<String> {
    let mut notes = device_notes(&plan.folders(), emulation);
    if let Some(rolloff) = transfer(plan).map(|transfer| transfer.rolloff).filter(|&r| r > 0.0) {
        notes.push(format!(
            "The top {:.3} % of each axis's frequencies fall off to zero (roll-off); set another, or 0 for none",
            100.0 * rolloff
        ));
    }
    notes
}

/// What `project`'s hologram needs by its method, and by every other; reads no more than its images' headers.
/// Figures of the machine are measured as `settings` allow.
pub fn estimate(project: &Project, settings: &Settings) -> Result<Estimate, RunError> {
    let job = hologram_job(project, settings)?;
    let machine = settings.machine(&job)?;
    // Each as it would be if it were set; the planner's own choice has one roll-off for all.
    let rolloff = |method: Method| match (project.rolloff, project.method) {
        (None, Method::Auto) => Method::Auto.rolloff(),
        (None, _) => method.rolloff(),
        (Some(given), _) => given,
    };
    let choices = planner::choices(&job, &machine, rolloff);
    let chosen = match project.method {
        Method::Auto => choices.iter().find(|choice| choice.plan.is_ok()).map(|choice| choice.method),
        method => Some(method),
    };
    let rows = choices.iter().map(|choice| choice.row(chosen.unwrap_or(Method::Auto))).collect();
    let plan = choices.into_iter().find(|choice| Some(choice.method) == chosen);
    let plan = match plan {
        Some(choice) => choice.plan?.0,
        // Nothing fits: the reason.
        None => planner::plan(&job, project.method, &machine)?.0,
    };
    let known = Estimate::of(&plan, settings.emulation);
    let sampling = Some(sampling(project, Some(known.padded)));
    Ok(Estimate { choices: rows, measured: machine.measured, sampling, ..known })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_one_file_system_share_its_space() {
        let drive = |path: &str, scratch_bytes, output_bytes, free| DriveEstimate {
            path: path.into(),
            scratch_bytes,
            output_bytes,
            free_bytes: Some(free),
        };
        let drives = vec![
            drive("/a", 60, 0, 100),
            drive("/b", 50, 10, 100),
            drive("/c", 60, 40, 100),
            drive("/d", 0, 0, 0),
            drive("/e", 2, 0, 1),
        ];
        let estimate = Estimate { drives, ..Estimate::default() };
        let short = |places: &[Place]| -> Vec<_> {
            let each = estimate.shortages(places).into_iter();
            each.map(|short| (short.folder.display().to_string(), short.needed)).collect()
        };
        let named = |name: &str, needed| (name.to_owned(), needed);
        assert_eq!(short(&[]), [named("/e", 2)]);
        let places = ["/a", "/b"].map(|folder| Place {
            folder: folder.into(),
            device: None,
            kind: String::new(),
            bus: String::new(),
            file_system: "ext4".into(),
            volume: Some("volume 7".into()),
            free: None,
            direct: None,
            figures: None,
        });
        assert_eq!(short(&places), [named("/a", 120), named("/b", 120), named("/e", 2)]);
    }
}
