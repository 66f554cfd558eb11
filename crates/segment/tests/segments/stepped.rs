//! A process is killed at every instruction of its work on a segment. Whatever it leaves, counts are right except for
//! the one record in progress, nobody waits, and the directory is whole.
//!
//! The child is traced: it runs to one of its system calls, and from there instruction by instruction, until it is
//! killed. Before that, one child is traced to its end, to count the instructions.

use picollo_core::{Mode, Options};
use picollo_segment::*;

use crate::common::named;
#[cfg(target_arch = "x86_64")]
use crate::common::system::wait_for;
use crate::setting::*;

pub const TESTS: &[(&str, fn())] = named![
    killed_at_every_instruction_of_a_record,
    killed_at_every_instruction_of_making_an_entry,
    killed_at_every_instruction_of_finding_an_entry,
    killed_at_every_instruction_of_a_reset,
    killed_at_every_instruction_of_retiring_an_entry,
];

#[cfg(not(target_arch = "x86_64"))]
fn at_every_instruction(_: &str, _: &mut dyn FnMut() -> Case) {
    crate::common::skipped("killing at every instruction: written for x86-64");
}

/// The work of a child, and the checks after it was killed.
type Case = (Box<dyn Fn()>, Box<dyn Fn()>);

#[cfg(target_arch = "x86_64")]
mod tracing {
    use super::*;

    const SYSCALL: i64 = 0x050f;
    /// The place of this register, in the kernel's order.
    const RIP: i64 = 16 * 8;

    /// A child that stops before it begins.
    fn traced(body: &dyn Fn()) -> i32 {
        let child = start(|| {
            end_with_parent();
            // SAFETY: asks to be traced, and stops.
            unsafe {
                libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0);
                libc::raise(libc::SIGSTOP);
            }
            body();
            // SAFETY: ends the child.
            unsafe { libc::_exit(0) };
        });
        assert!(is_stopped(child));
        child
    }

    /// Waits for the child. Returns whether it has stopped rather than ended.
    fn is_stopped(child: i32) -> bool {
        let status = wait_for(child);
        assert!(
            libc::WIFSTOPPED(status) || libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
            "{status:#x}"
        );
        libc::WIFSTOPPED(status)
    }

    /// Continues until the child stops again. Returns whether it did.
    fn go_on(child: i32, how: libc::c_uint) -> bool {
        // SAFETY: a stopped child of ours.
        assert_eq!(unsafe { libc::ptrace(how, child, 0, 0) }, 0);
        is_stopped(child)
    }

    /// The number of instructions from each system call to the next.
    fn instructions_between_calls(body: &dyn Fn()) -> Vec<u64> {
        let child = traced(body);
        let mut lengths = vec![0];
        loop {
            // SAFETY: a stopped child of ours; reads its registers and its code.
            let code = unsafe {
                let at = libc::ptrace(libc::PTRACE_PEEKUSER, child, RIP, 0);
                libc::ptrace(libc::PTRACE_PEEKTEXT, child, at, 0) & 0xffff
            };
            match code {
                SYSCALL => lengths.push(0),
                _ => *lengths.last_mut().unwrap() += 1,
            }
            if !go_on(child, libc::PTRACE_SINGLESTEP) {
                return lengths;
            }
        }
    }

    /// Kills a child after this many system calls and this many more instructions. Returns whether it got there.
    fn kill_at(body: &dyn Fn(), calls: usize, instructions: u64) -> bool {
        let child = traced(body);
        let is_there = (0..2 * calls).all(|_| go_on(child, libc::PTRACE_SYSCALL))
            && (0..instructions).all(|_| go_on(child, libc::PTRACE_SINGLESTEP));
        if is_there {
            kill(child);
        }
        is_there
    }

    /// `PICOLLO_EVERY_INSTRUCTION=1` is the long form; PICOLLO_KILLS tries a few hundred places, and the default a few
    /// dozen.
    pub fn at_every_instruction(what: &str, case: &mut dyn FnMut() -> Case) {
        let lengths = instructions_between_calls(&*case().0);
        let total: u64 = lengths.iter().sum();
        let is_long = std::env::var_os("PICOLLO_EVERY_INSTRUCTION").is_some();
        let places = if std::env::var_os("PICOLLO_KILLS").is_some() { 300 } else { 60 };
        let stride = if is_long { 1 } else { total.div_ceil(places) };
        let mut kills = 0;
        // The start varies, so that the places do, too.
        let mut next = u64::from(std::process::id()) % stride;
        let mut before = 0;
        for (calls, length) in lengths.iter().enumerate() {
            while next <= before + length {
                let (body, check) = case();
                if kill_at(&*body, calls, next - before) {
                    kills += 1;
                    check();
                }
                next += stride;
            }
            before += length;
        }
        assert!(kills > 20 && kills * stride >= total / 2, "{kills} kills of {total} instructions");
        println!("{what}: {total} instructions, {} system calls, {kills} kills", lengths.len() - 1);
    }
}
#[cfg(target_arch = "x86_64")]
use tracing::at_every_instruction;

/// A segment for several cases, because each killed child takes its share of the directory.
#[derive(Default)]
struct Segments {
    cases: usize,
    made: usize,
    segment: Option<Segment>,
}

impl Segments {
    /// Returns a segment, and a name that is new in it.
    fn next(&mut self) -> (Segment, &'static str) {
        if self.cases.is_multiple_of(64) {
            if let Some(before) = self.segment {
                std::fs::remove_file(before.path()).unwrap();
            }
            self.made += 1;
            let name = format!("stepped{}", self.made);
            let options = SegmentOptions { max_bytes: 16 << 20, ..called(&name) };
            let segment = Segment::create(&options).unwrap();
            segment.counter(&metric("afterwards")).unwrap();
            self.segment = Some(segment);
        }
        self.cases += 1;
        (self.segment.unwrap(), format!("x{}", self.cases).leak())
    }
}

fn coarse(mode: Mode) -> Options {
    Options { mode, relative_error: 0.1, max_trackable: 1000, ..Options::default() }
}

/// Checks that nobody waits for the dead, that no entry is half there, and that no name occurs twice, as in any
/// segment. Returns the counts of the histogram with this name, if it exists.
fn whole(segment: Segment, name: &str) -> Option<u64> {
    let afterwards = segment.counter(&metric("afterwards")).unwrap();
    afterwards.add(1);
    let mut viewer = view(segment);
    assert_eq!(viewer.faults(), [""; 0]);
    let mut names: Vec<String> = viewer.entries().map(|entry| entry.name.clone()).collect();
    let found = names.iter().position(|one| one == name);
    assert_eq!(names.iter().position(|one| one == "afterwards"), Some(0));
    let number = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), number, "a name is there twice");
    assert_eq!(viewer.counter(0).unwrap(), afterwards.value());
    found.map(|index| {
        let counts = viewer.snapshot(index).unwrap().counts();
        assert_eq!((counts.underflow, counts.overflow, counts.lost), (0, 0, 0));
        counts.total
    })
}

fn killed_at_every_instruction_of_a_record() {
    for (mode, what) in [(Mode::Interlocked, "a record"), (Mode::PerCpu, "a record per CPU")] {
        let interlocked = SegmentOptions { interlocked: true, ..called("records") };
        let segment = Segment::create(&interlocked).unwrap();
        segment.counter(&metric("afterwards")).unwrap();
        let histogram = segment.histogram(&metric("x"), &coarse(mode)).unwrap();
        let ledger = segment.counter(&metric("noted")).unwrap();
        at_every_instruction(what, &mut || {
            // These are the first records of the process, so that it touches the pages first.
            let (histogram, ledger) = (histogram.clone(), ledger.clone());
            let before = whole(segment, "x").unwrap();
            let noted = ledger.value();
            let body = {
                let ledger = ledger.clone();
                move || {
                    for _ in 0..2 {
                        histogram.record(7);
                        ledger.add(1);
                    }
                }
            };
            let check = move || {
                let (recorded, noted) = (whole(segment, "x").unwrap() - before, ledger.value() - noted);
                assert!(recorded == noted || recorded == noted + 1, "{recorded} recorded, {noted} noted");
            };
            (Box::new(body), Box::new(check))
        });
        std::fs::remove_file(segment.path()).unwrap();
    }
}

/// Afterwards the entry exists or not, and whoever asks for it gets it.
fn killed_while(what: &str, mode: Mode, is_there: bool) {
    let mut segments = Segments::default();
    at_every_instruction(what, &mut || {
        let (segment, name) = segments.next();
        let known = metric(name);
        if is_there {
            segment.histogram(&known, &coarse(mode)).unwrap().record(5);
        }
        let body = move || segment.histogram(&known, &coarse(mode)).unwrap().record(5);
        let check = move || {
            let first = u64::from(is_there);
            let found = whole(segment, name);
            assert!(found.is_some() || !is_there);
            let found = found.unwrap_or(0);
            assert!(found == first || found == first + 1, "{found}");
            segment.histogram(&known, &coarse(mode)).unwrap().record(5);
            assert_eq!(whole(segment, name), Some(found + 1));
        };
        (Box::new(body), Box::new(check))
    });
}

fn killed_at_every_instruction_of_making_an_entry() {
    killed_while("making an entry", Mode::Interlocked, false);
}

fn killed_at_every_instruction_of_finding_an_entry() {
    killed_while("finding an entry", Mode::PerCpu, true);
}

/// The reset has happened or not, and the next one does not wait.
fn killed_at_every_instruction_of_a_reset() {
    let options = SegmentOptions { live_reset: true, ..called("resets") };
    let segment = Segment::create(&options).unwrap();
    segment.counter(&metric("afterwards")).unwrap();
    // There are few cells, since each takes the same path.
    let few = Options { relative_error: 0.1, min_trackable: 1, max_trackable: 20, ..Options::default() };
    let histogram = segment.histogram(&metric("x"), &few).unwrap();
    at_every_instruction("a reset", &mut || {
        histogram.record_n(7, 5);
        let before = whole(segment, "x").unwrap();
        let (resets, checked) = (histogram.clone(), histogram.clone());
        let check = move || {
            let after = whole(segment, "x").unwrap();
            assert!(after == before || after == 0, "{before} {after}");
            checked.record(3);
            assert_eq!(whole(segment, "x"), Some(after + 1));
            if after > 50 {
                checked.reset().unwrap();
                assert_eq!(whole(segment, "x"), Some(0));
            }
        };
        (Box::new(move || resets.reset().unwrap()), Box::new(check))
    });
}

fn killed_at_every_instruction_of_retiring_an_entry() {
    let mut segments = Segments::default();
    at_every_instruction("retiring an entry", &mut || {
        let (segment, name) = segments.next();
        let known = metric(name);
        segment.histogram(&known, &coarse(Mode::Interlocked)).unwrap().record(5);
        let body = move || segment.retire(&known).unwrap();
        let check = move || {
            let found = whole(segment, name);
            assert!(matches!(found, None | Some(1)), "{found:?}");
            segment.histogram(&known, &coarse(Mode::Interlocked)).unwrap().record(5);
            assert_eq!(whole(segment, name), Some(found.unwrap_or(0) + 1));
        };
        (Box::new(body), Box::new(check))
    });
}
