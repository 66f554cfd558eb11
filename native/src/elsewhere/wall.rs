//! The system's clocks, from `std`. Without it there is no clock.

pub const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// Ticks per second of the monotonic clock; 0 if there is no clock.
pub const MONOTONIC_HERTZ: u64 = if cfg!(feature = "std") { NANOS_PER_SECOND } else { 0 };

/// Nanoseconds since the first call.
#[cfg(feature = "std")]
pub fn monotonic_nanos() -> u64 {
    static START: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let elapsed = START.get_or_init(std::time::Instant::now).elapsed();
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

/// Wall-clock time in nanoseconds since 1970 (UTC); 0 for clocks set before that.
#[cfg(feature = "std")]
pub fn unix_nanos() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |elapsed| u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX))
}

/// Always 0: there is no clock.
#[cfg(not(feature = "std"))]
pub fn monotonic_nanos() -> u64 {
    0
}

/// Always 0: there is no clock.
#[cfg(not(feature = "std"))]
pub fn unix_nanos() -> u64 {
    0
}
