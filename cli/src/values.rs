//! Values on the command line.

use std::time::Duration;

use clap::{Arg, ArgAction, Command};
use picollo_core::text::Day;

/// A subcommand whose help is this text, and its first line where there is little room.
pub(crate) fn subcommand(name: &'static str, help: &'static str) -> Command {
    Command::new(name).about(help.lines().next().unwrap_or_default()).long_about(help)
}

/// An option with a value.
pub(crate) fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// An option without one.
pub(crate) fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// Units of time by which values in nanoseconds are divided.
const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// A time as it was given.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Time {
    /// Seconds since 1970.
    Absolute(f64),
    /// Seconds after the beginning.
    Relative(f64),
}

/// What values are divided by, and the name of the unit that makes of nanoseconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Scale {
    pub(crate) divisor: f64,
    pub(crate) unit: &'static str,
}

/// Seconds after the beginning, `@` and seconds since 1970, or a time of the clock; without a zone that is UTC.
pub(crate) fn time(text: &str) -> Result<Time, String> {
    let number = text.strip_prefix('@').unwrap_or(text);
    if let Ok(seconds) = number.parse::<f64>() {
        return match (seconds.is_finite(), number.len() < text.len()) {
            (false, _) => Err(format!("{text} is no time")),
            (true, true) => Ok(Time::Absolute(seconds)),
            (true, false) => Ok(Time::Relative(seconds)),
        };
    }
    clock_time(text).map(Time::Absolute).ok_or_else(|| {
        format!("{text} is no time: seconds after the first interval, @ and seconds since 1970, or 2015-09-09T15:24:39Z")
    })
}

/// A date and a time of ISO 8601.
fn clock_time(text: &str) -> Option<f64> {
    let (date, time) = match text.split_once(['T', 't', ' ']) {
        Some((date, time)) => (date, time),
        None => (text, "00:00"),
    };
    let day = day_of(date)?;
    let (time, offset) = if let Some(time) = time.strip_suffix(['Z', 'z']) {
        (time, 0.0)
    } else if let Some(at) = time.rfind(['+', '-']) {
        let (hours, minutes) = time[at + 1..].split_once(':').unwrap_or((&time[at + 1..], "00"));
        let seconds = f64::from(digits(hours, 2)? * 3600 + digits(minutes, 2)? * 60);
        (&time[..at], if time[at..].starts_with('-') { -seconds } else { seconds })
    } else {
        (time, 0.0)
    };
    let mut parts = time.splitn(3, ':');
    let (hour, minute) = (digits(parts.next()?, 2)?, digits(parts.next()?, 2)?);
    let second = match parts.next() {
        None => 0.0,
        Some(second) => {
            let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
            let fraction: f64 =
                Some(format!("0.{fraction}")).filter(|_| is_digits(fraction))?.parse().ok()?;
            f64::from(digits(whole, 2)?) + fraction
        }
    };
    if hour > 23 || minute > 59 || second >= 60.0 {
        return None;
    }
    Some(day as f64 * 86_400.0 + f64::from(hour * 3600 + minute * 60) + second - offset)
}

/// The number of the day, since 1970, that a date names: the day whose text is this one. Years have four digits.
fn day_of(date: &str) -> Option<i64> {
    let (mut low, mut high) = (-719_162i64, 2_932_896);
    while low < high {
        let middle = (low + high).div_euclid(2);
        if *Day(middle).to_string() < *date { low = middle + 1 } else { high = middle }
    }
    Some(low).filter(|&day| Day(day).to_string() == date)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn digits(text: &str, length: usize) -> Option<u32> {
    if text.len() == length && is_digits(text) { text.parse().ok() } else { None }
}

/// A duration: seconds, or a number with its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        seconds if seconds >= 0.001 => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("{text} is no duration from 1 ms to 30 years")),
    }
}

/// A duration that may be none.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    seconds(text).map(Duration::from_secs_f64)
}

fn seconds(text: &str) -> Result<f64, String> {
    let split = text.find(|letter: char| letter.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = (text[..split].trim_end(), &text[split..]);
    let factor = match unit {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => {
            return Err(format!(
                "{text} is no duration: seconds, or a number with ms, s, m, h or d, such as 5m"
            ));
        }
    };
    match number.parse::<f64>().map(|number| number * factor) {
        Ok(seconds) if (0.0..1e9).contains(&seconds) => Ok(seconds),
        _ => Err(format!("{text} is no duration of at most 30 years")),
    }
}

/// Bytes: a number, with k, M or G and perhaps B.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let upper = text.trim().to_ascii_uppercase();
    let bare = upper.strip_suffix('B').unwrap_or(&upper);
    let (number, factor) = match bare.char_indices().last() {
        Some((at, 'K')) => (&bare[..at], 1e3),
        Some((at, 'M')) => (&bare[..at], 1e6),
        Some((at, 'G')) => (&bare[..at], 1e9),
        _ => (bare, 1.0),
    };
    match number.trim().parse::<f64>().map(|number| number * factor) {
        Ok(bytes) if (1000.0..1e15).contains(&bytes) => Ok(bytes as u64),
        _ => Err(format!("{text} is no size from 1 kB on: a number with kB, MB or GB")),
    }
}

/// A time in UTC, as ISO 8601 has it, to the second.
pub(crate) fn clock(unix_nanos: u64) -> String {
    let seconds = unix_nanos / 1_000_000_000;
    let (days, of_day) = (seconds / 86_400, seconds % 86_400);
    let day = Day(days as i64);
    format!("{day}T{:02}:{:02}:{:02}Z", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

/// Percentiles, with commas between them.
pub(crate) fn ranks(text: &str) -> Result<Vec<f64>, String> {
    text.split(',')
        .map(|part| part.trim().parse::<f64>().ok().filter(|rank| (0.0..=100.0).contains(rank)))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("{text} are no percentiles: numbers from 0 to 100, with commas between them"))
}

/// Events, with commas between them. Those between slashes are of one: `cpu/event=0x3c,umask=0x1/`.
pub(crate) fn events(text: &str) -> Result<Vec<String>, String> {
    let mut is_within = false;
    let found: Vec<String> = text
        .split(|letter| {
            is_within ^= letter == '/';
            letter == ',' && !is_within
        })
        .map(|event| event.trim().to_owned())
        .collect();
    if found.iter().any(String::is_empty) {
        return Err(format!("{text} are no events with commas between them"));
    }
    Ok(found)
}

/// What to divide by: a unit, or a number.
pub(crate) fn scale(text: &str) -> Result<Scale, String> {
    if let Some(&(unit, divisor)) = UNITS.iter().find(|(unit, _)| *unit == text) {
        return Ok(Scale { divisor, unit });
    }
    match text.parse::<f64>() {
        Ok(divisor) if divisor > 0.0 && divisor.is_finite() => Ok(Scale { divisor, unit: "" }),
        _ => Err(format!("{text} is neither a positive number nor one of ns, us, ms, s")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_commas_of_their_own() {
        let found = events("cycles, cpu/event=0x3c,umask=1/,r01c2:u").unwrap();
        assert_eq!(found, ["cycles", "cpu/event=0x3c,umask=1/", "r01c2:u"]);
        for text in ["", "cycles,", ",cycles"] {
            assert!(events(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times() {
        for (text, seconds) in [
            ("1970-01-01", 0.0),
            ("1970-01-01T00:00:01Z", 1.0),
            ("2017-07-14T02:40:03.250Z", 1_500_000_003.25),
            ("2017-07-14T04:40:05.25+02:00", 1_500_000_005.25),
            ("2017-07-13 20:40:00-0600", f64::NAN),
            ("2017-07-13 20:40:00-06", 1_500_000_000.0),
            ("2000-02-29T00:00", 951_782_400.0),
            ("1969-12-31T23:59:59z", -1.0),
            ("0001-01-01T00:00:00", -62_135_596_800.0),
            ("2015-09-09T15:24:39Z", 1_441_812_279.0),
        ] {
            match time(text) {
                Ok(Time::Absolute(found)) => assert_eq!(found, seconds, "{text}"),
                other => assert!(seconds.is_nan() && other.is_err(), "{text}: {other:?}"),
            }
        }
        assert_eq!(time("-5"), Ok(Time::Relative(-5.0)));
        assert_eq!(time("@1441812279.5"), Ok(Time::Absolute(1_441_812_279.5)));
        for text in "|@|yesterday|inf|@nan|2015-02-29|2015-13-01|2015-1-1|2015-01-01T24:00|1e400".split('|') {
            assert!(time(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_sizes_and_clocks() {
        for (text, seconds) in [
            ("1", 1.0),
            ("0.5", 0.5),
            ("100ms", 0.1),
            ("2 s", 2.0),
            ("1.5min", 90.0),
            ("5m", 300.0),
            ("1h", 3600.0),
            ("1d", 86_400.0),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for (text, bytes) in [("1000", 1000), ("100MB", 100_000_000), ("1.5 kB", 1500), ("2g", 2_000_000_000)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        assert_eq!(["0", "0s", "1d"].map(age), [Ok(Duration::ZERO), Ok(Duration::ZERO), duration("1d")]);
        for text in ["", "0", "-1", "nan", "1e99", "1 week", "s"] {
            assert!(duration(text).is_err() && size(text).is_err(), "{text}");
        }
        for text in ["0x", "0hours", "-0.1", "nan"] {
            assert!(age(text).is_err(), "{text}");
        }
        for seconds in [0, 951_782_399, 951_782_400, 1_500_000_003, 4_102_444_799] {
            let told = clock(seconds * 1_000_000_000 + 999_999_999);
            assert_eq!(clock_time(&told), Some(seconds as f64), "{told}");
        }
        assert_eq!(clock(1_500_000_003_000_000_000), "2017-07-14T02:40:03Z");
    }

    #[test]
    fn other_values() {
        assert_eq!(ranks("50, 99.9,100"), Ok(vec![50.0, 99.9, 100.0]));
        assert_eq!(scale("us"), Ok(Scale { divisor: 1e3, unit: "us" }));
        assert_eq!(scale("0.5"), Ok(Scale { divisor: 0.5, unit: "" }));
        for text in ["", "50,101", "nan", "50,,90", "-1"] {
            assert!(ranks(text).is_err(), "{text}");
        }
        for text in ["", "0", "hours", "nan", "inf", "-1"] {
            assert!(scale(text).is_err(), "{text}");
        }
    }
}
