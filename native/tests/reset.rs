//! Resets of sessions whose histograms others reset, too. A program of its own: it stops one of its threads with a signal.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};

use common::{Cell, create, readings, total, watch};
use picollo_core::SingleWriterHistogram;
use picollo_native::*;

static HELD: AtomicBool = AtomicBool::new(false);
static RELEASED: AtomicBool = AtomicBool::new(false);

/// Keeps the thread where it is until it is released.
extern "C" fn hold(_signal: i32) {
    HELD.store(true, Ordering::SeqCst);
    while !RELEASED.load(Ordering::SeqCst) {
        let millisecond = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
        // SAFETY: the pointer is to a live variable; the call may be made in a handler.
        unsafe { libc::nanosleep(&raw const millisecond, std::ptr::null_mut()) };
    }
    HELD.store(false, Ordering::SeqCst);
}

/// Runs `body` while another thread stands still in the middle of resetting this histogram.
fn while_busy(histogram: &SingleWriterHistogram, body: impl FnOnce()) {
    let stop = AtomicBool::new(false);
    // SAFETY: the handler touches nothing but two atomic variables, and a zeroed action is a valid one.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = hold as *const () as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, std::ptr::null_mut()), 0);
    }
    std::thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let stop = &stop;
        let resetting = histogram.clone();
        scope.spawn(move || {
            // SAFETY: a query.
            sender.send(unsafe { libc::pthread_self() }).unwrap();
            while !stop.load(Ordering::SeqCst) {
                // Refused only while the main thread tries it, too.
                let _ = resetting.reset();
            }
        });
        let thread = receiver.recv().unwrap();
        // Most of a reset is the copying of the cells, so one of the first signals hits it; it takes as many as it takes.
        loop {
            RELEASED.store(false, Ordering::SeqCst);
            // SAFETY: the thread runs until it is told to stop, below.
            assert_eq!(unsafe { libc::pthread_kill(thread, libc::SIGUSR1) }, 0);
            while !HELD.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
            if histogram.reset().is_err() {
                break;
            }
            RELEASED.store(true, Ordering::SeqCst);
            while HELD.load(Ordering::SeqCst) {
                std::thread::yield_now();
            }
        }
        body();
        stop.store(true, Ordering::SeqCst);
        RELEASED.store(true, Ordering::SeqCst);
    });
}

/// The histogram's total and the tally of what was not counted add up to the records, in every event, whatever a reset meets.
#[test]
fn a_busy_histogram_does_not_stop_the_others() {
    let cell = Cell::new();
    let events = [watch(&cell), watch(&cell), watch(&cell)];
    let mut session = create(SESSION_DISABLED, &events);
    let histograms: Vec<SingleWriterHistogram> =
        (0..3).map(|index| session.histogram(index).unwrap()).collect();
    let sums = |session: &Session| -> Vec<u64> {
        let not_counted = |index| session.event_info(index).unwrap().not_counted_count;
        (0..3).map(|index| total(&histograms[index]) + not_counted(index)).collect()
    };
    let record = |session: &mut Session, times: u64| {
        for _ in 0..times {
            cell.write(3);
            session.read(ReadMode::Auto).unwrap();
            session.record(true).unwrap();
        }
    };
    // Five that were not counted, and two that were.
    record(&mut session, 5);
    session.enable().unwrap();
    record(&mut session, 2);
    assert_eq!(sums(&session), [7, 7, 7]);
    while_busy(&histograms[1], || {
        let error = session.reset().unwrap_err();
        assert_eq!((error.status(), error.event_index()), (Status::Busy, 1));
        // The base is new all the same.
        assert_eq!(session.record(true).unwrap_err().status(), Status::Empty);
    });
    // The helper's own resets took the counted ones away; the tally was left alone, with the histogram.
    let tally = |session: &Session, index| session.event_info(index).unwrap().not_counted_count;
    assert_eq!((tally(&session, 0), tally(&session, 1), tally(&session, 2)), (0, 5, 0));
    assert_eq!((total(&histograms[0]), total(&histograms[2])), (0, 0));
    record(&mut session, 1);
    assert_eq!(readings(&session, false)[0].value, 3);
    assert_eq!((sums(&session)[0], sums(&session)[2]), (1, 1));
    // Tried again, it succeeds.
    session.reset().unwrap();
    assert_eq!(sums(&session), [0, 0, 0]);
    record(&mut session, 4);
    assert_eq!(sums(&session), [4, 4, 4]);
}
