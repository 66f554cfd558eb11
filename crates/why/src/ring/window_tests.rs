//! Tests windows with an oracle that knows everything that happened.

use proptest::prelude::*;

use super::super::image::tests::{Memory, record};
use super::*;
use picollo_native::seam::kernel::record as kernel;

/// What a thread does next, and how long it takes.
#[derive(Clone, Debug)]
enum Deed {
    Run(u64),
    Off {
        nanos: u64,
        preempted: bool,
    },
    /// A fault; the thread may be off the CPU while it is handled.
    Fault {
        before: u64,
        off: Option<u64>,
        after: u64,
        major: bool,
    },
    /// A fault that becomes a signal.
    Bad,
    /// Another record with this many words.
    Noise(u32, usize),
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let nanos = || prop_oneof![0..3u64, 1..1_000u64, 1_000..20_000_000u64];
    let deed = prop_oneof![
        4 => nanos().prop_map(Deed::Run),
        6 => (nanos(), any::<bool>()).prop_map(|(nanos, preempted)| Deed::Off { nanos, preempted }),
        3 => (nanos(), prop::option::of(nanos()), nanos(), any::<bool>())
            .prop_map(|(before, off, after, major)| Deed::Fault { before, off, after, major }),
        1 => Just(Deed::Bad),
        2 => (prop_oneof![Just(1u32), Just(3), Just(5), Just(6), Just(12), Just(77)], 1..6usize)
            .prop_map(|(kind, words)| Deed::Noise(kind, words)),
    ];
    prop::collection::vec(deed, 0..40)
}

/// Everything that happened, and the records of it.
struct History {
    since: u64,
    now: u64,
    offs: Vec<(u64, u64, bool)>,
    /// When each began, and when it was handled.
    faults: Vec<(u64, Option<u64>)>,
    switches: Vec<Vec<u64>>,
    begun: Vec<Vec<u64>>,
    handled: [Vec<Vec<u64>>; 2],
}

const SWITCH: u32 = 14;
const SAMPLE: u32 = 9;

impl History {
    fn new(deeds: &[Deed]) -> History {
        let since = 1_000_000_000;
        let mut history = History {
            since,
            now: since + 5,
            offs: Vec::new(),
            faults: Vec::new(),
            switches: Vec::new(),
            begun: Vec::new(),
            handled: [Vec::new(), Vec::new()],
        };
        for deed in deeds {
            history.now += 1;
            match *deed {
                Deed::Run(nanos) => history.now += nanos,
                Deed::Off { nanos, preempted } => history.off(nanos, preempted),
                Deed::Fault { before, off, after, major } => {
                    let begun = history.now;
                    history.begun.push(record(SAMPLE, 2, 2, begun));
                    history.now += before;
                    if let Some(nanos) = off {
                        history.off(nanos, false);
                    }
                    history.now += after;
                    history.handled[usize::from(major)].push(record(SAMPLE, 2, 2, history.now));
                    history.faults.push((begun, Some(history.now)));
                }
                Deed::Bad => {
                    history.begun.push(record(SAMPLE, 2, 2, history.now));
                    history.faults.push((history.now, None));
                }
                Deed::Noise(kind, words) => history.switches.push(record(kind, 0x6fff, words, 3)),
            }
        }
        history.now += 1;
        history
    }

    fn off(&mut self, nanos: u64, preempted: bool) {
        let misc = kernel::OUT | if preempted { kernel::PREEMPTED } else { 0 };
        self.switches.push(record(SWITCH, misc, 2, self.now));
        let out = self.now;
        self.now += nanos;
        self.switches.push(record(SWITCH, 0, 2, self.now));
        self.offs.push((out, self.now, preempted));
    }

    fn span(&self, begin: u64, end: u64) -> Span {
        Span { begin, end, since: self.since }
    }

    /// The window from `begin` to `end` of a ring of switches, read now.
    fn window(&self, switches: &Memory, begin: u64, end: u64) -> Window {
        window(switches, None, self.span(begin, end), || self.now)
    }

    /// A moment in the history, or a little before it.
    fn moment(&self, at: u32) -> u64 {
        let from = self.since - 3;
        from + ((u128::from(self.now - from) * u128::from(at)) >> 32) as u64
    }

    /// The naive result: all absences, cut at the window's edges.
    fn truth(&self, begin: u64, end: u64) -> (u64, u64, u32) {
        let parts =
            self.offs.iter().map(|&(out, back, preempted)| (overlap(out, back, begin, end), preempted));
        let parts: Vec<_> = parts.filter(|&(nanos, _)| nanos > 0).collect();
        let preempted = parts.iter().filter(|part| part.1).map(|part| part.0).sum();
        (parts.iter().map(|part| part.0).sum(), preempted, parts.len() as u32)
    }

    /// Whether a ring of this many words still has a switch from before the window, or has lost nothing.
    fn is_known(&self, words: usize, begin: u64) -> bool {
        let mut room = words;
        for record in self.switches.iter().rev() {
            if record.len() > room {
                return false;
            }
            room -= record.len();
            if record[0].to_ne_bytes()[0] == SWITCH as u8 && record[1] <= begin {
                return true;
            }
        }
        self.since <= begin
    }
}

fn overlap(from: u64, to: u64, begin: u64, end: u64) -> u64 {
    to.min(end).saturating_sub(from.max(begin))
}

fn ring(words: usize, records: &[Vec<u64>]) -> Memory {
    let ring = Memory::new(words);
    // The kernel writes no record longer than its ring.
    records.iter().filter(|record| record.len() <= words).for_each(|record| ring.write(record));
    ring
}

fn numbers(window: &Window) -> (u64, u64, u32) {
    (window.off_nanos, window.preempted_nanos, window.outs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// During the reading, the thread may lose its CPU, so that more is written. A complete window is right, and it is
    /// complete if the records are not overwritten.
    #[test]
    fn windows_are_what_happened(deeds in deeds(), power in 3u32..9, a: u32, b: u32, loads in 0usize..40, more in prop_oneof![Just(0), 0usize..40]) {
        let history = History::new(&deeds);
        let (begin, end) = (history.moment(a.min(b)), history.moment(a.max(b)));
        let known = history.is_known(1 << power, begin);
        let switches = ring(1 << power, &history.switches);
        let late = |n| record(SWITCH, if n % 2 == 0 { kernel::OUT } else { 0 }, 2, history.now + 10 * n as u64);
        *switches.meanwhile.borrow_mut() = Some((loads, (0..2 * more).map(late).collect()));
        let found = history.window(&switches, begin, end);
        prop_assert!(known || !found.complete);
        let expected = if found.complete { history.truth(begin, end) } else { (0, 0, 0) };
        prop_assert_eq!(numbers(&found), expected);
        prop_assert!(found.faults.is_none());
        let written: usize = history.switches.iter().map(Vec::len).sum();
        if known && (more == 0 || written + 4 * more <= 1 << power) {
            prop_assert!(found.complete);
        }
    }

    /// If a record is missing, windows that reach back to it are incomplete.
    #[test]
    fn missing_records_are_noticed(deeds in deeds(), which: prop::sample::Index, a: u32, b: u32) {
        let mut history = History::new(&deeds);
        let (begin, end) = (history.moment(a.min(b)), history.moment(a.max(b)));
        let is_switch = |record: &Vec<u64>| record[0].to_ne_bytes()[0] == SWITCH as u8;
        let switches: Vec<usize> = (0..history.switches.len()).filter(|&at| is_switch(&history.switches[at])).collect();
        prop_assume!(!switches.is_empty());
        let gone = history.switches.remove(switches[which.index(switches.len())]);
        let found = history.window(&ring(512, &history.switches), begin, end);
        prop_assert!(!found.complete || gone[1] <= begin);
        if found.complete {
            prop_assert_eq!(numbers(&found), history.truth(begin, end));
        }
    }

    #[test]
    fn faults_are_what_happened(deeds in deeds(), power in 2u32..8, a: u32, b: u32) {
        let history = History::new(&deeds);
        let (begin, end) = (history.moment(a.min(b)), history.moment(a.max(b)));
        let switches = ring(512, &history.switches);
        let [minor, major] = [0, 1].map(|kind| ring(1 << power, &history.handled[kind]));
        let begun = ring(1 << power, &history.begun);
        let images = [&begun, &minor, &major];
        let found = window(&switches, Some(images), history.span(begin, end), || history.now);
        prop_assert_eq!(found.complete, history.is_known(512, begin));
        if !found.complete {
            prop_assert_eq!(found, Window::default());
            return Ok(());
        }
        let faults = found.faults.unwrap();
        // The latest first: the known ones come first.
        let inside = |&&(begun, handled): &&(u64, Option<u64>)| handled.unwrap_or(begun) > begin && begun <= end;
        let inside: Vec<_> = history.faults.iter().rev().filter(inside).copied().collect();
        let timed: Vec<_> = inside.iter().filter_map(|&(begun, handled)| Some((begun, handled?))).collect();
        let bad = inside.len() - timed.len();
        if faults.complete {
            prop_assert_eq!((faults.timed as usize, faults.unhandled as usize), (timed.len(), bad));
        }
        if history.begun.len() * 16 <= 7 << power {
            prop_assert!(faults.complete);
        }
        let known = &timed[..faults.timed as usize];
        let nanos: u64 = known.iter().map(|&(from, to)| overlap(from, to, begin, end)).sum();
        prop_assert_eq!(faults.nanos, nanos);
        let off: u64 = known.iter().map(|&(from, to)| {
            let (from, to) = (from.max(begin), to.min(end));
            history.offs.iter().map(|&(out, back, _)| overlap(out, back, from, to)).sum::<u64>()
        }).sum();
        prop_assert_eq!(faults.off_nanos, off);
    }

    /// For any bytes: no panic, no endless loop, and never more time than the window has.
    #[test]
    fn any_bytes_are_survived(
        seeds in prop::collection::vec(prop::collection::vec(any::<u64>(), 64), 4),
        heads in prop::array::uniform4(any::<u64>()), power in 0u32..7, likely: bool,
        begin: u64, length: u64, since: u64, now: u64,
    ) {
        let end = begin.saturating_add(length);
        let rings: Vec<Memory> = seeds.iter().zip(heads).map(|(seed, head)| {
            let words = seed.iter().take(1 << power).enumerate().map(|(at, &word)| match likely {
                // Headers of relevant records, and nearby times.
                true if at % 2 == 0 => record([SWITCH, SAMPLE, 2][word as usize % 3], (word >> 8) as u16, 2, 0)[0],
                true => now.saturating_sub(word % (64 - at as u64)),
                false => word,
            });
            Memory::from_words(words.collect(), if likely { head & !15 } else { head })
        }).collect();
        let images = [&rings[1], &rings[2], &rings[3]];
        let begin = if likely { now.saturating_sub(length % 70) } else { begin };
        let found = window(&rings[0], Some(images), Span { begin, end, since }, || now);
        if found.complete {
            prop_assert!(found.preempted_nanos <= found.off_nanos && found.off_nanos <= end.saturating_sub(begin));
            let faults = found.faults.unwrap();
            prop_assert!(faults.off_nanos <= faults.nanos && faults.nanos <= end.saturating_sub(begin));
        } else {
            prop_assert_eq!(found, Window::default());
        }
    }
}

#[test]
fn a_window_that_ends_before_it_begins_is_none() {
    let history = History::new(&[Deed::Run(100)]);
    let begin = history.since + 5;
    assert!(history.window(&ring(8, &[]), begin, begin).complete);
    assert_eq!(history.window(&ring(8, &[]), begin, begin - 1), Window::default());
}

/// Records from the future show that another clock dated them.
#[test]
fn another_clock_is_noticed() {
    let history =
        History::new(&[Deed::Run(5_000), Deed::Off { nanos: 100, preempted: false }, Deed::Run(10)]);
    let switches = ring(8, &history.switches);
    let span = history.span(history.since, history.since + 10);
    assert!(window(&switches, None, span, || history.now).complete);
    assert!(window(&switches, None, span, || history.now - 500).complete);
    assert!(!window(&switches, None, span, || history.now - 3_000).complete);
}

/// It suffices if the oldest remaining record is exactly from the beginning of the window.
#[test]
fn a_record_of_the_first_moment_is_enough() {
    let deeds = vec![Deed::Off { nanos: 10, preempted: false }; 9];
    let history = History::new(&deeds);
    // Four records fit: two absences.
    let (out, back, _) = history.offs[7];
    let known = |begin| history.window(&ring(8, &history.switches), begin, history.now);
    assert_eq!((known(out).complete, known(out).off_nanos), (true, 20));
    assert_eq!((known(back).complete, known(back).off_nanos), (true, 10));
    assert!(!known(out - 1).complete);
}

/// The clock of records may go back by a few nanoseconds: no moment is counted twice.
#[test]
fn records_out_of_order_are_not_counted_twice() {
    let history = History::new(&[Deed::Run(2_000)]);
    let at = |misc, nanos| record(SWITCH, misc, 2, history.since + nanos);
    let records = [at(kernel::OUT, 100), at(0, 900), at(kernel::OUT, 500), at(0, 1_000)];
    let found = history.window(&ring(8, &records), history.since, history.since + 1_000);
    assert_eq!(numbers(&found), (900, 0, 2));
}

/// The thread loses its CPU and takes a fault while the clock is read, before or after the time was taken. All of that
/// is later than the window.
#[test]
fn records_after_the_window_are_ignored() {
    let deeds = [Deed::Run(50), Deed::Off { nanos: 70, preempted: false }, Deed::Bad, Deed::Run(50)];
    let history = History::new(&deeds);
    let later = history.now + 5_000_000;
    for time in [history.now, later] {
        let rings = [0; 3].map(|_| ring(16, &[]));
        let (switches, begun) = (ring(16, &history.switches), ring(16, &history.begun));
        let images = [&begun, &rings[0], &rings[1]];
        let found = window(&switches, Some(images), history.span(history.since, history.now), || {
            switches.write(&record(SWITCH, kernel::OUT, 2, history.now + 3));
            switches.write(&record(SWITCH, 0, 2, later - 20));
            begun.write(&record(SAMPLE, 2, 2, later - 10));
            rings[0].write(&record(SAMPLE, 2, 2, later - 5));
            time
        });
        assert_eq!(numbers(&found), (70, 0, 1));
        let faults = found.faults.unwrap();
        assert!(found.complete && faults.complete);
        assert_eq!((faults.timed, faults.unhandled), (0, 1));
    }
}

/// An end between another end and its beginning matches no fault. Faults from before the rings were opened are unknown.
#[test]
fn inconsistent_faults_are_unknown() {
    let at = |nanos| record(SAMPLE, 2, 2, 1_000_000_000 + nanos);
    let found = |begun: &[u64], handled: &[u64], since: u64| {
        let ring_of = |times: &[u64]| ring(16, &times.iter().map(|&nanos| at(nanos)).collect::<Vec<_>>());
        let (begun, minor, major) = (ring_of(begun), ring_of(handled), ring_of(&[]));
        let switches =
            ring(8, &[record(SWITCH, kernel::OUT, 2, 1_000_000_000), record(SWITCH, 0, 2, 1_000_000_010)]);
        let images = [&begun, &minor, &major];
        let span = Span { begin: 1_000_000_020, end: 1_000_000_900, since: 1_000_000_000 + since };
        let found = window(&switches, Some(images), span, || 1_000_001_000);
        assert!(found.complete);
        let faults = found.faults.unwrap();
        (faults.complete, faults.timed, faults.nanos)
    };
    assert_eq!(found(&[100], &[200], 0), (true, 1, 100));
    assert_eq!(found(&[100, 300], &[200, 350], 0), (true, 2, 150));
    assert_eq!(found(&[100], &[150, 200], 0), (false, 0, 0));
    assert_eq!(found(&[300], &[200, 350], 0), (false, 1, 50));
    assert_eq!(found(&[100], &[200], 50), (false, 0, 0));
}

/// More is written than fits while faults are read: they are unknown.
#[test]
fn torn_faults_are_dropped() {
    let fault = Deed::Fault { before: 5, off: None, after: 5, major: false };
    let history = History::new(&vec![fault; 7]);
    for (more, known) in [(0, 7), (1, 7), (2, 0), (8, 0)] {
        let rings =
            [&history.begun, &history.handled[0], &history.handled[1]].map(|records| ring(16, records));
        *rings[0].meanwhile.borrow_mut() = Some((1, vec![record(77, 0, 2, 3); more]));
        let images = [&rings[0], &rings[1], &rings[2]];
        let span = history.span(history.since, history.now);
        let faults = window(&ring(16, &[]), Some(images), span, || history.now).faults.unwrap();
        assert_eq!((faults.timed, faults.complete), (known, known > 0));
    }
}

#[test]
fn a_loss_that_the_kernel_reports_counts() {
    let mut history =
        History::new(&[Deed::Run(50), Deed::Off { nanos: 100, preempted: true }, Deed::Run(50)]);
    let seen =
        |history: &History| history.window(&ring(16, &history.switches), history.since + 1, history.now);
    assert_eq!(numbers(&seen(&history)), (100, 100, 1));
    history.switches.push(record(2, 0, 4, 0));
    assert!(!seen(&history).complete);
}
