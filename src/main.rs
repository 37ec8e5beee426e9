//! The program: a window, or a command without one.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use gigafringe::app::{self, Scheme, Screenshot};
use gigafringe::cli::{Arguments, execute};
use gigafringe::project::Project;
use gigafringe::run::RunError;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (status, error) = match arguments.command {
        Some(command) => match execute(command) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(error @ RunError::Exists { .. }) => (2, format!("{error} (--force)")),
            Err(error) => (error.exit_status(), error.to_string()),
        },
        None => match window(&arguments) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(failure) => failure,
        },
    };
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr(), "gigafringe: {error}");
    ExitCode::from(status)
}

/// Opens the window; an error comes with its exit status.
fn window(arguments: &Arguments) -> Result<(), (u8, String)> {
    let project = arguments.project.clone().or_else(demo);
    if let Some(path) = &project {
        // A file that cannot be opened is said here, not in a window.
        if !path.exists() {
            let path = path.display();
            return Err((
                2,
                format!("{path}: there is no such project file, and no such command; see gigafringe --help"),
            ));
        }
        Project::load(path).map_err(|error| (2, error.to_string()))?;
    }
    let screenshot = arguments.screenshot.clone().map(|path| Screenshot {
        path,
        run: arguments.screenshot_run,
        method: arguments.screenshot_method,
        lab: arguments.screenshot_lab,
        inspect: arguments.screenshot_inspect,
        theme: if arguments.screenshot_light { Scheme::Light } else { Scheme::Dark },
    });
    app::run(project, screenshot).map_err(|error| (1, format!("{error:#}")))
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
