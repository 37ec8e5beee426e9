//! Carrying out a command.

use std::path::Path;
use std::time::Instant;

use super::arguments::{
    Command, DrivesArguments, Light, PlanArguments, PropagateArguments, ReconstructArguments, Report,
    RunArguments,
};
use super::output::{estimate_table, follow, job_line};
use crate::engine::{Cancel, Event, EventSink};
use crate::inspect::Tone;
use crate::methods::Optics;
use crate::optics::{Bytes, Length};
use crate::project::Project;
use crate::run::{
    Estimate, Propagation, RunError, RunReport, Settings, check_output, plan_project, propagate, run_project,
};
use crate::storage::{detect, save_gray_png};

/// Carries out `command`; its result goes to standard output, its progress to standard error.
pub fn execute(command: Command) -> Result<(), RunError> {
    match command {
        Command::Run(arguments) => run(&arguments),
        Command::Propagate(arguments) => propagate_command(arguments),
        Command::Reconstruct(arguments) => reconstruct(arguments),
        Command::Plan(arguments) => plan(&arguments),
        Command::Drives(arguments) => {
            drives(&arguments);
            Ok(())
        }
    }
}

/// A request to stop that Ctrl-C makes.
fn cancel_on_interrupt() -> Cancel {
    let cancel = Cancel::default();
    let asked = cancel.clone();
    // Without the handler an interrupt still ends the program, only less tidily.
    let _ = ctrlc::set_handler(move || {
        eprintln!("\nstopping; scratch and unfinished files are removed");
        asked.cancel();
    });
    cancel
}

/// Runs `job` with its events followed, and prints its report.
fn with_report(
    report: &Report,
    force: bool,
    job: impl FnOnce(&EventSink, &Cancel) -> Result<RunReport, RunError>,
) -> Result<(), RunError> {
    let cancel = cancel_on_interrupt();
    let (sink, follower) = follow(report.events.as_deref(), force)?;
    let result = job(&sink, &cancel);
    drop(sink);
    let followed = follower.finish();
    if let (Err(error), Some(events)) = (&result, &report.events)
        && error.exit_status() == 2
    {
        // Bad input leaves nothing behind.
        let _ = std::fs::remove_file(events);
    }
    let result = result?;
    followed?;
    if report.json {
        let text = serde_json::to_string(&result).map_err(std::io::Error::from);
        println!("{}", text.map_err(|e| crate::storage::StorageError::file("write", "the report", e))?);
    } else {
        for job in &result.jobs {
            println!("{}", job_line(job));
        }
        for file in &result.files {
            println!("made {}", file.display());
        }
        let peak = result.peak_memory.map_or("unknown".into(), |bytes| Bytes(bytes).to_string());
        println!("{:.2} s in all, peak memory {peak}", result.seconds);
    }
    Ok(())
}

fn run(arguments: &RunArguments) -> Result<(), RunError> {
    let mut project = Project::load(&arguments.project)?;
    arguments.common.change(&mut project);
    let settings = arguments.common.settings_of(&project);
    // Before the events' file is made: bad input leaves nothing behind.
    crate::run::check_project(&project, &settings)?;
    with_report(&arguments.report, arguments.common.force, |sink, cancel| {
        run_project(&project, &settings, sink, cancel)
    })
}

/// The optics and pitches that `light` gives, with `project`'s for what it leaves open.
fn optics(light: &Light, project: Option<&Project>) -> Result<(Optics, [Length; 2]), RunError> {
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
    let rolloff = light.rolloff.or(project.map(|p| p.rolloff)).unwrap_or(0.0);
    if !(0.0..=1.0).contains(&rolloff) {
        return Err(RunError::Value {
            field: "rolloff",
            problem: format!("{rolloff} is not a fraction of the band; it lies between 0 and 1"),
        });
    }
    let evanescent = light.evanescent.map(Into::into).or(project.map(|p| p.evanescent));
    let optics = Optics {
        wavelength: wavelength.in_metres(),
        evanescent: evanescent.unwrap_or_default(),
        band_limit: light.band_limit || project.is_some_and(|p| p.band_limit),
        rolloff,
    };
    Ok((optics, pitch))
}

/// Runs one propagation, with `after` on its report before that is printed.
fn run_propagation(
    propagation: &Propagation,
    settings: &Settings,
    report: &Report,
    after: impl FnOnce(&mut RunReport) -> Result<(), RunError>,
) -> Result<(), RunError> {
    propagation.plan(settings)?;
    with_report(report, settings.force, |sink, cancel| {
        let started = Instant::now();
        let job = propagate(propagation, settings, (0, 1), sink, cancel)?;
        let mut report = RunReport {
            seconds: 0.0,
            method: job.method.to_string(),
            files: propagation.output.iter().cloned().collect(),
            layers: Vec::new(),
            peak_memory: job.peak_memory,
            error_bound: job.error_bound,
            jobs: vec![job],
        };
        after(&mut report)?;
        report.seconds = started.elapsed().as_secs_f64();
        sink.send(Event::Finished { seconds: report.seconds });
        Ok(report)
    })
}

fn propagate_command(arguments: PropagateArguments) -> Result<(), RunError> {
    let (optics, pitch) = optics(&arguments.light, None)?;
    check_ending(&arguments.output, &["npy"])?;
    let propagation = Propagation {
        source: arguments.input,
        output: Some(arguments.output),
        preview: None,
        pitch,
        optics,
        distance: arguments.distance,
        name: "propagation".into(),
    };
    run_propagation(&propagation, &arguments.common.settings(), &arguments.report, |_| Ok(()))
}

fn reconstruct(arguments: ReconstructArguments) -> Result<(), RunError> {
    let is_project = arguments.hologram.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let project = if is_project { Some(Project::load(&arguments.hologram)?) } else { None };
    let (optics, pitch) = optics(&arguments.light, project.as_ref())?;
    let ending = check_ending(&arguments.output, &["npy", "png"])?;
    let picture = ending == "png";
    let mut settings = arguments.common.settings();
    if let Some(mut project) = project.clone() {
        arguments.common.change(&mut project);
        settings = arguments.common.settings_of(&project);
    }
    if picture {
        check_output(&arguments.output, settings.force)?;
    }
    let propagation = Propagation {
        source: project.map_or(arguments.hologram, |p| p.output.path),
        output: (!picture).then(|| arguments.output.clone()),
        preview: picture.then(|| arguments.distance.in_metres()),
        pitch,
        optics,
        distance: arguments.distance,
        name: format!("reconstruction at {}", arguments.distance),
    };
    run_propagation(&propagation, &settings, &arguments.report, |report| {
        if let Some(preview) = report.jobs.first_mut().and_then(|job| job.preview.take()) {
            let levels = Tone::of(&preview.mean).levels(&preview.mean);
            save_gray_png(&arguments.output, preview.width, preview.height, &levels, settings.force)?;
            eprintln!(
                "  intensity |u|², 1 : {}, {} × {} pixels",
                preview.scale, preview.width, preview.height
            );
            report.files.push(arguments.output);
        }
        Ok(())
    })
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
    let plan = plan_project(&project, &arguments.common.settings_of(&project))?;
    let estimate = Estimate::from(&plan);
    if arguments.json {
        println!("{}", serde_json::json!(estimate));
    } else {
        print!("{}", estimate_table(&estimate));
    }
    Ok(())
}

fn drives(arguments: &DrivesArguments) {
    let drives = detect();
    if arguments.json {
        println!("{}", serde_json::json!({ "drives": drives }));
        return;
    }
    println!(
        "{:<16}  {:<8}  {:<12}  {:>10}  {:>10}  folders",
        "device", "kind", "file system", "free", "size"
    );
    for drive in drives {
        let mounts: Vec<_> = drive.mounts.iter().map(|m| m.display().to_string()).collect();
        println!(
            "{:<16}  {:<8}  {:<12}  {:>10}  {:>10}  {}",
            drive.device,
            drive.kind,
            drive.file_system,
            Bytes(drive.free).to_string(),
            Bytes(drive.total).to_string(),
            mounts.join(", ")
        );
    }
}
