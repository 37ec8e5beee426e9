//! The columns of the history's table: their order, their text, and the same as CSV.

use std::cmp::Ordering;

use super::super::text;
use super::{DriveRate, Entry};

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Column {
    #[default]
    Run,
    Output,
    Ended,
    Method,
    Samples,
    Precision,
    Chunk,
    Buffers,
    Memory,
    Seconds,
    Phase1,
    Phase2,
    Phase3,
    Moved,
    Read,
    Write,
    Waiting,
}

impl Column {
    /// All columns with their heads and what they mean.
    pub const ALL: [(Self, &'static str, &'static str); 17] = [
        (Self::Run, "run", "Number of the run in this window"),
        (Self::Output, "output", "The hologram's file, or the file of events that was opened"),
        (Self::Ended, "ended", "How the run ended"),
        (Self::Method, "method", "The method that propagated the planes"),
        (Self::Samples, "samples", "Samples along x and y"),
        (Self::Precision, "precision", "The arithmetic"),
        (Self::Chunk, "chunk", "Lines of a chunk"),
        (Self::Buffers, "buffers", "Chunks a stage may hold ahead"),
        (Self::Memory, "memory", "Memory set aside for the first job"),
        (Self::Seconds, "seconds", "Seconds of all passes, of the hologram and of the reconstructions"),
        (Self::Phase1, "phase 1, s", "Seconds of the passes over rows forth, or of blocks"),
        (Self::Phase2, "phase 2, s", "Seconds of the passes over columns"),
        (Self::Phase3, "phase 3, s", "Seconds of the passes over rows back"),
        (Self::Moved, "moved", "Bytes read and written on all drives"),
        (Self::Read, "read MB/s", "What each drive reached while it read, in the drives' order"),
        (Self::Write, "write MB/s", "What each drive reached while it wrote, in the drives' order"),
        (
            Self::Waiting,
            "waiting",
            "Share of their time in which readers and writers waited for other stages",
        ),
    ];

    /// The text of an entry's cell.
    #[must_use]
    pub fn text(self, entry: &Entry) -> String {
        let seconds = |seconds: f64| if seconds > 0.0 { format!("{seconds:.2}") } else { "–".into() };
        match self {
            Self::Run => entry.id.to_string(),
            Self::Output => entry.name.clone(),
            Self::Ended => entry.ended.into(),
            Self::Method => entry.method.clone(),
            Self::Samples => entry.samples(),
            Self::Precision => entry.precision.clone().unwrap_or_default(),
            Self::Chunk => entry.chunk.to_string(),
            Self::Buffers => entry.buffers.to_string(),
            Self::Memory => text::bytes(entry.memory),
            Self::Seconds => seconds(entry.seconds),
            Self::Phase1 => seconds(entry.phases[0]),
            Self::Phase2 => seconds(entry.phases[1]),
            Self::Phase3 => seconds(entry.phases[2]),
            Self::Moved => text::bytes(entry.bytes),
            Self::Read => rates(&entry.drives, |drive| drive.read),
            Self::Write => rates(&entry.drives, |drive| drive.write),
            Self::Waiting => {
                entry.waiting.map_or_else(|| "–".into(), |share| format!("{:.0} %", 100.0 * share))
            }
        }
    }

    /// The order of two entries by this column.
    #[must_use]
    pub fn order(self, one: &Entry, other: &Entry) -> Ordering {
        let by = |of: fn(&Entry) -> f64| of(one).total_cmp(&of(other));
        match self {
            Self::Run => one.id.cmp(&other.id),
            Self::Output | Self::Ended | Self::Method | Self::Precision => {
                self.text(one).cmp(&self.text(other))
            }
            Self::Samples => by(|e| e.size.map_or(0.0, |[y, x]| y as f64 * x as f64)),
            Self::Chunk => one.chunk.cmp(&other.chunk),
            Self::Buffers => one.buffers.cmp(&other.buffers),
            Self::Memory => one.memory.cmp(&other.memory),
            Self::Seconds => by(|e| e.seconds),
            Self::Phase1 => by(|e| e.phases[0]),
            Self::Phase2 => by(|e| e.phases[1]),
            Self::Phase3 => by(|e| e.phases[2]),
            Self::Moved => one.bytes.cmp(&other.bytes),
            Self::Read => by(|e| sum(&e.drives, |drive| drive.read)),
            Self::Write => by(|e| sum(&e.drives, |drive| drive.write)),
            Self::Waiting => by(|e| e.waiting.unwrap_or(0.0)),
        }
    }
}

fn sum(drives: &[DriveRate], rate: fn(&DriveRate) -> Option<f64>) -> f64 {
    drives.iter().filter_map(rate).sum()
}

fn rates(drives: &[DriveRate], rate: fn(&DriveRate) -> Option<f64>) -> String {
    let all: Vec<_> = drives
        .iter()
        .map(|drive| rate(drive).map_or_else(|| "–".into(), |rate| format!("{:.0}", rate / 1e6)))
        .collect();
    all.join(", ")
}

/// The runs as CSV, with bytes and seconds as plain numbers and a column for each drive's rates.
pub fn csv<'e>(entries: impl Iterator<Item = &'e Entry> + Clone) -> Result<Vec<u8>, csv::Error> {
    let drives = entries.clone().map(|entry| entry.drives.len()).max().unwrap_or(0);
    let mut table = csv::Writer::from_writer(Vec::new());
    let mut head: Vec<String> = [
        "run",
        "output",
        "ended",
        "method",
        "width",
        "height",
        "precision",
        "chunk",
        "buffers",
        "memory_bytes",
        "seconds",
        "phase1_seconds",
        "phase2_seconds",
        "phase3_seconds",
        "moved_bytes",
        "waiting_share",
    ]
    .map(String::from)
    .into();
    for drive in 1..=drives {
        head.extend([
            format!("drive{drive}"),
            format!("drive{drive}_read_bytes_per_second"),
            format!("drive{drive}_write_bytes_per_second"),
        ]);
    }
    table.write_record(&head)?;
    for entry in entries {
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        let side = |index: usize| entry.size.map_or_else(String::new, |size| size[index].to_string());
        let mut record = vec![
            entry.id.to_string(),
            entry.name.clone(),
            entry.ended.to_owned(),
            entry.method.clone(),
            side(1),
            side(0),
            entry.precision.clone().unwrap_or_default(),
            entry.chunk.to_string(),
            entry.buffers.to_string(),
            entry.memory.to_string(),
            entry.seconds.to_string(),
        ];
        record.extend(entry.phases.map(|seconds| seconds.to_string()));
        record.extend([entry.bytes.to_string(), number(entry.waiting)]);
        for index in 0..drives {
            let drive = entry.drives.get(index);
            record.push(drive.map_or_else(String::new, |drive| drive.name.clone()));
            record.push(number(drive.and_then(|drive| drive.read)));
            record.push(number(drive.and_then(|drive| drive.write)));
        }
        table.write_record(&record)?;
    }
    table.into_inner().map_err(|error| error.into_error().into())
}

#[cfg(test)]
mod tests {
    use super::super::super::run_view::RunView;
    use super::*;
    use crate::engine::{ChunkEvent, Event, Kind, PassInfo};

    /// A run of one pass on one drive that reads 4 MB in 2 s, waits 1 s and writes 2 MB in 1 s.
    fn run(id: usize, phase: &str, buffers: usize) -> Entry {
        let mut view = RunView::starting(0.0);
        let pass =
            PassInfo { name: phase.into(), streams: vec!["plane".into()], chunks: 1, bytes: 6_000_000 };
        view.apply(
            Event::JobStarted {
                name: "hologram".into(),
                job: 0,
                jobs: 1,
                method: "padded".into(),
                drives: vec!["/a, b".into()],
                passes: vec![pass],
                predicted: None,
                chunk: 64,
                buffers,
                memory: 1 << 20,
            },
            0.0,
        );
        view.apply(Event::PassStarted { pass: 0, at: 0.0 }, 0.0);
        for (kind, start, end, bytes) in
            [(Kind::Read, 0.0, 2.0, 4_000_000), (Kind::Wait, 2.0, 3.0, 0), (Kind::Write, 3.0, 4.0, 2_000_000)]
        {
            let chunk = ChunkEvent { pass: 0, stream: 0, chunk: 0, drive: Some(0), kind, start, end, bytes };
            view.apply(Event::Chunk(chunk), 0.0);
        }
        view.apply(Event::PassFinished { pass: 0, seconds: 4.0 }, 4.0);
        view.apply(Event::Finished { seconds: 4.5 }, 4.5);
        Entry::of(id, &view, None, Some("old \"run\".jsonl".into()))
    }

    #[test]
    fn a_run_is_summed_up() {
        let entry = run(3, "phase 2: columns", 2);
        let cells = Column::ALL.map(|(column, ..)| column.text(&entry));
        let expected = [
            "3",
            "old \"run\".jsonl",
            "finished",
            "padded",
            "",
            "",
            "64",
            "2",
            "1 MiB",
            "4.00",
            "–",
            "4.00",
            "–",
            "5.72 MiB",
            "2",
            "2",
            "25 %",
        ];
        assert_eq!(cells, expected);
        let phases = run(1, "blocks", 2).phases.map(|seconds| seconds.to_string());
        assert_eq!(phases, ["4", "0", "0"]);
    }

    #[test]
    fn columns_sort_by_number_and_not_by_letters() {
        let (few, many) = (run(2, "phase 1: rows", 3), run(10, "phase 3: rows", 12));
        for column in [Column::Run, Column::Buffers, Column::Phase3] {
            assert_eq!(column.order(&few, &many), Ordering::Less, "{column:?}");
        }
        assert_eq!(Column::Phase1.order(&few, &many), Ordering::Greater);
    }

    #[test]
    fn csv_keeps_names_with_commas_and_quotes() {
        let entries = [run(1, "phase 1: rows", 2)];
        let text = String::from_utf8(csv(entries.iter()).unwrap()).unwrap();
        let mut lines = text.lines();
        assert!(
            lines
                .next()
                .unwrap()
                .ends_with("drive1,drive1_read_bytes_per_second,drive1_write_bytes_per_second")
        );
        assert_eq!(
            lines.next().unwrap(),
            "1,\"old \"\"run\"\".jsonl\",finished,padded,,,,64,2,1048576,4,4,0,0,6000000,0.25,\"/a, b\",2000000,2000000"
        );
    }
}
