use std::f64::consts::TAU;

use super::image::amplitude;
use super::*;
use crate::optics::Length;

fn grid(width: usize, height: usize, pitch_x: f64, pitch_y: f64) -> Grid {
    Grid { width, height, pitch_x: Length::metres(pitch_x), pitch_y: Length::metres(pitch_y) }
}

/// An image of scattered codes from 1 up, the same every time.
fn textured(width: usize, height: usize, wide: bool) -> Image {
    let code = |i: usize, max: usize| (i * 7919 + i * i * 31) % max + 1;
    let n = width * height;
    let samples = if wide {
        Samples::U16((0..n).map(|i| u16::try_from(code(i, 65535)).unwrap()).collect())
    } else {
        Samples::U8((0..n).map(|i| u8::try_from(code(i, 255)).unwrap()).collect())
    };
    Image { width, height, samples }
}

fn value(image: &Image, y: usize, x: usize) -> f64 {
    match &image.samples {
        Samples::U8(v) => f64::from(v[y * image.width + x]) / 255.0,
        Samples::U16(v) => f64::from(v[y * image.width + x]) / 65535.0,
    }
}

fn line<T: Real>(layer: &LayerSource, y: usize, zero: T) -> Vec<Complex<T>> {
    let mut line = vec![Complex::new(zero, zero); layer.x.samples];
    layer.add_line(y, 0, &mut line);
    line
}

/// Real parts of the whole plane, for layers of uniform phase.
fn plane(layer: &LayerSource) -> Vec<Vec<f64>> {
    (0..layer.y.samples).map(|y| line(layer, y, 0.0).iter().map(|v: &Complex<f64>| v.re).collect()).collect()
}

/// A sample by the definition: in metres, pixel by pixel, with the library's functions.
fn naive_amplitude(image: &Image, values: Values, grid: &Grid, y: usize, x: usize) -> f64 {
    let (px, py) = (grid.pitch_x.in_metres(), grid.pitch_y.in_metres());
    let (w, h) = (image.width as f64, image.height as f64);
    let pixel = (grid.width as f64 * px / w).min(grid.height as f64 * py / h);
    let from_middle = [
        (x as f64 - (grid.width as f64 - 1.0) / 2.0) * px / pixel,
        (y as f64 - (grid.height as f64 - 1.0) / 2.0) * py / pixel,
    ];
    if from_middle[0].abs() > w / 2.0 + 1e-6 || from_middle[1].abs() > h / 2.0 + 1e-6 {
        return 0.0;
    }
    let u = (from_middle[0] + (w - 1.0) / 2.0).clamp(0.0, w - 1.0);
    let v = (from_middle[1] + (h - 1.0) / 2.0).clamp(0.0, h - 1.0);
    let mut sum = 0.0;
    for j in 0..image.height {
        for i in 0..image.width {
            // The tent of bilinear interpolation.
            let weight = (1.0 - (u - i as f64).abs()).max(0.0) * (1.0 - (v - j as f64).abs()).max(0.0);
            if weight > 0.0 {
                sum += weight * decoded(value(image, j, i), values);
            }
        }
    }
    sum
}

fn decoded(value: f64, values: Values) -> f64 {
    match values {
        Values::Amplitude => value,
        Values::Intensity => value.powf(0.5),
        Values::Srgb if value < 0.04 => (value / 12.92).powf(0.5),
        Values::Srgb => ((value + 0.055) / 1.055).powf(1.2),
    }
}

fn naive_phase(phase: Phase, grid: &Grid, seed: u64, index: u32, y: usize, x: usize) -> f64 {
    match phase {
        Phase::Uniform => 0.0,
        Phase::Random => {
            let bits = RowNoise::new(seed, index, u32::try_from(y).unwrap()).at(u32::try_from(x).unwrap());
            TAU * f64::from(bits >> 8) / f64::from(1 << 24)
        }
        Phase::Quadratic => {
            let one = |i: usize, n: usize, p: f64| {
                let at = (i as f64 - (n / 2) as f64) * p;
                at * at / (2.0 * n as f64 * p * p)
            };
            let x_part = one(x, grid.width, grid.pitch_x.in_metres());
            std::f64::consts::PI * (x_part + one(y, grid.height, grid.pitch_y.in_metres()))
        }
    }
}

fn assert_close<T: Real>(got: Complex<T>, want: Complex<f64>, tolerance: f64, what: &str) {
    let got = Complex::new(got.re.widened(), got.im.widened());
    assert!((got - want).norm() <= tolerance, "{what}: {got} is not {want}");
}

#[test]
fn samples_agree_with_the_definition_pixel_by_pixel() {
    // Odd, oblong and unequal on purpose; the last is wider than a block.
    let cases = [
        (3, 5, grid(17, 31, 1e-6, 1e-6)),
        (7, 4, grid(40, 21, 1e-6, 1e-6)),
        (5, 5, grid(24, 13, 0.5e-6, 1e-6)),
        (4, 3, grid(11, 64, 3e-6, 0.7e-6)),
        (1, 1, grid(6, 5, 1e-6, 2e-6)),
        (9, 2, grid(2500, 30, 1e-6, 20e-6)),
    ];
    for (w, h, grid) in cases {
        for values in [Values::Amplitude, Values::Intensity, Values::Srgb] {
            for phase in [Phase::Uniform, Phase::Random, Phase::Quadratic] {
                for wide in [false, true] {
                    let image = textured(w, h, wide);
                    let layer = LayerSource::new(image.clone(), values, phase, &grid, 11, 3);
                    for y in 0..grid.height {
                        let (single, double) = (line(&layer, y, 0.0_f32), line(&layer, y, 0.0_f64));
                        for x in 0..grid.width {
                            let want = Complex::from_polar(
                                naive_amplitude(&image, values, &grid, y, x),
                                naive_phase(phase, &grid, 11, 3, y, x),
                            );
                            let what = format!("{w} × {h} on {grid:?}, {values:?}, {phase:?}, ({y}, {x})");
                            // A few units in the last place of an amplitude or of a single.
                            assert_close(single[x], want, 5e-7, &what);
                            assert_close(double[x], want, 3e-7, &what);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn lines_are_added_to_what_is_there() {
    let grid = grid(9, 6, 1e-6, 1e-6);
    let layer = LayerSource::new(textured(3, 2, false), Values::Srgb, Phase::Random, &grid, 1, 0);
    let alone = line(&layer, 2, 0.0_f64);
    let mut added = vec![Complex::new(2.0, -3.0); 9];
    layer.add_line(2, 0, &mut added);
    for (a, b) in alone.iter().zip(&added) {
        assert_close(b - Complex::new(2.0, -3.0), *a, 1e-15, "sum");
    }
}

#[test]
fn double_phases_are_exact_to_double_precision() {
    let grid = grid(64, 3, 1e-6, 1e-6);
    let white = Image { width: 64, height: 3, samples: Samples::U8(vec![255; 192]) };
    for phase in [Phase::Random, Phase::Quadratic] {
        let layer = LayerSource::new(white.clone(), Values::Amplitude, phase, &grid, 8, 1);
        for y in 0..3 {
            for (x, v) in line(&layer, y, 0.0_f64).into_iter().enumerate() {
                let want = Complex::from_polar(1.0, naive_phase(phase, &grid, 8, 1, y, x));
                // The oracle's own phase, up to 16π, is rounded to 4e-15.
                assert_close(v, want, 1e-14, "phase");
            }
        }
    }
}

#[test]
fn an_image_of_the_planes_size_is_taken_bit_for_bit() {
    for (w, h) in [(8, 6), (7, 5), (1500, 2)] {
        let image = textured(w, h, true);
        // A pitch whose multiples round.
        let grid = grid(w, h, 0.1e-6, 0.1e-6);
        let layer = LayerSource::new(image.clone(), Values::Amplitude, Phase::Uniform, &grid, 0, 0);
        assert!(layer.scaling().contains("one pixel per sample"), "{}", layer.scaling());
        for y in 0..h {
            for (x, v) in line(&layer, y, 0.0_f32).into_iter().enumerate() {
                #[expect(clippy::cast_possible_truncation, reason = "rounding is meant")]
                let want = value(&image, y, x) as f32;
                assert_eq!(v.re.to_bits(), want.to_bits(), "({y}, {x})");
            }
        }
    }
}

/// A letter F, which no mirror image and no transposition leaves as it is.
const F: [&str; 5] = ["####", "#...", "###.", "#...", "#..."];

fn letter_f() -> Image {
    let pixels = F.iter().flat_map(|row| row.bytes().map(|c| if c == b'#' { 255 } else { 0 })).collect();
    Image { width: 4, height: 5, samples: Samples::U8(pixels) }
}

#[test]
fn a_letter_f_stays_a_letter_f() {
    // Enlarged three times on a plane with room at the left and at the right.
    let layer = LayerSource::new(letter_f(), Values::Srgb, Phase::Uniform, &grid(20, 15, 1e-6, 1e-6), 0, 0);
    let plane = plane(&layer);
    for (j, row) in F.iter().enumerate() {
        for (i, c) in row.bytes().enumerate() {
            let want = if c == b'#' { 1.0 } else { 0.0 };
            // The middle sample of three lies on the pixel's centre.
            assert!((plane[3 * j + 1][4 + 3 * i + 1] - want).abs() < 1e-6, "({j}, {i})");
        }
    }
    for row in &plane {
        assert!(row[..4].iter().chain(&row[16..]).all(|&v| v == 0.0), "{row:?}");
    }
}

#[test]
fn proportions_are_kept_in_metres() {
    // A square image on samples twice as high as wide: half as many rows as columns.
    let white = Image { width: 10, height: 10, samples: Samples::U8(vec![255; 100]) };
    let layer = LayerSource::new(white, Values::Amplitude, Phase::Uniform, &grid(40, 40, 1e-6, 2e-6), 0, 0);
    assert_eq!(layer.columns, 0..40);
    let filled: Vec<_> = (0..40).filter(|&y| !layer.line_is_zero(y)).collect();
    assert_eq!(filled, (10..30).collect::<Vec<_>>());
    assert_eq!(
        layer.scaling(),
        "10 × 10 image, enlarged × 4 (bilinear) along x and enlarged × 2 (bilinear) along y, centred"
    );
}

#[test]
fn pixel_centres_lie_half_a_pixel_inside() {
    // Two pixels on four samples: at −1/4, 1/4, 3/4 and 5/4 of a pixel.
    let image = Image { width: 2, height: 2, samples: Samples::U8(vec![0, 255, 0, 255]) };
    let layer = LayerSource::new(image, Values::Amplitude, Phase::Uniform, &grid(4, 4, 1e-6, 1e-6), 0, 0);
    for row in plane(&layer) {
        assert_eq!(row, [0.0, 0.25, 0.75, 1.0]);
    }
    assert_eq!(layer.columns, 1..4);
}

#[test]
fn a_symmetric_image_gives_a_symmetric_plane() {
    for (w, h, nx, ny) in [(3, 3, 10, 10), (4, 4, 9, 9), (5, 3, 16, 11), (40, 30, 9, 10), (31, 7, 12, 12)] {
        let image = textured(w, h, false);
        let Samples::U8(mut v) = image.samples else { unreachable!() };
        for i in 0..v.len() / 2 {
            let last = v.len() - 1;
            v[last - i] = v[i];
        }
        let image = Image { width: w, height: h, samples: Samples::U8(v) };
        let layer = LayerSource::new(image, Values::Srgb, Phase::Uniform, &grid(nx, ny, 1e-6, 1e-6), 0, 0);
        let plane = plane(&layer);
        for y in 0..ny {
            for x in 0..nx {
                let (a, b) = (plane[y][x], plane[ny - 1 - y][nx - 1 - x]);
                assert!((a - b).abs() < 2e-5, "{w} × {h} on {nx} × {ny}, ({y}, {x}): {a} {b}");
            }
        }
    }
}

#[test]
fn reducing_averages_amplitudes_over_the_pixels_of_a_sample() {
    for values in [Values::Amplitude, Values::Srgb] {
        for (fx, fy, wide) in [(4, 4, false), (3, 3, true)] {
            let image = textured(7 * fx, 5 * fy, wide);
            let layer =
                LayerSource::new(image.clone(), values, Phase::Uniform, &grid(7, 5, 1e-6, 1e-6), 0, 0);
            assert!(layer.scaling().contains("reduced × 0."), "{}", layer.scaling());
            let plane = plane(&layer);
            for (y, row) in plane.iter().enumerate() {
                for (x, &got) in row.iter().enumerate() {
                    let mut want = 0.0;
                    for j in 0..fy {
                        for i in 0..fx {
                            want += decoded(value(&image, y * fy + j, x * fx + i), values);
                        }
                    }
                    want /= (fx * fy) as f64;
                    // Half a step of 16 bits, and the amplitudes' own rounding.
                    assert!((got - want).abs() < 0.5 / 65535.0 + 1e-6, "({y}, {x}): {got} {want}");
                }
            }
        }
    }
}

#[test]
fn reducing_by_a_fraction_takes_each_pixel_by_its_share() {
    // Five pixels on two samples: the middle one belongs half to each.
    let image = Image { width: 5, height: 5, samples: Samples::U8([10, 20, 30, 40, 50].repeat(5)) };
    let layer = LayerSource::new(image, Values::Amplitude, Phase::Uniform, &grid(2, 2, 1e-6, 1e-6), 0, 0);
    for row in plane(&layer) {
        for (got, want) in row.iter().zip([(10.0 + 20.0 + 15.0) / 2.5, (15.0 + 40.0 + 50.0) / 2.5]) {
            assert!((got - want / 255.0).abs() < 1e-5, "{row:?}");
        }
    }
    // Reduced to a plane of 16 bits: a big image does not stay in memory.
    assert!(layer.bytes() < 300_000, "{}", layer.bytes());
}

#[test]
fn sixteen_bits_are_not_cut_to_eight() {
    let image = Image { width: 3, height: 1, samples: Samples::U16(vec![1, 257, 65534]) };
    let layer = LayerSource::new(image, Values::Amplitude, Phase::Uniform, &grid(3, 1, 1e-6, 1e-6), 0, 0);
    let got: Vec<_> = line(&layer, 0, 0.0_f64).iter().map(|v| (v.re * 65535.0 * 1000.0).round()).collect();
    assert_eq!(got, [1000.0, 257_000.0, 65_534_000.0]);
}

#[test]
fn values_are_decoded_as_declared() {
    // Mid grey 188 of sRGB is half the light of white (0.5029 by the standard's formula).
    let grey = |values| amplitude(188.0 / 255.0, values);
    assert!((grey(Values::Srgb).powi(2) - 0.502_886_458).abs() < 1e-8);
    assert!((grey(Values::Intensity).powi(2) - 188.0 / 255.0).abs() < 1e-12);
    assert!((grey(Values::Amplitude) - 188.0 / 255.0).abs() < 1e-12);
    for values in [Values::Amplitude, Values::Intensity, Values::Srgb] {
        for wide in [false, true] {
            let table = amplitude_table(&textured(1, 1, wide), values);
            assert_eq!((table[0], table[table.len() - 1]), (0.0, 1.0), "{values:?}");
            assert!(table.windows(2).all(|pair| pair[0] < pair[1]), "{values:?}");
        }
    }
}

#[test]
fn rows_and_columns_said_to_be_zero_are_the_ones_that_are() {
    for (w, h, nx, ny) in [(8, 8, 30, 30), (8, 8, 8, 8), (9, 7, 31, 40), (50, 40, 10, 9)] {
        let mut pixels = vec![0; w * h];
        for y in h / 4..h / 2 {
            pixels[y * w + w / 3..y * w + w / 2].fill(200);
        }
        let image = Image { width: w, height: h, samples: Samples::U8(pixels) };
        let layer = LayerSource::new(image, Values::Srgb, Phase::Uniform, &grid(nx, ny, 1e-6, 1e-6), 0, 0);
        let plane = plane(&layer);
        for (y, row) in plane.iter().enumerate() {
            assert_eq!(layer.line_is_zero(y), row.iter().all(|&v| v == 0.0), "{w} × {h}, row {y}");
        }
        let filled = |x: usize| plane.iter().any(|row| row[x] != 0.0);
        let first = (0..nx).find(|&x| filled(x)).unwrap();
        let end = (0..nx).rfind(|&x| filled(x)).unwrap() + 1;
        assert_eq!(layer.columns, first..end, "{w} × {h}");
    }
}

#[test]
fn a_black_image_is_zero_everywhere() {
    let black = Image { width: 3, height: 3, samples: Samples::U8(vec![0; 9]) };
    let layer = LayerSource::new(black, Values::Srgb, Phase::Random, &grid(9, 9, 1e-6, 1e-6), 0, 0);
    assert!(layer.columns.is_empty());
    assert!((0..9).all(|y| layer.line_is_zero(y)));
    assert!(line(&layer, 4, 0.0_f32).iter().all(|v| v.re == 0.0 && v.im == 0.0));
}

#[test]
fn a_hairline_does_not_fall_between_the_samples() {
    let hair = Image { width: 4000, height: 1, samples: Samples::U8(vec![255; 4000]) };
    for n in [8, 9] {
        let layer =
            LayerSource::new(hair.clone(), Values::Srgb, Phase::Uniform, &grid(n, n, 1e-6, 1e-6), 0, 0);
        assert!((0..n).any(|y| !layer.line_is_zero(y)), "{n}");
    }
}

#[test]
fn quadratic_phase_reaches_half_the_highest_frequency_at_the_edge() {
    let n = 4096;
    let grid = grid(n, 1, 0.5e-6, 7e-6);
    let white = Image { width: n, height: 1, samples: Samples::U8(vec![255; n]) };
    let layer = LayerSource::new(white, Values::Amplitude, Phase::Quadratic, &grid, 0, 0);
    // Unequal pitches shrink nothing here: the image's own width limits it.
    let line = line(&layer, 0, 0.0_f64);
    let turns_per_sample = |x: usize| (line[x + 1] * line[x].conj()).arg() / TAU;
    assert!((turns_per_sample(n - 2) - 0.25).abs() < 1e-3, "{}", turns_per_sample(n - 2));
    assert!((turns_per_sample(0) + 0.25).abs() < 1e-3, "{}", turns_per_sample(0));
    assert!(turns_per_sample(n / 2).abs() < 1e-3);
    assert!((line[n / 2].arg()).abs() < 1e-12, "coordinate zero is sample n/2");
}

#[test]
fn random_phases_differ_by_seed_by_layer_and_by_row_and_average_out() {
    let n = 1024;
    let grid = grid(n, n, 1e-6, 1e-6);
    let white = Image { width: 1, height: 1, samples: Samples::U8(vec![255]) };
    let layer =
        |seed, index| LayerSource::new(white.clone(), Values::Amplitude, Phase::Random, &grid, seed, index);
    let base = layer(5, 0);
    let others = [line(&layer(6, 0), 7, 0.0_f64), line(&layer(5, 1), 7, 0.0), line(&base, 8, 0.0)];
    let here = line(&base, 7, 0.0_f64);
    for other in &others {
        let overlap: Complex<f64> = here.iter().zip(other).map(|(a, b)| a * b.conj()).sum();
        // 1024 unit phasors add up to about 32.
        assert!(overlap.norm() < 5.0 * 32.0, "{overlap}");
    }
    let sum: Complex<f64> = (0..n).flat_map(|y| line(&base, y, 0.0_f64)).sum();
    assert!(sum.norm() < 5.0 * 1024.0, "{sum}");
    assert_eq!(here, line(&layer(5, 0), 7, 0.0), "the same again");
}

#[test]
#[should_panic(expected = "within a line of the plane")]
fn samples_beyond_the_plane_are_a_mistake() {
    let layer = LayerSource::new(letter_f(), Values::Srgb, Phase::Uniform, &grid(20, 15, 1e-6, 1e-6), 0, 0);
    layer.add_line(3, 2, &mut [Complex::new(0.0_f32, 0.0); 19]);
}

#[test]
fn a_part_of_a_line_has_the_lines_samples_and_outside_the_window_all_is_dark() {
    for (image, phase) in [
        (textured(60, 7, false), Phase::Random),
        (textured(9, 30, true), Phase::Quadratic),
        (textured(300, 200, false), Phase::Uniform),
    ] {
        let grid = grid(1500, 40, 1e-6, 2e-6);
        let [rows, columns] = LayerSource::window_of(image.width, image.height, &grid);
        let layer = LayerSource::new(image, Values::Amplitude, phase, &grid, 3, 1);
        for y in 0..40 {
            let mut whole = vec![Complex::new(0.0_f32, 0.0); 1500];
            layer.add_line(y, 0, &mut whole);
            for (x0, x1) in [(0, 1), (3, 1100), (700, 701), (731, 1500), (1024, 1024)] {
                let mut part = vec![Complex::new(0.0_f32, 0.0); x1 - x0];
                layer.add_line(y, x0, &mut part);
                assert_eq!(part, whole[x0..x1], "row {y} from {x0} to {x1}");
            }
            for (x, u) in whole.iter().enumerate() {
                let within = rows.contains(&y) && columns.contains(&x);
                assert!(within || *u == Complex::default(), "{y} {x} is outside {rows:?} {columns:?}");
            }
        }
    }
}

#[test]
fn the_memory_a_layer_will_hold_is_known_beforehand() {
    for (width, height, wide) in
        [(7, 5, false), (7, 5, true), (60, 45, false), (200, 31, true), (1, 90, false)]
    {
        for grid in [grid(40, 30, 1e-6, 1e-6), grid(7, 5, 2e-6, 2e-6), grid(300, 20, 1e-6, 3e-6)] {
            let image = textured(width, height, wide);
            let expected = LayerSource::bytes_of(width, height, image.bytes(), &grid);
            let layer = LayerSource::new(image, Values::Srgb, Phase::Random, &grid, 1, 0);
            assert_eq!(layer.bytes(), expected, "{width} × {height} on {grid:?}");
        }
    }
}

#[test]
fn the_mean_square_is_that_of_the_samples() {
    // Enlarged, pixel for sample, reduced, a strip beside empty margins, one pixel; unequal pitches.
    for (width, height, grid) in [
        (7, 5, grid(61, 83, 1e-6, 2e-6)),
        (40, 30, grid(40, 30, 1e-6, 1e-6)),
        (90, 77, grid(31, 24, 1e-6, 1.5e-6)),
        (64, 3, grid(50, 60, 2e-6, 1e-6)),
        (1, 1, grid(9, 4, 1e-6, 1e-6)),
    ] {
        for (wide, values) in [(false, Values::Srgb), (true, Values::Amplitude)] {
            let layer = LayerSource::new(textured(width, height, wide), values, Phase::Uniform, &grid, 1, 0);
            let squares: f64 = plane(&layer).iter().flatten().map(|a| a * a).sum();
            let expected = squares / (grid.width * grid.height) as f64;
            let got = layer.mean_square();
            assert!((got - expected).abs() < 1e-6 * expected, "{width} × {height}: {got} for {expected}");
        }
    }
}
