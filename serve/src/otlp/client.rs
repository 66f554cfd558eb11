//! One request to a collector, and what its answer means.

use std::fmt;
use std::io::Read;
use std::time::{Duration, SystemTime};

use prost::Message;
use ureq::http::{Response, header};
use ureq::{Agent, Body, Error};

use crate::otlp::settings::Settings;

/// More of an answer is not looked at.
const MOST_OF_AN_ANSWER: u64 = 64 << 10;

/// What a collector made of a push that it accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All of it was taken.
    Accepted,
    /// Some data points were refused, for good; sending them again would not help.
    Partly {
        /// How many data points.
        rejected: u64,
        /// Why, in the collector's words; with 0 rejected it is a warning.
        message: String,
    },
}

/// Why a push was not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PushError {
    /// No connection, or it broke, or the time was up. If the time was up after all was sent, the collector may have taken it.
    Connection(String),
    /// An answer that says to try again: 429, 502, 503 or 504.
    Later {
        /// The answer's status.
        status: u16,
        /// What its `Retry-After` says: seconds, or a date.
        after: Option<Duration>,
    },
    /// Any other answer: sending the same again would not help.
    Refused {
        /// The answer's status; 0 for something that is no answer of HTTP.
        status: u16,
        /// The beginning of what it says, without control characters.
        message: String,
    },
    /// What was to be sent could not be made.
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
    /// Whether the same may be accepted if it is sent again.
    pub fn may_pass(&self) -> bool {
        matches!(self, PushError::Connection(_) | PushError::Later { .. })
    }
}

impl Settings {
    /// Posts an `ExportMetricsServiceRequest`, and waits for the answer, at most as long as the settings say. (Looking up a
    /// name may take longer: the system's resolver has times of its own.)
    pub fn post(&self, request: &[u8]) -> Result<Outcome, PushError> {
        let agent: Agent = Agent::config_builder()
            .timeout_global(Some(self.timeout))
            .http_status_as_error(false)
            // A collector that moved is one to be told of, not one to follow with somebody's token.
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
            // A body that makes no sense does not undo the acceptance.
            200..=299 => Ok(partial_success(&body_of(&mut answer)).unwrap_or(Outcome::Accepted)),
            status @ (429 | 502 | 503 | 504) => Err(PushError::Later { status, after: retry_after(&answer) }),
            status => Err(PushError::Refused { status, message: readable(&body_of(&mut answer)) }),
        }
    }
}

/// As much of an answer as anybody looks at, and as there is: the status says it all, what else would come is not worth an error.
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

/// The `partial_success` of an answer, if it says anything.
fn partial_success(body: &[u8]) -> Option<Outcome> {
    let Partial { rejected, message } = Answered::decode(body).ok()?.partial?;
    if rejected == 0 && message.is_empty() {
        return None;
    }
    Some(Outcome::Partly { rejected: rejected.max(0) as u64, message: readable(message.as_bytes()) })
}

/// The beginning of a text from elsewhere, fit for a log.
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
        // What is not understood is no reason to say that something was rejected.
        for end in 0..full.len() {
            assert_eq!(partial_success(&full[..end]), None, "{end}");
        }
        assert_eq!(partial_success(&[0xff; 40]), None);
    }
}
