//! Checks that times add up, whatever the machine is doing: the assertions hold for any clock.

use std::thread::sleep;
use std::time::Duration;

use picollo_core::layouts::ValueSelection;
use picollo_export::{Exposition, Registry};
use picollo_tracing::{SpanTimes, Time};
use tracing::info_span;
use tracing_subscriber::layer::SubscriberExt;

const PAUSE: Duration = Duration::from_millis(5);
/// Less than the pause, by the error of a histogram.
const ALMOST: u64 = 4_900_000;

fn recorded(run: impl FnOnce()) -> SpanTimes {
    let times = SpanTimes::new();
    tracing::subscriber::with_default(tracing_subscriber::registry().with(times.clone()), run);
    times
}

/// The number of times, and the only or highest value.
fn of(times: &SpanTimes, name: &str, time: Time) -> (u64, u64) {
    let snapshot = times.snapshot(name, time).unwrap();
    (snapshot.counts().total, snapshot.percentile(100.0, ValueSelection::Midpoint).unwrap().value)
}

/// At most, with room for the errors of two histograms.
fn at_most(less: u64, more: u64) -> bool {
    less as f64 <= more as f64 * 1.02 + 1.0
}

#[test]
fn self_time_excludes_inner_spans() {
    let times = recorded(|| {
        let outer = info_span!("outer");
        sleep(PAUSE);
        outer.in_scope(|| {
            sleep(PAUSE);
            info_span!("inner").in_scope(|| sleep(4 * PAUSE));
            // This span is made inside another, but never entered.
            let _idle = info_span!("never entered");
            sleep(PAUSE);
        });
    });
    let [total, busy, idle, alone] =
        [Time::Total, Time::Busy, Time::Idle, Time::SelfTime].map(|time| of(&times, "outer", time).1);
    let inner = of(&times, "inner", Time::SelfTime).1;
    assert!(total >= 7 * ALMOST && busy >= 6 * ALMOST && idle >= ALMOST && alone >= 2 * ALMOST);
    assert!(at_most(busy + idle, total) && at_most(total, busy + idle), "{busy} + {idle} = {total}");
    assert!(at_most(alone + inner, busy), "{alone} + {inner} <= {busy}");
    assert!(inner >= 4 * ALMOST);
    assert_eq!(of(&times, "never entered", Time::Busy), (1, 0));
    assert_eq!(times.names(), ["inner", "never entered", "outer"]);
}

#[test]
fn entered_again_and_left_in_another_order() {
    let times = recorded(|| {
        let span = info_span!("again");
        let first = span.enter();
        let second = span.enter();
        sleep(PAUSE);
        drop(second);
        drop(first);
        let (a, b) = (info_span!("a"), info_span!("b"));
        let in_a = a.enter();
        let in_b = b.enter();
        sleep(PAUSE);
        drop(in_a);
        sleep(PAUSE);
        drop(in_b);
        // The thread's stack is correct afterwards.
        info_span!("after").in_scope(|| ());
    });
    let (busy, alone) = (of(&times, "again", Time::Busy), of(&times, "again", Time::SelfTime));
    assert!(
        busy.1 >= ALMOST && at_most(alone.1, busy.1) && at_most(busy.1, alone.1 + busy.1 / 50),
        "{busy:?} {alone:?}"
    );
    assert!(of(&times, "b", Time::Busy).1 >= 2 * ALMOST);
    assert_eq!(of(&times, "after", Time::Total).0, 1);
}

#[test]
fn threads_lose_nothing_and_it_is_exposed() {
    let times = recorded(|| {
        let dispatch = tracing::dispatcher::get_default(Clone::clone);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    tracing::dispatcher::with_default(&dispatch, || {
                        for _ in 0..10_000 {
                            info_span!("work").in_scope(|| info_span!("part").in_scope(|| ()));
                        }
                    });
                });
            }
        });
    });
    for name in ["work", "part"] {
        for time in [Time::Total, Time::Busy, Time::Idle, Time::SelfTime] {
            assert_eq!(of(&times, name, time).0, 40_000);
        }
    }
    let mut registry = Registry::new();
    times.add_to(&mut registry).unwrap();
    times.add_to(&mut registry).unwrap();
    registry.update(1).unwrap();
    let text = String::from_utf8(registry.encode_to_vec(Exposition::OpenMetrics).unwrap()).unwrap();
    assert!(text.contains("span_seconds_count{span=\"work\",time=\"self\"} 40000\n"), "{text}");
    assert_eq!(registry.len(), 8);
}
