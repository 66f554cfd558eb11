//! The head of an HTTP/1 request (RFC 9112), as far as a read-only endpoint needs it.

/// The head of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub(crate) is_head: bool,
    /// Without the query.
    pub(crate) path: String,
    /// The `Host` header with its port, or the host of a target that is a whole URL.
    pub(crate) host: Option<String>,
    /// All `Accept` headers, joined by commas.
    pub(crate) accept: String,
}

/// Why a request is rejected: the status and the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Refusal(pub(crate) u16, pub(crate) &'static str);

/// Parses a head that arrives in pieces; `None` while it is incomplete. Lines end with LF, and a CR before it is
/// dropped, as RFC 9112 allows. Empty lines before the first are ignored.
pub(crate) fn parse(bytes: &[u8]) -> Result<Option<Request>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; 100];
    let mut request = httparse::Request::new(&mut headers);
    // The parser rejects ambiguous input: a space before a colon, or a line that continues the previous one.
    match request.parse(bytes) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::Version) => return Err(Refusal(505, "HTTP/1.1 is spoken here")),
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal(431, "there are too many headers")),
        Err(_) => return Err(Refusal(400, "the request is malformed")),
    }
    let (mut host, mut accept) = (None, String::new());
    for header in request.headers {
        let value = str::from_utf8(header.value);
        let value = value.map_err(|_| Refusal(400, "a header is not text"))?.trim_ascii();
        if header.name.eq_ignore_ascii_case("host") && host.replace(value.to_owned()).is_some() {
            return Err(Refusal(400, "there is more than one Host"));
        } else if header.name.eq_ignore_ascii_case("accept") {
            if !accept.is_empty() {
                accept.push(',');
            }
            accept.push_str(value);
        }
    }
    let target = request.path.unwrap_or("");
    if !target.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(Refusal(400, "the target has characters that have to be encoded"));
    }
    let (path, authority) = target_parts(target)?;
    let is_head = match request.method {
        Some("GET") => false,
        Some("HEAD") => true,
        _ => return Err(Refusal(405, "only GET and HEAD")),
    };
    Ok(Some(Request { is_head, path: path.to_owned(), host: authority.map(str::to_owned).or(host), accept }))
}

/// The path of a target, and the host if it is a whole URL.
fn target_parts(target: &str) -> Result<(&str, Option<&str>), Refusal> {
    let (rest, authority) = match target.strip_prefix("http://") {
        Some(rest) => {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            (&rest[end..], Some(&rest[..end]))
        }
        None if target.starts_with('/') || target == "*" => (target, None),
        None => return Err(Refusal(400, "the target is no path")),
    };
    let path = rest.split(['?', '#']).next().unwrap_or("");
    Ok((if path.is_empty() { "/" } else { path }, authority))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(text: &str) -> Result<Request, Refusal> {
        parse(text.as_bytes()).map(|request| request.expect("all of it is there"))
    }

    #[test]
    fn what_scrapers_send_is_understood() {
        let request = parsed(
            "GET /metrics?name=a HTTP/1.1\r\nHost: localhost:9464\r\nUser-Agent: Prometheus/2.42.0\r\n\
             Accept: application/openmetrics-text;version=1.0.0\r\nACCEPT:text/plain\r\n\r\n",
        )
        .unwrap();
        let expected = Request {
            is_head: false,
            path: "/metrics".into(),
            host: Some("localhost:9464".into()),
            accept: "application/openmetrics-text;version=1.0.0,text/plain".into(),
        };
        assert_eq!(request, expected);
        // A request typed by hand, and one through a proxy.
        assert!(parsed("\r\nHEAD / HTTP/1.0\n\n").unwrap().is_head);
        let whole = parsed("GET http://evil.example?x HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        assert_eq!((whole.path.as_str(), whole.host.as_deref()), ("/", Some("evil.example")));
        assert_eq!(parsed("POST /metrics HTTP/1.1\r\n\r\n").unwrap_err().0, 405);
    }

    #[test]
    fn what_two_could_read_in_two_ways_is_refused() {
        for head in [
            "GET /metrics HTTP/1.1\r\nHost : a\r\n\r\n",
            "GET /metrics HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
            "GET /metrics HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n",
            "GET /metrics HTTP/1.1\r\nno colon\r\n\r\n",
            "GET  /metrics HTTP/1.1\r\n\r\n",
            "GET /metrics\r\n\r\n",
            "GET /met\u{7f}rics HTTP/1.1\r\n\r\n",
            "GET metrics HTTP/1.1\r\n\r\n",
            "G\u{0}T / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nAccept: a\u{0}b\r\n\r\n",
            "GET / HTTP/1.1\r\nA: b\rHost: c\r\n\r\n",
        ] {
            assert_eq!(parsed(head).unwrap_err().0, 400, "{head:?}");
        }
        for version in ["HTTP/2.0", "HTTP/11"] {
            assert_eq!(parsed(&format!("GET / {version}\r\n\r\n")).unwrap_err().0, 505);
        }
        assert_eq!(parsed(&format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(101))).unwrap_err().0, 431);
        assert_eq!(parse(b"GET /\xff HTTP/1.1\r\n\r\n").unwrap_err().0, 400);
    }

    #[test]
    fn a_head_ends_with_its_first_empty_line() {
        let two = b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost : a\r\n\r\n";
        assert_eq!(parse(two), Ok(parse(&two[..18]).unwrap()));
        for end in 0..18 {
            assert_eq!(parse(&two[..end]), Ok(None));
        }
        assert_eq!(parse(b"\r\n\r\n"), Ok(None));
    }

    /// The head is parsed again for each byte that arrives, so the time must not grow with the square of its length.
    #[test]
    fn empty_lines_are_cheap() {
        let lines = vec![b'\n'; 65_536];
        let began = std::time::Instant::now();
        for _ in 0..100 {
            assert_eq!(parse(&lines), Ok(None));
        }
        // It takes a fraction of a second, or two minutes if each line is sought from the beginning.
        assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
    }

    const PIECES: [&[u8]; 12] = [
        b"GET ",
        b"/metrics",
        b" HTTP/1.1",
        b"\r\n",
        b"\n",
        b"Host:",
        b" ",
        b"http://",
        b"\0",
        b"\xff\xfe",
        b":",
        b"?",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

        /// Any bytes get an answer.
        #[test]
        fn no_bytes_are_too_odd(pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..13)) {
            for start in ["", "GET /a HTTP/1.1\r\n"] {
                if let Ok(Some(request)) = parse(&[start.as_bytes(), &pieces.concat()].concat()) {
                    prop_assert!(request.path.starts_with('/') || request.path == "*");
                }
            }
        }
    }
}
