//! The energy checks: what a pass writes is, by Parseval's theorem or as it is, what the next one reads.

use super::EngineError;
use crate::project::Precision;
use crate::storage::ScratchPrecision;

/// The sums Σ|u|² of a job, as its passes report them.
pub struct Energies {
    precision: Precision,
    scratch: ScratchPrecision,
    /// Whether sums are compared.
    checking: bool,
    /// Of the first step's planes.
    first: Option<f64>,
    /// Of the planes whose spectra have not been checked yet.
    source: f64,
    /// Their samples.
    samples: f64,
    /// Of their spectra, as far as they were read.
    spectrum: f64,
    /// Of what phase 2 wrote and phase 3 has not read yet.
    between: f64,
    /// Of the latest result.
    result: f64,
}

impl Energies {
    /// None yet; of a job with this arithmetic and scratch. They are compared only if `checking`.
    pub const fn new(precision: Precision, scratch: ScratchPrecision, checking: bool) -> Self {
        Self {
            precision,
            scratch,
            checking,
            first: None,
            source: 0.0,
            samples: 0.0,
            spectrum: 0.0,
            between: 0.0,
            result: 0.0,
        }
    }

    /// Of the first step's planes, and of the latest result.
    pub fn ends(&self) -> [f64; 2] {
        [self.first.unwrap_or(0.0), self.result]
    }

    /// A plane of `samples` samples, which comes from `source_name`, has the energy `source`.
    pub fn add_source(
        &mut self,
        source: f64,
        samples: f64,
        source_name: impl FnOnce() -> String,
    ) -> Result<(), EngineError> {
        if self.checking && !source.is_finite() {
            return Err(EngineError::NotFinite { source_name: source_name() });
        }
        self.source += source;
        self.samples += samples;
        Ok(())
    }

    /// Phase 2 read spectra of the energy `spectrum`, and wrote `written`.
    pub fn add_spectrum(&mut self, spectrum: f64, written: f64) {
        self.spectrum += spectrum;
        self.between += written;
    }

    /// All of the spectra were read: they must have their planes' energy.
    pub fn check_spectrum(&mut self, pass: &str) -> Result<(), EngineError> {
        let [source, samples, spectrum] =
            [&mut self.source, &mut self.samples, &mut self.spectrum].map(std::mem::take);
        self.first.get_or_insert(source);
        // The rounding of transforms and scratch is ten times smaller than the tolerance. Below the faintest
        // root mean square the numbers themselves lose their digits.
        let (tolerance, faintest) = match (self.precision, self.scratch) {
            (_, ScratchPrecision::B16) => (1e-3, 1e-30),
            (Precision::F64, ScratchPrecision::F64) => (1e-11, 1e-150f64),
            _ => (1e-4, 1e-30),
        };
        if !self.checking {
            return Ok(());
        }
        if !spectrum.is_finite() {
            return Err(EngineError::TooLarge { pass: pass.into() });
        }
        if source < samples * faintest * faintest {
            return Ok(());
        }
        same(source, spectrum, tolerance, pass)
    }

    /// A plane of the energy `source` became one of the energy `result`, all in memory.
    pub fn add_result(&mut self, source: f64, result: f64, pass: &str) -> Result<(), EngineError> {
        (self.source, self.samples) = (0.0, 0.0);
        self.first.get_or_insert(source);
        self.set_result(result, pass)
    }

    fn set_result(&mut self, result: f64, pass: &str) -> Result<(), EngineError> {
        if self.checking && !result.is_finite() {
            return Err(EngineError::TooLarge { pass: pass.into() });
        }
        self.result = result;
        Ok(())
    }

    /// Phase 3 read `read`, and its result has the energy `result`.
    pub fn end(&mut self, read: f64, result: f64, pass: &str) -> Result<(), EngineError> {
        // The same samples added in another order, and rounded where scratch keeps fewer digits.
        let tolerance = match self.scratch {
            ScratchPrecision::B16 => 1e-3,
            ScratchPrecision::F32 if self.precision == Precision::F64 => 1e-6,
            _ => 1e-10,
        };
        let between = std::mem::take(&mut self.between);
        // Faint samples that scratch keeps as nothing.
        let lost = if self.scratch == ScratchPrecision::B16 { 1e-60 } else { 0.0 };
        if self.checking && (between > lost || !read.is_finite()) {
            same(between, read, tolerance, pass)?;
        }
        self.set_result(result, pass)
    }
}

fn same(expected: f64, found: f64, tolerance: f64, pass: &str) -> Result<(), EngineError> {
    // Written so that a NaN fails.
    if (found - expected).abs() <= tolerance * expected {
        return Ok(());
    }
    Err(EngineError::Energy { pass: pass.into(), expected, found })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn energies(source: f64, between: f64) -> Energies {
        Energies {
            source,
            between,
            samples: 100.0,
            ..Energies::new(Precision::F32, ScratchPrecision::F32, true)
        }
    }

    fn spectrum(mut energies: Energies, found: &[f64]) -> Result<(), EngineError> {
        for &part in found {
            energies.add_spectrum(part, 0.0);
        }
        energies.check_spectrum("phase 2")
    }

    #[test]
    fn data_that_changed_on_its_way_ends_the_job() {
        let exact = 50.0 * (1.0 + 1e-6);
        assert!(spectrum(energies(50.0, 40.0), &[exact]).is_ok());
        assert!(spectrum(energies(50.0, 40.0), &[20.0, exact - 20.0]).is_ok());
        for found in [50.1, 49.9, 0.0] {
            let error = spectrum(energies(50.0, 40.0), &[found]).unwrap_err();
            assert!(matches!(error, EngineError::Energy { .. }), "{found}");
        }
        let mut double = energies(50.0, 40.0);
        (double.precision, double.scratch) = (Precision::F64, ScratchPrecision::F64);
        assert!(spectrum(double, &[exact]).is_err(), "double precision is closer");
        let not_finite = spectrum(energies(50.0, 40.0), &[f64::NAN]);
        assert!(matches!(not_finite, Err(EngineError::TooLarge { .. })));
        assert!(energies(50.0, 40.0).end(40.0, 39.0, "").is_ok());
        assert!(energies(50.0, 40.0).end(40.001, 39.0, "").is_err());
        assert!(energies(50.0, 40.0).end(f64::NAN, 39.0, "").is_err());
        let infinite = energies(50.0, 40.0).end(40.0, f64::INFINITY, "");
        assert!(matches!(infinite, Err(EngineError::TooLarge { .. })));
    }

    #[test]
    fn every_phase_is_checked_against_its_own_sums() {
        let mut energies = energies(50.0, 40.0);
        energies.add_spectrum(50.0, 2.0);
        energies.check_spectrum("").unwrap();
        energies.end(42.0, 41.0, "").unwrap();
        energies.add_source(7.0, 100.0, String::new).unwrap();
        energies.add_spectrum(7.0, 6.0);
        energies.check_spectrum("").unwrap();
        energies.end(6.0, 5.0, "").unwrap();
        assert!((energies.ends()[0] - 50.0).abs() < 1e-12 && (energies.ends()[1] - 5.0).abs() < 1e-12);
        assert!(energies.add_source(f64::NAN, 1.0, || "a.npy".into()).is_err());
    }

    #[test]
    fn dark_and_very_faint_planes_are_no_alarm() {
        assert!(spectrum(energies(0.0, 0.0), &[0.0]).is_ok());
        assert!(spectrum(energies(1e-80, 0.0), &[3e-80]).is_ok());
        assert!(energies(0.0, 0.0).end(0.0, 0.0, "").is_ok());
    }
}
