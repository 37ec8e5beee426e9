//! Comparisons as one page: a self-contained HTML file, or Markdown.
//!
//! It is made from the JSON of the runs, so that pages can be made later and from several machines.

use std::fmt::Write as _;

use serde_json::Value;

/// Pixels.
const WIDTH: f64 = 420.0;
const BAR: f64 = 16.0;
const COLORS: [&str; 2] = ["#3b82c4", "#b4b4b4"];

/// The comparisons of `reports`, as [`super::ExperimentReport`] serialises, as an HTML page without anything
/// outside it.
#[must_use]
pub fn html(reports: &[Value]) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Gigafringe lab</title><style>\n\
         body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222}\n\
         table{border-collapse:collapse;margin:.5rem 0 1.5rem}td,th{padding:.2rem .7rem;text-align:left;\
         border-bottom:1px solid #ddd;font-variant-numeric:tabular-nums}td.n,th.n{text-align:right}\n\
         .note{color:#666}svg text{font:12px system-ui,sans-serif;fill:#222}\n</style></head><body>\n\
         <h1>Gigafringe lab</h1>\n",
    );
    for report in reports {
        let _ = writeln!(
            page,
            "<h2>{}</h2>\n<p>{}</p>",
            escape(&text(&report["experiment"])),
            escape(&head(report))
        );
        for section in list(&report["sections"]) {
            let _ = writeln!(
                page,
                "<h3>{}</h3>\n<p>{}</p>",
                escape(&text(&section["name"])),
                escape(&text(&section["what"]))
            );
            page += &if text(&report["experiment"]) == "table2" { heat_map(section) } else { times(section) };
            page += &super::overlap::timelines(list(&section["series"]));
            page += &agreement(section);
            for note in list(&section["notes"]) {
                let _ = writeln!(page, "<p class=\"note\">{}</p>", escape(&text(note)));
            }
        }
        page += &ratios(report);
        for note in list(&report["notes"]) {
            let _ = writeln!(page, "<p class=\"note\">{}</p>", escape(&text(note)));
        }
    }
    page + "</body></html>\n"
}

/// The same in Markdown, without the charts.
#[must_use]
pub fn markdown(reports: &[Value]) -> String {
    let mut page = String::from("# Gigafringe lab\n");
    for report in reports {
        let _ = writeln!(page, "\n## {}\n\n{}", text(&report["experiment"]), head(report));
        for section in list(&report["sections"]) {
            let _ = writeln!(page, "\n### {}\n\n{}\n", text(&section["name"]), text(&section["what"]));
            page += "| | seconds | spread | bytes moved |\n|---|---|---|---|\n";
            for series in list(&section["series"]) {
                let _ = writeln!(
                    page,
                    "| {} | {:.2} | {:.0} % | {} |",
                    label(series),
                    number(&series["median"]),
                    100.0 * number(&series["spread"]),
                    moved(series)
                );
            }
            for note in list(&section["notes"]) {
                let _ = writeln!(page, "\n{}", text(note));
            }
        }
        page += "\n| times | measured | in single rounds | published |\n|---|---|---|---|\n";
        for ratio in list(&report["comparisons"]) {
            let _ = writeln!(
                page,
                "| {} | {:.2} | {:.2} to {:.2} | {} |",
                text(&ratio["what"]),
                number(&ratio["measured"]),
                number(&ratio["rounds"][0]),
                number(&ratio["rounds"][1]),
                published(ratio)
            );
        }
        for note in list(&report["notes"]) {
            let _ = writeln!(page, "\n{}", text(note));
        }
    }
    page
}

fn head(report: &Value) -> String {
    let machine = &report["machine"];
    let emulated: Vec<_> = list(&report["emulated"])
        .iter()
        .map(|drive| {
            let rates = &drive[1];
            format!(
                "emulated {}: {:.1} MB/s read, {:.1} written, {} duplex",
                text(&drive[0]),
                number(&rates["read"]) / 1e6,
                number(&rates["write"]) / 1e6,
                text(&rates["duplex"])
            )
        })
        .collect();
    format!(
        "gigafringe {}, {}, {} threads, {}; planes of {4} × {4} samples, {5}. {6}",
        text(&machine["gigafringe"]),
        text(&machine["processor"]),
        machine["threads"],
        text(&machine["system"]),
        report["size"],
        if report["rounds"] == 1 { "1 round".to_owned() } else { format!("{} rounds", report["rounds"]) },
        emulated.join("; ")
    )
}

/// Bars of seconds.
fn times(section: &Value) -> String {
    let series = list(&section["series"]);
    let longest = series.iter().map(|s| number(&s["median"])).fold(1e-9, f64::max);
    let rows = series.iter().map(|series| {
        let seconds = number(&series["median"]);
        let detail =
            format!("{seconds:.2} s, spread {:.0} %, {}", 100.0 * number(&series["spread"]), moved(series));
        (label(series), vec![seconds / longest], detail)
    });
    bars(&rows.collect::<Vec<_>>())
}

/// Bars of the ratios measured, and below each the one published.
fn ratios(report: &Value) -> String {
    let ratios = list(&report["comparisons"]);
    if ratios.is_empty() {
        return String::new();
    }
    let largest = ratios
        .iter()
        .flat_map(|ratio| [number(&ratio["measured"]), ratio["published"].as_f64().unwrap_or(0.0)])
        .fold(1e-9, f64::max);
    let rows = ratios.iter().map(|ratio| {
        let mut parts = vec![number(&ratio["measured"]) / largest];
        parts.extend(ratio["published"].as_f64().map(|published| published / largest));
        let beside = ratio["published"].as_f64().map(|value| format!("; published {value:.2}"));
        let detail = format!("{:.2}{}", number(&ratio["measured"]), beside.unwrap_or_default());
        (text(&ratio["what"]), parts, detail)
    });
    format!(
        "<h3>Ratios: measured (blue), published by Lee &amp; Kim 2023 (grey)</h3>\n{}",
        bars(&rows.collect::<Vec<_>>())
    )
}

fn bars(rows: &[(String, Vec<f64>, String)]) -> String {
    let mut table = String::from("<table>\n");
    for (name, parts, detail) in rows {
        let height = BAR * parts.len() as f64;
        let mut drawn = String::new();
        for (i, (part, color)) in parts.iter().zip(COLORS).enumerate() {
            let _ = write!(
                drawn,
                "<rect x=\"0\" y=\"{:.0}\" width=\"{:.1}\" height=\"{:.0}\" fill=\"{color}\"/>",
                i as f64 * BAR + 1.0,
                (part * WIDTH).max(1.0),
                BAR - 2.0
            );
        }
        let _ = writeln!(
            table,
            "<tr><td>{}</td><td><svg width=\"{WIDTH}\" height=\"{height}\">{drawn}</svg></td><td>{}</td></tr>",
            escape(name),
            escape(detail)
        );
    }
    table + "</table>\n"
}

/// Seconds by buffers and chunk; the darker the slower.
fn heat_map(section: &Value) -> String {
    let series = list(&section["series"]);
    let mut buffers: Vec<u64> = series.iter().filter_map(|s| s["buffers"].as_u64()).collect();
    let mut chunks: Vec<u64> = series.iter().filter_map(|s| s["chunk"].as_u64()).collect();
    for values in [&mut buffers, &mut chunks] {
        values.sort_unstable();
        values.dedup();
    }
    let medians = || series.iter().map(|s| number(&s["median"]));
    let (least, most) = (medians().fold(f64::INFINITY, f64::min), medians().fold(0.0, f64::max));
    let mut table = String::from("<table>\n<tr><th>buffers \\ lines of a chunk</th>");
    for chunk in &chunks {
        let _ = write!(table, "<th class=\"n\">{chunk}</th>");
    }
    table += "</tr>\n";
    for buffer in &buffers {
        let _ = write!(table, "<tr><th>{buffer}</th>");
        for chunk in &chunks {
            let found = series.iter().find(|s| s["buffers"] == *buffer && s["chunk"] == *chunk);
            let _ = match found.map(|series| number(&series["median"])) {
                Some(seconds) => {
                    let share = (seconds - least) / (most - least).max(1e-9);
                    write!(
                        table,
                        "<td class=\"n\" style=\"background:hsl(210 60% {:.0}%)\">{seconds:.2}</td>",
                        95.0 - 40.0 * share
                    )
                }
                None => write!(table, "<td></td>"),
            };
        }
        table += "</tr>\n";
    }
    table
        + "</table>\n<p class=\"note\">Seconds; a cell is empty where that many lines and buffers need more than the \
             memory.</p>\n"
}

fn agreement(section: &Value) -> String {
    let planes = list(&section["agreement"]);
    let differing: Vec<_> = planes.iter().filter(|plane| plane["agrees"] != true).collect();
    match (planes.is_empty(), differing.is_empty()) {
        (true, _) => String::new(),
        (false, true) => {
            let worst = planes.iter().map(|plane| number(&plane["difference"])).fold(0.0, f64::max);
            format!("<p class=\"note\">All methods gave one plane, to {worst:.1e}.</p>\n")
        }
        (false, false) => {
            let names: Vec<_> = differing.iter().map(|plane| text(&plane["name"])).collect();
            format!("<p><b>Different planes: {}</b></p>\n", escape(&names.join(", ")))
        }
    }
}

fn published(ratio: &Value) -> String {
    ratio["published"].as_f64().map_or("–".into(), |published| format!("{published:.2}"))
}

fn label(series: &Value) -> String {
    match series["left_out"].as_str() {
        Some(out) => format!("{}, without {out}", text(&series["name"])),
        None => text(&series["name"]),
    }
}

fn moved(series: &Value) -> String {
    let bytes: u64 = list(&series["bytes_moved"]).iter().flat_map(list).filter_map(Value::as_u64).sum();
    format!("{} moved", crate::optics::Bytes(bytes))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |list| list)
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

pub(super) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
