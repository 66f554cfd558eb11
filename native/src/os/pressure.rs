//! The kernel's sums of the time in which something had to wait: `/proc/pressure`.

/// Parses a file of `/proc/pressure`: the nanoseconds in which something waited.
pub fn waited(text: &[u8]) -> Option<u64> {
    let text = core::str::from_utf8(text).ok()?;
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    let total = some.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?;
    total.parse::<u64>().ok()?.checked_mul(1000)
}
