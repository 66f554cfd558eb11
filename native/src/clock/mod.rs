//! Clocks: reading them is cheap, converting their ticks is exact.

#[cfg_attr(not(picollo_linux), path = "../elsewhere/tsc.rs")]
pub(crate) mod tsc;

pub use crate::os::wall::unix_nanos;
use crate::os::wall::{MONOTONIC_HERTZ, monotonic_nanos};

/// A source of ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Clock {
    /// `CLOCK_MONOTONIC`: nanoseconds since some point in the past.
    Monotonic = 0,
    /// The CPU's time stamp counter (aarch64: the virtual counter). Where the machine has none that runs at one constant rate,
    /// this is the monotonic clock: ticks, frequency and conversion change together, so that times stay right.
    Tsc = 1,
}

/// What ticks are converted to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Unit {
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

impl Unit {
    /// The unit with this number in the C ABI.
    pub const fn from_raw(raw: u32) -> Option<Unit> {
        Some(match raw {
            0 => Unit::Ticks,
            1 => Unit::Nanos,
            2 => Unit::Micros,
            3 => Unit::Millis,
            4 => Unit::Picos,
            _ => return None,
        })
    }

    /// How many make a second; `None` for ticks, which differ from clock to clock.
    pub const fn per_second(self) -> Option<u64> {
        match self {
            Unit::Ticks => None,
            Unit::Nanos => Some(1_000_000_000),
            Unit::Micros => Some(1_000_000),
            Unit::Millis => Some(1_000),
            Unit::Picos => Some(1_000_000_000_000),
        }
    }
}

/// `⌊ticks · units / hertz⌋` in 128 bits, saturating.
pub(crate) const fn convert_ticks(ticks: u64, hertz: u64, unit: Unit) -> u64 {
    let Some(units) = unit.per_second() else { return ticks };
    if hertz == 0 {
        return 0;
    }
    if units == hertz {
        // The monotonic clock in nanoseconds, by far the commonest: no division.
        return ticks;
    }
    // Narrow division where it will do, for seconds up to hours: a wide one costs several times as much.
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

    /// Calibrates now rather than at first use, which takes some 20 ms where the frequency has to be measured. Any thread, any
    /// number of times.
    pub fn init() {
        let _ = tsc::hertz();
    }

    /// Reads the clock. Takes no lock. The first read of [`Clock::Tsc`] calibrates it.
    #[inline]
    pub fn ticks(self) -> u64 {
        match self {
            Clock::Monotonic => monotonic_nanos(),
            Clock::Tsc => match tsc::hertz() {
                Some(_) => tsc::read(),
                None => monotonic_nanos(),
            },
        }
    }

    /// Reads the clock after everything before it in the program and before everything after it: no instruction of what is measured
    /// is still under way when the time is taken, and none of it has begun. [`Clock::ticks`] lets the CPU move the reading by
    /// as much as it executes out of order, some hundred instructions. Takes no lock. The first read of [`Clock::Tsc`] calibrates it.
    ///
    /// On x86 it is `lfence; rdtsc; lfence`, on aarch64 `isb; mrs cntvct_el0; isb`; the monotonic clock is read between two such fences
    /// on Linux, and as it is elsewhere. Stores may still be on their way from this CPU to others.
    ///
    /// Cost: that of [`Clock::ticks`] and some 10 to 20 ns, in which the CPU does nothing else, on top of the wait for what is under
    /// way. What is shorter than some hundred instructions is measured with it, and by many repetitions.
    #[inline]
    pub fn ticks_ordered(self) -> u64 {
        match self {
            Clock::Tsc if tsc::hertz().is_some() => tsc::read_ordered(),
            _ => {
                // The system's own reading waits for what is before it, but does not hold back what comes after it.
                tsc::fence();
                let nanos = monotonic_nanos();
                tsc::fence();
                nanos
            }
        }
    }

    /// Ticks a second; 0 in a build without `std`, which has no clock: its ticks stand still.
    pub fn frequency(self) -> u64 {
        match self {
            Clock::Monotonic => MONOTONIC_HERTZ,
            Clock::Tsc => tsc::hertz().unwrap_or(MONOTONIC_HERTZ),
        }
    }

    /// Converts a difference of ticks: `⌊ticks · units per second / frequency⌋`, saturating.
    pub fn convert(self, ticks: u64, unit: Unit) -> u64 {
        convert_ticks(ticks, self.frequency(), unit)
    }
}

/// Measures the time from its making to its end.
#[derive(Clone, Copy, Debug)]
pub struct Scope {
    start: u64,
    clock: Clock,
    unit: Unit,
}

impl Scope {
    /// Starts measuring.
    #[inline]
    pub fn begin(clock: Clock, unit: Unit) -> Scope {
        // The first use calibrates; its cost must not be inside the measurement, so the clock is read after it.
        Scope { start: clock.ticks(), clock, unit }
    }

    /// Resumes a scope that began at `start` ticks.
    pub const fn from_start(start: u64, clock: Clock, unit: Unit) -> Scope {
        Scope { start, clock, unit }
    }

    /// The clock's ticks when the scope began.
    pub const fn start(&self) -> u64 {
        self.start
    }

    /// The time since the start in the scope's unit; 0 should the clock appear to run backwards.
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

    /// Long division in base 2^32, without any 128-bit arithmetic: slow, and too simple to share a mistake with the real one.
    fn naive(ticks: u64, units: u64, hertz: u64) -> u64 {
        // ticks · units as three 32-bit digits and a carry.
        let (t1, t0) = (ticks >> 32, ticks & 0xffff_ffff);
        let (u1, u0) = (units >> 32, units & 0xffff_ffff);
        let mut digits = [0u64; 4];
        for (position, product) in [(0, t0 * u0), (1, t1 * u0), (1, t0 * u1), (2, t1 * u1)] {
            let mut carry = product;
            for digit in &mut digits[position..] {
                let sum = *digit + (carry & 0xffff_ffff);
                *digit = sum & 0xffff_ffff;
                carry = (carry >> 32) + (sum >> 32);
            }
        }
        // Bit by bit from the top.
        let (mut quotient, mut remainder, mut overflow) = (0u64, 0u64, false);
        for bit in (0..128).rev() {
            let next = digits[bit / 32] >> (bit % 32) & 1;
            let carried = remainder >> 63;
            remainder = remainder << 1 | next;
            overflow |= quotient >> 63 != 0;
            quotient <<= 1;
            if carried != 0 || remainder >= hertz {
                remainder = remainder.wrapping_sub(hertz);
                quotient |= 1;
            }
        }
        if overflow { u64::MAX } else { quotient }
    }

    proptest! {
        #[test]
        fn conversion_is_exact(ticks: u64, shift in 0u32..64, hertz in 1u64.., hertz_shift in 0u32..64, raw in 1u32..5) {
            let (ticks, hertz) = (ticks >> shift, (hertz >> hertz_shift).max(1));
            let unit = Unit::from_raw(raw).unwrap();
            prop_assert_eq!(convert_ticks(ticks, hertz, unit), naive(ticks, unit.per_second().unwrap(), hertz));
            prop_assert_eq!(convert_ticks(ticks, hertz, Unit::Ticks), ticks);
        }
    }

    #[test]
    fn a_second_is_a_second() {
        for hertz in [1, 24_000_000, 999_999_999, 2_299_998_512, 2_300_000_001, u64::MAX] {
            assert_eq!(convert_ticks(hertz, hertz, Unit::Nanos), NANOS_PER_SECOND);
            assert_eq!(convert_ticks(hertz, hertz, Unit::Picos), NANOS_PER_SECOND * 1000);
            assert_eq!(convert_ticks(hertz - 1, hertz, Unit::Millis), if hertz == 1 { 0 } else { 999 });
        }
        assert_eq!(convert_ticks(u64::MAX, 1, Unit::Picos), u64::MAX);
        assert_eq!(convert_ticks(u64::MAX, NANOS_PER_SECOND, Unit::Picos), u64::MAX);
        assert_eq!(convert_ticks(1, 0, Unit::Nanos), 0);
        assert_eq!(Unit::from_raw(5), None);
        assert_eq!(Clock::from_raw(2), None);
    }

    #[test]
    fn clocks_agree_with_each_other() {
        Clock::init();
        for clock in [Clock::Monotonic, Clock::Tsc] {
            // The scope encloses the inner measurement; a busy machine may stretch it, but not every time.
            let closest = (0..3).map(|_| {
                let scope = Scope::begin(clock, Unit::Micros);
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

    /// Both kinds of reading are of the same clock: an ordered one lies between the plain ones around it that are far enough apart.
    #[test]
    fn ordered_readings_are_the_clocks_own() {
        Clock::init();
        for clock in [Clock::Monotonic, Clock::Tsc] {
            // Longer than anything that a CPU has under way at once.
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
        assert_eq!(Scope::from_start(u64::MAX, Clock::Monotonic, Unit::Nanos).elapsed(), 0);
    }

    #[test]
    fn wall_clock_is_plausible() {
        let system = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
        assert!(u128::from(unix_nanos()).abs_diff(system) < 10_000_000_000);
    }
}
