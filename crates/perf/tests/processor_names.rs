//! Events by their makers' names, through the installed libpfm4, which is made to take this machine for others. It
//! reads the environment once, so each case is a separate process: this program, with what to parse as arguments.
#![allow(missing_docs)]

mod common;

use std::process::{Command, Output};

use common::system::child_exit_code;
use common::{named, run, skipped};
use picollo_perf::{Event, processor_events};

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    match arguments.next_if(|first| first.starts_with("--child-")).as_deref() {
        Some("--child-parses") => return child_parses(arguments.collect()),
        Some("--child-lists") => return child_lists(),
        Some("--child-races") => return child_races(),
        _ => {}
    }
    let is_there = !parsed(&[("LIBPFM_FORCE_PMU", "skx")], &["NO_SUCH"])[0].contains("is not installed");
    if !is_there {
        skipped(
            "libpfm4 is not installed: processors' own names are tested with stand-ins only (ci/setup.sh tests installs it)",
        );
        run(named![a_broken_library], || ());
    }
    let tests = named![
        codes_are_the_makers,
        attributes_and_modifiers,
        names_mean_their_events_again,
        other_processors_are_refused,
        threads_and_forks,
        a_broken_library,
    ];
    run(tests, || ());
}

/// Prints a line for each: the request to the kernel and the display name, or the status and the message.
fn child_parses(specs: Vec<String>) {
    for spec in specs {
        println!("{}", line(&spec));
    }
}

fn line(spec: &str) -> String {
    match Event::parse(spec) {
        Ok(event) => format!(
            "{} {:#x} {:#x} {:#x} {}",
            event.r#type,
            event.config,
            event.config1,
            event.modifiers,
            event.name()
        ),
        Err(error) => format!("{:?}: {}", error.status(), error.message()),
    }
}

/// Prints every name that is listed, and the event that it means.
fn child_lists() {
    let mut names = Vec::new();
    let result = processor_events(&mut |event| {
        assert!(!event.about.contains(|letter: char| letter.is_control()), "{}", event.about);
        names.push(format!("{}::{}", event.pmu, event.name));
    });
    assert!(result.is_ok(), "{result:?}");
    for name in names {
        println!("{name} {}", line(&name));
    }
}

/// Threads that are all first, and a fork in the middle: every answer is right, or explains why there is no event.
fn child_races() {
    let expected = "4 0x8d1 0x0 0x0 skx::MEM_LOAD_RETIRED.L1_MISS";
    let parse = move || assert_eq!(line("MEM_LOAD_RETIRED.L1_MISS"), expected);
    let threads: Vec<_> =
        (0..6).map(|_| std::thread::spawn(move || (0..200).for_each(|_| parse()))).collect();
    for _ in 0..20 {
        // A child of a program with threads may call this: the library's lock is under test, and the C library's own
        // fork makes its memory usable.
        let code = child_exit_code(|| {
            let answer = Event::parse("MEM_LOAD_RETIRED.L1_MISS");
            i32::from(match &answer {
                Ok(event) => event.config != 0x8d1,
                Err(error) => !error.message().contains("forked while another thread"),
            })
        });
        assert_eq!(code, 0, "the child's answer was wrong");
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    println!("raced");
}

fn child(mode: &str, environment: &[(&str, &str)], arguments: &[&str]) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env_remove("LIBPFM_FORCE_PMU").env_remove("LIBPFM_ENCODE_INACTIVE");
    command.arg(mode).args(arguments).envs(environment.iter().copied()).output().unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The parsed line of each.
fn parsed(environment: &[(&str, &str)], specs: &[&str]) -> Vec<String> {
    let lines: Vec<String> =
        text(&child("--child-parses", environment, specs)).lines().map(str::to_owned).collect();
    assert_eq!(lines.len(), specs.len());
    lines
}

/// Codes that Intel and AMD publish, not codes from libpfm4: event, mask at 8, edge at 18, counter mask at 24; frontend
/// in config1.
fn codes_are_the_makers() {
    for (pmu, codes) in [
        (
            "skx",
            "MEM_LOAD_RETIRED.L1_MISS 0x8d1|MEM_LOAD_RETIRED.L3_MISS 0x20d1|BR_MISP_RETIRED.ALL_BRANCHES 0xc5|INST_RETIRED.ANY_P 0xc0|\
             CPU_CLK_UNHALTED.THREAD_P 0x3c|L2_RQSTS.MISS 0x3f24|DTLB_LOAD_MISSES.WALK_COMPLETED 0xe08|UOPS_ISSUED.ANY 0x10e|\
             DTLB_LOAD_MISSES:WALK_COMPLETED 0xe08|CYCLE_ACTIVITY.STALLS_L3_MISS 0x60006a3|LD_BLOCKS.STORE_FORWARD 0x203|\
             MACHINE_CLEARS.COUNT 0x10401c3|FRONTEND_RETIRED.DSB_MISS 0x1c6 0x11|mem_load_retired.l2_miss 0x10d1",
        ),
        ("icx", "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM 0x1d3|TOPDOWN.SLOTS 0x400"),
        ("spr", "MEM_LOAD_RETIRED.L1_MISS 0x8d1|TOPDOWN.SLOTS_P 0x1a4"),
        ("hsw", "CYCLE_ACTIVITY.CYCLES_L1D_PENDING 0x80008a3"),
        (
            "amd64_fam19h_zen4",
            "RETIRED_INSTRUCTIONS 0xc0|RETIRED_BRANCH_INSTRUCTIONS_MISPREDICTED 0xc3|\
             RETIRED_BRANCH_MISPREDICTED_DIRECTION_MISMATCH 0x1000000c7",
        ),
    ] {
        let codes: Vec<(&str, &str)> = codes.split('|').map(|code| code.split_once(' ').unwrap()).collect();
        let specs: Vec<&str> = codes.iter().map(|(name, _)| *name).collect();
        let found = parsed(&[("LIBPFM_FORCE_PMU", pmu)], &specs);
        for ((name, code), line) in codes.iter().zip(found) {
            let beside = if code.contains(' ') { "" } else { " 0x0" };
            assert_eq!(line, format!("4 {code}{beside} 0x0 {pmu}::{name}"));
        }
    }
}

fn attributes_and_modifiers() {
    let cases = [
        // user 1, kernel 2, hypervisor 4, precise 8 and 16, host 0x20, guest 0x40, idle 0x80
        ("INST_RETIRED.ANY_P:u", "0xc0 0x0 0x1"),
        ("INST_RETIRED.ANY_P:k", "0xc0 0x0 0x2"),
        ("INST_RETIRED.ANY_P:u:k", "0xc0 0x0 0x3"),
        ("INST_RETIRED.ANY_P:uk", "0xc0 0x0 0x3"),
        ("INST_RETIRED.ANY_P:u=0:k=1", "0xc0 0x0 0x2"),
        ("INST_RETIRED.ANY_P:c=2", "0x20000c0 0x0 0x0"),
        ("INST_RETIRED.ANY_P:u:c=2:i", "0x28000c0 0x0 0x1"),
        ("INST_RETIRED.ANY_P:c=0x10:upp", "0x100000c0 0x0 0x11"),
        ("INST_RETIRED.ANY_P:e:c=1", "0x10400c0 0x0 0x0"),
        ("INST_RETIRED.ANY_P:precise=2", "0xc0 0x0 0x10"),
        ("INST_RETIRED.ANY_P:mg", "0xc0 0x0 0x40"),
        ("INST_RETIRED.ANY_P:mh:mg", "0xc0 0x0 0x60"),
        ("INST_RETIRED.ANY_P:H", "0xc0 0x0 0x20"),
        ("INST_RETIRED.ANY_P:I", "0xc0 0x0 0x80"),
        ("MEM_TRANS_RETIRED.LOAD_LATENCY:ldlat=64", "0x1cd 0x40 0x0"),
        ("OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_HIT", "0x1b7 0x3f803c0001 0x0"),
    ];
    let forced = [("LIBPFM_FORCE_PMU", "skx")];
    let specs: Vec<&str> = cases.iter().map(|(spec, _)| *spec).collect();
    for ((spec, expected), line) in cases.iter().zip(parsed(&forced, &specs)) {
        assert_eq!(line, format!("4 {expected} skx::{spec}"));
    }
    // A mask with the name of a modifier stays a mask.
    let masks = parsed(&[("LIBPFM_FORCE_PMU", "snb")], &["L2_LINES_IN:I", "L2_LINES_IN:E:u"]);
    assert_eq!(masks, ["4 0x1f1 0x0 0x0 snb::L2_LINES_IN:I", "4 0x4f1 0x0 0x1 snb::L2_LINES_IN:E:u"]);
    let wrong = [
        ("INST_RETIRED.ANY_P:period=1000", "InvalidArgument", "sessions decide"),
        ("INST_RETIRED.ANY_P:pinned", "InvalidArgument", "sessions decide"),
        ("INST_RETIRED.ANY_P:excl", "InvalidArgument", "sessions decide"),
        ("INST_RETIRED.ANY_P:cpu=1", "InvalidArgument", "sessions decide"),
        ("INST_RETIRED.ANY_P:c=1000", "InvalidArgument", "knows the event, but not in this form"),
        ("INST_RETIRED.ANY_P:zz", "InvalidArgument", "knows the event, but not in this form"),
        ("MEM_LOAD_RETIRED", "InvalidArgument", "Did you mean MEM_LOAD_RETIRED."),
        ("MEM_LOAD_RETIRED.L1_MIS", "InvalidArgument", "Did you mean MEM_LOAD_RETIRED.L1_MISS"),
        ("MEM_LAOD_RETIRED.L1_MISS", "NoSuchEvent", "Did you mean MEM_LOAD_RETIRED.L1_MISS"),
        (
            "UOPS_RETIRED.STALL_CYCLES",
            "NoSuchEvent",
            "two codes: libpfm4 says r18001c2, and Intel's own list r18002c2",
        ),
        ("perf::PERF_COUNT_HW_CPU_CYCLES", "NoSuchEvent", "unknown event"),
        ("icl::INST_RETIRED.ANY_P", "NoSuchEvent", "unknown event"),
        ("INST_RETIRED.ANY_P,INST_RETIRED.ANY_P", "NoSuchEvent", "unknown event"),
        ("::", "NoSuchEvent", "unknown event"),
        ("skx::", "NoSuchEvent", "unknown event"),
        ("skx::skx::INST_RETIRED.ANY_P", "NoSuchEvent", "unknown event"),
        ("%s%n%x", "NoSuchEvent", "unknown event"),
        ("INST_RETIRED.ANY_P:=", "InvalidArgument", "knows the event, but not in this form"),
        ("ΜΕΜ.LOAD", "NoSuchEvent", "unknown event"),
    ];
    let specs: Vec<&str> = wrong.iter().map(|(spec, _, _)| *spec).collect();
    for ((spec, status, part), line) in wrong.iter().zip(parsed(&forced, &specs)) {
        assert!(line.starts_with(&format!("{status}: ")) && line.contains(part), "{spec}: {line}");
    }
    let beside = parsed(
        &[("LIBPFM_FORCE_PMU", "spr")],
        &["UOPS_RETIRED.MS", "TOPDOWN.BAD_SPEC_SLOTS", "TOPDOWN.SLOTS"],
    );
    assert!(
        beside[0].contains("says r8c2, and Intel's own list cpu/config=0x4c2,config1=0x8/."),
        "{beside:?}"
    );
    assert!(beside[1].contains("says r400, and Intel's own list r4a4."), "{beside:?}");
    assert_eq!(beside[2], "4 0x400 0x0 0x0 spr::TOPDOWN.SLOTS");
    // If cut to the room of a display name, it would be another event.
    let long = format!("INST_RETIRED.ANY_P:c=0x{}2", "0".repeat(100));
    let line = parsed(&forced, &[&long]).remove(0);
    assert!(line.starts_with("InvalidArgument: ") && line.contains("too long"), "{line}");
}

/// Every listed name means an event, or the error explains why not. The event's name means it again.
fn names_mean_their_events_again() {
    for pmu in ["skx", "spr", "amd64_fam17h_zen2", "ix86arch"] {
        let listed = text(&child("--child-lists", &[("LIBPFM_FORCE_PMU", pmu)], &[]));
        let mut events = 0;
        for line in listed.lines() {
            let (name, rest) = line.split_once(' ').unwrap();
            match rest.split_whitespace().collect::<Vec<_>>()[..] {
                ["4", _, _, "0x0", display] => {
                    assert_eq!(display, name);
                    events += 1;
                }
                _ => assert!(
                    rest.contains("has two codes") || rest.contains("unit mask") || rest.contains("features"),
                    "{line}"
                ),
            }
        }
        let all = listed.lines().count();
        assert!(events > 3 && events * 10 >= all * 9, "{pmu}: {events} of {all}");
    }
}

/// Encoded for another processor than this machine's, because the environment makes libpfm4 encode for all.
fn other_processors_are_refused() {
    let inactive = [("LIBPFM_ENCODE_INACTIVE", "1")];
    // No machine can be both of these, so at least one is refused, with an explanation.
    let lines = parsed(&inactive, &["skx::MEM_LOAD_RETIRED.L1_MISS", "hsw_ep::INST_RETIRED.ANY_P"]);
    let refused: Vec<&String> = lines.iter().filter(|line| line.starts_with("NoSuchEvent: ")).collect();
    assert!(!refused.is_empty(), "{lines:?}");
    for line in refused {
        assert!(line.contains("libpfm4 reports that this processor is not a "), "{line}");
        assert!(line.contains("LIBPFM_FORCE_PMU="), "{line}");
    }
    // Only the named PMU is forced, and no other.
    let both = [("LIBPFM_ENCODE_INACTIVE", "1"), ("LIBPFM_FORCE_PMU", "knl")];
    let lines = parsed(&both, &["knl::INST_RETIRED.ANY_P", "knc::INSTRUCTIONS_EXECUTED"]);
    assert!(lines[0].starts_with("4 ") && lines[1].starts_with("NoSuchEvent: "), "{lines:?}");
}

fn threads_and_forks() {
    for _ in 0..10 {
        assert_eq!(text(&child("--child-races", &[("LIBPFM_FORCE_PMU", "skx")], &[])), "raced\n");
    }
}

/// A file of that name that is no library, or another library. (Without any file, loading fails where the first does.)
fn a_broken_library() {
    let folder = std::env::temp_dir().join(format!("picollo-names-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, source) = (folder.join("libpfm.so.4"), folder.join("other.c"));
    let check = |part: &str| {
        let lines =
            parsed(&[("LD_LIBRARY_PATH", folder.to_str().unwrap())], &["NO_SUCH_NAME", "cylces", "cycles"]);
        assert!(lines[0].contains(part), "{lines:?}");
        // Everything that does not need the library continues to work.
        assert!(lines[1].contains("Did you mean cycles?") && lines[1].contains(part), "{lines:?}");
        assert!(lines[2].ends_with(" Hardware:CpuCycles"), "{lines:?}");
    };
    std::fs::write(&file, "no library").unwrap();
    check("libpfm4 cannot be used: it is not installed here, or cannot be loaded: ");
    for (code, part) in [
        ("int pfm_initialize(void) { return 0; }", "libpfm.so.4 has no pfm_get_os_event_encoding"),
        (
            "int pfm_initialize(void) { return -3; } const char *pfm_strerror(int n) { return n == -3 ? \"\\033[1mno\\nbody\" : 0; }\n\
             int pfm_get_os_event_encoding, pfm_get_event_next, pfm_get_event_info, pfm_get_event_attr_info, pfm_get_pmu_info;",
            "it does not start:  [1mno body",
        ),
    ] {
        std::fs::write(&source, code).unwrap();
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-Wl,-soname,libpfm.so.4", "-o"])
            .args([&file, &source])
            .status();
        match compiled {
            Ok(status) if status.success() => check(part),
            _ => skipped("no compiler for a library that is not the one it says"),
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
