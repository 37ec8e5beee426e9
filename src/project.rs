//! The project file: all that a user sets, one source of truth for file, window and command line.
//!
//! JSON; lengths and memory carry units; paths are relative to the file; unknown keys are errors.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::optics::{Bytes, Grid, Length};
use crate::storage::ScratchPrecision;
// A project is written with these; whoever reads it finds them in one place.
pub use crate::optics::{Encoding, Evanescent, Phase, Values};
use crate::storage::Container;

/// A project file that cannot be used, with the field and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// The file cannot be read or written.
    #[error("{path}: cannot {action} the project file: {source}")]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// The project file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not valid JSON, has an unknown key, or a value of the wrong kind.
    #[error("{path}: {field}{problem}; mend the file, or make a new one in the window")]
    Syntax {
        /// The project file.
        path: PathBuf,
        /// The field with a colon, where one can be named.
        field: String,
        /// What is wrong, with line and column.
        problem: String,
    },
    /// Not a file that could hold a project.
    #[error("{path}: {problem}; give a project file (JSON)")]
    NotAProject {
        /// The file.
        path: PathBuf,
        /// What it is.
        problem: &'static str,
    },
    /// A value is outside what can be computed.
    #[error("{field}: {problem}")]
    Value {
        /// The field, as the file names it.
        field: String,
        /// What is wrong and what would be right.
        problem: String,
    },
}

impl ProjectError {
    /// An error about `field`.
    pub fn value(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Value { field: field.into(), problem: problem.into() }
    }
}

/// One layer: an image at a depth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// The image file (PNG, JPEG, TIFF or BMP; 8 or 16 bit), scaled to fit the plane and centred.
    pub image: PathBuf,
    /// The layer's depth `z`; light travels toward +z and the hologram is at z = 0.
    pub distance: Length,
    /// What the image's values mean.
    #[serde(default)]
    pub values: Values,
    /// The samples' initial phase.
    #[serde(default)]
    pub phase: Phase,
    /// A factor on the layer's amplitude.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub amplitude: f64,
    /// Whether the layer takes part; one that does not is only kept in the project.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub enabled: bool,
}

impl Layer {
    /// A layer that shows `image` at `distance`, with all else as a project file has it by default.
    #[must_use]
    pub fn new(image: impl Into<PathBuf>, distance: Length) -> Self {
        Self {
            image: image.into(),
            distance,
            values: Values::default(),
            phase: Phase::default(),
            amplitude: one(),
            enabled: yes(),
        }
    }
}

const fn one() -> f64 {
    1.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_one(factor: &f64) -> bool {
    factor.to_bits() == one().to_bits()
}

/// How several layers become one hologram.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Layering {
    /// From the farthest layer to the next, adding each, and last to the hologram plane.
    #[default]
    Stepwise,
    /// Each by itself to the hologram plane; they are added in the frequency domain, before one inverse transform.
    Fused,
}

/// The method that propagates planes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Let the planner choose.
    #[default]
    Auto,
    /// Three phases with explicit zeros and one stream (Blinder & Shimobaba 2019); a baseline.
    ZeroPadded,
    /// Three phases with even and odd streams on four roles (Lee & Kim 2023).
    Implicit,
    /// The same phases with no more padding than the light's reach needs.
    Padded,
    /// As `padded`, with all scratch in memory.
    InCore,
    /// As `padded`, one stream after another, each in memory between phases 1 and 2.
    Streamed,
    /// Blocks with guards, each computed in memory (overlap-save); no scratch.
    Blocks,
}

impl Method {
    /// The roll-off where none is set: a reduced padding is exact only with one.
    #[must_use]
    pub const fn rolloff(self) -> f64 {
        match self {
            Self::ZeroPadded | Self::Implicit => 0.0,
            // The same for every method that may be chosen: the choice does not change the hologram.
            Self::Auto | Self::Padded | Self::InCore | Self::Streamed | Self::Blocks => 0.02,
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::ZeroPadded => "zero-padded",
            Self::Implicit => "implicit",
            Self::Padded => "padded",
            Self::InCore => "in-core",
            Self::Streamed => "streamed",
            Self::Blocks => "blocks",
        })
    }
}

/// What is left out of a run, to measure the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Bypass {
    /// The arithmetic: bytes are moved as the plan says, whatever they hold.
    Compute,
    /// The drives: what is computed is not read and not written.
    Io,
}

/// The arithmetic of the samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize, ValueEnum)]
pub enum Precision {
    /// Single precision: 8 bytes a complex sample.
    #[default]
    #[serde(rename = "f32")]
    F32,
    /// Double precision: 16 bytes a complex sample.
    #[serde(rename = "f64")]
    F64,
}

impl Precision {
    /// The error that a padding may add where none is set and scratch keeps all digits: that of the transforms
    /// in single precision, and half of it in double.
    #[must_use]
    pub const fn tolerance(self) -> f64 {
        match self {
            Self::F32 => 2e-6,
            Self::F64 => 1e-6,
        }
    }

    /// Scratch that keeps all digits.
    #[must_use]
    pub const fn scratch(self) -> ScratchPrecision {
        match self {
            Self::F32 => ScratchPrecision::F32,
            Self::F64 => ScratchPrecision::F64,
        }
    }

    /// Bytes of one complex sample.
    #[must_use]
    pub const fn sample_bytes(self) -> usize {
        match self {
            Self::F32 => 8,
            Self::F64 => 16,
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::F32 => "f32",
            Self::F64 => "f64",
        })
    }
}

/// A drive's role in the method's three phases, as the paper names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Role {
    /// Holds the source in phase 1, the odd stream after phase 2.
    A,
    /// Holds the even stream after phase 1, the result of phase 3.
    B,
    /// Holds the odd stream after phase 1.
    C,
    /// Holds the even stream after phase 2.
    D,
}

impl Role {
    /// The four roles in order.
    pub const ALL: [Self; 4] = [Self::A, Self::B, Self::C, Self::D];
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// A folder on a drive, with its role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// A folder on the drive; scratch files are made in it and removed again.
    pub path: PathBuf,
    /// The role it has. A drive with several roles is listed once for each.
    pub role: Role,
}

/// Where the hologram goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// The file; its ending picks the container (`.npy`; for real samples also `.tif`; for 8 bits also `.bmp`
    /// and `.png`).
    pub path: PathBuf,
    /// What is stored for each sample.
    #[serde(default)]
    pub encoding: Encoding,
    /// The amplitude that `amplitude8` stores as 255, where a layer's white has 1; four times the layers' root
    /// mean square when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_scale: Option<f64>,
    /// Whether the hologram is reconstructed at each layer's depth afterwards, and a reduced
    /// intensity image of each saved beside it (`NAME-layer1.png`, …).
    #[serde(default = "yes")]
    pub previews: bool,
}

const fn yes() -> bool {
    true
}

const fn default_memory() -> Bytes {
    Project::DEFAULT_MEMORY
}

const fn default_buffers() -> usize {
    Project::DEFAULT_BUFFERS
}

/// A file beyond this is no project.
const LARGEST_FILE: u64 = 16 << 20;

/// A whole project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// The hologram's samples.
    pub grid: Grid,
    /// The light's wavelength.
    pub wavelength: Length,
    /// The layers, in any order.
    pub layers: Vec<Layer>,
    /// How the layers are joined.
    #[serde(default)]
    pub layering: Layering,
    /// How planes are propagated.
    #[serde(default)]
    pub method: Method,
    /// The arithmetic.
    #[serde(default)]
    pub precision: Precision,
    /// What becomes of evanescent waves.
    #[serde(default)]
    pub evanescent: Evanescent,
    /// Whether frequencies that the padded window cannot carry are removed (Matsushima & Shimobaba 2009).
    #[serde(default)]
    pub band_limit: bool,
    /// The fraction of each axis's band over which the transfer function falls to zero; the method's own
    /// ([`Method::rolloff`]) when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rolloff: Option<f64>,
    /// The error that a padding may add where the method chooses it; the precision's own
    /// ([`Precision::tolerance`]) when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Streams along x of the methods that may choose; their own number when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams: Option<usize>,
    /// Streams of `padded` that are worked on together; the others wait, which needs less scratch and more
    /// time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_once: Option<usize>,
    /// How scratch keeps samples; as the arithmetic has them when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scratch_precision: Option<ScratchPrecision>,
    /// Key of the random phases: the same seed gives the same hologram.
    #[serde(default)]
    pub seed: u64,
    /// Bound on all buffers.
    #[serde(default = "default_memory")]
    pub memory: Bytes,
    /// Lines handled at once; the largest that fits in `memory` when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<usize>,
    /// Chunks a stage may hold ahead.
    #[serde(default = "default_buffers")]
    pub buffers: usize,
    /// The drives and their roles; the output's folder alone when empty.
    #[serde(default)]
    pub drives: Vec<Drive>,
    /// Where the hologram goes.
    pub output: Output,
}

impl Project {
    /// The bound on memory where none is set.
    pub const DEFAULT_MEMORY: Bytes = Bytes(1 << 30);
    /// The number of buffers where none is set: one chunk is worked on while the next arrives.
    pub const DEFAULT_BUFFERS: usize = 2;

    /// Reads a project file and makes its paths absolute or relative to the working folder.
    pub fn load(path: &Path) -> Result<Self, ProjectError> {
        let io = |source| ProjectError::Io { action: "read", path: path.into(), source };
        let not = |problem| ProjectError::NotAProject { path: path.into(), problem };
        let metadata = std::fs::metadata(path).map_err(io)?;
        if !metadata.is_file() {
            return Err(not("is not a regular file"));
        }
        if metadata.len() > LARGEST_FILE {
            return Err(not("is far larger than any project"));
        }
        let bytes = std::fs::read(path).map_err(io)?;
        // Some editors put a byte order mark before the text.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let text = std::str::from_utf8(bytes).map_err(|_| not("is not UTF-8 text"))?;
        let mut json = serde_json::Deserializer::from_str(text);
        let syntax = |field: String, problem: String| {
            let field = if field == "." { String::new() } else { format!("{field}: ") };
            ProjectError::Syntax { path: path.into(), field, problem }
        };
        let mut project: Self = serde_path_to_error::deserialize(&mut json)
            .map_err(|error| syntax(error.path().to_string(), error.inner().to_string()))?;
        json.end().map_err(|error| syntax(".".into(), error.to_string()))?;
        let base = path.parent().unwrap_or(Path::new("")).to_path_buf();
        project.map_paths(|p| base.join(p));
        Ok(project)
    }

    /// Writes the project file, its paths relative to the file where they lie below its folder.
    pub fn save(&self, path: &Path) -> Result<(), ProjectError> {
        let io = |source| ProjectError::Io { action: "write", path: path.into(), source };
        let mut project = self.clone();
        let base = std::path::absolute(path).map_err(io)?.parent().map(Path::to_path_buf).unwrap_or_default();
        project.map_paths(|p| {
            let absolute = std::path::absolute(p).unwrap_or_else(|_| p.to_path_buf());
            match absolute.strip_prefix(&base) {
                Ok(rest) if rest.as_os_str().is_empty() => PathBuf::from("."),
                Ok(rest) => rest.to_path_buf(),
                Err(_) => absolute,
            }
        });
        let mut text = serde_json::to_string_pretty(&project).map_err(|error| io(error.into()))?;
        text.push('\n');
        // Under another name first: a full disk must not cost the project there was.
        let mut file = tempfile::Builder::new()
            .prefix(".unfinished-")
            .tempfile_in(crate::storage::folder_of(path))
            .map_err(io)?;
        file.write_all(text.as_bytes()).map_err(io)?;
        file.persist(path).map_err(|e| io(e.error))?;
        Ok(())
    }

    /// The layers that take part in a run, each with its place in [`Self::layers`].
    pub fn enabled_layers(&self) -> impl Iterator<Item = (usize, &Layer)> {
        self.layers.iter().enumerate().filter(|(_, layer)| layer.enabled)
    }

    /// Applies `change` to every path of the project.
    fn map_paths(&mut self, change: impl Fn(&Path) -> PathBuf) {
        for layer in &mut self.layers {
            layer.image = change(&layer.image);
        }
        for drive in &mut self.drives {
            drive.path = change(&drive.path);
        }
        self.output.path = change(&self.output.path);
    }

    /// Checks every value that can be judged without looking at files.
    pub fn validate(&self) -> Result<(), ProjectError> {
        validate_grid(&self.grid, "grid.")?;
        validate_light(self.wavelength, self.rolloff.unwrap_or_default())?;
        validate_tolerance(self.tolerance)?;
        for (index, layer) in self.layers.iter().enumerate() {
            validate_distance(&format!("layers[{index}].distance"), layer.distance, self.wavelength)?;
            validate_amplitude(&format!("layers[{index}].amplitude"), layer.amplitude)?;
        }
        validate_tuning(self.buffers, self.chunk)?;
        validate_scratch(self.scratch_precision, self.precision)?;
        validate_streams(self.streams, self.at_once)?;
        if self.layers.is_empty() {
            return Err(ProjectError::value(
                "layers",
                "there is none; add at least one image with its distance",
            ));
        }
        if self.enabled_layers().next().is_none() {
            return Err(ProjectError::value(
                "layers",
                "all are disabled, so there is nothing to compute; enable at least one",
            ));
        }
        let mut seen = [false; 4];
        for drive in &self.drives {
            let taken = &mut seen[drive.role as usize];
            if std::mem::replace(taken, true) {
                return Err(ProjectError::value(
                    "drives",
                    format!("role {} is given twice; each role belongs to one drive", drive.role),
                ));
            }
        }
        if self.output.full_scale.is_some_and(|scale| !(1e-30..=1e30).contains(&scale)) {
            return Err(ProjectError::value(
                "output.full_scale",
                "is not an amplitude; it must be above zero, for example 2.5, or left out",
            ));
        }
        let Output { path, encoding, .. } = &self.output;
        Container::check(path, *encoding, self.grid.height, self.grid.width)
            .map_err(|problem| ProjectError::value("output.path", problem))?;
        Ok(())
    }
}

/// Checks that the grid, whose fields errors name with `prefix`, has samples and that both pitches are above zero.
pub fn validate_grid(grid: &Grid, prefix: &str) -> Result<(), ProjectError> {
    for (field, n) in [("width", grid.width), ("height", grid.height)] {
        // Padded indices and byte counts stay far inside 64 bits below this.
        if n == 0 || n > 1 << 24 {
            return Err(ProjectError::value(
                format!("{prefix}{field}"),
                format!("{n} samples cannot be computed; it lies between 1 and {}", 1 << 24),
            ));
        }
    }
    for (field, pitch) in [("pitch_x", grid.pitch_x), ("pitch_y", grid.pitch_y)] {
        validate_length(&format!("{prefix}{field}"), pitch, "5um")?;
    }
    Ok(())
}

/// Checks a length that must be above zero, within what optics knows.
fn validate_length(field: &str, length: Length, example: &str) -> Result<(), ProjectError> {
    // Written so that a NaN fails.
    if (1e-12..=1e3).contains(&length.in_metres()) {
        return Ok(());
    }
    Err(ProjectError::value(
        field,
        format!(
            "{length} cannot be computed; it must be above zero, from 0.001nm to 1000m, for example {example}"
        ),
    ))
}

/// Checks the wavelength and the roll-off.
pub fn validate_light(wavelength: Length, rolloff: f64) -> Result<(), ProjectError> {
    validate_length("wavelength", wavelength, "660nm")?;
    if !(0.0..=1.0).contains(&rolloff) {
        return Err(ProjectError::value(
            "rolloff",
            format!("{rolloff} is not a fraction of the band; it lies between 0 and 1, for example 0.02"),
        ));
    }
    Ok(())
}

/// Checks that phases over `distance` can be formed: beyond this many wavelengths the rounding of a
/// phase in double precision exceeds a millionth of a radian.
pub fn validate_distance(field: &str, distance: Length, wavelength: Length) -> Result<(), ProjectError> {
    const MOST_WAVELENGTHS: f64 = 1e9;
    let most = MOST_WAVELENGTHS * wavelength.in_metres();
    // Written so that a NaN fails.
    if distance.in_metres().abs() <= most {
        return Ok(());
    }
    Err(ProjectError::value(
        field,
        format!(
            "{distance} is too far: at most a billion wavelengths can be computed, here {}",
            Length::metres(most)
        ),
    ))
}

/// Checks a factor on a layer's amplitude: the squares of all samples must stay far inside single precision.
fn validate_amplitude(field: &str, factor: f64) -> Result<(), ProjectError> {
    // Written so that a NaN fails.
    if (1e-6..=1e6).contains(&factor) {
        return Ok(());
    }
    Err(ProjectError::value(
        field,
        format!("{factor} cannot be used; it must be above zero, from 0.000001 to 1000000, for example 0.5"),
    ))
}

/// Checks the error that a padding may add.
pub fn validate_tolerance(tolerance: Option<f64>) -> Result<(), ProjectError> {
    match tolerance {
        Some(t) if !(t > 0.0 && t < 1.0) => Err(ProjectError::value(
            "tolerance",
            format!("{t} is not a relative error; it lies between 0 and 1, for example 1e-6"),
        )),
        _ => Ok(()),
    }
}

/// Checks the numbers of streams.
pub fn validate_streams(streams: Option<usize>, at_once: Option<usize>) -> Result<(), ProjectError> {
    for (field, value) in [("streams", streams), ("at_once", at_once)] {
        if value.is_some_and(|n| n == 0 || n > 64) {
            return Err(ProjectError::value(
                field,
                format!("{} cannot be used; it lies between 1 and 64, and 2 is usual", value.unwrap_or(0)),
            ));
        }
    }
    Ok(())
}

/// Checks that scratch keeps no more than there is.
pub fn validate_scratch(scratch: Option<ScratchPrecision>, precision: Precision) -> Result<(), ProjectError> {
    match scratch {
        Some(scratch) if scratch.sample_bytes() > precision.sample_bytes() => Err(ProjectError::value(
            "scratch_precision",
            format!(
                "{scratch} keeps more digits than the arithmetic has; leave it out, or set precision to f64"
            ),
        )),
        _ => Ok(()),
    }
}

/// Checks the number of buffers and the chunk's size.
pub fn validate_tuning(buffers: usize, chunk: Option<usize>) -> Result<(), ProjectError> {
    if buffers == 0 || buffers > 1024 {
        return Err(ProjectError::value(
            "buffers",
            format!("{buffers} cannot be used; it lies between 1 and 1024, and 2 is a good start"),
        ));
    }
    if chunk == Some(0) {
        return Err(ProjectError::value(
            "chunk",
            "0 lines cannot be processed; leave it out to fill the memory",
        ));
    }
    Ok(())
}
