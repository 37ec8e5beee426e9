//! What the command line accepts.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::lab::LabCommand;
use crate::optics::{Bytes, Encoding, Evanescent, Length};
use crate::project::{Bypass, Drive, Layering, Method, Precision, Project, Role};
use crate::run::{Settings, default_threads};
use crate::storage::{Rates, ScratchPrecision};

/// Holograms larger than memory, from several drives at once.
///
/// Without a command the window opens. Quantities carry units: 660nm, 0.5um, -90mm, 2GiB.
#[derive(Debug, Parser)]
#[command(name = "gigafringe", version)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
pub struct Arguments {
    /// What to do; the window opens if nothing is given.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Project to open in the window; the demo if none is given.
    #[arg(value_name = "PROJECT.json")]
    pub project: Option<PathBuf>,
    /// Save a picture of the window and quit.
    #[arg(long, hide = true, value_name = "FILE.png")]
    pub screenshot: Option<PathBuf>,
    /// With --screenshot: run the project first.
    #[arg(long, hide = true)]
    pub screenshot_run: bool,
    /// With --screenshot: the project panel scrolled to the method.
    #[arg(long, hide = true, requires = "screenshot")]
    pub screenshot_method: bool,
    /// With --screenshot: the lab, after a small comparison.
    #[arg(long, hide = true, requires = "screenshot")]
    pub screenshot_lab: bool,
    /// With --screenshot: the inspector.
    #[arg(long, hide = true, requires = "screenshot")]
    pub screenshot_inspect: bool,
    /// With --screenshot: the light theme.
    #[arg(long, hide = true)]
    pub screenshot_light: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a project's hologram, and its reconstruction at each layer's depth.
    Run(RunArguments),
    /// Propagate a plane over a distance.
    Propagate(PropagateArguments),
    /// Reconstruct a hologram at a depth.
    Reconstruct(ReconstructArguments),
    /// Show what a project will read, write and need.
    Plan(PlanArguments),
    /// List the drives of this machine, and measure them.
    Drives(DrivesArguments),
    /// Measure this program against its baselines.
    #[command(subcommand)]
    Lab(LabCommand),
}

/// `run`
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The project file.
    #[arg(value_name = "PROJECT.json")]
    pub project: PathBuf,
    /// How several layers become one hologram.
    #[arg(long, value_enum)]
    pub layering: Option<Layering>,
    /// What is stored for each sample of the hologram.
    #[arg(long, value_enum)]
    pub encoding: Option<Encoding>,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub report: Report,
}

/// `propagate`
#[derive(Debug, Args)]
pub struct PropagateArguments {
    /// The plane: a .npy file, two-dimensional, complex or real, or an encoded plane in a .tif, .bmp or .png.
    #[arg(value_name = "IN.npy")]
    pub input: PathBuf,
    /// Where the result goes (.npy, complex).
    #[arg(value_name = "OUT.npy")]
    pub output: PathBuf,
    /// Signed distance; positive is the way the light travels.
    #[arg(long, allow_hyphen_values = true)]
    pub distance: Length,
    /// What the plane's file holds for each sample; needed for bytes, which may be phases or amplitudes.
    #[arg(long, value_enum)]
    pub encoding: Option<Encoding>,
    #[command(flatten)]
    pub light: Light,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub report: Report,
}

/// `reconstruct`
#[derive(Debug, Args)]
pub struct ReconstructArguments {
    /// The hologram: a .npy, .tif, .bmp or .png file, or the project that made it (for its wavelength, pitch
    /// and encoding).
    #[arg(value_name = "HOLOGRAM")]
    pub hologram: PathBuf,
    /// The depth to reconstruct at.
    #[arg(long, allow_hyphen_values = true)]
    pub distance: Length,
    /// What the hologram's file holds for each sample; needed for bytes, which may be phases or amplitudes.
    #[arg(long, value_enum)]
    pub encoding: Option<Encoding>,
    /// Where the reconstruction goes: .npy is the complex plane, .png its intensity, reduced to at
    /// most 2048 pixels a side.
    #[arg(long, short, value_name = "FILE.{npy,png}")]
    pub output: PathBuf,
    #[command(flatten)]
    pub light: Light,
    #[command(flatten)]
    pub common: Common,
    #[command(flatten)]
    pub report: Report,
}

/// `plan`
#[derive(Debug, Args)]
pub struct PlanArguments {
    /// The project file.
    #[arg(value_name = "PROJECT.json")]
    pub project: PathBuf,
    /// What is stored for each sample of the hologram.
    #[arg(long, value_enum)]
    pub encoding: Option<Encoding>,
    #[command(flatten)]
    pub common: Common,
    /// Measure this machine again; else what is remembered of it is used.
    #[arg(long)]
    pub refresh: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `drives`
#[derive(Debug, Args)]
pub struct DrivesArguments {
    /// Folders whose drives to measure; one on each drive if not given.
    #[arg(value_name = "DIR", requires = "measure")]
    pub folders: Vec<PathBuf>,
    /// Measure reading and writing, alone and at the same time, with a file of up to 512MiB that is removed
    /// again.
    #[arg(long)]
    pub measure: bool,
    /// With --measure: the size of the file.
    #[arg(long, hide = true, value_name = "SIZE", requires = "measure")]
    pub measure_size: Option<Bytes>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// What the light and the samples are.
#[derive(Debug, Args)]
pub struct Light {
    /// The light's wavelength.
    #[arg(long)]
    pub wavelength: Option<Length>,
    /// The distance of neighbouring samples.
    #[arg(long, conflicts_with_all = ["pitch_x", "pitch_y"])]
    pub pitch: Option<Length>,
    /// The pitch along x, where it differs from that along y.
    #[arg(long, requires = "pitch_y")]
    pub pitch_x: Option<Length>,
    /// The pitch along y, where it differs from that along x.
    #[arg(long, requires = "pitch_x")]
    pub pitch_y: Option<Length>,
    /// What becomes of waves that do not propagate.
    #[arg(long, value_enum)]
    pub evanescent: Option<Evanescent>,
    /// Remove the frequencies that the padded window cannot carry.
    #[arg(long)]
    pub band_limit: bool,
    /// Fraction of the band over which the transfer function falls to zero, for example 0.02.
    #[arg(long, value_name = "FRACTION")]
    pub rolloff: Option<f64>,
}

/// What every job takes.
#[derive(Debug, Args)]
pub struct Common {
    /// The method.
    #[arg(long, value_enum)]
    pub method: Option<Method>,
    /// Bound on all memory.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Lines handled at once; as many as fit if not given.
    #[arg(long, value_name = "LINES")]
    pub chunk: Option<usize>,
    /// Chunks a stage may hold ahead.
    #[arg(long)]
    pub buffers: Option<usize>,
    /// Folders on one to four drives, with the roles A, B, C, D in order.
    #[arg(long, value_name = "DIR", value_delimiter = ',')]
    pub drives: Vec<PathBuf>,
    /// Let the drives be one striped volume (RAID-0, stripes of 256 KiB) for all scratch, instead of having
    /// roles; source and result stay whole files.
    #[arg(long)]
    pub striped: bool,
    /// The arithmetic.
    #[arg(long, value_enum)]
    pub precision: Option<Precision>,
    /// Streams along x of the methods that may choose.
    #[arg(long, value_name = "S")]
    pub streams: Option<usize>,
    /// Streams of `padded` that are worked on together; fewer need less scratch, and more time.
    #[arg(long, value_name = "N")]
    pub at_once: Option<usize>,
    /// How scratch keeps samples; as the arithmetic has them if not given.
    #[arg(long, value_enum)]
    pub scratch_precision: Option<ScratchPrecision>,
    /// Relative error that a padding may add, where the method chooses it.
    #[arg(long, value_name = "ERROR")]
    pub tolerance: Option<f64>,
    /// Computing threads; one for each processor if not given.
    #[arg(long)]
    pub threads: Option<usize>,
    /// Run as if each drive's folder were a drive of its own with these rates: sata (50 MB/s, half duplex),
    /// nvme (500 MB/s, full duplex), or READ:WRITE in MB/s with :half or :full after it.
    #[arg(long, value_name = "DRIVE")]
    pub emulate: Option<Rates>,
    /// Leave out the arithmetic, or the drives, to measure the rest; no file is kept.
    #[arg(long, value_enum)]
    pub bypass: Option<Bypass>,
    /// Let reading, computing and writing take turns, to measure what their overlap gives.
    #[arg(long)]
    pub serial: bool,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// What is told of a run.
#[derive(Debug, Args)]
pub struct Report {
    /// Print one JSON object when done.
    #[arg(long)]
    pub json: bool,
    /// Save every event as a line of JSON.
    #[arg(long, value_name = "FILE.jsonl")]
    pub events: Option<PathBuf>,
}

impl Common {
    /// The drives with their roles in order.
    fn roles(&self) -> Vec<Drive> {
        // One too many keeps a role, so that the settings' check can refuse it.
        let roles = Role::ALL.into_iter().chain(std::iter::repeat(Role::D));
        self.drives.iter().zip(roles).map(|(path, role)| Drive { path: path.clone(), role }).collect()
    }

    /// Puts what was given in the place of the project's values.
    pub fn change(&self, project: &mut Project) {
        if let Some(method) = self.method {
            project.method = method;
        }
        if self.tolerance.is_some() {
            project.tolerance = self.tolerance;
        }
        if let Some(precision) = self.precision {
            project.precision = precision;
        }
        if self.streams.is_some() {
            project.streams = self.streams;
        }
        if self.at_once.is_some() {
            project.at_once = self.at_once;
        }
        if self.scratch_precision.is_some() {
            project.scratch_precision = self.scratch_precision;
        }
        if let Some(memory) = self.memory {
            project.memory = memory;
        }
        if self.chunk.is_some() {
            project.chunk = self.chunk;
        }
        if let Some(buffers) = self.buffers {
            project.buffers = buffers;
        }
        if !self.drives.is_empty() {
            project.drives = self.roles();
        }
    }

    /// The settings of a job without a project.
    pub fn settings(&self) -> Settings {
        Settings {
            method: self.method.unwrap_or_default(),
            precision: self.precision.unwrap_or_default(),
            streams: self.streams,
            at_once: self.at_once,
            scratch_precision: self.scratch_precision,
            drives: self.roles(),
            striped: self.striped,
            memory: self.memory.unwrap_or(Project::DEFAULT_MEMORY),
            chunk: self.chunk,
            buffers: self.buffers.unwrap_or(Project::DEFAULT_BUFFERS),
            threads: self.threads.unwrap_or_else(default_threads),
            tolerance: self.tolerance,
            bypass: self.bypass,
            serial: self.serial,
            measuring: None,
            force: self.force,
            emulation: self.emulate,
        }
    }

    /// The settings of a job of `project`, which [`Self::change`] has seen.
    pub fn settings_of(&self, project: &Project) -> Settings {
        Settings {
            striped: self.striped,
            threads: self.threads.unwrap_or_else(default_threads),
            bypass: self.bypass,
            serial: self.serial,
            measuring: None,
            force: self.force,
            emulation: self.emulate,
            ..Settings::from(project)
        }
    }
}
