//! A run's events in a file: one JSON object a line.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write};
use std::path::Path;

use super::{RunError, check_output};
use crate::engine::{EngineError, Event};
use crate::storage::{StorageError, folder_of};

/// The most events read from a file; a run of days has fewer.
const MOST: usize = 4_000_000;

/// Writes one event as a line.
pub fn write_event(file: &mut impl Write, event: &Event) -> std::io::Result<()> {
    serde_json::to_writer(&mut *file, event)?;
    file.write_all(b"\n")
}

/// Writes events to a file of that name, which must not exist yet unless `force`. It has its name only once it is
/// complete.
pub fn save_events(path: &Path, events: &[Event], force: bool) -> Result<(), RunError> {
    check_output(path, force)?;
    let failed = |source| {
        RunError::from(EngineError::from(StorageError::file("write the events to it", path, source)))
    };
    let unfinished = tempfile::Builder::new()
        .prefix(".events-unfinished-")
        .tempfile_in(folder_of(path))
        .map_err(failed)?;
    let mut file = BufWriter::new(unfinished);
    for event in events {
        write_event(&mut file, event).map_err(failed)?;
    }
    let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
    let named = if force { file.persist(path) } else { file.persist_noclobber(path) };
    named.map(drop).map_err(|error| failed(error.error))
}

/// The events of a file that [`save_events`] or `--events` wrote.
pub fn load_events(path: &Path) -> Result<Vec<Event>, RunError> {
    let unusable = |problem: String| RunError::Value {
        field: "events",
        problem: format!(
            "{}: {problem}; give a file that `--events` or the window's timeline wrote",
            path.display()
        ),
    };
    let file = File::open(path).map_err(|error| unusable(error.to_string()))?;
    let mut events = Vec::new();
    for (number, line) in BufReader::new(file).lines().enumerate() {
        let line = line.map_err(|error| unusable(format!("line {}: {error}", number + 1)))?;
        if line.trim().is_empty() {
            continue;
        }
        let event = serde_json::from_str(&line);
        events.push(event.map_err(|error| unusable(format!("line {}: {error}", number + 1)))?);
        if events.len() > MOST {
            return Err(unusable(format!("it has more than {MOST} events")));
        }
    }
    match events.first() {
        Some(Event::JobStarted { .. } | Event::Note { .. }) => Ok(events),
        _ => Err(unusable("it does not begin with a job".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{ChunkEvent, Kind};

    fn events() -> Vec<Event> {
        let chunk = ChunkEvent {
            pass: 0,
            stream: 1,
            chunk: 2,
            drive: Some(0),
            kind: Kind::Read,
            start: 0.25,
            end: 0.5,
            bytes: 77,
        };
        let started = Event::JobStarted {
            name: "hologram".into(),
            job: 0,
            jobs: 1,
            method: "implicit".into(),
            drives: vec!["/a".into()],
            passes: Vec::new(),
            predicted: None,
            chunk: 8,
            buffers: 2,
            memory: 9,
        };
        vec![started, Event::Chunk(chunk), Event::Finished { seconds: 1.5 }]
    }

    #[test]
    fn what_is_saved_is_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        save_events(&path, &events(), false).unwrap();
        assert_eq!(format!("{:?}", load_events(&path).unwrap()), format!("{:?}", events()));
        assert!(matches!(save_events(&path, &events(), false), Err(RunError::Exists { .. })));
        save_events(&path, &events()[..1], true).unwrap();
        assert_eq!(load_events(&path).unwrap().len(), 1);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn other_files_are_refused_with_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.jsonl");
        let refused = |text: &str| {
            std::fs::write(&path, text).unwrap();
            load_events(&path).unwrap_err().to_string()
        };
        assert!(refused("").contains("does not begin with a job"));
        assert!(refused("{\"event\":\"finished\",\"seconds\":1}").contains("does not begin with a job"));
        let mut good = Vec::new();
        write_event(&mut good, &events()[0]).unwrap();
        let text = format!("{}\n{{\"event\":\"chu", String::from_utf8(good).unwrap());
        assert!(refused(&text).contains("line 3"), "{}", refused(&text));
        assert!(load_events(&folder.path().join("none")).unwrap_err().to_string().contains("none"));
        std::fs::write(&path, [0xff, 0xfe, 0x00]).unwrap();
        assert!(load_events(&path).is_err());
    }
}
