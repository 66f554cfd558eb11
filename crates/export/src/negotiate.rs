//! Selects the format that a scraper wants, from the header `Accept` of its request.

use super::format::Exposition;

/// A format and its `Content-Type`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Negotiated {
    /// The format.
    pub format: Exposition,
    /// The content type for HTTP.
    pub content_type: &'static str,
}

/// Declares that names were escaped to the characters that Prometheus has always allowed.
const ESCAPING: &str = "; escaping=underscores";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores";
const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
const PROTOBUF: &str = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; \
                        encoding=delimited; escaping=underscores";

/// The format for a request with this header, which may hold anything: the type with the largest `q`, or the first such
/// type. If the header has none of our formats, it is Prometheus' text. The answer repeats `escaping=`: names have
/// underscores for characters that would not be allowed otherwise.
///
/// OTLP is never the answer, because it is pushed, not scraped.
///
/// ```
/// use picollo_export::{Exposition, negotiate};
///
/// let wanted = negotiate(b"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1");
/// assert_eq!(wanted.format, Exposition::OpenMetrics);
/// assert_eq!(negotiate(b"text/html").content_type, "text/plain; version=0.0.4; charset=utf-8");
/// ```
pub fn negotiate(accept: &[u8]) -> Negotiated {
    let (mut most, mut answer) = (0.0, (Exposition::PrometheusText, PROMETHEUS_TEXT, false));
    for range in accept.split(|&byte| byte == b',') {
        let mut parts = range.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
        let name = parts.next().unwrap_or_default();
        let value = |key: &str| parts.clone().find_map(|part| part.strip_prefix(key.as_bytes()));
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        let says = |key: &str, known: &str| value(key).is_none_or(|value| value == known.as_bytes());
        let (format, content_type) =
            if is("application/vnd.google.protobuf") && says("encoding=", "delimited") {
                (Exposition::PrometheusProtobuf, PROTOBUF)
            } else if is("application/openmetrics-text") && says("version=", "1.0.0") {
                (Exposition::OpenMetrics, OPENMETRICS)
            } else if is("text/plain") && says("version=", "0.0.4") {
                (Exposition::PrometheusText, PROMETHEUS_TEXT)
            } else {
                continue;
            };
        let quality = value("q=").map_or(Some(1.0), |text| str::from_utf8(text).ok()?.parse::<f32>().ok());
        if let Some(quality) = quality.filter(|&quality| quality > most && quality <= 1.0) {
            (most, answer) = (quality, (format, content_type, value("escaping=").is_some()));
        }
    }
    let (format, content_type, has_escaping) = answer;
    Negotiated { format, content_type: if has_escaping { content_type } else { plain(content_type) } }
}

/// A content type without its last parameter.
fn plain(content_type: &'static str) -> &'static str {
    content_type.strip_suffix(ESCAPING).unwrap_or(content_type)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::Exposition::*;

    /// These are what servers send, taken from the sources of their versions.
    #[test]
    fn real_headers() {
        for (accept, format, content_type) in [
            // Prometheus 2.42, and the same with its flag for native histograms.
            (
                "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                 text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                OpenMetrics,
                plain(OPENMETRICS),
            ),
            (
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,\
                 application/openmetrics-text;version=1.0.0;q=0.8,application/openmetrics-text;version=0.0.1;q=0.75,\
                 text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
                PrometheusProtobuf,
                plain(PROTOBUF),
            ),
            // Prometheus 3.x.
            (
                "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
                 application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,\
                 text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
                OpenMetrics,
                OPENMETRICS,
            ),
            (
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;\
                 escaping=allow-utf-8;q=0.7,application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,*/*;q=0.2",
                PrometheusProtobuf,
                PROTOBUF,
            ),
            (
                "text/plain;version=1.0.0;escaping=allow-utf-8,text/plain;version=0.0.4;q=0.3",
                PrometheusText,
                plain(PROMETHEUS_TEXT),
            ),
            // Browsers, curl, and clients without a preference.
            (
                "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
                PrometheusText,
                plain(PROMETHEUS_TEXT),
            ),
            ("*/*", PrometheusText, plain(PROMETHEUS_TEXT)),
            ("", PrometheusText, plain(PROMETHEUS_TEXT)),
        ] {
            assert_eq!(negotiate(accept.as_bytes()), Negotiated { format, content_type }, "{accept}");
        }
    }

    #[test]
    fn rules() {
        for (accept, format) in [
            ("text/plain;q=0.4, application/openmetrics-text;q=0.41", OpenMetrics),
            ("text/plain;q=0.4, application/openmetrics-text;q=0.400", PrometheusText),
            ("application/openmetrics-text;q=0, text/plain;q=0.001", PrometheusText),
            ("application/openmetrics-text;version=2.0.0", PrometheusText),
            ("Application/OpenMetrics-Text ; version=1.0.0 ; q=1.000", OpenMetrics),
            (
                "application/vnd.google.protobuf;encoding=text, application/openmetrics-text;q=0.1",
                OpenMetrics,
            ),
            ("application/vnd.google.protobuf", PrometheusProtobuf),
            ("application/x-protobuf", PrometheusText),
            // An invalid quality affects only its own type.
            ("application/openmetrics-text;q=1.5, text/plain;q=0.2", PrometheusText),
            ("application/openmetrics-text;q=, text/plain;q=0.2", PrometheusText),
            (",,;;=,;q=1,application/openmetrics-text", OpenMetrics),
        ] {
            assert_eq!(negotiate(accept.as_bytes()).format, format, "{accept}");
        }
        for format in [OpenMetrics, PrometheusText, PrometheusProtobuf] {
            let content_type = format.content_type();
            assert_eq!(negotiate(content_type.as_bytes()), Negotiated { format, content_type });
        }
    }
}
