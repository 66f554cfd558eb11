//! Tests of the rule with planted traces: what disturbs a block, what does not, and unknown values.

use super::noise::{NoiseWatch, Trace};
use crate::load::{Cpus, Load, Watch};

const TICK: u64 = 10_000_000;
const MILLI: u64 = 1_000_000_000;

/// Load in one stretch of time, as shares of each CPU and of the time.
#[derive(Clone, Copy)]
struct Stretch {
    millis: u64,
    /// In CPUs.
    own: f64,
    others: f64,
    waited: f64,
    steal: f64,
}

const QUIET: Stretch = Stretch { millis: 1000, own: 1.0, others: 0.0, waited: 0.0, steal: 0.0 };

/// A trace of a machine with this many CPUs: a look every 20 ms, with times in ticks.
fn trace(cpus: u32, stretches: &[Stretch], change: impl Fn(u64, &mut Load)) -> Trace {
    let mut trace = Trace::new(TICK).unwrap();
    let (mut at, mut own, mut others, mut waited, mut steal, mut idle) = (0u64, 0.0, 0.0, 0.0, 0.0, 0.0);
    let in_ticks = |seconds: f64| (seconds * 1e9) as u64 / TICK * TICK;
    for stretch in stretches {
        for _ in 0..stretch.millis / 20 {
            let cpus = Cpus {
                which: 1,
                count: cpus,
                busy: 5_000 * TICK + in_ticks(own + others),
                idle: 9_000 * TICK + in_ticks(idle),
                steal: Some(in_ticks(steal)),
            };
            let mut load = Load {
                cpus: Some(cpus),
                own: Some(7 + (own * 1e9) as u64),
                waited: Some((waited * 1e9) as u64),
                hertz: None,
            };
            change(at / MILLI, &mut load);
            if trace.is_due(at) {
                trace.add(at, load, 0);
            }
            at += 20 * MILLI;
            own += 0.02 * stretch.own;
            others += 0.02 * stretch.others;
            waited += 0.02 * stretch.waited;
            steal += 0.02 * stretch.steal;
            idle += 0.02 * (f64::from(cpus.count) - stretch.own - stretch.others - stretch.steal);
        }
    }
    trace
}

/// When disturbed blocks of 1 ms begin, in milliseconds, as ranges; there is a block every 10 ms.
fn disturbed(trace: &Trace, millis: u64) -> Vec<std::ops::RangeInclusive<u64>> {
    let mut ranges: Vec<std::ops::RangeInclusive<u64>> = Vec::new();
    for at in (0..millis).step_by(10) {
        if trace.is_disturbed((at * MILLI, (at + 1) * MILLI)) {
            match ranges.last_mut() {
                Some(last) if *last.end() + 10 == at => *last = *last.start()..=at,
                _ => ranges.push(at..=at),
            }
        }
    }
    ranges
}

fn of(stretches: &[Stretch], change: impl Fn(u64, &mut Load)) -> Vec<std::ops::RangeInclusive<u64>> {
    disturbed(&trace(2, stretches, change), stretches.iter().map(|stretch| stretch.millis).sum())
}

#[test]
fn what_disturbs_and_what_does_not() {
    let nobody = Vec::new();
    assert_eq!(of(&[QUIET], |_, _| ()), nobody);
    // Threads of this program wait for each other: eight on two CPUs.
    assert_eq!(of(&[Stretch { own: 2.0, waited: 1.0, ..QUIET }], |_, _| ()), nobody);
    // Others use CPUs that would be idle.
    assert_eq!(of(&[Stretch { others: 1.0, ..QUIET }], |_, _| ()), nobody);
    // Something waits for this program, which is no disturbance: a program of the lowest priority gets next to nothing.
    assert_eq!(of(&[Stretch { waited: 1.0, others: 0.02, ..QUIET }], |_, _| ()), nobody);
    // Two programs compete for both CPUs.
    let busy = Stretch { own: 0.67, others: 1.33, waited: 1.0, ..QUIET };
    assert_eq!(of(&[busy], |_, _| ()), [0..=990]);
    let stolen = Stretch { own: 0.7, steal: 0.3, ..QUIET };
    assert_eq!(of(&[stolen], |_, _| ()), [0..=990]);
    // More than a tick and a twentieth would have to be lost in a tenth of a second.
    assert_eq!(of(&[Stretch { steal: 0.04, ..QUIET }], |_, _| ()), nobody);
}

/// Only nearby blocks are disturbed, not all of them.
#[test]
fn bursts() {
    let burst = Stretch { millis: 60, own: 0.5, steal: 0.5, ..QUIET };
    let ranges = of(&[QUIET, burst, QUIET, burst, QUIET], |_, _| ());
    assert_eq!(ranges.len(), 2, "{ranges:?}");
    for (range, began) in ranges.iter().zip([1000, 2060]) {
        assert!(range.contains(&(began + 20)) && range.contains(&(began + 50)), "{range:?}");
        assert!(*range.start() >= began - 120 && *range.end() <= began + 180, "{range:?}");
    }
    let neighbour = Stretch { millis: 300, own: 0.67, others: 1.33, waited: 1.0, ..QUIET };
    let ranges = of(&[QUIET, neighbour, QUIET], |_, _| ());
    assert_eq!(ranges.len(), 1, "{ranges:?}");
    assert!(*ranges[0].start() >= 900 && ranges[0].contains(&1000) && ranges[0].contains(&1290));
    assert!(*ranges[0].end() <= 1400, "{ranges:?}");
    // A block longer than a window is judged alone: 60 ms at one half are less than a twentieth.
    let trace = trace(2, &[QUIET, burst, QUIET], |_, _| ());
    assert!(!trace.is_disturbed((500 * MILLI, 1560 * MILLI)));
    assert!(trace.is_disturbed((980 * MILLI, 1080 * MILLI)));
}

/// Errors of a tick at either end, at any phase, with one, two and many CPUs.
#[test]
fn ticks_alone_disturb_nothing() {
    for cpus in [1, 2, 64] {
        for own in [0.03, 0.5, 0.97, 1.0] {
            for phase in 0..20 {
                let stretch = Stretch { own, waited: 0.5, ..QUIET };
                let most = std::cell::Cell::new(0);
                let trace = trace(cpus, &[stretch], |at, load| {
                    let off = (at / 20 + phase) % 3;
                    let cpus = load.cpus.as_mut().unwrap();
                    // Either a tick ahead or not, and never backwards.
                    most.set(most.get().max(cpus.busy + off * TICK / 2));
                    cpus.busy = most.get();
                    cpus.steal = Some((at + 50 * phase) / 500 * TICK);
                });
                let trace_of_none = disturbed(&trace, 1000);
                assert!(trace_of_none.is_empty(), "{cpus} {own} {phase}: {trace_of_none:?}");
            }
        }
    }
    let both = Stretch { own: 0.5, others: 0.5, waited: 1.0, ..QUIET };
    assert_eq!(disturbed(&trace(1, &[both], |_, _| ()), 1000), [0..=990], "one CPU, and two for it");
}

/// Without the pressure, others disturb if no CPU is idle. Without the rest, nothing is known to disturb.
#[test]
fn what_is_missing() {
    let busy = Stretch { own: 0.67, others: 1.33, waited: 1.0, ..QUIET };
    let beside = Stretch { own: 1.0, others: 1.0, ..QUIET };
    assert_eq!(of(&[busy], |_, load| load.waited = None), [0..=990]);
    assert_eq!(of(&[QUIET], |_, load| load.waited = None), []);
    assert_eq!(
        of(&[beside], |_, load| load.waited = None),
        [0..=990],
        "nothing was idle, so it may have been"
    );
    let four = disturbed(&trace(4, &[beside], |_, load| load.waited = None), 1000);
    assert_eq!(four, [], "two CPUs were idle");
    for change in [|load: &mut Load| load.own = None, |load: &mut Load| load.cpus = None] {
        let trace = trace(2, &[busy], |_, load| change(load));
        assert_eq!(disturbed(&trace, 1000), []);
        let all = trace.all();
        assert!(all.others_seconds.is_nan() && (all.pressure_seconds - 0.98).abs() < 1e-6, "{all:?}");
    }
    let trace = trace(2, &[Stretch { steal: 0.3, own: 0.7, ..QUIET }], |_, load| load.own = None);
    assert_eq!(disturbed(&trace, 1000), [0..=990], "steal is known all the same");
    let nothing = Trace::new(TICK).unwrap();
    assert!(!nothing.is_disturbed((0, MILLI)));
    assert!(nothing.all().seconds.is_nan() && nothing.all().cpu_count == 0);
}

/// If counters run backwards or CPUs come and go, only that step is unknown, not those before and after it.
#[test]
fn steps_that_are_not_known() {
    let busy = Stretch { own: 0.67, others: 1.33, waited: 1.0, ..QUIET };
    let backwards = |at: u64, load: &mut Load| {
        if at >= 500 {
            load.cpus.as_mut().unwrap().busy -= 4_000 * TICK;
            load.waited = load.waited.map(|waited| waited / 2);
        }
    };
    assert_eq!(of(&[Stretch { waited: 0.3, ..QUIET }], backwards), []);
    assert_eq!(of(&[busy], backwards), [0..=990]);
    // Another CPU, with hours on its counters.
    let vanishes = |at: u64, load: &mut Load| {
        if (400..600).contains(&at) {
            let cpus = load.cpus.as_mut().unwrap();
            (cpus.which, cpus.count) = (2, 1);
            cpus.busy += 1_000_000 * TICK;
        }
    };
    assert_eq!(of(&[Stretch { waited: 0.3, ..QUIET }], vanishes), []);
    assert_eq!(of(&[busy], vanishes), [0..=990]);
    let all = trace(2, &[busy], vanishes).all();
    assert!((all.others_seconds - 1.33 * 0.94).abs() < 0.05, "without the two steps: {all:?}");
    assert_eq!(all.cpu_count, 2);
    // Idle time runs backwards on current kernels.
    assert_eq!(of(&[QUIET], |at, load| load.cpus.as_mut().unwrap().idle -= at / 40 * TICK), []);
}

/// Long traces are thinned to fit, and disturbances are still found.
#[test]
fn long_traces_are_thinned() {
    let mut stretches = vec![QUIET; 600];
    stretches[300] = Stretch { own: 0.5, steal: 0.5, ..QUIET };
    let ranges = of(&stretches, |_, _| ());
    assert_eq!(ranges.len(), 1, "{ranges:?}");
    // Looks are 320 ms apart now.
    assert!(*ranges[0].start() >= 299_000 && *ranges[0].end() <= 302_000, "{ranges:?}");
    assert!(ranges[0].contains(&300_500));
}

/// Looks are 20 ms apart. Slow ones are taken less often, to use a fiftieth of the time at most.
#[test]
fn looks_take_little_time() {
    let mut trace = Trace::new(TICK).unwrap();
    trace.add(0, Load::default(), 0);
    assert!(!trace.is_due(19 * MILLI) && trace.is_due(20 * MILLI));
    trace.add(100 * MILLI, Load::default(), 10 * MILLI);
    assert!(!trace.is_due(599 * MILLI) && trace.is_due(600 * MILLI));
}

#[test]
fn frequencies() {
    let trace =
        trace(2, &[QUIET], |at, load| load.hertz = (at % 100 == 0).then_some(2_000_000_000 + at * 1_000_000));
    assert_eq!((trace.all().frequency_low, trace.all().frequency_high), (2e9, 2.9e9));
}

/// Sentences name the disturbance, and nothing that is unknown.
#[test]
fn sentences() {
    use super::BenchmarkNoise;
    let noise = BenchmarkNoise {
        block_count: 40,
        disturbed_count: 12,
        left_out_count: 12,
        seconds: 5.04,
        steal_seconds: 0.02,
        others_seconds: 1.31,
        pressure_seconds: 0.876,
        ..BenchmarkNoise::default()
    };
    assert_eq!(
        noise.to_string(),
        "12 of 40 blocks were left out: other programs took 1.3 s of CPU time, something waited for a CPU for 0.88 s, of 5.0 s."
    );
    let unproven = BenchmarkNoise {
        disturbed_count: 31,
        left_out_count: 0,
        others_seconds: f64::NAN,
        pressure_seconds: f64::NAN,
        steal_seconds: 2.5,
        ..noise
    };
    assert_eq!(unproven.to_string(), "31 of 40 blocks were disturbed: the host took 2.5 s, of 5.0 s.");
    let one = BenchmarkNoise { block_count: 1, disturbed_count: 1, ..unproven };
    assert!(one.to_string().starts_with("1 of 1 block was disturbed: "), "{one}");
    assert_eq!(BenchmarkNoise::default().to_string(), "");
    assert_eq!(BenchmarkNoise { disturbed_count: 0, left_out_count: 0, ..noise }.to_string(), "");
}

/// Measures this machine, whatever it does.
#[cfg_attr(miri, ignore)]
#[test]
fn runs_of_work_are_watched() {
    let mut watch = NoiseWatch::create().unwrap();
    for _ in 0..5 {
        watch.begin();
        std::thread::sleep(std::time::Duration::from_millis(30));
        watch.end().unwrap();
    }
    let noise = watch.noise();
    assert!(noise.block_count == 5 && noise.disturbed_count <= 5 && noise.left_out_count == 0, "{noise:?}");
    assert!(noise.seconds >= 0.15, "{noise:?}");
    assert!(noise.pressure_seconds.is_nan() || noise.pressure_seconds <= noise.seconds, "{noise:?}");
    // If nothing is known, nothing was disturbed.
    (watch.watch, watch.trace) = (Watch::unknown(), Trace::new(TICK).unwrap());
    let noise = watch.noise();
    assert_eq!((noise.block_count, noise.disturbed_count), (5, 0));
}
