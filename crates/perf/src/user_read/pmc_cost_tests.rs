//! The readings that callgrind counts (ci/cost.sh reading): pages in memory, a function in place of the counter, and no
//! times. The assertions hold anywhere; the script judges the cost.

use super::super::*;
use core::sync::atomic::Ordering;
use picollo_native::seam::kernel::Page;

/// As expensive as the call of `asm/pmc.c`, in which `rdpmc` replaces the load.
#[inline(never)]
extern "C" fn stub(index: u32) -> u64 {
    core::hint::black_box(u64::from(index.wrapping_sub(1)) << 32 | 7)
}

struct Stub;

impl PmcSource for Stub {
    fn has(&self, _: u32) -> bool {
        true
    }
    fn read(&self, index: u32) -> u64 {
        stub(index)
    }
    fn timestamp(&self) -> u64 {
        0
    }
    fn fence(&self) {}
}

pub(super) const READINGS: usize = 1000;

#[inline(never)]
fn one(pmcs: &mut Pmcs<&Page>) -> bool {
    pmcs.read_unmoved(&Stub)
}

/// Callgrind counts inside this function, by its name.
#[unsafe(no_mangle)]
#[inline(never)]
fn picollo_cost_of_readings(pmcs: &mut Pmcs<&Page>) -> usize {
    (0..READINGS).filter(|_| one(pmcs)).count()
}

#[test]
fn readings_of_pages_in_memory() {
    let pages = crate::user_read::model::pages::<4>();
    for (page, n) in pages.iter().zip(1..) {
        page.capabilities.store(2 | 4, Ordering::Relaxed);
        page.index.store(n, Ordering::Relaxed);
        page.pmc_width.store(48, Ordering::Relaxed);
    }
    let only = std::env::var("PICOLLO_COST").ok();
    for count in
        [1usize, 4].into_iter().filter(|count| only.as_ref().is_none_or(|only| *only == count.to_string()))
    {
        let mut pmcs = Pmcs::try_new(pages[..count].iter().collect(), false, None).unwrap();
        // As after a reading by system call.
        pmcs.prepare(&Stub);
        pmcs.confirm((0, 0), |_| 0);
        assert_eq!(picollo_cost_of_readings(&mut pmcs), READINGS);
        assert!(pmcs.values().all(|value| value & 0xff == 7));
    }
}
