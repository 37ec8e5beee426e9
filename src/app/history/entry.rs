//! One run of the history, summed up.

use std::sync::Arc;

use super::super::run_view::{RunState, RunView};
use crate::project::Project;

/// What a drive reached over a run.
#[derive(Debug, Clone, PartialEq)]
pub struct DriveRate {
    /// Its folder.
    pub name: String,
    /// Bytes a second while it read.
    pub read: Option<f64>,
    /// Bytes a second while it wrote.
    pub write: Option<f64>,
}

/// A run that has ended.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its number in this window.
    pub id: usize,
    /// The project's output, or the file of events.
    pub name: String,
    /// How it ended.
    pub ended: &'static str,
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
    view: Option<Arc<RunView>>,
}

impl Entry {
    /// A run summed up.
    #[must_use]
    pub fn of(id: usize, view: &RunView, project: Option<&Project>, name: Option<String>) -> Self {
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
            name: name.unwrap_or_else(|| {
                project.map_or_else(String::new, |p| super::super::text::file_name(&p.output.path))
            }),
            ended: match view.state() {
                RunState::Finished(_) => "finished",
                RunState::Failed(_) => "failed",
                RunState::Cancelled(_) => "stopped",
                RunState::Idle | RunState::Starting | RunState::Running => "cut off",
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
