//! Reading performance counters: software events, which every machine has.

use picollo_benches::{Report, Section, contender, medians, opaque, rounds};
use picollo_native::{Event, ReadMode, Reading, Session, SessionOptions};

use perf_event::events::Software;
use perf_event::{Builder, Counter, ReadFormat};

const READS: usize = 1000;

pub fn run(report: &mut Report) {
    for names in [&["task-clock"][..], &["task-clock", "page-faults", "context-switches", "cpu-migrations"]] {
        match compare(names) {
            Ok(section) => report.add(section),
            Err(why) => println!("SKIPPED: reading {} software events: {why}", names.len()),
        }
    }
}

fn compare(names: &[&str]) -> Result<Section, String> {
    let text = |error: &dyn std::fmt::Debug| format!("{error:?}");
    let events: Result<Vec<Event>, _> = names.iter().map(|name| Event::parse(name)).collect();
    let mut session = Session::create(&SessionOptions::default(), &events.map_err(|error| text(&error))?)
        .map_err(|error| text(&error))?;
    let mut readings: Vec<Reading> = vec![Reading::default(); names.len()];

    let kinds =
        [Software::TASK_CLOCK, Software::PAGE_FAULTS, Software::CONTEXT_SWITCHES, Software::CPU_MIGRATIONS];
    let format = ReadFormat::GROUP | ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING;
    let open = |kind, leader: Option<&mut Counter>| {
        let mut builder = Builder::new(kind);
        builder.read_format(format);
        match leader {
            Some(leader) => builder.build_with_group(leader),
            None => builder.build(),
        }
    };
    let mut leader = open(kinds[0], None).map_err(|error| text(&error))?;
    let mut members = Vec::new();
    for &kind in &kinds[1..names.len()] {
        members.push(open(kind, Some(&mut leader)).map_err(|error| text(&error))?);
    }
    leader.enable_group().map_err(|error| text(&error))?;
    let file = {
        use std::os::fd::AsRawFd;
        leader.as_raw_fd()
    };
    // The number of events and two times; then a count and an identity for each, which perf-event2 asks for.
    let mut words = [0u64; 3 + 2 * 4];
    let leader = std::cell::RefCell::new(leader);

    let mut contenders = [
        contender("read(2)", || {
            for _ in 0..READS {
                // SAFETY: room for as many bytes as are asked for.
                let length = unsafe { libc::read(file, words.as_mut_ptr().cast(), size_of_val(&words)) };
                assert!(length > 0, "read(2) of a group failed");
                opaque(&words);
            }
        }),
        contender("picollo, read and deltas", || {
            for _ in 0..READS {
                session.read(ReadMode::Auto).unwrap();
                session.readings(true, &mut readings).unwrap();
                opaque(&readings);
            }
        }),
        contender("perf-event2, read_group", || {
            for _ in 0..READS {
                opaque(leader.borrow_mut().read_group().unwrap());
            }
        }),
    ];
    let medians = medians(&mut contenders, READS, rounds(101));
    let plural = if names.len() == 1 { "" } else { "s" };
    let mut section = Section::new(format!("Reading {} software event{plural}", names.len()), "ns/read");
    section.extend(&contenders, &medians);
    drop(members);
    Ok(section)
}
