//! How the inspector writes numbers.

/// A number with four digits: `0.1234`, `12.34`, `1.234e-5`.
pub fn value(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if !(1e-3..1e5).contains(&size) {
        format!("{value:.3e}")
    } else {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 6")]
        let decimals = (3.0 - size.log10().floor()).clamp(0.0, 6.0) as usize;
        format!("{value:.decimals$}")
    }
}

/// A position in millimetres, with a true minus.
pub fn millimetres(metres: f64) -> String {
    signed(&format!("{:.4}", 1e3 * metres))
}

/// A number with a true minus, and none before zero.
pub fn signed(text: &str) -> String {
    let zero = text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.');
    if zero { text.trim_start_matches('-').into() } else { text.replace('-', "−") }
}

/// A ratio in decibel.
pub fn decibel(value: f64) -> String {
    if value.is_finite() { format!("{value:.2} dB") } else { "no difference".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        for (number, text) in [
            (0.0, "0"),
            (0.123_456, "0.1235"),
            (12.3456, "12.35"),
            (1.0, "1.000"),
            (-0.05, "-0.05000"),
            (43210.0, "43210"),
            (1.2345e-5, "1.234e-5"),
            (1e7, "1.000e7"),
        ] {
            assert_eq!(value(number), text);
        }
        assert_eq!((millimetres(-1.23456e-3), millimetres(-1e-12)), ("−1.2346".into(), "0.0000".into()));
        assert_eq!((signed("-0.0"), signed("-0.5"), signed("3")), ("0.0".into(), "−0.5".into(), "3".into()));
        assert_eq!((decibel(20.0), decibel(f64::INFINITY)), ("20.00 dB".into(), "no difference".into()));
    }
}
