//! Scopes in a signal handler that may interrupt anything: other scopes, and looking at, keeping or collecting them.
#![cfg(target_os = "linux")]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use picollo_core::{Options, SharedHistogram};
use picollo_why::{Collector, Context, ExemplarOptions};

static COLLECTOR: OnceLock<Collector> = OnceLock::new();
static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handler(_: libc::c_int) {
    let mut scope = COLLECTOR.get().unwrap().scope();
    scope.end();
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn a_handler_has_scopes() {
    let histogram = SharedHistogram::create(&Options::default()).unwrap();
    // All of them are slow, so every end is cold.
    let options = ExemplarOptions { threshold: 1, rate: 1_000_000, ..ExemplarOptions::default() };
    let collector = COLLECTOR.get_or_init(|| Collector::create(&histogram, &options).unwrap());
    collector.prepare_thread().ok();
    // SAFETY: the handler does what is documented to work in one; the structs are live.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGVTALRM, &raw const action, std::ptr::null_mut()), 0);
    }
    let me = {
        // SAFETY: asks for the calling thread.
        unsafe { libc::pthread_self() as u64 }
    };
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let (mut own, mut observations, mut slow) = (0, 0, 0);
    let mut collect = || {
        let interval = collector.collect().unwrap();
        observations += interval.observations;
        slow += interval.slow;
        assert!(interval.slow <= interval.observations, "{} of {}", interval.slow, interval.observations);
        // An observation that ends within an interval's end may be kept there but counted in the next, perhaps alone.
        assert!(!interval.exemplars().is_empty() || interval.observations < 50, "{}", interval.observations);
    };
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // SAFETY: that thread waits for this one to end.
                unsafe { libc::pthread_kill(me as libc::pthread_t, libc::SIGVTALRM) };
                std::thread::sleep(Duration::from_micros(20));
            }
        });
        // Longer if others have the CPU.
        let begin = Instant::now();
        let is_enough = || HANDLED.load(Ordering::Relaxed) > 200 || begin.elapsed() > Duration::from_secs(30);
        while begin.elapsed() < Duration::from_millis(500) || !is_enough() {
            for _ in 0..50 {
                let mut scope = collector.scope();
                let is_kept = scope.end();
                own += 1;
                if is_kept {
                    scope.annotate(&Context { words: [own, 0], ..Context::default() }).unwrap();
                }
            }
            collect();
        }
        is_over.store(true, Ordering::Relaxed);
    });
    collect();
    let handled = HANDLED.load(Ordering::Relaxed);
    println!("{own} scopes, and {handled} in a handler");
    assert!(handled > 100, "{handled}");
    assert_eq!(observations, own + handled);
    // If the clock has steps of a few nanoseconds, a few observations take no time.
    assert!(slow <= observations && slow > observations / 2, "{slow} of {observations}");
}
