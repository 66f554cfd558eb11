//! Tests with a collector on loopback that gives proper and improper answers.

// The tests of the command include this file, too.
mod peer;

use std::io::Read;
use std::net::TcpListener;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use crate::http::otlp::*;

pub(crate) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
pub(crate) const PARTIAL: &str = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n\x0a\x06\x08\x05\x12\x02no";

/// Starts a collector that gives these answers, and returns settings for it.
pub(crate) fn collector(answers: &[&str]) -> (Settings, mpsc::Receiver<(String, Vec<u8>)>) {
    let (url, requests) = peer::collector(answers);
    (Settings { url, timeout: Duration::from_secs(20), ..Settings::default() }, requests)
}

fn impatient(settings: Settings) -> Settings {
    Settings { timeout: Duration::from_millis(100), ..settings }
}

#[test]
fn a_request_is_as_collectors_want_it() {
    let (mut settings, requests) = collector(&[OK]);
    settings.headers = vec![("X-Token".into(), "secret".into())];
    assert_eq!(settings.post(b"\x0a\x00bytes"), Ok(Outcome::Accepted));
    let (head, body) = requests.recv().unwrap();
    assert_eq!(body, b"\x0a\x00bytes");
    assert!(head.starts_with("POST /v1/metrics HTTP/1.1\r\n"), "{head}");
    for line in ["host: 127.0.0.1:", "content-type: application/x-protobuf\r\n", "x-token: secret"] {
        assert!(head.contains(&format!("\r\n{line}")), "{head}");
    }
}

#[test]
fn answers_are_distinguished() {
    let chunked = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n\x0a\x06\x08\x05\x12\x02no\r\n0\r\n\r\n";
    let later =
        |status, after: Option<u64>| Err(PushError::Later { status, after: after.map(Duration::from_secs) });
    let refused = |status, message: &str| Err(PushError::Refused { status, message: message.into() });
    let partly = Ok(Outcome::Partly { rejected: 5, message: "no".into() });
    for (answer, expected) in [
        (OK, Ok(Outcome::Accepted)),
        (PARTIAL, partly.clone()),
        (chunked, partly),
        ("HTTP/1.1 204 No Content\r\n\r\n", Ok(Outcome::Accepted)),
        ("HTTP/1.1 429 Busy\r\nretry-after: 7\r\n\r\n", later(429, Some(7))),
        ("HTTP/1.1 503 Busy\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\n\r\n", later(503, Some(0))),
        ("HTTP/1.1 503 Busy\r\nRetry-After: soon\r\n\r\n", later(503, None)),
        ("HTTP/1.1 502\r\n\r\n", later(502, None)),
        ("HTTP/1.1 504 Late\r\n\r\n", later(504, None)),
        ("HTTP/1.1 400 Bad\r\nContent-Length: 9\r\n\r\nnot\x1b[1mso!", refused(400, "not [1mso")),
        ("HTTP/1.1 500 Oops\r\n\r\n", refused(500, "")),
        ("HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", refused(302, "")),
        ("SSH-2.0-OpenSSH_9.2\r\n\r\n", refused(0, "the answer is not one of HTTP")),
        ("garbage", refused(0, "the answer is not one of HTTP")),
        ("HTTP/1.1 2000 OK\r\n\r\n", refused(0, "the answer is not one of HTTP")),
    ] {
        let (settings, _requests) = collector(&[answer]);
        assert_eq!(settings.post(b"x"), expected, "{answer:?}");
    }
    // A future date: wait until then.
    let soon = httpdate::fmt_http_date(std::time::SystemTime::now() + Duration::from_secs(3600));
    let (settings, _requests) = collector(&[&format!("HTTP/1.1 503 Busy\r\nRetry-After: {soon}\r\n\r\n")]);
    match settings.post(b"x") {
        Err(PushError::Later { after: Some(after), .. }) => {
            assert!((3000..=3600).contains(&after.as_secs()), "{after:?}")
        }
        other => panic!("{other:?}"),
    }
    // No answer, no listener, and silence: another try may succeed.
    let (settings, _requests) = collector(&[""]);
    assert!(settings.post(b"x").unwrap_err().may_pass());
    let (silent, _requests) = collector(&[]);
    assert_eq!(impatient(silent).post(b"x"), Err(PushError::Connection("the time is up".into())));
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{closed}/");
    assert!(Settings { url, ..Settings::default() }.post(b"x").unwrap_err().may_pass());
}

/// If a collector uses TLS, nothing is sent in plain text.
#[test]
fn https_begins_with_a_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://127.0.0.1:{}/v1/metrics", listener.local_addr().unwrap().port());
    let first = std::thread::spawn(move || {
        let mut first = [0; 1];
        listener.accept().unwrap().0.read_exact(&mut first).unwrap();
        first
    });
    let error = Settings { url, ..Settings::default() }.post(b"x").unwrap_err();
    assert!(matches!(error, PushError::Connection(_)), "{error:?}");
    // A record of the handshake.
    assert_eq!(first.join().unwrap(), [0x16]);
}

/// Numbers its requests, and notes the accepted ones.
struct Counting {
    last: u64,
    accepted: Arc<Mutex<Vec<u64>>>,
}

impl Export for Counting {
    fn encode(&mut self, _: &Settings, _: u64) -> Result<Vec<u8>, String> {
        self.last += 1;
        match self.last {
            2 => Err("on purpose".into()),
            3 => panic!("on purpose"),
            number => Ok(number.to_string().into_bytes()),
        }
    }

    fn accepted(&mut self) {
        self.accepted.lock().unwrap().push(self.last);
    }
}

#[test]
fn a_pusher_goes_on_whatever_happens_and_pushes_at_the_end() {
    let busy = "HTTP/1.1 503 Busy\r\nRetry-After: 0\r\n\r\n";
    let bad = "HTTP/1.1 400 Bad\r\n\r\n";
    let (settings, requests) = collector(&[busy, busy, OK, bad, OK, OK, OK, OK, OK, OK]);
    let settings =
        Settings { interval: Duration::from_secs(2), timeout: Duration::from_secs(20), ..settings };
    let accepted = Arc::new(Mutex::new(Vec::new()));
    let (tell, reports) = mpsc::channel();
    let export = Counting { last: 0, accepted: accepted.clone() };
    let pusher = Pusher::start(settings, export, move |report| tell.send(report.clone()).unwrap()).unwrap();

    // Two busy answers: the same request is sent again.
    assert_eq!(reports.recv().unwrap(), Ok(Outcome::Accepted));
    let bodies = || requests.try_iter().map(|(_, body)| body).collect::<Vec<_>>();
    assert_eq!(bodies(), [b"1", b"1", b"1"]);
    // Encoding errors are reported, and rejected requests are not sent again.
    for what in ["on purpose", "a panic"] {
        assert_eq!(reports.recv().unwrap(), Err(PushError::Encoding(what.into())));
    }
    assert!(matches!(reports.recv().unwrap(), Err(PushError::Refused { status: 400, .. })));
    assert_eq!(bodies(), [b"4"]);
    drop(pusher);
    // On a slow machine there may be more than one.
    assert_eq!(reports.iter().last().unwrap(), Ok(Outcome::Accepted));
    assert_eq!(accepted.lock().unwrap()[..2], [1, 5]);
}

#[test]
fn the_end_does_not_wait_for_the_next_interval() {
    let (settings, requests) = collector(&[OK]);
    let settings = Settings { interval: Duration::from_secs(3600), ..settings };
    let accepted = Arc::new(Mutex::new(Vec::new()));
    drop(Pusher::start(settings, Counting { last: 4, accepted: accepted.clone() }, |_| {}).unwrap());
    assert_eq!(*accepted.lock().unwrap(), [5]);
    assert_eq!(requests.recv().unwrap().1, b"5");
}
