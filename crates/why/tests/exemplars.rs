//! Collectors on this machine: what they keep, and what they report about it.
#![cfg(target_os = "linux")]

#[path = "../../../native/tests/common/system.rs"]
mod system;

use std::time::{Duration, Instant};

use picollo_core::{Options, SharedHistogram};
use picollo_export::Registry;
use picollo_why::{
    Cause, Collector, Context, EXEMPLARS_COUNTERS, ExemplarOptions, Interval, KNOWN_ACCOUNTS, MAX_SLOWEST,
    Missing,
};
use system::child_exit_code;

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

/// A slow observation whose thread has looked into too many already.
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
    let has_too_many = interval.exemplars().iter().any(|(one, _)| one.evidence.missing == Missing::TooMany);
    assert!(has_too_many && interval.known <= 5, "{interval:?}");
    // The others are counted, and the report shows that.
    let text = text_of(&interval);
    assert!(text.contains(": only counted: "), "{text}");
}

/// An interval ends while it lasts. So it is the slowest of the next interval, but not of the one in which it began.
#[test]
fn a_scope_counts_in_the_interval_in_which_it_ends() {
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

fn text_of(interval: &Interval) -> String {
    let mut text = String::new();
    interval.write_text(&mut text).unwrap();
    text
}

/// Slow values are those of the buckets above the threshold's bucket, and those above the range. An observation has the time of its beginning.
#[test]
fn the_numbers_of_an_interval_are_exact() {
    let options =
        Options { relative_error: 0.1, min_trackable: 10, max_trackable: 100_000, ..Options::default() };
    let histogram = SharedHistogram::create(&options).unwrap();
    let options = ExemplarOptions { threshold: 1000, ..ExemplarOptions::default() };
    let collector = Collector::create(&histogram, &options).unwrap();
    let threshold = histogram.layout().bucket_of(1000).unwrap();
    for value in [5, 100, threshold.lower, threshold.upper, threshold.upper + 1] {
        histogram.record(value);
    }
    let begin = picollo_native::unix_nanos();
    collector.offer(50_000_000, Some(&context(7)));
    let end = picollo_native::unix_nanos();
    let interval = collector.collect().unwrap();
    assert_eq!((interval.observations, interval.slow, interval.threshold), (6, 2, threshold.upper));
    let (exemplar, _) = interval.exemplars()[0];
    assert!((begin - 50_000_000..=end - 50_000_000).contains(&exemplar.unix_nanos), "{exemplar:?}");
    assert_eq!((exemplar.wall_nanos, exemplar.context), (50_000_000, context(7)));
    let exported = format!("{:?}", interval.metric_exemplars().unwrap());
    assert!(!exported.contains("cause"), "the cause is not known: {exported}");
    let mut scope = collector.scope();
    scope.set_label(9);
    spin(Duration::from_micros(10));
    assert!(scope.end());
    assert_eq!(collector.collect().unwrap().exemplars()[0].0.label, 9);
}

#[test]
fn a_scope_that_ends_on_another_thread_has_no_cause() {
    let collector = collector(ExemplarOptions { threshold: 1_000_000, ..ExemplarOptions::default() });
    collector.prepare_thread().ok();
    for _ in 0..20 {
        collector.scope().end();
    }
    struct Sent<T>(T);
    // SAFETY: a scope may end on another thread, which this test checks.
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
    let (exemplar, diagnosis) = interval.exemplars()[0];
    assert_eq!((exemplar.evidence.missing, diagnosis.cause), (Missing::OtherThread, Cause::NotKnown));
    assert_eq!(interval.observations, 21);
}

/// As much is known of an outer scope over hundreds of inner ones, each with a checkpoint, as of others.
#[test]
fn an_outer_scope_has_evidence_despite_inner_ones() {
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
fn a_child_begins_anew() {
    let collector = collector(ExemplarOptions { threshold: 1000, ..ExemplarOptions::default() });
    let mut scope = collector.scope();
    spin(Duration::from_micros(100));
    assert!(scope.end());
    let mut begun_before = collector.scope();
    // The child calls only what is documented to work there.
    let code = child_exit_code(|| {
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
        match missing.contains(&Missing::Forked) && missing.contains(&Missing::Nothing) && missing.len() == 2
        {
            true => 0,
            false => 4,
        }
    });
    assert_eq!(code, 0);
    assert_eq!(collector.collect().unwrap().exemplars().len(), 1);
}

/// The first interval's 99th percentile is the measure for the second interval.
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
    let text = text_of(&third);
    assert_eq!(text, "Nothing was recorded.");
}

/// With a PMU the instructions of slow ones are counted; without, whoever prepares the thread learns the reason.
#[test]
fn instructions_are_counted_or_the_reason_is_known() {
    let options =
        ExemplarOptions { threshold: 1000, flags: EXEMPLARS_COUNTERS, ..ExemplarOptions::default() };
    let collector = collector(options);
    let prepared = collector.prepare_thread();
    for _ in 0..10 {
        let mut scope = collector.scope();
        spin(Duration::from_micros(50));
        scope.end();
    }
    let interval = collector.collect().unwrap();
    match prepared {
        Ok(()) => assert_eq!(interval.counted, interval.known, "{interval:?}"),
        Err(why) => assert!(interval.counted == 0 && !why.message().is_empty(), "{why:?} {interval:?}"),
    }
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
fn intervals_become_exemplars_of_a_metric() {
    let collector = collector(ExemplarOptions { threshold: 1000, ..ExemplarOptions::default() });
    let trace = Context { trace_id: [0xab; 16], span_id: [0xcd; 8], words: [0; 2] };
    collector.offer(5_000_000, Some(&trace));
    let interval = collector.collect().unwrap();
    let mut registry = Registry::new();
    let id = registry
        .add(
            collector.histogram(),
            &picollo_core::counters::Metric { name: "request", ..Default::default() },
            &[],
        )
        .unwrap();
    registry.set_exemplars(id, interval.metric_exemplars().unwrap()).unwrap();
}
