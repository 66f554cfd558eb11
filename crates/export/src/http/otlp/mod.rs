//! Pushes to OpenTelemetry collectors: OTLP over HTTP with protobuf.
//!
//! This module has the settings ([`Settings`], from environment variables of the OpenTelemetry specification), one
//! request ([`Settings::post`]), and the thread that pushes repeatedly ([`Pusher`]). The data comes from elsewhere.

mod client;
mod settings;
#[cfg(test)]
pub(crate) mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

pub use client::{Outcome, PushError};
pub use settings::{Settings, Temporality};

use crate::http::registry::unix_nanos;

/// The source of pushes.
pub trait Export: Send {
    /// Encodes the current counts as an `ExportMetricsServiceRequest`. It is called once per push; retries send the
    /// same request.
    ///
    /// With delta temporality, it encodes the difference since the last call of [`Export::accepted`]. So a failed push
    /// extends the next interval: there is no queue, and nothing is lost. A panic is reported as an encoding error, and
    /// the next push calls this again.
    fn encode(&mut self, settings: &Settings, now_unix_nanos: u64) -> Result<Vec<u8>, String>;

    /// The last encoded request has arrived.
    fn accepted(&mut self);
}

/// A thread that pushes. When this is dropped, it pushes once more, for the counts since then.
///
/// Pushes start an interval apart. If a collector is busy or away, the same request is sent again, after 1, 2, 4 …
/// seconds or as the answer asks, until the interval is over. After a time-out, a collector that has accepted
/// everything gets the same counts twice: cumulative ones replace each other, but deltas are counted twice.
#[derive(Debug)]
pub struct Pusher {
    /// The thread makes its last push when this is dropped.
    alarm: Option<Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Pusher {
    /// Starts the thread, which passes the result of each push to the callback, for example to log failures.
    pub fn start<E, T>(settings: Settings, mut export: E, mut report: T) -> std::io::Result<Pusher>
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
                report(&push(&settings, &mut export, next + settings.interval, &end));
                if !goes_on {
                    break;
                }
            }
        })?;
        Ok(Pusher { alarm: Some(alarm), thread: Some(thread) })
    }
}

impl Drop for Pusher {
    /// Waits for the last push, which is tried once: at most as long as one request may take.
    fn drop(&mut self) {
        drop(self.alarm.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits until a moment or the end of the pusher. Returns whether to continue.
fn wait_until(moment: Instant, end: &Receiver<()>) -> bool {
    let left = moment.saturating_duration_since(Instant::now());
    end.recv_timeout(left) == Err(RecvTimeoutError::Timeout)
}

/// One push with its retries.
fn push(
    settings: &Settings,
    export: &mut impl Export,
    deadline: Instant,
    end: &Receiver<()>,
) -> Result<Outcome, PushError> {
    // A panic costs one push, just like one scrape.
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
