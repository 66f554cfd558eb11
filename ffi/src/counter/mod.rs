//! Picollo: counters of one word that many threads share.
//!
//! The words are the caller's: uint32_t or uint64_t, aligned, zero at the beginning. While several threads use them,
//! they must use these functions only. The kinds trade accuracy for speed:
//!
//! - picollo_scalable_counter_...: exact up to a threshold of 2^threshold_bits. Above it they count in steps of 2^k
//!   with probability 2^-k, so threads contend less the higher the count is. The expected count is exact, and the
//!   relative standard deviation about 2^-((t + 1) / 2) * 1.15: 0.9 % for the default of 13 bits. (Dice, Lev and
//!   Moir, 2013.)
//! - picollo_capped_counter_...: the same with steps of at most 2^cap_bits, so the relative error falls again at high
//!   counts.
//! - picollo_sensing_counter_...: exact while threads do not meet; otherwise like the scalable one.
//!
//! For an exact counter of one word, use the language's atomic_fetch_add. A counter with PICOLLO_METRIC_STRIPED has
//! many words.
//!
//! Words of 32 bits count modulo 2^32. Each thread has a random generator, with another seed in each thread and each
//! process. The child of a fork continues with its parent's numbers.
//!
//! What holds for every function is at the end of picollo.h.

use core::mem::{align_of, size_of};

use picollo_core::counters::{SCALABLE_THRESHOLD_BITS, add_approximately, add_capped, add_sensing};
use picollo_core::layouts::{AtomicU32, AtomicU64, Counter};

/// Default threshold of scalable counters: 2^13 = 8192.
#[allow(dead_code)] // for C
pub const PICOLLO_SCALABLE_THRESHOLD_BITS: u32 = SCALABLE_THRESHOLD_BITS;

/// 0 means the default; other numbers are limited to the range.
#[inline(always)]
fn threshold(bits: u32) -> u32 {
    if bits == 0 { SCALABLE_THRESHOLD_BITS } else { bits.min(31) }
}

/// The caller's word, shared with other threads.
///
/// # Safety
/// `word` must not be NULL, and must be aligned and valid for reads and writes; whoever else uses it does so by atomic
/// operations.
#[inline(always)]
unsafe fn shared<'a, C: Counter, W>(word: *const W) -> &'a C {
    const { assert!(size_of::<C>() == size_of::<W>() && align_of::<C>() <= align_of::<u64>()) };
    // SAFETY: cells are words (just asserted), and the rest is the caller's promise.
    unsafe { &*word.cast::<C>() }
}

/// Counts one or many events approximately (see the head of this section). Whole steps are added directly; the rest
/// adds a step or nothing.
///
/// Requires: counter is not NULL, which is not checked; threshold_bits is 1 ..= 31, or 0 for 13.
/// Threads: any thread, and signal handlers of threads that have counted before.
/// Cost: an atomic addition below the threshold; above it, increasingly often only a load and a random number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_scalable_counter_add_n32(
    counter: *mut u32,
    count: u64,
    threshold_bits: u32,
) {
    add_approximately(shared::<AtomicU32, _>(counter), count, threshold(threshold_bits));
}

/// The same in 64 bits.
///
/// Otherwise: as picollo_scalable_counter_add_n32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_scalable_counter_add_n64(
    counter: *mut u64,
    count: u64,
    threshold_bits: u32,
) {
    add_approximately(shared::<AtomicU64, _>(counter), count, threshold(threshold_bits));
}

/// Counts events as picollo_scalable_counter_add_n32 does, in steps of at most 2^cap_bits. From a count of
/// 2^(threshold_bits + cap_bits) on the relative error is sqrt(2^cap_bits / count).
///
/// Requires: as picollo_scalable_counter_add_n32; cap_bits is 0 ..= 31; 0 counts exactly, and 10 leaves little
///   contention.
/// Otherwise: as picollo_scalable_counter_add_n32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_capped_counter_add32(
    counter: *mut u32,
    count: u64,
    threshold_bits: u32,
    cap_bits: u32,
) {
    add_capped(shared::<AtomicU32, _>(counter), count, threshold(threshold_bits), cap_bits.min(31));
}

/// The same in 64 bits.
///
/// Otherwise: as picollo_capped_counter_add32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_capped_counter_add64(
    counter: *mut u64,
    count: u64,
    threshold_bits: u32,
    cap_bits: u32,
) {
    add_capped(shared::<AtomicU64, _>(counter), count, threshold(threshold_bits), cap_bits.min(31));
}

/// Counts events exactly unless another thread counts at the same moment; then as picollo_scalable_counter_add_n32.
///
/// Cost: a compare-and-swap and, above the threshold, a random number; if it fails, at most an atomic addition.
/// Otherwise: as picollo_scalable_counter_add_n32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_sensing_counter_add32(counter: *mut u32, count: u64, threshold_bits: u32) {
    add_sensing(shared::<AtomicU32, _>(counter), count, threshold(threshold_bits));
}

/// The same in 64 bits.
///
/// Otherwise: as picollo_sensing_counter_add32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_sensing_counter_add64(counter: *mut u64, count: u64, threshold_bits: u32) {
    add_sensing(shared::<AtomicU64, _>(counter), count, threshold(threshold_bits));
}

/// Reads a counter of any of these kinds while others count.
///
/// Returns: the count, exact or approximate; 0 if counter is NULL.
/// Cost: a load.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_counter_read32(counter: *const u32) -> u32 {
    // SAFETY: the caller's promise, NULL but checked.
    if counter.is_null() { 0 } else { Counter::load(unsafe { shared::<AtomicU32, _>(counter) }) as u32 }
}

/// The same in 64 bits.
///
/// Otherwise: as picollo_counter_read32.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_counter_read64(counter: *const u64) -> u64 {
    // SAFETY: the caller's promise, NULL but checked.
    if counter.is_null() { 0 } else { Counter::load(unsafe { shared::<AtomicU64, _>(counter) }) }
}
