//! Target 4: one call against scipy's zero-padded angular spectrum in memory (`benches/scipy`).

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde::Serialize;

use super::bench::{Bench, Stage, Tune};
use super::inputs::Input;
use super::propagation::{DISTANCE, PITCH, WAVELENGTH, propagation, settings};
use super::runs::Entry;
use super::series::median;
use super::{LEAST_MEMORY, Speed, Tell, Told};
use crate::engine::{Cancel, EngineError};
use crate::optics::Bytes;
use crate::project::Method;
use crate::run::RunError;
use crate::storage::ScratchPrecision;

/// The usual plane, and its memory.
const SIZE: usize = 8192;
const MEMORY: u64 = 128 << 20;

/// How scipy is run.
pub struct Scipy {
    /// The script, or why there is none.
    script: Result<PathBuf, String>,
    input: PathBuf,
    output: PathBuf,
    threads: usize,
    size: usize,
}

/// What scipy took.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ScipyReport {
    /// Seconds of each run, from the file to the file, without starting Python.
    pub seconds: Vec<f64>,
    /// Their median.
    pub median: Option<f64>,
    /// scipy's version.
    pub version: Option<String>,
    /// Its largest resident size in bytes.
    pub peak_memory: Option<u64>,
    /// Why it did not run.
    pub skipped: Option<String>,
}

/// The propagation by this program and by scipy.
pub fn stage(bench: &Bench<'_>, speed: &Speed) -> Option<Stage> {
    if !speed.has(4) {
        return None;
    }
    let size = if speed.quick { speed.size / 2 } else { speed.size.min(SIZE) };
    // A quarter of a plane.
    let plane = (size * size * 8) as u64;
    let memory = Bytes((plane / 4).clamp(LEAST_MEMORY, MEMORY));
    let entry =
        |(method, scratch)| Entry::propagation(propagation(bench), settings(bench, memory), method, scratch);
    let b16 = Some(ScratchPrecision::B16);
    let input = Input::plane(propagation(bench).source, size);
    Some(Stage {
        name: "scipy",
        what: format!("{size} × {size} random samples in one call with {memory}, and scipy in memory"),
        size,
        memory,
        rounds: speed.rounds(),
        scipy: Some(Scipy {
            script: find(speed),
            input: input.path.clone(),
            output: bench.folder().join("scipy.npy"),
            threads: bench.threads,
            size,
        }),
        inputs: vec![input],
        baseline: None,
        entries: [
            (Method::Auto, None),
            (Method::Padded, None),
            (Method::Blocks, None),
            (Method::Padded, b16),
            (Method::Blocks, b16),
        ]
        .map(entry)
        .into(),
        parts: false,
        planes: false,
        tune: Tune::None,
            verify: false,
            timelines: false,
        emulated: None,
        notes: vec![
            "both sides read the plane's file and write the result's; scipy may use the system's cache and does not \
             wait until its output is on the drive, this program does"
                .into(),
        ],
    })
}

/// The script of this repository: below the working folder, or below a folder that holds the program.
fn find(speed: &Speed) -> Result<PathBuf, String> {
    if !speed.scipy {
        return Err("--no-scipy was given".into());
    }
    let program = std::env::current_exe().ok();
    let folders = program.iter().flat_map(|path| path.ancestors()).skip(1);
    std::iter::once(Path::new("."))
        .chain(folders)
        .map(|folder| folder.join("benches/scipy"))
        .find(|path| path.is_file())
        .ok_or_else(|| "benches/scipy was not found; run this in the repository".into())
}

impl ScipyReport {
    /// Runs it once, unless an earlier run showed that it cannot.
    pub fn run(
        &mut self,
        scipy: &Scipy,
        label: &str,
        cancel: &Cancel,
        tell: &Tell<'_>,
    ) -> Result<(), RunError> {
        if self.skipped.is_some() {
            return Ok(());
        }
        let answer = match &scipy.script {
            Err(reason) => Err(reason.clone()),
            Ok(script) => self.call(scipy, script, cancel)?,
        };
        let _ = std::fs::remove_file(&scipy.output);
        match answer {
            Ok(seconds) => {
                tell(Told::Line(&format!("  {label}: scipy: {seconds:.2} s")));
                self.seconds.push(seconds);
                self.median = Some(median(&self.seconds));
            }
            Err(reason) => {
                tell(Told::Line(&format!("  scipy is left out: {reason}")));
                self.skipped = Some(reason);
            }
        }
        Ok(())
    }

    /// Seconds of one run, or why there are none.
    fn call(
        &mut self,
        scipy: &Scipy,
        script: &Path,
        cancel: &Cancel,
    ) -> Result<Result<f64, String>, RunError> {
        if self.seconds.is_empty() {
            // The padded plane has four times the samples; transforms may take as much again.
            let needed = 10 * (scipy.size * scipy.size * 8) as u64;
            let free = available_memory();
            if free < needed {
                let [free, needed] = [free, needed].map(|bytes| Bytes(bytes).to_string());
                return Ok(Err(format!("it needs some {needed} of memory, and {free} are free")));
            }
            // Makes the environment if there is none; that is not timed.
            if let Err(reason) = output_of(Command::new(script).arg("--help"), cancel)? {
                return Ok(Err(reason));
            }
        }
        let mut command = Command::new(script);
        command.arg(&scipy.input).arg(&scipy.output).args([
            "--repeat=1".into(),
            format!("--workers={}", scipy.threads),
            format!("--wavelength={WAVELENGTH:e}"),
            format!("--pitch={PITCH:e}"),
            format!("--distance={DISTANCE:e}"),
        ]);
        Ok(output_of(&mut command, cancel)?.and_then(|text| {
            let json: serde_json::Value =
                serde_json::from_str(text.trim()).map_err(|error| format!("its answer: {error}"))?;
            self.version = json["scipy"].as_str().map(Into::into);
            self.peak_memory = json["peak_memory"].as_u64().max(self.peak_memory);
            json["runs"][0].as_f64().ok_or_else(|| "its answer has no seconds".into())
        }))
    }
}

/// Bytes of memory that other programs leave.
fn available_memory() -> u64 {
    use sysinfo::{MemoryRefreshKind, RefreshKind, System};
    let kinds = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    // Where the system does not tell, it is tried.
    System::new_with_specifics(kinds).map_or(u64::MAX, |system| system.available_memory())
}

/// A program that ends with its owner.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a program prints, or why it failed; it is ended when the user asks.
fn output_of(command: &mut Command, cancel: &Cancel) -> Result<Result<String, String>, RunError> {
    let program = command.get_program().display().to_string();
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = match child {
        Ok(child) => Ended(child),
        Err(error) => return Ok(Err(format!("{program}: {error}"))),
    };
    // It prints a line or two: no pipe fills.
    let status = loop {
        if cancel.is_cancelled() {
            return Err(EngineError::Cancelled.into());
        }
        match child.0.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Ok(Err(format!("{program}: {error}"))),
        }
    };
    let (mut out, mut errors) = (String::new(), String::new());
    if let (Some(stdout), Some(stderr)) = (&mut child.0.stdout, &mut child.0.stderr) {
        let read = stdout.read_to_string(&mut out).and_then(|_| stderr.read_to_string(&mut errors));
        if let Err(error) = read {
            return Ok(Err(format!("{program}: {error}")));
        }
    }
    // An interrupt reaches it, too, and perhaps first.
    if cancel.is_cancelled() {
        return Err(EngineError::Cancelled.into());
    }
    let last = errors.trim().lines().last().unwrap_or_default();
    Ok(if status.success() { Ok(out) } else { Err(format!("{program} failed ({status}): {last}")) })
}
