//! Known answers of optics: λ 532 nm, p 4 µm, 1024², linear convolution.
//!
//! Each tolerance is about three times the error of the sampled problem itself (aperture edges,
//! the window's end), found once in double precision; a wrong sign, offset or scale is far beyond.

mod common;

use std::f64::consts::{PI, TAU};

use common::{Case, Plane, element_error, propagate_file, propagate_plane, read_plane, write_plane};
use gigafringe::methods::Optics;
use gigafringe::optics::{Bytes, Evanescent};
use gigafringe::project::Method;
use gigafringe::project::Precision::{F32, F64};
use gigafringe::run::Settings;
use num_complex::Complex64;

const WAVELENGTH: f64 = 532e-9;
const PITCH: f64 = 4e-6;
const N: usize = 1024;
const K: f64 = TAU / WAVELENGTH;
const OPTICS: Optics =
    Optics { wavelength: WAVELENGTH, evanescent: Evanescent::Decay, band_limit: false, rolloff: 0.0 };

/// Coordinate of sample `i`: sample floor(n/2) is zero.
fn at(i: usize) -> f64 {
    (i as f64 - (N / 2) as f64) * PITCH
}

fn plane(sample: impl Fn(f64, f64) -> Complex64) -> Plane {
    Plane::from_fn(N, N, |y, x| sample(at(y), at(x)))
}

fn propagated(plane: &Plane, distance: f64) -> Plane {
    propagate_plane(plane, [PITCH; 2], OPTICS, distance, F64)
}

fn gaussian_beam(z: f64) -> Plane {
    let w0 = 200e-6;
    let rayleigh = PI * w0 * w0 / WAVELENGTH;
    let w = w0 * (1.0 + (z / rayleigh).powi(2)).sqrt();
    // 1/R, which is zero at the waist.
    let curvature = z / (z * z + rayleigh * rayleigh);
    plane(|y, x| {
        let r2 = x * x + y * y;
        let phase = K * z + K * r2 * curvature / 2.0 - (z / rayleigh).atan();
        Complex64::from_polar(w0 / w * (-r2 / (w * w)).exp(), phase)
    })
}

#[test]
fn a_gaussian_beam_spreads_as_it_should() {
    for (z, tolerance) in [(20e-3, 6e-8), (100e-3, 3e-7), (-20e-3, 6e-8)] {
        let error = element_error(&propagated(&gaussian_beam(0.0), z), &gaussian_beam(z));
        println!("{z}: {error:e}");
        assert!(error < tolerance, "z = {z}: {error:e}");
    }
}

#[test]
fn single_precision_follows_the_same_beam() {
    let got = propagate_plane(&gaussian_beam(0.0), [PITCH; 2], OPTICS, 100e-3, F32);
    let error = element_error(&got, &gaussian_beam(100e-3));
    assert!(error < 2e-6, "{error:e}");
}

/// The beam through every method, with the roll-off that a reduced padding needs: its light is far from the
/// band's end.
#[test]
fn every_method_follows_the_same_beam() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source.npy");
    write_plane(&source, &gaussian_beam(0.0));
    let optics = Optics { rolloff: 0.02, ..OPTICS };
    for (method, streams, memory) in [
        (Method::Implicit, None, 256),
        (Method::Padded, Some(2), 256),
        (Method::Padded, Some(4), 256),
        (Method::InCore, None, 256),
        (Method::Streamed, Some(4), 256),
        (Method::Blocks, None, 256),
        (Method::Blocks, None, 48),
    ] {
        for (precision, tolerance) in [(F64, 6e-8), (F32, 2e-6)] {
            let settings = Settings {
                method,
                streams,
                memory: Bytes(memory << 20),
                // What is cut off at the edges, where there is no light.
                tolerance: Some(1e-4),
                ..common::settings(common::drives(folder.path(), 2), precision)
            };
            let got = propagate_file(folder.path(), &source, [PITCH; 2], optics, 20e-3, &settings);
            let error = element_error(&got, &gaussian_beam(20e-3));
            println!("{method} {streams:?} {memory} {precision:?}: {error:e}");
            assert!(error < tolerance, "{method} {streams:?} {precision:?}: {error:e}");
        }
    }
}

/// A disc of radius `a`, its rim sampled 8 × 8 times as finely.
fn disc(a: f64) -> Plane {
    let fine = 8;
    plane(|y, x| {
        let near = (x.hypot(y) - a).abs() < 2.0 * PITCH;
        if !near {
            return Complex64::from(f64::from(u8::from(x.hypot(y) < a)));
        }
        let offset = |i: usize| ((i as f64 + 0.5) / fine as f64 - 0.5) * PITCH;
        let inside = (0..fine * fine).filter(|i| (x + offset(i % fine)).hypot(y + offset(i / fine)) < a);
        Complex64::from(inside.count() as f64 / (fine * fine) as f64)
    })
}

/// The share of the sample at `coordinate` that lies within `half_width` of zero.
fn cover(coordinate: f64, half_width: f64) -> f64 {
    let (low, high) = (coordinate - PITCH / 2.0, coordinate + PITCH / 2.0);
    ((high.min(half_width) - low.max(-half_width)) / PITCH).clamp(0.0, 1.0)
}

#[test]
fn light_on_the_axis_behind_a_circular_aperture_is_rayleigh_sommerfelds() {
    let a = 0.5e-3;
    let aperture = disc(a);
    for (z, tolerance) in [(50e-3, 3e-2), (100e-3, 8e-3)] {
        let rho = f64::hypot(z, a);
        let exact = Complex64::from_polar(1.0, K * z) - Complex64::from_polar(z / rho, K * rho);
        let got = propagated(&aperture, z).at(N / 2, N / 2);
        let error = (got - exact).norm() / exact.norm();
        println!("{z}: {error:e}");
        assert!(error < tolerance, "z = {z}: {error:e}");
    }
}

/// Fresnel integrals C and S by Simpson's rule on ∫exp(iπt²/2).
fn fresnel(v: f64) -> Complex64 {
    let steps = 20_000;
    let h = v / f64::from(steps);
    let f = |t: f64| Complex64::from_polar(1.0, PI * t * t / 2.0);
    let inner: Complex64 = (1..steps).map(|i| f(f64::from(i) * h) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
    (f(0.0) + inner + f(v)) * h / 3.0
}

#[test]
fn a_square_aperture_gives_fresnels_pattern() {
    let half = 0.5e-3;
    let aperture = plane(|y, x| Complex64::from(cover(x, half) * cover(y, half)));
    for (z, tolerance) in [(20e-3, 4.2e-2), (50e-3, 1e-2), (100e-3, 4e-3)] {
        let scale = (2.0 / (WAVELENGTH * z)).sqrt();
        // Of one axis at coordinate c: (F((half − c)·s) + F((half + c)·s))/sqrt(2i), squared.
        let axis: Vec<f64> = (0..N)
            .map(|i| {
                let c = at(i);
                let f = fresnel((half - c) * scale) + fresnel((half + c) * scale);
                f.norm_sqr() / 2.0
            })
            .collect();
        let got = propagated(&aperture, z);
        let (mut difference, mut norm) = (0.0, 0.0);
        for y in 0..N {
            for x in 0..N {
                let exact = axis[y] * axis[x];
                difference += (got.at(y, x).norm_sqr() - exact).powi(2);
                norm += exact * exact;
            }
        }
        let error = (difference / norm).sqrt();
        println!("{z}: {error:e}");
        assert!(error < tolerance, "z = {z}: {error:e}");
    }
}

#[test]
fn a_thin_lens_focuses_to_the_airy_pattern() {
    let (a, f) = (0.5e-3, 100e-3);
    let pupil = disc(a);
    let lens = Plane::from_fn(N, N, |y, x| {
        let r2 = at(y) * at(y) + at(x) * at(x);
        pupil.at(y, x) * Complex64::from_polar(1.0, -K * r2 / (2.0 * f))
    });
    let got = propagated(&lens, f);
    let peak = got.at(N / 2, N / 2).norm_sqr();
    let expected = (PI * a * a / (WAVELENGTH * f)).powi(2);
    println!("peak {:e}", peak / expected - 1.0);
    assert!((peak / expected - 1.0).abs() < 1.8e-5, "peak {peak} for {expected}");
    // The first dark ring at 1.2197·λf/2a: the least intensity along +x is at the nearest sample.
    let zero = 1.2197 * WAVELENGTH * f / (2.0 * a) / PITCH;
    let intensity = |i: usize| got.at(N / 2, N / 2 + i).norm_sqr();
    let darkest = (8..28).min_by(|&i, &j| intensity(i).total_cmp(&intensity(j))).unwrap();
    assert!((darkest as f64 - zero).abs() <= 0.6, "{darkest} for {zero}");
}

#[test]
fn reversal_semigroup_and_identity_hold_on_the_band() {
    // A beam that stays within the window, off centre, so that nothing is cropped.
    let beam = plane(|y, x| {
        let (y, x) = (y - 100e-6, x + 150e-6);
        Complex64::from_polar((-(x * x + y * y) / (150e-6 * 150e-6)).exp(), 3e4 * x)
    });
    let there = propagated(&beam, 30e-3);
    assert!(element_error(&there, &beam) > 0.1, "it did move");
    assert!(element_error(&propagated(&there, -30e-3), &beam) < 1e-7);
    assert!(element_error(&propagated(&propagated(&beam, 10e-3), 20e-3), &there) < 1e-7);
    assert!(element_error(&propagated(&beam, 0.0), &beam) < 1e-14);
}

#[test]
fn it_is_linear_and_follows_shifts_and_transposition() {
    let (h, w) = (45, 58);
    let a = read_plane(&Case::all()[0].source());
    let grid = |f: &dyn Fn(usize, usize) -> Complex64| Plane::from_fn(h, w, f);
    let inside = |y: usize, x: usize| y < 30 && x < 30;
    let noise = |y: usize, x: usize| if inside(y, x) { a.at(y, x) } else { Complex64::default() };
    let one = grid(&noise);
    let two = grid(&|y, x| Complex64::new((y * x) as f64 / 500.0, x as f64 / 9.0));
    let mixed = grid(&|y, x| one.at(y, x) * 2.0 - two.at(y, x) * Complex64::i());
    let go = |plane: &Plane| propagate_plane(plane, [3e-6, 5e-6], OPTICS, 0.4e-3, F64);
    let (out_one, out_two) = (go(&one), go(&two));
    let expected = grid(&|y, x| out_one.at(y, x) * 2.0 - out_two.at(y, x) * Complex64::i());
    assert!(element_error(&go(&mixed), &expected) < 1e-13);

    let (down, right) = (11, 17);
    let shifted =
        go(&grid(&|y, x| if y >= down && x >= right { noise(y - down, x - right) } else { 0.0.into() }));
    let inner =
        |p: &Plane, dy: usize, dx: usize| Plane::from_fn(h - down, w - right, |y, x| p.at(y + dy, x + dx));
    assert!(element_error(&inner(&shifted, down, right), &inner(&out_one, 0, 0)) < 1e-13);

    let transposed = Plane::from_fn(w, h, |y, x| one.at(x, y));
    let out = propagate_plane(&transposed, [5e-6, 3e-6], OPTICS, 0.4e-3, F64);
    assert!(element_error(&out, &Plane::from_fn(w, h, |y, x| out_one.at(x, y))) < 1e-13);
}

/// The paper's own formulation: transforms whose zero frequency is in the middle, twiddles before
/// and after each, even and odd streams.
#[test]
fn the_literal_centred_formulation_gives_the_same_plane() {
    for (height, width, pitch, z) in [(12, 16, [5e-6, 4e-6], 2e-3), (10, 14, [2e-6, 3e-6], -1e-3)] {
        let source = Plane::from_fn(height, width, |y, x| {
            Complex64::new(((y * 7 + x * 3) % 11) as f64 - 5.0, ((y * 5 + x * 2) % 13) as f64 - 6.0)
        });
        // Along x, then along y, as explicit sums: index −n..n of the padded plane, x = 0 in the middle.
        let frequency = |k: usize, n: usize, pitch: f64| (k as f64 - n as f64) / (2.0 * n as f64 * pitch);
        let centred = |k: usize, j: usize, n: usize| {
            let (k, j) = (k as f64 - n as f64, j as f64 - (n / 2) as f64);
            Complex64::from_polar(1.0, -TAU * k * j / (2.0 * n as f64))
        };
        let mut spectrum = vec![Complex64::default(); 4 * height * width];
        for (i, value) in spectrum.iter_mut().enumerate() {
            let (ky, kx) = (i / (2 * width), i % (2 * width));
            for y in 0..height {
                for x in 0..width {
                    *value += source.at(y, x) * centred(ky, y, height) * centred(kx, x, width);
                }
            }
            let (fy, fx) = (frequency(ky, height, pitch[0]), frequency(kx, width, pitch[1]));
            let q = 1.0 / (WAVELENGTH * WAVELENGTH) - fx * fx - fy * fy;
            *value *= Complex64::from_polar(1.0, TAU * z * q.sqrt());
        }
        let expected = Plane::from_fn(height, width, |y, x| {
            let terms = spectrum.iter().enumerate().map(|(i, value)| {
                let (ky, kx) = (i / (2 * width), i % (2 * width));
                value * (centred(ky, y, height) * centred(kx, x, width)).conj()
            });
            terms.sum::<Complex64>() / (4 * height * width) as f64
        });
        let got = propagate_plane(&source, pitch, OPTICS, z, F64);
        let error = element_error(&got, &expected);
        // Two ways to round a phase of some ten thousand radians differ by about 1e-12.
        assert!(error < 1e-11, "{error:e}");
    }
}
