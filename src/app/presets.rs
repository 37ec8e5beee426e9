//! Presets of devices and wavelengths: the program's own, and those in a file of the user's.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy as _;
use serde::Deserialize;

use crate::optics::{Grid, Length};
use crate::project::{validate_grid, validate_light};

/// The presets that come with the program.
const OWN: &str = include_str!("../../assets/presets.json");
/// A file of presets beyond this is none.
const LARGEST_FILE: u64 = 1 << 20;

/// What a presets file looks like, for a hover text.
pub const EXAMPLE: &str = r#"{ "devices": [{ "name": "My SLM", "width": 1920, "height": 1080, "pitch": "8um" }],
  "wavelengths": [{ "wavelength": "633nm", "name": "lab laser" }] }"#;

/// A device by which a hologram is shown or written.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Pixels along x; any number if left out.
    #[serde(default)]
    pub width: Option<usize>,
    /// Pixels along y; any number if left out.
    #[serde(default)]
    pub height: Option<usize>,
    /// Distance of neighbouring pixels, where both axes have the same.
    #[serde(default)]
    pitch: Option<Length>,
    #[serde(default)]
    pitch_x: Option<Length>,
    #[serde(default)]
    pitch_y: Option<Length>,
    /// What else to know.
    #[serde(default)]
    pub note: Option<String>,
    /// Where the figures come from.
    #[serde(default)]
    pub source: Option<String>,
}

impl Device {
    /// Distances of neighbouring pixels `[y, x]`.
    #[must_use]
    pub fn pitches(&self) -> Option<[Length; 2]> {
        match (self.pitch, self.pitch_y, self.pitch_x) {
            (Some(pitch), None, None) => Some([pitch; 2]),
            (None, Some(y), Some(x)) => Some([y, x]),
            _ => None,
        }
    }

    /// Whether `grid` is this device's.
    #[must_use]
    pub fn is(&self, grid: &Grid) -> bool {
        self.width.is_some_and(|width| width == grid.width)
            && self.height.is_some_and(|height| height == grid.height)
            && self.pitches() == Some([grid.pitch_y, grid.pitch_x])
    }

    fn check(&self) -> Result<(), String> {
        let [pitch_y, pitch_x] =
            self.pitches().ok_or("give either `pitch`, or both `pitch_x` and `pitch_y`")?;
        if self.name.trim().is_empty() {
            return Err("`name` is empty".into());
        }
        if self.width.is_some() != self.height.is_some() {
            return Err("give both `width` and `height`, or none".into());
        }
        let (width, height) = (self.width.unwrap_or(1), self.height.unwrap_or(1));
        validate_grid(&Grid { width, height, pitch_x, pitch_y }, "").map_err(|error| error.to_string())
    }
}

/// A wavelength, with what it is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Light {
    /// The wavelength.
    pub wavelength: Length,
    /// What it is, beside its length.
    #[serde(default)]
    pub name: Option<String>,
    /// Where it comes from.
    #[serde(default)]
    pub source: Option<String>,
}

/// Devices and wavelengths that a project can be given.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Presets {
    /// The devices.
    #[serde(default)]
    pub devices: Vec<Device>,
    /// The wavelengths.
    #[serde(default)]
    pub wavelengths: Vec<Light>,
    /// The user's file, which need not exist.
    #[serde(skip)]
    pub file: Option<PathBuf>,
}

/// The user's file: `gigafringe/presets.json` in the system's folder for settings (`XDG_CONFIG_HOME` where set).
#[must_use]
pub fn user_file() -> Option<PathBuf> {
    let folder = etcetera::choose_base_strategy().ok()?.config_dir();
    Some(folder.join("gigafringe").join("presets.json"))
}

impl Presets {
    /// The program's own and those in `file`, if it exists, with what is wrong with them.
    #[must_use]
    pub fn load(file: Option<PathBuf>) -> (Self, Option<String>) {
        let (mut presets, mut problem) = match Self::parse(OWN) {
            Ok(own) => (own, None),
            Err(error) => (Self::default(), Some(format!("The program's presets: {error}"))),
        };
        match file.as_deref().map(read) {
            None | Some(Ok(None)) => {}
            Some(Ok(Some(text))) => match Self::parse(&text) {
                Ok(user) => presets.merge(user),
                Err(error) => problem = Some(error),
            },
            Some(Err(error)) => problem = Some(error),
        }
        let problem = match (&file, problem) {
            (Some(file), Some(problem)) => {
                Some(format!("{}: {problem}; its presets are left out", file.display()))
            }
            (_, problem) => problem,
        };
        presets.file = file;
        (presets, problem)
    }

    /// The presets that `text` holds, all of them sound.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut json = serde_json::Deserializer::from_str(text);
        let presets: Self = serde_path_to_error::deserialize(&mut json)
            .map_err(|error| format!("{}: {}", error.path(), error.inner()))?;
        json.end().map_err(|error| error.to_string())?;
        for (i, device) in presets.devices.iter().enumerate() {
            device.check().map_err(|problem| format!("devices[{i}]: {problem}"))?;
        }
        for (i, light) in presets.wavelengths.iter().enumerate() {
            validate_light(light.wavelength, 0.0)
                .map_err(|problem| format!("wavelengths[{i}]: {problem}"))?;
        }
        Ok(presets)
    }

    /// Adds `other`'s; a device of the same name takes the place of this one's.
    fn merge(&mut self, other: Self) {
        for device in other.devices {
            match self.devices.iter_mut().find(|known| known.name == device.name) {
                Some(known) => *known = device,
                None => self.devices.push(device),
            }
        }
        for light in other.wavelengths {
            let same = |known: &&mut Light| known.wavelength == light.wavelength && known.name == light.name;
            match self.wavelengths.iter_mut().find(same) {
                Some(known) => *known = light,
                None => self.wavelengths.push(light),
            }
        }
    }
}

/// The text of the user's file; none where there is no such file.
fn read(file: &Path) -> Result<Option<String>, String> {
    let cannot = |error: std::io::Error| format!("cannot be read ({error})");
    match std::fs::metadata(file) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(cannot(error)),
        Ok(metadata) if !metadata.is_file() => return Err("is not a regular file".into()),
        Ok(metadata) if metadata.len() > LARGEST_FILE => {
            return Err("is far larger than any list of presets".into());
        }
        Ok(_) => {}
    }
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(cannot)?;
    opened.take(LARGEST_FILE).read_to_string(&mut text).map_err(cannot)?;
    Ok(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Presets {
        let (presets, problem) = Presets::load(None);
        assert_eq!(problem, None);
        presets
    }

    /// A file with `text`, loaded.
    fn with_file(text: &str) -> (Presets, Option<String>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("presets.json");
        std::fs::write(&file, text).unwrap();
        Presets::load(Some(file))
    }

    #[test]
    fn the_programs_own_presets_are_sound_and_each_has_a_source() {
        let presets = own();
        assert!(presets.devices.iter().all(|device| device.source.is_some()));
        assert!(presets.wavelengths.iter().all(|light| light.source.is_some()));
        let device = |name: &str| presets.devices.iter().find(|device| device.name == name).unwrap();
        let gaea = device("HOLOEYE GAEA-2");
        assert_eq!((gaea.width, gaea.height), (Some(3840), Some(2160)));
        assert_eq!(gaea.pitches().unwrap()[1].to_string(), "3.74um");
        assert_eq!(device("Fringe printer").width, None);
        assert_eq!((presets.devices.len(), presets.wavelengths.len()), (14, 14 + 9));
        assert!(presets.wavelengths.iter().any(|light| light.wavelength.to_string() == "632.8nm"));
    }

    #[test]
    fn the_users_file_adds_presets_and_replaces_those_of_the_same_name() {
        let (presets, problem) = with_file(
            r#"{ "devices": [{ "name": "Mine", "width": 7, "height": 5, "pitch_x": "2um", "pitch_y": "3um" },
                             { "name": "HOLOEYE LUNA", "width": 9, "height": 8, "pitch": "1um" }],
                 "wavelengths": [{ "wavelength": "600nm" }] }"#,
        );
        assert_eq!(problem, None);
        let before = own();
        assert_eq!(presets.devices.len(), before.devices.len() + 1);
        assert_eq!(presets.wavelengths.len(), before.wavelengths.len() + 1);
        let mine = presets.devices.last().unwrap();
        let [pitch_y, pitch_x] = ["3um", "2um"].map(|text| text.parse().unwrap());
        assert!(mine.is(&Grid { width: 7, height: 5, pitch_x, pitch_y }));
        assert!(!mine.is(&Grid { width: 7, height: 5, pitch_x: pitch_y, pitch_y }));
        let luna = presets.devices.iter().find(|device| device.name == "HOLOEYE LUNA").unwrap();
        assert_eq!(luna.width, Some(9));
        assert!(Presets::load(Some("/nowhere/presets.json".into())).1.is_none(), "there need not be a file");
    }

    #[test]
    fn a_file_that_cannot_be_used_is_said_with_the_place_and_costs_no_other_preset() {
        let device = |fields: &str| format!(r#"{{ "devices": [{{ "name": "x", {fields} }}] }}"#);
        for (text, words) in [
            ("{", "EOF"),
            (r#"{ "device": [] }"#, "device"),
            (&device(r#""pitch": 5"#), "devices[0].pitch"),
            (&device(r#""width": 5, "height": 5"#), "`pitch`"),
            (&device(r#""width": 5, "pitch": "1um""#), "`height`"),
            (&device(r#""width": 0, "height": 5, "pitch": "1um""#), "devices[0]: width"),
            (&device(r#""width": 4, "height": 5, "pitch": "-1um""#), "above zero"),
            (r#"{ "wavelengths": [{ "wavelength": "0nm" }] }"#, "wavelengths[0]: wavelength"),
            (r#"{ "wavelengths": [{ "wavelength": "5nm", "x": 1 }] }"#, "wavelengths[0]"),
        ] {
            let (presets, problem) = with_file(text);
            let problem = problem.unwrap();
            assert!(problem.contains(words) && problem.contains("presets.json"), "{text}: {problem}");
            assert_eq!(presets.devices, own().devices);
        }
        let folder = tempfile::tempdir().unwrap();
        let (_, problem) = Presets::load(Some(folder.path().into()));
        assert!(problem.unwrap().contains("not a regular file"));
    }
}
