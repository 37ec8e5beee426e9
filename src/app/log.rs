//! What has happened, for the status line and the log.

use std::collections::VecDeque;
use std::time::SystemTime;

use super::clock;

/// Entries kept.
const LENGTH: usize = 500;

/// How much an entry matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Something went as asked.
    Info,
    /// Something to know.
    Note,
    /// Something failed.
    Error,
}

impl Level {
    /// All of them with the name and the meaning of their entries.
    pub const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Info, "Info", "What went as asked"),
        (Self::Note, "Notes", "What is good to know"),
        (Self::Error, "Errors", "What failed, and why"),
    ];

    /// As a copied log has it.
    const fn word(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Note => "note",
            Self::Error => "error",
        }
    }
}

/// The levels that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter([bool; 3]);

impl Default for Filter {
    fn default() -> Self {
        Self([true; 3])
    }
}

impl Filter {
    /// Whether entries of a level are shown.
    #[must_use]
    pub const fn shows(self, level: Level) -> bool {
        self.0[level as usize]
    }

    /// The filter with a level shown or not.
    #[must_use]
    pub const fn with(mut self, level: Level, shown: bool) -> Self {
        self.0[level as usize] = shown;
        self
    }
}

/// One thing that happened.
#[derive(Debug, Clone)]
pub struct Entry {
    /// How much it matters.
    pub level: Level,
    /// One sentence.
    pub text: String,
    /// When it happened.
    pub at: SystemTime,
}

/// The latest entries, and the error that waits for the user.
#[derive(Debug, Default)]
pub struct Log {
    entries: VecDeque<Entry>,
    error: Option<String>,
}

impl Log {
    /// Adds an entry; an error also stays in its strip until it is dismissed.
    pub fn add(&mut self, level: Level, text: impl Into<String>, at: SystemTime) {
        let text = text.into();
        if level == Level::Error {
            self.error = Some(text.clone());
        }
        if self.entries.len() == LENGTH {
            self.entries.pop_front();
        }
        self.entries.push_back(Entry { level, text, at });
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// How many entries of a level there are.
    #[must_use]
    pub fn count(&self, level: Level) -> usize {
        self.entries.iter().filter(|entry| entry.level == level).count()
    }

    /// All entries as text, a line for each.
    #[must_use]
    pub fn text(&self) -> String {
        let line = |e: &Entry| format!("{} {}: {}\n", clock::time(e.at), e.level.word(), e.text);
        self.entries.iter().map(line).collect()
    }

    /// The error that was not dismissed.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Takes the error's strip away.
    pub fn dismiss(&mut self) {
        self.error = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_hidden_and_shown() {
        let errors = Filter::default().with(Level::Info, false).with(Level::Note, false);
        assert_eq!(Level::ALL.map(|(level, ..)| errors.shows(level)), [false, false, true]);
        assert!(errors.with(Level::Note, true).shows(Level::Note));
    }

    #[test]
    fn only_the_latest_entries_are_kept_and_each_is_a_line() {
        let mut log = Log::default();
        for i in 0..LENGTH + 3 {
            let level = if i % 2 == 0 { Level::Note } else { Level::Error };
            log.add(level, format!("entry {i}"), SystemTime::UNIX_EPOCH);
        }
        let text = log.text();
        assert_eq!(text.lines().count(), LENGTH);
        assert!(text.lines().next().unwrap().ends_with(" error: entry 3"), "{text}");
        assert_eq!(log.count(Level::Note) + log.count(Level::Error), LENGTH);
        assert_eq!(log.error(), Some(format!("entry {}", LENGTH + 1).as_str()));
    }
}
