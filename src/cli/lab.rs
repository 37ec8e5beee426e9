//! `lab`: measurements that anyone can run again.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::commands::cancel_on_interrupt;
use super::output::print;
use crate::lab::{self, Speed};
use crate::optics::Bytes;
use crate::run::RunError;

/// `lab`
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Time every method against its baselines; it makes its own inputs and removes them again.
    Speed(SpeedArguments),
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
    let LabCommand::Speed(arguments) = command;
    let speed = Speed {
        size: arguments.size.unwrap_or(if arguments.quick { 4096 } else { 16_384 }),
        memory: arguments.memory.unwrap_or(Bytes(if arguments.quick { 64 << 20 } else { 512 << 20 })),
        repeat: arguments.repeat,
        folder: arguments.folder,
        targets: arguments.target,
        scipy: !arguments.no_scipy,
        quick: arguments.quick,
    };
    let report = lab::speed(&speed, &cancel_on_interrupt(), &|line| {
        // A terminal that is gone is no reason to stop.
        let _ = writeln!(std::io::stderr(), "{line}");
    })?;
    if arguments.json {
        return print(&format!("{}\n", serde_json::json!(report)));
    }
    print(&lab::table(&report))
}
