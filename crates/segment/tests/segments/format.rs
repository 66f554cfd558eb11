//! A second writer, which knows only `docs/segment-format.md`, and what it may do without harm.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use picollo_core::Mode;
use picollo_native::*;
use picollo_segment::*;

use crate::common::{named, skipped};
use crate::setting::*;

pub const TESTS: &[(&str, fn())] = named![
    a_writer_by_the_specification_is_read_and_attached_to,
    a_program_without_a_lock_lives_while_its_process_does,
    handles_of_counters_depend_on_nothing_in_the_file,
    unknown_flags_are_refused_or_ignored_by_their_half,
    no_byte_of_the_stack_reaches_the_file,
];

/// The other writer, while it lives.
struct Writer {
    process: Child,
    path: PathBuf,
}

impl Writer {
    fn start(arguments: &[&str], lock: &str) -> Option<Writer> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/segments/writer.py");
        let started = Command::new("python3")
            .arg(script)
            .arg(directory())
            .args(arguments)
            .env("LOCK", lock)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let Ok(mut process) = started else {
            skipped("a writer by the specification: there is no python3");
            return None;
        };
        let mut path = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut path).unwrap();
        Some(Writer { process, path: path.trim_end().into() })
    }

    fn end(&mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }

    fn is_live(&self) -> bool {
        Viewer::open(&self.path).unwrap().info().unwrap().is_live
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn a_writer_by_the_specification_is_read_and_attached_to() {
    let Some(mut writer) = Writer::start(&["other"], "1") else { return };
    let mut viewer = Viewer::open(&writer.path).unwrap();
    let info = viewer.info().unwrap();
    assert_eq!((info.name.as_str(), info.pid, info.is_live), ("other", writer.process.id(), true));
    assert_eq!((viewer.faults(), info.entries, info.refused), (&[][..], 4, 0));
    let labels = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    let latency = viewer.entry(0).unwrap();
    assert_eq!((latency.name.as_str(), latency.unit.as_str()), ("latency", "ns"));
    assert_eq!(latency.labels, labels(&[("code", "200"), ("route", "/pay")]));
    assert_eq!(latency.help, "Time to answer");
    assert_eq!(viewer.entry(1).unwrap().writer, Some(writer.process.id()));
    let snapshot = viewer.snapshot(0).unwrap();
    let counts: Vec<(u64, u64)> =
        snapshot.recorded_buckets().map(|bucket| (bucket.lower, bucket.count)).collect();
    let slow = snapshot.layout().bucket_of(3_290_000).unwrap().lower;
    assert_eq!(counts, [(45, 66), (slow, 1234)]);
    assert_eq!(viewer.snapshot(1).unwrap().counts().total, 8);
    assert_eq!((viewer.counter(2), viewer.counter(3)), (Ok(2468), Ok(16 * 10 + 120)));

    // Whoever attaches gets the same histogram and counters by their names, and can release them.
    let attached = Segment::attach(&writer.path).unwrap();
    let labels = [("route", "/pay"), ("code", "200")];
    let latency = picollo_core::counters::Metric { name: "latency", labels: &labels, ..Default::default() };
    let options = in_mode(Mode::Interlocked);
    attached.histogram(&latency, &options).unwrap().record(45);
    for _ in 0..3 {
        let counter = attached.counter(&metric("requests")).unwrap();
        drop(counter.clone());
        counter.add(10);
        let striped = attached.striped_counter(&metric("bytes")).unwrap();
        drop(striped.clone());
        striped.add(100);
    }
    assert_eq!(
        attached.single_writer(&metric("own"), &options).unwrap_err().status(),
        Status::Incompatible,
        "another thread's"
    );
    // An unfinished entry is freed, and made anew.
    attached.counter(&metric("unfinished")).unwrap().add(1);
    viewer.refresh().unwrap();
    assert_eq!((viewer.counter(2), viewer.counter(3), viewer.counter(4)), (Ok(2498), Ok(580), Ok(1)));
    assert_eq!(viewer.snapshot(0).unwrap().counts().total, 1301);
    writer.end();
    assert!(writer.is_live(), "this process has attached to it");
}

fn a_program_without_a_lock_lives_while_its_process_does() {
    let Some(mut writer) = Writer::start(&["unlocked"], "0") else { return };
    assert!(writer.is_live());
    assert_eq!(prune_segments(core::time::Duration::ZERO).unwrap(), Vec::<PathBuf>::new());
    // A process that has ended is not live, even if nobody has waited for it yet.
    drop(writer.process.stdin.take());
    writer.process.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    let ended = (0..30_000).any(|_| {
        std::thread::sleep(core::time::Duration::from_millis(1));
        !writer.is_live()
    });
    assert!(ended);
    assert_eq!(prune_segments(core::time::Duration::ZERO).unwrap(), [writer.path.clone()]);
    // Nothing from another start of the machine is live, whatever process has its number now.
    let writer = Writer::start(&["elsewhere", "00000000-0000-0000-0000-000000000000"], "0").unwrap();
    assert!(!writer.is_live());
}

/// Another writer leaves zeros behind the words of a counter. Anything else is damage.
fn handles_of_counters_depend_on_nothing_in_the_file() {
    let segment = small("counters");
    segment.counter(&metric("one")).unwrap().add(1);
    segment.striped_counter(&metric("many")).unwrap().add(1);
    let file = std::fs::File::options().write(true).open(segment.path()).unwrap();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let first = 4096 + 4096 * 1024;
    for round in 0..200 {
        for (object, behind) in [(first, 64), (first + 4096, 1024)] {
            for word in 0..8 {
                let bits = if round == 0 { 0 } else { random.next() >> (random.next() % 64) };
                file.write_all_at(&bits.to_ne_bytes(), object + behind + 8 * word).unwrap();
            }
        }
        for _ in 0..3 {
            let (one, many) =
                (segment.counter(&metric("one")).unwrap(), segment.striped_counter(&metric("many")).unwrap());
            let (second, third) = (one.clone(), many.clone());
            drop((one, many));
            second.add(1);
            third.add(1);
        }
    }
    let viewer = view(segment);
    assert_eq!((viewer.counter(0), viewer.counter(1)), (Ok(601), Ok(601)));
}

fn unknown_flags_are_refused_or_ignored_by_their_half() {
    // In children, because a process maps a file once.
    let segment = small("flags");
    let path = directory().join("copy");
    let attach = |flags: u32| {
        std::fs::copy(segment.path(), &path).unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.write_all_at(&flags.to_ne_bytes(), 76).unwrap();
        let attached = Segment::attach(&path);
        std::fs::remove_file(&path).unwrap();
        attached.map(|_| ())
    };
    for bit in 2..32 {
        let expected = if bit < 16 { Ok(()) } else { Err(Status::Incompatible) };
        assert_eq!(attach(1 << bit).map_err(|error| error.status()), expected, "{bit}");
    }
    let error = attach(1 << 16).unwrap_err();
    assert!(
        error.message().ends_with("that this version does not know; use the version that made it"),
        "{error}"
    );
}

/// Leaves nonzero bytes on the stack.
#[inline(never)]
fn dirty_the_stack() {
    let mut bytes = [0xa5u8; 256 << 10];
    std::hint::black_box(&mut bytes);
}

fn no_byte_of_the_stack_reaches_the_file() {
    let segment =
        Segment::create(&SegmentOptions { live_reset: true, interlocked: true, ..called("clean") }).unwrap();
    let make: [&dyn Fn(); 4] = [
        &|| drop(open(segment, "a")),
        &|| {
            let options = in_mode(Mode::PerCpu);
            drop(segment.histogram(&metric("b"), &options).unwrap());
        },
        &|| drop(segment.counter(&metric("c")).unwrap()),
        &|| drop(segment.striped_counter(&metric("d")).unwrap()),
    ];
    for make in make {
        dirty_the_stack();
        make();
    }
    let bytes = std::fs::read(segment.path()).unwrap();
    let number = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let objects: Vec<&[u8]> = (0..4)
        .map(|index| 4096 + 1024 * index)
        .map(|entry| &bytes[number(entry + 16)..number(entry + 16) + number(entry + 24)])
        .collect();
    // The nonzero fields of a histogram's header: layout and kind, format and version, and id.
    let is_field = |at: usize| matches!(at, 0..44 | 56..64 | 200..216);
    let stale = |header: &[u8]| -> Vec<usize> {
        (0..header.len()).filter(|&at| header[at] != 0 && !is_field(at)).collect()
    };
    assert_eq!(stale(&objects[0][..256]), [0; 0]);
    let shared = &objects[1][4096 - 320..4096];
    // Two numbers of words follow the header of a per-CPU histogram.
    assert_eq!((stale(&shared[..256]), stale(&shared[256 + 16..])), (vec![], vec![]));
    assert!(objects[2..].iter().all(|counter| counter.iter().all(|&byte| byte == 0)));
}
