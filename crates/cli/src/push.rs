//! `picollo push`: sends published data to an OpenTelemetry collector.

use std::time::Duration;

use clap::{ArgMatches, Command};
use picollo_export::http::RegistryExport;
use picollo_export::http::otlp::{Export, Outcome, PushError, Pusher, Settings};
use picollo_native::unix_nanos;

use crate::failure::{Failure, report};
use crate::places::{self, Places};
use crate::serve::{Exposed, Wanted};
use crate::signals;
use crate::table::printable;
use crate::values::{self, flag, option, subcommand};

const HELP: &str = "Pushes the metrics of all published histograms to an OpenTelemetry collector

The command sends exponential histograms and sums by OTLP over HTTP, in Protocol Buffers. Names, units, sums and the attribute `segment` \
are those of `picollo serve`. It follows these environment variables: OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, _TIMEOUT, _PROTOCOL, \
_COMPRESSION and their _METRICS_ forms, which take precedence; OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE, \
OTEL_METRIC_EXPORT_INTERVAL, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES and OTEL_SDK_DISABLED. Options of the command take precedence \
over them. https works, and trusts the root certificates of Mozilla.

If a collector is busy or unreachable, the command sends the same data again later. Counts are cumulative by default. With the preference \
delta, the next push includes what failed, and a timeout after sending may count twice. At the end (SIGINT, SIGTERM) the command pushes \
once more.

  picollo push --otlp http://localhost:4318
  OTEL_SERVICE_NAME=shop picollo push --otlp http://collector:4318/v1/metrics --interval 10s
  picollo push --otlp http://localhost:4318 --once";

pub(crate) fn command() -> Command {
    subcommand("push", HELP).args(places::arguments()).args([
        option("otlp", "URL", "the collector's URL; without a path, /v1/metrics is added [default: the environment's, or http://localhost:4318]"),
        option("interval", "TIME", "the time between pushes, such as 10s or 500ms [default: the environment's, or 60s]").value_parser(values::duration),
        flag("by-process", "send a series for each process, with the attribute `process`, instead of their sum"),
        flag("once", "push once and exit; the exit status is 1 if the push failed"),
    ])
}

/// Converts a URL from the command line to the variable that is used unchanged.
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

/// Everything published at the time of a push. A panic discards it, and the next push starts anew.
struct Published {
    wanted: Wanted,
    made: Option<(Exposed, RegistryExport)>,
}

impl Export for Published {
    fn encode(&mut self, settings: &Settings, now_unix_nanos: u64) -> Result<Vec<u8>, String> {
        let make = || {
            let exposed = Exposed::new(self.wanted.clone())?;
            let registered = RegistryExport::new(exposed.registry());
            Ok((exposed, registered))
        };
        let made = self.made.take().map_or_else(make, Ok);
        let (mut exposed, mut registered) = made.map_err(|failure: Failure| failure.text().to_owned())?;
        exposed.refresh();
        let request = registered.encode(settings, now_unix_nanos);
        self.made = Some((exposed, registered));
        request
    }

    fn accepted(&mut self) {
        self.made.iter_mut().for_each(|(_, registered)| registered.accepted());
    }
}

fn report_result(result: &Result<Outcome, PushError>) {
    match result {
        Ok(Outcome::Accepted) => {}
        Ok(Outcome::Partly { rejected, message }) => {
            report("push", printable(&format!("the collector refused {rejected} data points: {message}")))
        }
        Err(error) => report("push", printable(&error.to_string())),
    }
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let Some(settings) = settings(matches)? else {
        report("push", "OTEL_SDK_DISABLED is set, so nothing is pushed");
        return Ok(0);
    };
    settings.notes.iter().for_each(|note| report("push", printable(note)));
    let wanted = Wanted {
        command: "push",
        places: Places::from_matches(matches),
        by_process: matches.get_flag("by-process"),
        is_native: true,
        ..Wanted::default()
    };
    let mut published = Published { wanted, made: None };
    if matches.get_flag("once") {
        let request = published.encode(&settings, unix_nanos())?;
        let result = settings.post(&request);
        report_result(&result);
        return Ok(!matches!(result, Ok(Outcome::Accepted)) as u8);
    }
    let signals = signals::Blocked::new();
    let pusher = Pusher::start(settings, published, report_result)
        .map_err(|error| Failure::for_file("a thread", &error))?;
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
    }
}
