//! Quantities and paths as the window writes them.

use std::path::Path;

use crate::optics::{Bytes, Length};

/// A length with a space before its unit: `4 mm`, `0.5 µm`.
#[must_use]
pub fn length(length: Length) -> String {
    spaced(&length.to_string()).replace("um", "µm")
}

/// An amount of bytes, rounded: `1.50 GiB`.
#[must_use]
pub fn amount(bytes: u64) -> String {
    spaced(&Bytes(bytes).to_string())
}

/// The same for the cells of tables, which are not broken and are compared as they are.
#[must_use]
pub fn bytes(bytes: u64) -> String {
    plain(&amount(bytes))
}

/// A space at which no line is broken: a number stays with its unit.
const NO_BREAK: char = '\u{a0}';

/// Puts a space between a number and its unit.
fn spaced(text: &str) -> String {
    match text.find(char::is_alphabetic) {
        Some(i) => format!("{}{NO_BREAK}{}", &text[..i], &text[i..]),
        None => text.into(),
    }
}

/// `text` with every space as keyboards have it: for fields, files and the clipboard.
#[must_use]
pub fn plain(text: &str) -> String {
    text.replace(NO_BREAK, " ")
}

/// The units that are written behind numbers.
const UNITS: [&str; 20] = [
    "nm", "µm", "mm", "cm", "m", "B", "KiB", "MiB", "GiB", "TiB", "kB", "MB", "GB", "TB", "MB/s", "ms", "s",
    "min", "h", "%",
];

/// `text` with no line break between a number and its unit.
#[must_use]
pub fn bound(text: &str) -> String {
    let mut bound = String::with_capacity(text.len());
    let mut words = text.split(' ').peekable();
    while let Some(word) = words.next() {
        bound.push_str(word);
        let Some(next) = words.peek() else { break };
        let unit = next.trim_end_matches(|c: char| !c.is_alphabetic() && c != '%');
        let is_bound = word.ends_with(|c: char| c.is_ascii_digit()) && UNITS.contains(&unit);
        bound.push(if is_bound { NO_BREAK } else { ' ' });
    }
    bound
}

/// `text` with the long whole numbers in it in groups of three, but for what stands in backticks.
#[must_use]
pub fn grouped(text: &str) -> String {
    let mut parts = Vec::new();
    for (i, part) in text.split('`').enumerate() {
        parts.push(if i % 2 == 1 { part.into() } else { grouped_all(part) });
    }
    parts.join("`")
}

fn grouped_all(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let digits = rest[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - start);
        let (before, number) = (&rest[..start], &rest[start..start + digits]);
        all.push_str(before);
        // Digits behind a point, and those of a name, are none of a whole number.
        let is_whole = !before.ends_with(|c: char| c == '.' || c.is_alphanumeric());
        match number.parse() {
            Ok(n) if is_whole && digits > 4 => all.push_str(&count(n)),
            _ => all.push_str(number),
        }
        rest = &rest[start + digits..];
    }
    all + rest
}

/// A time span, as precise as its size deserves: `4.2 ms`, `0.42 s`, `12.3 s`, `3 min 05 s`, `2 h 04 min`.
#[must_use]
pub fn seconds(seconds: f64) -> String {
    let whole = seconds.round();
    let (hours, minutes) = ((whole / 3600.0).floor(), (whole % 3600.0 / 60.0).floor());
    bound(&match seconds {
        _ if seconds < 0.0995 => format!("{:.1} ms", 1e3 * seconds.max(0.0)),
        _ if seconds < 9.995 => format!("{:.2} s", seconds.max(0.0)),
        _ if seconds < 59.95 => format!("{seconds:.1} s"),
        _ if hours > 0.0 => format!("{hours} h {minutes:02} min"),
        _ => format!("{minutes} min {:02} s", whole % 60.0),
    })
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
            text.push(NO_BREAK);
        }
        text.push(digit);
    }
    text
}

/// A number of lines: `1 024 lines`.
#[must_use]
pub fn lines(n: usize) -> String {
    format!("{}{NO_BREAK}lines", count(n as u64))
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
            assert_eq!(plain(&length(value)), shown);
            assert_eq!(length(value).parse(), Ok(value), "{shown}");
            assert_eq!(shown.parse(), Ok(value));
        }
        assert_eq!(amount(3 << 29), "1.50\u{a0}GiB");
        assert_eq!(amount(0), "0\u{a0}B");
        assert_eq!(amount(3 << 29).parse(), Ok(Bytes(3 << 29)));
        assert_eq!(bytes(3 << 29), "1.50 GiB");
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
            assert_eq!(plain(&seconds(value)), text);
        }
    }

    #[test]
    fn counts_are_grouped() {
        assert_eq!(count(7), "7");
        assert_eq!(count(1024), "1\u{a0}024");
        assert_eq!(count(4_194_304), "4\u{a0}194\u{a0}304");
        let text = "0 cannot be `16777216`; it lies between 0.000001 and 16777216, or 4096, x10000, 12345.";
        let expected =
            "0 cannot be `16777216`; it lies between 0.000001 and 16 777 216, or 4096, x10000, 12 345.";
        assert_eq!(plain(&grouped(text)), expected);
    }

    #[test]
    fn a_number_stays_on_the_line_of_its_unit() {
        let shown = bound("a pitch above 376 nm, 52 % of 3 layers (1.2 GiB); 2 h 04 min. 5 more, 7 meters");
        let expected = "a pitch above 376_nm, 52_% of 3 layers (1.2_GiB); 2_h 04_min. 5 more, 7 meters";
        assert_eq!(shown.replace(NO_BREAK, "_"), expected);
        assert_eq!(bound("nothing "), "nothing ");
    }
}
