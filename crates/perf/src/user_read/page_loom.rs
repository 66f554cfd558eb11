//! The seqlock under a model checker: every order of the loads and stores that the memory model allows.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p picollo-perf --lib --release user_read::page::model`

use super::*;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering, fence};

struct Modelled {
    lock: AtomicU32,
    index: AtomicU32,
    offset: AtomicI64,
    enabled: AtomicU64,
}

impl View for Modelled {
    fn lock_acquire(&self) -> u32 {
        self.lock.load(Ordering::Acquire)
    }
    fn lock_relaxed(&self) -> u32 {
        self.lock.load(Ordering::Relaxed)
    }
    fn fence(&self) {
        fence(Ordering::Acquire);
    }
    fn index(&self) -> u32 {
        self.index.load(Ordering::Relaxed)
    }
    fn offset(&self) -> i64 {
        self.offset.load(Ordering::Relaxed)
    }
    fn width(&self) -> u16 {
        48
    }
    fn capabilities(&self) -> u64 {
        2 | 4
    }
    fn times(&self) -> Times {
        Times { enabled: self.enabled.load(Ordering::Relaxed), ..Times::default() }
    }
}

#[test]
fn never_torn() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let page = Arc::new(Modelled {
            lock: AtomicU32::new(0),
            index: AtomicU32::new(1),
            offset: AtomicI64::new(1),
            enabled: AtomicU64::new(1),
        });
        let writer = {
            let page = page.clone();
            loom::thread::spawn(move || {
                for n in 2..4u32 {
                    let lock = page.lock.load(Ordering::Relaxed);
                    page.lock.store(lock + 1, Ordering::Relaxed);
                    fence(Ordering::Release);
                    page.index.store(n, Ordering::Relaxed);
                    page.offset.store(n.into(), Ordering::Relaxed);
                    page.enabled.store(n.into(), Ordering::Relaxed);
                    page.lock.store(lock + 2, Ordering::Release);
                }
            })
        };
        if let Some(fields) = capture(&*page, |_| true) {
            let readable = fields.counter.unwrap();
            assert_eq!(u64::from(readable.index), readable.offset);
            assert_eq!(readable.offset, fields.times.enabled);
            assert_eq!(u64::from(fields.lock), (readable.offset - 1) * 2);
        }
        writer.join().unwrap();
    });
}
