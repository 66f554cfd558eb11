//! The kernel's side of `perf_event_open`: structures and numbers, as in `include/uapi/linux/perf_event.h`.

use core::mem::offset_of;
use core::sync::atomic::{AtomicI64, AtomicU16, AtomicU32, AtomicU64};

/// `struct perf_event_attr`, up to `config4` (version 9).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
#[allow(missing_docs)] // the kernel's names, explained in perf_event_open(2)
pub struct Attr {
    pub kind: u32,
    pub size: u32,
    pub config: u64,
    pub sample_period: u64,
    pub sample_type: u64,
    pub read_format: u64,
    pub flags: u64,
    pub wakeup: u32,
    pub bp_type: u32,
    /// Address of a breakpoint.
    pub config1: u64,
    /// Length of a breakpoint.
    pub config2: u64,
    pub branch_sample_type: u64,
    pub regs_user: u64,
    pub stack_user: u32,
    pub clockid: i32,
    pub regs_intr: u64,
    pub aux_watermark: u32,
    pub max_stack: u16,
    pub reserved_2: u16,
    pub aux_sample_size: u32,
    pub reserved_3: u32,
    pub sig_data: u64,
    pub config3: u64,
    pub config4: u64,
}

/// The size unless `config3` or `config4` is used. Every kernel after 4.7 knows it, and older ones accept a longer
/// structure with a zero tail.
pub const ATTR_SIZE_5: u32 = 112;
/// The size that includes `config3`.
pub const ATTR_SIZE_8: u32 = 136;

impl Default for Attr {
    fn default() -> Self {
        // SAFETY: all fields are integers, for which zero is valid.
        Attr { size: ATTR_SIZE_5, ..unsafe { core::mem::zeroed() } }
    }
}

/// Checks the offsets of fields.
macro_rules! at {
    ($of:ty: $($field:ident $offset:literal),*) => {
        const _: () = { $(assert!(offset_of!($of, $field) == $offset);)* };
    };
}

const _: () = assert!(size_of::<Attr>() == 144);
at!(Attr: size 4, config 8, sample_period 16, sample_type 24, read_format 32, flags 40, wakeup 48, bp_type 52, config1 56, config2 64,
    branch_sample_type 72, regs_user 80, stack_user 88, clockid 92, regs_intr 96, aux_watermark 104, max_stack 108, aux_sample_size 112,
    sig_data 120, config3 128, config4 136);

/// Bits of `Attr::flags`, which is a C bit-field: the first bit is the lowest on little-endian machines, the highest on others.
pub mod flag {
    const fn bit(n: u32) -> u64 {
        field(n, 1, 1)
    }

    const fn field(first: u32, width: u32, value: u64) -> u64 {
        let shift = if cfg!(target_endian = "little") { first } else { 64 - first - width };
        value << shift
    }

    pub const DISABLED: u64 = bit(0);
    pub const INHERIT: u64 = bit(1);
    pub const PINNED: u64 = bit(2);
    pub const EXCLUSIVE: u64 = bit(3);
    pub const EXCLUDE_USER: u64 = bit(4);
    pub const EXCLUDE_KERNEL: u64 = bit(5);
    pub const EXCLUDE_HV: u64 = bit(6);
    pub const EXCLUDE_IDLE: u64 = bit(7);
    pub const SAMPLE_ID_ALL: u64 = bit(18);
    pub const EXCLUDE_HOST: u64 = bit(19);
    pub const EXCLUDE_GUEST: u64 = bit(20);
    pub const USE_CLOCKID: u64 = bit(25);
    pub const CONTEXT_SWITCH: u64 = bit(26);
    pub const WRITE_BACKWARD: u64 = bit(27);
    pub const PRECISE_MASK: u64 = precise(3);
    pub const EXCLUDE_ANY: u64 =
        EXCLUDE_USER | EXCLUDE_KERNEL | EXCLUDE_HV | EXCLUDE_IDLE | EXCLUDE_HOST | EXCLUDE_GUEST;

    /// `precise_ip`: 0 to 3.
    pub const fn precise(level: u64) -> u64 {
        field(15, 2, level & 3)
    }
}

/// The page that the kernel keeps up to date for a mapped event, `struct perf_event_mmap_page`. Every field may change
/// at any moment, so all access is atomic.
#[repr(C)]
#[allow(missing_docs)]
pub struct Page {
    pub version: u32,
    pub compat_version: u32,
    pub lock: AtomicU32,
    pub index: AtomicU32,
    pub offset: AtomicI64,
    pub time_enabled: AtomicU64,
    pub time_running: AtomicU64,
    pub capabilities: AtomicU64,
    pub pmc_width: AtomicU16,
    pub time_shift: AtomicU16,
    pub time_mult: AtomicU32,
    pub time_offset: AtomicU64,
    pub time_zero: AtomicU64,
    pub size: AtomicU32,
    pub reserved_1: u32,
    pub time_cycles: AtomicU64,
    pub time_mask: AtomicU64,
}

at!(Page: lock 8, index 12, offset 16, time_enabled 24, time_running 32, capabilities 40, pmc_width 48, time_shift 50, time_mult 52,
    time_offset 56, time_zero 64, size 72, time_cycles 80, time_mask 88);

/// Bits of `Page::capabilities`, again a C bit-field.
pub const fn capability(n: u32) -> u64 {
    1 << if cfg!(target_endian = "little") { n } else { 63 - n }
}
/// `cap_user_rdpmc`: the counter may be read from user space.
pub const CAP_USER_READ: u64 = capability(2);
/// `cap_user_time`: shift, mult and offset of the page are valid.
pub const CAP_USER_TIME: u64 = capability(3);

/// Values of `Attr::kind`.
pub mod kind {
    pub const HARDWARE: u32 = 0;
    pub const SOFTWARE: u32 = 1;
    pub const TRACEPOINT: u32 = 2;
    pub const CACHE: u32 = 3;
    pub const RAW: u32 = 4;
    pub const BREAKPOINT: u32 = 5;
}

/// Values of `Attr::config` for software events.
pub mod software {
    pub const CPU_CLOCK: u64 = 0;
    pub const TASK_CLOCK: u64 = 1;
    /// Its record is written when a fault begins.
    pub const PAGE_FAULTS: u64 = 2;
    pub const CONTEXT_SWITCHES: u64 = 3;
    pub const CPU_MIGRATIONS: u64 = 4;
    /// Its record is written when a fault was handled without reading from a device.
    pub const PAGE_FAULTS_MINOR: u64 = 5;
    /// Its record is written when handling a fault had to read from a device.
    pub const PAGE_FAULTS_MAJOR: u64 = 6;
    /// Counts nothing, anywhere.
    pub const DUMMY: u64 = 9;
    pub const CGROUP_SWITCHES: u64 = 11;
}

/// Records that events write to their rings: the kind of each, and bits of its `misc`.
pub mod record {
    /// The number of records that found no room.
    pub const LOST: u32 = 2;
    /// The event happened.
    pub const SAMPLE: u32 = 9;
    /// The thread got a CPU, or with [`OUT`] left it.
    pub const SWITCH: u32 = 14;
    pub const OUT: u16 = 1 << 13;
    /// The thread left its CPU although it was runnable.
    pub const PREEMPTED: u16 = 1 << 14;
    /// `PERF_SAMPLE_TIME` of `Attr::sample_type`: records end with, or samples are, the time.
    pub const TIME: u64 = 1 << 2;
}

/// Bits of `Attr::read_format`.
pub mod format {
    pub const TIME_ENABLED: u64 = 1;
    pub const TIME_RUNNING: u64 = 2;
    pub const ID: u64 = 4;
    pub const GROUP: u64 = 8;
    /// One event: value, enabled, running, id.
    pub const SINGLE: u64 = TIME_ENABLED | TIME_RUNNING | ID;
    /// A whole group: nr, enabled, running, {value, id} × nr.
    pub const WHOLE: u64 = SINGLE | GROUP;
}

/// `PERF_FLAG_FD_CLOEXEC`.
pub const CLOEXEC: u64 = 8;

/// Requests of `ioctl`. RESET and PERIOD are left out on purpose: a running counter gets a new base instead of a reset.
pub mod request {
    // These three families put the direction bits of `_IO` and `_IOR` elsewhere.
    const ODD: bool = cfg!(any(
        target_arch = "powerpc",
        target_arch = "powerpc64",
        target_arch = "mips",
        target_arch = "mips64"
    )) || cfg!(any(target_arch = "sparc", target_arch = "sparc64"));
    const NONE: u64 = if ODD { 1 << 29 } else { 0 };
    const READ: u64 = if ODD { 2 << 29 } else { 2 << 30 };
    pub const ENABLE: u64 = NONE | 0x2400;
    pub const DISABLE: u64 = NONE | 0x2401;
    /// Takes a pointer to a `u64`.
    pub const ID: u64 = READ | 8 << 16 | 0x2407;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_arch = "x86_64", target_endian = "little"))]
    fn numbers_are_the_kernels() {
        assert_eq!(request::ENABLE, 0x2400);
        assert_eq!(request::DISABLE, 0x2401);
        assert_eq!(request::ID, 0x8008_2407);
        assert_eq!(format::WHOLE, 15);
        let flags = flag::DISABLED | flag::INHERIT | flag::PINNED | flag::EXCLUDE_USER | flag::EXCLUDE_HV;
        assert_eq!((flags, flag::EXCLUDE_KERNEL, flag::EXCLUDE_GUEST), (0b101_0111, 32, 1 << 20));
        assert_eq!(flag::PRECISE_MASK, 3 << 15);
        assert_eq!(flag::CONTEXT_SWITCH | flag::WRITE_BACKWARD, 3 << 26);
        assert_eq!(CAP_USER_READ, 4);
    }
}
