//! The method `padded` against the doubled plane, and against planes padded four times.

mod common;

use common::{Plane, element_error, noise, propagate_file, write_plane};
use gigafringe::engine::Plan;
use gigafringe::methods::Optics;
use gigafringe::optics::{Evanescent, Length};
use gigafringe::project::{Method, Precision};
use gigafringe::run::{Kept, Propagation, Settings};
use num_complex::Complex64;

struct Setting {
    pitch: [f64; 2],
    wavelength: f64,
    distance: f64,
    tolerance: f64,
    rolloff: f64,
}

impl Setting {
    fn optics(&self) -> Optics {
        Optics {
            wavelength: self.wavelength,
            evanescent: Evanescent::Decay,
            band_limit: false,
            rolloff: self.rolloff,
        }
    }

    fn settings(&self, folder: &std::path::Path, method: Method, precision: Precision) -> Settings {
        Settings {
            method,
            tolerance: Some(self.tolerance),
            ..common::settings(common::drives(folder, 2), precision)
        }
    }

    fn plan(&self, folder: &std::path::Path, source: &std::path::Path) -> Plan {
        let propagation = Propagation {
            encoding: None,
            full_scale: 1.0,
            source: source.into(),
            target: folder.join("planned.npy"),
            result: Kept::Plane,
            pitch: self.pitch.map(Length::metres),
            optics: self.optics(),
            distance: Length::metres(self.distance),
            name: String::new(),
        };
        propagation.plan(&self.settings(folder, Method::Padded, Precision::F64)).unwrap()
    }
}

#[test]
fn a_padding_by_the_reach_stays_within_its_stated_error() {
    let settings = [
        // Shallow and steep, near and far, a wide and a narrow roll-off, unequal pitches.
        Setting { pitch: [5e-6; 2], wavelength: 660e-9, distance: 3e-3, tolerance: 1e-4, rolloff: 0.05 },
        Setting { pitch: [0.5e-6; 2], wavelength: 660e-9, distance: -3e-5, tolerance: 1e-3, rolloff: 0.05 },
        Setting { pitch: [2e-6, 3e-6], wavelength: 532e-9, distance: 1e-3, tolerance: 1e-4, rolloff: 0.1 },
        Setting { pitch: [5e-6; 2], wavelength: 660e-9, distance: -1e-3, tolerance: 1e-2, rolloff: 0.0 },
    ];
    let (height, width) = (420, 461);
    let source = noise(height, width);
    for setting in settings {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("source.npy");
        write_plane(&path, &source);
        let plan = setting.plan(folder.path(), &path);
        let go = |path: &_, method| {
            let settings = setting.settings(folder.path(), method, Precision::F64);
            propagate_file(folder.path(), path, setting.pitch, setting.optics(), setting.distance, &settings)
        };
        let got = go(&path, Method::Padded);
        // The plane in the middle of one twice as large, itself doubled: four times the padding.
        let large = Plane::from_fn(2 * height, 2 * width, |y, x| {
            if y < height && x < width { source.at(y, x) } else { Complex64::default() }
        });
        let large_path = folder.path().join("large.npy");
        write_plane(&large_path, &large);
        let exact = go(&large_path, Method::Implicit);
        let exact = Plane::from_fn(height, width, |y, x| exact.at(y, x));
        let error = element_error(&got, &exact);
        println!("tolerance {:.0e}: bound {:.2e}, error {error:.2e}", setting.tolerance, plan.error_bound);
        assert!(error <= 1.5 * plan.error_bound, "{error:e} for {:e}", plan.error_bound);
        assert!(plan.error_bound <= setting.tolerance + 1e-9);
        // And it is not exact by being the doubled plane.
        let doubled = 10.0 * source.samples.len() as f64 * 16.0;
        assert!((plan.bytes_moved() as f64) < 0.95 * doubled, "{}", plan.bytes_moved() as f64 / doubled);
    }
}

#[test]
fn the_same_bytes_however_it_is_cut_and_in_memory() {
    let setting =
        Setting { pitch: [4e-6; 2], wavelength: 532e-9, distance: 1e-3, tolerance: 1e-3, rolloff: 0.1 };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("source.npy");
    write_plane(&path, &noise(203, 190));
    let go = |chunk, buffers, threads| {
        let mut settings = setting.settings(folder.path(), Method::Padded, Precision::F32);
        settings.chunk = chunk;
        settings.buffers = buffers;
        settings.threads = threads;
        propagate_file(folder.path(), &path, setting.pitch, setting.optics(), setting.distance, &settings)
    };
    let reference = go(None, 2, 1);
    for (chunk, buffers, threads) in [(1, 1, 2), (7, 3, 2), (64, 2, 3), (500, 1, 1)] {
        assert!(go(Some(chunk), buffers, threads) == reference, "{chunk} {buffers} {threads}");
    }
    let settings = setting.settings(folder.path(), Method::InCore, Precision::F32);
    let in_core =
        propagate_file(folder.path(), &path, setting.pitch, setting.optics(), setting.distance, &settings);
    assert!(in_core == reference, "in memory");
}
