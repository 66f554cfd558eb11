//! Requests to the kernel, and what to give up, in which order, if it refuses.

use crate::event::event::Event;
use crate::event::modifiers::{
    EVENT_EXCLUDE_IDLE, EVENT_GUEST, EVENT_HOST, EVENT_HYPERVISOR, EVENT_KERNEL, EVENT_PRECISE,
    EVENT_PRECISE_MASK, EVENT_USER,
};
use picollo_native::seam::kernel::{ATTR_SIZE_5, ATTR_SIZE_8, Attr, flag, format, kind};

/// What a session wants of every event.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    /// Count in the kernel too, if the event does not choose.
    pub kernel: bool,
    /// Count the target's future children too.
    pub inherit: bool,
    /// Stay on the PMU. The kernel does this always or never; if never, sessions give it up. For leaders only.
    pub pinned: bool,
}

/// The request for an event as leader of a group (stopped) or as a member (running whenever its leader does).
pub(crate) fn request(event: &Event, wish: Wish, leader: bool) -> Attr {
    let mut attr = Attr {
        kind: event.r#type,
        size: if event.config3 == 0 { ATTR_SIZE_5 } else { ATTR_SIZE_8 },
        config: event.config,
        config1: event.config1,
        config2: event.config2,
        config3: event.config3,
        bp_type: if event.r#type == kind::BREAKPOINT { event.bp_type } else { 0 },
        // Some kernels refuse a group read of inherited events. It also sums over children that the other members lack.
        read_format: if wish.inherit { format::SINGLE } else { format::WHOLE },
        ..Attr::default()
    };
    let mut set = |condition: bool, bits: u64| {
        if condition {
            attr.flags |= bits;
        }
    };
    let has = |bits: u32| event.modifiers & bits != 0;
    set(leader, flag::DISABLED);
    set(leader && wish.pinned, flag::PINNED);
    set(wish.inherit, flag::INHERIT);
    if event.chooses_rings() {
        set(!has(EVENT_USER), flag::EXCLUDE_USER);
        set(!has(EVENT_KERNEL), flag::EXCLUDE_KERNEL);
        set(!has(EVENT_HYPERVISOR), flag::EXCLUDE_HV);
    } else {
        set(!wish.kernel, flag::EXCLUDE_KERNEL);
        set(true, flag::EXCLUDE_HV);
    }
    set(has(EVENT_EXCLUDE_IDLE), flag::EXCLUDE_IDLE);
    // perf's H and G name what is counted; the kernel's flags name what is excluded.
    set(has(EVENT_HOST) && !has(EVENT_GUEST), flag::EXCLUDE_GUEST);
    set(has(EVENT_GUEST) && !has(EVENT_HOST), flag::EXCLUDE_HOST);
    attr.flags |= flag::precise(u64::from((event.modifiers & EVENT_PRECISE_MASK) / EVENT_PRECISE));
    attr
}

/// The parts of a request to give up, in this order, if the kernel returns `EINVAL` or `EOPNOTSUPP`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Precision is for sampling; counting does not need it.
    Precise,
    /// Some PMUs insist on `exclude_guest`, others refuse it.
    Guest,
    /// PMUs such as msr cannot exclude anything, and refuse such requests.
    Exclude,
}

impl Step {
    pub(crate) const ORDER: [Step; 3] = [Step::Precise, Step::Guest, Step::Exclude];

    /// Reduces the request; `None` if there is nothing to give up.
    pub(crate) fn apply(self, attr: &Attr) -> Option<Attr> {
        let mut smaller = *attr;
        match self {
            Step::Precise => smaller.flags &= !flag::PRECISE_MASK,
            // Only hardware knows guests. For other events, the flag would be one more reason to refuse.
            Step::Guest if matches!(attr.kind, kind::HARDWARE | kind::CACHE | kind::RAW) => {
                smaller.flags ^= flag::EXCLUDE_GUEST;
            }
            // The CPU's own events are never quietly counted in more places than requested.
            Step::Exclude if attr.kind > kind::BREAKPOINT => smaller.flags &= !flag::EXCLUDE_ANY,
            Step::Guest | Step::Exclude => {}
        }
        (smaller != *attr).then_some(smaller)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Wish = Wish { kernel: false, inherit: false, pinned: false };

    #[test]
    fn user_only_unless_asked() {
        let event = Event::new(kind::HARDWARE, 0);
        let attr = request(&event, PLAIN, true);
        assert_eq!(attr.flags, flag::DISABLED | flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV);
        assert_eq!((attr.size, attr.read_format), (112, 15));
        let kernel = Wish { kernel: true, ..PLAIN };
        assert_eq!(request(&event, kernel, false).flags, flag::EXCLUDE_HV);
        // The event's own choice wins.
        let user = Event::parse("cycles:u").unwrap();
        assert_eq!(request(&user, kernel, false).flags, flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV);
        let only_kernel = Event::parse("cycles:k").unwrap();
        assert_eq!(request(&only_kernel, PLAIN, false).flags, flag::EXCLUDE_USER | flag::EXCLUDE_HV);
        let host = Event::parse("cycles:Hpp").unwrap();
        let expected = flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV | flag::EXCLUDE_GUEST | flag::precise(2);
        assert_eq!(request(&host, PLAIN, false).flags, expected);
    }

    #[test]
    fn sizes_and_breakpoints() {
        let mut event = Event::parse("mem:0x1000/8:w").unwrap();
        let attr = request(&event, PLAIN, true);
        assert_eq!((attr.kind, attr.bp_type, attr.config1, attr.config2), (kind::BREAKPOINT, 2, 0x1000, 8));
        event.config3 = 1;
        assert_eq!(request(&event, PLAIN, true).size, 136);
    }
}
