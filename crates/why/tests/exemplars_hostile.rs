//! Collectors if the system gives them nothing: no descriptors, no memory to lock, thousands of threads. Each runs in a
//! separate child, because limits belong to a process.
#![cfg(target_os = "linux")]

#[path = "../../../native/tests/common/harness.rs"]
mod common;

use std::time::Duration;

use common::system::child_exit_code;
use picollo_core::{Options, SharedHistogram};
use picollo_why::{Cause, Collector, ExemplarOptions, KNOWN_ACCOUNTS, KNOWN_RUN_DELAY};

fn collector(options: ExemplarOptions) -> Collector {
    let histogram = SharedHistogram::create(&Options::default()).unwrap();
    Collector::create(&histogram, &options).unwrap()
}

/// 64 ordinary observations and a slow one that slept.
fn observe(collector: &Collector) {
    for _ in 0..64 {
        let mut scope = collector.scope();
        std::thread::sleep(Duration::from_micros(300));
        scope.end();
    }
    let mut slow = collector.scope();
    std::thread::sleep(Duration::from_millis(30));
    assert!(slow.end(), "it is kept");
}

fn limit(resource: libc::__rlimit_resource_t, most: libc::rlim_t) {
    let limit = libc::rlimit { rlim_cur: most, rlim_max: most };
    // SAFETY: reads the live struct.
    assert_eq!(unsafe { libc::setrlimit(resource, &raw const limit) }, 0);
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

fn threshold() -> ExemplarOptions {
    ExemplarOptions { threshold: 10_000_000, ..ExemplarOptions::default() }
}

/// All in one test, because a child is safe only if there is one thread.
#[test]
fn a_system_without_resources_gives_less_evidence() {
    let without_descriptors = || {
        limit(libc::RLIMIT_NOFILE, 0);
        let collector = collector(threshold());
        observe(&collector);
        let interval = collector.collect().unwrap();
        let (exemplar, diagnosis) = interval.exemplars()[0];
        assert!(exemplar.evidence.knows(KNOWN_ACCOUNTS) && !exemplar.evidence.knows(KNOWN_RUN_DELAY));
        assert_eq!(diagnosis.cause, Cause::OffCpu, "that it was off the CPU is known, and no more");
        let mut text = String::new();
        interval.write_text(&mut text).unwrap();
        assert!(text.contains("Waiting and the run queue are not told apart"), "{text}");
        0
    };
    assert_eq!(child_exit_code(without_descriptors), 0);

    let without_locked_memory = || {
        limit(libc::RLIMIT_MEMLOCK, 0);
        let collector = collector(threshold());
        collector.prepare_thread().ok();
        observe(&collector);
        let (_, diagnosis) = collector.collect().unwrap().exemplars()[0];
        assert!([Cause::OwnWaiting, Cause::OffCpu].contains(&diagnosis.cause), "{diagnosis:?}");
        0
    };
    assert_eq!(child_exit_code(without_locked_memory), 0);

    let threads_by_the_thousands = || {
        let collector = collector(ExemplarOptions { threshold: 1, ..ExemplarOptions::default() });
        let wave = || {
            for _ in 0..100 {
                std::thread::scope(|scope| {
                    for _ in 0..10 {
                        scope.spawn(|| {
                            let mut one = collector.scope();
                            std::thread::sleep(Duration::from_micros(50));
                            one.end();
                        });
                    }
                });
            }
        };
        let descriptors = || std::fs::read_dir("/proc/self/fd").unwrap().count();
        let open = descriptors();
        wave();
        let before = resident();
        wave();
        wave();
        // The last threads may still be ending.
        for _ in 0..500 {
            std::thread::sleep(Duration::from_millis(if descriptors() > open { 20 } else { 0 }));
        }
        assert!(descriptors() <= open, "{} of {open}", descriptors());
        // A thread's data take 11 kB: 2,000 of them left behind would take 22 MB.
        assert!(resident() < before + 5_000_000, "{before} bytes, then {}", resident());
        let interval = collector.collect().unwrap();
        assert_eq!((interval.observations, interval.slow), (3000, 3000));
        0
    };
    assert_eq!(child_exit_code(threads_by_the_thousands), 0);
}
