//! One request to a collector, and what its answer means.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use crate::connection::{left, read_some, write_all};
use crate::otlp::settings::Settings;
use crate::protobuf::{Fields, Value};

/// More of an answer is not looked at.
const MOST_OF_AN_ANSWER: usize = 64 << 10;

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
        /// What its `Retry-After` says, in seconds; a date there counts as nothing.
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
        let (head, body) = self.exchange(request).map_err(|error| match error.kind() {
            ErrorKind::InvalidData => PushError::Refused { status: 0, message: error.to_string() },
            ErrorKind::WouldBlock | ErrorKind::TimedOut => PushError::Connection("the time is up".into()),
            _ => PushError::Connection(error.to_string()),
        })?;
        match head.status {
            // A body that makes no sense does not undo the acceptance.
            200..=299 => Ok(partial_success(&body).unwrap_or(Outcome::Accepted)),
            status @ (429 | 502 | 503 | 504) => Err(PushError::Later { status, after: head.retry_after }),
            status => Err(PushError::Refused { status, message: readable(&body) }),
        }
    }

    fn exchange(&self, request: &[u8]) -> io::Result<(Head, Vec<u8>)> {
        let deadline = Instant::now() + self.timeout;
        let mut stream = self.connect(deadline)?;
        let url = &self.url;
        let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host.clone() };
        let mut message = format!(
            "POST {} HTTP/1.1\r\nHost: {host}:{}\r\nUser-Agent: picollo/{}\r\nContent-Type: application/x-protobuf\r\n\
             Content-Length: {}\r\nConnection: close\r\n",
            url.path,
            url.port,
            env!("CARGO_PKG_VERSION"),
            request.len()
        )
        .into_bytes();
        for (name, value) in &self.headers {
            message.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        message.extend_from_slice(b"\r\n");
        message.extend_from_slice(request);
        // A collector may refuse before it has read everything: its answer counts, even if the rest could not be sent.
        let sent = write_all(&mut stream, &message, deadline);
        let answer = read_answer(&mut stream, deadline);
        match (sent, answer) {
            (Err(error), Err(_)) => Err(error),
            (_, answer) => answer,
        }
    }

    fn connect(&self, deadline: Instant) -> io::Result<TcpStream> {
        let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
        for address in (self.url.host.as_str(), self.url.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, left(deadline)?) {
                Ok(stream) => return Ok(stream),
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

struct Head {
    status: u16,
    retry_after: Option<Duration>,
    length: Option<usize>,
    is_chunked: bool,
}

fn malformed() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "the answer is not one of HTTP")
}

/// Reads an answer to its end, as its head says where that is; at most so much as anybody looks at.
fn read_answer(stream: &mut TcpStream, deadline: Instant) -> io::Result<(Head, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    let mut has_ended = false;
    // Answers of status 1xx come before the one that counts.
    let head = loop {
        if let Some(length) = crate::request::head_length(&bytes) {
            let head = parse_head(&bytes[..length])?;
            bytes.drain(..length);
            if head.status >= 200 {
                break head;
            }
            continue;
        }
        if has_ended || bytes.len() > MOST_OF_AN_ANSWER {
            return Err(if bytes.is_empty() { ErrorKind::UnexpectedEof.into() } else { malformed() });
        }
        let read = read_some(stream, &mut buffer, deadline)?;
        has_ended = read == 0;
        bytes.extend_from_slice(&buffer[..read]);
    };
    loop {
        let body = if head.is_chunked { unchunked(&bytes) } else { None };
        let is_whole =
            body.is_some() || head.length.is_some_and(|length| !head.is_chunked && bytes.len() >= length);
        if is_whole || has_ended || bytes.len() > MOST_OF_AN_ANSWER {
            let body = body.unwrap_or_else(|| {
                bytes.truncate(head.length.unwrap_or(usize::MAX));
                bytes
            });
            return Ok((head, body));
        }
        // The status says it all; what else would come is not worth an error.
        let read = read_some(stream, &mut buffer, deadline).unwrap_or(0);
        has_ended = read == 0;
        bytes.extend_from_slice(&buffer[..read]);
    }
}

fn parse_head(bytes: &[u8]) -> io::Result<Head> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.lines().skip_while(|line| line.is_empty());
    let status = lines
        .next()
        .and_then(|line| line.strip_prefix("HTTP/1."))
        .and_then(|line| line.split(' ').nth(1))
        .filter(|status| status.len() == 3)
        .and_then(|status| status.parse().ok())
        .filter(|status| (100..600).contains(status))
        .ok_or_else(malformed)?;
    let mut head = Head { status, retry_after: None, length: None, is_chunked: false };
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        let value = value.trim();
        if name.eq_ignore_ascii_case("retry-after") {
            head.retry_after = value.parse().ok().map(Duration::from_secs);
        } else if name.eq_ignore_ascii_case("content-length") {
            head.length = value.parse().ok();
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            head.is_chunked = value.to_ascii_lowercase().ends_with("chunked");
        }
    }
    Ok(head)
}

/// The body that chunks make, once the last is there.
fn unchunked(bytes: &[u8]) -> Option<Vec<u8>> {
    let (mut body, mut rest) = (Vec::new(), bytes);
    loop {
        let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
        let line = str::from_utf8(&rest[..end]).ok()?;
        let length = usize::from_str_radix(line.split(';').next()?.trim(), 16).ok()?;
        rest = &rest[end + 2..];
        if length == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..length)?);
        rest = rest.get(length..)?.strip_prefix(b"\r\n")?;
    }
}

/// The `partial_success` of an `ExportMetricsServiceResponse`, if it says anything: field 1 with rejected data points in field 1 and a
/// message in field 2.
fn partial_success(body: &[u8]) -> Option<Outcome> {
    let (mut rejected, mut message) = (0, String::new());
    for field in Fields(body) {
        let (1, Value::Bytes(inner)) = field? else { continue };
        for field in Fields(inner) {
            match field? {
                (1, Value::Number(number)) => rejected = number,
                (2, Value::Bytes(text)) => message = readable(text),
                _ => {}
            }
        }
    }
    if rejected == 0 && message.is_empty() { None } else { Some(Outcome::Partly { rejected, message }) }
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
        assert_eq!(partial_success(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), None);
    }

    #[test]
    fn chunks() {
        assert_eq!(unchunked(b"3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n").unwrap(), b"abc0123456789");
        for cut in [
            &b""[..],
            b"3\r\nab",
            b"3\r\nabc\r\n",
            b"3\r\nabcd\r\n0\r\n\r\n",
            b"x\r\n",
            b"ffffffffffffffff\r\na",
        ] {
            assert_eq!(unchunked(cut), None);
        }
    }
}
