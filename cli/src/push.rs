//! `picollo push`: what is published, for an OpenTelemetry collector.

use std::io::{Write, stderr};
use std::time::Duration;

use clap::{Arg, ArgAction, ArgMatches, Command};
use picollo_serve::RegistryExport;
use picollo_serve::otlp::{Export, Outcome, PushError, Pusher, Report, Settings};

use crate::failure::Failure;
use crate::places::{self, Places};
use crate::serve::Exposed;
use crate::table::printable;
use crate::{now_unix_nanos, signals};

const ABOUT: &str = "Metrics of all that is published, to an OpenTelemetry collector";
const LONG_ABOUT: &str = "Metrics of all that is published, to an OpenTelemetry collector

Posts exponential histograms and sums by OTLP over HTTP, in Protocol Buffers. Names, units and the attribute `process` are as with \
`picollo serve`. What the OTEL_ variables of the environment say holds: OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT, _PROTOCOL, \
_COMPRESSION and the _METRICS_ forms of these, which come first, _METRICS_TEMPORALITY_PREFERENCE, OTEL_METRIC_EXPORT_INTERVAL, \
OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES, OTEL_SDK_DISABLED; options of the command come before them. https is spoken by a collector \
beside this.

A collector that is busy or away gets the same again, later. Counts are cumulative unless delta is preferred: then what \
failed is in the next push, and a time-out after sending may count twice. At the end (SIGINT, SIGTERM) it pushes once more.

  picollo push --otlp http://localhost:4318
  OTEL_SERVICE_NAME=shop picollo push --otlp http://collector:4318/v1/metrics --interval 10s
  picollo push --otlp http://localhost:4318 --once";

pub(crate) fn command() -> Command {
    Command::new("push").about(ABOUT).long_about(LONG_ABOUT).args(places::arguments()).args([
        Arg::new("otlp")
            .long("otlp")
            .value_name("URL")
            .help("the collector; /v1/metrics follows where it has no path [default: the environment's, or http://localhost:4318]"),
        Arg::new("interval")
            .long("interval")
            .value_name("TIME")
            .value_parser(duration)
            .help("from one push to the next, such as 10s or 500ms [default: the environment's, or 60s]"),
        Arg::new("once")
            .long("once")
            .action(ArgAction::SetTrue)
            .help("push once, and end; the exit status is 1 if that failed"),
    ])
}

/// A time with its unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let number = text.trim_end_matches(|character: char| character.is_ascii_alphabetic());
    let factor = match &text[number.len()..] {
        "ms" => Some(0.001),
        "s" | "" => Some(1.0),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    let seconds = number.parse::<f64>().ok().zip(factor).map(|(number, factor)| number * factor);
    match seconds {
        Some(seconds) if (0.001..1e9).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("{text} is no time such as 10s, 500ms or 1min")),
    }
}

/// What a URL that was given means to the variable that is taken as it is.
fn endpoint(url: &str) -> String {
    let after_scheme = url.split_once("://").map_or(url, |(_, rest)| rest);
    match after_scheme.split_once('/') {
        None => format!("{url}/v1/metrics"),
        Some((_, "")) => format!("{url}v1/metrics"),
        Some(_) => url.to_owned(),
    }
}

fn settings(matches: &ArgMatches) -> Result<Option<Settings>, Failure> {
    let given = matches.get_one::<String>("otlp").map(|url| endpoint(url));
    let look_up = |name: &str| match (name, &given) {
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", Some(url)) => Some(url.clone()),
        _ => std::env::var(name).ok(),
    };
    let Some(mut settings) = Settings::from_lookup(look_up)? else { return Ok(None) };
    if let Some(&interval) = matches.get_one::<Duration>("interval") {
        settings.interval = interval;
    }
    let is_unknown = |(name, value): &(String, String)| name == "service.name" && value == "unknown_service";
    if settings.resource.iter().any(is_unknown) {
        settings.set_attribute("service.name", "picollo".into());
    }
    Ok(Some(settings))
}

/// Everything that is published when a push is made.
struct Published {
    exposed: Exposed,
    registered: RegistryExport,
}

impl Export for Published {
    fn encode(&mut self, settings: &Settings, now_unix_nanos: u64) -> Result<Vec<u8>, String> {
        self.exposed.refresh().map_err(|failure| failure.to_string())?;
        self.registered.encode(settings, now_unix_nanos)
    }

    fn accepted(&mut self) {
        self.registered.accepted();
    }
}

fn tell(what: &str) {
    let _ = writeln!(stderr(), "picollo push: {}", printable(what));
}

fn tell_result(result: &Result<Outcome, PushError>) {
    match result {
        Ok(Outcome::Accepted) => {}
        Ok(Outcome::Partly { rejected, message }) => {
            tell(&format!("the collector refused {rejected} data points: {message}"))
        }
        Err(error) => tell(&error.to_string()),
    }
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let Some(settings) = settings(matches)? else {
        tell("OTEL_SDK_DISABLED says not to push");
        return Ok(0);
    };
    settings.notes.iter().for_each(|note| tell(note));
    let exposed = Exposed::new("push", Places::of(matches)?, true)?;
    let registered = RegistryExport::new(exposed.registry());
    let mut published = Published { exposed, registered };
    if matches.get_flag("once") {
        let request = published.encode(&settings, now_unix_nanos())?;
        let result = settings.post(&request);
        tell_result(&result);
        return Ok(!matches!(result, Ok(Outcome::Accepted)) as u8);
    }
    let signals = signals::Blocked::new();
    let pusher = Pusher::start(settings, published, |report: &Report| tell_result(&report.result))
        .map_err(|error| Failure::of_file("a thread", &error))?;
    signals.wait(None);
    drop(pusher);
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_given() {
        assert_eq!(endpoint("http://a:4318"), "http://a:4318/v1/metrics");
        assert_eq!(endpoint("http://a:4318/"), "http://a:4318/v1/metrics");
        assert_eq!(endpoint("http://a:4318/x/y"), "http://a:4318/x/y");
        for (text, millis) in
            [("500ms", 500), ("10s", 10_000), ("1.5", 1500), ("1min", 60_000), ("1h", 3_600_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "0s", "-1s", "1y", "nan", "1e300h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
