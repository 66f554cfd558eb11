//! A progress bar for people who wait.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Until there is a bar at all, and between two of its pictures.
const PATIENCE: Duration = Duration::from_millis(500);
const BETWEEN: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;
/// No wider than a terminal usually is.
const LINE: usize = 79;

/// Shows on standard error how much of something is done, if that is a terminal, once it takes long enough to be noticed.
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

    /// How far it is; the line is only made where it is shown.
    pub(crate) fn update(&mut self, line: impl FnOnce(Duration) -> String) {
        let now = Instant::now();
        if self.is_on && now >= self.next {
            self.next = now + BETWEEN;
            let line: String = line(now - self.began).chars().take(LINE).collect();
            let _ = write!(stderr(), "\r{line:<width$}", width = self.shown);
            self.shown = line.chars().count();
        }
    }

    /// Takes the bar away.
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

/// A bar of a share that is done.
pub(crate) fn bar(share: f64) -> String {
    let share = share.clamp(0.0, 1.0);
    let marks = "#".repeat((share * WIDTH as f64).round() as usize);
    format!("{:3.0}% [{marks:<WIDTH$}]", share * 100.0)
}

/// How far reading is: bytes that are done, of how many, if that is known.
pub(crate) fn of_bytes(done: u64, total: Option<u64>, took: Duration) -> String {
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
            of_bytes(25_000_000, Some(100_000_000), second),
            " 25% [########                      ] 25 MB, 25 MB/s, 3 s left"
        );
        assert!(of_bytes(200, Some(100), second).starts_with("100% [##############################]"));
        assert_eq!(of_bytes(10_000_000, None, 2 * second), "10 MB, 5 MB/s");
    }
}
