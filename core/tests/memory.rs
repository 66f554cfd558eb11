//! Histograms in memory that processes share: one records, another reads and resets.
#![cfg(all(feature = "std", target_os = "linux"))]

use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering::*};

use picollo_core::{AtomicU64, Error, Histogram, Mode, Options, SharedHistogram, Since, Snapshot};

/// Pages that a child process shares.
struct Pages {
    file: libc::c_int,
    start: *mut u8,
    size: usize,
}

impl Pages {
    fn new(size: usize) -> Pages {
        // SAFETY: a new file, which the system frees with its last user.
        let file = unsafe { libc::memfd_create(c"picollo".as_ptr(), libc::MFD_CLOEXEC) };
        // SAFETY: ours.
        assert!(file >= 0 && unsafe { libc::ftruncate(file, size as libc::off_t) } == 0);
        Pages::map(file, size)
    }

    fn map(file: libc::c_int, size: usize) -> Pages {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping, wherever there is room.
        let start = unsafe { libc::mmap(ptr::null_mut(), size, protection, libc::MAP_SHARED, file, 0) };
        assert_ne!(start, libc::MAP_FAILED);
        Pages { file, start: start.cast(), size }
    }

    /// The same pages at another address, as a process that maps them itself sees them.
    fn elsewhere(&self) -> Pages {
        // SAFETY: our file.
        Pages::map(unsafe { libc::dup(self.file) }, self.size)
    }

    /// A word behind the histogram, by which the processes tell each other how far they are.
    fn phase(&self) -> &AtomicU32 {
        // SAFETY: page-aligned, and kept free of the histogram.
        unsafe { &*self.start.add(self.size - 64).cast() }
    }

    fn wait_for(&self, phase: u32) {
        while self.phase().load(Acquire) < phase {
            std::thread::yield_now();
        }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: mapped by us, and not used any more.
        unsafe {
            libc::munmap(self.start.cast(), self.size);
            libc::close(self.file);
        }
    }
}

const RECORDS: u64 = 300_000;
const WRITERS: u64 = 3;

/// Runs `child` in a process of its own; the status it exits with.
fn in_a_child(child: impl FnOnce() -> bool) -> impl FnOnce() -> i32 {
    // SAFETY: the child only records and reads memory, and leaves without running anything of ours.
    let id = unsafe { libc::fork() };
    assert!(id >= 0);
    if id == 0 {
        let succeeded = child();
        // SAFETY: ends the child.
        unsafe { libc::_exit(if succeeded { 0 } else { 1 }) };
    }
    move || {
        let mut status = -1;
        // SAFETY: our child.
        unsafe { libc::waitpid(id, &mut status, 0) };
        status
    }
}

#[test]
fn one_process_records_and_another_reads_and_resets() {
    if cfg!(picollo_critical_64) {
        println!("SKIPPED: critical sections do not reach into another process");
        return;
    }
    for (mode, counter_bits) in
        [(Mode::SingleWriter, 64), (Mode::SingleWriter, 32), (Mode::Interlocked, 64), (Mode::Interlocked, 32)]
    {
        let options = Options {
            mode,
            counter_bits,
            relative_error: 0.01,
            max_trackable: 1 << 20,
            ..Options::default()
        };
        let size = SharedHistogram::required_size(&options).unwrap();
        let pages = Pages::new(size.next_multiple_of(4096) + 4096);
        let writers = if mode == Mode::Interlocked { WRITERS } else { 1 };
        // Made here, found by the others.
        // SAFETY: the pages outlive the histogram.
        let histogram = unsafe { SharedHistogram::init_in_unguarded(pages.start, size, &options) }.unwrap();
        let children: Vec<_> = (0..writers)
            .map(|writer| {
                let pages = &pages;
                in_a_child(move || {
                    let pages = pages.elsewhere();
                    // SAFETY: as above.
                    let Ok(histogram) = (unsafe { SharedHistogram::attach_unguarded(pages.start, size) })
                    else {
                        return false;
                    };
                    pages.wait_for(1);
                    for record in 0..RECORDS {
                        histogram.record(record % 1000 * 1500 + writer);
                        if record == RECORDS / 2 && writer == 0 {
                            // Half of it, at least, comes after the first reset.
                            pages.wait_for(2);
                        }
                    }
                    true
                })
            })
            .collect();
        let (mut monitor, mut since_reset) =
            (Snapshot::boxed(*histogram.layout()).unwrap(), Snapshot::boxed(*histogram.layout()).unwrap());
        histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        pages.phase().store(1, Release);
        let (mut seen, mut overflow) = (0, 0);
        let mut delta = |monitor: &mut Snapshot| {
            histogram.update(monitor, Since::PreviousUpdate).unwrap();
            (seen, overflow) = (seen + monitor.counts().total, overflow + monitor.counts().overflow);
            seen + overflow
        };
        while delta(&mut monitor) < RECORDS / 2 {}
        histogram.reset().unwrap();
        pages.phase().store(2, Release);
        for _ in 0..100 {
            histogram.reset().unwrap();
            delta(&mut monitor);
        }
        for child in children {
            assert_eq!(child(), 0, "a child failed");
        }
        assert_eq!(delta(&mut monitor), writers * RECORDS);
        histogram.update(&mut since_reset, Since::Reset).unwrap();
        let left = since_reset.counts();
        assert!(left.total + left.overflow <= writers * RECORDS - RECORDS / 2);
        histogram.reset().unwrap();
        histogram.update(&mut since_reset, Since::Reset).unwrap();
        assert_eq!(since_reset.counts(), Default::default());
        assert!(overflow > 0 && seen > 0);
    }
}

/// A reset in one process is one in all.
#[test]
fn a_child_resets() {
    let options = Options { mode: Mode::Interlocked, relative_error: 0.01, ..Options::default() };
    let size = SharedHistogram::required_size(&options).unwrap();
    let pages = Pages::new(size.next_multiple_of(4096) + 4096);
    // SAFETY: the pages outlive the histogram.
    let histogram = unsafe { SharedHistogram::init_in(pages.start, size, &options) }.unwrap();
    histogram.record_n(77, 10);
    let child = in_a_child(|| {
        let pages = pages.elsewhere();
        // SAFETY: as above.
        let histogram = unsafe { SharedHistogram::attach(pages.start, size) }.unwrap();
        histogram.reset().unwrap();
        histogram.record(78);
        true
    });
    assert_eq!(child(), 0);
    let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    histogram.update(&mut snapshot, Since::Reset).unwrap();
    assert_eq!((snapshot.counts().total, snapshot.bucket_of(78).unwrap().count), (1, 1));
}

/// What version 1 made: one bank behind the counters, a flag less, and zeros where the identity is now.
unsafe fn make_it_version_1(start: *mut u8) {
    // SAFETY: inside the header, as laid out in image.rs; the caller has it alone.
    unsafe {
        start.add(60).cast::<u16>().write(1);
        start.add(63).write(start.add(63).read() & !8);
        start.add(200).write_bytes(0, 48);
    }
}

/// In an image of version 1, a process that dies inside a reset leaves the baseline in disorder: resets and first reads say
/// so, records and deltas go on.
#[test]
fn an_image_of_version_1_is_what_it_was() {
    let options =
        Options { mode: Mode::Interlocked, counter_bits: 64, relative_error: 0.01, ..Options::default() };
    let size = SharedHistogram::required_size(&options).unwrap();
    let pages = Pages::new(size.next_multiple_of(4096));
    // SAFETY: the pages outlive the histogram.
    let histogram = unsafe {
        SharedHistogram::init_in(pages.start, size, &options).unwrap();
        make_it_version_1(pages.start);
        // It is as large as one on the heap.
        let size = Histogram::<[AtomicU64]>::boxed(options.layout().unwrap(), true).unwrap().footprint();
        assert!(SharedHistogram::attach(pages.start, size - 1).is_err());
        SharedHistogram::attach(pages.start, size).unwrap()
    };
    let mut monitor = Snapshot::boxed(*histogram.layout()).unwrap();
    let mut since_reset = Snapshot::boxed(*histogram.layout()).unwrap();
    for count in [3, 5] {
        histogram.record_n(7, count);
        histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
        assert_eq!(monitor.counts().total, count);
        histogram.reset().unwrap();
        histogram.record(7);
        histogram.update(&mut since_reset, Since::Reset).unwrap();
        assert_eq!(since_reset.counts().total, 1);
        histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
    }
    // What a process leaves that dies inside a reset: an odd version.
    // SAFETY: as above.
    unsafe { (*pages.start.add(192).cast::<AtomicU32>()).store(7, Relaxed) };
    histogram.record(5);
    histogram.update(&mut monitor, Since::PreviousUpdate).unwrap();
    assert_eq!(monitor.counts().total, 1);
    assert_eq!(histogram.reset(), Err(Error::Busy));
    let mut other = Snapshot::boxed(*histogram.layout()).unwrap();
    assert_eq!(histogram.update(&mut other, Since::Reset), Err(Error::Busy));
    // SAFETY: as above; a version that is not there yet.
    unsafe {
        pages.start.add(60).cast::<u16>().write(4);
        assert_eq!(SharedHistogram::attach(pages.start, size).err(), Some(Error::Incompatible));
    }
}
