//! The CPU's side of a reading: its counters and its clock, and what stands in for them in tests.

/// Where the values of counters come from.
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
    fn picollo_asm_pmc_fence();
    fn picollo_asm_tsc() -> u64;
}

impl PmcSource for Cpu {
    fn has(&self, index: u32) -> bool {
        // SAFETY: arithmetic on its argument.
        unsafe { picollo_asm_pmc_has(index) != 0 }
    }

    #[inline(always)]
    fn read(&self, index: u32) -> u64 {
        // SAFETY: touches no memory. The index came from the page of a running event of this thread, and the process's probe has
        // shown that the kernel lets such counters be read: the instruction does not fault.
        unsafe { picollo_asm_pmc_read(index) }
    }

    #[inline(always)]
    fn timestamp(&self) -> u64 {
        // SAFETY: reads a register that user code may read wherever the kernel's pages or the clock say that it can be used; who
        // asks has made sure of one of the two.
        unsafe { picollo_asm_tsc() }
    }

    #[inline(always)]
    fn fence(&self) {
        // SAFETY: a fence.
        unsafe { picollo_asm_pmc_fence() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `asm/pmc.c` takes for a counter.
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

    /// Every entry of the table must read the register of its own number. Without a mapped event the kernel denies them all, so
    /// each read traps, and the handler can look at the instruction. (Two well-known libraries read 13 for 12 and 12 for 13.)
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
        // SAFETY: puts back what was there.
        assert_eq!(unsafe { libc::sigaction(libc::SIGILL, &before, core::ptr::null_mut()) }, 0);
    }
}
