//! The place where tests of segments run, and their children.

use std::path::{Path, PathBuf};

pub use crate::common::system::{Random, wait};
use picollo_core::counters::Metric;
use picollo_core::{Mode, Options, SharedHistogram};
use picollo_native::{Result, Status};
use picollo_segment::{Segment, SegmentOptions, Viewer};

/// A separate directory in memory, while it lives.
pub struct Place(PathBuf);

impl Place {
    pub fn new() -> Place {
        let path = PathBuf::from(format!("/dev/shm/picollo-test-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        // SAFETY: this program has one thread.
        unsafe { std::env::set_var("PICOLLO_DIR", &path) };
        Place(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn directory() -> PathBuf {
    std::env::var_os("PICOLLO_DIR").unwrap().into()
}

/// The smallest size with room for a few entries.
pub const SMALL: u64 = 6 << 20;

pub fn small(name: &str) -> Segment {
    Segment::create(&called(name)).unwrap()
}

/// The options of a small segment.
pub fn called(name: &str) -> SegmentOptions<'_> {
    SegmentOptions { name, max_bytes: SMALL, ..SegmentOptions::default() }
}

pub fn metric(name: &str) -> Metric<'_> {
    Metric { name, ..Metric::default() }
}

pub fn in_mode(mode: Mode) -> Options {
    Options { mode, ..Options::default() }
}

/// A histogram with the default options.
pub fn open(segment: Segment, name: &str) -> SharedHistogram {
    segment.histogram(&metric(name), &Options::default()).unwrap()
}

pub fn view(segment: Segment) -> Viewer {
    Viewer::open(segment.path()).unwrap()
}

/// The count in a histogram, for a new viewer.
pub fn total(path: &Path, index: usize) -> u64 {
    Viewer::open(path).unwrap().snapshot(index).unwrap().counts().total
}

/// The status of an error.
pub fn refusal<T>(answer: Result<T>) -> Status {
    answer.map(drop).unwrap_err().status()
}

/// Kills a child that was not waited for.
pub fn kill(child: i32) {
    // SAFETY: numbers only.
    assert_eq!(unsafe { libc::kill(child, libc::SIGKILL) }, 0);
    assert_eq!(wait(child), -libc::SIGKILL);
}

/// Runs a body in a child, which then ends without cleaning up, and returns the child.
pub fn start(body: impl FnOnce()) -> i32 {
    crate::common::system::start(|| {
        body();
        0
    })
}

/// The calling process ends with its parent, even if a test fails.
pub fn end_with_parent() {
    // SAFETY: numbers only.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Runs a body in a child, which has to succeed.
pub fn in_child(body: impl FnOnce()) {
    assert_eq!(wait(start(body)), 0);
}

/// The names of segments' files, including files that are not named as segments yet.
pub fn files() -> Vec<String> {
    let entries = std::fs::read_dir(directory()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
