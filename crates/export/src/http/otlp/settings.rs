//! Reads the environment variables of the OpenTelemetry specification (protocol/exporter, and those of the SDK).

use std::time::Duration;

use percent_encoding::percent_decode_str;
use ureq::http::Uri;

/// The start of the interval of the counts in a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Temporality {
    /// Since the beginning. This is the default.
    #[default]
    Cumulative,
    /// Since the last accepted request.
    Delta,
}

/// Where, how and how often to push.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// URL of the collector: `http://localhost:4318/v1/metrics`.
    pub url: String,
    /// Headers for all requests, such as a token for the collector.
    pub headers: Vec<(String, String)>,
    /// Maximum duration of a request and its answer. 10 seconds.
    pub timeout: Duration,
    /// Time from one push to the next. 60 seconds.
    pub interval: Duration,
    /// The beginning of the counts: cumulative or delta.
    pub temporality: Temporality,
    /// Attributes of the pushing service, such as `service.name`.
    pub resource: Vec<(String, String)>,
    /// Requested features that are not available, a sentence each, for a log.
    pub notes: Vec<String>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            url: "http://localhost:4318/v1/metrics".into(),
            headers: Vec::new(),
            timeout: Duration::from_secs(10),
            interval: Duration::from_secs(60),
            temporality: Temporality::Cumulative,
            resource: vec![("service.name".into(), "unknown_service".into())],
            notes: Vec::new(),
        }
    }
}

impl Settings {
    /// Reads the settings from the environment. `None` if OTEL_SDK_DISABLED turns pushes off. For an unsupported
    /// setting (`grpc`), the error is a sentence that says what to do.
    pub fn from_environment() -> Result<Option<Settings>, String> {
        Settings::from_lookup(|name| std::env::var(name).ok())
    }

    /// Like [`Settings::from_environment`], with `look_up` for the variables.
    pub fn from_lookup(look_up: impl Fn(&str) -> Option<String>) -> Result<Option<Settings>, String> {
        // The specification treats empty variables as unset.
        let get =
            |name: &str| look_up(name).map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let of_metrics = |name: &str| {
            get(&format!("OTEL_EXPORTER_OTLP_METRICS_{name}"))
                .or_else(|| get(&format!("OTEL_EXPORTER_OTLP_{name}")))
        };
        if get("OTEL_SDK_DISABLED").is_some_and(|text| text.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let mut settings = Settings::default();
        match of_metrics("PROTOCOL").as_deref() {
            None | Some("http/protobuf") => {}
            Some(other) => {
                return Err(format!(
                    "the protocol {other} is not spoken here; set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, port 4318 of most collectors"
                ));
            }
        }
        if let Some(url) = get("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT") {
            settings.url = checked(&url)?;
        } else if let Some(base) = get("OTEL_EXPORTER_OTLP_ENDPOINT") {
            settings.url = checked(&format!("{}/v1/metrics", base.trim_end_matches('/')))?;
        }
        if let Some(text) = of_metrics("HEADERS") {
            settings.headers = pairs("OTEL_EXPORTER_OTLP_HEADERS", &text, &mut settings.notes);
            settings.headers.retain(|(name, value)| {
                let good = !name.is_empty()
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                    && value.bytes().all(|byte| byte >= b' ' && byte != 0x7f);
                if !good {
                    settings.notes.push(format!("the header {name:?} is not a proper one, and is left out"));
                }
                good
            });
        }
        match of_metrics("COMPRESSION").as_deref() {
            None | Some("none") => {}
            Some(other) => settings.notes.push(format!("{other} was asked for; pushes are not compressed")),
        }
        let notes = &mut settings.notes;
        settings.timeout = milliseconds("TIMEOUT", of_metrics("TIMEOUT"), settings.timeout, notes);
        settings.interval = milliseconds(
            "OTEL_METRIC_EXPORT_INTERVAL",
            get("OTEL_METRIC_EXPORT_INTERVAL"),
            settings.interval,
            notes,
        );
        match get("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE")
            .map(|text| text.to_ascii_lowercase())
            .as_deref()
        {
            None | Some("cumulative") => {}
            // Low memory means delta for everything that is counted as it happens, which is everything here.
            Some("delta" | "lowmemory") => settings.temporality = Temporality::Delta,
            Some(other) => {
                settings.notes.push(format!("the temporality {other} is not known; pushes are cumulative"))
            }
        }
        if let Some(text) = get("OTEL_RESOURCE_ATTRIBUTES") {
            for (name, value) in pairs("OTEL_RESOURCE_ATTRIBUTES", &text, &mut settings.notes) {
                settings.set_attribute(&name, value);
            }
        }
        if let Some(name) = get("OTEL_SERVICE_NAME") {
            settings.set_attribute("service.name", name);
        }
        Ok(Some(settings))
    }

    /// Sets an attribute of the resource, or replaces it.
    pub fn set_attribute(&mut self, name: &str, value: String) {
        match self.resource.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => self.resource.push((name.into(), value)),
        }
    }
}

/// Checks that pushes to this URL are possible.
fn checked(url: &str) -> Result<String, String> {
    let parsed: Uri =
        url.parse().map_err(|error| format!("{url}: {error}; give a URL such as http://localhost:4318"))?;
    match (parsed.scheme_str(), parsed.authority()) {
        (Some("http" | "https"), Some(authority)) if authority.as_str().contains('@') => {
            Err(format!("{url}: a user name does not belong here; use OTEL_EXPORTER_OTLP_HEADERS"))
        }
        (Some("http" | "https"), Some(_)) => Ok(url.to_owned()),
        _ => Err(format!(
            "{url}: give a URL that begins with http:// or https://, such as http://localhost:4318"
        )),
    }
}

/// Parses `a=1,b=2` with percent-encoding, as in W3C Baggage. If a name appears twice, the last one counts.
fn pairs(variable: &str, text: &str, notes: &mut Vec<String>) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        // Invalid UTF-8 is rejected.
        let decoded = |text: &str| percent_decode_str(text.trim()).decode_utf8().ok().map(String::from);
        match part.split_once('=').map(|(name, value)| (decoded(name), decoded(value))) {
            Some((Some(name), Some(value))) => {
                pairs.retain(|(known, _)| *known != name);
                pairs.push((name, value));
            }
            _ => notes.push(format!("a part of {variable} is not of the form name=value, and is left out")),
        }
    }
    pairs
}

fn milliseconds(name: &str, text: Option<String>, otherwise: Duration, notes: &mut Vec<String>) -> Duration {
    match text.as_deref().map(str::parse) {
        None => otherwise,
        // A timeout of zero would be useless.
        Some(Ok(time @ 1..)) => Duration::from_millis(time),
        Some(_) => {
            notes.push(format!("{name} is not a number of milliseconds; it is {}", otherwise.as_millis()));
            otherwise
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<Option<Settings>, String> {
        Settings::from_lookup(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    fn settings(variables: &[(&str, &str)]) -> Settings {
        from(variables).unwrap().unwrap()
    }

    #[test]
    fn absent_settings_have_defaults() {
        assert_eq!(settings(&[]), Settings::default());
        assert_eq!(
            settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " "), ("OTEL_SDK_DISABLED", "")]),
            Settings::default()
        );
        assert_eq!(Settings::default().url, "http://localhost:4318/v1/metrics");
    }

    #[test]
    fn the_base_gets_a_path_and_the_endpoint_of_metrics_does_not() {
        for (base, url) in [
            ("http://a:1", "http://a:1/v1/metrics"),
            ("http://a:1/", "http://a:1/v1/metrics"),
            ("https://a:1/otlp", "https://a:1/otlp/v1/metrics"),
        ] {
            assert_eq!(settings(&[("OTEL_EXPORTER_OTLP_ENDPOINT", base)]).url, url);
        }
        let both = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://b:4318"),
        ];
        assert_eq!(settings(&both).url, "http://b:4318");
    }

    #[test]
    fn all_variables_are_read_and_those_of_metrics_come_first() {
        let settings = settings(&[
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=1"),
            ("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "Authorization=Bearer%20x%3D, b = 2 ,b=3"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "10"),
            ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "250"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "1000"),
            ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "DELTA"),
            ("OTEL_RESOURCE_ATTRIBUTES", "service.name=attributes,host=h%C3%A4"),
            ("OTEL_SERVICE_NAME", "checkout"),
            ("OTEL_EXPORTER_OTLP_METRICS_PROTOCOL", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ]);
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(settings.headers, [pair("Authorization", "Bearer x="), pair("b", "3")]);
        assert_eq!((settings.timeout.as_millis(), settings.interval.as_millis()), (250, 1000));
        assert_eq!(settings.temporality, Temporality::Delta);
        assert_eq!(settings.resource, [pair("service.name", "checkout"), pair("host", "hä")]);
        assert_eq!(settings.notes, [""; 0]);
    }

    #[test]
    fn impossible_settings_are_errors_and_odd_ones_are_notes() {
        assert_eq!(from(&[("OTEL_SDK_DISABLED", "TRUE")]), Ok(None));
        for (variable, value, part) in [
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "a:4318", "begins with http:// or https://"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "ftp://a", "begins with http:// or https://"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://", "such as http://localhost:4318"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://a b/", "such as http://localhost:4318"),
            ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://a/\r\nHost: b", "such as http://localhost:4318"),
            ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://user:secret@a/", "OTEL_EXPORTER_OTLP_HEADERS"),
        ] {
            assert!(from(&[(variable, value)]).unwrap_err().contains(part), "{variable}");
        }
        for (variable, value) in [
            ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon"),
            ("OTEL_METRIC_EXPORT_INTERVAL", "0"),
            ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "sometimes"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "no equals sign"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=%0d%0aHost: b"),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a b=c"),
            ("OTEL_RESOURCE_ATTRIBUTES", "a=%ff"),
        ] {
            let settings = settings(&[(variable, value)]);
            assert_eq!(settings.notes.len(), 1, "{variable}={value}");
            assert_eq!(Settings { notes: vec![], ..settings }, Settings::default());
        }
    }
}
