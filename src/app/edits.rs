//! Changes of the project, one variant per thing the user can set.

use std::path::PathBuf;

use super::text;
use crate::optics::{Bytes, Grid, Length};
use crate::project::{
    Drive, Encoding, Evanescent, Layer, Layering, Method, Phase, Precision, Project, ProjectError, Role,
    Values,
};
use crate::storage::{Container, ScratchPrecision};

/// One change of the project.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each variant sets the project's field of the same name")]
pub enum Edit {
    Wavelength(Length),
    /// Both pitches.
    Pitch(Length),
    PitchX(Length),
    PitchY(Length),
    Width(usize),
    Height(usize),
    /// A device's pixels, if it has a number of them, and their pitches.
    Device {
        size: Option<(usize, usize)>,
        pitch_x: Length,
        pitch_y: Length,
    },
    Evanescent(Evanescent),
    BandLimit(bool),
    Rolloff(Option<f64>),
    /// The arithmetic; scratch that would keep more than it has is left to the engine.
    Precision(Precision),
    Seed(u64),
    Layering(Layering),
    Method(Method),
    Memory(Bytes),
    Chunk(Option<usize>),
    Buffers(usize),
    Scratch(Option<ScratchPrecision>),
    Tolerance(Option<f64>),
    Streams(Option<usize>),
    AtOnce(Option<usize>),
    /// A layer's depth.
    Distance(usize, Length),
    /// What a layer's values mean.
    Values(usize, Values),
    /// A layer's initial phase.
    Phase(usize, Phase),
    /// The factor on a layer's amplitude.
    Amplitude(usize, f64),
    /// Whether a layer takes part.
    Enabled(usize, bool),
    /// A layer takes another place in the list.
    MoveLayer {
        from: usize,
        to: usize,
    },
    /// A further layer, behind the last by the spacing of the last two.
    AddLayer(PathBuf),
    RemoveLayer(usize),
    /// The folder of a role; none leaves it to the engine.
    Role(Role, Option<PathBuf>),
    /// The folders of all roles.
    Roles(Vec<Drive>),
    OutputPath(PathBuf),
    /// The output's encoding; a file whose ending cannot hold it gets one that can.
    Encoding(Encoding),
    FullScale(Option<f64>),
    Previews(bool),
}

/// The first layer's depth and the spacing of the next, when there is nothing to go by.
const FIRST_DEPTH: Length = Length::metres(3e-3);
const SPACING: f64 = 1e-3;

impl Edit {
    /// Makes the change.
    pub fn apply(self, project: &mut Project) {
        match self {
            Self::Wavelength(value) => project.wavelength = value,
            Self::Pitch(value) => {
                project.grid.pitch_x = value;
                project.grid.pitch_y = value;
            }
            Self::PitchX(value) => project.grid.pitch_x = value,
            Self::PitchY(value) => project.grid.pitch_y = value,
            Self::Width(value) => project.grid.width = value,
            Self::Height(value) => project.grid.height = value,
            Self::Device { size, pitch_x, pitch_y } => {
                let (width, height) = size.unwrap_or((project.grid.width, project.grid.height));
                project.grid = Grid { width, height, pitch_x, pitch_y };
            }
            Self::Evanescent(value) => project.evanescent = value,
            Self::BandLimit(value) => project.band_limit = value,
            Self::Rolloff(value) => project.rolloff = value,
            Self::Precision(value) => {
                project.precision = value;
                let keeps = |scratch: &ScratchPrecision| scratch.sample_bytes() <= value.sample_bytes();
                project.scratch_precision = project.scratch_precision.filter(keeps);
            }
            Self::Seed(value) => project.seed = value,
            Self::Layering(value) => project.layering = value,
            Self::Method(value) => project.method = value,
            Self::Memory(value) => project.memory = value,
            Self::Chunk(value) => project.chunk = value,
            Self::Buffers(value) => project.buffers = value,
            Self::Scratch(value) => project.scratch_precision = value,
            Self::Tolerance(value) => project.tolerance = value,
            Self::Streams(value) => project.streams = value,
            Self::AtOnce(value) => project.at_once = value,
            Self::Distance(layer, value) => with_layer(project, layer, |l| l.distance = value),
            Self::Values(layer, value) => with_layer(project, layer, |l| l.values = value),
            Self::Phase(layer, value) => with_layer(project, layer, |l| l.phase = value),
            Self::Amplitude(layer, value) => with_layer(project, layer, |l| l.amplitude = value),
            Self::Enabled(layer, value) => with_layer(project, layer, |l| l.enabled = value),
            Self::MoveLayer { from, to } => {
                if from.max(to) < project.layers.len() {
                    let layer = project.layers.remove(from);
                    project.layers.insert(to, layer);
                }
            }
            Self::AddLayer(image) => {
                let (values, phase) =
                    project.layers.last().map_or_else(Default::default, |l| (l.values, l.phase));
                let distance = next_distance(&project.layers);
                project.layers.push(Layer { values, phase, ..Layer::new(image, distance) });
            }
            Self::RemoveLayer(layer) => {
                if layer < project.layers.len() {
                    project.layers.remove(layer);
                }
            }
            Self::Role(role, path) => {
                project.drives.retain(|drive| drive.role != role);
                project.drives.extend(path.map(|path| Drive { path, role }));
                project.drives.sort_by_key(|drive| drive.role);
            }
            Self::Roles(drives) => {
                project.drives = drives;
                project.drives.sort_by_key(|drive| drive.role);
            }
            Self::OutputPath(path) => project.output.path = path,
            Self::Encoding(value) => {
                project.output.encoding = value;
                let endings = Container::endings(value);
                let ending = project.output.path.extension().unwrap_or_default();
                if !endings.iter().any(|e| ending.eq_ignore_ascii_case(e)) {
                    project.output.path.set_extension(endings[0]);
                }
            }
            Self::FullScale(value) => project.output.full_scale = value,
            Self::Previews(value) => project.output.previews = value,
        }
    }

    /// The change's short name, as Undo shows it.
    #[must_use]
    pub fn name(&self) -> String {
        let name = match self {
            Self::Wavelength(_) => "wavelength",
            Self::Pitch(_) => "pitch",
            Self::PitchX(_) => "pitch x",
            Self::PitchY(_) => "pitch y",
            Self::Width(_) => "width",
            Self::Height(_) => "height",
            Self::Evanescent(_) => "evanescent",
            Self::BandLimit(_) => "band limit",
            Self::Rolloff(_) => "roll-off",
            Self::Precision(_) => "precision",
            Self::Seed(_) => "seed",
            Self::Layering(_) => "layering",
            Self::Method(_) => "method",
            Self::Memory(_) => "memory",
            Self::Chunk(_) => "chunk",
            Self::Buffers(_) => "buffers",
            Self::Scratch(_) => "what scratch keeps",
            Self::Tolerance(_) => "tolerance",
            Self::Streams(_) => "streams",
            Self::AtOnce(_) => "streams at once",
            Self::Distance(layer, _) => return format!("depth of layer {}", layer + 1),
            Self::Values(layer, _) => return format!("values of layer {}", layer + 1),
            Self::Phase(layer, _) => return format!("phase of layer {}", layer + 1),
            Self::Device { .. } => "device",
            Self::Amplitude(layer, _) => return format!("amplitude of layer {}", layer + 1),
            Self::Enabled(layer, true) => return format!("enabling layer {}", layer + 1),
            Self::Enabled(layer, false) => return format!("disabling layer {}", layer + 1),
            Self::MoveLayer { from, .. } => return format!("order of layer {}", from + 1),
            Self::AddLayer(image) => return format!("adding {}", text::file_name(image)),
            Self::RemoveLayer(layer) => return format!("removing layer {}", layer + 1),
            Self::Roles(_) => "roles",
            Self::Role(role, _) => return format!("role {role}"),
            Self::OutputPath(_) => "hologram's file",
            Self::Encoding(_) => "encoding",
            Self::FullScale(_) => "full scale",
            Self::Previews(_) => "reconstruct every layer",
        };
        name.into()
    }

    /// Whether it sets one field, so that setting it again at once is the same step.
    #[must_use]
    pub const fn is_of_one_field(&self) -> bool {
        !matches!(self, Self::AddLayer(_) | Self::RemoveLayer(_) | Self::MoveLayer { .. } | Self::Enabled(..))
    }

    /// The change, if it leaves the project's field called `name` valid; else what is wrong.
    pub fn checked(self, name: &str, project: &Project) -> Result<Self, String> {
        let mut changed = project.clone();
        self.clone().apply(&mut changed);
        // A layer must be there before the fields after it are looked at.
        if changed.enabled_layers().next().is_none() {
            Self::AddLayer(PathBuf::from("any")).apply(&mut changed);
        }
        match changed.validate() {
            Err(ProjectError::Value { field, problem }) if field == name => Err(problem),
            _ => Ok(self),
        }
    }
}

fn with_layer(project: &mut Project, layer: usize, change: impl FnOnce(&mut Layer)) {
    if let Some(layer) = project.layers.get_mut(layer) {
        change(layer);
    }
}

fn next_distance(layers: &[Layer]) -> Length {
    let distance = |layer: &Layer| layer.distance.in_metres();
    match layers {
        [] => FIRST_DEPTH,
        [only] => rounded(distance(only) + SPACING.copysign(distance(only))),
        [.., before, last] => rounded(2.0 * distance(last) - distance(before)),
    }
}

/// To a whole nanometre, so that adding decimals leaves no digits of binary arithmetic.
fn rounded(metres: f64) -> Length {
    let nanometres = format!("{}nm", (metres * 1e9).round());
    nanometres.parse().unwrap_or(Length::metres(metres))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::blank_project;

    fn depths(project: &Project) -> Vec<String> {
        project.layers.iter().map(|l| l.distance.to_string()).collect()
    }

    #[test]
    fn new_layers_continue_the_spacing() {
        let mut project = blank_project();
        for name in ["a.png", "b.png", "c.png"] {
            Edit::AddLayer(name.into()).apply(&mut project);
        }
        assert_eq!(depths(&project), ["3mm", "4mm", "5mm"]);
        Edit::Distance(0, Length::metres(-1e-3)).apply(&mut project);
        Edit::RemoveLayer(1).apply(&mut project);
        Edit::RemoveLayer(1).apply(&mut project);
        Edit::AddLayer("d.png".into()).apply(&mut project);
        assert_eq!(depths(&project), ["-1mm", "-2mm"]);
    }

    #[test]
    fn a_role_belongs_to_one_folder() {
        let mut project = blank_project();
        Edit::Role(Role::C, Some("/c".into())).apply(&mut project);
        Edit::Role(Role::A, Some("/a".into())).apply(&mut project);
        Edit::Role(Role::C, Some("/d".into())).apply(&mut project);
        let roles: Vec<_> = project.drives.iter().map(|d| (d.role, d.path.to_str().unwrap())).collect();
        assert_eq!(roles, [(Role::A, "/a"), (Role::C, "/d")]);
        Edit::Role(Role::A, None).apply(&mut project);
        assert_eq!(project.drives.len(), 1);
    }

    #[test]
    fn a_value_that_cannot_be_computed_is_refused_with_the_reason() {
        let project = blank_project();
        let error = Edit::Wavelength(Length::metres(-1.0)).checked("wavelength", &project).unwrap_err();
        assert!(error.contains("above zero"), "{error}");
        let error = Edit::Chunk(Some(0)).checked("chunk", &project).unwrap_err();
        assert!(error.contains("memory"), "{error}");
        assert!(Edit::Width(0).checked("grid.width", &project).is_err());
        assert!(Edit::Width(1).checked("grid.width", &project).is_ok());
        let edit = Edit::OutputPath("hologram.png".into());
        assert!(edit.checked("output.path", &project).unwrap_err().contains(".npy"));
        assert!(Edit::FullScale(Some(0.0)).checked("output.full_scale", &project).is_err());
    }

    #[test]
    fn scratch_never_keeps_more_than_the_arithmetic_has() {
        let mut project = blank_project();
        Edit::Precision(Precision::F64).apply(&mut project);
        for (scratch, kept) in [
            (ScratchPrecision::F64, None),
            (ScratchPrecision::F32, Some(ScratchPrecision::F32)),
            (ScratchPrecision::B16, Some(ScratchPrecision::B16)),
        ] {
            Edit::Scratch(Some(scratch)).apply(&mut project);
            Edit::Precision(Precision::F32).apply(&mut project);
            assert_eq!(project.scratch_precision, kept);
        }
    }

    #[test]
    fn an_ending_that_cannot_hold_the_encoding_is_replaced() {
        let mut project = blank_project();
        let mut encode = |encoding, path: &str| {
            Edit::OutputPath(path.into()).apply(&mut project);
            Edit::Encoding(encoding).apply(&mut project);
            project.output.path.display().to_string()
        };
        assert_eq!(encode(Encoding::Phase8, "a/b.npy"), "a/b.npy");
        assert_eq!(encode(Encoding::Amplitude8, "a/b.PNG"), "a/b.PNG");
        assert_eq!(encode(Encoding::Intensity, "a/b.png"), "a/b.npy");
        assert_eq!(encode(Encoding::Complex, "a/b.tif"), "a/b.npy");
    }
}
