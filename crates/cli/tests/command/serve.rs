//! `picollo serve` and `picollo push` with services in separate processes.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;

use crate::collector::collector;
use crate::common::{Place, Service, command, picollo, send, text};

/// Program name of the services: that of this program, in the 15 characters that Linux keeps.
fn program() -> String {
    std::fs::read_to_string("/proc/self/comm").unwrap().trim_end().to_owned()
}

/// The samples by name and labels, and the types by family. Fails if a series or a family appears twice.
fn parse(text: &str) -> (HashMap<String, f64>, HashMap<String, String>) {
    let (mut samples, mut types) = (HashMap::new(), HashMap::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert_eq!(types.insert(name.to_owned(), kind.to_owned()), None, "a second family {name}");
        } else if !line.starts_with('#') && !line.is_empty() {
            let (series, value) = line.rsplit_once(' ').unwrap();
            let value = value.parse().unwrap();
            assert_eq!(samples.insert(series.to_owned(), value), None, "a second series {series}");
        }
    }
    (samples, types)
}

const NS: &str = "histogram request ns 3290000 100 How long";

#[test]
fn three_services() {
    let place = Place::new("three");
    let first = Service::start(&place, "one", &format!("{NS};counter jobs - 0 7 Jobs"));
    let _second =
        Service::start(&place, "two", "histogram request us 3290 50 Otherwise told;counter jobs - 0 8 Jobs");
    // A counter where others have a histogram, and another unit under the name that others get.
    let _third = Service::start(
        &place,
        "three",
        "counter request ns 0 5 x;histogram request_seconds - 1 5 x;counter jobs - 0 9 Jobs;histogram sp@ce - 1 1 x",
    );
    let once = || {
        let (shown, errors) = text(&picollo(&place.0, &["serve", "--once"]));
        let (samples, types) = parse(&shown);
        (samples, types, shown, errors)
    };
    let (samples, types, shown, errors) = once();
    let at = |name: &str, segment: &str| samples[&format!("{name}{{segment=\"{segment}\"}}")];
    assert_eq!(["one", "two", "three"].map(|segment| at("jobs_total", segment)), [7.0, 8.0, 9.0], "{shown}");
    // Both are in seconds.
    assert_eq!(["one", "two"].map(|segment| at("request_seconds_count", segment)), [100.0, 50.0]);
    assert!((at("request_seconds_sum", "one") / 100.0 - 0.00329).abs() < 0.000_033);
    assert!((at("request_seconds_sum", "two") / 50.0 - 0.00329).abs() < 0.000_033);
    assert!(shown.contains("# HELP request_seconds How long\n") && !shown.contains("Otherwise"), "{shown}");
    assert_eq!(types["request_seconds"], "histogram");
    assert_eq!(at("sp_ce_count", "three"), 1.0);
    assert_eq!(samples["picollo_left_out{reason=\"conflict\"}"], 2.0, "{errors}");
    assert_eq!(samples["picollo_segments"], 3.0);
    assert_eq!(
        errors.lines().filter(|line| line.contains("left out: request_seconds of")).count(),
        2,
        "{errors}"
    );

    let (bounded, _) = text(&picollo(&place.0, &["serve", "--once", "--bounds", "0.001,0.1"]));
    assert_eq!(bounded.matches("request_seconds_bucket{segment=\"one\"").count(), 3, "{bounded}");
    // Writing replaces a file atomically and leaves nothing else behind.
    let file = place.0.join("x.prom");
    let elsewhere = place.0.join("elsewhere");
    std::fs::write(&elsewhere, "old").unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    assert_eq!(picollo(&place.0, &["serve", "--once", "-o", file.to_str().unwrap()]).status.code(), Some(0));
    assert_eq!(parse(&std::fs::read_to_string(&file).unwrap()).0, samples);
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "old");
    // Three segments, the two files, and nothing else.
    assert_eq!(std::fs::read_dir(&place.0).unwrap().count(), 5);
    let (_, errors) = text(&picollo(&place.0, &["serve", "--once", "-o", "/not-there/x.prom"]));
    assert!(errors.ends_with("picollo serve: /not-there/x.prom: No such file or directory\n"), "{errors}");
    first.end();
}

/// A running `picollo serve`, and its output.
struct Serving(Service, String);

impl Serving {
    fn start(directory: &Path, arguments: &[&str]) -> Serving {
        let mut child = command(&["serve"])
            .args(arguments)
            .env("PICOLLO_DIR", directory)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Serving(Service(child), line.trim_end().to_owned())
    }

    fn port(&self) -> u16 {
        self.1.split([':', '/']).filter_map(|part| part.parse().ok()).next_back().unwrap()
    }

    fn get(&self, host: &str) -> String {
        exchange(TcpStream::connect(("127.0.0.1", self.port())).unwrap(), host)
    }

    /// Terminates it like a service manager.
    fn terminate(mut self) -> Option<i32> {
        send(&self.0.0, libc::SIGTERM);
        self.0.0.wait().unwrap().code()
    }
}

fn exchange(mut stream: impl Read + Write, host: &str) -> String {
    write!(
        stream,
        "GET /metrics HTTP/1.1\r\nHost: {host}\r\nAccept: text/plain\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn samples(answer: &str) -> HashMap<String, f64> {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    parse(body).0
}

#[test]
fn scrapes_follow_what_is_live() {
    let place = Place::new("follow");
    let mut first = Service::start(&place, "one", NS);
    let serving = Serving::start(&place.0, &["--by-process", "--listen", "0"]);
    let counts = || {
        let samples = samples(&serving.get("localhost"));
        let mut counts: Vec<(String, f64)> = samples
            .into_iter()
            .filter_map(|(series, value)| {
                let label = series.strip_prefix("request_seconds_count{process=\"")?.split_once('"')?.0;
                Some((label.strip_prefix(&program()).unwrap().to_owned(), value))
            })
            .collect();
        counts.sort_by(|a, b| a.partial_cmp(b).unwrap());
        counts
    };
    let of = |list: &[(&str, f64)]| -> Vec<(String, f64)> {
        list.iter().map(|&(name, count)| (name.to_owned(), count)).collect()
    };
    assert_eq!(counts(), of(&[("", 100.0)]));
    writeln!(first.0.stdin.as_mut().unwrap(), "0 50000 11").unwrap();
    while counts() != of(&[("", 111.0)]) {
        std::thread::yield_now();
    }
    let second = Service::start(&place, "two", NS);
    assert_eq!(counts(), of(&[("", 111.0), ("-2", 100.0)]));
    // The first ends, and a restarted one takes its number.
    drop(first);
    assert_eq!(counts(), of(&[("-2", 100.0)]));
    let _again = Service::start(&place, "one", NS);
    assert_eq!(counts(), of(&[("", 100.0), ("-2", 100.0)]));
    drop(second);
    // Pages in browsers use other hosts.
    assert!(serving.get("evil.example").starts_with("HTTP/1.1 403"), "{}", serving.get("evil.example"));
    assert_eq!(serving.terminate(), Some(0));
}

#[test]
fn addresses() {
    let place = Place::new("socket");
    let _service = Service::start(&place, "one", NS);
    let path = place.0.join("metrics.sock");
    let serving = Serving::start(&place.0, &["--listen", &format!("unix:{}", path.display())]);
    let answer = exchange(std::os::unix::net::UnixStream::connect(&path).unwrap(), "localhost");
    assert_eq!(samples(&answer)["picollo_segments"], 1.0);
    assert_eq!(serving.terminate(), Some(0));
    assert!(!path.exists());
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (_, errors) = text(&picollo(&place.0, &["serve", "--listen", &address]));
    assert!(errors.contains(&address) && errors.lines().count() == 1, "{errors}");
    assert!(errors.contains("Address already in use; choose another with --listen"), "{errors}");
    let (_, errors) = text(&picollo(&place.0, &["serve", "--listen", "nowhere"]));
    assert!(errors.contains("--listen takes a port, an address with a port, or unix:PATH"), "{errors}");
}

/// Spawned workers publish under one name: they form one series, which continues when one of them ends.
#[test]
fn processes_of_one_name_are_summed() {
    let place = Place::new("summed");
    let what = format!("{NS};counter jobs - 0 7 Jobs");
    let mut workers: Vec<Service> = (0..3).map(|_| Service::start(&place, "web", &what)).collect();
    let serving = Serving::start(&place.0, &["--listen", "0"]);
    let all = || {
        let samples = samples(&serving.get("localhost"));
        let at = |name: &str| samples.get(&format!("{name}{{segment=\"web\"}}")).copied();
        (at("request_seconds_count"), at("jobs_total"), samples["picollo_left_out{reason=\"conflict\"}"])
    };
    assert_eq!(all(), (Some(300.0), Some(21.0), 0.0));
    let pid = workers[0].0.id().to_string();
    let (shown, _) = text(&picollo(&place.0, &["serve", "--once", "--pid", &pid]));
    assert_eq!(parse(&shown).0["request_seconds_count{segment=\"web\"}"], 100.0, "{shown}");
    // Everything it records until its end is in the sum, and stays.
    writeln!(workers[0].0.stdin.as_mut().unwrap(), "0 50000 11").unwrap();
    workers.remove(0).end();
    assert_eq!(all(), (Some(311.0), Some(21.0), 0.0));
    workers.push(Service::start(&place, "web", &what));
    assert_eq!(all(), (Some(411.0), Some(28.0), 0.0));
    // An entry with another layout or unit is not added, but counted as left out.
    let odd = Service::start(&place, "web", "histogram request us 5 1 x");
    let (count, jobs, left_out) = all();
    assert_eq!((count, jobs, left_out), (Some(411.0), Some(28.0), 1.0));
    drop(odd);
    // Without processes, the series is gone.
    workers.into_iter().for_each(|worker| worker.end());
    assert_eq!(all(), (None, None, 0.0));
}

fn has(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn pushes() {
    let place = Place::new("push");
    let _service = Service::start(&place, "one", &format!("{NS};counter jobs - 0 7 Jobs"));
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let refusal = ok.replace("200 OK", "400 Bad Request");
    let answers = [&[ok, &refusal], &[ok; 1000][..]].concat();
    let (url, requests) = collector(&answers);
    let base = url.trim_end_matches("/v1/metrics");
    let push = |arguments: &[&str], variables: &[(&str, &str)]| {
        let mut command = command(&["push"]);
        command.args(arguments).env("PICOLLO_DIR", &place.0).stderr(Stdio::piped());
        command.envs(variables.iter().copied()).spawn().unwrap()
    };
    let child = push(
        &["--otlp", base, "--once"],
        &[("OTEL_SERVICE_NAME", "the-shop"), ("OTEL_EXPORTER_OTLP_HEADERS", "x-token=abc")],
    );
    let (head, body) = requests.recv().unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let head = head.to_ascii_lowercase();
    assert!(head.starts_with("post /v1/metrics ") && head.contains("x-token: abc"), "{head}");
    assert!(head.contains("content-type: application/x-protobuf"), "{head}");
    for text in ["request_seconds", "jobs", "the-shop", "process", "How long"] {
        assert!(has(&body, text), "no {text}");
    }
    // The collector from the environment, which permanently refuses.
    let child = push(&["--once"], &[("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", &format!("{base}/other"))]);
    let (head, _) = requests.recv().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(head.starts_with("POST /other "), "{head}");
    let (_, errors) = text(&output);
    assert_eq!((output.status.code(), errors.lines().count()), (Some(1), 1), "{errors}");
    assert!(errors.contains("refused (status 400)"), "{errors}");
    // Pushes repeatedly, and once more at the end.
    let mut child = push(&["--otlp", base, "--interval", "50ms"], &[]);
    for _ in 0..3 {
        assert!(has(&requests.recv().unwrap().1, "request_seconds"));
    }
    send(&child, libc::SIGTERM);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    for (arguments, why) in
        [(&["--otlp", "ftp://a"][..], "begins with http"), (&["--interval", "no"], "not a duration")]
    {
        let output = push(arguments, &[]).wait_with_output().unwrap();
        assert!(!output.status.success() && text(&output).1.contains(why), "{:?}", text(&output));
    }
    let output = push(&["--once"], &[("OTEL_SDK_DISABLED", "true")]).wait_with_output().unwrap();
    assert!(output.status.success() && text(&output).1.contains("OTEL_SDK_DISABLED"));
}
