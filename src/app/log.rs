//! What has happened, for the status line and the log.

use std::collections::VecDeque;

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

/// One thing that happened.
#[derive(Debug, Clone)]
pub struct Entry {
    /// How much it matters.
    pub level: Level,
    /// One sentence.
    pub text: String,
    /// Seconds since the window opened.
    pub at: f64,
}

/// The latest entries, and the error that waits for the user.
#[derive(Debug, Default)]
pub struct Log {
    entries: VecDeque<Entry>,
    error: Option<String>,
}

impl Log {
    /// Adds an entry; an error also stays in its strip until it is dismissed.
    pub fn add(&mut self, level: Level, text: impl Into<String>, at: f64) {
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
