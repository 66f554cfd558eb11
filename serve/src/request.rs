//! What a scraper asks: the head of an HTTP/1 request (RFC 9112), as far as an endpoint that only reads has to know it.

/// The head of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// Without the query.
    pub(crate) path: String,
    /// As it came, with the port; of a request with a whole URL the host that this names.
    pub(crate) host: Option<String>,
    /// All `Accept` headers, joined by commas.
    pub(crate) accept: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Method {
    Get,
    Head,
    Other,
}

/// Why a request is not answered as asked: the status and what it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Refusal(pub(crate) u16, pub(crate) &'static str);

const fn malformed(what: &'static str) -> Refusal {
    Refusal(400, what)
}

/// How long the head is, its empty line included, if all of it is there. Lines end with LF, before which a CR is dropped, as RFC 9112
/// allows.
pub(crate) fn head_length(bytes: &[u8]) -> Option<usize> {
    let mut start = 0;
    while let Some(length) = bytes[start..].iter().position(|&byte| byte == b'\n') {
        let line = &bytes[start..start + length];
        // Empty lines before the first are to be ignored.
        if (line.is_empty() || line == b"\r") && bytes[..start].iter().any(|byte| !b"\r\n".contains(byte)) {
            return Some(start + length + 1);
        }
        start += length + 1;
    }
    None
}

/// Reads a whole head.
pub(crate) fn parse(head: &[u8]) -> Result<Request, Refusal> {
    let text = str::from_utf8(head).map_err(|_| malformed("the request is not text"))?;
    let mut lines = text
        .split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty());
    let (method, target) = request_line(lines.next().unwrap_or(""))?;
    let (mut host, mut hosts) = (None, 0);
    let mut accept = String::new();
    for line in lines {
        let (name, value) = line.split_once(':').ok_or(malformed("a header has no colon"))?;
        // No space before the colon, and no line that goes on with the one before: others may read those otherwise.
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(malformed("a header has no proper name"));
        }
        let value = value.trim_matches([' ', '\t']);
        if value.bytes().any(|byte| byte < b' ' && byte != b'\t' || byte == 0x7f) {
            return Err(malformed("a header has control characters"));
        }
        if name.eq_ignore_ascii_case("host") {
            host = Some(value.to_owned());
            hosts += 1;
        } else if name.eq_ignore_ascii_case("accept") {
            if !accept.is_empty() {
                accept.push(',');
            }
            accept.push_str(value);
        }
    }
    if hosts > 1 {
        return Err(malformed("there is more than one Host"));
    }
    let (path, authority) = target_parts(target)?;
    Ok(Request { method, path: path.to_owned(), host: authority.map(str::to_owned).or(host), accept })
}

fn request_line(line: &str) -> Result<(Method, &str), Refusal> {
    let mut parts = line.split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(malformed("the request line has not three parts"));
    };
    if method.is_empty() || !method.bytes().all(is_token) {
        return Err(malformed("the method is no word"));
    }
    if target.bytes().any(|byte| byte <= b' ' || byte >= 0x7f) {
        return Err(malformed("the target has characters that have to be encoded"));
    }
    match version.strip_prefix("HTTP/").map(str::as_bytes) {
        Some([b'1', b'.', b'0'..=b'9']) => {}
        Some([b'0'..=b'9', b'.', b'0'..=b'9']) => return Err(Refusal(505, "HTTP/1.1 is spoken here")),
        _ => return Err(malformed("the version is not that of HTTP")),
    }
    let method = match method {
        "GET" => Method::Get,
        "HEAD" => Method::Head,
        _ => Method::Other,
    };
    Ok((method, target))
}

/// The path of a target, and the host if it is a whole URL.
fn target_parts(target: &str) -> Result<(&str, Option<&str>), Refusal> {
    let (rest, authority) = match target.strip_prefix("http://") {
        Some(rest) => {
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            (&rest[end..], Some(&rest[..end]))
        }
        None if target.starts_with('/') || target == "*" => (target, None),
        None => return Err(malformed("the target is no path")),
    };
    let path = rest.split(['?', '#']).next().unwrap_or("");
    Ok((if path.is_empty() { "/" } else { path }, authority))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Request, Refusal> {
        assert_eq!(head_length(text.as_bytes()), Some(text.len()));
        parse(text.as_bytes())
    }

    #[test]
    fn what_scrapers_send_is_understood() {
        let request = parsed(
            "GET /metrics?name=a HTTP/1.1\r\nHost: localhost:9464\r\nUser-Agent: Prometheus/2.42.0\r\n\
             Accept: application/openmetrics-text;version=1.0.0\r\nACCEPT:text/plain\r\n\r\n",
        )
        .unwrap();
        assert_eq!(request.method, Method::Get);
        assert_eq!(request.path, "/metrics");
        assert_eq!(request.host.as_deref(), Some("localhost:9464"));
        assert_eq!(request.accept, "application/openmetrics-text;version=1.0.0,text/plain");
        // As typed by hand, and through a proxy.
        assert_eq!(parsed("\r\nHEAD / HTTP/1.0\n\n").unwrap().method, Method::Head);
        let whole = parsed("GET http://evil.example?x HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        assert_eq!((whole.path.as_str(), whole.host.as_deref()), ("/", Some("evil.example")));
        assert_eq!(parsed("POST /metrics HTTP/1.1\r\n\r\n").unwrap().method, Method::Other);
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
            "GET /metrics HTTP/11\r\n\r\n",
            "G\u{0}T / HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1\r\nAccept: a\u{0}b\r\n\r\n",
            "GET / HTTP/1.1\r\nA: b\rHost: c\r\n\r\n",
        ] {
            assert_eq!(parsed(head).unwrap_err().0, 400, "{head:?}");
        }
        assert_eq!(parsed("GET / HTTP/2.0\r\n\r\n").unwrap_err().0, 505);
        assert_eq!(parse(b"GET /\xff HTTP/1.1\r\n\r\n").unwrap_err().0, 400);
    }

    #[test]
    fn a_head_ends_with_its_first_empty_line() {
        let two = b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n";
        assert_eq!(head_length(two), Some(18));
        for end in 0..18 {
            assert_eq!(head_length(&two[..end]), None);
        }
        assert_eq!(head_length(b"\r\n\r\n"), None);
    }

    /// Whatever comes, there is an answer.
    #[test]
    fn no_bytes_are_too_odd() {
        let pieces: [&[u8]; 12] = [
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
        let mut state = 1u64;
        for _ in 0..20_000 {
            let mut bytes = Vec::new();
            for _ in 0..state % 13 {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                bytes.extend_from_slice(pieces[(state >> 33) as usize % pieces.len()]);
            }
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            if let Some(length) = head_length(&bytes) {
                assert!(length <= bytes.len());
                if let Ok(request) = parse(&bytes[..length]) {
                    assert!(request.path.starts_with('/') || request.path == "*");
                }
            }
        }
    }
}
