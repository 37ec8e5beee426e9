//! The program: a window, or a command without one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use gigafringe::app::{self, Scheme, Screenshot};
use gigafringe::cli::{Arguments, execute};
use gigafringe::project::Project;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (status, error) = match arguments.command {
        Some(command) => match execute(command) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (error.exit_status(), error.to_string()),
        },
        None => match window(&arguments) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error) => (2, format!("{error:#}")),
        },
    };
    eprintln!("gigafringe: {error}");
    ExitCode::from(status)
}

fn window(arguments: &Arguments) -> anyhow::Result<()> {
    let project = arguments.project.clone().or_else(demo);
    if let Some(path) = &project {
        // A file that cannot be opened is said here, not in a window.
        Project::load(path)?;
    }
    let screenshot = arguments.screenshot.clone().map(|path| Screenshot {
        path,
        run: arguments.screenshot_run,
        theme: if arguments.screenshot_light { Scheme::Light } else { Scheme::Dark },
    });
    app::run(project, screenshot)
}

/// The demo project: below the working folder, or below a folder that holds the program.
fn demo() -> Option<PathBuf> {
    let program = std::env::current_exe().ok();
    let folders = program.iter().flat_map(|p| p.ancestors()).skip(1);
    std::iter::once(Path::new(""))
        .chain(folders)
        .map(|folder| folder.join("assets/demo/project.json"))
        .find(|path| path.is_file())
}
