//! From time stamps to nanoseconds.

use crate::user_read::page::Times;

/// Turns time stamps into nanoseconds. The default is that of a clock that stands still.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Rate {
    pub mult: u64,
    pub shift: u32,
    pub mask: u64,
}

impl Rate {
    /// For a time stamp counter of this frequency.
    pub(crate) fn of_hertz(hertz: u64) -> Rate {
        // Errs by less than one part in 2^30 at 1 GHz and above.
        Rate { mult: (1_000_000_000u64 << 32) / hertz.max(1), shift: 32, mask: u64::MAX }
    }

    /// As the page itself has it.
    pub(crate) fn of_page(times: &Times) -> Rate {
        let mask = times.wrap.map_or(u64::MAX, |(_, mask)| mask);
        Rate { mult: times.mult.into(), shift: u32::from(times.shift).min(63), mask }
    }

    #[inline(always)]
    pub(crate) fn nanos(&self, from: u64, to: u64) -> u64 {
        ((u128::from(to.wrapping_sub(from) & self.mask) * u128::from(self.mult)) >> (self.shift & 63)) as u64
    }
}

/// A pair of times that holds at a time stamp, and from there on as long as no lock moves.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Anchor {
    pub stamp: u64,
    pub enabled: u64,
    pub running: u64,
    pub rate: Rate,
}

impl Anchor {
    /// The two times at a later time stamp.
    #[inline(always)]
    pub(crate) fn times_at(&self, stamp: u64) -> (u64, u64) {
        let since = self.rate.nanos(self.stamp, stamp);
        (self.enabled.wrapping_add(since), self.running.wrapping_add(since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates() {
        for hertz in [1_000_000u64, 24_000_000, 1_000_000_000, 2_445_437_000, 5_000_000_000] {
            let nanos = Rate::of_hertz(hertz).nanos(17, 17 + hertz * 3600);
            assert!(nanos.abs_diff(3600 * 1_000_000_000) < 5000, "{hertz}: {nanos}");
        }
        let masked = Rate { mult: 1, shift: 0, mask: 0xffff };
        assert_eq!(masked.nanos(0xfffe, 3), 5);
    }
}
