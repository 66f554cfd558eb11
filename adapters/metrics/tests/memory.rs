//! Checks that memory does not grow with records that nobody scrapes.
#![cfg(target_os = "linux")]

use metrics::{histogram, with_local_recorder};

/// The resident memory of this process, in bytes.
fn resident() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    1024 * line.trim().trim_end_matches(" kB").trim().parse::<i64>().unwrap()
}

#[test]
fn memory_does_not_grow_with_records() {
    let records = if cfg!(debug_assertions) { 1_000_000u64 } else { 100_000_000 };
    let metrics = picollo_metrics::Builder::new().build().unwrap();
    with_local_recorder(&metrics, || {
        let kept = histogram!("kept");
        let record = |number: u64| {
            let value = (number % 1_000_003) as f64 * 1e-6;
            kept.record(value);
            if number.is_multiple_of(16) {
                histogram!("by_macro").record(value);
            }
        };
        // This touches every bucket in advance.
        (0..1_000_003).for_each(record);
        let before = resident();
        (1_000_003..1_000_003 + records).for_each(record);
        let grown = resident() - before;
        // The limit allows for other pages of the process; a byte per record would be a hundred times as much.
        assert!(grown < 1 << 20, "{grown} bytes more after {records} records");
    });
    assert_eq!(metrics.histogram("kept", &[]).unwrap().count(), 1_000_003 + records);
}
