//! The program: a window, or a command without one.

use std::process::ExitCode;

use clap::Parser;
use gigafringe::cli::{Arguments, execute};

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(command) = arguments.command else {
        return ExitCode::FAILURE;
    };
    match execute(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gigafringe: {error}");
            ExitCode::from(error.exit_status())
        }
    }
}
