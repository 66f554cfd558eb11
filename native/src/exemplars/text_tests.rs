use super::super::evidence::{Evidence, Missing};
use super::super::exemplar::Context;
use super::super::hints::Hints;
use super::super::interval::Counted;
use super::super::usual::Usual;
use super::*;

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

pub(super) fn interval() -> Interval {
    let mut usual = Usual::new().unwrap();
    (1..=20).for_each(|number| usual.take(&one(number, [MS, 0, 0], 3)));
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
    let counted = Counted {
        unix_nanos: [1, 2],
        threshold: 8 * MS,
        unit_nanos: 1.0,
        observations: 12_345,
        slow: 8,
        hints,
    };
    Interval::new(counted, &exemplars, 6, &slow, 6, &usual).unwrap()
}

#[test]
fn people_are_told_the_answer_first() {
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

Meanwhile, on the whole machine: 12% of the CPU time was stolen by the host; something waited for a disk in 50% of the time.

Not known of 2: only counted.
Not known of 1: too few ordinary ones of their kind.
Not known of 1: ended on another thread than they were begun on.";
    assert_eq!(text, expected);
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

Meanwhile, on the whole machine: 12% of the CPU time was stolen by the host; something waited for a disk in 50% of the time.

Not known of 2: only counted.
Not known of 1: too few ordinary ones of their kind.
Not known of 1: ended on another thread than they were begun on.";
    assert_eq!(text, expected);
}

#[test]
fn programs_are_told_exactly() {
    let mut json = String::new();
    interval().write_json(&mut json).unwrap();
    for part in [
        "\"threshold\":8000000,\"observations\":12345,\"slow\":8,\"known\":4,\"controls\":20,\"counted_only\":2,\"without_controls\":1,\"too_short\":0,\"without_evidence\":1",
        "{\"cause\":\"run queue\",\"excess_nanos\":34000000,\"observations\":1,\"typical_nanos\":30000000,\"typical_faults\":0}",
        "{\"cause\":\"several\",\"excess_nanos\":null,\"observations\":1,\"typical_nanos\":null,\"typical_faults\":null}",
        "\"excess_nanos\":64000000,\"units_per_second\":1000000000,\"has_run_delay\":true,\"missing\":{\"other_thread\":1},\"uncounted\":null,\"machine\":{",
        "\"excess\":{\"run queue\":30000000},\"parts\":{\"run queue\":30000000,\"on CPU, cause not known\":1000000}}",
        "\"machine\":{\"steal\":0.12,\"waited_for_cpu\":null,\"waited_for_memory\":0.009,\"waited_for_io\":0.5,\"swapped_in\":null}",
        "\"cpu\":null",
        "\"off_nanos\":null",
        "\"trace_id\":\"4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b4b\",\"span_id\":\"0707070707070707\"",
    ] {
        assert!(json.contains(part), "{part} is not in {json}");
    }
    let (mut depth, mut is_text) = (0, false);
    for byte in json.bytes() {
        match byte {
            b'"' => is_text = !is_text,
            b'{' | b'[' if !is_text => depth += 1,
            b'}' | b']' if !is_text => depth -= 1,
            _ => {}
        }
    }
    assert!(depth == 0 && !is_text);
}

/// What ends while the interval does is kept before it is counted, or counted before it is kept.
#[test]
fn no_more_are_slow_than_there_are() {
    let slow = [one(101, [MS, 0, 30 * MS], 3), one(102, [MS, 12 * MS, 0], 3), one(103, [11 * MS, 0, 0], 3)];
    for (observations, counted, most) in [(3, 3, 3), (2, 2, 2), (5, 2, 3), (5, 4, 4), (0, 0, 0)] {
        let counted = Counted {
            unix_nanos: [1, 2],
            threshold: 8 * MS,
            unit_nanos: 1.0,
            observations,
            slow: counted,
            hints: Hints::default(),
        };
        let interval = Interval::new(counted, &slow, 3, &slow, 3, &Usual::new().unwrap()).unwrap();
        assert_eq!((interval.observations, interval.slow), (observations, most));
        let shares: u64 = Cause::ALL.iter().map(|&cause| interval.share(cause).observations).sum();
        assert_eq!(shares, most);
        assert_eq!(interval.exemplars().len(), 3);
    }
}

#[test]
fn nothing_is_said_of_nothing() {
    let counted = Counted {
        unix_nanos: [1, 2],
        threshold: 0,
        unit_nanos: 1.0,
        observations: 0,
        slow: 0,
        // Whatever else the machine did.
        hints: Hints { steal: Some(0.5), ..Hints::default() },
    };
    let told = |counted| {
        let interval = Interval::new(counted, &[], 16, &[], 0, &Usual::new().unwrap()).unwrap();
        let (mut text, mut html) = (String::new(), String::new());
        interval.write_text(&mut text).unwrap();
        interval.write_html(&mut html).unwrap();
        assert!(html.contains(&text) && !html.contains("Meanwhile"), "{html}");
        text
    };
    assert_eq!(told(counted), "Nothing was recorded.");
    let fast = Counted { threshold: 8 * MS, observations: 12_345, ..counted };
    assert_eq!(told(fast), "None of 12,345 observations was above 8.00 ms.");
}
