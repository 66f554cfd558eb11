//! Additions to what belongs to the processor that one runs on: restartable sequences.
//!
//! Each thread has an area that it shares with the kernel (glibc 2.35 and later registers it). The kernel writes there which CPU the
//! thread runs on, and the thread says which few instructions it is inside of. When the thread is preempted, moved to another CPU or
//! interrupted by a signal in there, it goes on at another place, which is told that nothing was done. So between the load of the CPU's
//! number and the last instruction nobody else runs on this CPU, and that instruction, a plain addition, is as good as an
//! atomic one: against all who add to a shard in this way only. What cannot be added so goes to a place of its own, by atomic
//! additions; never to a shard.
//!
//! Nothing is tried again: an interrupted addition is one in millions, and a debugger that goes step by step interrupts every one.
//!
//! The kernel looks at the descriptor of a thread's last sequence after the sequence has ended, so what contains this code must
//! stay loaded: a shared library is linked with `-z nodelete`.
//!
//! <https://docs.kernel.org/userspace-api/rseq.html>, `include/uapi/linux/rseq.h`. On aarch64 some kernels fail to interrupt sequences
//! when a thread of the same core takes over, so there nothing is counted in this way.

use crate::platform::atomics::{AtomicPtr, AtomicU64};

/// The shards by CPU, null where there is none yet.
pub(crate) type Table = [AtomicPtr<AtomicU64>];

/// What became of an addition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(not(any(picollo_rseq, loom)), allow(dead_code, reason = "nothing is added there"))]
pub(crate) enum Added {
    /// It was done.
    Done,
    /// It was done, and the cell wrapped around.
    Wrapped,
    /// Nothing was done: the thread has no area, the CPU no shard, or something came between.
    Not,
}

#[cfg(picollo_rseq)]
mod chosen {
    use core::arch::asm;
    use core::ffi::{c_int, c_long};

    use super::*;
    use crate::platform::atomics::AtomicUsize;
    use crate::platform::atomics::Ordering::Relaxed;

    /// From the thread pointer to the area of each thread. 0: not looked for yet, or there is none.
    pub(super) static AREA: AtomicUsize = AtomicUsize::new(0);

    /// A restartable sequence: `arm` tells the kernel of it, `commit` is its last instruction. (Tests leave the one out, and
    /// put more before the other.)
    ///
    /// The area has the CPU's number at 4, which is none (negative) for a thread that is not registered, and the descriptor
    /// at 8. It begins right behind the instruction that arms it: the kernel forgets a descriptor when something comes between.
    /// The place where the kernel sends those that it interrupts comes after the signature that the area was registered with.
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

    /// Counts one in a cell of the shard of the CPU that the thread runs on. Whether it was done.
    ///
    /// # Safety
    /// The shards in the table must have a cell at the index, and be added to in this way only.
    #[inline(always)]
    pub(crate) unsafe fn count(table: &Table, index: usize) -> bool {
        let area = AREA.load(Relaxed);
        if area == 0 {
            return false;
        }
        // SAFETY: the area of this thread, since there is one for every thread. The cell is there, and added to as to an atomic
        // one: see the head of this file.
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

    /// Adds to a cell of the shard of the CPU that the thread runs on.
    ///
    /// # Safety
    /// As for [`count`].
    #[inline(always)]
    pub(crate) unsafe fn add(table: &Table, index: usize, count: u64) -> Added {
        let area = AREA.load(Relaxed);
        if area == 0 {
            return Added::Not;
        }
        // SAFETY: as in `count`. What comes between here and the jump behind the sequence leaves the carry as it is.
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

    /// The CPU that the thread runs on, if it has an area. By now it may be on another.
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

    /// How many CPUs there may ever be, and one; 0: not asked yet.
    static CPUS: AtomicUsize = AtomicUsize::new(0);

    /// How many entries tables have: one for each CPU that there may ever be, as far as the system says, and none where threads
    /// have no areas. Always the same.
    pub(crate) fn cpus() -> usize {
        match CPUS.load(Relaxed) {
            0 => look(),
            known => known - 1,
        }
    }

    /// Several threads may, and see the same.
    #[cold]
    fn look() -> usize {
        const NUMBER_CONFIGURED: c_int = 83;
        /// More than any kernel is configured for.
        const MOST: c_long = 1 << 16;
        unsafe extern "C" {
            fn sysconf(name: c_int) -> c_long;
        }
        let (offset, size): (*const isize, *const u32);
        // SAFETY: reads where the C library has its variables. Weak, so that those without give null.
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
        // SAFETY: variables of the C library, if they are there; constant by the time that our code runs. Its size is 0 where no area
        // was registered.
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

/// Loom's: each thread of a model runs on the CPU that it says. To those on other CPUs a sequence is what an atomic addition is.
#[cfg(loom)]
mod chosen {
    use core::cell::Cell;

    use super::*;
    use crate::platform::atomics::Ordering::{Acquire, Relaxed};

    loom::thread_local! {
        static CPU: Cell<Option<usize>> = Cell::new(None);
    }

    /// The calling thread runs on this CPU from now on.
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

/// No areas: nothing is added.
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
