use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::*;
use crate::user_read::sys::{Cpu, PmcSource};

// Bodies obey the rules for a child: no allocation, no lock, no errno.

unsafe extern "C" fn succeed(_: *mut c_void) -> c_int {
    SAFE
}

unsafe extern "C" fn give_up(_: *mut c_void) -> c_int {
    UNKNOWN
}

unsafe extern "C" fn write_to_nowhere(_: *mut c_void) -> c_int {
    // SAFETY: none. The write is meant to fault, in a child.
    unsafe { core::ptr::without_provenance_mut::<u8>(8).write_volatile(1) };
    SAFE
}

unsafe extern "C" fn read_counter(_: *mut c_void) -> c_int {
    // No event is mapped here, so user code may read no counter.
    Cpu.read(1);
    SAFE
}

/// Ends itself by the signal in the argument.
unsafe extern "C" fn die(signal: *mut c_void) -> c_int {
    // SAFETY: system calls that affect this child only; the argument is live. That libc sets errno harms nobody here.
    unsafe {
        let signal = *signal.cast::<c_int>();
        libc::kill(libc::getpid(), signal);
    }
    SAFE
}

unsafe extern "C" fn note(place: *mut c_void) -> c_int {
    // SAFETY: the argument points to a live number.
    unsafe { &*place.cast::<AtomicU32>() }.fetch_add(1, Ordering::Relaxed);
    SAFE
}

fn ask(body: Body) -> Finding {
    // SAFETY: the bodies here need no argument.
    unsafe { ask_child(body, null_mut()) }
}

#[test]
fn a_child_reports_by_its_exit() {
    assert_eq!(ask(succeed), Finding::Safe);
    assert_eq!(ask(give_up), Finding::Unknown);
    // A handler of the host would have caught this fault: Rust's own handler for stack overflows is installed here.
    assert_eq!(ask(write_to_nowhere), Finding::Faults);
}

/// Without a PMU to allow it, the instruction itself faults. The child exists for this kind of death.
#[test]
fn a_forbidden_counter_read_is_found_out() {
    assert_eq!(ask(read_counter), Finding::Faults);
}

/// Only a signal that the instruction raises shows that it faults.
#[test]
fn a_killed_child_proves_nothing() {
    for (mut signal, finding) in [
        (libc::SIGKILL, Finding::Unknown),
        (libc::SIGSEGV, Finding::Faults),
        (libc::SIGILL, Finding::Faults),
        (libc::SIGBUS, Finding::Faults),
        // As from a sandbox. This program sets no handler, so the child has its own.
        (libc::SIGSYS, Finding::Unknown),
    ] {
        // SAFETY: the argument is what the body expects.
        assert_eq!(unsafe { ask_child(die, (&raw mut signal).cast()) }, finding, "signal {signal}");
    }
}

/// Nothing is copied: what the child writes appears here. So its cost does not grow with the memory of the process.
#[test]
fn the_child_shares_memory() {
    // Valgrind and some emulators fork instead. Everything else holds there, too.
    if std::fs::read_to_string("/proc/self/maps").is_ok_and(|maps| maps.contains("valgrind")) {
        return eprintln!("SKIPPED: valgrind makes every such child by copying");
    }
    let number = AtomicU32::new(0);
    // SAFETY: the argument is what the body expects.
    assert_eq!(unsafe { ask_child(note, (&raw const number).cast_mut().cast()) }, Finding::Safe);
    assert_eq!(number.load(Ordering::Relaxed), 1);
}

/// The parent does not change: errno, signal mask, handlers.
#[test]
fn the_parent_is_left_as_it_was() {
    let mask = || {
        // SAFETY: a zeroed set is valid, and the call fills it in.
        unsafe {
            let mut mask: libc::sigset_t = core::mem::zeroed();
            libc::pthread_sigmask(libc::SIG_SETMASK, core::ptr::null(), &raw mut mask);
            (1..64).map(|signal| libc::sigismember(&raw const mask, signal)).collect::<Vec<_>>()
        }
    };
    let handlers = || {
        [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGSYS].map(|signal| {
            // SAFETY: a zeroed action is valid, and the call fills it in.
            unsafe {
                let mut action: libc::sigaction = core::mem::zeroed();
                libc::sigaction(signal, core::ptr::null(), &raw mut action);
                (action.sa_sigaction, action.sa_flags)
            }
        })
    };
    let before = (mask(), handlers());
    for body in [succeed as Body, give_up, write_to_nowhere] {
        // SAFETY: this thread's own variable.
        unsafe { *libc::__errno_location() = 4711 };
        ask(body);
        // SAFETY: as above.
        assert_eq!(unsafe { *libc::__errno_location() }, 4711);
        assert_eq!((mask(), handlers()), before);
    }
}

#[test]
fn children_of_many_threads_at_once() {
    let done = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let done = &done;
            scope.spawn(move || {
                for round in 0..100 {
                    let (body, finding): (Body, _) = match (thread + round) % 3 {
                        0 => (succeed, Finding::Safe),
                        1 => (give_up, Finding::Unknown),
                        _ => (write_to_nowhere, Finding::Faults),
                    };
                    assert_eq!(ask(body), finding);
                    // The other threads continue to use what the child must not touch.
                    drop(std::hint::black_box(vec![round; 1000 + thread]));
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(done.load(Ordering::Relaxed), 800);
}

/// The trial itself, with an event that has no counter: it opens, maps, has nothing to read, and leaves nothing behind.
#[test]
fn an_event_without_a_counter_is_not_known() {
    let attr = Attr {
        kind: picollo_native::seam::kernel::kind::SOFTWARE,
        config: 1,
        flags: flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV,
        ..Attr::default()
    };
    let mapped = || std::fs::read_to_string("/proc/self/maps").unwrap().matches("perf_event").count();
    let before = mapped();
    for _ in 0..100 {
        assert_eq!(read_one(&attr), Finding::Unknown);
    }
    // Other tests map a few pages at the same time.
    assert!(mapped() < before + 50, "the child's pages are left mapped: {before}, {}", mapped());
    // An event that does not exist.
    assert_eq!(read_one(&Attr { kind: 4711, ..attr }), Finding::Unknown);
}

/// If a sandbox forbids children, or those that share memory, nothing is known.
#[test]
fn a_sandbox_that_refuses_children() {
    for errno in [libc::EPERM, libc::ENOSYS, libc::EAGAIN] {
        let sharing = Some((0, libc::BPF_JSET, libc::CLONE_VM as u32));
        let asked = std::thread::spawn(move || {
            crate::testing::refuse(libc::SYS_clone, sharing, errno).then(|| ask(succeed))
        });
        match asked.join().unwrap() {
            None => return eprintln!("SKIPPED: this kernel takes no seccomp filter"),
            finding => assert_eq!(finding, Some(Finding::Unknown), "errno {errno}"),
        }
    }
}
