//! The columns of the history's table: their order, their text, and the same as CSV.

use std::cmp::Ordering;

use std::time::SystemTime;

use super::super::{clock, text};
use super::{DriveRate, Entry};

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Column {
    #[default]
    Run,
    When,
    Output,
    Chunk,
    Buffers,
    Seconds,
    Phase1,
    Phase2,
    Phase3,
    Waiting,
    Read,
    Write,
    Method,
    Samples,
    Precision,
    Memory,
    Moved,
    Ended,
}

impl Column {
    /// All columns with their heads, of one or two lines, and what they mean.
    pub const ALL: [(Self, &'static str, &'static str); 18] = [
        (Self::Run, "run", "Number of the run"),
        (Self::When, "when", "When the run ended, or its file was opened"),
        (Self::Output, "output", "The hologram's file, or the file of events that was opened"),
        (Self::Chunk, "chunk", "Lines of a chunk"),
        (Self::Buffers, "buffers", "Chunks a stage may hold ahead"),
        (Self::Seconds, "seconds", "Seconds of all passes, of the hologram and of the reconstructions"),
        (Self::Phase1, "phase\n1, s", "Seconds of the passes over rows forth, or of blocks"),
        (Self::Phase2, "phase\n2, s", "Seconds of the passes over columns"),
        (Self::Phase3, "phase\n3, s", "Seconds of the passes over rows back"),
        (
            Self::Waiting,
            "waiting",
            "Share of their time in which readers and writers waited for other stages",
        ),
        (Self::Read, "read\nMB/s", "What the drives reached while they read, added up"),
        (Self::Write, "write\nMB/s", "What the drives reached while they wrote, added up"),
        (Self::Method, "method", "The method that propagated the planes"),
        (Self::Samples, "samples", "Samples along x and y"),
        (Self::Precision, "precision", "The arithmetic"),
        (Self::Memory, "memory", "Memory set aside for the first job"),
        (Self::Moved, "moved", "Bytes read and written on all drives"),
        (Self::Ended, "ended", "How the run ended"),
    ];

    /// What a cell says under the pointer, where it sums something up.
    #[must_use]
    pub fn detail(self, entry: &Entry) -> Option<String> {
        let rate: fn(&DriveRate) -> Option<f64> = match self {
            Self::Read => |drive| drive.read,
            Self::Write => |drive| drive.write,
            _ => return None,
        };
        let each = |drive: &DriveRate| {
            let rate = rate(drive).map_or_else(|| "–".into(), |rate| format!("{:.0} MB/s", rate / 1e6));
            format!("{}: {rate}", drive.name)
        };
        Some(entry.drives.iter().map(each).collect::<Vec<_>>().join("\n"))
    }

    /// The text of an entry's cell.
    #[must_use]
    pub fn text(self, entry: &Entry) -> String {
        let seconds = |seconds: f64| if seconds > 0.0 { format!("{seconds:.2}") } else { "–".into() };
        match self {
            Self::Run => entry.id.to_string(),
            Self::When => clock::moment(entry.at(), SystemTime::now()),
            Self::Output => entry.name.clone(),
            Self::Ended => entry.ended.words().into(),
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
            Self::Read => rate(sum(&entry.drives, |drive| drive.read)),
            Self::Write => rate(sum(&entry.drives, |drive| drive.write)),
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
            Self::When => one.at().cmp(&other.at()),
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

fn rate(rate: f64) -> String {
    if rate > 0.0 { format!("{:.0}", rate / 1e6) } else { "–".into() }
}

/// The runs as CSV, with bytes and seconds as plain numbers and a column for each drive's rates.
pub fn csv<'e>(entries: impl Iterator<Item = &'e Entry> + Clone) -> Result<Vec<u8>, csv::Error> {
    let drives = entries.clone().map(|entry| entry.drives.len()).max().unwrap_or(0);
    let mut table = csv::Writer::from_writer(Vec::new());
    let mut head: Vec<String> = [
        "run",
        "when",
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
            clock::stamp(entry.at()),
            entry.name.clone(),
            entry.ended.words().to_owned(),
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
        assert_eq!(cells[1].len(), "14:05".len(), "today");
        let expected = [
            "3",
            &cells[1],
            "old \"run\".jsonl",
            "64",
            "2",
            "4.00",
            "–",
            "4.00",
            "–",
            "25 %",
            "2",
            "2",
            "padded",
            "",
            "",
            "1 MiB",
            "5.72 MiB",
            "finished",
        ];
        assert_eq!(cells.each_ref().map(String::as_str), expected);
        assert_eq!(Column::Read.detail(&entry).as_deref(), Some("/a, b: 2 MB/s"));
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
        let (number, rest) = lines.next().unwrap().split_once(',').unwrap();
        let (when, rest) = rest.split_once(',').unwrap();
        assert_eq!(number, "1");
        assert!(when.len() > 20 && when[..4].parse::<u32>().is_ok(), "{when}");
        assert_eq!(
            rest,
            "\"old \"\"run\"\".jsonl\",finished,padded,,,,64,2,1048576,4,4,0,0,6000000,0.25,\"/a, b\",2000000,2000000"
        );
    }
}
