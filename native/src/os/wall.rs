//! The system's clocks.

/// The monotonic clock's ticks are nanoseconds.
pub const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// Ticks of the monotonic clock per second.
pub const MONOTONIC_HERTZ: u64 = NANOS_PER_SECOND;

/// `CLOCK_MONOTONIC` in nanoseconds.
pub fn monotonic_nanos() -> u64 {
    clock_nanos(libc::CLOCK_MONOTONIC)
}

/// Wall-clock time in nanoseconds since 1970 (UTC); 0 for clocks set before that.
pub fn unix_nanos() -> u64 {
    clock_nanos(libc::CLOCK_REALTIME)
}

pub fn clock_nanos(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a live timespec, which is all that the call writes.
    let result = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if result != 0 || time.tv_sec < 0 {
        // No Linux refuses these clocks; a wrong guess would be worse than a clock that stands still.
        return 0;
    }
    (time.tv_sec as u64).saturating_mul(NANOS_PER_SECOND).saturating_add(time.tv_nsec as u64)
}
