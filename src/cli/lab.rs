//! `lab`: measurements that anyone can run again.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::commands::cancel_on_interrupt;
use super::output::print;
use crate::lab::{self, Comparing, Experiment, Speed, Told};
use crate::optics::Bytes;
use crate::run::RunError;

/// `lab`
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Time every method against its baselines; it makes its own inputs and removes them again.
    Speed(SpeedArguments),
    /// Make a comparison of Lee & Kim (2023) again, on emulated drives or on yours.
    Compare(CompareArguments),
    /// Make one page of what `lab compare --json` printed.
    Report(ReportArguments),
}

/// `lab compare`
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// Which comparison.
    #[arg(value_enum)]
    pub experiment: Experiment,
    /// Samples along each side of the plane.
    #[arg(long, value_name = "N", default_value_t = 1536)]
    pub size: usize,
    /// Bound on each job's memory, twice that in f64; half of a plane if not given.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Rounds; medians are compared.
    #[arg(long, value_name = "ROUNDS", default_value_t = 3)]
    pub repeat: usize,
    /// Where all files lie while it runs; fast emulated drives may need one in memory, as /dev/shm.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// Folders on one to four drives of yours, for `real`.
    #[arg(long, value_name = "DIR", value_delimiter = ',')]
    pub drives: Vec<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `lab report`
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Files with what `lab compare --json` printed.
    #[arg(required = true, value_name = "FILE.json")]
    pub files: Vec<PathBuf>,
    /// The page: .html with charts, or .md.
    #[arg(long, value_name = "PAGE")]
    pub output: PathBuf,
    /// Replace a page that exists.
    #[arg(long)]
    pub force: bool,
}

/// `lab speed`
#[derive(Debug, Args)]
pub struct SpeedArguments {
    /// Samples along each side of the plane: 16384, or 4096 with --quick, if not given.
    #[arg(long, value_name = "N")]
    pub size: Option<usize>,
    /// Bound on each job's memory: 512MiB, or 64MiB with --quick, if not given.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Rounds: 3 if not given, but 1 with emulated drives, which are slow, and with --quick.
    #[arg(long, value_name = "ROUNDS")]
    pub repeat: Option<usize>,
    /// Where all files lie while it runs: on the drive that is to be measured.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub folder: PathBuf,
    /// 1 propagation, 2 hologram, 3 overlap of drives and arithmetic, 4 against scipy, 5 bytes moved.
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', default_value = "1,2,3,4,5")]
    pub target: Vec<u8>,
    /// Do not run scipy, which benches/scipy else installs for itself.
    #[arg(long)]
    pub no_scipy: bool,
    /// Small planes and one round: shows that it works, and little more.
    #[arg(long)]
    pub quick: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Carries out a `lab` command; progress goes to standard error.
pub fn execute(command: LabCommand) -> Result<(), RunError> {
    match command {
        LabCommand::Speed(arguments) => speed(arguments),
        LabCommand::Compare(arguments) => compare(arguments),
        LabCommand::Report(arguments) => report(&arguments),
    }
}

fn tell(told: Told<'_>) {
    if let Told::Line(line) = told {
        // A terminal that is gone is no reason to stop.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

fn speed(arguments: SpeedArguments) -> Result<(), RunError> {
    let speed = Speed {
        size: arguments.size.unwrap_or(if arguments.quick { 4096 } else { 16_384 }),
        memory: arguments.memory.unwrap_or(Bytes(if arguments.quick { 64 << 20 } else { 512 << 20 })),
        repeat: arguments.repeat,
        folder: arguments.folder,
        targets: arguments.target,
        scipy: !arguments.no_scipy,
        quick: arguments.quick,
    };
    let report = lab::speed(&speed, &cancel_on_interrupt(), &tell)?;
    if arguments.json {
        return print(&format!("{}\n", serde_json::json!(report)));
    }
    print(&lab::table(&report))
}

fn compare(arguments: CompareArguments) -> Result<(), RunError> {
    let CompareArguments { experiment, size, memory, repeat, folder, drives, json } = arguments;
    let comparing = Comparing { experiment, size, memory, repeat, folder, drives };
    let report = lab::compare(&comparing, &cancel_on_interrupt(), &tell)?;
    if json {
        return print(&format!("{}\n", serde_json::json!(report)));
    }
    print(&lab::text(&report))
}

fn report(arguments: &ReportArguments) -> Result<(), RunError> {
    let mut reports = Vec::new();
    for path in &arguments.files {
        let unusable = |problem: String| RunError::Value {
            field: "report",
            problem: format!("{}: {problem}; give files that `lab compare --json` printed", path.display()),
        };
        let text = std::fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        let report: serde_json::Value =
            serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
        if !report["experiment"].is_string() || !report["sections"].is_array() {
            return Err(unusable("holds no comparison".into()));
        }
        reports.push(report);
    }
    let page = match arguments.output.extension().and_then(|extension| extension.to_str()) {
        Some("html") => lab::html(&reports),
        Some("md") => lab::markdown(&reports),
        _ => {
            return Err(RunError::Value {
                field: "output",
                problem: format!("{} is neither .html nor .md; choose one", arguments.output.display()),
            });
        }
    };
    let file = if arguments.force {
        std::fs::File::create(&arguments.output)
    } else {
        std::fs::File::create_new(&arguments.output)
    };
    file.and_then(|mut file| file.write_all(page.as_bytes())).map_err(|error| RunError::Value {
        field: "output",
        problem: format!(
            "{} cannot be written ({error}); choose another, or give --force to replace a file",
            arguments.output.display()
        ),
    })
}
