//! Bringing what a job has written onto the medium while it still works, so that the end need not wait for it.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};

use super::EngineError;
use crate::storage::{DirectFile, StorageError, Store as _};

/// How long a drive may gather writes in its own cache.
const PERIOD: Duration = Duration::from_millis(400);

/// A thread that syncs files again and again; it ends when this is dropped.
pub struct Flushing {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Result<(), StorageError>>>,
}

impl Flushing {
    /// Begins to sync `files`.
    pub fn of(files: Vec<Arc<DirectFile>>) -> Result<Self, EngineError> {
        let (stop, stopped) = bounded::<()>(0);
        let work = move || {
            while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                files.iter().try_for_each(|file| file.sync())?;
            }
            Ok(())
        };
        let thread = std::thread::Builder::new()
            .name("flush".into())
            .spawn(work)
            .map_err(|error| EngineError::Threads(error.to_string()))?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }

    /// Ends it. A sync that failed is told once by the system, and never again: so it is told here.
    pub fn finish(mut self) -> Result<(), EngineError> {
        self.join()
    }

    fn join(&mut self) -> Result<(), EngineError> {
        self.stop = None;
        match self.thread.take().map(JoinHandle::join) {
            None => Ok(()),
            Some(Ok(result)) => Ok(result?),
            Some(Err(_)) => Err(EngineError::Panicked("the thread that syncs files".into())),
        }
    }
}

impl Drop for Flushing {
    fn drop(&mut self) {
        // The job has failed already, for another reason.
        let _ = self.join();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_when_asked_and_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let file = Arc::new(DirectFile::create(&folder.path().join("file")).unwrap());
        let flushing = Flushing::of(vec![file.clone()]).unwrap();
        file.write_at(&[7; 5000], 3).unwrap();
        std::thread::sleep(2 * PERIOD);
        flushing.finish().unwrap();
        drop(Flushing::of(vec![file.clone()]).unwrap());
        assert_eq!(Arc::strong_count(&file), 1, "no thread holds it any more");
    }
}
