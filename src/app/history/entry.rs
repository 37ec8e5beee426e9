//! One run of the history, summed up.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::super::kept::Listed;
use super::super::run_view::{RunState, RunView};
use crate::project::Project;

/// What a drive reached over a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriveRate {
    /// Its folder.
    pub name: String,
    /// Bytes a second while it read.
    pub read: Option<f64>,
    /// Bytes a second while it wrote.
    pub write: Option<f64>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// Complete.
    Finished,
    /// With an error.
    Failed,
    /// On request.
    Stopped,
    /// With the program, or the file of events does not tell.
    CutOff,
}

impl Ended {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::CutOff => "cut off",
        }
    }
}

/// A run that has ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    /// Its number.
    pub id: usize,
    /// When it ended, or when its file was opened: milliseconds since 1970.
    at: u64,
    /// The project's output, or the file of events.
    pub name: String,
    /// How it ended.
    pub ended: Ended,
    /// The method of the first job.
    pub method: String,
    /// Samples `[y, x]`, where the project is known.
    pub size: Option<[usize; 2]>,
    /// The arithmetic, where the project is known.
    pub precision: Option<String>,
    /// Lines of a chunk.
    pub chunk: usize,
    /// Chunks a stage may hold ahead.
    pub buffers: usize,
    /// Bytes of memory set aside.
    pub memory: u64,
    /// Seconds of all passes that ended.
    pub seconds: f64,
    /// The same of the rows forth, the columns and the rows back; the passes of blocks count as the first.
    pub phases: [f64; 3],
    /// Bytes read and written.
    pub bytes: u64,
    /// What each drive reached.
    pub drives: Vec<DriveRate>,
    /// The share of their time in which the drives' readers and writers waited for other stages.
    pub waiting: Option<f64>,
    #[serde(skip)]
    view: Option<Arc<RunView>>,
}

impl Entry {
    /// A run summed up that has ended just now.
    #[must_use]
    pub fn of(id: usize, view: &RunView, project: Option<&Project>, name: Option<String>) -> Self {
        let at = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let job = view.jobs().first();
        let mut phases = [0.0; 3];
        let (mut bytes, mut waited, mut worked) = (0, 0.0, 0.0);
        for pass in view.passes() {
            let phase = match pass.info.name.as_bytes() {
                [b'p', b'h', b'a', b's', b'e', b' ', digit @ b'2'..=b'3', ..] => usize::from(digit - b'1'),
                _ => 0,
            };
            phases[phase] += pass.seconds.unwrap_or(0.0);
            bytes += pass.bytes_done;
            for drive in &pass.drives {
                let total = drive.total();
                waited += total.wait;
                worked += total.read + total.write;
            }
        }
        let drives = view.drives().iter().map(|drive| DriveRate {
            name: drive.name.clone(),
            read: drive.read.mean(),
            write: drive.write.mean(),
        });
        Self {
            id,
            at: u64::try_from(at.as_millis()).unwrap_or(u64::MAX),
            name: name.unwrap_or_else(|| {
                project.map_or_else(String::new, |p| super::super::text::file_name(&p.output.path))
            }),
            ended: match view.state() {
                RunState::Finished(_) => Ended::Finished,
                RunState::Failed(_) => Ended::Failed,
                RunState::Cancelled(_) => Ended::Stopped,
                RunState::Idle | RunState::Starting | RunState::Running => Ended::CutOff,
            },
            method: job.map_or_else(String::new, |job| job.method.clone()),
            size: project.map(|project| [project.grid.height, project.grid.width]),
            precision: project.map(|project| project.precision.to_string()),
            chunk: job.map_or(0, |job| job.chunk),
            buffers: job.map_or(0, |job| job.buffers),
            memory: job.map_or(0, |job| job.memory),
            seconds: phases.iter().sum(),
            phases,
            bytes,
            drives: drives.collect(),
            waiting: (waited + worked > 0.0).then(|| waited / (waited + worked)),
            view: Some(Arc::new(view.without_previews())),
        }
    }

    /// When it ended, or when its file was opened.
    #[must_use]
    pub fn at(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(self.at)).unwrap_or(SystemTime::UNIX_EPOCH)
    }

    /// Its number and name.
    #[must_use]
    pub fn short_name(&self) -> String {
        format!("run {}", self.id)
    }

    /// Its charts, where they are still kept.
    #[must_use]
    pub fn view(&self) -> Option<&RunView> {
        self.view.as_deref()
    }

    /// Lets the charts go.
    pub fn forget_charts(&mut self) {
        self.view = None;
    }

    /// Samples as `width × height`.
    #[must_use]
    pub fn samples(&self) -> String {
        self.size.map_or_else(String::new, |[height, width]| format!("{width} × {height}"))
    }
}

impl Listed for Entry {
    const MOST: usize = super::MOST;

    fn is(&self, other: &Self) -> bool {
        // Numbers are given anew where two windows gave the same.
        self.at == other.at && self.name == other.name && self.bytes == other.bytes
    }
}
