//! Tests conversions with clocks whose true time is known.

use std::cell::{Cell, RefCell};

use proptest::prelude::*;

use super::*;

/// The true time, from which both clocks are computed. Reading them takes time.
struct Model {
    /// Thousandths of nanoseconds since a beginning.
    picos: Cell<u128>,
    /// Durations of the next readings.
    delays: RefCell<Vec<u64>>,
    hertz: Option<u64>,
    /// Actual error of the counter or the monotonic clock, in parts per million.
    parts: i64,
}

impl Model {
    fn new(hertz: Option<u64>, parts: i64, delays: Vec<u64>) -> Model {
        Model { picos: Cell::new(1_000_000_000_000_000), delays: RefCell::new(delays), hertz, parts }
    }

    fn pass(&self) {
        let nanos = self.delays.borrow_mut().pop().unwrap_or(30);
        self.picos.set(self.picos.get() + u128::from(nanos) * 1_000);
    }

    fn ticks_at(&self, picos: u128) -> u64 {
        let hertz = self.hertz.unwrap_or(1_000_000_000);
        let real = (i128::from(hertz) * (1_000_000 + i128::from(self.parts))) as u128;
        5_000_000 + (picos * real / 1_000_000_000_000 / 1_000_000) as u64
    }

    fn raw_at(&self, picos: u128) -> u64 {
        77_000_000_000 + (picos / 1_000) as u64
    }
}

impl Clocks for Model {
    fn ticks(&self) -> u64 {
        self.pass();
        let ticks = self.ticks_at(self.picos.get());
        self.pass();
        ticks
    }
    fn raw(&self) -> u64 {
        self.pass();
        let raw = self.raw_at(self.picos.get());
        self.pass();
        raw
    }
    fn hertz(&self) -> Option<u64> {
        self.hertz
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// The truth lies within the stated error for any frequency (even with very long ticks), frequency error and
    /// bracket width.
    #[test]
    fn the_truth_is_within_the_error(
        hertz in prop_oneof![Just(None), (1_000_000u64..3_000_000).prop_map(Some), (1_000_000u64..50_000_000).prop_map(Some), (1_000_000u64..6_000_000_000).prop_map(Some)], parts in -900i64..900,
        delays in prop::collection::vec(0u64..2_000, 0..30), distance in 0u64..100_000_000_000, later: bool,
    ) {
        let model = Model::new(hertz, parts, delays);
        let Some(bracket) = Bracket::from_clocks(&model) else { return Ok(()) };
        prop_assert!(bracket.width <= WIDE_NANOS);
        let picos = model.picos.get();
        let distance = u128::from(distance) * 1_000;
        let at = if later { picos + distance } else { picos - distance };
        let (found, truth) = (bracket.raw(model.ticks_at(at)), model.raw_at(at));
        prop_assert!(found.at.abs_diff(truth) <= found.error, "{:?} of {}, {:?}", found, truth, bracket);
        // The stated error is small, too. (The bracket may have been taken a few tries ago.)
        let tick = 1_000_000_000 / hertz.unwrap_or(1_000_000_000);
        prop_assert!(found.error <= bracket.width / 2 + 50 + tick + (distance / 1_000 / 990) as u64);
    }
}

#[test]
fn a_wide_bracket_is_none() {
    // Every reading takes 3 µs.
    assert_eq!(Bracket::from_clocks(&Model::new(Some(2_000_000_000), 0, vec![3_000; 100])), None);
    assert_eq!(Bracket::from_clocks(&Model::new(None, 0, vec![3_000; 100])), None);
    // The thread lost its CPU in the first try, but not in the second.
    let mut delays = vec![50; 4];
    delays.extend([50, 9_000_000, 50, 50, 50, 50]);
    let bracket = Bracket::from_clocks(&Model::new(Some(2_000_000_000), 0, delays)).unwrap();
    assert!(bracket.width < 1_000, "{bracket:?}");
}

/// Clocks that run backwards, and unreadable clocks that stand still.
#[test]
fn broken_clocks_give_nothing_wrong() {
    struct Broken {
        ticks: Cell<u64>,
        step: u64,
        raw: u64,
    }
    impl Clocks for Broken {
        fn ticks(&self) -> u64 {
            self.ticks.set(self.ticks.get().wrapping_sub(self.step));
            self.ticks.get()
        }
        fn raw(&self) -> u64 {
            self.raw
        }
        fn hertz(&self) -> Option<u64> {
            None
        }
    }
    for (step, raw) in [(10, 5), (0, 0)] {
        assert_eq!(Bracket::from_clocks(&Broken { ticks: Cell::new(1_000), step, raw }), None);
    }
    // A large distance does not overflow.
    let bracket = Bracket { tsc: 1 << 63, raw_ns: 5, width: 100, hertz: 1 };
    assert_eq!((bracket.raw(0).at, bracket.raw(u64::MAX).at), (0, u64::MAX));
}

/// On this machine's clocks, a moment between two readings of the raw clock is found between them.
#[test]
fn this_machines_clocks_agree() {
    Clock::init();
    let mut moments = Vec::new();
    for _ in 0..20 {
        let before = System.raw();
        let ticks = System.ticks();
        moments.push((before, ticks, System.raw()));
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let Some(bracket) = (0..50).find_map(|_| Bracket::read()) else {
        return eprintln!("SKIPPED: the clocks of this machine are too slow, or it is too busy");
    };
    eprintln!("a bracket of {} ns", bracket.width);
    for (before, ticks, after) in moments {
        let found = bracket.raw(ticks);
        assert!(
            found.at + found.error >= before && found.at <= after + found.error,
            "{before} {found:?} {after}"
        );
    }
}
