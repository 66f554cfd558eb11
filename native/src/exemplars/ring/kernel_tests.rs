//! The real kernel. The oracle is the thread's own CPU clock: what of the time it does not account for, the thread was off the CPU.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering as Memory};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use super::*;
use crate::os::sys::Errno;
use crate::os::wall::clock_nanos;

const MANY: usize = usize::MAX;

/// A ring, where there are any to be had.
fn ring(faults: bool) -> Option<Ring> {
    let ring = if faults { Ring::with_faults(Kernel, MANY) } else { Ring::open(Kernel, MANY) };
    ring.inspect_err(|refused| eprintln!("SKIPPED: {}", refused.explain(&Kernel))).ok()
}

fn raw() -> u64 {
    Kernel.raw_nanos()
}

/// What the kernel says that this thread has done so far.
fn usage() -> libc::rusage {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills in a structure of the right type, of which zero is a valid one.
    unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    }
}

/// How often this thread has left the CPU.
fn left() -> u32 {
    let usage = usage();
    (usage.ru_nvcsw + usage.ru_nivcsw) as u32
}

/// When a piece of work began and ended, and how long it was off the CPU by the thread's CPU clock.
fn timed(work: impl FnOnce()) -> (u64, u64, u64) {
    let cpu = || clock_nanos(libc::CLOCK_THREAD_CPUTIME_ID);
    let (begin, before) = (raw(), cpu());
    work();
    let (after, end) = (cpu(), raw());
    (begin, end, (end - begin).saturating_sub(after - before))
}

/// Within 5 %, and a millisecond: on a machine with other work, and in one that is a guest itself, clocks of CPU time are not exact.
fn near(found: u64, expected: u64) -> bool {
    found.abs_diff(expected) <= expected / 20 + 1_000_000
}

/// Runs a test again, in a process of its own, where this is not it yet. Whether the caller is to go on. Its name is this one, behind the
/// name of its module.
pub(crate) fn alone(module: &str, test: &str) -> bool {
    const NAME: &str = "PICOLLO_TEST_ALONE";
    let path = format!("{}::{test}", module.split_once("::").unwrap().1);
    if std::env::var(NAME).is_ok_and(|name| name == path) {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&path, "--exact", "--nocapture", "--test-threads=1"]).env(NAME, &path);
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    for line in text.lines().filter(|line| line.contains("SKIPPED")) {
        eprintln!("{line}");
    }
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

/// Descriptors of events that this process has.
fn descriptors() -> usize {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    entries
        .filter(|entry| {
            std::fs::read_link(entry.path())
                .is_ok_and(|target| target.to_string_lossy().contains("perf_event"))
        })
        .count()
}

#[test]
fn sleep_is_seen() {
    let Some(ring) = ring(false) else { return };
    for _ in 0..3 {
        let (begin, end, off) = timed(|| std::thread::sleep(Duration::from_millis(20)));
        let window = ring.window(begin, end);
        assert!(window.complete && window.outs >= 1, "{window:?}");
        assert!(window.off_nanos >= 19_000_000 && near(window.off_nanos, off), "{window:?} {off}");
        // It went by its own call.
        assert!(window.preempted_nanos <= window.off_nanos - 15_000_000, "{window:?}");
        // What is before it, and behind it, is not in it.
        let (begin, end, off) = timed(|| ());
        let window = ring.window(begin, end);
        assert!(window.complete && near(window.off_nanos, off), "{window:?}");
    }
}

/// Another thread wants the same CPU all the time.
#[test]
fn preemption_is_seen() {
    let cpu = {
        // SAFETY: a query.
        let cpu = unsafe { libc::sched_getcpu() };
        usize::try_from(cpu).unwrap_or(0)
    };
    let pin = move || {
        // SAFETY: a zeroed set is an empty one, and the calls stay inside it.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(cpu, &mut set);
            libc::sched_setaffinity(0, size_of_val(&set), &raw const set) == 0
        }
    };
    let stop = Arc::new(AtomicBool::new(false));
    let spinner = std::thread::spawn({
        let stop = stop.clone();
        move || {
            pin();
            while !stop.load(Memory::Relaxed) {
                std::hint::spin_loop();
            }
        }
    });
    let outcome = std::thread::spawn(move || {
        if !pin() {
            return eprintln!("SKIPPED: threads cannot be bound to a CPU here");
        }
        let Some(ring) = ring(false) else { return };
        let (begin, end, off) = timed(|| {
            let from = raw();
            while raw() - from < 60_000_000 {
                std::hint::spin_loop();
            }
        });
        let window = ring.window(begin, end);
        assert!(window.complete && near(window.off_nanos, off), "{window:?} {off}");
        assert!(off > 5_000_000, "the spinner did not run: {off}");
        assert!(window.preempted_nanos * 10 >= window.off_nanos * 9, "{window:?}");
    })
    .join();
    stop.store(true, Memory::Relaxed);
    spinner.join().unwrap();
    outcome.unwrap();
}

#[test]
fn more_than_the_ring_holds_is_not_known() {
    let Some(ring) = ring(false) else { return };
    // Records of 16 bytes, two for each absence, in one page.
    let holds = page_size() as u32 / 32;
    let naps = |count| {
        // A nap of no length is now and then over before it has begun: how often it left the CPU is the kernel's word.
        let before = left();
        while left() - before < count {
            std::thread::sleep(Duration::from_micros(1));
        }
    };
    let (opened, before) = (raw(), left());
    naps(holds / 2);
    // Exactly as often as the kernel says: it may leave in between, but then once more before and once more after.
    let exact = (0..100).any(|_| {
        let (least, window, most) = (left() - before, ring.window(opened, raw()), left() - before);
        assert!(window.complete && (least..=most).contains(&window.outs), "{least} {window:?} {most}");
        least == most
    });
    assert!(exact);
    assert!(!ring.window(opened - 10_000_000_000, raw()).complete);
    let (begin, end, _) = timed(|| naps(holds + 1));
    assert_eq!(ring.window(begin, end), Window::default());
    let (begin, end, off) = timed(|| std::thread::sleep(Duration::from_millis(2)));
    let window = ring.window(begin, end);
    assert!(window.complete && near(window.off_nanos, off), "{window:?}");
}

#[test]
fn only_its_own_thread_may_ask() {
    let own = std::thread::spawn(|| {
        let ring = ring(false)?;
        let now = raw();
        assert!(ring.window(now, now).complete);
        Some((ring, now))
    });
    // Its thread is gone, and the ring is not.
    let Some((ring, at)) = own.join().unwrap() else { return };
    assert_eq!(ring.window(at, at), Window::default());
    drop(ring);
}

/// As many threads as descriptors would never do for: each has a ring of its own, and sees its own sleep.
#[test]
fn a_thousand_threads_keep_no_descriptors() {
    if !alone(module_path!(), "a_thousand_threads_keep_no_descriptors") {
        return;
    }
    let limit = libc::rlimit { rlim_cur: 64, rlim_max: 64 };
    // SAFETY: a limit of this process, which is made for it.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    const THREADS: usize = 1_000;
    let all = Arc::new(Barrier::new(THREADS + 1));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let all = all.clone();
            std::thread::Builder::new()
                .stack_size(64 << 10)
                .spawn(move || {
                    let ring = Ring::open(Kernel, THREADS);
                    all.wait();
                    let (begin, end, _) = timed(|| std::thread::sleep(Duration::from_millis(1)));
                    let window =
                        ring.as_ref().map(|ring| ring.window(begin, end)).map_err(|refused| *refused);
                    all.wait();
                    all.wait();
                    window
                })
                .unwrap()
        })
        .collect();
    all.wait();
    all.wait();
    let open = descriptors();
    let one_more = Ring::open(Kernel, THREADS).map(drop);
    all.wait();
    let windows: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(open, 0);
    match windows.iter().find_map(|window| window.err()) {
        None => {
            assert!(windows.iter().flatten().all(|window| window.complete && window.off_nanos > 900_000));
            assert_eq!(one_more.unwrap_err(), Refused::Cap);
            // They have been given back.
            assert!(Ring::open(Kernel, 1).is_ok());
        }
        Some(refused) => eprintln!("SKIPPED: {}", refused.explain(&Kernel)),
    }
}

/// A user without rights, who may lock next to nothing: refused at some time, and then as before.
#[test]
fn locked_memory_is_a_budget() {
    if !alone(module_path!(), "locked_memory_is_a_budget") {
        return;
    }
    let limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // A number that nobody else has, whose budget nobody else takes. SAFETY: limits and rights of this process, which is made for it.
    let nobody = unsafe {
        libc::setrlimit(libc::RLIMIT_MEMLOCK, &raw const limit) == 0
            && libc::setgid(65_534) == 0
            && libc::setuid(64_000_123) == 0
    };
    if !nobody {
        return eprintln!("SKIPPED: rights can only be given up by who has them");
    }
    let Some(first) = ring(false) else { return };
    let mut rings = vec![first];
    let refused = loop {
        match Ring::open(Kernel, 5_000) {
            Ok(ring) => rings.push(ring),
            Err(refused) => break refused,
        }
    };
    eprintln!("{} rings, then {refused:?}", rings.len());
    assert_eq!(refused, Refused::Memory(Errno(libc::EPERM)));
    assert!(refused.explain(&Kernel).message().contains("RLIMIT_MEMLOCK"));
    assert_eq!(descriptors(), 0);
    // Those that there are work, and one is enough for another.
    let (begin, end, _) = timed(|| std::thread::sleep(Duration::from_millis(1)));
    assert!(rings.iter().all(|ring| ring.window(begin, end).off_nanos > 900_000));
    rings.pop();
    assert!(Ring::open(Kernel, 5_000).is_ok());
}

/// From now on this thread's calls with this number fail.
fn refuse(number: libc::c_long, errno: i32) -> bool {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let mut filter = [
        statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
        libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            jt: 0,
            jf: 1,
            k: number as u32,
        },
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | errno as u32),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is live, and filters this thread only.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1u64, 0u64, 0u64, 0u64) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}

/// As containers do it. A ring that was there before goes on.
#[test]
fn a_sandbox_refuses_and_is_named() {
    if !alone(module_path!(), "a_sandbox_refuses_and_is_named") {
        return;
    }
    let before = ring(false);
    if !refuse(libc::SYS_perf_event_open, libc::EPERM) {
        return eprintln!("SKIPPED: this kernel takes no seccomp filter");
    }
    let refused = Ring::open(Kernel, MANY).unwrap_err();
    assert!(matches!(refused, Refused::Open { errno: Errno(libc::EPERM), .. }), "{refused:?}");
    let error = refused.explain(&Kernel);
    assert!(error.message().contains("seccomp"), "{error}");
    if let Some(ring) = before {
        let (begin, end, off) = timed(|| std::thread::sleep(Duration::from_millis(2)));
        assert!(near(ring.window(begin, end).off_nanos, off));
    }
}

/// A child finds none of the ring, leaves alone what it has put in its place, and may have its own.
#[test]
fn a_child_leaves_it_alone() {
    if !alone(module_path!(), "a_child_leaves_it_alone") {
        return;
    }
    let Some(ring) = ring(true) else { return };
    let mut slot = Some(ring);
    let now = raw();
    // SAFETY: the child makes system calls, touches its own memory, and ends without its parent's destructors.
    match unsafe { libc::fork() } {
        0 => {
            let ring = slot.take().unwrap();
            let mut wrong = i32::from(ring.window(now, now) != Window::default());
            let hole = ring.switches.0;
            let (protection, fixed) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_FIXED_NOREPLACE);
            let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed;
            // SAFETY: where the ring was there is nothing in a child, and if there is, this fails.
            let own = unsafe { libc::mmap(hole.as_ptr().cast(), Mapping::length(), protection, kind, -1, 0) };
            wrong |= i32::from(own != hole.as_ptr().cast()) << 1;
            drop(ring);
            // SAFETY: mapped above; it is still there, or the child dies of it.
            unsafe { own.cast::<u8>().write_volatile(1) };
            let mine = Ring::open(Kernel, 1);
            let now = raw();
            wrong |= i32::from(!mine.as_ref().is_ok_and(|ring| ring.window(now, now).complete)) << 2;
            wrong |= i32::from(Ring::open(Kernel, 1).err() != Some(Refused::Cap)) << 3;
            drop(mine);
            wrong |= i32::from(Ring::open(Kernel, 1).is_err()) << 4;
            // SAFETY: as above.
            unsafe { libc::_exit(wrong) };
        }
        child => {
            let mut status = 0;
            // SAFETY: waits for the child just made.
            assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
            assert_eq!(status, 0, "{status:#x}");
        }
    }
    let ring = slot.take().unwrap();
    let window = ring.window(now, raw());
    assert!(window.complete && window.faults.is_some(), "{window:?}");
}

/// Pages that were not there before, and the kernel's count of them.
fn touch(pages: usize) -> usize {
    let count = || (usage().ru_minflt + usage().ru_majflt) as usize;
    let length = pages * page_size();
    let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, used within its bounds and given back.
    unsafe {
        let memory = libc::mmap(std::ptr::null_mut(), length, protection, kind, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        libc::madvise(memory, length, libc::MADV_NOHUGEPAGE);
        let before = count();
        for page in 0..pages {
            memory.cast::<u8>().add(page * page_size()).write_volatile(1);
        }
        let faults = count() - before;
        libc::munmap(memory, length);
        faults
    }
}

#[test]
fn faults_are_timed() {
    let Some(ring) = ring(true) else { return };
    let mut counted = 0;
    let (begin, end, _) = timed(|| counted = touch(100));
    let window = ring.window(begin, end);
    let faults = window.faults.unwrap();
    assert!(window.complete && faults.complete && faults.unhandled == 0, "{window:?}");
    // A few more may be the program's own, around them.
    assert!((counted..counted + 20).contains(&(faults.timed as usize)), "{window:?} {counted}");
    assert!(faults.nanos > 50 * 100 && faults.nanos < end - begin, "{window:?}");
    // Of too many the latest are known, and the switches all the same.
    let (begin, end, _) = timed(|| counted = touch(2_000));
    let window = ring.window(begin, end);
    let faults = window.faults.unwrap();
    assert!(window.complete && !faults.complete, "{window:?}");
    let holds = page_size() as u32 / 16 / 8 * 7;
    assert!((holds - 40..=holds).contains(&faults.timed), "{window:?}");
}
