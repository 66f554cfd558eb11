//! The layer between a session and the machine: system calls, and what works on the CPU without them. Tests replace all
//! of it, so that they need no PMU for readings in user space, and no child.

use core::sync::atomic::{AtomicU8, Ordering};
use std::ffi::OsStr;

use crate::user_read::fault;
use crate::user_read::trial::Finding;
use picollo_native::seam::kernel::Attr;
use picollo_native::seam::sys::{Files, Kernel, Perf, Threads};
use picollo_native::seam::tsc;

/// Counters read in user space: whether that is allowed, and how.
pub trait UserReads {
    /// The source of counters' values.
    type Source: PmcSource;
    /// The user's choice.
    fn policy(&self) -> Policy;
    /// Whether reading a counter of this request's PMU faults. The kernel has accepted the request before.
    fn user_reads(&self, attr: &Attr) -> Finding;
    /// The source of this system's counters. Called for every reading.
    fn source(&self) -> Self::Source;
    /// Ticks per second of [`PmcSource::timestamp`]; `None` if they are not reliable times.
    fn tick_rate(&self) -> Option<u64>;
}

/// The machine itself: the environment, a child that tries a read, and the CPU's registers and clock.
impl UserReads for Kernel {
    type Source = Cpu;

    fn policy(&self) -> Policy {
        Policy::from_environment()
    }

    fn user_reads(&self, attr: &Attr) -> Finding {
        fault::user_reads(attr)
    }

    #[inline(always)]
    fn source(&self) -> Cpu {
        Cpu
    }

    fn tick_rate(&self) -> Option<u64> {
        tsc::hertz()
    }
}

/// Everything that a session needs from the machine. [`Kernel`] is the real one.
pub trait Sys: Files + Perf + Threads + UserReads {}

impl<S: Files + Perf + Threads + UserReads> Sys for S {}

/// A source of counters' values.
pub trait PmcSource {
    /// Whether an index names a counter.
    fn has(&self, index: u32) -> bool;
    /// The counter's value; bits above its width are undefined.
    fn read(&self, index: u32) -> u64;
    /// The time stamp counter that the page's times refer to.
    fn timestamp(&self) -> u64;
    /// Waits for earlier instructions and holds back later ones.
    fn fence(&self);
}

/// The CPU that this runs on.
#[derive(Clone, Copy, Debug)]
pub struct Cpu;

unsafe extern "C" {
    fn picollo_asm_pmc_has(index: u32) -> i32;
    fn picollo_asm_pmc_read(index: u32) -> u64;
}

impl PmcSource for Cpu {
    fn has(&self, index: u32) -> bool {
        // SAFETY: the function only computes with its argument.
        unsafe { picollo_asm_pmc_has(index) != 0 }
    }

    #[inline(always)]
    fn read(&self, index: u32) -> u64 {
        // SAFETY: the instruction touches no memory. The index came from the page of a running event of this thread,
        // and the process's probe has shown that the kernel lets such counters be read, so this does not fault.
        unsafe { picollo_asm_pmc_read(index) }
    }

    #[inline(always)]
    fn timestamp(&self) -> u64 {
        // Where this might fault, neither the kernel's pages nor the clock use it, and nobody asks.
        tsc::read()
    }

    #[inline(always)]
    fn fence(&self) {
        tsc::fence();
    }
}

/// The value of `PICOLLO_RDPMC`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// Read in user space if the child survived it.
    Auto,
    /// Never read in user space.
    Off,
    /// Never read in user space: the value is unknown, and its author most likely wants to switch user reads off.
    Misspelt,
    /// Read without trying it in a child: for simulators, which handle the fault.
    Force,
}

impl Policy {
    /// The value of `PICOLLO_RDPMC` when this process first asked.
    ///
    /// Later changes have no effect: reading the environment while another thread changes it is undefined behavior.
    /// Opening a session must not risk that repeatedly.
    pub(crate) fn from_environment() -> Policy {
        static KNOWN: AtomicU8 = AtomicU8::new(0);
        const ALL: [Policy; 4] = [Policy::Auto, Policy::Off, Policy::Misspelt, Policy::Force];
        let known = usize::from(KNOWN.load(Ordering::Relaxed));
        if let Some(&policy) = known.checked_sub(1).and_then(|index| ALL.get(index)) {
            return policy;
        }
        let policy = Policy::named(std::env::var_os("PICOLLO_RDPMC").as_deref());
        // There is no lock: a child forked meanwhile would find it held forever. Simultaneous threads store the same.
        let number = ALL.iter().position(|&one| one == policy).map_or(0, |index| index + 1);
        KNOWN.store(number as u8, Ordering::Relaxed);
        policy
    }

    /// Whether counters are never read in user space, even if they can be.
    pub(crate) fn is_off(self) -> bool {
        matches!(self, Policy::Off | Policy::Misspelt)
    }

    fn named(value: Option<&OsStr>) -> Policy {
        let Some(value) = value else { return Policy::Auto };
        let is_one_of = |names: &[&str]| names.iter().any(|name| value.eq_ignore_ascii_case(name));
        match () {
            () if is_one_of(&["auto", "on", "1"]) => Policy::Auto,
            () if is_one_of(&["force"]) => Policy::Force,
            () if is_one_of(&["off", "0"]) => Policy::Off,
            () => Policy::Misspelt,
        }
    }
}

#[cfg(test)]
mod cpu_tests {
    use super::*;

    /// The indices that `asm/pmc.c` accepts as counters.
    #[test]
    fn indices_of_this_machine() {
        assert!(!Cpu.has(0));
        if cfg!(target_arch = "x86_64") {
            for index in [1, 4, 64, (1 << 30) + 1, (1 << 30) + 4] {
                assert!(Cpu.has(index), "{index:#x}");
            }
            // 2^29 is PERF_METRICS: packed fractions, no count.
            for index in [65, 1 << 29, (1 << 29) + 1, (1 << 30) + 65, 3 << 29, 1 << 31, u32::MAX] {
                assert!(!Cpu.has(index), "{index:#x}");
            }
        } else if cfg!(target_arch = "aarch64") {
            assert!((1..=32).all(|index| Cpu.has(index)) && !Cpu.has(33) && !Cpu.has(u32::MAX));
        } else {
            assert!(!Cpu.has(1));
        }
        Cpu.fence();
    }

    /// Every entry of the table must read the register with its number. Without an event the kernel denies all, so each
    /// read traps, and the handler inspects the instruction. (Two well-known libraries read 13 for 12 and 12 for 13.)
    #[cfg(target_arch = "aarch64")]
    #[test]
    fn every_entry_reads_its_own_register() {
        use core::sync::atomic::{AtomicU32, Ordering};
        static INSTRUCTION: AtomicU32 = AtomicU32::new(0);
        extern "C" fn on_trap(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
            // SAFETY: the kernel passes a ucontext, whose pc is that of the trapped instruction.
            let context = unsafe { &mut *context.cast::<libc::ucontext_t>() };
            // SAFETY: it was about to be executed, so it can be read.
            INSTRUCTION.store(unsafe { *(context.uc_mcontext.pc as *const u32) }, Ordering::Relaxed);
            context.uc_mcontext.pc += 4;
        }
        // SAFETY: a zeroed sigaction is a valid one.
        let (mut action, mut before): (libc::sigaction, libc::sigaction) = unsafe { core::mem::zeroed() };
        action.sa_sigaction = on_trap as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO;
        // SAFETY: the handler touches only its context and an atomic.
        assert_eq!(unsafe { libc::sigaction(libc::SIGILL, &action, &mut before) }, 0);
        for entry in 0..32u32 {
            INSTRUCTION.store(0, Ordering::Relaxed);
            Cpu.read(entry + 1);
            let instruction = INSTRUCTION.load(Ordering::Relaxed);
            // MRS: 1101 0101 0011, then o0 op1 CRn CRm op2, then the target.
            let register = instruction & !31;
            let (crm, op2) = if entry == 31 { (13, 0) } else { (8 + entry / 8, entry % 8) };
            let crn = if entry == 31 { 9 } else { 14 };
            assert_eq!(
                register,
                0xd530_0000 | 1 << 19 | 3 << 16 | crn << 12 | crm << 8 | op2 << 5,
                "entry {entry}"
            );
        }
        // SAFETY: restores the previous action.
        assert_eq!(unsafe { libc::sigaction(libc::SIGILL, &before, core::ptr::null_mut()) }, 0);
    }
}

#[cfg(test)]
mod policy_tests {
    use super::*;

    #[test]
    fn the_environment_decides() {
        let named = |value: &str| Policy::named(Some(OsStr::new(value)));
        assert_eq!(Policy::named(None), Policy::Auto);
        for on in ["auto", "AUTO", "on", "On", "1"] {
            assert_eq!(named(on), Policy::Auto, "{on}");
        }
        assert_eq!((named("force"), named("Force")), (Policy::Force, Policy::Force));
        for off in ["off", "OFF", "Off", "0"] {
            assert_eq!(named(off), Policy::Off, "{off}");
        }
        // A misspelled value is on the safe side, and is reported.
        for misspelt in ["", " ", "no", "none", "false", "disable", "offf", "auto ", "2", "forced", "ähm"] {
            assert_eq!(named(misspelt), Policy::Misspelt, "{misspelt}");
            assert!(named(misspelt).is_off());
        }
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(Policy::named(Some(OsStr::from_bytes(b"\xff"))), Policy::Misspelt);
    }
}
