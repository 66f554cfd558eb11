//! Values on the command line.

use std::time::Duration;

use clap::{Arg, ArgAction, Command};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, SpanRelativeTo, Timestamp};

/// A subcommand with this help text, whose first line is the short form.
pub(crate) fn subcommand(name: &'static str, help: &'static str) -> Command {
    Command::new(name).about(help.lines().next().unwrap_or_default()).long_about(help)
}

/// An option with a value.
pub(crate) fn option(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// An option without a value.
pub(crate) fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
}

/// Units of time, as divisors of values in nanoseconds.
const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

/// A time on the command line.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Time {
    /// Seconds since 1970.
    Absolute(f64),
    /// Seconds after the beginning.
    Relative(f64),
}

/// Divisor of values, and the name of the unit that nanoseconds become.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Scale {
    pub(crate) divisor: f64,
    pub(crate) unit: &'static str,
}

/// A duration after the beginning, `@` and seconds since 1970, or a date and time; without a zone in UTC.
pub(crate) fn time(text: &str) -> Result<Time, String> {
    let number = text.strip_prefix('@').unwrap_or(text);
    if let Ok(seconds) = number.parse::<f64>() {
        return match (seconds.is_finite(), number.len() < text.len()) {
            (false, _) => Err(format!("{text} is not a finite time: use seconds, such as 60")),
            (true, true) => Ok(Time::Absolute(seconds)),
            (true, false) => Ok(Time::Relative(seconds)),
        };
    }
    let in_utc = || Some(text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp());
    let time = text.parse::<Timestamp>().ok().or_else(in_utc);
    let time = time.map(|time| Time::Absolute(time.as_duration().as_secs_f64()));
    let after = || Some(Time::Relative(age(text).ok()?.as_secs_f64()));
    time.or_else(after).ok_or_else(|| {
        format!("{text} is not a time: use seconds or a duration such as 5m after the first interval, @ and seconds since 1970, or 2015-09-09T15:24:39Z")
    })
}

/// A duration: seconds, or a number with its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    match age(text)? {
        time if time >= Duration::from_millis(1) => Ok(time),
        _ => Err(format!("{text} is not a duration from 1 ms to 30 years: use one such as 5m or 250ms")),
    }
}

/// A duration that may be zero.
pub(crate) fn age(text: &str) -> Result<Duration, String> {
    let in_units = || {
        let span = text.parse::<Span>().ok()?.to_duration(SpanRelativeTo::days_are_24_hours());
        Some(span.ok()?.as_secs_f64())
    };
    match text.parse().ok().or_else(in_units) {
        Some(seconds) if (0.0..1e9).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!(
            "{text} is not a duration of at most 30 years: use seconds, or a number with ms, s, m, h or d, such as 5m"
        )),
    }
}

/// A size in bytes: a number, with k, M or G and optionally B.
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
        _ => Err(format!("{text} is not a size of 1 kB or more: use a number with kB, MB or GB")),
    }
}

/// A time in UTC in the form of ISO 8601, in seconds.
pub(crate) fn clock(unix_nanos: u64) -> String {
    Timestamp::from_second((unix_nanos / 1_000_000_000) as i64).unwrap_or_default().to_string()
}

/// Percentiles, separated by commas.
pub(crate) fn ranks(text: &str) -> Result<Vec<f64>, String> {
    text.split(',')
        .map(|part| part.trim().parse::<f64>().ok().filter(|rank| (0.0..=100.0).contains(rank)))
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| format!("{text} are not percentiles: use numbers from 0 to 100, separated by commas"))
}

/// Events, separated by commas. Commas between slashes belong to one event: `cpu/event=0x3c,umask=0x1/`.
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
        return Err(format!("{text} has an empty name: use names of events, separated by commas"));
    }
    Ok(found)
}

/// A divisor: a unit, or a number.
pub(crate) fn scale(text: &str) -> Result<Scale, String> {
    if let Some(&(unit, divisor)) = UNITS.iter().find(|(unit, _)| *unit == text) {
        return Ok(Scale { divisor, unit });
    }
    match text.parse::<f64>() {
        Ok(divisor) if divisor > 0.0 && divisor.is_finite() => Ok(Scale { divisor, unit: "" }),
        _ => Err(format!("{text} is not a scale: use a positive number, or ns, us, ms or s")),
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
            ("2017-07-14T02:40:03.250Z", 1_500_000_003.25),
            ("2017-07-14T04:40:05.25+02:00", 1_500_000_005.25),
            ("2000-02-29 00:00", 951_782_400.0),
        ] {
            assert_eq!(time(text), Ok(Time::Absolute(seconds)), "{text}");
        }
        assert_eq!((time("-5"), time("5m")), (Ok(Time::Relative(-5.0)), Ok(Time::Relative(300.0))));
        assert_eq!(time("@1441812279.5"), Ok(Time::Absolute(1_441_812_279.5)));
        for text in "|@|yesterday|inf|@nan|2015-02-29|2015-01-01T24:00|1e400".split('|') {
            assert!(time(text).is_err(), "{text}");
        }
        assert_eq!(clock(1_500_000_003_999_999_999), "2017-07-14T02:40:03Z");
    }

    #[test]
    fn durations_and_sizes() {
        for (text, millis) in [
            ("0.5", 500),
            ("100ms", 100),
            ("2 s", 2000),
            ("1.5min", 90_000),
            ("5m", 300_000),
            ("1d", 86_400_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for (text, bytes) in [("1000", 1000), ("100MB", 100_000_000), ("1.5 kB", 1500), ("2g", 2_000_000_000)]
        {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        assert_eq!(age("0s"), Ok(Duration::ZERO));
        for text in ["", "0", "-1", "-1s", "nan", "1e99", "s"] {
            assert!(duration(text).is_err() && size(text).is_err(), "{text}");
        }
        for text in ["0x", "-0.1", "nan", "31y"] {
            assert!(age(text).is_err(), "{text}");
        }
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
