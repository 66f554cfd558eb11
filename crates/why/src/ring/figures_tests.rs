//! Prints the costs of a ring: `cargo test -p picollo-native --lib ring::figures -- --ignored --nocapture
//! --test-threads=1`. Nothing asserts them because they depend on the machine.

use std::sync::mpsc::channel;

use super::kernel_tests::MANY;
use super::*;
use crate::testing::{own_cpu, page_faults, pin_to};

/// Minimum, median and 90th percentile of `runs` runs with `repetitions` each, in nanoseconds per repetition.
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

/// Sends a message there and back between two threads on one CPU: each leaves the CPU once.
fn ping_pong(name: &str, rings: impl Fn() -> Option<Ring> + Sync) {
    let ((ask, asked), (answer, answered)) = (channel::<()>(), channel::<()>());
    std::thread::scope(|scope| {
        pin_to(own_cpu());
        scope.spawn(|| {
            let _ring = rings();
            asked.into_iter().for_each(|()| answer.send(()).unwrap());
        });
        let _ring = rings();
        figures(name, 30, 3_000, || {
            ask.send(()).unwrap();
            answered.recv().unwrap();
        });
        drop(ask);
    });
}

#[test]
#[ignore = "prints figures, and takes ten seconds"]
fn what_it_costs() {
    let Ok(first) = Ring::open(Kernel, MANY) else { return eprintln!("SKIPPED: there are no rings here") };
    eprintln!("{:44} {:>10} {:>10} {:>10}", "", "least", "median", "p90");
    figures("open and close, another being open", 200, 1, || drop(Ring::open(Kernel, MANY).unwrap()));
    figures("open and close, with faults", 200, 1, || drop(Ring::with_faults(Kernel, MANY).unwrap()));
    let begin = Kernel.raw_nanos();
    figures("a window, nothing in it", 100, 1_000, || {
        std::hint::black_box(first.window(begin, begin));
    });
    (0..100).for_each(|_| std::thread::sleep(std::time::Duration::from_micros(1)));
    let end = Kernel.raw_nanos();
    assert!(first.window(begin, end).complete);
    figures("a window of 100 absences", 100, 1_000, || {
        std::hint::black_box(first.window(begin, end));
    });
    drop(first);
    type Open = fn() -> Option<Ring>;
    let with: [(&str, Open); 3] = [
        ("plain", || None),
        ("with a ring", || Ring::open(Kernel, MANY).ok()),
        ("with a ring and faults", || Ring::with_faults(Kernel, MANY).ok()),
    ];
    for (name, open) in with.into_iter().cycle().take(9) {
        ping_pong(&format!("there and back, two pairs of switches: {name}"), open);
        let _ring = open();
        figures(&format!("  2,000 page faults: {name}"), 30, 1, || {
            page_faults(2_000);
        });
    }
}
