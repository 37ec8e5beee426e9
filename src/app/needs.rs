//! What the project needs, worked out off the window's thread.

use super::backend::Backend;
use crate::planner::ChoiceRow;
use crate::project::{Method, Project};
use crate::run::Estimate;

/// What is known of the project's needs.
#[derive(Debug, Default)]
pub enum Needs {
    /// Being worked out.
    #[default]
    Unknown,
    /// Worked out.
    Known(Box<Estimate>),
    /// It cannot run so.
    Refused(Refusal),
}

/// Why a project cannot run, and what else could.
#[derive(Debug, Default)]
pub struct Refusal {
    /// The reason.
    pub reason: String,
    /// Every method, as far as another one can run.
    pub choices: Vec<ChoiceRow>,
    /// Whether their predictions rest on figures of this machine.
    pub measured: bool,
}

impl Needs {
    /// What `project` needs by its own method. Where that cannot run, what the others would take comes from the
    /// same project with the choice left to the planner.
    #[must_use]
    pub fn of(backend: &dyn Backend, project: &Project) -> Self {
        match backend.estimate(project) {
            Ok(estimate) => Self::Known(Box::new(estimate)),
            Err(error) => {
                let free = match project.method {
                    Method::Auto => None,
                    _ => backend.estimate(&Project { method: Method::Auto, ..project.clone() }).ok(),
                };
                let (mut choices, measured) =
                    free.map_or_else(Default::default, |free| (free.choices, free.measured));
                for row in &mut choices {
                    row.chosen = false;
                }
                Self::Refused(Refusal { reason: error.to_string(), choices, measured })
            }
        }
    }

    /// The estimate ended without a result.
    #[must_use]
    pub fn defect() -> Self {
        let reason = "the estimate failed: this is a defect of Gigafringe".into();
        Self::Refused(Refusal { reason, ..Refusal::default() })
    }
}
