//! Numbers for narrow columns.

use picollo_core::text::Unit;

/// A value with its unit, in nine characters or little more: times as `3.29 ms`, others as `1.23 M`.
pub(crate) fn value(value: u64, unit: &str) -> String {
    let unit = Unit::new(unit);
    if unit.is_time() { unit.integer(value).to_string() } else { Unit::COUNT.integer(value).to_string() }
}

/// How often a second.
pub(crate) fn rate(per_second: f64) -> String {
    let is_whole = per_second.fract() == 0.0 && (0.0..1e15).contains(&per_second);
    let text = if is_whole {
        Unit::COUNT.integer(per_second as u64)
    } else {
        Unit::COUNT.number(per_second).at_most(2)
    }
    .to_string();
    if text.ends_with(|last: char| last.is_ascii_digit()) {
        format!("{text} /s")
    } else {
        format!("{text}/s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow() {
        for (number, text) in [
            (0.0, "0 /s"),
            (0.5, "0.50 /s"),
            (7.0, "7 /s"),
            (99.96, "100 /s"),
            (999.0, "999 /s"),
            (999.7, "1.00 k/s"),
            (181_234.0, "181 k/s"),
            (18_123_400.0, "18.1 M/s"),
            (1e18, "1.00 E/s"),
        ] {
            assert_eq!(rate(number), text, "{number}");
        }
        assert_eq!(value(3_290_000, "ns"), "3.29 ms");
        assert_eq!(value(3_290_000, "bytes"), "3.29 M");
        assert_eq!(value(12, ""), "12");
    }
}
