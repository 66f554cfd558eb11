//! Pushes to OpenTelemetry collectors: OTLP over HTTP with protobuf.
//!
//! What is sent is made elsewhere; here are the settings ([`Settings`], from the environment as the OpenTelemetry specification names
//! it), one request ([`Settings::post`]), and the thread that sends again and again ([`Pusher`]).

mod client;
mod settings;
#[cfg(test)]
pub(crate) mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

pub use client::{Outcome, PushError};
pub use picollo_core::Temporality;
pub use settings::Settings;

use crate::registry::unix_nanos;

/// What is pushed.
pub trait Export: Send {
    /// Takes the counts of now, and makes an `ExportMetricsServiceRequest` of them. Called once a push; what is sent again after an
    /// answer that says so is the same.
    ///
    /// With delta temporality: the difference to what was sent when [`Export::accepted`] was called last. So a push that fails makes the next
    /// one's interval longer; nothing is kept in a queue, and nothing is lost. A panic is reported as what could not be encoded, and the
    /// next push calls this again.
    fn encode(&mut self, settings: &Settings, now_unix_nanos: u64) -> Result<Vec<u8>, String>;

    /// What was encoded last has arrived.
    fn accepted(&mut self);
}

/// A thread that pushes; it pushes once more when this is dropped, for what came since.
///
/// Pushes are an interval apart, from beginning to beginning. Where a collector is busy or away, the same is sent again, after 1, 2, 4 …
/// seconds or what the answer says, until the interval is over. If a time-out comes after the collector has accepted all, it gets
/// the same counts twice: cumulative ones replace each other; of deltas that interval is counted twice.
#[derive(Debug)]
pub struct Pusher {
    /// The thread makes its last push when this is dropped.
    alarm: Option<Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Pusher {
    /// Starts the thread. `tell` is called after each push, by that thread, with what the collector made of it: to log what failed.
    pub fn start<E, T>(settings: Settings, mut export: E, mut tell: T) -> std::io::Result<Pusher>
    where
        E: Export + 'static,
        T: FnMut(&Result<Outcome, PushError>) + Send + 'static,
    {
        let (alarm, end) = channel();
        let thread = thread::Builder::new().name("picollo-push".into()).spawn(move || {
            let mut next = Instant::now();
            loop {
                next = (next + settings.interval).max(Instant::now());
                let goes_on = wait_until(next, &end);
                tell(&push(&settings, &mut export, next + settings.interval, &end));
                if !goes_on {
                    break;
                }
            }
        })?;
        Ok(Pusher { alarm: Some(alarm), thread: Some(thread) })
    }
}

impl Drop for Pusher {
    /// Waits for the last push, which is tried once: as long as one request may take.
    fn drop(&mut self) {
        drop(self.alarm.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits until a moment or the end of the pusher. Returns whether to go on.
fn wait_until(moment: Instant, end: &Receiver<()>) -> bool {
    let left = moment.saturating_duration_since(Instant::now());
    end.recv_timeout(left) == Err(RecvTimeoutError::Timeout)
}

/// One push, with what has to be repeated.
fn push(
    settings: &Settings,
    export: &mut impl Export,
    deadline: Instant,
    end: &Receiver<()>,
) -> Result<Outcome, PushError> {
    // A panic costs one push, as it costs one scrape.
    let encoded = catch_unwind(AssertUnwindSafe(|| export.encode(settings, unix_nanos())));
    let request = encoded.unwrap_or_else(|_| Err("a panic".into())).map_err(PushError::Encoding)?;
    let mut pause = Duration::from_secs(1);
    loop {
        let result = settings.post(&request);
        let after = match &result {
            Err(PushError::Later { after, .. }) => after.unwrap_or(pause),
            _ => pause,
        };
        let again = Instant::now().checked_add(after).filter(|again| *again < deadline);
        match (&result, again) {
            (Err(error), Some(again)) if error.may_pass() && wait_until(again, end) => pause *= 2,
            _ => {
                if result.is_ok() {
                    export.accepted();
                }
                return result;
            }
        }
    }
}
