//! Work off the window's thread, and the call that wakes the window when it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TryRecvError};

/// The longest time between an event and its frame.
const COALESCE: Duration = Duration::from_millis(100);

/// Wakes the window, at most 10 times a second: drawing must not take the engine's cores.
#[derive(Clone)]
pub struct Wake {
    ctx: egui::Context,
    pending: Arc<AtomicBool>,
}

impl Wake {
    /// A wake-up for the window of `ctx`.
    #[must_use]
    pub fn new(ctx: &egui::Context) -> Self {
        Self { ctx: ctx.clone(), pending: Arc::default() }
    }

    /// Asks for a frame soon; returns at once.
    pub fn call(&self) {
        if !self.pending.swap(true, Ordering::AcqRel) {
            self.ctx.request_repaint_after(COALESCE);
        }
    }

    /// Lets the next call through; to be called before looking at what woke the window.
    pub fn clear(&self) {
        self.pending.store(false, Ordering::Release);
    }
}

/// The state of a [`Task`].
#[derive(Debug)]
pub enum Poll<T> {
    /// Not done.
    Pending,
    /// Its result.
    Done(T),
    /// The work panicked, or its thread could not be started.
    Lost,
}

/// One piece of work on a named thread of its own.
#[derive(Debug)]
pub struct Task<T> {
    receiver: Receiver<T>,
}

/// Wakes the window after the result, or its absence, can be seen.
struct Notify<T> {
    sender: Option<Sender<T>>,
    wake: Wake,
}

impl<T> Drop for Notify<T> {
    fn drop(&mut self) {
        self.sender = None;
        self.wake.call();
    }
}

impl<T: Send + 'static> Task<T> {
    /// Starts `work`.
    #[must_use]
    pub fn spawn(name: &str, wake: Wake, work: impl FnOnce() -> T + Send + 'static) -> Self {
        let (sender, receiver) = crossbeam_channel::bounded(1);
        let notify = Notify { sender: Some(sender), wake };
        let body = move || {
            let notify = notify;
            let result = work();
            if let Some(sender) = &notify.sender {
                // The receiver is gone when nobody wants the result any more.
                let _ = sender.send(result);
            }
        };
        // A thread that cannot be started drops its end of the channel: the task is lost.
        let _ = std::thread::Builder::new().name(name.into()).spawn(body);
        Self { receiver }
    }

    /// What has become of it; a result is handed out once.
    #[must_use]
    pub fn poll(&self) -> Poll<T> {
        match self.receiver.try_recv() {
            Ok(result) => Poll::Done(result),
            Err(TryRecvError::Empty) => Poll::Pending,
            Err(TryRecvError::Disconnected) => Poll::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait<T: Send + 'static>(task: &Task<T>) -> Poll<T> {
        for _ in 0..500 {
            match task.poll() {
                Poll::Pending => std::thread::sleep(Duration::from_millis(10)),
                done => return done,
            }
        }
        panic!("the task never ended");
    }

    #[test]
    fn a_burst_of_events_asks_for_one_frame() {
        let ctx = egui::Context::default();
        let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counter = asked.clone();
        ctx.set_request_repaint_callback(move |_| {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        let wake = Wake::new(&ctx);
        for _ in 0..1000 {
            wake.call();
        }
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        // The first frames of a context ask for further ones by themselves.
        for _ in 0..5 {
            let _ = ctx.run_ui(egui::RawInput::default(), |_| wake.clear());
        }
        let before = asked.load(Ordering::Relaxed);
        wake.call();
        wake.call();
        assert_eq!(asked.load(Ordering::Relaxed), before + 1, "the next event asks for the next frame");
    }

    #[test]
    fn a_result_arrives_and_a_panic_is_seen() {
        let wake = Wake::new(&egui::Context::default());
        assert!(matches!(wait(&Task::spawn("sum", wake.clone(), || 2 + 3)), Poll::Done(5)));
        let panics: Task<u8> = Task::spawn("panics", wake, || panic!("on purpose"));
        assert!(matches!(wait(&panics), Poll::Lost));
    }
}
