//! The time stamp counter: whether it can be trusted, and how fast it runs.
//!
//! It is used only if it runs at one constant rate (CPUID says invariant) and the kernel trusts it too (its clock
//! source is the TSC). On aarch64 the virtual counter is constant by architecture and reports its own frequency.
//!
//! The first thread that needs the decision makes it, once per process. No thread waits: threads that arrive together
//! all compute, and the first to publish decides for all. So a fork in the middle cannot leave a lock behind.
//!
//! The frequency follows from two pairs of simultaneous readings, of the counter and of the kernel's clock. The first
//! is read at first use. Until a second pair is far enough after it, the pairs at hand convert each difference, as
//! exactly as the kernel's clock would. So no scope ever sleeps; only requests for the frequency itself wait.

#[cfg(target_arch = "x86")]
use core::arch::x86::__cpuid as cpuid;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::__cpuid as cpuid;
use core::sync::atomic::{AtomicU64, Ordering};

pub use counter::{fence, read, read_ordered};

/// Ticks per second, or one of the special values, which no real counter has.
static DECISION: AtomicU64 = AtomicU64::new(UNDECIDED);
const UNDECIDED: u64 = 0;
const NOT_USED: u64 = 1;
/// In use, but the frequency is not settled. Values from here on number a first pair.
const UNSETTLED: u64 = 2;
const LAST_SPECIAL: u64 = UNSETTLED + calibrate::STARTS as u64 - 1;

/// Whether the counter is used. Decides at first use, without waiting.
#[inline]
pub fn is_used() -> bool {
    // Relaxed: this does not read the first pair.
    match DECISION.load(Ordering::Relaxed) {
        UNDECIDED => decide() != NOT_USED,
        decision => decision != NOT_USED,
    }
}

/// Ticks per second; `None` if the counter is not used. In the first 20 ms after the first use it waits.
#[inline]
pub fn hertz() -> Option<u64> {
    hertz_or(|decision| unsettled(decision, None))
}

/// Like [`hertz`], to convert this difference of two readings, but without waiting. Until the frequency is settled, it
/// returns the one that is right for this many ticks.
#[inline]
pub fn hertz_for(ticks: u64) -> Option<u64> {
    hertz_or(|decision| unsettled(decision, Some(ticks)))
}

#[inline(always)]
fn hertz_or(unsettled: impl FnOnce(u64) -> Option<u64>) -> Option<u64> {
    // Acquire: the code below reads the first pair.
    match DECISION.load(Ordering::Acquire) {
        NOT_USED => None,
        hertz if hertz > LAST_SPECIAL => Some(hertz),
        decision => unsettled(decision),
    }
}

#[cold]
fn decide() -> u64 {
    publish(UNDECIDED, first_decision())
}

/// Replaces the previous decision, unless another thread already did. Returns the decision that holds.
fn publish(before: u64, mine: u64) -> u64 {
    match DECISION.compare_exchange(before, mine, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => mine,
        Err(theirs) => theirs,
    }
}

/// The frequency for this many ticks; with `None`, it waits as long as needed for the final one.
#[cold]
fn unsettled(mut decision: u64, ticks: Option<u64>) -> Option<u64> {
    // The code below reads files and sleeps.
    let _uncancelled = crate::os::cancel::Uncancelled::new();
    if decision == UNDECIDED {
        decision = decide();
    }
    if decision == NOT_USED || decision > LAST_SPECIAL {
        return Some(decision).filter(|&decision| decision != NOT_USED);
    }
    let at = (decision - UNSETTLED) as usize;
    match ticks.map_or(calibrate::Early::Unsettled, |ticks| calibrate::measure_early(at, ticks)) {
        calibrate::Early::Settled(hertz) => Some(publish(decision, hertz)),
        calibrate::Early::Good(hertz) => Some(hertz),
        calibrate::Early::Unsettled => Some(publish(decision, calibrate::measure(at))),
    }
}

/// The counter. `read` does not wait for earlier instructions. `read_ordered` waits for them and holds back later ones, as
/// `fence` does. (LFENCE serializes execution on Intel, and on AMD because Linux sets the MSR that makes it so.)
///
/// For the compiler, the asm may touch memory: a read of time must stay where the source puts it, relative to other
/// volatile accesses and to calls. The functions are calls, as they were in C: the budgets of
/// instructions (`ci/cost`) count their callers without them.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod counter {
    use core::arch::asm;

    macro_rules! ticks {
        ($($instruction:literal),*) => {{
            let (low, high): (u32, u32);
            // SAFETY: reads a register that user code may read (rdtsc traps only under PR_SET_TSC, which the process
            // itself would have asked for).
            unsafe { asm!($($instruction,)* out("eax") low, out("edx") high, options(nostack, preserves_flags)) };
            u64::from(high) << 32 | u64::from(low)
        }};
    }

    #[inline(never)]
    pub fn read() -> u64 {
        ticks!("rdtsc")
    }

    #[inline(never)]
    pub fn read_ordered() -> u64 {
        ticks!("lfence", "rdtsc", "lfence")
    }

    #[inline(never)]
    pub fn fence() {
        // SAFETY: the instruction changes neither registers nor memory.
        unsafe { asm!("lfence", options(nostack, preserves_flags)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod counter {
    use core::arch::asm;

    macro_rules! register {
        ($($instruction:literal),*) => {{
            let value: u64;
            // SAFETY: reads a register that user code may read on Linux.
            unsafe { asm!($($instruction,)* out(reg) value, options(nostack, preserves_flags)) };
            value
        }};
    }

    #[inline(never)]
    pub fn read() -> u64 {
        register!("mrs {}, cntvct_el0")
    }

    #[inline(never)]
    pub fn read_ordered() -> u64 {
        register!("isb", "mrs {}, cntvct_el0", "isb")
    }

    #[inline(never)]
    pub fn fence() {
        // SAFETY: the instruction changes neither registers nor memory.
        unsafe { asm!("isb", options(nostack, preserves_flags)) };
    }

    pub fn frequency() -> u64 {
        register!("mrs {}, cntfrq_el0")
    }
}

/// User code can read no counter here: the caller uses the monotonic clock.
#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
#[path = "../elsewhere/counter.rs"]
mod counter;

#[cfg(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")))]
fn first_decision() -> u64 {
    NOT_USED
}

#[cfg(target_arch = "aarch64")]
fn first_decision() -> u64 {
    match counter::frequency() {
        hertz if hertz > LAST_SPECIAL => hertz,
        // Firmware forgot to set the frequency.
        _ => calibrate::start([None; 3]),
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn first_decision() -> u64 {
    let page = page_hertz();
    if !invariant() || !(page.is_some() || clock_source_is_tsc()) {
        return NOT_USED;
    }
    // A stated frequency is exact if it is right, and useless if it is not (a guest that shows its host's leaf). A
    // measurement distinguishes the two.
    calibrate::start([page, leaf_15_hertz(), hypervisor_hertz()])
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
    (crystal * numerator).checked_div(denominator).filter(|&hertz| hertz != 0)
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
    use crate::os::sys::{Files, Kernel};
    let mut buffer = [0u8; 16];
    let path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Kernel.read_file(path, &mut buffer).is_ok_and(|length| buffer[..length].trim_ascii() == b"tsc")
}

/// The frequency behind the kernel's own conversion, from a software event's page: `1e9 · 2^shift / mult`. The kernel
/// allows this computation only if its scheduler clock is the stable native TSC.
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
fn page_hertz() -> Option<u64> {
    use crate::os::kernel::{Attr, CAP_USER_TIME, CLOEXEC, flag};
    use crate::os::sys::{Kernel, Perf};
    // PERF_COUNT_SW_DUMMY, user only, disabled: it counts nothing and needs no rights.
    let flags = flag::DISABLED | flag::EXCLUDE_KERNEL | flag::EXCLUDE_HV;
    let attr = Attr { kind: 1, config: 9, flags, ..Attr::default() };
    let fd = Kernel.open(&attr, 0, -1, -1, CLOEXEC).ok()?;
    let hertz = Kernel.map_page(fd).ok().and_then(|page| {
        // SAFETY: the mapping was just made, is one page long, and stays until the unmap below.
        let times = unsafe { page.as_ref() };
        let capabilities = times.capabilities.load(Ordering::Relaxed);
        let shift = u32::from(times.time_shift.load(Ordering::Relaxed));
        let mult = u128::from(times.time_mult.load(Ordering::Relaxed));
        // SAFETY: mapped above; `times` is not used after this.
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
#[cfg_attr(not(any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")), allow(dead_code))]
mod calibrate {
    use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    use std::sync::OnceLock;

    use super::{NOT_USED, UNSETTLED};
    use crate::os::wall::clock_nanos;

    /// Two simultaneous readings, and how far apart they may be in ticks.
    #[derive(Clone, Copy, Debug)]
    pub struct Pair {
        pub ticks: u64,
        pub nanos: u64,
        pub error: u64,
        /// How long the machine has slept: the kernel's clock stands still meanwhile, but the counter may continue.
        pub asleep: u64,
    }

    /// First pairs, and the stated frequencies. A thread takes one of these places and fills it in before others can
    /// see it. Only threads that arrive before the first one has published take more of them, so a few are enough.
    type Start = (Pair, [Option<u64>; 3]);
    pub const STARTS: usize = 16;
    static START: [OnceLock<Start>; STARTS] = [const { OnceLock::new() }; STARTS];
    static TAKEN: AtomicUsize = AtomicUsize::new(0);

    /// Reads a first pair and returns what to publish. If no place is left, the counter is not used: for that, sixteen
    /// threads must arrive at once and all be stopped there.
    pub fn start(stated: [Option<u64>; 3]) -> u64 {
        let at = TAKEN.fetch_add(1, Relaxed);
        match START.get(at).map(|place| place.set((pair(), stated))) {
            Some(Ok(())) => UNSETTLED + at as u64,
            _ => NOT_USED,
        }
    }

    /// The place is filled in, since its number was published.
    fn started(at: usize) -> Start {
        START[at].get().copied().unwrap_or_else(|| (pair(), [None; 3]))
    }

    /// Reads both clocks together, several times. It returns the try in which the counter moved least around the
    /// clock's read, because an interrupt in between only makes it wider.
    fn pair() -> Pair {
        let mut best = (u64::MAX, 0, 0);
        for _ in 0..16 {
            let before = super::read_ordered();
            // NTP does not slew RAW, so corrections of the time of day do not change a window's length.
            let nanos = clock_nanos(libc::CLOCK_MONOTONIC_RAW);
            let width = super::read_ordered().wrapping_sub(before);
            if width < best.0 {
                best = (width, before.wrapping_add(width / 2), nanos);
            }
        }
        let (width, ticks, nanos) = best;
        Pair { ticks, nanos, error: width / 2 + 1, asleep: asleep(clock_nanos) }
    }

    /// The time that the machine has slept: the least of three tries, since a stop between two readings adds to it.
    pub fn asleep(mut clock: impl FnMut(libc::clockid_t) -> u64) -> u64 {
        let tries = [(); 3].map(|()| {
            let awake = clock(libc::CLOCK_MONOTONIC);
            clock(libc::CLOCK_BOOTTIME).saturating_sub(awake)
        });
        tries.into_iter().min().unwrap_or(0)
    }

    /// Ticks per second between two pairs; 0 if time stood still.
    pub fn hertz_between(from: Pair, to: Pair) -> u64 {
        let ticks = to.ticks.wrapping_sub(from.ticks);
        let nanos = to.nanos.saturating_sub(from.nanos);
        if nanos == 0 {
            return 0;
        }
        let hertz = (u128::from(ticks) * 1_000_000_000 + u128::from(nanos / 2)) / u128::from(nanos);
        u64::try_from(hertz).unwrap_or(0)
    }

    /// Whether two frequencies agree within `parts` per million.
    pub fn agree(a: u64, b: u64, parts: u64) -> bool {
        a != 0 && b != 0 && u128::from(a.abs_diff(b)) * 1_000_000 <= u128::from(a.min(b)) * u128::from(parts)
    }

    /// The shortest window that settles the frequency.
    pub const WINDOW_NANOS: u64 = 20_000_000;
    /// The largest error of the readings at its ends, per million of a window that settles it.
    const PARTS: u64 = 50;

    /// The frequency that a window settles: the stated one that it confirms within 0.1 %, or else the measured one.
    /// `None` if the window is too short or too vague, or if the machine slept in it.
    pub fn settled(from: Pair, to: Pair, stated: [Option<u64>; 3]) -> Option<u64> {
        let ticks = to.ticks.wrapping_sub(from.ticks);
        let is_long = to.nanos.saturating_sub(from.nanos) >= WINDOW_NANOS;
        let error = u128::from(from.error) + u128::from(to.error);
        let is_exact = error * 1_000_000 <= u128::from(ticks) * u128::from(PARTS);
        if !is_long || !is_exact || has_slept(from, to) {
            return None;
        }
        let measured = hertz_between(from, to);
        let confirmed = stated.into_iter().flatten().find(|&hertz| agree(hertz, measured, 1000));
        confirmed.or(Some(measured)).filter(|&hertz| hertz > super::LAST_SPECIAL)
    }

    /// Whether the machine slept in between. The limit is not 0, because `asleep` comes from two readings in turn.
    fn has_slept(from: Pair, to: Pair) -> bool {
        to.asleep.abs_diff(from.asleep) > 1_000_000
    }

    /// The knowledge of the frequency without waiting.
    pub enum Early {
        /// The final frequency.
        Settled(u64),
        /// Right for as many ticks as were asked about.
        Good(u64),
        /// Unknown: more ticks than passed since the first pair, or the machine slept.
        Unsettled,
    }

    pub fn measure_early(at: usize, ticks: u64) -> Early {
        let (from, stated) = started(at);
        early(from, pair(), stated, ticks)
    }

    pub fn early(from: Pair, to: Pair, stated: [Option<u64>; 3], ticks: u64) -> Early {
        if let Some(hertz) = settled(from, to, stated) {
            return Early::Settled(hertz);
        }
        // The CPU may have moved this reading before that of the first pair, by a little.
        let since = to.ticks.wrapping_sub(from.ticks);
        match hertz_between(from, to) {
            0 => Early::Unsettled,
            hertz if ticks <= since.saturating_mul(2) && !has_slept(from, to) => Early::Good(hertz),
            _ => Early::Unsettled,
        }
    }

    /// Waits for a window that settles the frequency. After five that do not, the last one has to do: the kernel itself
    /// keeps time by this counter.
    pub fn measure(at: usize) -> u64 {
        let (mut from, stated) = started(at);
        for _ in 0..5 {
            let to = pair();
            if let Some(hertz) = settled(from, to, stated) {
                return hertz;
            }
            if has_slept(from, to) {
                from = to;
            }
            let passed = to.nanos.saturating_sub(from.nanos);
            let rest = WINDOW_NANOS.saturating_sub(passed).max(WINDOW_NANOS / 10);
            std::thread::sleep(core::time::Duration::from_nanos(rest));
        }
        hertz_between(from, pair()).max(super::LAST_SPECIAL + 1)
    }
}

#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64")))]
mod tests {
    use super::calibrate::{Early, Pair, WINDOW_NANOS, agree, asleep, early, hertz_between, settled};
    use super::*;

    fn pair(ticks: u64, nanos: u64) -> Pair {
        Pair { ticks, nanos, error: 50, asleep: 7 }
    }

    #[test]
    fn a_long_and_exact_window_settles_the_frequency() {
        let to = |ticks: u64, nanos| {
            settled(pair(5, 0), pair(5 + ticks, nanos), [None, Some(2_300_000_001), None])
        };
        assert_eq!(to(46_100_000, WINDOW_NANOS), Some(2_305_000_000), "nothing stated is as near as 0.1 %");
        assert_eq!(to(46_010_000, WINDOW_NANOS), Some(2_300_000_001), "what is stated is exact");
        assert_eq!(to(46_000_000, WINDOW_NANOS - 1), None);
        // The readings may be off by at most 50 per million of the window.
        let vague = |error| settled(Pair { error, ..pair(0, 0) }, pair(46_000_000, WINDOW_NANOS), [None; 3]);
        assert_eq!((vague(2250), vague(2251)), (Some(2_300_000_000), None));
        let slept = Pair { asleep: 2_000_000, ..pair(46_000_000, WINDOW_NANOS) };
        assert_eq!(settled(pair(0, 0), slept, [None; 3]), None);
        // Time that stands still proves nothing.
        assert_eq!(settled(pair(0, 5), pair(9, 5), [None; 3]), None);
    }

    #[test]
    fn differences_are_converted_before_that() {
        let good = |ticks, from: Pair, to: Pair| match early(from, to, [None; 3], ticks) {
            Early::Good(hertz) => Some(hertz),
            _ => None,
        };
        let (from, to) = (pair(1000, 0), pair(3300, 1000));
        assert_eq!(good(2000, from, to), Some(2_300_000_000));
        // No difference of two readings since then is this long.
        assert_eq!(good(5000, from, to), None);
        assert_eq!(good(2000, from, Pair { asleep: 2_000_000, ..to }), None);
        assert_eq!(good(0, from, pair(1000, 0)), None);
        assert!(matches!(
            early(from, pair(46_001_000, WINDOW_NANOS), [None; 3], u64::MAX),
            Early::Settled(2_300_000_000)
        ));
    }

    /// A machine slept for a second, and a thread is stopped for 5 ms before the reading of this number.
    #[test]
    fn a_thread_that_is_stopped_has_not_slept() {
        for stopped in 0..=6 {
            let (mut now, mut reading) = (0, 0);
            let seen = asleep(|clock| {
                now += if reading == stopped { 5_000_000 } else { 20 };
                reading += 1;
                if clock == libc::CLOCK_BOOTTIME { now + 1_000_000_000 } else { now }
            });
            assert_eq!(seen, 1_000_000_020, "before reading {stopped}");
        }
    }

    #[test]
    fn a_counter_may_wrap_while_measured() {
        assert_eq!(hertz_between(pair(u64::MAX - 999, 0), pair(1000, 1000)), 2_000_000_000);
        assert!(!agree(0, 0, 100));
    }

    /// No run of a program can prove that nothing moved past a reading; its instructions can.
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

    /// The windows of this many bytes in the ordered reading's code, without the register's bits in the fifth byte.
    fn instructions<const N: usize>(register: u8) -> Vec<[u8; N]> {
        // Before the fence there is at most a landing pad for indirect branches and the setup of a frame.
        let code = (read_ordered as fn() -> u64 as usize) as *const [u8; N];
        (0..=16)
            .map(|start| {
                // SAFETY: Linux maps code so that it can be read. The window is inside mapped code: the function has at
                // least 16 bytes, and code of the C library follows the program's own.
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
        let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(hertz)).collect();
        let states: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert!(states.windows(2).all(|two| two[0] == two[1]), "{states:?}");
        let Some(hertz) = hertz() else {
            return eprintln!("SKIPPED: this machine's time stamp counter is not used");
        };
        eprintln!("time stamp counter: {hertz} Hz");
        assert!((1_000_000..20_000_000_000).contains(&hertz));
        let (first, second) = (read_ordered(), read_ordered());
        // A slow counter may return the same value twice.
        assert!(second >= first && read() >= second);
    }
}
