//! Events of a job sorted into tracks: one for each drive, and one for each stream that is computed.

use super::events::{ChunkEvent, Kind};

/// Whose work a track shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Track {
    /// What a drive reads and writes, by its index in the job.
    Drive(usize),
    /// What is computed of a stream.
    Stream(usize),
}

impl Track {
    /// The track of an event; none of a wait, which is the gap between others.
    #[must_use]
    pub const fn of(event: &ChunkEvent) -> Option<Self> {
        match (event.kind, event.drive) {
            (Kind::Wait, _) => None,
            (Kind::Compute, _) | (_, None) => Some(Self::Stream(event.stream)),
            (Kind::Read | Kind::Write, Some(drive)) => Some(Self::Drive(drive)),
        }
    }

    /// The track as people count: `drive 1`, `compute, stream 1`.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Drive(drive) => format!("drive {}", drive + 1),
            Self::Stream(stream) => format!("compute, stream {}", stream + 1),
        }
    }

    /// All tracks of some events, in order.
    #[must_use]
    pub fn all<'e>(events: impl IntoIterator<Item = &'e ChunkEvent>) -> Vec<Self> {
        let found: std::collections::BTreeSet<_> = events.into_iter().filter_map(Self::of).collect();
        found.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drives_and_streams_have_tracks_and_waiting_has_none() {
        let event = |kind, drive, stream| ChunkEvent {
            pass: 0,
            stream,
            chunk: 0,
            drive,
            kind,
            start: 0.0,
            end: 1.0,
            bytes: 0,
        };
        let events = [
            event(Kind::Compute, None, 1),
            event(Kind::Write, Some(2), 0),
            event(Kind::Read, Some(0), 1),
            event(Kind::Wait, Some(5), 0),
            event(Kind::Write, Some(0), 0),
        ];
        assert_eq!(Track::all(&events), [Track::Drive(0), Track::Drive(2), Track::Stream(1)]);
        assert_eq!(Track::Stream(1).name(), "compute, stream 2");
    }
}
