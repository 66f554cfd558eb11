//! Numbers for narrow columns.

use crate::show::human;

/// A value with its unit, in nine characters or little more: times as `3.29 ms`, others as `1.23 M`.
pub(crate) fn value(value: u64, unit: &str) -> String {
    let is_time = crate::serve::TIMES.iter().any(|(names, _)| names.contains(&unit));
    if is_time { human(value, unit) } else { short(value as f64) }
}

/// How often a second.
pub(crate) fn rate(per_second: f64) -> String {
    let text = short(per_second);
    if text.ends_with(|last: char| last.is_ascii_digit()) {
        format!("{text} /s")
    } else {
        format!("{text}/s")
    }
}

/// Three digits that count, and a letter for thousands.
fn short(number: f64) -> String {
    const LETTERS: [(f64, &str); 6] =
        [(1e18, " E"), (1e15, " P"), (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    // What would be rounded to the next thousand has its letter.
    let (by, letter) = LETTERS.iter().find(|(by, _)| number >= by * 0.9995).unwrap_or(&(1.0, ""));
    let scaled = number / by;
    let decimals = match scaled {
        _ if letter.is_empty() && scaled.fract() == 0.0 => 0,
        99.95.. => 0,
        9.995.. => 1,
        _ => 2,
    };
    format!("{scaled:.decimals$}{letter}")
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
