//! What a command prints while it runs, and when it is done.

use std::fs::File;
use std::io::{BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;

use crossbeam_channel::Receiver;
use tempfile::TempPath;

use crate::engine::{EngineError, Event, EventSink, JobReport, PassInfo};
use crate::optics::Bytes;
use crate::planner::ChoiceRow;
use crate::run::{Estimate, RunError, write_event};
use crate::storage::{StorageError, folder_of};

/// Prints to standard error; a terminal that is gone is no reason to stop.
macro_rules! tell_part {
    ($($part:tt)*) => {{ let _ = write!(std::io::stderr(), $($part)*); }};
}
macro_rules! tell_line {
    ($($part:tt)*) => {{ let _ = writeln!(std::io::stderr(), $($part)*); }};
}

/// Prints a command's result to standard output; a reader that has seen enough is no error.
pub fn print(text: &str) -> Result<(), RunError> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(EngineError::from(StorageError::file("print the result", "standard output", error)).into())
        }
        _ => Ok(()),
    }
}

/// Follows a run's events on a thread of its own: lines on standard error, events to a file.
pub struct Follower {
    thread: JoinHandle<std::io::Result<()>>,
    /// The events' file until it has its name.
    unfinished: Option<(TempPath, PathBuf)>,
}

/// A sink whose events are followed.
pub fn follow(events: Option<&Path>) -> Result<(EventSink, Follower), RunError> {
    let failed = |source| StorageError::file("create it", events.unwrap_or(Path::new("")), source);
    let file = events
        .map(|path| tempfile::Builder::new().prefix(".events-unfinished-").tempfile_in(folder_of(path)))
        .transpose()
        .map_err(failed)?;
    let (file, temporary) = file.map(tempfile::NamedTempFile::into_parts).unzip();
    let (sink, receiver) = EventSink::channel(|| {});
    let thread = std::thread::Builder::new()
        .name("events".into())
        .spawn(move || tell(&receiver, file.map(BufWriter::new)))
        .map_err(|e| EngineError::Threads(e.to_string()))?;
    Ok((sink, Follower { thread, unfinished: temporary.zip(events.map(Into::into)) }))
}

impl Follower {
    /// Waits for the last event (the sink must be gone by now) and gives the events' file its name,
    /// or removes it unless `keep`.
    pub fn finish(self, keep: bool, force: bool) -> Result<(), RunError> {
        let written = self.thread.join().unwrap_or(Ok(()));
        let Some((temporary, path)) = self.unfinished.filter(|_| keep) else { return Ok(()) };
        let failed = |source| {
            RunError::from(EngineError::from(StorageError::file("write the events to it", &path, source)))
        };
        written.map_err(failed)?;
        let named = if force { temporary.persist(&path) } else { temporary.persist_noclobber(&path) };
        named.map_err(|e| failed(e.error))
    }
}

fn tell(events: &Receiver<Event>, mut file: Option<BufWriter<File>>) -> std::io::Result<()> {
    let live = std::io::stderr().is_terminal();
    let mut passes: Vec<PassInfo> = Vec::new();
    let mut done = 0;
    let mut written = Ok(());
    for event in events {
        if let Some(file) = file.as_mut().filter(|_| written.is_ok()) {
            // The run goes on, and is told of, without its events.
            written = write_event(file, &event);
        }
        match event {
            Event::JobStarted { name, passes: all, .. } => {
                tell_line!("{name}");
                passes = all;
            }
            Event::PassStarted { .. } => done = 0,
            Event::Chunk(chunk) if live && chunk.kind == crate::engine::Kind::Compute => {
                done += 1;
                if let Some(pass) = passes.get(chunk.pass) {
                    tell_part!("\r  {} {done} of {} chunks", pass.name, pass.chunks);
                }
            }
            Event::PassFinished { pass, seconds } => {
                let Some(pass) = passes.get(pass) else { continue };
                let rate = pass.bytes as f64 / 1e6 / seconds.max(1e-9);
                tell_line!(
                    "{}  {}: {seconds:.2} s, {} moved, {rate:.0} MB/s",
                    if live { "\r" } else { "" },
                    pass.name,
                    Bytes(pass.bytes)
                );
            }
            Event::Note { text } => tell_line!("  {text}"),
            _ => {}
        }
    }
    written?;
    file.map_or(Ok(()), |mut file| file.flush())
}

/// One line for a job that is done.
pub fn job_line(job: &JobReport) -> String {
    let moved: u64 = job.passes.iter().flat_map(|p| &p.drives).map(|d| d.read_bytes + d.written_bytes).sum();
    let scale = match (job.full_scale, job.clipped) {
        (Some(scale), Some(clipped)) => {
            format!(", full scale {scale:.6}, {:.2e} % of the samples clipped", 100.0 * clipped)
        }
        _ => String::new(),
    };
    let predicted = job.predicted.map_or(String::new(), |seconds| format!(" ({seconds:.2} expected)"));
    format!(
        "{}: {:.2} s{predicted}, {} moved, chunks of {} lines, {} buffers, {} of memory planned{scale}",
        job.name,
        job.seconds,
        Bytes(moved),
        job.chunk,
        job.buffers,
        Bytes(job.memory_planned)
    )
}

/// The table of every method, the fastest first.
fn choice_table(choices: &[ChoiceRow]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    let head = ["method", "seconds", "bytes moved", "scratch", "memory", "error"];
    let _ = writeln!(
        text,
        "  {:10}  {:>8}  {:>11}  {:>9}  {:>9}  {:>7}",
        head[0], head[1], head[2], head[3], head[4], head[5]
    );
    for choice in choices {
        let mark = if choice.chosen { '*' } else { ' ' };
        let method = choice.method.to_string();
        let (Some(seconds), Some(moved), Some(scratch), Some(memory), Some(error)) =
            (choice.seconds, choice.bytes_moved, choice.scratch_bytes, choice.memory, choice.error_bound)
        else {
            let _ = writeln!(text, "{mark} {method:10}  {}", choice.remark);
            continue;
        };
        let [moved, scratch, memory] = [moved, scratch, memory].map(|bytes| Bytes(bytes).to_string());
        let _ = writeln!(
            text,
            "{mark} {method:10}  {seconds:>8.1}  {moved:>11}  {scratch:>9}  {memory:>9}  {error:>7.0e}  {}",
            choice.remark
        );
    }
    text
}

/// The table of a plan.
pub fn estimate_table(estimate: &Estimate) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    // Writing to a String cannot fail.
    text += &choice_table(&estimate.choices);
    let _ = writeln!(
        text,
        "\nmethod {}: {}, chunks of {} lines, {} buffers",
        estimate.method, estimate.cut, estimate.chunk, estimate.buffers
    );
    let longest = estimate.passes.iter().map(|p| p.name.chars().count()).max().unwrap_or(0).max(4);
    let _ = writeln!(text, "\n{:longest$}  {:>8}  {:>12}", "pass", "chunks", "bytes moved");
    for pass in &estimate.passes {
        let _ = writeln!(
            text,
            "{:longest$}  {:>8}  {:>12}",
            pass.name,
            pass.chunks,
            Bytes(pass.bytes).to_string()
        );
    }
    let longest = estimate.drives.iter().map(|d| d.path.chars().count()).max().unwrap_or(0).max(5);
    let _ = writeln!(text, "\n{:longest$}  {:>10}  {:>10}  {:>10}", "drive", "scratch", "output", "free");
    for drive in &estimate.drives {
        let free = drive.free_bytes.map_or("unknown".into(), |free| Bytes(free).to_string());
        let _ = writeln!(
            text,
            "{:longest$}  {:>10}  {:>10}  {free:>10}",
            drive.path,
            Bytes(drive.scratch_bytes).to_string(),
            Bytes(drive.output_bytes).to_string()
        );
    }
    let parts = estimate.memory_parts;
    let _ = writeln!(
        text,
        "\nmemory {}: chunk buffers {}, working lines and tables {}, layers {}, scratch {}",
        Bytes(estimate.memory),
        Bytes(parts.buffers),
        Bytes(parts.work),
        Bytes(parts.layers),
        Bytes(parts.scratch)
    );
    let _ = writeln!(text, "bytes moved {}", Bytes(estimate.bytes_moved));
    if let Some(seconds) = estimate.seconds {
        let figures =
            if estimate.measured { "figures measured here" } else { "usual figures; nothing was measured" };
        let _ = writeln!(text, "expected to take {seconds:.1} s, by {figures}");
    }
    let _ = writeln!(text, "relative error at most {:.0e}", estimate.error_bound);
    for note in &estimate.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}
