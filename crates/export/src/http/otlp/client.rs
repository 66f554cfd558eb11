//! One request to a collector, and the meaning of its answer.

use std::fmt;
use std::io::Read;
use std::time::{Duration, SystemTime};

use prost::Message;
use ureq::http::{Response, header};
use ureq::{Agent, Body, Error};

use crate::http::otlp::settings::Settings;

/// The rest of an answer is ignored.
const MOST_OF_AN_ANSWER: u64 = 64 << 10;

/// The result of an accepted push.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Everything was accepted.
    Accepted,
    /// Some data points were rejected permanently; sending them again would not help.
    Partly {
        /// Number of data points.
        rejected: u64,
        /// The collector's reason; with 0 rejected it is a warning.
        message: String,
    },
}

/// Why a push was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PushError {
    /// No connection, a broken one, or a time-out, after which the collector may have accepted a complete request.
    Connection(String),
    /// An answer that asks to try again: 429, 502, 503 or 504.
    Later {
        /// Status of the answer.
        status: u16,
        /// Value of `Retry-After`: seconds, or a date.
        after: Option<Duration>,
    },
    /// Any other answer: sending the same again would not help.
    Refused {
        /// Status of the answer; 0 if it is not an HTTP answer.
        status: u16,
        /// Beginning of its text, without control characters.
        message: String,
    },
    /// Encoding the request failed.
    Encoding(String),
}

impl fmt::Display for PushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PushError::Connection(what) => write!(f, "no answer from the collector: {what}"),
            PushError::Later { status, .. } => write!(f, "the collector is busy (status {status})"),
            PushError::Refused { status: 0, message } => {
                write!(f, "what answered is no collector: {message}")
            }
            PushError::Refused { status, message } => {
                write!(f, "the collector refused (status {status}): {message}")
            }
            PushError::Encoding(what) => write!(f, "the metrics could not be encoded: {what}"),
        }
    }
}

impl std::error::Error for PushError {}

impl PushError {
    /// Whether the same request may succeed later.
    pub fn may_pass(&self) -> bool {
        matches!(self, PushError::Connection(_) | PushError::Later { .. })
    }
}

impl Settings {
    /// Posts an `ExportMetricsServiceRequest` and waits for the answer, at most for the time in the settings. (Looking
    /// up a name may take longer: the system's resolver has separate time-outs.)
    pub fn post(&self, request: &[u8]) -> Result<Outcome, PushError> {
        let agent: Agent = Agent::config_builder()
            .timeout_global(Some(self.timeout))
            .http_status_as_error(false)
            // A redirect is reported, not followed: the new host must not get the user's token.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .user_agent(concat!("picollo/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        let mut post = agent.post(&self.url).content_type("application/x-protobuf");
        for (name, value) in &self.headers {
            post = post.header(name, value);
        }
        let mut answer = post.send(request).map_err(|error| match error {
            Error::Timeout(_) => PushError::Connection("the time is up".into()),
            Error::Protocol(_) | Error::Http(_) => {
                PushError::Refused { status: 0, message: "the answer is not one of HTTP".into() }
            }
            _ => PushError::Connection(error.to_string()),
        })?;
        match answer.status().as_u16() {
            // An unreadable body does not undo the acceptance.
            200..=299 => Ok(partial_success(&body_of(&mut answer)).unwrap_or(Outcome::Accepted)),
            status @ (429 | 502 | 503 | 504) => Err(PushError::Later { status, after: retry_after(&answer) }),
            status => Err(PushError::Refused { status, message: readable(&body_of(&mut answer)) }),
        }
    }
}

/// Reads the body up to a limit or an error. The status matters, so that a failure to read the body is not an error.
fn body_of(answer: &mut Response<Body>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = answer.body_mut().as_reader().take(MOST_OF_AN_ANSWER).read_to_end(&mut bytes);
    bytes
}

/// How long to wait: a number of seconds, or until a date (RFC 9110, 10.2.3).
fn retry_after(answer: &Response<Body>) -> Option<Duration> {
    let text = answer.headers().get(header::RETRY_AFTER)?.to_str().ok()?.trim();
    match text.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let date = httpdate::parse_http_date(text).ok()?;
            Some(date.duration_since(SystemTime::now()).unwrap_or_default())
        }
    }
}

/// An `ExportMetricsServiceResponse`.
#[derive(Message)]
struct Answered {
    #[prost(message, optional, tag = "1")]
    partial: Option<Partial>,
}

#[derive(Message)]
struct Partial {
    #[prost(int64, tag = "1")]
    rejected: i64,
    #[prost(string, tag = "2")]
    message: String,
}

/// The `partial_success` of an answer, if it is not empty.
fn partial_success(body: &[u8]) -> Option<Outcome> {
    let Partial { rejected, message } = Answered::decode(body).ok()?.partial?;
    if rejected == 0 && message.is_empty() {
        return None;
    }
    Some(Outcome::Partly { rejected: rejected.max(0) as u64, message: readable(message.as_bytes()) })
}

/// The beginning of a foreign text, fit for a log.
fn readable(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(800)]);
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_successes() {
        assert_eq!(partial_success(b""), None);
        assert_eq!(partial_success(b"\x0a\x00"), None);
        let full = b"\x0a\x0b\x08\xac\x02\x12\x06no\x0away";
        let partly = Outcome::Partly { rejected: 300, message: "no way".into() };
        assert_eq!(partial_success(full), Some(partly));
        // An unreadable body does not mean that something was rejected.
        for end in 0..full.len() {
            assert_eq!(partial_success(&full[..end]), None, "{end}");
        }
        assert_eq!(partial_success(&[0xff; 40]), None);
    }
}
