//! CPUs with cores of more than one kind, each with a PMU of its own.
//!
//! A generic event such as cycles means one of them only: the performance cores' on Intel, anybody's guess elsewhere. So it is
//! opened once for each, the PMU named in the upper half of its config, and its counts and running times are added up. They run by
//! turns, each while the thread is on its kind of core; scaling each alone would count twice.

use crate::event::event::Event;
use crate::event::sysfs;
use crate::os::kernel::kind;
use crate::os::sys::Files;

/// The kinds of core that are told apart.
pub(crate) const MOST: usize = 4;

/// The PMUs of this machine's cores, where there are several: their types.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Pmus {
    types: [u32; MOST],
    count: usize,
}

impl Pmus {
    /// Looks for them.
    pub(crate) fn find<S: Files>(sys: &S) -> Pmus {
        let mut pmus = Pmus::default();
        let _ = sys.list(sysfs::DEVICES, &mut |name| {
            // A CPU of one kind has "cpu" on x86, and a single one of the others on Arm.
            let core = name.starts_with("cpu_") || name.starts_with("armv") || name.starts_with("apple_");
            if core && let Some(found) = sysfs::type_of(sys, name) {
                pmus.add(found);
            }
        });
        if pmus.count < 2 {
            return Pmus::default();
        }
        // The order of a directory is nobody's promise.
        pmus.types[..pmus.count].sort_unstable();
        pmus
    }

    fn add(&mut self, found: u32) {
        if let Some(place) = self.types.get_mut(self.count) {
            *place = found;
            self.count += 1;
        }
    }

    /// How many counters an event takes: 1, or one for each PMU.
    pub(crate) fn parts(&self, event: &Event) -> usize {
        let generic = is_extended(event.r#type) && event.config >> 32 == 0;
        if generic && self.count > 1 { self.count } else { 1 }
    }

    /// The event on one of the PMUs.
    pub(crate) fn part(&self, event: &Event, index: usize) -> Event {
        let mut part = *event;
        if self.parts(event) > 1 {
            part.config |= u64::from(self.types[index]) << 32;
        }
        part
    }
}

/// Whether events of this type may name a PMU in the upper half of their config.
pub(crate) fn is_extended(kind: u32) -> bool {
    matches!(kind, kind::HARDWARE | kind::CACHE)
}
