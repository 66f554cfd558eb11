//! Which format a scraper wants, by the header `Accept` of its request.

use super::format::Exposition;

/// A format, and the `Content-Type` that says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Negotiated {
    /// The format.
    pub format: Exposition,
    /// What HTTP is to call it.
    pub content_type: &'static str,
}

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores";
const OPENMETRICS_0_0_1: &str =
    "application/openmetrics-text; version=0.0.1; charset=utf-8; escaping=underscores";
const PROMETHEUS_TEXT: &str = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";
const PROTOBUF: &str = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; \
                        encoding=delimited; escaping=underscores";
/// Of a content type that says how names were brought to the letters that Prometheus always knew.
const ESCAPING: &str = "; escaping=underscores";

/// The format for a request with this header, which may hold anything: the one of those in it with the largest `q`, the first where
/// there are several, and Prometheus' text where the header has none of ours or is empty. `escaping=` is answered in kind: names have
/// underscores for what is not allowed otherwise.
///
/// OTLP is none of them: it is sent, not scraped.
///
/// ```
/// use picollo_core::{Exposition, negotiate};
///
/// let wanted = negotiate(b"application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1");
/// assert_eq!(wanted.format, Exposition::OpenMetrics);
/// assert_eq!(negotiate(b"text/html").content_type, "text/plain; version=0.0.4; charset=utf-8");
/// ```
pub fn negotiate(accept: &[u8]) -> Negotiated {
    let mut best =
        (0, Negotiated { format: Exposition::PrometheusText, content_type: plain(PROMETHEUS_TEXT) });
    for range in split(accept, b',') {
        if let Some(range) = Range::parse(range)
            && range.quality > best.0
            && let Some(negotiated) = range.answer()
        {
            best = (range.quality, negotiated);
        }
    }
    best.1
}

/// A content type without its last parameter.
fn plain(content_type: &'static str) -> &'static str {
    content_type.strip_suffix(ESCAPING).unwrap_or(content_type)
}

/// One of the types of a header, with what it says of it.
struct Range<'a> {
    name: &'a [u8],
    /// In thousandths.
    quality: u32,
    version: Option<&'a [u8]>,
    encoding: Option<&'a [u8]>,
    proto: Option<&'a [u8]>,
    has_escaping: bool,
}

impl<'a> Range<'a> {
    /// `None` where its quality is no number from 0 to 1.
    fn parse(text: &'a [u8]) -> Option<Range<'a>> {
        let mut parts = split(text, b';');
        let name = parts.next()?;
        let mut range =
            Range { name, quality: 1000, version: None, encoding: None, proto: None, has_escaping: false };
        for part in parts {
            let mut halves = part.splitn(2, |&byte| byte == b'=');
            let key = halves.next().unwrap_or_default().trim_ascii();
            let value = unquoted(halves.next().unwrap_or_default().trim_ascii());
            match key {
                key if key.eq_ignore_ascii_case(b"q") => range.quality = thousandths(value)?,
                key if key.eq_ignore_ascii_case(b"version") => range.version = Some(value),
                key if key.eq_ignore_ascii_case(b"encoding") => range.encoding = Some(value),
                key if key.eq_ignore_ascii_case(b"proto") => range.proto = Some(value),
                key if key.eq_ignore_ascii_case(b"escaping") => range.has_escaping = true,
                _ => {}
            }
        }
        Some(range)
    }

    /// What of ours it stands for.
    fn answer(&self) -> Option<Negotiated> {
        let is = |name: &[u8]| self.name.eq_ignore_ascii_case(name);
        let (format, content_type) = if is(b"application/openmetrics-text") {
            match self.version {
                None | Some(b"1.0.0") => (Exposition::OpenMetrics, OPENMETRICS),
                Some(b"0.0.1") => (Exposition::OpenMetrics, OPENMETRICS_0_0_1),
                Some(_) => return None,
            }
        } else if is(b"application/vnd.google.protobuf") {
            let proto = self.proto.is_none_or(|proto| proto == b"io.prometheus.client.MetricFamily");
            if !proto || self.encoding.is_some_and(|encoding| encoding != b"delimited") {
                return None;
            }
            (Exposition::PrometheusProtobuf, PROTOBUF)
        } else if is(b"text/plain") {
            match self.version {
                None | Some(b"0.0.4") => (Exposition::PrometheusText, PROMETHEUS_TEXT),
                Some(_) => return None,
            }
        } else if is(b"text/*") || is(b"*/*") {
            (Exposition::PrometheusText, PROMETHEUS_TEXT)
        } else if is(b"application/*") {
            (Exposition::OpenMetrics, OPENMETRICS)
        } else {
            return None;
        };
        let content_type = if self.has_escaping { content_type } else { plain(content_type) };
        Some(Negotiated { format, content_type })
    }
}

/// The parts between separators outside of quotes, without the spaces around them.
fn split(text: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |&byte| {
        let was_escaped = core::mem::take(&mut escaped);
        match byte {
            b'\\' if quoted && !was_escaped => escaped = true,
            b'"' if !was_escaped => quoted = !quoted,
            _ => {}
        }
        byte == separator && !quoted
    })
    .map(<[u8]>::trim_ascii)
}

fn unquoted(value: &[u8]) -> &[u8] {
    value.strip_prefix(b"\"").and_then(|value| value.strip_suffix(b"\"")).unwrap_or(value)
}

/// A quality: 0 or 1, with up to three digits behind a point. More digits, which the standard has not, are left out.
fn thousandths(text: &[u8]) -> Option<u32> {
    let (&first, rest) = text.split_first()?;
    let digits = match rest.split_first() {
        None => rest,
        Some((b'.', digits)) => digits,
        Some(_) => return None,
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digit = |at: usize| digits.get(at).map_or(0, |digit| u32::from(digit - b'0'));
    let fraction = 100 * digit(0) + 10 * digit(1) + digit(2);
    match first {
        b'0' => Some(fraction),
        b'1' if fraction == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::metrics::Exposition::*;
    use proptest::prelude::*;

    /// What servers send, from the sources of their versions.
    #[test]
    fn real_headers() {
        for (accept, format, content_type) in [
            // 2.42, and with its flag for native histograms.
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
            // 2.55.
            (
                "application/openmetrics-text;version=1.0.0;q=0.5,application/openmetrics-text;version=0.0.1;q=0.4,\
                 text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
                OpenMetrics,
                plain(OPENMETRICS),
            ),
            (
                "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.5,\
                 application/openmetrics-text;version=1.0.0;q=0.4,application/openmetrics-text;version=0.0.1;q=0.3,\
                 text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
                PrometheusProtobuf,
                plain(PROTOBUF),
            ),
            // 3.x.
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
            // Browsers, curl, and what says nothing.
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
            ("application/openmetrics-text;q=0, text/*;q=0.001", PrometheusText),
            ("application/openmetrics-text;q=0.0", PrometheusText),
            ("application/openmetrics-text;version=2.0.0", PrometheusText),
            ("Application/OpenMetrics-Text ; Version=\"1.0.0\" ; Q=1.000", OpenMetrics),
            ("application/vnd.google.protobuf;encoding=text, application/*;q=0.1", OpenMetrics),
            ("application/vnd.google.protobuf;proto=io.other.Thing", PrometheusText),
            ("application/vnd.google.protobuf", PrometheusProtobuf),
            ("application/x-protobuf", PrometheusText),
            // A comma and a semicolon in quotes are no separators; a quality that is none spoils its type alone.
            ("x/y;a=\", application/openmetrics-text;\\\",\", text/plain;q=0.1", PrometheusText),
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

    proptest! {
        /// Types in any order: the first of those with the largest quality.
        #[test]
        fn the_best_comes_first(of in prop::collection::vec((0usize..4, 0u32..=1000), 0..8)) {
            let types = ["application/openmetrics-text", "text/plain", "application/vnd.google.protobuf", "text/html"];
            let mut accept = std::string::String::new();
            for &(which, quality) in &of {
                accept += &std::format!("{};q={}.{:03} ,\t", types[which], quality / 1000, quality % 1000);
            }
            let ours = of.iter().filter(|(which, quality)| *which < 3 && *quality > 0);
            let best = ours.rev().max_by_key(|(_, quality)| *quality).map_or(1, |(which, _)| *which);
            prop_assert_eq!(negotiate(accept.as_bytes()).format, [OpenMetrics, PrometheusText, PrometheusProtobuf][best]);
        }

        #[test]
        fn anything_is_answered(accept in any::<std::vec::Vec<u8>>()) {
            prop_assert!(negotiate(&accept).format != Otlp);
        }
    }
}
