//! What a ring costs, printed: `cargo test -p picollo-native --lib ring::figures -- --ignored --nocapture --test-threads=1`. They are asserted
//! nowhere: they are the machine's.

use std::time::Duration;

use super::*;
use crate::exemplars::bracket::Bracket;
use crate::exemplars::cgroup::Cgroup;

const MANY: usize = usize::MAX;

/// The least, the median and the 90th percentile of so many runs, each of so many repetitions, in nanoseconds a repetition.
fn figures(name: &str, runs: usize, repetitions: u64, mut run: impl FnMut()) {
    let mut nanos: Vec<f64> = (0..runs)
        .map(|_| {
            let begin = Kernel.raw_nanos();
            (0..repetitions).for_each(|_| run());
            (Kernel.raw_nanos() - begin) as f64 / repetitions as f64
        })
        .collect();
    nanos.sort_by(f64::total_cmp);
    let [least, median, most] = [0, runs / 2, runs * 9 / 10].map(|at| nanos[at]);
    eprintln!("{name:44} {least:10.0} {median:10.0} {most:10.0} ns");
}

fn pin() {
    // SAFETY: a zeroed set is an empty one, and the calls stay inside it.
    unsafe {
        let cpu = libc::sched_getcpu();
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu as usize, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// A byte there and back through two pipes, between two threads on one CPU: each goes off it once.
fn ping_pong(name: &str, rings: impl Fn() -> Option<Ring> + Sync) {
    let mut pipes = [[0; 2]; 2];
    for pipe in &mut pipes {
        // SAFETY: writes two descriptors into the array.
        assert_eq!(unsafe { libc::pipe(pipe.as_mut_ptr()) }, 0);
    }
    let [there, back] = pipes;
    let step = |from: i32, to: i32| {
        let mut byte = 0u8;
        // SAFETY: one byte from or to a live variable.
        unsafe {
            (from < 0 || libc::read(from, (&raw mut byte).cast(), 1) == 1)
                && (to < 0 || libc::write(to, (&raw const byte).cast(), 1) == 1)
        }
    };
    std::thread::scope(|scope| {
        pin();
        let other = scope.spawn(|| {
            let _ring = rings();
            while step(there[0], back[1]) {}
        });
        let ring = rings();
        figures(name, 30, 3_000, || {
            step(-1, there[1]);
            step(back[0], -1);
        });
        drop(ring);
        // SAFETY: the other end reads its end of file, and ends.
        unsafe { libc::close(there[1]) };
        other.join().unwrap();
    });
    for fd in [there[0], back[0], back[1]] {
        // SAFETY: opened above.
        unsafe { libc::close(fd) };
    }
}

fn touch() {
    let (pages, size) = (2_000, page_size());
    let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, used within its bounds and given back.
    unsafe {
        let memory = libc::mmap(std::ptr::null_mut(), pages * size, protection, kind, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        libc::madvise(memory, pages * size, libc::MADV_NOHUGEPAGE);
        (0..pages).for_each(|page| memory.cast::<u8>().add(page * size).write_volatile(1));
        libc::munmap(memory, pages * size);
    }
}

#[test]
#[ignore = "prints figures, and takes ten seconds"]
fn what_it_costs() {
    let begin = Kernel.raw_nanos();
    let Ok(first) = Ring::open(Kernel, MANY) else { return eprintln!("SKIPPED: there are no rings here") };
    eprintln!("the first one in this process: {} us", (Kernel.raw_nanos() - begin) / 1_000);
    eprintln!("{:44} {:>10} {:>10} {:>10}", "", "least", "median", "p90");
    figures("open and close, another being open", 200, 1, || drop(Ring::open(Kernel, MANY).unwrap()));
    let mut rings = Vec::with_capacity(201);
    figures("open", 200, 1, || rings.push(Ring::open(Kernel, MANY).unwrap()));
    rings.clear();
    figures("open and close, with faults", 200, 1, || drop(Ring::with_faults(Kernel, MANY).unwrap()));
    drop(first);

    let ring = Ring::open(Kernel, MANY).unwrap();
    let since = Kernel.raw_nanos();
    figures("a window, nothing in it", 100, 1_000, || {
        std::hint::black_box(ring.window(since, since));
    });
    let begin = Kernel.raw_nanos();
    (0..100).for_each(|_| std::thread::sleep(Duration::from_micros(1)));
    let end = Kernel.raw_nanos();
    assert!(ring.window(begin, end).complete);
    figures("a window of 100 absences", 100, 1_000, || {
        std::hint::black_box(ring.window(begin, end));
    });
    (0..200).for_each(|_| std::thread::sleep(Duration::from_micros(1)));
    assert!(!ring.window(begin, end).complete);
    figures("a window that is gone", 100, 1_000, || {
        std::hint::black_box(ring.window(begin, end));
    });
    drop(ring);
    let ring = Ring::with_faults(Kernel, MANY).unwrap();
    let begin = Kernel.raw_nanos();
    touch();
    let end = Kernel.raw_nanos();
    assert!(ring.window(begin, end).complete);
    figures("a window of more than 224 faults", 100, 1_000, || {
        std::hint::black_box(ring.window(begin, end));
    });
    eprintln!("{:?}", ring.window(begin, end).faults);
    drop(ring);

    figures("a bracket", 100, 1_000, || {
        std::hint::black_box(Bracket::take());
    });
    figures("Cgroup::open and close", 100, 1, || drop(Cgroup::open()));
    if let Some(cgroup) = Cgroup::open() {
        figures("Cgroup::read", 100, 100, || {
            std::hint::black_box(cgroup.read());
        });
    }
    for _ in 0..3 {
        ping_pong("there and back, two pairs of switches: plain", || None);
        ping_pong("  both with a ring", || Ring::open(Kernel, MANY).ok());
        ping_pong("  both with a ring and faults", || Ring::with_faults(Kernel, MANY).ok());
    }
    for _ in 0..3 {
        figures("2,000 faults: plain", 30, 1, touch);
        let ring = Ring::open(Kernel, MANY);
        figures("  with a ring", 30, 1, touch);
        drop(ring);
        let ring = Ring::with_faults(Kernel, MANY);
        figures("  with a ring and faults", 30, 1, touch);
        drop(ring);
    }
}
