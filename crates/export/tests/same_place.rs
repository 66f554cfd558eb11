//! A registry recognizes a histogram that is made where another one was.
#![cfg(not(loom))]

use picollo_core::counters::Metric;
use picollo_core::{Options, SharedHistogram};
use picollo_export::Registry;

/// Memory in which tests make one histogram after another.
struct Memory(*mut u8, usize);

impl Memory {
    fn new() -> Memory {
        let size = SharedHistogram::required_size(&options()).unwrap();
        let layout = std::alloc::Layout::from_size_align(size, SharedHistogram::ALIGNMENT).unwrap();
        // SAFETY: it has a size. It stays until the process ends.
        Memory(unsafe { std::alloc::alloc_zeroed(layout) }, size)
    }

    /// Makes a histogram, as a writer does that starts or restarts.
    fn make(&self) -> SharedHistogram {
        // SAFETY: the memory outlives the histograms of these tests, which use one at a time.
        unsafe { SharedHistogram::init_in(self.0, self.1, &options()) }.unwrap()
    }

    fn attach(&self) -> SharedHistogram {
        // SAFETY: as above.
        unsafe { SharedHistogram::attach(self.0, self.1) }.unwrap()
    }
}

fn options() -> Options {
    Options { counter_bits: 64, relative_error: 0.1, max_trackable: 1000, ..Options::default() }
}

fn metric(name: &str) -> Metric<'_> {
    Metric { name, since_reset: true, ..Metric::default() }
}

fn exposition(registry: &mut Registry) -> String {
    registry.update(0).unwrap();
    let mut text = String::new();
    registry.write_openmetrics(&mut text).unwrap();
    text
}

fn record_and_reset(histogram: &SharedHistogram, before: u64, after: u64) {
    histogram.record_n(7, before);
    histogram.reset().unwrap();
    histogram.record_n(7, after);
}

/// Adds the histogram, which has this count since its reset, reads it, and removes it.
fn is_exposed(registry: &mut Registry, histogram: &SharedHistogram, count: u64) {
    let id = registry.add(histogram, &metric("latency"), &[]).unwrap();
    let text = exposition(registry);
    assert!(text.contains(&format!("latency_count {count}\n")), "{text}");
    assert!(registry.remove(id));
}

/// The histogram is freed, its writer restarts, and the new one is in the same place.
#[test]
fn a_registry_takes_no_base_from_one_histogram_to_another() {
    let memory = Memory::new();
    let mut registry = Registry::new();
    for count in [1067, 100, 5] {
        let histogram = memory.make();
        record_and_reset(&histogram, count, count);
        is_exposed(&mut registry, &histogram, count);
    }
    // These are copies of one image with different baselines, although both were reset the same number of times.
    let other = Memory::new();
    let original = memory.make();
    // SAFETY: both have this size, and nobody records meanwhile.
    unsafe { std::ptr::copy_nonoverlapping(memory.0, other.0, other.1) };
    let copy = other.attach();
    for (histogram, count, name) in [(&original, 10, "original"), (&copy, 4000, "copy")] {
        record_and_reset(histogram, count, count / 2);
        registry.add(histogram, &metric(name), &[]).unwrap();
    }
    let text = exposition(&mut registry);
    assert!(text.contains("original_count 5\n") && text.contains("copy_count 2000\n"), "{text}");
}

/// Writers forked one after another from one process have everything in common except the ingredients of identities.
#[cfg(all(target_os = "linux", not(miri)))]
#[test]
fn forked_writers_in_the_same_place() {
    let size = SharedHistogram::required_size(&options()).unwrap();
    let (shared, all) = (libc::MAP_SHARED | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
    // SAFETY: this is a new mapping, which stays until the process ends.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), size, all, shared, -1, 0) };
    assert_ne!(start, libc::MAP_FAILED);
    let memory = Memory(start.cast(), size);
    let mut registry = Registry::new();
    for count in [1067, 100, 5] {
        // SAFETY: the child uses only its own copy and shared memory, and does not return. Nobody else waits for it.
        unsafe {
            let child = libc::fork();
            assert!(child >= 0);
            if child == 0 {
                libc::alarm(60);
                record_and_reset(&memory.make(), 2 * count, count);
                libc::_exit(0);
            }
            let mut status = 1;
            assert!(libc::waitpid(child, &mut status, 0) == child && status == 0);
        }
        is_exposed(&mut registry, &memory.attach(), count);
    }
}
