//! A progress bar for people who wait.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Delay before the bar appears, and between updates.
const PATIENCE: Duration = Duration::from_millis(500);
const BETWEEN: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;
/// Width of a usual terminal.
const LINE: usize = 79;

/// Shows progress on standard error, if that is a terminal and the work takes long enough.
pub(crate) struct Progress {
    is_on: bool,
    began: Instant,
    next: Instant,
    shown: usize,
}

impl Progress {
    pub(crate) fn new(is_on: bool) -> Progress {
        let began = Instant::now();
        Progress { is_on: is_on && stderr().is_terminal(), began, next: began + PATIENCE, shown: 0 }
    }

    /// Updates the progress. The line is only created if it is shown.
    pub(crate) fn update(&mut self, line: impl FnOnce(Duration) -> String) {
        let now = Instant::now();
        if self.is_on && now >= self.next {
            self.next = now + BETWEEN;
            let line: String = line(now - self.began).chars().take(LINE).collect();
            let _ = write!(stderr(), "\r{line:<width$}", width = self.shown);
            self.shown = line.chars().count();
        }
    }

    /// Removes the bar.
    pub(crate) fn clear(&mut self) {
        if self.shown > 0 {
            let _ = write!(stderr(), "\r{:<width$}\r", "", width = self.shown);
            self.shown = 0;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// A bar for a share that is done.
pub(crate) fn bar(share: f64) -> String {
    let share = share.clamp(0.0, 1.0);
    let marks = "#".repeat((share * WIDTH as f64).round() as usize);
    format!("{:3.0}% [{marks:<WIDTH$}]", share * 100.0)
}

/// Progress of reading: bytes done, and the total if known.
pub(crate) fn format_bytes(done: u64, total: Option<u64>, took: Duration) -> String {
    let rate = done as f64 / took.as_secs_f64().max(1e-9);
    let text = format!("{:.0} MB, {:.0} MB/s", done as f64 / 1e6, rate / 1e6);
    match total {
        None | Some(0) => text,
        Some(total) => {
            let left = if rate > 0.0 { total.saturating_sub(done) as f64 / rate } else { 0.0 };
            format!("{} {text}, {left:.0} s left", bar(done as f64 / total as f64))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let second = Duration::from_secs(1);
        assert_eq!(
            format_bytes(25_000_000, Some(100_000_000), second),
            " 25% [########                      ] 25 MB, 25 MB/s, 3 s left"
        );
        assert!(format_bytes(200, Some(100), second).starts_with("100% [##############################]"));
        assert_eq!(format_bytes(10_000_000, None, 2 * second), "10 MB, 5 MB/s");
    }
}
