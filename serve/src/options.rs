//! What an endpoint answers, and within which limits; and the time, which all of the crate tells in one way.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What is sent to a scraper.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// The media type, as negotiated from the request's `Accept` header.
    pub content_type: String,
    /// The exposition.
    pub body: Vec<u8>,
}

/// Limits of an endpoint, and what it answers to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Where the metrics are: `/metrics`. Of other paths `/` leads there.
    pub path: String,
    /// How many connections are served at once; more are answered 503 at once. 16, and at least 1.
    pub connections: usize,
    /// How long a request may be, in bytes. 8,192.
    pub head_bytes: usize,
    /// How long a request may take to come, from the first byte to the last. 5 seconds.
    pub request_time: Duration,
    /// How long an answer may take to be taken. 10 seconds.
    pub response_time: Duration,
    /// Names by which the endpoint is known, beside addresses and `localhost`. On a loopback address, requests for other
    /// hosts are refused: they come from pages in a browser. On other addresses every name will do.
    pub hosts: Vec<String>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            path: "/metrics".into(),
            connections: 16,
            head_bytes: 8192,
            request_time: Duration::from_secs(5),
            response_time: Duration::from_secs(10),
            hosts: Vec::new(),
        }
    }
}

/// Nanoseconds since 1970; 0 where the clock is before that.
pub(crate) fn unix_nanos() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos() as u64)
}
