//! Additions to memory of the processor that the thread runs on: restartable sequences.
//!
//! Each thread has an area that it shares with the kernel (glibc 2.35 and later registers it). The kernel writes there
//! which CPU the thread runs on, and the thread writes which few instructions it is in. If the thread is preempted,
//! moved to another CPU or interrupted by a signal there, it continues at another place, which reports that nothing was
//! done. So nobody else runs on this CPU between the load of its number and the last instruction. That instruction, a
//! plain addition, is as good as an atomic one, if everybody adds to a shard only in this way. Other additions are
//! atomic and go to a separate place, never to a shard.
//!
//! There are no retries: interrupted additions are one in millions, and a debugger that steps interrupts every one.
//!
//! The kernel reads the descriptor of a thread's last sequence after that sequence has ended, so this code must stay
//! loaded: a shared library is linked with `-z nodelete`.
//!
//! <https://docs.kernel.org/userspace-api/rseq.html>, `include/uapi/linux/rseq.h`. On aarch64 some kernels fail to
//! interrupt sequences when a thread of the same core takes over, so nothing is counted in this way there.

use crate::platform::atomics::{AtomicPtr, AtomicU64};

/// The shards by CPU; null if a CPU has no shard yet.
pub(crate) type Table = [AtomicPtr<AtomicU64>];

/// The result of an addition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(any(picollo_rseq, loom)), allow(dead_code, reason = "nothing is added there"))]
pub(crate) enum Added {
    /// It was done.
    Done,
    /// It was done, and the cell wrapped around.
    Wrapped,
    /// Nothing was done: the thread has no area, the CPU has no shard, or the sequence was interrupted.
    Not,
}

#[cfg(picollo_rseq)]
mod chosen {
    use core::arch::asm;
    use core::ffi::{c_int, c_long};

    use super::*;
    use crate::platform::atomics::AtomicUsize;
    use crate::platform::atomics::Ordering::Relaxed;

    /// The offset from the thread pointer to the area of each thread; 0 if it is not known yet or does not exist.
    pub(super) static AREA: AtomicUsize = AtomicUsize::new(0);

    /// A restartable sequence: `arm` registers it with the kernel, and `commit` is its last instruction. (Tests omit
    /// the former, and put more before the latter.)
    ///
    /// The area has the CPU's number at 4, which is negative for an unregistered thread, and the descriptor at 8. The
    /// sequence begins right after the instruction that arms it: an interruption in between would make the kernel
    /// forget the descriptor. The kernel sends interrupted threads to the place after the signature that the area was
    /// registered with.
    macro_rules! sequence {
        ($arm:literal, [$($commit:literal),+], $area:expr, $table:expr, $index:expr, $elsewhere:block, $($operands:tt)*) => {
            asm!(
                ".pushsection .data.rel.ro.picollo_rseq, \"aw\", @progbits",
                ".p2align 5",
                "771: .long 0, 0",
                ".quad 772f, 773f - 772f, 774f",
                ".popsection",
                ".pushsection .text.picollo_rseq, \"ax\", @progbits",
                ".byte 0x0f, 0xb9, 0x3d",
                ".long 0x53053053",
                "774: jmp {elsewhere}",
                ".popsection",
                "lea {shard}, [rip + 771b]",
                $arm,
                "772:",
                "mov {shard:e}, dword ptr fs:[{area} + 4]",
                "cmp {shard:e}, {cpus:e}",
                "jae {elsewhere}",
                "mov {shard}, qword ptr [{table} + 8 * {shard}]",
                "test {shard}, {shard}",
                "jz {elsewhere}",
                $($commit,)+
                "773:",
                $($operands)*
                shard = out(reg) _,
                area = in(reg) $area,
                cpus = in(reg) $table.len(),
                table = in(reg) $table.as_ptr(),
                index = in(reg) $index,
                elsewhere = label { $elsewhere },
                options(nostack)
            )
        };
    }
    #[cfg(test)]
    pub(super) use sequence;

    /// Adds one to a cell of the shard of the current CPU. Returns whether it was done.
    ///
    /// # Safety
    /// The shards in the table must have a cell at the index, and all additions to them must use this way.
    #[inline(always)]
    pub(crate) unsafe fn count(table: &Table, index: usize) -> bool {
        let area = AREA.load(Relaxed);
        if area == 0 {
            return false;
        }
        // SAFETY: this is the area of this thread, because every thread has one. The cell exists, and additions to it
        // are like atomic ones: see the head of this file.
        unsafe {
            sequence!(
                "mov qword ptr fs:[{area} + 8], {shard}",
                ["inc qword ptr [{shard} + 8 * {index}]"],
                area,
                table,
                index,
                { return false },
            );
        }
        true
    }

    /// Adds to a cell of the shard of the current CPU.
    ///
    /// # Safety
    /// As for [`count`].
    #[inline(always)]
    pub(crate) unsafe fn add(table: &Table, index: usize, count: u64) -> Added {
        let area = AREA.load(Relaxed);
        if area == 0 {
            return Added::Not;
        }
        // SAFETY: as in `count`. The instructions between here and the jump after the sequence do not change the carry.
        unsafe {
            sequence!(
                "mov qword ptr fs:[{area} + 8], {shard}",
                ["add qword ptr [{shard} + 8 * {index}], {count}"],
                area,
                table,
                index,
                { return Added::Not },
                "jc {wrapped}",
                wrapped = label { return Added::Wrapped },
                count = in(reg) count,
            );
        }
        Added::Done
    }

    /// Returns the CPU that the thread runs on, if it has an area. The thread may already be on another one.
    #[inline]
    pub(crate) fn cpu() -> Option<usize> {
        let area = AREA.load(Relaxed);
        if area == 0 {
            return None;
        }
        let cpu: u32;
        // SAFETY: reads the area of this thread, as above.
        unsafe {
            asm!("mov {cpu:e}, dword ptr fs:[{area} + 4]", area = in(reg) area, cpu = lateout(reg) cpu,
                options(readonly, nostack, preserves_flags));
        }
        usize::try_from(cpu as i32).ok()
    }

    /// One more than the number of possible CPUs; 0 if not determined yet.
    static CPUS: AtomicUsize = AtomicUsize::new(0);

    /// Returns how many entries tables have: one for each possible CPU, as far as the system reports it, or zero if
    /// threads have no areas. The result is always the same.
    pub(crate) fn cpus() -> usize {
        match CPUS.load(Relaxed) {
            0 => find_cpus(),
            known => known - 1,
        }
    }

    /// Several threads may call this, and get the same result.
    #[cold]
    fn find_cpus() -> usize {
        const NUMBER_CONFIGURED: c_int = 83;
        /// More CPUs than any kernel is configured for.
        const MOST: c_long = 1 << 16;
        unsafe extern "C" {
            fn sysconf(name: c_int) -> c_long;
        }
        let (offset, size): (*const isize, *const u32);
        // SAFETY: reads where the C library has its variables. The symbols are weak, so they are null without them.
        unsafe {
            asm!(
                ".weak __rseq_offset",
                ".weak __rseq_size",
                "mov {offset}, qword ptr [rip + __rseq_offset@GOTPCREL]",
                "mov {size}, qword ptr [rip + __rseq_size@GOTPCREL]",
                offset = out(reg) offset,
                size = out(reg) size,
                options(pure, readonly, nostack, preserves_flags)
            );
        }
        let mut cpus = 0;
        // SAFETY: these are variables of the C library, if they exist, and constant by the time our code runs. The size
        // is 0 if no area was registered.
        unsafe {
            if !offset.is_null() && !size.is_null() && *size != 0 {
                cpus = sysconf(NUMBER_CONFIGURED).clamp(1, MOST) as usize;
                AREA.store((*offset).cast_unsigned(), Relaxed);
            }
        }
        CPUS.store(cpus + 1, Relaxed);
        cpus
    }
}

/// For loom: each thread runs on the CPU that it selects. For other CPUs a sequence acts like an atomic addition.
#[cfg(loom)]
mod chosen {
    use core::cell::Cell;

    use super::*;
    use crate::platform::atomics::Ordering::{Acquire, Relaxed};

    loom::thread_local! {
        static CPU: Cell<Option<usize>> = Cell::new(None);
    }

    /// Moves the calling thread to this CPU.
    #[cfg(test)]
    pub(crate) fn run_on(cpu: usize) {
        CPU.with(|of_thread| of_thread.set(Some(cpu)));
    }

    pub(crate) unsafe fn count(table: &Table, index: usize) -> bool {
        // SAFETY: passed on.
        unsafe { add(table, index, 1) != Added::Not }
    }

    pub(crate) unsafe fn add(table: &Table, index: usize, count: u64) -> Added {
        let shard = cpu().map_or(core::ptr::null_mut(), |cpu| table[cpu].load(Acquire));
        if shard.is_null() {
            return Added::Not;
        }
        // SAFETY: as promised.
        let before = unsafe { &*shard.add(index) }.fetch_add(count, Relaxed);
        if before.checked_add(count).is_some() { Added::Done } else { Added::Wrapped }
    }

    pub(crate) fn cpu() -> Option<usize> {
        CPU.with(Cell::get)
    }

    pub(crate) fn cpus() -> usize {
        2
    }
}

/// There are no areas here, so nothing is added.
#[cfg(not(any(picollo_rseq, loom)))]
mod chosen {
    use super::*;

    #[inline(always)]
    pub(crate) unsafe fn count(_: &Table, _: usize) -> bool {
        false
    }

    #[inline(always)]
    pub(crate) unsafe fn add(_: &Table, _: usize, _: u64) -> Added {
        Added::Not
    }

    pub(crate) fn cpu() -> Option<usize> {
        None
    }

    pub(crate) fn cpus() -> usize {
        0
    }
}

#[cfg(all(test, loom))]
pub(crate) use chosen::run_on;
pub(crate) use chosen::{add, count, cpu, cpus};

#[cfg(all(test, picollo_rseq))]
#[path = "rseq_tests.rs"]
mod tests;
