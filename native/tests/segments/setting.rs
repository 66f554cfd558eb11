//! Where tests of segments take place, and their children.

use std::path::PathBuf;

pub use crate::common::system::{Random, wait};
use picollo_core::Metric;
use picollo_native::{Segment, SegmentOptions};

/// A directory of its own in memory, while it lives.
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

/// The smallest there is room for a few entries in.
pub const SMALL: u64 = 6 << 20;

pub fn small(name: &str) -> Segment {
    Segment::create(&called(name)).unwrap()
}

/// What a small one is made of.
pub fn called(name: &str) -> SegmentOptions<'_> {
    SegmentOptions { name, max_bytes: SMALL, ..SegmentOptions::default() }
}

pub fn metric(name: &str) -> Metric<'_> {
    Metric { name, ..Metric::default() }
}

/// Runs it in a child, which then ends without cleaning up, and returns the child.
pub fn start(body: impl FnOnce()) -> i32 {
    crate::common::system::start(|| {
        body();
        0
    })
}

/// The calling process ends with its parent: also where a test fails.
pub fn end_with_parent() {
    // SAFETY: numbers only.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Waits for it in a child, which has to end well.
pub fn in_child(body: impl FnOnce()) {
    assert_eq!(wait(start(body)), 0);
}

/// The files of segments there are, also those that are not named yet.
pub fn files() -> Vec<String> {
    let entries = std::fs::read_dir(directory()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
