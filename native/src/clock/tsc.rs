//! The time stamp counter: whether it can be trusted, and how fast it runs.
//!
//! It is used only where it runs at one constant rate (CPUID says invariant) and the kernel trusts it too (its clock source is
//! the TSC). On aarch64 the virtual counter is constant by architecture and names its own frequency.
//!
//! The decision is made once per process, by whoever needs it first. Nobody waits for anybody: threads that arrive together
//! all compute, and the first to publish decides for all. So a fork in the middle cannot leave a lock behind.

#[cfg(target_arch = "x86")]
use core::arch::x86::__cpuid as cpuid;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::__cpuid as cpuid;
use core::sync::atomic::{AtomicU64, Ordering};

unsafe extern "C" {
    fn picollo_asm_tsc() -> u64;
    fn picollo_asm_tsc_ordered() -> u64;
    fn picollo_asm_fence();
    #[cfg(target_arch = "aarch64")]
    fn picollo_asm_tsc_frequency() -> u64;
}

/// How the process came to use, or not to use, the time stamp counter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TscState {
    /// In use, at this many ticks a second.
    Used {
        /// Ticks a second.
        hertz: u64,
    },
    /// Not in use: the monotonic clock stands in for it.
    NotUsed,
}

impl TscState {
    /// The state of this process, deciding it now if it is not yet decided.
    pub fn get() -> TscState {
        match hertz() {
            Some(hertz) => TscState::Used { hertz },
            None => TscState::NotUsed,
        }
    }
}

/// Ticks a second, or one of the two special values, which no real counter has.
static DECISION: AtomicU64 = AtomicU64::new(UNDECIDED);
const UNDECIDED: u64 = 0;
const NOT_USED: u64 = 1;

/// Ticks a second; `None` where the counter is not used. Decides at first use.
#[inline]
pub(crate) fn hertz() -> Option<u64> {
    // Relaxed: the number is all that is published.
    match DECISION.load(Ordering::Relaxed) {
        UNDECIDED => decide(),
        NOT_USED => None,
        hertz => Some(hertz),
    }
}

#[cold]
fn decide() -> Option<u64> {
    // Calibration sleeps.
    let _uncancelled = crate::os::cancel::Uncancelled::new();
    let mine = find_hertz().filter(|&hertz| hertz > NOT_USED).unwrap_or(NOT_USED);
    let decided = match DECISION.compare_exchange(UNDECIDED, mine, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => mine,
        Err(theirs) => theirs,
    };
    (decided != NOT_USED).then_some(decided)
}

/// Reads the counter without waiting for earlier instructions.
#[inline]
pub(crate) fn read() -> u64 {
    // SAFETY: reads a register that user code may read on this architecture (rdtsc traps only under PR_SET_TSC, which the
    // process itself would have asked for); elsewhere the function returns 0.
    unsafe { picollo_asm_tsc() }
}

/// Reads the counter after everything before it and before everything after it.
#[inline]
pub(crate) fn read_ordered() -> u64 {
    // SAFETY: as for `read`.
    unsafe { picollo_asm_tsc_ordered() }
}

/// Waits for everything before it and holds back everything after it, as far as the CPU can.
#[inline]
pub(crate) fn fence() {
    // SAFETY: an instruction without effect on registers or memory.
    unsafe { picollo_asm_fence() }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
fn find_hertz() -> Option<u64> {
    None
}

#[cfg(target_arch = "aarch64")]
fn find_hertz() -> Option<u64> {
    // SAFETY: CNTFRQ_EL0 is readable by user code on Linux.
    match unsafe { picollo_asm_tsc_frequency() } {
        // Firmware that forgot to set it.
        0 => calibrate::measure(),
        hertz => Some(hertz),
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn find_hertz() -> Option<u64> {
    let page = page_hertz();
    if !invariant() || !(page.is_some() || clock_source_is_tsc()) {
        return None;
    }
    // A stated frequency is exact where it is right, and useless where it is not (a guest that shows its host's leaf): a
    // quick measurement tells one from the other.
    let stated = [page, leaf_15_hertz(), hypervisor_hertz()].into_iter().flatten();
    if let Some(hertz) = calibrate::first_confirmed(stated) {
        return Some(hertz);
    }
    calibrate::measure()
}

/// CPUID 8000_0007h EDX[8]: the counter runs at a constant rate in all power states.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn invariant() -> bool {
    cpuid(0x8000_0000).eax >= 0x8000_0007 && cpuid(0x8000_0007).edx & 1 << 8 != 0
}

/// CPUID 15h: crystal frequency ECX times EBX/EAX. ECX is often 0: unknown.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn leaf_15_hertz() -> Option<u64> {
    if cpuid(0).eax < 0x15 {
        return None;
    }
    let leaf = cpuid(0x15);
    let (denominator, numerator, crystal) = (u64::from(leaf.eax), u64::from(leaf.ebx), u64::from(leaf.ecx));
    if denominator == 0 || numerator == 0 || crystal == 0 {
        None
    } else {
        Some(crystal * numerator / denominator)
    }
}

/// CPUID 4000_0010h EAX: kHz, stated by some hypervisors.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn hypervisor_hertz() -> Option<u64> {
    if cpuid(1).ecx & 1 << 31 == 0 || !(0x4000_0010..0x4001_0000).contains(&cpuid(0x4000_0000).eax) {
        return None;
    }
    Some(u64::from(cpuid(0x4000_0010).eax) * 1000).filter(|&hertz| hertz != 0)
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn clock_source_is_tsc() -> bool {
    use crate::os::sys::{Kernel, Sys};
    let mut buffer = [0u8; 16];
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Kernel.read_file(path, &mut buffer).is_ok_and(|length| buffer[..length].trim_ascii() == b"tsc")
}

/// The frequency behind the kernel's own conversion, from the page of a software event: `1e9 · 2^shift / mult`. Only where the
/// kernel says that user time may be computed from it, which it does when its scheduler clock is the stable native TSC.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn page_hertz() -> Option<u64> {
    use crate::os::kernel::{Attr, CAP_USER_TIME, CLOEXEC, flag};
    use crate::os::sys::{Kernel, Sys};
    // PERF_COUNT_SW_DUMMY, user only, disabled: counts nothing, needs no rights.
    let mut attr = Attr { kind: 1, config: 9, ..Attr::default() };
    attr.flags = flag::DISABLED | flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV;
    let fd = Kernel.open(&mut attr, 0, -1, -1, CLOEXEC).ok()?;
    let hertz = Kernel.map_page(fd).ok().and_then(|page| {
        // SAFETY: the mapping was just made, is one page long, and stays until the unmap below.
        let times = unsafe { page.as_ref() };
        let capabilities = times.capabilities.load(Ordering::Relaxed);
        let shift = u32::from(times.time_shift.load(Ordering::Relaxed));
        let mult = u128::from(times.time_mult.load(Ordering::Relaxed));
        // SAFETY: mapped above; `times` is not used any more.
        unsafe { Kernel.unmap_page(page) };
        if capabilities & CAP_USER_TIME == 0 || mult == 0 || shift > 63 {
            return None;
        }
        u64::try_from((1_000_000_000u128 << shift) / mult).ok()
    });
    // SAFETY: opened above.
    unsafe { Kernel.close(fd) };
    hertz
}

/// Measuring the counter against the kernel's clock.
#[cfg(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64"))]
mod calibrate {
    use crate::os::wall::clock_nanos;

    /// Two simultaneous readings.
    #[derive(Clone, Copy)]
    pub(crate) struct Pair {
        pub ticks: u64,
        pub nanos: u64,
    }

    /// Reads both clocks together: of several tries the one in which the counter moved least around the clock's read, because
    /// an interrupt in between only ever makes it wider.
    fn pair() -> Pair {
        let mut best = (u64::MAX, Pair { ticks: 0, nanos: 0 });
        for _ in 0..16 {
            let before = super::read_ordered();
            // RAW is not slewed by NTP, so a window's length does not depend on the time of day being corrected.
            let nanos = clock_nanos(libc::CLOCK_MONOTONIC_RAW);
            let width = super::read_ordered().wrapping_sub(before);
            if width < best.0 {
                best = (width, Pair { ticks: before.wrapping_add(width / 2), nanos });
            }
        }
        best.1
    }

    /// Ticks a second between two pairs; 0 where time stood still.
    pub(crate) fn hertz_between(from: Pair, to: Pair) -> u64 {
        let ticks = to.ticks.wrapping_sub(from.ticks);
        let nanos = to.nanos.saturating_sub(from.nanos);
        if nanos == 0 {
            return 0;
        }
        let hertz = (u128::from(ticks) * 1_000_000_000 + u128::from(nanos / 2)) / u128::from(nanos);
        u64::try_from(hertz).unwrap_or(0)
    }

    /// Whether two frequencies agree within `parts` per million.
    pub(crate) fn agree(a: u64, b: u64, parts: u64) -> bool {
        a != 0 && b != 0 && u128::from(a.abs_diff(b)) * 1_000_000 <= u128::from(a.min(b)) * u128::from(parts)
    }

    fn wait(nanos: u64) {
        std::thread::sleep(core::time::Duration::from_nanos(nanos));
    }

    /// The first of the stated frequencies that a 2 ms measurement confirms within 0.1 %.
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    pub(crate) fn first_confirmed(stated: impl Iterator<Item = u64>) -> Option<u64> {
        let mut stated = stated.peekable();
        stated.peek()?;
        let from = pair();
        wait(2_000_000);
        let measured = hertz_between(from, pair());
        stated.find(|&hertz| agree(hertz, measured, 1000))
    }

    /// Two neighbouring windows of 10 ms must agree within 100 ppm; their union is the answer. A machine that is too busy to
    /// give two such windows out of four is one whose counter we do not trust.
    pub(crate) fn measure() -> Option<u64> {
        settle(|| {
            wait(10_000_000);
            pair()
        })
    }

    pub(crate) fn settle(mut next: impl FnMut() -> Pair) -> Option<u64> {
        let (mut first, mut second) = (next(), next());
        for _ in 0..3 {
            let third = next();
            if agree(hertz_between(first, second), hertz_between(second, third), 100) {
                return Some(hertz_between(first, third));
            }
            (first, second) = (second, third);
        }
        None
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::calibrate::{Pair, agree, hertz_between, settle};
    use super::*;

    fn pairs(ticks_and_nanos: &[(u64, u64)]) -> Option<u64> {
        let mut all = ticks_and_nanos.iter();
        settle(|| {
            let &(ticks, nanos) = all.next().expect("asked for more windows than it may");
            Pair { ticks, nanos }
        })
    }

    #[test]
    fn two_windows_must_agree() {
        let steady = [(0, 0), (23_000_000, 10_000_000), (46_000_000, 20_000_000)];
        assert_eq!(pairs(&steady), Some(2_300_000_000));
        // 99 ppm apart is agreement, 101 is not, four times over.
        assert_eq!(pairs(&[(0, 0), (1_000_000, 10_000_000), (2_000_099, 20_000_000)]), Some(100_004_950));
        let drifting: Vec<(u64, u64)> =
            (0..5u64).map(|i| (i * 1_000_000 + 101 * i * i, i * 10_000_000)).collect();
        assert_eq!(pairs(&drifting), None);
        // A disturbed first window is outlived.
        let late = [(0, 0), (25_000_000, 10_000_000), (48_000_000, 20_000_000), (71_000_000, 30_000_000)];
        assert_eq!(pairs(&late), Some(2_300_000_000));
        // Time that stands still proves nothing.
        assert_eq!(pairs(&[(0, 5); 5]), None);
    }

    #[test]
    fn a_counter_may_wrap_while_measured() {
        let from = Pair { ticks: u64::MAX - 999, nanos: 0 };
        assert_eq!(hertz_between(from, Pair { ticks: 1000, nanos: 1000 }), 2_000_000_000);
        assert!(!agree(0, 0, 100));
    }

    /// No run of a program could prove that nothing was moved past a reading; its instructions can.
    #[test]
    fn an_ordered_reading_has_a_fence_on_either_side() {
        // Fence, reading, fence; the bits of the target register are left out.
        #[cfg(target_arch = "x86_64")]
        let (code, expected) = (instructions::<8>(0), &[0x0f, 0xae, 0xe8, 0x0f, 0x31, 0x0f, 0xae, 0xe8]);
        #[cfg(target_arch = "aarch64")]
        let (code, expected) = (
            instructions::<12>(0x1f),
            &[0xdf, 0x3f, 0x03, 0xd5, 0x40, 0xe0, 0x3b, 0xd5, 0xdf, 0x3f, 0x03, 0xd5],
        );
        assert!(code.iter().any(|window| window == expected), "{code:02x?}");
    }

    /// The windows of this many bytes in the code of the ordered reading; of the fifth byte these bits are cleared.
    fn instructions<const N: usize>(register: u8) -> Vec<[u8; N]> {
        // In front of the fence there is at most a landing pad for indirect branches and the making of a frame.
        let code = (picollo_asm_tsc_ordered as unsafe extern "C" fn() -> u64 as usize) as *const [u8; N];
        (0..=16)
            .map(|start| {
                // SAFETY: Linux maps code so that it can be read, and this much there is: the function has 16 bytes at least, and
                // code of the C library follows the program's own.
                let mut window = unsafe { code.byte_add(start).read() };
                if register != 0 {
                    window[4] &= !register;
                }
                window
            })
            .collect()
    }

    #[test]
    fn decided_once_for_all_threads() {
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(TscState::get)).collect();
        let states: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(states.windows(2).all(|two| two[0] == two[1]), "{states:?}");
        match TscState::get() {
            TscState::NotUsed => eprintln!("SKIPPED: this machine's time stamp counter is not used"),
            TscState::Used { hertz } => {
                eprintln!("time stamp counter: {hertz} Hz");
                assert!((1_000_000..20_000_000_000).contains(&hertz));
                let (first, second) = (read_ordered(), read_ordered());
                // A slow counter may say the same twice.
                assert!(second >= first && read() >= second);
            }
        }
    }
}
