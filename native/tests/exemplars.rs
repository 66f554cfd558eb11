//! Collectors on this machine: what is kept, and what is said of it.
#![cfg(target_os = "linux")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use picollo_core::{Options, Registry, SharedHistogram};
use picollo_native::exemplars::{
    Cause, Collector, Context, EXEMPLARS_COUNTERS, EXEMPLARS_NO_RING, Exemplar, ExemplarOptions,
    KNOWN_ACCOUNTS, KNOWN_RUN_DELAY, MAX_SLOWEST, Missing, Verdict,
};

fn collector(options: ExemplarOptions) -> Collector {
    let histogram = SharedHistogram::create(&Options::default()).unwrap();
    Collector::create(&histogram, &options).unwrap()
}

fn context(id: u64) -> Context {
    Context { words: [id, 0], ..Context::default() }
}

fn spin(duration: Duration) {
    let end = Instant::now() + duration;
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

/// The busiest moment of an incident: all threads have something slow at the same time.
#[test]
fn the_slowest_is_always_kept() {
    const THREADS: u64 = 4;
    for round in 0..40u64 {
        let slowest = [1, 2, 16][round as usize % 3];
        let collector =
            collector(ExemplarOptions { threshold: 1, slowest: Some(slowest), ..ExemplarOptions::default() });
        let (largest, begin) = (AtomicU64::new(0), Barrier::new(THREADS as usize));
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (collector, largest, begin) = (&collector, &largest, &begin);
                scope.spawn(move || {
                    begin.wait();
                    let mut random = (round << 8 | thread) + 1;
                    for _ in 0..500 {
                        random = random
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1_442_695_040_888_963_407);
                        let value = random >> 24;
                        largest.fetch_max(value, Ordering::Relaxed);
                        collector.offer(value, Some(&context(value)));
                    }
                });
            }
        });
        let interval = collector.collect().unwrap();
        let (exemplar, _) = interval.exemplars()[0];
        assert_eq!(
            (exemplar.value, exemplar.context.words[0]),
            (largest.load(Ordering::Relaxed), exemplar.value)
        );
        assert_eq!((interval.observations, interval.slow), (THREADS * 500, THREADS * 500));
        assert_eq!(interval.share(Cause::NotKnown).observations, interval.slow, "timed elsewhere");
    }
}

/// One that is slow while its thread has looked into too many already.
#[test]
fn the_slowest_is_kept_above_the_rate() {
    let collector = collector(ExemplarOptions { threshold: 1000, rate: 5, ..ExemplarOptions::default() });
    collector.prepare_thread().ok();
    for request in 0..100 {
        let mut scope = collector.scope();
        spin(Duration::from_micros(if request == 80 { 5000 } else { 20 }));
        assert!(scope.end() || request >= 16);
        scope.annotate(&context(request)).unwrap();
    }
    let interval = collector.collect().unwrap();
    assert!(interval.exemplars().iter().any(|(exemplar, _)| exemplar.context.words[0] == 80), "{interval:?}");
    let missing = interval
        .exemplars()
        .iter()
        .filter(|(exemplar, _)| exemplar.evidence.missing == Missing::TooMany)
        .count();
    assert!(missing > 0 && interval.known <= 5, "{interval:?}");
    // Others are counted, and that is told.
    let mut text = String::new();
    interval.write_text(&mut text).unwrap();
    assert!(text.contains(": only counted."), "{text}");
}

/// An interval ends while it lasts, so that in the next one it is the slowest, though not in the one that it began in.
#[test]
fn what_lasts_into_the_next_interval_is_measured_by_that_one() {
    let collector = collector(ExemplarOptions {
        threshold: u64::MAX,
        slowest: Some(1),
        controls: 1,
        ..ExemplarOptions::default()
    });
    let mut kept = 0;
    for _ in 0..50 {
        let mut slower = collector.scope();
        spin(Duration::from_millis(3));
        slower.end();
        let mut lasting = collector.scope();
        collector.collect().unwrap();
        spin(Duration::from_micros(200));
        kept += u32::from(lasting.end());
        let exemplars = collector.collect().unwrap().exemplars().len();
        assert_eq!(exemplars, 1);
    }
    assert_eq!(kept, 50);
}

fn thread_nanos() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the live variable.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Where counters are refused, all else is as without them, and why is told once.
#[test]
fn refused_counters_are_told() {
    let options = ExemplarOptions {
        flags: EXEMPLARS_COUNTERS,
        threshold: 3_000_000,
        controls: 10_000,
        ..ExemplarOptions::default()
    };
    let collector = collector(options);
    let prepared = collector.prepare_thread();
    for request in 1..=100 {
        let mut scope = collector.scope();
        spin(Duration::from_micros(if request == 100 { 20_000 } else { 50 }));
        scope.end();
    }
    let interval = collector.collect().unwrap();
    let mut text = String::new();
    interval.write_text(&mut text).unwrap();
    match interval.uncounted {
        None => {
            assert!(prepared.is_ok() && interval.counted > 0 || interval.known == 0, "{prepared:?} {text}")
        }
        Some(why) => {
            assert_eq!(prepared.unwrap_err().message(), why.message());
            let told = format!("Instructions were counted of 0 of {}: ", interval.known);
            assert_eq!(text.matches(&told).count(), 1, "{text}");
            assert_eq!(
                (interval.counted, interval.share(Cause::MoreInstructions).observations),
                (0, 0),
                "{text}"
            );
        }
    }
}

/// Sleep is waiting, work is on the CPU, and how much of each is what the kernel says around it. On a busy machine the verdict may be the
/// run queue, and rightly so.
#[test]
fn sleep_and_work_are_told_apart() {
    for flags in [0, EXEMPLARS_NO_RING] {
        let options =
            ExemplarOptions { flags, threshold: 3_000_000, controls: 10_000, ..ExemplarOptions::default() };
        let collector = collector(ExemplarOptions { slowest: Some(300), ..options });
        if let Err(error) = collector.prepare_thread() {
            return eprintln!("SKIPPED: the split of waiting: {error}");
        }
        let mut worked = 0;
        for request in 1..=300 {
            let mut scope = collector.scope();
            spin(Duration::from_micros(50));
            match request {
                100 => std::thread::sleep(Duration::from_millis(20)),
                200 => {
                    let before = thread_nanos();
                    while thread_nanos() - before < 20_000_000 {}
                    worked = thread_nanos() - before;
                }
                _ => {}
            }
            assert!(scope.end() || ![100, 200].contains(&request));
            scope.annotate(&context(request)).unwrap();
        }
        let interval = collector.collect().unwrap();
        let of = |id| {
            let (exemplar, verdict) =
                interval.exemplars().iter().find(|(one, _)| one.context.words[0] == id).unwrap();
            assert!(exemplar.evidence.knows(KNOWN_ACCOUNTS | KNOWN_RUN_DELAY), "{exemplar:?}");
            assert_eq!(verdict.parts.0.iter().sum::<u64>(), exemplar.wall_nanos, "the parts are the whole");
            (exemplar, verdict)
        };
        // Beside others it may have waited for a CPU as long, or just before, when it is not known which of both.
        let is_right = |(exemplar, verdict): (&Exemplar, &Verdict), right| {
            let before = exemplar.evidence.window_nanos.saturating_sub(exemplar.wall_nanos);
            [right, Cause::RunQueue, Cause::Several].contains(&verdict.cause)
                || verdict.is_too_short && before > 1_000_000
        };
        let (slept, spun) = (of(100), of(200));
        // What it waited for a CPU, also just before it slept, is taken off.
        let queued = slept.0.evidence.run_delay_nanos;
        assert!(slept.1.parts.get(Cause::OwnWaiting) + queued >= 19_900_000, "{slept:?}");
        assert!(is_right(slept, Cause::OwnWaiting), "{slept:?}");
        assert!(is_right(spun, Cause::OnCpu), "{spun:?}");
        let parts = &spun.1.parts;
        // The clock is read as long as the thread's time is: little of it is in the kernel.
        let on_cpu = parts.get(Cause::OnCpu) + parts.get(Cause::PageFaults);
        assert!(on_cpu > worked * 98 / 100 && on_cpu < worked + 3_000_000, "{worked} {spun:?}");
        assert!(parts.get(Cause::OwnWaiting) < 200_000, "{spun:?}");
    }
}

#[test]
fn what_ends_on_another_thread_is_recorded_and_not_known() {
    let collector = collector(ExemplarOptions { threshold: 1_000_000, ..ExemplarOptions::default() });
    collector.prepare_thread().ok();
    for _ in 0..20 {
        collector.scope().end();
    }
    struct Sent<T>(T);
    // SAFETY: a scope may end elsewhere, which is what is tested.
    unsafe impl<T> Send for Sent<T> {}
    let scope = Sent(collector.scope());
    std::thread::sleep(Duration::from_millis(5));
    std::thread::scope(|threads| {
        threads.spawn(move || {
            let mut sent = scope;
            assert!(sent.0.end());
            assert!(!sent.0.end(), "it has ended");
        });
    });
    let interval = collector.collect().unwrap();
    let (exemplar, verdict) = interval.exemplars()[0];
    assert_eq!((exemplar.evidence.missing, verdict.cause), (Missing::OtherThread, Cause::NotKnown));
    assert_eq!(interval.observations, 21);
}

/// Of an outer scope that lasts over hundreds of inner ones, each of which took a checkpoint, as much is known as of others.
#[test]
fn an_outer_scope_is_known_whatever_it_holds() {
    let collector = collector(ExemplarOptions { threshold: 50_000_000, ..ExemplarOptions::default() });
    collector.prepare_thread().ok();
    spin(Duration::from_millis(1));
    let mut outer = collector.scope();
    std::thread::sleep(Duration::from_millis(40));
    for _ in 0..200 {
        let mut inner = collector.scope();
        spin(Duration::from_micros(300));
        inner.end();
    }
    assert!(outer.end());
    let interval = collector.collect().unwrap();
    let (exemplar, _) = interval.exemplars()[0];
    let evidence = exemplar.evidence;
    assert!(evidence.missing == Missing::Nothing && evidence.knows(KNOWN_ACCOUNTS), "{exemplar:?}");
    assert!(evidence.window_nanos - evidence.cpu_nanos >= 39_000_000, "the sleep is in it: {exemplar:?}");
    assert!(evidence.window_nanos <= exemplar.wall_nanos * 8 / 7 + 1_000_000, "{exemplar:?}");
}

#[test]
fn threads_leave_nothing_behind() {
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    let collector = collector(ExemplarOptions::default());
    let mut opened = 0;
    let before = open();
    for _ in 0..50 {
        std::thread::scope(|scope| {
            for _ in 0..20 {
                scope.spawn(|| {
                    let mut scope = collector.scope();
                    spin(Duration::from_micros(200));
                    scope.end();
                });
            }
        });
        opened = opened.max(open());
    }
    // Other tests of this program have descriptors of their own, but not hundreds.
    assert!(
        open() < before + 100 && opened < before + 200,
        "{before} descriptors before, {} after, {opened} at most",
        open()
    );
    assert_eq!(collector.collect().unwrap().observations, 1000);
}

#[test]
fn a_child_begins_anew() {
    let collector = collector(ExemplarOptions { threshold: 1000, ..ExemplarOptions::default() });
    let mut scope = collector.scope();
    spin(Duration::from_micros(100));
    assert!(scope.end());
    let mut begun_before = collector.scope();
    // SAFETY: the child calls what is documented to work there, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = (|| {
            spin(Duration::from_micros(100));
            if !begun_before.end() {
                return 1;
            }
            let mut own = collector.scope();
            spin(Duration::from_micros(100));
            if !own.end() {
                return 2;
            }
            let Ok(interval) = collector.collect() else { return 3 };
            let missing: Vec<_> = interval.exemplars().iter().map(|(one, _)| one.evidence.missing).collect();
            match missing.contains(&Missing::Forked)
                && missing.contains(&Missing::Nothing)
                && missing.len() == 2
            {
                true => 0,
                false => 4,
            }
        })();
        // SAFETY: ends the child.
        unsafe { libc::_exit(code) };
    }
    let mut status = 0;
    // SAFETY: waits for the child.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(libc::WEXITSTATUS(status), 0);
    assert_eq!(collector.collect().unwrap().exemplars().len(), 1);
}

/// The second interval is measured by the first one's 99th percentile.
#[test]
fn intervals_follow_each_other() {
    let collector = collector(ExemplarOptions { slowest: Some(3), ..ExemplarOptions::default() });
    for value in 1..=10_000 {
        collector.offer(value * 1000, None);
    }
    let first = collector.collect().unwrap();
    assert_eq!((first.threshold, first.observations, first.slow), (0, 10_000, 3));
    assert_eq!(
        first.exemplars()[..3].iter().map(|(one, _)| one.value).collect::<Vec<_>>(),
        [10_000_000, 9_999_000, 9_998_000]
    );
    for value in 1..=10_000 {
        collector.offer(value * 1000, None);
    }
    let second = collector.collect().unwrap();
    assert!((9_890_000..9_920_000).contains(&second.threshold), "{}", second.threshold);
    assert!((80..=110).contains(&second.slow), "{}", second.slow);
    assert!(collector.ended().unwrap().is_some_and(|ended| ended.slow == second.slow));
    let third = collector.collect().unwrap();
    assert_eq!((third.observations, third.exemplars().len()), (0, 0));
    let mut text = String::new();
    third.write_text(&mut text).unwrap();
    assert_eq!(text, "Nothing was recorded.");
}

#[test]
fn options_have_limits() {
    let histogram = SharedHistogram::create(&Options::default()).unwrap();
    let with = |options: ExemplarOptions| Collector::create(&histogram, &options);
    assert!(with(ExemplarOptions { slowest: Some(MAX_SLOWEST + 1), ..ExemplarOptions::default() }).is_err());
    assert!(with(ExemplarOptions { flags: 1 << 31, ..ExemplarOptions::default() }).is_err());
    assert!(with(ExemplarOptions { controls: u32::MAX, ..ExemplarOptions::default() }).is_err());
    let none = with(ExemplarOptions { slowest: Some(0), threshold: u64::MAX, ..ExemplarOptions::default() })
        .unwrap();
    for value in [0, 1, 5, u64::MAX] {
        none.offer(value, None);
    }
    let interval = none.collect().unwrap();
    assert!(interval.exemplars().len() <= 4 && interval.observations == 4);
    let most = with(ExemplarOptions { slowest: Some(MAX_SLOWEST), ..ExemplarOptions::default() }).unwrap();
    most.offer(7, None);
    assert_eq!(most.collect().unwrap().exemplars().len(), 1);
}

#[test]
fn they_become_a_metrics_exemplars() {
    let collector = collector(ExemplarOptions { threshold: 1000, ..ExemplarOptions::default() });
    let trace = Context { trace_id: [0xab; 16], span_id: [0xcd; 8], words: [0; 2] };
    collector.offer(5_000_000, Some(&trace));
    let interval = collector.collect().unwrap();
    let mut registry = Registry::new();
    let id = registry
        .add(collector.histogram(), &picollo_core::Metric { name: "request", ..Default::default() }, &[])
        .unwrap();
    registry.set_exemplars(id, interval.metric_exemplars().unwrap()).unwrap();
    let mut json = String::new();
    interval.write_json(&mut json).unwrap();
    assert!(
        json.contains("\"trace_id\":\"abababababababababababababababab\"")
            && json.contains("\"cause\":\"not known\""),
        "{json}"
    );
}
