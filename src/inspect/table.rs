//! Numbers as comma-separated values, to be opened elsewhere.

use std::fmt::Write as _;

use super::{Histogram, ProfilePoint};

/// A profile: `distance_mm,x_mm,y_mm,intensity,relative_to_white` and a line for each point.
#[must_use]
pub fn profile_table(points: &[ProfilePoint], white: f64) -> String {
    let mut text = String::from("distance_mm,x_mm,y_mm,intensity,relative_to_white\n");
    for point in points {
        let [x, y] = point.position.map(|metres| 1e3 * metres);
        let relative = if white > 0.0 { point.intensity / white } else { 0.0 };
        // Writing to a string does not fail.
        let _ =
            writeln!(text, "{:.9},{x:.9},{y:.9},{:e},{relative:e}", 1e3 * point.distance, point.intensity);
    }
    text
}

/// A histogram: `from,to,count` and a line for each step; the last one has no upper end.
#[must_use]
pub fn histogram_table(histogram: &Histogram) -> String {
    let mut text = String::from("from,to,count\n");
    let step = histogram.step();
    for (i, count) in histogram.counts.iter().enumerate() {
        let _ = writeln!(text, "{:e},{:e},{count}", i as f64 * step, (i + 1) as f64 * step);
    }
    let _ = writeln!(text, "{:e},,{}", histogram.high, histogram.above);
    text
}

/// Single numbers: `quantity,value,unit` and a line for each.
#[must_use]
pub fn numbers_table(rows: &[(String, f64, &str)]) -> String {
    let mut text = String::from("quantity,value,unit\n");
    for (quantity, value, unit) in rows {
        let quantity = quantity.replace('"', "\"\"");
        let _ = writeln!(text, "\"{quantity}\",{value},{unit}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_read_back_as_it_was() {
        let points = [
            ProfilePoint { distance: 0.0, position: [-1e-3, 2e-6], intensity: 0.125 },
            ProfilePoint { distance: 1e-3, position: [0.0, 2e-6], intensity: 3e-7 },
        ];
        let text = profile_table(&points, 0.25);
        let rows: Vec<Vec<f64>> =
            text.lines().skip(1).map(|line| line.split(',').map(|v| v.parse().unwrap()).collect()).collect();
        assert_eq!(rows, [vec![0.0, -1.0, 0.002, 0.125, 0.5], vec![1.0, 0.0, 0.002, 3e-7, 1.2e-6]]);
        assert_eq!(text.lines().next(), Some("distance_mm,x_mm,y_mm,intensity,relative_to_white"));
        assert!(profile_table(&points, 0.0).lines().nth(1).unwrap().ends_with(",0e0"));
    }

    #[test]
    fn histograms_and_numbers_are_tables_too() {
        let histogram = Histogram { high: 1.0, counts: vec![3, 4], above: 5 };
        assert_eq!(histogram_table(&histogram), "from,to,count\n0e0,5e-1,3\n5e-1,1e0,4\n1e0,,5\n");
        let rows = [("mean, of \"all\"".to_owned(), 0.5, "1")];
        assert_eq!(numbers_table(&rows), "quantity,value,unit\n\"mean, of \"\"all\"\"\",0.5,1\n");
    }
}
