//! Where and how an event counts: bits beside its number.

/// Count in user space. Any of user, kernel and hypervisor overrides the session's choice.
pub const EVENT_USER: u32 = 1 << 0;
/// Count in the kernel.
pub const EVENT_KERNEL: u32 = 1 << 1;
/// Count in the hypervisor.
pub const EVENT_HYPERVISOR: u32 = 1 << 2;
/// Precision 0 to 3, times this: as p, pp and ppp of perf. Dropped if the machine does not offer it.
pub const EVENT_PRECISE: u32 = 1 << 3;
/// Both bits of the precision.
pub const EVENT_PRECISE_MASK: u32 = 3 << 3;
/// Do not count in guests.
pub const EVENT_HOST: u32 = 1 << 5;
/// Count in guests only.
pub const EVENT_GUEST: u32 = 1 << 6;
/// Do not count while idle.
pub const EVENT_EXCLUDE_IDLE: u32 = 1 << 7;

#[cfg(picollo_linux)]
pub(crate) const ANY_RING: u32 = EVENT_USER | EVENT_KERNEL | EVENT_HYPERVISOR;
#[cfg(picollo_linux)]
pub(crate) const ALL_MODIFIERS: u32 =
    ANY_RING | EVENT_PRECISE_MASK | EVENT_HOST | EVENT_GUEST | EVENT_EXCLUDE_IDLE;
