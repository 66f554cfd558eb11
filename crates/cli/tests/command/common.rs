//! Services that publish, each in a separate process: this test program, which starts itself.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use picollo_codec::log::Reader;
use picollo_core::counters::Metric;
use picollo_core::{Options, Snapshot};
use picollo_segment::{Segment, SegmentOptions};

/// A separate directory in memory.
pub struct Place(pub PathBuf);

impl Place {
    pub fn new(name: &str) -> Place {
        Place(format!("/dev/shm/picollo-cli-{name}-{}", std::process::id()).into())
    }

    pub fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().into()
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        std::fs::create_dir_all(&self.0).unwrap();
        std::fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }

    /// Creates a segment of this process in it.
    pub fn segment(&self, name: &str) -> Segment {
        let directory = self.0.to_str().unwrap();
        Segment::create(&SegmentOptions { name, directory, max_bytes: 6 << 20, ..SegmentOptions::default() })
            .unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A running service; dropping this kills it.
pub struct Service(pub Child);

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Service {
    /// `what` lists entries for [`a_service`], each `kind name unit value count help`, separated by semicolons.
    pub fn start(place: &Place, name: &str, what: &str) -> Service {
        Service::start_by(Command::new(std::env::current_exe().unwrap()), place, name, what)
    }

    /// The same with a separate mount namespace and `/dev/shm`, like in a container; only for root.
    pub fn start_contained(place: &Place, name: &str, what: &str) -> Service {
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", "mount -t tmpfs none /dev/shm && exec \"$@\"", "sh"]);
        command.arg(std::env::current_exe().unwrap());
        Service::start_by(command, place, name, what)
    }

    fn start_by(mut command: Command, place: &Place, name: &str, what: &str) -> Service {
        let mut child = command
            .args(["--exact", "common::a_service", "--nocapture"])
            .env("PICOLLO_DIR", &place.0)
            .env("TEST_SERVICE", format!("{name};{what}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().ends_with("ready")), "a service that does not start");
        // The pipe stays open because the service's test harness prints at its end.
        std::thread::spawn(move || lines.for_each(drop));
        Service(child)
    }

    /// Asks the service to end, and waits for it.
    pub fn end(mut self) {
        drop(self.0.stdin.take());
        self.0.wait().unwrap();
    }
}

/// The code of a service; it does nothing in a normal test run.
#[test]
fn a_service() {
    let Ok(what) = std::env::var("TEST_SERVICE") else { return };
    let mut parts = what.split(';');
    let name = parts.next().unwrap();
    let segment =
        Segment::create(&SegmentOptions { name, max_bytes: 64 << 20, ..SegmentOptions::default() }).unwrap();
    let mut histograms = Vec::new();
    for part in parts.filter(|part| !part.is_empty()) {
        let mut words = part.splitn(6, ' ');
        let mut next = || words.next().unwrap();
        let (kind, name, unit, value, count, help) = (next(), next(), next(), next(), next(), next());
        let (value, count) = (value.parse().unwrap(), count.parse().unwrap());
        let unit = if unit == "-" { "" } else { unit };
        let metric = Metric { name, unit, help, ..Metric::default() };
        if kind == "counter" {
            segment.counter(&metric).unwrap().add(count);
        } else {
            let histogram = segment.histogram(&metric, &Options::default()).unwrap();
            histogram.record_n(value, count);
            histograms.push(histogram);
        }
    }
    println!("ready");
    std::io::stdout().flush().unwrap();
    // Each line has the number of a histogram, a value, and how often to record it.
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let numbers: Vec<u64> = line.split(' ').map(|word| word.parse().unwrap()).collect();
        histograms[numbers[0] as usize].record_n(numbers[1], numbers[2]);
    }
}

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_picollo"));
    command.args(arguments);
    command
}

pub fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

pub fn picollo(directory: &Path, arguments: &[&str]) -> Output {
    command(arguments).env("PICOLLO_DIR", directory).output().unwrap()
}

/// Status, output and errors.
pub fn outcome(output: &Output) -> (i32, String, String) {
    let (shown, errors) = text(output);
    (output.status.code().unwrap(), shown, errors)
}

pub fn send(child: &Child, signal: i32) {
    // SAFETY: a child of this process that was not waited for.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
}

/// The intervals of a log: tags and counts.
pub fn read_log(path: impl AsRef<Path>) -> Vec<(String, Box<Snapshot>)> {
    let bytes = std::fs::read(path.as_ref()).unwrap();
    let (mut found, mut reader, mut scratch) = (Vec::new(), Reader::new(&bytes), Vec::new());
    while let Some(interval) = reader.next() {
        let interval = interval.unwrap();
        // Other readers skip intervals that began before the log.
        assert!(reader.start_seconds().unwrap() <= interval.start_seconds, "{}", path.as_ref().display());
        let snapshot = interval.decoder(&mut scratch, 1 << 20).unwrap().boxed().unwrap();
        found.push((interval.tag.unwrap().to_owned(), snapshot));
    }
    found
}

pub fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{:?}", text(output)))
}

pub fn text(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr))
}
