//! Tests with real sockets, and with peers that behave or misbehave.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::http::{Answer, Options, Server};

fn echo(accept: &str) -> Result<Answer, String> {
    match accept {
        "fail" => Err("on purpose".into()),
        "panic" => panic!("on purpose"),
        _ => Ok(Answer {
            content_type: "text/x\r\nSet-Cookie: a".into(),
            body: format!("<{accept}>").into_bytes(),
        }),
    }
}

fn start(options: Options) -> Server {
    Server::start("127.0.0.1:0", options, echo).unwrap()
}

fn quick() -> Options {
    Options { request_time: Duration::from_millis(200), ..Options::default() }
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// The whole answer to a request.
fn ask(server: &Server, request: &str) -> String {
    let mut stream = connect(server);
    stream.write_all(request.as_bytes()).unwrap();
    rest(stream)
}

fn rest(mut stream: impl Read) -> String {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or("none")
}

#[test]
fn metrics_are_answered() {
    let server = start(quick());
    let answer = ask(&server, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n");
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert_eq!((status(head), body), ("200", "<text/plain>"));
    assert!(head.contains("\r\nContent-Length: 12\r\n"), "{head}");
    // Text from the source cannot begin a header.
    assert!(head.contains("Content-Type: text/xSet-Cookie: a\r\n"), "{head}");

    let head = ask(&server, "HEAD /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain\r\n\r\n");
    assert!(head.contains("\r\nContent-Length: 12\r\n") && head.ends_with("\r\n\r\n"), "{head}");

    for (request, expected) in [
        ("GET / HTTP/1.0\r\n\r\n", "200"),
        ("GET /metrics?x=1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "200"),
        ("GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n", "404"),
        ("DELETE /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "405"),
        ("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
        ("GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "403"),
        ("GET /metrics HTTP/1.1\r\nAccept: fail\r\n\r\n", "500"),
        ("GET /metrics HTTP/1.1\r\nAccept: panic\r\n\r\n", "500"),
        ("nonsense\r\n\r\n", "400"),
    ] {
        assert_eq!(status(&ask(&server, request)), expected, "{request:?}");
    }
    assert!(ask(&server, "DELETE /metrics HTTP/1.1\r\n\r\n").contains("Allow: GET, HEAD\r\n"));
}

#[test]
fn what_comes_after_a_request_is_not_read_as_one() {
    let server = start(quick());
    let one = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    // So much unread input that closing would discard the answer.
    let answer = ask(&server, &one.repeat(500));
    assert_eq!(answer.matches("HTTP/1.1 200").count(), 1, "{answer}");
    assert!(answer.ends_with("<>"), "{answer}");
}

#[test]
fn the_slow_and_the_large_are_shed() {
    let server = start(quick());
    // Endless single bytes: the time limit applies to the whole request.
    let mut slow = connect(&server);
    let began = Instant::now();
    while slow.write_all(b"G").is_ok() && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(began.elapsed() < Duration::from_secs(20));
    // No bytes at all.
    assert_eq!(status(&rest(connect(&server))), "408");
    // Half a request, and then an end.
    let mut half = connect(&server);
    half.write_all(b"GET /metrics HT").unwrap();
    half.shutdown(Shutdown::Write).unwrap();
    assert_eq!(rest(half), "");
    let large = format!("GET /metrics HTTP/1.1\r\nA: {}", "a".repeat(20_000));
    assert_eq!(status(&ask(&server, &large)), "431");
    // The server still answers.
    assert_eq!(status(&ask(&server, "GET /metrics HTTP/1.1\r\n\r\n")), "200");
}

#[test]
fn those_who_take_nothing_do_not_stay() {
    let options = Options { response_time: Duration::from_millis(200), ..quick() };
    let done = Arc::new(AtomicUsize::new(0));
    let counted = done.clone();
    let server = Server::start("127.0.0.1:0", Options { connections: 1, ..options }, move |_| {
        counted.fetch_add(1, SeqCst);
        Ok(Answer { content_type: "text/plain".into(), body: vec![b'a'; 64 << 20] })
    })
    .unwrap();
    let mut stuck = connect(&server);
    stuck.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    // The only place becomes free although the client has read nothing.
    let began = Instant::now();
    while done.load(SeqCst) < 2 {
        assert!(began.elapsed() < Duration::from_secs(20), "the place is still taken");
        let mut next = connect(&server);
        let _ = next.write_all(b"GET /metrics HTTP/1.1\r\n\r\n");
        let mut first = [0; 12];
        let _ = next.read(&mut first);
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn connections_above_the_cap_are_refused() {
    let server =
        start(Options { connections: 2, request_time: Duration::from_secs(30), ..Options::default() });
    let held = [connect(&server), connect(&server)];
    // The server accepts in order, so this connection is the third.
    assert_eq!(status(&rest(connect(&server))), "503");
    // A request does not prevent the refusal, unless it is slow: then the connection is closed already.
    let answer = || {
        let (mut stream, mut text) = (connect(&server), String::new());
        let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n");
        // A read that ends in an error may have got the whole answer, or not.
        if stream.read_to_string(&mut text).is_ok() { text } else { String::new() }
    };
    let refused = (0..20).filter(|_| status(&answer()) == "503").count();
    assert!(refused >= 5, "{refused} of 20");
    drop(held);
    let began = Instant::now();
    while status(&answer()) != "200" {
        assert!(began.elapsed() < Duration::from_secs(20), "the places are still taken");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A new folder, a path for a socket in it, and the address of that.
fn socket(name: &str) -> (PathBuf, PathBuf, String) {
    let folder = std::env::temp_dir().join(format!("picollo-serve-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("socket");
    let address = format!("unix:{}", path.display());
    (folder, path, address)
}

fn ask_socket(path: &Path) -> String {
    let mut stream = UnixStream::connect(path).unwrap();
    // Any `Host` is accepted: no page in a browser can reach a Unix socket.
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: picollo\r\n\r\n").unwrap();
    rest(stream)
}

#[test]
fn a_unix_socket_is_for_its_owner() {
    let (folder, path, name) = socket("owner");
    let ask = || ask_socket(&path);
    let server = Server::start(&name, quick(), echo).unwrap();
    assert_eq!(server.address(), name);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(status(&ask()), "200");
    // A second server cannot take over the socket of a running one.
    assert!(Server::start(&name, quick(), echo).is_err());
    assert_eq!(status(&ask()), "200");
    drop(server);
    assert!(!path.exists());
    // An abandoned socket is replaced, but not a file.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let server = Server::start(&name, quick(), echo).unwrap();
    assert_eq!(status(&ask()), "200");
    drop(server);
    std::fs::write(&path, "mine").unwrap();
    assert!(Server::start(&name, quick(), echo).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// If another server has taken the path, the first one ends without removing it.
#[test]
fn a_socket_of_another_server_stays() {
    let (folder, path, name) = socket("taken");
    let first = Server::start(&name, quick(), echo).unwrap();
    std::fs::remove_file(&path).unwrap();
    let second = Server::start(&name, quick(), echo).unwrap();
    drop(first);
    assert_eq!(status(&ask_socket(&path)), "200");
    // Nobody can connect to this one.
    std::fs::remove_file(&path).unwrap();
    drop(second);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_dropped_server_listens_no_more() {
    let server = start(quick());
    let address = server.address();
    drop(server);
    assert!(TcpStream::connect(&address).is_err());
    drop(Server::start(&address, quick(), echo).unwrap());
}

#[test]
fn nothing_of_a_dropped_server_runs() {
    let kept = Arc::new(());
    let of_server = kept.clone();
    let server = Server::start("0", Options::default(), move |_| {
        let _of_server = &of_server;
        Ok(Answer { content_type: "text/plain".into(), body: vec![b'a'; 64 << 20] })
    })
    .unwrap();
    // One sends nothing, one a part of a request, and one does not take its answer.
    let (silent, mut half, mut stuck) = (connect(&server), connect(&server), connect(&server));
    half.write_all(b"GET /metrics HT").unwrap();
    stuck.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    stuck.peek(&mut [0]).unwrap();
    drop(server);
    assert_eq!(Arc::strong_count(&kept), 1);
    assert_eq!((rest(silent), rest(half)), (String::new(), String::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn threads_of_a_server_take_no_signals() {
    let server = start(quick());
    // Threads name themselves.
    assert_eq!(status(&ask(&server, "GET /metrics HTTP/1.1\r\n\r\n")), "200");
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    // Threads of other tests may end meanwhile.
    let statuses: Vec<String> =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("status")).ok()).collect();
    let of_servers = statuses.iter().filter(|status| {
        ["picollo-serve", "picollo-answer"].iter().any(|name| status.starts_with(&format!("Name:\t{name}\n")))
    });
    let blocked: Vec<u64> = of_servers
        .map(|status| {
            let (_, mask) = status.split_once("SigBlk:\t").unwrap();
            u64::from_str_radix(&mask[..16], 16).unwrap()
        })
        .collect();
    assert!(!blocked.is_empty());
    let has = |mask: u64, signal: i32| mask & 1 << (signal - 1) != 0;
    for mask in blocked {
        assert!([libc::SIGTERM, libc::SIGINT, libc::SIGPROF, 64].iter().all(|&signal| has(mask, signal)));
        assert!(!has(mask, libc::SIGSEGV) && !has(mask, libc::SIGBUS));
    }
}

#[test]
fn invalid_addresses_and_paths_are_refused() {
    for (address, path) in [
        ("nonsense", "/a"),
        ("127.0.0.1:65536", "/a"),
        ("127.0.0.1:", "/a"),
        ("0", "a"),
        ("0", ""),
        ("0", "/a b"),
        ("0", "/a?b"),
    ] {
        let error = Server::start(address, Options { path: path.into(), ..quick() }, echo).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{address} {path}");
    }
    assert!(Server::start("0", quick(), echo).unwrap().address().starts_with("127.0.0.1:"));
}
