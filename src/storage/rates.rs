//! How fast an emulated drive is, and how that is written.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Serialize, Serializer};

/// Whether a drive reads and writes at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplex {
    /// One transfer at a time, in either direction (SATA).
    Half,
    /// Reading does not slow writing down (`NVMe`).
    Full,
}

impl fmt::Display for Duplex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Half => "half duplex",
            Self::Full => "full duplex",
        })
    }
}

/// The rates of an emulated drive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rates {
    /// Bytes a second it reads.
    pub read: f64,
    /// Bytes a second it writes.
    pub write: f64,
    /// What a request takes before its first byte.
    #[serde(rename = "latency_seconds", serialize_with = "seconds")]
    pub latency: Duration,
    /// Whether it does both at once.
    pub duplex: Duplex,
}

fn seconds<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(duration.as_secs_f64())
}

/// Text that is not the rates of a drive.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no drive to emulate; give sata, nvme, or READ:WRITE in MB/s with :half or :full after it, \
     for example 500:450:half"
)]
pub struct RatesError(String);

impl Rates {
    /// A SATA SSD beside two processors: a tenth of the real one's rate, as two processors have about
    /// a tenth of the arithmetic of the 24 that Lee & Kim (2023) had beside theirs.
    pub const SATA: Self =
        Self { read: 50e6, write: 50e6, latency: Duration::from_micros(100), duplex: Duplex::Half };
    /// An `NVMe` SSD beside two processors, likewise.
    pub const NVME: Self =
        Self { read: 500e6, write: 500e6, latency: Duration::from_micros(20), duplex: Duplex::Full };

    /// The slowest and the fastest rate that can be told from standing still and from no limit at all.
    const RANGE: std::ops::RangeInclusive<f64> = 1e5..=1e12;

    /// The rates of `count` such drives that work as one.
    #[must_use]
    pub fn times(&self, count: usize) -> Self {
        Self { read: self.read * count as f64, write: self.write * count as f64, ..*self }
    }

    /// Bytes a second of each direction while both are busy, `[read, write]`: on a half-duplex drive they
    /// take turns with requests of one size.
    #[must_use]
    pub fn both(&self) -> [f64; 2] {
        match self.duplex {
            Duplex::Full => [self.read, self.write],
            Duplex::Half => [self.read * self.write / (self.read + self.write); 2],
        }
    }
}

impl FromStr for Rates {
    type Err = RatesError;

    /// `sata`, `nvme`, or `READ:WRITE` in MB/s, followed by `:half` (as if not given) or `:full`.
    fn from_str(text: &str) -> Result<Self, RatesError> {
        let error = || RatesError(text.into());
        let rate = |text: &str| {
            let rate = text.trim().parse::<f64>().ok().map(|megabytes| megabytes * 1e6);
            rate.filter(|rate| Self::RANGE.contains(rate)).ok_or_else(error)
        };
        let lower = text.trim().to_ascii_lowercase();
        match lower.split(':').collect::<Vec<_>>()[..] {
            ["sata"] => Ok(Self::SATA),
            ["nvme"] => Ok(Self::NVME),
            [read, write, ref duplex @ ..] => {
                let duplex = match duplex {
                    [] | ["half"] => Duplex::Half,
                    ["full"] => Duplex::Full,
                    _ => return Err(error()),
                };
                Ok(Self { read: rate(read)?, write: rate(write)?, latency: Duration::ZERO, duplex })
            }
            _ => Err(error()),
        }
    }
}

impl fmt::Display for Rates {
    /// For example `50 MB/s`, or `500 MB/s read, 450 MB/s write`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [read, write] = [self.read, self.write].map(|rate| (rate / 1e4).round() / 100.0);
        if read.to_bits() == write.to_bits() {
            write!(f, "{read} MB/s")
        } else {
            write!(f, "{read} MB/s read, {write} MB/s write")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_read_as_they_are_written() {
        let rates = |text: &str| text.parse::<Rates>();
        assert_eq!(rates("sata"), Ok(Rates::SATA));
        assert_eq!(rates("NVMe"), Ok(Rates::NVME));
        let custom = rates("500:450.5:full").unwrap();
        assert_eq!((custom.read, custom.write, custom.duplex), (500e6, 450.5e6, Duplex::Full));
        assert_eq!(rates("500:450:half"), rates("500:450"));
        assert_eq!(custom.to_string(), "500 MB/s read, 450.5 MB/s write");
        assert_eq!(Rates::SATA.to_string(), "50 MB/s");
        let wrong =
            ["", "hdd", "500", "0:50", "-5:5", "nan:5", "5:inf", "5:5:both", "5:5:half:full", "0.01:5", ":"];
        for wrong in wrong {
            assert!(rates(wrong).unwrap_err().to_string().contains("give sata"), "{wrong}");
        }
    }

    #[test]
    fn a_half_duplex_drive_shares_its_time_between_both_directions() {
        let both = |rates: Rates| rates.both().map(|rate| rate.to_string());
        assert_eq!(both(Rates::SATA), ["25000000"; 2]);
        assert_eq!(both(Rates::NVME), ["500000000"; 2]);
        let uneven = Rates { read: 300e6, write: 100e6, ..Rates::SATA };
        assert_eq!(both(uneven), ["75000000"; 2]);
    }
}
