//! CPUs with several kinds of core, each with a separate PMU.
//!
//! A generic event such as cycles means only one of the PMUs: the performance cores' on Intel, any of them elsewhere.
//! So it is opened once for each PMU, which the upper half of its config names; counts and running times are added up.
//! They run alternately, while the thread is on their kind of core. Scaling each alone would count twice.

use crate::event::event::Event;
use crate::event::sysfs;
use picollo_native::seam::kernel::kind;
use picollo_native::seam::sys::Files;

/// The largest number of kinds of core.
pub(crate) const MOST: usize = 4;

/// The types of the PMUs of this machine's cores, if there are several.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Pmus {
    types: [u32; MOST],
    count: usize,
}

impl Pmus {
    /// Finds the PMUs.
    pub(crate) fn find(sys: &dyn Files) -> Pmus {
        let mut pmus = Pmus::default();
        let _ = sys.list(sysfs::DEVICES, &mut |name| {
            // If all cores are of one kind, x86 has "cpu", and Arm has only one of the others.
            let core = name.starts_with("cpu_") || name.starts_with("armv") || name.starts_with("apple_");
            if core
                && let Some(found) = sysfs::pmu_type(sys, name)
                && let Some(place) = pmus.types.get_mut(pmus.count)
            {
                *place = found;
                pmus.count += 1;
            }
        });
        if pmus.count < 2 {
            return Pmus::default();
        }
        // The kernel promises no order in a directory.
        pmus.types[..pmus.count].sort_unstable();
        pmus
    }

    /// The number of counters that an event needs: 1, or one for each PMU.
    pub(crate) fn parts(&self, event: &Event) -> usize {
        let generic = is_extended(event.r#type) && event.config >> 32 == 0;
        if generic && self.count > 1 { self.count } else { 1 }
    }

    /// An event of several parts on one of the PMUs.
    pub(crate) fn part(&self, event: &Event, index: usize) -> Event {
        Event { config: event.config | u64::from(self.types[index]) << 32, ..*event }
    }
}

/// Whether events of this type may name a PMU in the upper half of their config.
pub(crate) fn is_extended(kind: u32) -> bool {
    matches!(kind, kind::HARDWARE | kind::CACHE)
}
