//! Pages that change while they are read, and the arithmetic of their times.

use super::*;
use core::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::Arc;

fn empty() -> Page {
    // SAFETY: all fields are integers, for which zero is valid.
    unsafe { core::mem::zeroed() }
}

/// Writes everything that belongs to one number, as the kernel does: an odd lock, the fields, an even lock.
fn write(page: &Page, n: u64) {
    let lock = page.lock.load(Ordering::Relaxed);
    page.lock.store(lock.wrapping_add(1), Ordering::Relaxed);
    fence(Ordering::Release);
    page.capabilities.store((n % 4 * 8) | 6, Ordering::Relaxed);
    page.index.store(1 + (n % 60) as u32, Ordering::Relaxed);
    page.pmc_width.store(1 + (n % 64) as u16, Ordering::Relaxed);
    page.offset.store(n as i64, Ordering::Relaxed);
    page.time_enabled.store(n * 3, Ordering::Relaxed);
    page.time_running.store(n * 2, Ordering::Relaxed);
    page.lock.store(lock.wrapping_add(2), Ordering::Release);
}

fn is_whole(fields: &Fields) -> bool {
    let Ok(readable) = fields.counter else { return false };
    let n = readable.offset;
    readable.index == 1 + (n % 60) as u32
        && readable.width == 1 + (n % 64) as u32
        && fields.times.enabled == n * 3
        && fields.times.running == n * 2
        && fields.times.extends == (n % 2 != 0)
}

#[test]
fn never_torn_beside_a_writer() {
    let page = Arc::new(empty());
    write(&page, 1);
    let stop = Arc::new(AtomicBool::new(false));
    let written = Arc::new(AtomicU32::new(0));
    let writer = {
        let (page, stop, written) = (page.clone(), stop.clone(), written.clone());
        std::thread::spawn(move || {
            let mut n = 1u64;
            while !stop.load(Ordering::Relaxed) {
                n += 1;
                write(&page, n);
                written.fetch_add(1, Ordering::Relaxed);
                // A writer without pauses would leave the reader no chance. The kernel's pauses last milliseconds.
                (0..n % 100).for_each(|_| core::hint::spin_loop());
            }
        })
    };
    // A slow machine or a checker does fewer.
    let wanted = if cfg!(target_arch = "aarch64") || cfg!(debug_assertions) { 2_000_000 } else { 10_000_000 };
    let (mut whole, mut given_up, mut newest) = (0u64, 0u64, 0);
    while whole < wanted && given_up < wanted {
        match capture(&*page, |_| true) {
            Some(fields) => {
                assert!(is_whole(&fields), "{fields:?}");
                let n = fields.counter.unwrap().offset;
                assert!(n >= newest, "the page went back in time");
                newest = n;
                whole += 1;
            }
            None => given_up += 1,
        }
    }
    stop.store(true, Ordering::Relaxed);
    writer.join().unwrap();
    let written = written.load(Ordering::Relaxed);
    eprintln!("{whole} whole, {given_up} given up, {written} written");
    assert!(whole >= wanted && written > 1000);
}

#[test]
fn time_goes_on_from_the_last_write() {
    let times =
        Times { extends: true, mult: 3, shift: 1, offset: 0u64.wrapping_sub(1500), ..Times::default() };
    assert_eq!(times.since_written(1000), Some(0));
    assert_eq!(times.since_written(1100), Some(150));
    // A time stamp from before the write, from another CPU's counter.
    assert_eq!(times.since_written(990), Some(0));
    assert_eq!(Times { extends: false, ..times }.since_written(1100), None);
    // A product of more than 64 bits.
    let large = Times { extends: true, mult: u32::MAX, shift: 32, offset: 0, ..Times::default() };
    assert_eq!(large.since_written(1 << 62), Some((1 << 62) - (1 << 30)));
    // Invalid values do no harm.
    assert_eq!(Times { shift: 200, ..large }.since_written(5), Some(0));
    // A counter of 8 bits that wrapped around.
    let short =
        Times { wrap: Some((0x1f0, 0xff)), mult: 1, shift: 0, offset: 0u64.wrapping_sub(0x1f0), ..times };
    assert_eq!(short.since_written(0x05), Some(0x15));
}

#[test]
fn short_times_need_a_page_that_has_them() {
    let page = empty();
    page.capabilities.store(2 | 8 | 32, Ordering::Relaxed);
    page.time_mask.store(0xff, Ordering::Relaxed);
    assert_eq!(page.times().wrap, None);
    page.size.store(96, Ordering::Relaxed);
    assert_eq!(page.times().wrap, Some((0, 0xff)));
}
