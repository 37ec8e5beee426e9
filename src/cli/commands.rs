//! Carrying out a command.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use super::arguments::{
    Command, DrivesArguments, Light, PlanArguments, PropagateArguments, ReconstructArguments, Report,
    RunArguments,
};
use super::measure;
use super::output::{estimate_table, follow, job_line, print, sampling_table};
use crate::engine::{Cancel, Event, EventSink};
use crate::methods::Optics;
use crate::optics::{Bytes, Length};
use crate::planner::Measuring;
use crate::project::{Method, Project};
use crate::run::{
    Kept, Propagation, RunError, RunReport, Settings, check_apart, check_output, estimate, outputs,
    propagate, run_project,
};
use crate::storage::{DetectedDrive, detect, one_on_each};

/// Carries out `command`; its result goes to standard output, its progress to standard error.
pub fn execute(command: Command) -> Result<(), RunError> {
    match command {
        Command::Run(arguments) => run(&arguments),
        Command::Propagate(arguments) => propagate_command(arguments),
        Command::Reconstruct(arguments) => reconstruct(arguments),
        Command::Plan(arguments) => plan(&arguments),
        Command::Drives(arguments) => drives(&arguments),
        Command::Lab(command) => super::lab::execute(command),
    }
}

/// A request to stop that Ctrl-C makes.
pub(super) fn cancel_on_interrupt() -> Cancel {
    let cancel = Cancel::default();
    let asked = cancel.clone();
    // Without the handler an interrupt still ends the program, only less tidily.
    let _ = ctrlc::set_handler(move || {
        // The terminal may be what is gone.
        let _ = writeln!(std::io::stderr(), "\nstopping; scratch and unfinished files are removed");
        asked.cancel();
    });
    cancel
}

/// Runs `job`, which reads and makes `files`, with its events followed, and prints its report.
fn with_report(
    report: &Report,
    force: bool,
    files: &[&Path],
    job: impl FnOnce(&EventSink, &Cancel) -> Result<RunReport, RunError>,
) -> Result<(), RunError> {
    let cancel = cancel_on_interrupt();
    if let Some(events) = &report.events {
        check_apart(events, files.iter().copied())?;
        check_output(events, force)?;
    }
    let (sink, follower) = follow(report.events.as_deref())?;
    let result = job(&sink, &cancel);
    drop(sink);
    // Bad input leaves nothing behind, not even its events.
    let keep = result.as_ref().err().is_none_or(|error| error.exit_status() != 2);
    let followed = follower.finish(keep, force);
    let result = result?;
    followed?;
    if report.json {
        return print(&format!("{}\n", serde_json::json!(result)));
    }
    let mut lines: Vec<_> = result.jobs.iter().map(job_line).collect();
    lines.extend(result.files.iter().map(|file| format!("made {}", file.display())));
    let peak = result.peak_memory.map_or("unknown".into(), |bytes| Bytes(bytes).to_string());
    lines.push(format!("{:.2} s in all, peak memory {peak}\n", result.seconds));
    print(&lines.join("\n"))
}

fn run(arguments: &RunArguments) -> Result<(), RunError> {
    let mut project = Project::load(&arguments.project)?;
    arguments.common.change(&mut project);
    if let Some(layering) = arguments.layering {
        project.layering = layering;
    }
    project.output.encoding = arguments.encoding.unwrap_or(project.output.encoding);
    let settings = arguments.common.settings_of(&project);
    let outputs = outputs(&project);
    let mut files: Vec<&Path> = project.layers.iter().map(|layer| &*layer.image).collect();
    files.push(&arguments.project);
    files.extend(outputs.iter().map(|output| &**output));
    with_report(&arguments.report, arguments.common.force, &files, |sink, cancel| {
        run_project(&project, &settings, sink, cancel)
    })
}

/// The optics and pitches that `light` gives, with `project`'s for what it leaves open.
fn optics(
    light: &Light,
    method: Method,
    project: Option<&Project>,
) -> Result<(Optics, [Length; 2]), RunError> {
    let missing = |field, example: &str| RunError::Value {
        field,
        problem: format!("is not given; add --{field} with its unit, for example {example}"),
    };
    let wavelength = light
        .wavelength
        .or(project.map(|p| p.wavelength))
        .ok_or_else(|| missing("wavelength", "--wavelength 660nm"))?;
    let pitch = match (light.pitch, light.pitch_y, light.pitch_x) {
        (Some(pitch), ..) => [pitch; 2],
        (None, Some(y), Some(x)) => [y, x],
        _ => project
            .map(|p| [p.grid.pitch_y, p.grid.pitch_x])
            .ok_or_else(|| missing("pitch", "--pitch 5um"))?,
    };
    let evanescent = light.evanescent.or(project.map(|p| p.evanescent));
    let optics = Optics {
        wavelength: wavelength.in_metres(),
        evanescent: evanescent.unwrap_or_default(),
        band_limit: light.band_limit || project.is_some_and(|p| p.band_limit),
        rolloff: light.rolloff.or(project.and_then(|p| p.rolloff)).unwrap_or(method.rolloff()),
    };
    Ok((optics, pitch))
}

/// Runs one propagation; a preview becomes its target.
fn run_propagation(propagation: &Propagation, settings: &Settings, report: &Report) -> Result<(), RunError> {
    with_report(report, settings.force, &[&propagation.source, &propagation.target], |sink, cancel| {
        let started = Instant::now();
        let mut job = propagate(propagation, settings, (0, 1), sink, cancel)?;
        if let Some(preview) = job.preview.take() {
            let text = format!(
                "intensity |u|², relative, 1 : {}, {} × {} pixels",
                preview.scale, preview.width, preview.height
            );
            sink.send(Event::Note { text });
        }
        let report = RunReport {
            seconds: started.elapsed().as_secs_f64(),
            method: job.method.to_string(),
            files: if settings.bypass.is_some() { Vec::new() } else { vec![propagation.target.clone()] },
            layers: Vec::new(),
            peak_memory: job.peak_memory,
            error_bound: job.error_bound,
            jobs: vec![job],
        };
        sink.send(Event::Finished { seconds: report.seconds });
        Ok(report)
    })
}

fn propagate_command(arguments: PropagateArguments) -> Result<(), RunError> {
    let settings = arguments.common.settings();
    let (optics, pitch) = optics(&arguments.light, settings.method, None)?;
    check_ending(&arguments.output, &["npy"])?;
    let propagation = Propagation {
        source: arguments.input,
        encoding: arguments.encoding,
        full_scale: 1.0,
        target: arguments.output,
        result: Kept::Plane,
        pitch,
        optics,
        distance: arguments.distance,
        name: "propagation".into(),
    };
    run_propagation(&propagation, &settings, &arguments.report)
}

fn reconstruct(arguments: ReconstructArguments) -> Result<(), RunError> {
    let is_project = arguments.hologram.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let mut project = if is_project { Some(Project::load(&arguments.hologram)?) } else { None };
    let ending = check_ending(&arguments.output, &["npy", "png"])?;
    let settings = match &mut project {
        Some(project) => {
            arguments.common.change(project);
            arguments.common.settings_of(project)
        }
        None => arguments.common.settings(),
    };
    let (optics, pitch) = optics(&arguments.light, settings.method, project.as_ref())?;
    let output = project.as_ref().map(|project| &project.output);
    let propagation = Propagation {
        encoding: arguments.encoding.or(output.map(|output| output.encoding)),
        full_scale: output.and_then(|output| output.full_scale).unwrap_or(1.0),
        source: project.map_or(arguments.hologram, |p| p.output.path),
        target: arguments.output,
        result: if ending == "png" { Kept::Preview } else { Kept::Plane },
        pitch,
        optics,
        distance: arguments.distance,
        name: format!("reconstruction at {}", arguments.distance),
    };
    run_propagation(&propagation, &settings, &arguments.report)
}

/// The ending of `path`, one of `allowed`.
fn check_ending(path: &Path, allowed: &[&'static str]) -> Result<&'static str, RunError> {
    let ending = path.extension().unwrap_or_default();
    allowed.iter().copied().find(|a| ending.eq_ignore_ascii_case(a)).ok_or_else(|| {
        let names: Vec<_> = allowed.iter().map(|a| format!(".{a}")).collect();
        RunError::Value {
            field: "output",
            problem: format!("{}: the ending must be {}", path.display(), names.join(" or ")),
        }
    })
}

fn plan(arguments: &PlanArguments) -> Result<(), RunError> {
    let mut project = Project::load(&arguments.project)?;
    arguments.common.change(&mut project);
    project.output.encoding = arguments.encoding.unwrap_or(project.output.encoding);
    let measuring = if arguments.refresh { Measuring::Again } else { Measuring::Missing };
    let settings = Settings { measuring: Some(measuring), ..arguments.common.settings_of(&project) };
    let estimate = estimate(&project, &settings)?;
    if arguments.json {
        return print(&format!("{}\n", serde_json::json!(estimate)));
    }
    print(&(estimate_table(&estimate) + &sampling_table(&project, &estimate)))
}

fn drives(arguments: &DrivesArguments) -> Result<(), RunError> {
    let drives = detect();
    if arguments.measure || arguments.assign {
        return measured_drives(arguments, &drives);
    }
    if arguments.json {
        return print(&format!("{}\n", serde_json::json!({ "drives": drives })));
    }
    let row = |[device, kind, bus, system]: [&str; 4], free: &str, size: &str, folders: &str| {
        format!("{device:<16}  {kind:<8}  {bus:<8}  {system:<12}  {free:>10}  {size:>10}  {folders}\n")
    };
    let mut table = row(["device", "kind", "bus", "file system"], "free", "size", "folders");
    for drive in drives {
        let mounts: Vec<_> = drive.mounts.iter().map(|m| m.display().to_string()).collect();
        let (free, size) = (Bytes(drive.free).to_string(), Bytes(drive.total).to_string());
        let names = [&*drive.device, &drive.kind, &drive.bus, &drive.file_system];
        table += &row(names, &free, &size, &mounts.join(", "));
    }
    print(&table)
}

/// `drives --measure` and `--assign`.
fn measured_drives(arguments: &DrivesArguments, drives: &[DetectedDrive]) -> Result<(), RunError> {
    let folders = match &arguments.folders[..] {
        [] => one_on_each(drives),
        folders => folders.to_vec(),
    };
    let (mut measured, mut shared) = (Vec::new(), Vec::new());
    let (mut text, mut json) = (String::new(), serde_json::json!({ "drives": drives }));
    if arguments.measure {
        let cancel = cancel_on_interrupt();
        let bytes = arguments.measure_size.map(|size| size.0);
        (measured, shared) = measure::measure(&folders, bytes, &|| cancel.is_cancelled())?;
        let groups: Vec<_> = shared.iter().map(|group| &group.folders).collect();
        json["measured"] = serde_json::json!(measured);
        json["shared"] = serde_json::json!(groups);
        text += &measure::table(&measured, &shared);
    }
    if arguments.assign {
        let proposal = measure::assign(&folders, drives, &measured, &shared)?;
        json["roles"] = serde_json::json!(proposal.drives);
        json["reasons"] = serde_json::json!(proposal.reasons);
        text += &measure::proposal(&proposal);
    }
    print(&if arguments.json { format!("{json}\n") } else { text })
}
