//! Quantities with units: SI inside, units at the edge.
//!
//! A quantity in a file, a field or on the command line always carries its unit
//! (`660nm`, `0.5 um`, `-90mm`, `2GiB`); a bare number is refused, because the wrong
//! guess costs hours.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Length units, each with its size in metres. The first spelling is the one shown.
const LENGTH_UNITS: &[(&str, f64)] =
    &[("nm", 1e-9), ("um", 1e-6), ("µm", 1e-6), ("μm", 1e-6), ("mm", 1e-3), ("cm", 1e-2), ("m", 1.0)];

/// Units of memory, each with its size in bytes.
const BYTE_UNITS: &[(&str, u64)] = &[
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("B", 1),
];

/// A text that is not a quantity of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The text has a number but no unit.
    #[error("`{text}` has no unit; write it as {examples}")]
    NoUnit {
        /// What was given.
        text: String,
        /// The same number with the units it could mean.
        examples: String,
    },
    /// The unit is not one of the known ones.
    #[error("`{text}`: unknown unit `{unit}`; known units are {known}")]
    UnknownUnit {
        /// What was given.
        text: String,
        /// The part taken as the unit.
        unit: String,
        /// The accepted units.
        known: String,
    },
    /// The amount is below zero, or above what 64 bits count.
    #[error("`{text}` is more memory than any machine has, or less than none")]
    OutOfRange {
        /// What was given.
        text: String,
    },
    /// The text does not begin with a number.
    #[error("`{text}` is not a number with a unit; write for example {examples}, decimals with a point")]
    NotANumber {
        /// What was given.
        text: String,
        /// Texts that would be accepted.
        examples: &'static str,
    },
}

/// Splits `text` into its number and its unit, both as written.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent = (c == 'e' || c == 'E')
                && text[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+');
            !(c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | ',') || exponent)
        })
        .map_or(text.len(), |(i, _)| i);
    (text[..end].trim(), text[end..].trim())
}

/// Parses `text` as a finite number times one of `units`.
fn parse<T: Copy>(
    text: &str,
    units: &[(&str, T)],
    bare: &[&str],
    examples: &'static str,
) -> Result<(f64, T), UnitError> {
    let (number, unit) = split(text);
    let value = match number.parse::<f64>() {
        Ok(value) if value.is_finite() => value,
        _ => return Err(UnitError::NotANumber { text: text.trim().into(), examples }),
    };
    if unit.is_empty() {
        let examples: Vec<_> = bare.iter().map(|u| format!("{number}{u}")).collect();
        return Err(UnitError::NoUnit { text: text.trim().into(), examples: examples.join(", ") });
    }
    if let Some(&(_, size)) = units.iter().find(|(name, _)| *name == unit) {
        return Ok((value, size));
    }
    let known: Vec<_> = units.iter().map(|(name, _)| *name).filter(|n| n.is_ascii()).collect();
    Err(UnitError::UnknownUnit { text: text.trim().into(), unit: unit.into(), known: known.join(", ") })
}

/// A length in metres, written with its unit: `660nm`, `0.5 um`, `-90mm`.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize)]
#[serde(into = "String")]
pub struct Length(f64);

impl Length {
    /// The length of `metres` metres.
    #[must_use]
    pub const fn metres(metres: f64) -> Self {
        Self(metres)
    }

    /// The length in metres.
    #[must_use]
    pub const fn in_metres(self) -> f64 {
        self.0
    }
}

impl FromStr for Length {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let bare = &["nm", "um", "mm", "cm", "m"];
        let (value, _) = parse(text, LENGTH_UNITS, bare, "660nm, 5um or -90mm")?;
        // Decimal text is scaled in decimal, so that `5um` is the same number as 5e-6.
        let (number, unit) = split(text);
        let exponent = match unit {
            "nm" => -9,
            "um" | "µm" | "μm" => -6,
            "mm" => -3,
            "cm" => -2,
            _ => 0,
        };
        let (mantissa, power) = match number.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, power.parse::<i32>().unwrap_or(0)),
            None => (number, 0),
        };
        let scaled = format!("{mantissa}e{}", power.saturating_add(exponent));
        Ok(Self(scaled.parse().unwrap_or(value)))
    }
}

impl fmt::Display for Length {
    /// The shortest text that reads back as the same number, in the unit that suits its size.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        let (unit, exponent) = if (1e-3..1.0).contains(&size) {
            ("mm", 3)
        } else if size >= 1.0 {
            ("m", 0)
        } else if size >= 1e-6 {
            ("um", 6)
        } else {
            ("nm", 9)
        };
        if size == 0.0 {
            return f.write_str("0mm");
        }
        // Shortest decimal of the SI value, its point moved: no rounding enters.
        let text = format!("{:e}", self.0);
        let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
        let power = power.parse::<i32>().unwrap_or(0) + exponent;
        write!(f, "{}{unit}", shift_point(mantissa, power))
    }
}

/// `mantissa`·10^`power` as plain decimal text; `mantissa` is `d` or `d.ddd`, signed.
fn shift_point(mantissa: &str, power: i32) -> String {
    let (sign, digits) = mantissa.strip_prefix('-').map_or(("", mantissa), |d| ("-", d));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    let point = i32::try_from(whole.len()).unwrap_or(1) + power;
    let places = point.unsigned_abs() as usize;
    let text = if point <= 0 {
        format!("0.{}{all}", "0".repeat(places))
    } else if let Some(missing) = places.checked_sub(all.len()) {
        format!("{all}{}", "0".repeat(missing))
    } else {
        let (whole, fraction) = all.split_at(places);
        format!("{whole}.{fraction}")
    };
    format!("{sign}{text}")
}

impl From<Length> for String {
    fn from(length: Length) -> Self {
        length.to_string()
    }
}

/// An amount of memory or disk in bytes, written with its unit: `96MiB`, `2GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub struct Bytes(pub u64);

impl FromStr for Bytes {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let examples = "512MiB or 2GiB";
        let (value, size) = parse(text, BYTE_UNITS, &["MiB", "GiB", "MB", "GB"], examples)?;
        let bytes = value * size as f64;
        if !(0.0..1.8e19).contains(&bytes) {
            return Err(UnitError::OutOfRange { text: text.trim().into() });
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "range checked above")]
        Ok(Self(bytes.round() as u64))
    }
}

impl Bytes {
    /// No less, and what [`fmt::Display`] shows of it is no less either: an amount that a user is told to give.
    #[must_use]
    pub fn rounded_up(self) -> Self {
        let size = [40, 30, 20, 10].map(|bits| 1u64 << bits).into_iter().find(|&size| self.0 >= size);
        let Some(size) = size else { return self };
        // A step of the last digit that is shown.
        let value = self.0 as f64 / size as f64;
        let steps = if value < 9.9 { 100 } else { 10 - 9 * u64::from(value >= 99.0) };
        let shown = self.0.saturating_mul(steps).div_ceil(size);
        Self(shown.saturating_mul(size).div_ceil(steps))
    }
}

impl fmt::Display for Bytes {
    /// Exact where a binary unit divides the amount, else rounded to three digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("TiB", 1u64 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        for (unit, size) in units {
            if self.0 >= size {
                return if self.0.is_multiple_of(size) {
                    write!(f, "{}{unit}", self.0 / size)
                } else {
                    let value = self.0 as f64 / size as f64;
                    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
                    write!(f, "{value:.digits$}{unit}")
                };
            }
        }
        write!(f, "{}B", self.0)
    }
}

impl From<Bytes> for String {
    fn from(bytes: Bytes) -> Self {
        // A file must read back as the same number, so no rounded form here.
        let text = bytes.to_string();
        if text.parse() == Ok(bytes) { text } else { format!("{}B", bytes.0) }
    }
}

/// Reads a quantity from a string in a file, and says what is expected where there is none.
struct QuantityVisitor<T> {
    expected: &'static str,
    quantity: PhantomData<T>,
}

impl<T: FromStr<Err = UnitError>> Visitor<'_> for QuantityVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.expected)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Length {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "a length with its unit in quotes, for example \"660nm\"";
        deserializer.deserialize_str(QuantityVisitor { expected, quantity: PhantomData })
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expected = "an amount of memory with its unit in quotes, for example \"2GiB\"";
        deserializer.deserialize_str(QuantityVisitor { expected, quantity: PhantomData })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_with_any_unit_and_spacing() {
        for (text, metres) in [
            ("660nm", 660e-9),
            ("0.5 um", 0.5e-6),
            ("5µm", 5e-6),
            ("-90mm", -90e-3),
            ("1e-3 m", 1e-3),
            ("2.5cm", 2.5e-2),
            ("3.74um", 3.74e-6),
        ] {
            assert_eq!(text.parse::<Length>(), Ok(Length(metres)), "{text}");
        }
    }

    #[test]
    fn a_bare_number_is_refused_with_the_units_it_could_mean() {
        let error = "5".parse::<Length>().unwrap_err().to_string();
        assert!(error.contains("5nm, 5um, 5mm"), "{error}");
        let error = "512".parse::<Bytes>().unwrap_err().to_string();
        assert!(error.contains("512MiB"), "{error}");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "mm", "nanmm", "infm", "5 parsec", "--3mm", "5um 3", "0,5um"] {
            assert!(text.parse::<Length>().is_err(), "{text}");
        }
        for text in ["-1GiB", "1e40GiB", "GiB", "3 gallons"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
    }

    #[test]
    fn lengths_written_and_read_again_are_the_same_number() {
        for metres in [660e-9, 0.5e-6, 3.74e-6, -90e-3, 0.0, 1.0, 12.5, 632.8e-9, 1e-12, 0.1 + 0.2] {
            let text = Length(metres).to_string();
            assert_eq!(text.parse::<Length>(), Ok(Length(metres)), "{text}");
        }
        assert_eq!(Length(0.0).to_string(), "0mm");
        assert_eq!(Length(-90e-3).to_string(), "-90mm");
        assert_eq!(Length(3.74e-6).to_string(), "3.74um");
        assert_eq!(Length(660e-9).to_string(), "660nm");
    }

    #[test]
    fn an_amount_to_give_is_enough_as_it_is_shown() {
        for bytes in
            (1..2000).chain((1..4000).map(|i| i * 7_654_321)).chain([10_484_000, 104_800_000, 1 << 20])
        {
            let up = Bytes(bytes).rounded_up();
            let shown: Bytes = up.to_string().parse().unwrap();
            assert!(shown.0 >= bytes && up.0 >= bytes, "{bytes}: {up}");
            assert!(up.0 as f64 <= 1.011 * bytes as f64, "{bytes}: {up}");
        }
    }

    #[test]
    fn bytes_in_a_file_are_exact() {
        for bytes in [0, 1, 4096, 96 << 20, (1 << 30) + 1, 3 << 29, u64::from(u32::MAX) * 17] {
            let text = String::from(Bytes(bytes));
            assert_eq!(text.parse::<Bytes>(), Ok(Bytes(bytes)), "{text}");
        }
        assert_eq!(Bytes(96 << 20).to_string(), "96MiB");
        assert_eq!(Bytes(3 << 29).to_string(), "1.50GiB");
    }
}
