//! What a run will need, known before it starts.

use serde::Serialize;

use super::hologram::plan_project;
use super::{RunError, Settings};
use crate::engine::{Kernel, Memory, PassInfo, Plan, device_notes};
use crate::optics::Transfer;
use crate::project::Project;

/// What a job will need.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// The method, as the command line names it.
    pub method: String,
    /// Samples `[y, x]` that planes are padded to.
    pub padded: [usize; 2],
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
    /// Bound on the relative L2 error.
    pub error_bound: f64,
    /// The passes in order.
    pub passes: Vec<PassInfo>,
    /// What is put on each drive.
    pub drives: Vec<DriveEstimate>,
    /// What the user should know, a sentence each.
    pub notes: Vec<String>,
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

impl From<&Plan> for Estimate {
    fn from(plan: &Plan) -> Self {
        let memory = plan.memory();
        let drives: Vec<_> = plan
            .drives
            .iter()
            .enumerate()
            .map(|(index, path)| {
                let (scratch_bytes, output_bytes) = plan.new_bytes(index);
                DriveEstimate {
                    path: path.display().to_string(),
                    scratch_bytes,
                    output_bytes,
                    free_bytes: crate::storage::free_space(path).ok(),
                }
            })
            .collect();
        Self {
            method: plan.method.to_string(),
            padded: transfer(plan).map_or([0; 2], |transfer| transfer.padded),
            chunk: plan.chunk,
            buffers: plan.buffers,
            memory: memory.total(),
            memory_parts: memory,
            scratch_bytes: drives.iter().map(|d| d.scratch_bytes).sum(),
            output_bytes: drives.iter().map(|d| d.output_bytes).sum(),
            bytes_moved: plan.bytes_moved(),
            error_bound: plan.error_bound,
            passes: plan.passes.iter().map(crate::engine::Pass::info).collect(),
            notes: notes(plan),
            drives,
        }
    }
}

/// The transfer function of a plan's first step.
fn transfer(plan: &Plan) -> Option<&Transfer> {
    plan.passes.iter().find_map(|pass| match &pass.kernel {
        Kernel::Columns { terms, .. } => terms.first().map(|term| &term.transfer),
        _ => None,
    })
}

/// What the user should know of a plan, a sentence each.
fn notes(plan: &Plan) -> Vec<String> {
    let mut notes = device_notes(&plan.drives);
    if let Some(rolloff) = transfer(plan).map(|transfer| transfer.rolloff).filter(|&r| r > 0.0) {
        notes.push(format!(
            "The top {:.3} % of each axis's frequencies fall off to zero (roll-off); set another, or 0 for none",
            100.0 * rolloff
        ));
    }
    notes
}

/// Memory, scratch and bytes of `project`'s hologram; reads no more than its images' headers.
pub fn estimate(project: &Project) -> Result<Estimate, RunError> {
    Ok(Estimate::from(&plan_project(project, &Settings::from(project))?))
}
