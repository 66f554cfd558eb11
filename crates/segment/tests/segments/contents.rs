//! A viewer reports what was recorded, and nothing else.

use std::collections::BTreeMap;

use picollo_core::counters::Metric;
use picollo_core::layouts::Storage;
use picollo_core::{Mode, Options, Since, Snapshot};
use picollo_native::*;
use picollo_segment::*;

use crate::common::named;
use crate::setting::*;

pub const TESTS: &[(&str, fn())] = named![
    recorded_values_are_visible,
    deltas_continue_in_another_viewer,
    names_and_labels_are_visible,
    one_name_is_one_histogram,
    unsupported_kinds_name_an_alternative,
    counters_are_visible,
    a_single_writer_is_one_thread,
    a_full_segment_is_an_error,
    retired_entries_are_hidden,
    a_segment_with_resets,
    sizes_are_known_before,
];

/// Counts by the lowest value of their bucket, and the counts below and above the range.
type Naive = (BTreeMap<u64, u64>, u64, u64);

fn counts(snapshot: &Snapshot) -> Naive {
    let buckets = snapshot.recorded_buckets().map(|bucket| (bucket.lower, bucket.count)).collect();
    (buckets, snapshot.counts().underflow, snapshot.counts().overflow)
}

fn recorded_values_are_visible() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (round, (relative_error, min, max, unit)) in
        [(0.0, 0, 0, 0), (0.1, 0, u64::MAX, 0), (0.01, 1000, 1_000_000, 0), (0.05, 0, 1 << 40, 1024)]
            .into_iter()
            .enumerate()
    {
        for mode in [Mode::Interlocked, Mode::SingleWriter, Mode::PerCpu] {
            let segment = small(&format!("recorded{round}{}", mode as u32));
            let options = Options {
                mode,
                relative_error,
                min_trackable: min,
                max_trackable: max,
                unit,
                ..Options::default()
            };
            // SAFETY: only this thread records.
            let histogram = unsafe { segment.histogram_unguarded(&metric("x"), &options) }.unwrap();
            let layout = *histogram.layout();
            let mut expected: Naive = Default::default();
            for _ in 0..2000 {
                let value = random.next() >> (random.next() % 64);
                let count = 1 + random.next() % 3;
                histogram.record_n(value, count);
                match layout.bucket_of(value) {
                    Some(bucket) => *expected.0.entry(bucket.lower).or_default() += count,
                    None if value < layout.lowest_recordable() => expected.1 += count,
                    None => expected.2 += count,
                }
            }
            let mut viewer = view(segment);
            let snapshot = viewer.snapshot(0).unwrap();
            assert_eq!(*snapshot.layout(), layout);
            assert_eq!(counts(&snapshot), expected, "round {round}, {mode:?}");
            // The process itself reports the same.
            let mut own = Snapshot::boxed(layout).unwrap();
            histogram.update(&mut own, Since::Reset).unwrap();
            assert_eq!((counts(&own), own.counts()), (expected, snapshot.counts()));
            assert_eq!(histogram.reset(), Err(picollo_core::Error::Unsupported));
        }
    }
}

fn deltas_continue_in_another_viewer() {
    let segment = small("deltas");
    let histogram = open(segment, "x");
    histogram.record_n(100, 5);
    let mut viewer = view(segment);
    let mut snapshot = viewer.snapshot(0).unwrap();
    assert_eq!(snapshot.counts().total, 5);
    for (count, of_a_new_one) in [(3, false), (7, true), (0, true), (1, false)] {
        histogram.record_n(100, count);
        if of_a_new_one {
            viewer = view(segment);
        }
        viewer.update(0, &mut snapshot, Since::PreviousUpdate).unwrap();
        assert_eq!(snapshot.counts().total, count);
    }
    // Another histogram of the same layout is not mistaken for it.
    let other = small("deltas-of-another");
    open(other, "x").record_n(100, 2);
    view(other).update(0, &mut snapshot, Since::PreviousUpdate).unwrap();
    assert_eq!(snapshot.counts().total, 2);
    let coarse = Options { relative_error: 0.1, ..Options::default() };
    other.histogram(&metric("coarse"), &coarse).unwrap();
    assert_eq!(refusal(view(other).update(1, &mut snapshot, Since::Reset)), Status::Incompatible);
}

fn names_and_labels_are_visible() {
    let segment = small("names");
    let given = Metric {
        name: "request",
        unit: "ns",
        help: "How long they take, größtenteils",
        labels: &[("route", "/pay"), ("a", "")],
        divisor: 1e9,
        created_unix_nanos: 77,
        ..Metric::default()
    };
    segment.histogram(&given, &Options::default()).unwrap();
    let viewer = view(segment);
    let entry = viewer.entry(0).unwrap();
    assert_eq!(
        (entry.name.as_str(), entry.unit.as_str(), entry.help.as_str()),
        (given.name, given.unit, given.help)
    );
    let labels = [("a".to_string(), String::new()), ("route".into(), "/pay".into())];
    assert_eq!((entry.labels.as_slice(), entry.divisor, entry.created_unix_nanos), (&labels[..], 1e9, 77));
    let info = viewer.info().unwrap();
    assert_eq!(
        (info.name.as_str(), info.pid, info.entries, info.is_live),
        ("names", std::process::id(), 1, true)
    );
    assert!(info.memory > 0 && info.memory < SMALL && info.capacity >= SMALL, "{info:?}");
    // About the size in docs/watch-from-outside.md for a histogram with the default layout, for each set of cells.
    assert!(entry.bytes > 18_000, "{}", entry.bytes);
    let plain = SegmentOptions { interlocked: true, ..called("plain") };
    let plain = Segment::create(&plain).unwrap();
    open(plain, "x");
    let bytes = view(plain).entry(0).unwrap().bytes;
    assert!((18_000..20_000).contains(&bytes), "{bytes}");

    let labels: Vec<(&str, &str)> = (0..33).map(|_| ("l", "v")).collect();
    for wrong in [
        Metric { name: "", ..given },
        Metric { name: "a\u{1b}[1m", ..given },
        Metric { unit: "\n", ..given },
        Metric { labels: &[("x", "\u{202e}")], ..given },
        Metric { labels: &[("", "x")], ..given },
        Metric { labels: &[("x", "1"), ("x", "2")], ..given },
        Metric { labels: &labels, ..given },
        Metric { help: &"h".repeat(1000), ..given },
    ] {
        let error = segment.histogram(&wrong, &Options::default()).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument, "{wrong:?}: {error}");
    }
    for wrong in ["a b", "a/b", "..", &"a".repeat(65)] {
        let error = Segment::create(&SegmentOptions { name: wrong, ..Default::default() }).unwrap_err();
        assert_eq!(error.status(), Status::InvalidArgument, "{wrong}: {error}");
    }
}

fn one_name_is_one_histogram() {
    let segment = small("one");
    let pay = Metric { labels: &[("route", "/pay"), ("a", "b")], ..metric("x") };
    let first = segment.histogram(&pay, &Options::default()).unwrap();
    let turned = Metric { labels: &[("a", "b"), ("route", "/pay")], help: "another one", ..metric("x") };
    segment.histogram(&turned, &Options::default()).unwrap().record(7);
    Segment::attach(segment.path()).unwrap().histogram(&pay, &Options::default()).unwrap().record(7);
    let mut snapshot = Snapshot::boxed(*first.layout()).unwrap();
    first.update(&mut snapshot, Since::Reset).unwrap();
    assert_eq!(snapshot.counts().total, 2);
    for other in ["/", "/pay/", ""] {
        let labels = [("route", other), ("a", "b")];
        segment.histogram(&Metric { labels: &labels, ..metric("x") }, &Options::default()).unwrap().record(1);
    }
    first.update(&mut snapshot, Since::PreviousUpdate).unwrap();
    assert_eq!((snapshot.counts().total, view(segment).length()), (0, 4));
    let coarse = Options { relative_error: 0.1, ..Options::default() };
    assert_eq!(refusal(segment.histogram(&pay, &coarse)), Status::Incompatible);
    assert_eq!(refusal(segment.counter(&pay)), Status::Incompatible);
    assert_eq!(refusal(segment.single_writer(&pay, &Options::default())), Status::Incompatible);
}

fn unsupported_kinds_name_an_alternative() {
    let segment = small("cannot");
    let default = Options::default();
    for (options, status, part) in [
        (in_mode(Mode::ThreadLocal), Status::Unsupported, "use the default mode"),
        (Options { storage: Storage::Sparse, ..default }, Status::Unsupported, "use dense storage"),
        (Options { counter_bits: 32, ..default }, Status::Unsupported, "leave counter_bits 0"),
        (
            Options { relative_error: 1e-6, max_trackable: u64::MAX, ..default },
            Status::InvalidArgument,
            "give it a smaller range",
        ),
    ] {
        let error = segment.histogram(&metric("x"), &options).unwrap_err();
        assert!(error.status() == status && error.message().contains(part), "{error}");
    }
    assert_eq!(view(segment).length(), 0);
}

fn counters_are_visible() {
    let segment = small("counters");
    let counter = segment.counter(&metric("requests")).unwrap();
    let again = segment.counter(&metric("requests")).unwrap();
    counter.add(5);
    again.clone().add(u64::from(u32::MAX));
    // The counter stays where it is while references come and go.
    drop(counter);
    for _ in 0..1000 {
        drop(again.clone());
    }
    let mut viewer = view(segment);
    assert_eq!(viewer.counter(0).unwrap(), u64::from(u32::MAX) + 5);
    assert_eq!(viewer.entry(0).unwrap().kind, SegmentKind::Counter);
    assert_eq!(refusal(viewer.snapshot(0)), Status::InvalidArgument);
    assert_eq!(refusal(viewer.counter(1)), Status::InvalidArgument);
    open(segment, "x");
    viewer.refresh().unwrap();
    assert_eq!(refusal(viewer.counter(1)), Status::InvalidArgument);
}

fn a_single_writer_is_one_thread() {
    let segment = small("single");
    let mut writer = segment.single_writer(&metric("x"), &Options::default()).unwrap();
    writer.record(5);
    let options = in_mode(Mode::SingleWriter);
    let attempt = move || {
        // SAFETY: nothing is recorded.
        let answer = unsafe { segment.histogram_unguarded(&metric("x"), &options) };
        answer.map(|_| ()).map_err(|error| error.status())
    };
    assert_eq!(attempt(), Ok(()), "the thread itself");
    assert_eq!(std::thread::spawn(attempt).join().unwrap(), Err(Status::Incompatible));
    in_child(|| assert_eq!(attempt(), Err(Status::Incompatible)));
    assert_eq!(refusal(segment.single_writer(&metric("x"), &Options::default())), Status::Incompatible);
    assert_eq!(refusal(segment.histogram(&metric("x"), &options)), Status::InvalidArgument);
    let mut viewer = view(segment);
    assert_eq!(viewer.entry(0).unwrap().writer, Some(std::process::id()));
    assert_eq!(viewer.snapshot(0).unwrap().counts().total, 1);
}

fn a_full_segment_is_an_error() {
    let segment = small("full");
    let mut made = 0;
    let error = loop {
        match segment.histogram(&metric(&format!("x{made}")), &Options::default()) {
            Ok(histogram) => histogram.record(made),
            Err(error) => break error,
        }
        made += 1;
    };
    assert_eq!(error.status(), Status::OutOfMemory);
    assert!(error.message().contains("max_bytes"), "{error}");
    let mut viewer = view(segment);
    assert_eq!((viewer.length() as u64, viewer.info().unwrap().refused), (made, 1));
    for index in 1..made {
        let snapshot = viewer.snapshot(index as usize).unwrap();
        assert_eq!(snapshot.bucket_of(index).unwrap().count, 1);
    }

    let wide = Segment::create(&SegmentOptions { name: "wide", ..SegmentOptions::default() }).unwrap();
    for index in 0..4095 {
        wide.counter(&metric(&format!("x{index}"))).unwrap().add(1);
    }
    let error = wide.counter(&metric("one too many")).unwrap_err();
    assert!(
        error.status() == Status::OutOfMemory && error.message().contains("the directory is full"),
        "{error}"
    );
    let mut viewer = view(wide);
    assert_eq!((viewer.length(), viewer.info().unwrap().refused), (4095, 1));
    // From now on, all new histograms share one, whatever was requested.
    for index in 0..3 {
        let asked = Options { relative_error: 0.1, max_trackable: 1000, ..Options::default() };
        let late = wide.histogram(&metric(&format!("late{index}")), &asked).unwrap();
        late.record(u64::MAX - index);
    }
    viewer.refresh().unwrap();
    assert_eq!((viewer.length(), viewer.info().unwrap().refused), (4096, 4));
    assert_eq!(viewer.entry(4095).unwrap().name, "picollo_overflow");
    let counts = viewer.snapshot(4095).unwrap().counts();
    assert_eq!((counts.total, counts.overflow), (3, 0));
    // A histogram with a single writer cannot be shared.
    assert_eq!(
        wide.single_writer(&metric("s"), &Options::default()).err().unwrap().status(),
        Status::OutOfMemory
    );
    // Retiring entries does not help: they are never used again.
    wide.retire(&metric("x7")).unwrap();
    assert!(wide.counter(&metric("x7")).is_err());
}

fn retired_entries_are_hidden() {
    let segment = small("retired");
    let before = open(segment, "x");
    before.record_n(5, 3);
    segment.counter(&metric("c")).unwrap().add(1);
    let mut viewer = view(segment);
    segment.retire(&metric("x")).unwrap();
    assert_eq!(refusal(segment.retire(&metric("x"))), Status::InvalidArgument);
    // A viewer that had seen it sees that, and can continue to read it.
    viewer.refresh().unwrap();
    let retired: Vec<bool> = viewer.entries().map(|entry| entry.is_retired).collect();
    assert_eq!(retired, [true, false]);
    before.record_n(5, 4);
    assert_eq!(viewer.snapshot(0).unwrap().counts().total, 7);
    // Other viewers do not see it, and the name is free for another layout.
    assert_eq!(view(segment).entries().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["c"]);
    let coarse = Options { relative_error: 0.1, ..Options::default() };
    segment.histogram(&metric("x"), &coarse).unwrap().record(1);
    viewer.refresh().unwrap();
    assert_eq!((viewer.length(), viewer.snapshot(2).unwrap().counts().total), (3, 1));
    // A single writer's histogram is retired by its thread.
    let _writer = segment.single_writer(&metric("s"), &Options::default()).unwrap();
    in_child(|| assert_eq!(refusal(segment.retire(&metric("s"))), Status::Incompatible));
    segment.retire(&metric("s")).unwrap();
}

fn a_segment_with_resets() {
    let options = SegmentOptions { live_reset: true, ..called("resets") };
    let segment = Segment::create(&options).unwrap();
    let histogram = open(segment, "x");
    let mut viewer = view(segment);
    let mut seen = viewer.snapshot(0).unwrap();
    let mut deltas = 0;
    for round in 1..=5 {
        histogram.record_n(7, round);
        // Whoever has it may reset it.
        match round % 2 {
            0 => histogram.reset().unwrap(),
            _ => in_child(|| histogram.reset().unwrap()),
        }
        histogram.record_n(9, 2 * round);
        assert_eq!(viewer.snapshot(0).unwrap().counts().total, 2 * round);
        // Resets do not affect a delta.
        viewer.update(0, &mut seen, Since::PreviousUpdate).unwrap();
        deltas += seen.counts().total;
        assert_eq!(deltas, 3 * (1..=round).sum::<u64>());
    }
    // Histograms without live resets cannot be reset, nor can those with shards.
    let without = Options { no_live_reset: true, ..Options::default() };
    let shards = in_mode(Mode::PerCpu);
    for (name, options) in [("without", &without), ("shards", &shards)] {
        let one = segment.histogram(&metric(name), options).unwrap();
        one.record(1);
        assert_eq!(one.reset(), Err(picollo_core::Error::Unsupported), "{name}");
    }
    histogram.reset().unwrap();
    // While a child resets all the time, every event is on one side of each reset.
    let busy = start(|| {
        end_with_parent();
        loop {
            histogram.record(5);
            let _ = histogram.reset();
        }
    });
    for _ in 0..200 {
        match viewer.snapshot(0) {
            Ok(snapshot) => assert!(snapshot.counts().total <= 1, "{:?}", snapshot.counts()),
            Err(error) => assert_eq!(error.status(), Status::Busy, "{error}"),
        }
    }
    kill(busy);
    histogram.reset().unwrap();
    assert_eq!(viewer.snapshot(0).unwrap().counts().total, 0);
}

fn sizes_are_known_before() {
    for (interlocked, live_reset, mode) in [
        (false, false, Mode::Interlocked),
        (true, false, Mode::Interlocked),
        (true, false, Mode::PerCpu),
        (false, false, Mode::SingleWriter),
        (false, true, Mode::Interlocked),
        (true, true, Mode::SingleWriter),
    ] {
        let of = SegmentOptions { interlocked, live_reset, ..called("sizes") };
        let segment = Segment::create(&of).unwrap();
        let options = in_mode(mode);
        // SAFETY: nothing is recorded.
        unsafe { segment.histogram_unguarded(&metric("x"), &options) }.unwrap();
        let bytes = view(segment).entry(0).unwrap().bytes;
        assert_eq!(Segment::estimate(&options, &of).unwrap(), bytes.next_multiple_of(4096));
        std::fs::remove_file(segment.path()).unwrap();
    }
    let thread_local = in_mode(Mode::ThreadLocal);
    assert_eq!(
        Segment::estimate(&thread_local, &SegmentOptions::default()).unwrap_err().status(),
        Status::Unsupported
    );
}
