//! Why a run did not complete, and whose fault it is.

use std::path::{Path, PathBuf};

use crate::engine::EngineError;
use crate::machine::MachineError;
use crate::methods::PlanError;
use crate::project::ProjectError;
use crate::storage::{ImageError, StorageError, folder_of};

/// Why a run did not complete.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A project that cannot be run.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// No plan fits.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A layer image that cannot be used, or a preview that cannot be saved.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A file that cannot be used.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// A job that ended early.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A machine that could not be measured.
    #[error(transparent)]
    Machine(#[from] MachineError),
    /// A run whose hologram was complete when it ended early.
    #[error("{source}; complete and kept: {}", list(files))]
    AfterHologram {
        /// The hologram, and the previews that are done.
        files: Vec<PathBuf>,
        /// Why the run ended.
        source: Box<RunError>,
    },
    /// A file of the user's that would be lost.
    #[error("{path}: exists already; choose another name, or allow overwriting")]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A file with two parts in one run.
    #[error("{output}: this run reads or makes {input}, which is the same file; choose another name")]
    Input {
        /// The file to write.
        output: PathBuf,
        /// The file it would spoil.
        input: PathBuf,
    },
    /// A folder that cannot be used.
    #[error("{path}: {problem}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// A value that cannot be used.
    #[error("{field}: {problem}")]
    Value {
        /// The option or field.
        field: &'static str,
        /// What is wrong and what would be right.
        problem: String,
    },
}

impl RunError {
    /// The exit status of a command that ends with this error: 2 for bad input (nothing is left behind),
    /// 130 when stopped on request, else 1.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            _ if self.is_cancelled() => 130,
            Self::Engine(
                EngineError::NotFinite { .. }
                | EngineError::TooLarge { .. }
                | EngineError::Space { .. }
                | EngineError::Storage(StorageError::NoSpace { .. } | StorageError::Plane { .. }),
            ) => 2,
            // The hologram is there, or something of it was made.
            Self::AfterHologram { .. } | Self::Engine(_) => 1,
            _ => 2,
        }
    }

    /// Whether the user asked for the end.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::AfterHologram { source, .. } => source.is_cancelled(),
            other => {
                matches!(other, Self::Engine(EngineError::Cancelled) | Self::Machine(MachineError::Cancelled))
            }
        }
    }
}

/// Paths in a sentence.
fn list(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
    paths.join(", ")
}

/// Whether two paths lead to one existing file.
fn same_file(one: &Path, other: &Path) -> bool {
    let real = |path| std::fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// Checks that writing `output` costs none of `inputs`, whatever may be overwritten.
pub fn check_apart<'p>(output: &Path, inputs: impl IntoIterator<Item = &'p Path>) -> Result<(), RunError> {
    match inputs.into_iter().find(|input| same_file(output, input)) {
        None => Ok(()),
        Some(input) => Err(RunError::Input { output: output.into(), input: input.into() }),
    }
}

/// Checks that `path` may become a new file: its folder is there and can be written, and the name is
/// free unless `force`.
pub fn check_output(path: &Path, force: bool) -> Result<(), RunError> {
    check_folder(folder_of(path))?;
    // A link that leads nowhere is something that exists, too.
    match std::fs::metadata(path).or_else(|_| std::fs::symlink_metadata(path)) {
        Ok(metadata) if metadata.is_dir() => Err(RunError::Folder {
            path: path.into(),
            problem: "is a folder; give the name of a file".into(),
        }),
        Ok(_) if !force => Err(RunError::Exists { path: path.into() }),
        _ => Ok(()),
    }
}

/// Checks that `folder` is there and that a file can be made in it.
pub fn check_folder(folder: &Path) -> Result<(), RunError> {
    let problem = match std::fs::metadata(folder) {
        Err(error) => format!("cannot be used ({error}); make the folder or choose another"),
        Ok(metadata) if !metadata.is_dir() => "is not a folder; choose a folder".into(),
        Ok(_) => match tempfile::tempfile_in(folder) {
            Ok(_) => return Ok(()),
            Err(error) => format!("cannot be written ({error}); choose a folder you may write to"),
        },
    };
    Err(RunError::Folder { path: folder.into(), problem })
}
