//! Clocks: cheap to read, and exact in converting ticks.

#[cfg_attr(not(picollo_linux), path = "../elsewhere/tsc.rs")]
#[allow(missing_docs)] // only the hidden `seam` exposes it
pub mod tsc;

pub use crate::os::wall::unix_nanos;
use crate::os::wall::{MONOTONIC_HERTZ, monotonic_nanos};

/// A source of ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Clock {
    /// `CLOCK_MONOTONIC`: nanoseconds since some point in the past.
    Monotonic = 0,
    /// The CPU's time stamp counter (aarch64: the virtual counter). If the machine has no counter with a constant
    /// rate, this is the monotonic clock. Ticks, frequency and conversion change together, so times stay right.
    Tsc = 1,
}

/// The units that ticks are converted to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum TimeUnit {
    /// The clock's own ticks.
    Ticks = 0,
    /// Nanoseconds.
    Nanos = 1,
    /// Microseconds.
    Micros = 2,
    /// Milliseconds.
    Millis = 3,
    /// Picoseconds.
    Picos = 4,
}

impl TimeUnit {
    /// The unit with this number in the C ABI.
    pub const fn from_raw(raw: u32) -> Option<TimeUnit> {
        Some(match raw {
            0 => TimeUnit::Ticks,
            1 => TimeUnit::Nanos,
            2 => TimeUnit::Micros,
            3 => TimeUnit::Millis,
            4 => TimeUnit::Picos,
            _ => return None,
        })
    }

    /// Units per second; `None` for ticks, whose length depends on the clock.
    pub const fn per_second(self) -> Option<u64> {
        match self {
            TimeUnit::Ticks => None,
            TimeUnit::Nanos => Some(1_000_000_000),
            TimeUnit::Micros => Some(1_000_000),
            TimeUnit::Millis => Some(1_000),
            TimeUnit::Picos => Some(1_000_000_000_000),
        }
    }
}

/// `⌊ticks · units / hertz⌋` in 128 bits, saturating.
pub const fn convert_ticks(ticks: u64, hertz: u64, unit: TimeUnit) -> u64 {
    let Some(units) = unit.per_second() else { return ticks };
    if hertz == 0 {
        return 0;
    }
    if units == hertz {
        // The monotonic clock in nanoseconds, by far the most common case, needs no division.
        return ticks;
    }
    // For seconds up to hours a narrow division suffices. A wide one costs several times as much.
    if let Some(product) = ticks.checked_mul(units) {
        return product / hertz;
    }
    // At most 2^64 · 10^12 < 2^104.
    let converted = ticks as u128 * units as u128 / hertz as u128;
    if converted > u64::MAX as u128 { u64::MAX } else { converted as u64 }
}

impl Clock {
    /// The clock with this number in the C ABI.
    pub const fn from_raw(raw: u32) -> Option<Clock> {
        match raw {
            0 => Some(Clock::Monotonic),
            1 => Some(Clock::Tsc),
            _ => None,
        }
    }

    /// Determines the rate of [`Clock::Tsc`] now, which takes up to 20 ms once. No program needs this call: differences
    /// are converted correctly before it, and no scope waits. Any thread may call it, any number of times.
    pub fn init() {
        let _ = tsc::hertz();
    }

    /// Reads the clock, without a lock. A process's first read of [`Clock::Tsc`] takes about 20 µs, before that moment.
    #[inline]
    pub fn ticks(self) -> u64 {
        match self {
            Clock::Monotonic => monotonic_nanos(),
            Clock::Tsc if tsc::is_used() => tsc::read(),
            Clock::Tsc => monotonic_nanos(),
        }
    }

    /// Reads the clock, without a lock, after everything before it in the program and before everything after it. When
    /// the time is taken, no earlier instruction is still running, and no later one has begun. With [`Clock::ticks`],
    /// out-of-order execution may move the reading by about a hundred instructions.
    ///
    /// On x86 it is `lfence; rdtsc; lfence`, on aarch64 `isb; mrs cntvct_el0; isb`. On Linux such fences also enclose
    /// the monotonic clock. Stores may still be on their way from this CPU to others.
    ///
    /// Cost: about 15 ns more than [`Clock::ticks`], in which the CPU does nothing else, plus the wait for running
    /// instructions. To measure less than about a hundred instructions, use it and repeat the code many times.
    #[inline]
    pub fn ticks_ordered(self) -> u64 {
        match self {
            Clock::Tsc if tsc::is_used() => tsc::read_ordered(),
            _ => {
                // The system's own reading waits for earlier instructions, but does not hold back later ones.
                tsc::fence();
                let nanos = monotonic_nanos();
                tsc::fence();
                nanos
            }
        }
    }

    /// Ticks per second; 0 without `std`, whose clock stands still. May wait up to 20 ms once, like [`Clock::init`].
    pub fn frequency(self) -> u64 {
        match self {
            Clock::Monotonic => MONOTONIC_HERTZ,
            Clock::Tsc => tsc::hertz().unwrap_or(MONOTONIC_HERTZ),
        }
    }

    /// Converts a difference of ticks without waiting: `⌊ticks · units per second / frequency⌋`, saturating. In the
    /// first 20 ms after the first use of [`Clock::Tsc`], it uses the system's clock instead, accurate to about 100 ns.
    pub fn convert(self, ticks: u64, unit: TimeUnit) -> u64 {
        if unit == TimeUnit::Ticks {
            return ticks;
        }
        let hertz = match self {
            Clock::Monotonic => MONOTONIC_HERTZ,
            Clock::Tsc => tsc::hertz_for(ticks).unwrap_or(MONOTONIC_HERTZ),
        };
        convert_ticks(ticks, hertz, unit)
    }
}

/// Measures the time from its creation to its end.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    start: u64,
    clock: Clock,
    unit: TimeUnit,
}

impl Scope {
    /// Starts measuring.
    #[inline]
    pub fn begin(clock: Clock, unit: TimeUnit) -> Scope {
        // The first use decides which clock to read, and the measurement must not include that cost.
        Scope { start: clock.ticks(), clock, unit }
    }

    /// The clock's ticks when the scope began.
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// The time since the start in the scope's unit; 0 if the clock appears to run backward.
    #[inline]
    pub fn elapsed(&self) -> u64 {
        let now = self.clock.ticks();
        self.clock.convert(now.saturating_sub(self.start), self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::wall::NANOS_PER_SECOND;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn conversion_is_exact(ticks: u64, shift in 0u32..64, hertz in 1u64.., hertz_shift in 0u32..64, raw in 1u32..5) {
            let (ticks, hertz) = (ticks >> shift, (hertz >> hertz_shift).max(1));
            let unit = TimeUnit::from_raw(raw).unwrap();
            prop_assert_eq!(convert_ticks(ticks, hertz, TimeUnit::Ticks), ticks);
            // The result is the largest whole number that is not above the exact value, unless it does not fit.
            let found = u128::from(convert_ticks(ticks, hertz, unit));
            let (product, hertz) = (u128::from(ticks) * u128::from(unit.per_second().unwrap()), u128::from(hertz));
            prop_assert!(found * hertz <= product);
            prop_assert!((found + 1) * hertz > product || found == u128::from(u64::MAX));
        }
    }

    #[test]
    fn a_second_is_a_second() {
        for hertz in [1, 24_000_000, 999_999_999, 2_299_998_512, 2_300_000_001, u64::MAX] {
            assert_eq!(convert_ticks(hertz, hertz, TimeUnit::Nanos), NANOS_PER_SECOND);
            assert_eq!(convert_ticks(hertz, hertz, TimeUnit::Picos), NANOS_PER_SECOND * 1000);
            assert_eq!(convert_ticks(hertz - 1, hertz, TimeUnit::Millis), if hertz == 1 { 0 } else { 999 });
        }
        assert_eq!(convert_ticks(u64::MAX, 1, TimeUnit::Picos), u64::MAX);
        assert_eq!(convert_ticks(u64::MAX, NANOS_PER_SECOND, TimeUnit::Picos), u64::MAX);
        assert_eq!(convert_ticks(1, 0, TimeUnit::Nanos), 0);
        for raw in 0..6 {
            assert_eq!(TimeUnit::from_raw(raw).map(|unit| unit as u32), Some(raw).filter(|&raw| raw < 5));
            assert_eq!(Clock::from_raw(raw).map(|clock| clock as u32), Some(raw).filter(|&raw| raw < 2));
        }
    }

    #[test]
    fn clocks_agree_with_each_other() {
        Clock::init();
        for clock in [Clock::Monotonic, Clock::Tsc] {
            // The scope encloses the inner measurement. A busy machine may stretch it, but not every time.
            let closest = (0..3).map(|_| {
                let scope = Scope::begin(clock, TimeUnit::Micros);
                let before = monotonic_nanos();
                std::thread::sleep(std::time::Duration::from_millis(10));
                let middle = (monotonic_nanos() - before) / 1000;
                let elapsed = scope.elapsed();
                assert!(elapsed + 50 >= middle, "{clock:?}: {elapsed} us of {middle} us");
                elapsed - middle.min(elapsed)
            });
            let closest = closest.min().unwrap();
            assert!(closest < 5_000, "{clock:?}: {closest} us more than what it encloses");
        }
    }

    /// Both readings use the same clock: an ordered one lies between plain ones around it that are far enough apart.
    #[test]
    fn ordered_readings_are_the_clocks_own() {
        Clock::init();
        for clock in [Clock::Monotonic, Clock::Tsc] {
            // Longer than any work that a CPU has in flight at once.
            let pause = || std::thread::sleep(std::time::Duration::from_micros(50));
            let before = clock.ticks();
            pause();
            let (first, second) = (clock.ticks_ordered(), clock.ticks_ordered());
            pause();
            let after = clock.ticks();
            assert!(before < first && first <= second && second < after, "{before} {first} {second} {after}");
        }
    }

    #[test]
    fn a_clock_that_runs_backwards_gives_zero() {
        assert_eq!(Scope { start: u64::MAX, clock: Clock::Monotonic, unit: TimeUnit::Nanos }.elapsed(), 0);
    }

    #[test]
    fn wall_clock_is_plausible() {
        let system = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        assert!(u128::from(unix_nanos()).abs_diff(system) < 10_000_000_000);
    }
}
