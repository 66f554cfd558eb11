use super::super::exemplar::{Evidence, KNOWN_COUNTERS, KNOWN_RUN_DELAY, NO_CPU};
use super::super::hints::Hints;
use super::super::usual::Usual;
use super::*;
use picollo_native::{ExplainedError, Status};

const MS: u64 = 1_000_000;

fn one(number: u64, [cpu, waiting, queued]: [u64; 3], faults: u32) -> Exemplar {
    let wall = cpu + waiting + queued;
    let evidence = Evidence {
        known: KNOWN_ACCOUNTS | KNOWN_RUN_DELAY,
        window_nanos: wall,
        cpu_nanos: cpu,
        run_delay_nanos: queued,
        voluntary: 1,
        minor_faults: faults,
        ..Evidence::default()
    };
    let context = Context { words: [number, 0], ..Context::default() };
    Exemplar { number, value: wall, wall_nanos: wall, context, evidence, cpu: NO_CPU, ..Exemplar::default() }
}

/// An empty interval with this threshold in milliseconds.
fn above(millis: u64) -> Interval {
    let (begin_unix_nanos, end_unix_nanos, units_per_second) = (1, 2, 1_000_000_000);
    let threshold = millis * MS;
    Interval { begin_unix_nanos, end_unix_nanos, threshold, units_per_second, ..Interval::default() }
}

pub(crate) fn interval() -> Interval {
    let mut usual = Usual::new().unwrap();
    (1..=20).for_each(|number| usual.add(&one(number, [MS, 0, 0], 3)));
    let traced = Context { trace_id: [0x4b; 16], span_id: [7; 8], words: [5, 6] };
    let slow = [
        one(101, [MS, 0, 30 * MS], 3),
        one(102, [MS, 12 * MS, 0], 3),
        one(103, [11 * MS, 0, 0], 6147),
        one(104, [5 * MS, 4 * MS, 4 * MS], 3),
        Exemplar { label: 3, context: traced, ..one(105, [MS, 9 * MS, 0], 3) },
        Exemplar { evidence: Evidence::none(Missing::OtherThread), ..one(106, [9 * MS, 0, 0], 3) },
    ];
    let mut exemplars = slow;
    exemplars.sort_by_key(|exemplar| core::cmp::Reverse(exemplar.value));
    let hints = Hints { steal: Some(0.12), memory: Some(0.009), io: Some(0.5), ..Hints::default() };
    let counted = Interval { observations: 12_345, slow: 8, hints, ..above(8) };
    Interval::new(counted, &exemplars, 6, &slow, 6, &usual).unwrap()
}

const MEANWHILE_AND_UNKNOWN: &str = "
Meanwhile, on the whole machine: 12% of the CPU time was stolen by the host; something waited for a disk in 50% of the time.

Not known of 2: only counted: they were recorded without a scope, or were too many at once. If requests share a thread \
(an event loop), offer each with its duration (`offer`), or put a scope around the call that blocks.
Not known of 1: too few ordinary ones of their kind.
Not known of 1: ended on another thread than they were begun on.";

#[test]
fn text_begins_with_the_answer() {
    let mut text = String::new();
    interval().write_text(&mut text).unwrap();
    let expected = "\
Mostly run queue (53%): what was slow was ready to run, and others had the CPU.
8 of 12,345 observations were above 8.00 ms; causes are known of 4.

Cause                    Excess  Observations   Typical  It
run queue                   53%             1   30.0 ms  was ready to run, and others had the CPU
own waiting                 25%             1   12.0 ms  waited for something: a lock, a disk, another process
on CPU, cause not known     22%             1   10.0 ms  ran for longer, with 6,144 page faults
several                                     1            no cause makes up more than half
not known                                   4            without evidence

The slowest
   31.0 ms  run queue 30.0 ms  id 101
   13.0 ms  own waiting 12.0 ms  id 102
   13.0 ms  several: own waiting 4.00 ms, run queue 4.00 ms  id 104
   11.0 ms  on CPU, cause not known 10.0 ms, 6,147 page faults  id 103
   10.0 ms  not known  trace 4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b  id 5 6
   9.00 ms  not known  id 106
";
    assert_eq!(text, expected.to_owned() + MEANWHILE_AND_UNKNOWN);
}

#[test]
fn reports_have_tables() {
    let mut text = String::new();
    interval().write_markdown(&mut text).unwrap();
    let expected = "\
### Why the slow ones were slow

Mostly run queue (53%): what was slow was ready to run, and others had the CPU.
8 of 12,345 observations were above 8.00 ms; causes are known of 4.

| Cause | Excess | Observations | Typical | It |
| :-- | --: | --: | --: | :-- |
| run queue | 53% | 1 | 30.0 ms | was ready to run, and others had the CPU |
| own waiting | 25% | 1 | 12.0 ms | waited for something: a lock, a disk, another process |
| on CPU, cause not known | 22% | 1 | 10.0 ms | ran for longer, with 6,144 page faults |
| several |  | 1 |  | no cause makes up more than half |
| not known |  | 4 |  | without evidence |

| The slowest | Cause | Excess | Page faults | Trace | Words |
| --: | :-- | --: | --: | :-- | --: |
| 31.0 ms | run queue | 30.0 ms | 3 |  | 101 |
| 13.0 ms | own waiting | 12.0 ms | 3 |  | 102 |
| 13.0 ms | several |  | 3 |  | 104 |
| 11.0 ms | on CPU, cause not known | 10.0 ms | 6,147 |  | 103 |
| 10.0 ms | not known |  | 3 | 4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b | 5 6 |
| 9.00 ms | not known |  |  |  | 106 |
";
    assert_eq!(text, expected.to_owned() + MEANWHILE_AND_UNKNOWN);
}

/// An observation that ends together with the interval may be kept before it is counted, or vice versa.
#[test]
fn no_more_are_slow_than_there_are() {
    let slow = [one(101, [MS, 0, 30 * MS], 3), one(102, [MS, 12 * MS, 0], 3), one(103, [11 * MS, 0, 0], 3)];
    for (observations, counted, most) in [(3, 3, 3), (2, 2, 2), (5, 2, 3), (5, 4, 4), (0, 0, 0)] {
        let counted = Interval { observations, slow: counted, ..above(8) };
        let interval = Interval::new(counted, &slow, 3, &slow, 3, &Usual::new().unwrap()).unwrap();
        assert_eq!((interval.observations, interval.slow), (observations, most));
        let shares: u64 = Cause::ALL.iter().map(|&cause| interval.share(cause).observations).sum();
        assert_eq!(shares, most);
        assert_eq!(interval.exemplars().len(), 3);
    }
}

#[test]
fn no_cause_is_named_for_equal_parts() {
    let mut usual = Usual::new().unwrap();
    (1..=20).for_each(|number| usual.add(&one(number, [MS, 0, 0], 3)));
    let slow = [one(101, [MS, 0, 20 * MS], 3), one(102, [MS, 20 * MS, 0], 3), one(103, [21 * MS, 0, 0], 3)];
    let counted = Interval { observations: 10, slow: 3, ..above(8) };
    let mut text = String::new();
    Interval::new(counted, &slow, 3, &slow, 3, &usual).unwrap().write_text(&mut text).unwrap();
    let expected = "Several causes: none makes up more than half.\n3 of 10 observations were above 8.00 ms; causes are known of 3.";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn short_observations_are_counted_apart() {
    let mut usual = Usual::new().unwrap();
    (1..=20).for_each(|number| usual.add(&one(number, [50_000, 0, 0], 0)));
    let mut short = one(101, [250_000, 0, 0], 0);
    short.evidence.window_nanos += 200_000;
    let counted = Interval { observations: 1, slow: 1, ..above(0) };
    let interval = Interval::new(counted, &[short], 1, &[], 0, &usual).unwrap();
    assert_eq!((interval.too_short, interval.without_controls, interval.known), (1, 0, 0));
}

#[test]
fn no_observations_give_no_text() {
    // The hints do not matter here.
    let hints = Hints { steal: Some(0.5), ..Hints::default() };
    let fast = Interval { observations: 12_345, hints, ..above(8) };
    for (counted, expected) in [
        (Interval { hints, ..above(0) }, "Nothing was recorded."),
        (fast, "None of 12,345 observations was above 8.00 ms."),
    ] {
        let interval = Interval::new(counted, &[], 16, &[], 0, &Usual::new().unwrap()).unwrap();
        let (mut text, mut html) = (String::new(), String::new());
        interval.write_text(&mut text).unwrap();
        interval.write_html(&mut html).unwrap();
        assert_eq!(text, expected);
        assert!(html.contains(&text) && !html.contains("Meanwhile"), "{html}");
    }
}

#[test]
fn executed_instructions_are_visible() {
    let one = |millis: u64, instructions, cycles| {
        let mut one = one(0, [millis * MS, 0, 0], 0);
        one.evidence.known |= if cycles > 0 { KNOWN_COUNTERS } else { 0 };
        (one.evidence.instructions, one.evidence.cycles) = (instructions, cycles);
        one
    };
    let mut usual = Usual::new().unwrap();
    (0..20).for_each(|_| usual.add(&one(1, 6 * MS, 3 * MS)));
    let slow = [one(40, 6 * MS, 120 * MS), one(20, 120 * MS, 60 * MS), one(9, 0, 0)];
    let counted = Interval { observations: 100, slow: 3, ..above(5) };
    let mut interval = Interval::new(counted, &slow, 3, &slow, 3, &usual).unwrap();
    assert_eq!((interval.known, interval.counted), (3, 2));
    interval.uncounted = Some(ExplainedError::new(Status::Permission, format_args!("not allowed.")));
    let (mut text, mut markdown) = (String::new(), String::new());
    interval.write_text(&mut text).unwrap();
    interval.write_markdown(&mut markdown).unwrap();
    for (written, line) in [
        (&text, "\nslower instructions         59%             1   39.0 ms  executed as much, more slowly"),
        (&text, "\nmore instructions           29%             1   19.0 ms  executed more"),
        (&text, "\n   40.0 ms  slower instructions 39.0 ms, IPC 0.05 against 2.00"),
        (&text, "\n   20.0 ms  more instructions 19.0 ms, IPC 2.00 against 2.00"),
        (&text, "\n   9.00 ms  on CPU, cause not known 8.00 ms"),
        (&text, "\nInstructions were counted of 2 of 3: not allowed."),
        (&markdown, "| Page faults | IPC | Trace |"),
        (&markdown, "| --: | :-- | --: | --: | --: | :-- | --: |"),
        (&markdown, "| 40.0 ms | slower instructions | 39.0 ms | 0 | 0.05 | "),
        (&markdown, "| 9.00 ms | on CPU, cause not known | 8.00 ms | 0 |  | "),
    ] {
        assert!(written.contains(line), "{line:?} is not in {written}");
    }
}
