//! The time of day, as the user's clock shows it.

use std::time::SystemTime;

use chrono::{DateTime, Local};

/// A moment of the log: `14:05:09`.
#[must_use]
pub fn time(at: SystemTime) -> String {
    DateTime::<Local>::from(at).format("%H:%M:%S").to_string()
}

/// A moment for files: `2026-01-31T14:05:09+01:00`.
#[must_use]
pub fn stamp(at: SystemTime) -> String {
    DateTime::<Local>::from(at).to_rfc3339_opts(chrono::SecondsFormat::Secs, false)
}

/// A moment seen from `now`: `14:05`, or with its day where that is another one.
#[must_use]
pub fn moment(at: SystemTime, now: SystemTime) -> String {
    let [at, now] = [at, now].map(DateTime::<Local>::from);
    let format = if at.date_naive() == now.date_naive() { "%H:%M" } else { "%Y-%m-%d %H:%M" };
    at.format(format).to_string()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn another_day_is_named() {
        let now = SystemTime::now();
        assert_eq!(moment(now, now).len(), "14:05".len());
        let before = moment(now - Duration::from_hours(49), now);
        assert_eq!(before.len(), "2026-01-31 14:05".len());
        assert!(before.starts_with("20"), "{before}");
        assert_eq!(time(now)[..5], moment(now, now));
    }
}
