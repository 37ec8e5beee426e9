//! Quantities and paths as the window writes them.

use std::path::Path;

use crate::optics::{Bytes, Length};

/// A length with a space before its unit: `4 mm`, `0.5 µm`.
#[must_use]
pub fn length(length: Length) -> String {
    spaced(&length.to_string()).replace(" um", " µm")
}

/// An amount of bytes, rounded: `1.50 GiB`.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    spaced(&Bytes(bytes).to_string())
}

/// Puts a space between a number and its unit.
fn spaced(text: &str) -> String {
    match text.find(char::is_alphabetic) {
        Some(i) => format!("{} {}", &text[..i], &text[i..]),
        None => text.into(),
    }
}

/// A time span, as precise as its size deserves: `4.2 ms`, `0.42 s`, `12.3 s`, `3 min 05 s`, `2 h 04 min`.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    if seconds < 0.0995 {
        return format!("{:.1} ms", 1e3 * seconds.max(0.0));
    }
    if seconds < 9.995 {
        return format!("{:.2} s", seconds.max(0.0));
    }
    if seconds < 59.95 {
        return format!("{seconds:.1} s");
    }
    let whole = seconds.round();
    let (hours, minutes) = ((whole / 3600.0).floor(), (whole % 3600.0 / 60.0).floor());
    if hours > 0.0 {
        format!("{hours} h {minutes:02} min")
    } else {
        format!("{minutes} min {:02} s", whole % 60.0)
    }
}

/// The last part of a path, for people.
#[must_use]
pub fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
}

/// A count with thin groups of three: `4 194 304`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// `text` with a capital at its beginning.
#[must_use]
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_a_space_before_the_unit_and_still_parse() {
        for (text, shown) in
            [("4mm", "4 mm"), ("0.5um", "500 nm"), ("3.74um", "3.74 µm"), ("-90mm", "-90 mm")]
        {
            let value: Length = text.parse().unwrap();
            assert_eq!(length(value), shown);
            assert_eq!(length(value).parse(), Ok(value), "{shown}");
        }
        assert_eq!(bytes(3 << 29), "1.50 GiB");
        assert_eq!(bytes(0), "0 B");
    }

    #[test]
    fn times_are_as_precise_as_their_size_deserves() {
        for (value, text) in [
            (0.0042, "4.2 ms"),
            (0.424, "0.42 s"),
            (12.34, "12.3 s"),
            (59.97, "1 min 00 s"),
            (185.0, "3 min 05 s"),
            (3599.7, "1 h 00 min"),
            (7440.0, "2 h 04 min"),
        ] {
            assert_eq!(seconds(value), text);
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1024), "1 024");
        assert_eq!(count(4_194_304), "4 194 304");
    }
}
