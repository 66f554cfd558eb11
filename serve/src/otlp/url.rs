//! Where to push to.

use std::fmt;

/// A URL of plain HTTP, taken apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Url {
    /// A name or an address, an IPv6 one without its brackets.
    pub host: String,
    /// 80 where none was given.
    pub port: u16,
    /// With the query, and a slash first.
    pub path: String,
}

impl Url {
    /// Takes a URL apart. What cannot be pushed to is refused with a sentence that says so: `https` needs a library for TLS, which a
    /// collector beside the service has.
    pub fn parse(text: &str) -> Result<Url, String> {
        let rest = match text.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") => rest,
            Some((scheme, _)) if scheme.eq_ignore_ascii_case("https") => {
                return Err(format!(
                    "{text}: https is not spoken here; push through your collector, which listens on http://localhost:4318"
                ));
            }
            _ => return Err(format!("{text}: not an http:// URL")),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or("");
        if authority.contains('@') {
            return Err(format!("{text}: a user name does not belong here; use OTEL_EXPORTER_OTLP_HEADERS"));
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => match rest.split_once(']') {
                Some((host, "")) => (host, None),
                Some((host, port)) => (host, Some(port.strip_prefix(':').unwrap_or("no port"))),
                None => return Err(format!("{text}: a bracket is not closed")),
            },
            None => authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port))),
        };
        let port = match port {
            None | Some("") => 80,
            Some(port) => port.parse().map_err(|_| format!("{text}: {port} is no port"))?,
        };
        // What is in here goes into the head of a request.
        if host.is_empty() || authority.bytes().chain(path.bytes()).any(|byte| byte <= b' ' || byte >= 0x7f) {
            return Err(format!("{text}: not a proper URL"));
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Url { host: host.into(), port, path: format!("{slash}{path}") })
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, close) = if self.host.contains(':') { ("[", "]") } else { ("", "") };
        write!(f, "http://{open}{}{close}:{}{}", self.host, self.port, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        for (text, host, port, path) in [
            ("http://localhost:4318/v1/metrics", "localhost", 4318, "/v1/metrics"),
            ("HTTP://collector", "collector", 80, "/"),
            ("http://[::1]:4318?a=b#c", "::1", 4318, "/?a=b"),
            ("http://[fe80::1]/x", "fe80::1", 80, "/x"),
            ("http://192.0.2.1:/", "192.0.2.1", 80, "/"),
        ] {
            let url = Url::parse(text).unwrap();
            assert_eq!((url.host.as_str(), url.port, url.path.as_str()), (host, port, path), "{text}");
            assert_eq!(Url::parse(&url.to_string()), Ok(url));
        }
    }

    #[test]
    fn what_cannot_be_pushed_to_is_refused() {
        for (text, part) in [
            ("https://collector/v1/metrics", "through your collector"),
            ("collector:4318", "not an http:// URL"),
            ("", "not an http:// URL"),
            ("http://", "not a proper URL"),
            ("http://a b/", "not a proper URL"),
            ("http://a/\r\nHost: b", "not a proper URL"),
            ("http://user:secret@collector/", "OTEL_EXPORTER_OTLP_HEADERS"),
            ("http://collector:99999/", "no port"),
            ("http://[::1]4318/", "no port"),
            ("http://[::1", "not closed"),
        ] {
            let error = Url::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
