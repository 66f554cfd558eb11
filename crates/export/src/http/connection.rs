//! One connection: reads a request, answers it, and closes the connection, all within a time limit.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use picollo_core::seam::write_escaped;

use crate::http::request::{self, Refusal, Request};
use crate::http::{Answer, Options};

/// The time left until a deadline, or an error if none is left. (A timeout of zero would mean to wait forever.)
pub(crate) fn left(deadline: Instant) -> io::Result<Duration> {
    match deadline.checked_duration_since(Instant::now()) {
        Some(left) if !left.is_zero() => Ok(left),
        _ => Err(ErrorKind::TimedOut.into()),
    }
}

/// Writes everything before a deadline, in pieces if needed.
pub(crate) fn write_all(mut stream: &TcpStream, mut bytes: &[u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(left(deadline)?))?;
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Reads what is available, at most the size of `buffer`, before a deadline. Returns 0 if the peer has ended.
pub(crate) fn read_some(mut stream: &TcpStream, buffer: &mut [u8], deadline: Instant) -> io::Result<usize> {
    loop {
        stream.set_read_timeout(Some(left(deadline)?))?;
        match stream.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Reads one request and answers it. An error means that the connection failed; it is then just closed.
pub(crate) fn answer(
    stream: &TcpStream,
    options: &Options,
    is_local: bool,
    answer: &dyn Fn(&str) -> Result<Answer, String>,
) -> io::Result<()> {
    let Some(asked) = read_head(stream, options)? else { return Ok(()) };
    let mut is_head = false;
    let response = match asked.and_then(|request| {
        is_head = request.is_head;
        check(&request, options, is_local)?;
        Ok(request)
    }) {
        Ok(request) if request.path == options.path => match answer(&request.accept) {
            Ok(answer) => response(200, &answer.content_type, "Vary: Accept\r\n", &answer.body, is_head),
            Err(error) => plain(500, &error, is_head),
        },
        Ok(_) => {
            let path = fmt::from_fn(|f| options.path.chars().try_for_each(|c| write_escaped(f, c)));
            let page = format!("<!DOCTYPE html><title>Picollo</title><a href=\"{path}\">{path}</a>\n");
            response(200, "text/html; charset=utf-8", "", page.as_bytes(), is_head)
        }
        Err(Refusal(status, what)) => plain(status, what, is_head),
    };
    finish(stream, &response, options)
}

/// Writes an answer, reads the rest, and closes: input at a closed socket makes the kernel discard the answer.
pub(crate) fn finish(stream: &TcpStream, response: &[u8], options: &Options) -> io::Result<()> {
    write_all(stream, response, Instant::now() + options.response_time)?;
    stream.shutdown(Shutdown::Write)?;
    let (deadline, mut rest) = (Instant::now() + Duration::from_secs(1), [0; 4096]);
    // The limit suffices for a pipeline or a body.
    for _ in 0..16 {
        if read_some(stream, &mut rest, deadline)? == 0 {
            break;
        }
    }
    Ok(())
}

/// Reads the head of a request, or returns why it is invalid. `None` if the peer ended first, or was answered already.
fn read_head(stream: &TcpStream, options: &Options) -> io::Result<Option<Result<Request, Refusal>>> {
    let deadline = Instant::now() + options.request_time;
    let (mut head, mut buffer) = (Vec::new(), [0; 2048]);
    loop {
        let read = match read_some(stream, &mut buffer, deadline) {
            Ok(0) => return Ok(None),
            Ok(read) => read,
            // The peer may just be slow, so it gets an answer, if that still arrives.
            Err(error) if matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock) => {
                finish(stream, &plain(408, "the request took too long", false), options)?;
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        // The excess is cut off, so that neither long heads nor many small pieces keep the parser busy.
        head.extend_from_slice(&buffer[..read.min(options.head_bytes - head.len())]);
        if let Some(asked) = request::parse(&head).transpose() {
            return Ok(Some(asked));
        }
        if head.len() == options.head_bytes {
            finish(stream, &plain(431, "the headers are too long", false), options)?;
            return Ok(None);
        }
    }
}

/// Checks whether a request may be answered.
fn check(request: &Request, options: &Options, is_local: bool) -> Result<(), Refusal> {
    // A page from a foreign name server that resolves to this address must not read the metrics.
    if is_local && !request.host.as_deref().is_none_or(|host| is_own_name(host, &options.hosts)) {
        return Err(Refusal(
            403,
            "the Host of this request is not a name of this endpoint: use its address or localhost",
        ));
    }
    if request.path != options.path && request.path != "/" {
        return Err(Refusal(404, "nothing is here"));
    }
    Ok(())
}

/// Whether a `Host` is an address, `localhost`, or one of the given names.
fn is_own_name(host: &str, names: &[String]) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    address.parse::<std::net::IpAddr>().is_ok()
        || name.eq_ignore_ascii_case("localhost")
        || names.iter().any(|known| name.eq_ignore_ascii_case(known))
}

pub(crate) fn plain(status: u16, what: &str, is_head: bool) -> Vec<u8> {
    let more = match status {
        405 => "Allow: GET, HEAD\r\n",
        503 => "Retry-After: 1\r\n",
        _ => "",
    };
    response(status, "text/plain; charset=utf-8", more, format!("{what}\n").as_bytes(), is_head)
}

fn response(status: u16, content_type: &str, more: &str, body: &[u8], is_head: bool) -> Vec<u8> {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Internal Server Error",
    };
    // A line end in a type would begin another header.
    let content_type: String = content_type.chars().filter(|character| !character.is_control()).collect();
    let mut response = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n{more}\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    if !is_head {
        response.extend_from_slice(body);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_endpoint() {
        let names = ["metrics.internal".to_owned()];
        for own in
            "localhost LOCALHOST:9464 127.0.0.1:1 [::1]:9464 [::1] 192.0.2.7 metrics.internal:80".split(' ')
        {
            assert!(is_own_name(own, &names), "{own}");
        }
        for other in
            ["evil.example", "localhost.evil.example:80", "127.0.0.1.evil.example", "", ":80", "localhost:x"]
        {
            assert!(!is_own_name(other, &names), "{other}");
        }
    }
}
