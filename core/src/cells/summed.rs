//! Loads a run of cells and sums it in one pass: reading each run twice would otherwise limit a reader's speed.
//!
//! As in [`crate::cells::wide`], cells are loaded by aligned loads of 16 bytes, which are atomic. Two loads make a
//! vector of 32 bytes in registers. (An insertion from memory would save an instruction, but is not documented to be
//! atomic.)

use core::arch::asm;
use core::arch::x86_64::*;

use crate::cells::cell::Counter;
use crate::cells::loads::Sums;
use crate::platform::atomics::AtomicU64;

/// The number of cells processed in one step: a cache line.
const LINE: usize = 8;

/// Returns whether the processor supports what [`load`] and [`add`] are compiled for. AVX2 includes AVX, with which
/// aligned 16-byte loads are atomic.
#[inline(always)]
fn has_avx2() -> bool {
    #[cfg(feature = "std")]
    return std::is_x86_feature_detected!("avx2");
    #[cfg(not(feature = "std"))]
    return cfg!(target_feature = "avx2");
}

fn is_aligned(cells: &[AtomicU64]) -> bool {
    cells.as_ptr().addr().is_multiple_of(16)
}

/// Loads cells, adds the cells of `more`, if there are any, and sums how far the counts exceed `base`, if there is one.
/// Returns `None`, with nothing done, if this processor or this memory does not support it.
#[inline]
pub(crate) fn load(
    cells: &[AtomicU64],
    more: Option<&[AtomicU64]>,
    out: &mut [u64],
    base: Option<&[u64]>,
) -> Option<Sums> {
    if !is_aligned(cells) || !more.is_none_or(is_aligned) || !has_avx2() {
        return None;
    }
    // SAFETY: the processor has the features that the function is compiled for, and the cells are aligned.
    Some(unsafe {
        match (more, base) {
            (None, None) => load_with_avx2::<false, false>(cells, &[], out, &[]),
            (None, Some(base)) => load_with_avx2::<false, true>(cells, &[], out, base),
            (Some(more), None) => load_with_avx2::<true, false>(cells, more, out, &[]),
            (Some(more), Some(base)) => load_with_avx2::<true, true>(cells, more, out, base),
        }
    })
}

/// Adds cells to counts. Returns how many sums wrapped around; `None`, with nothing done, as [`load`].
#[inline]
pub(crate) fn add(cells: &[AtomicU64], out: &mut [u64]) -> Option<u64> {
    if !is_aligned(cells) || !has_avx2() {
        return None;
    }
    // SAFETY: the processor has the features that the function is compiled for, and the cells are aligned.
    Some(unsafe { add_with_avx2(cells, out) })
}

/// Loads a line of cells.
///
/// # Safety
/// `cells` must be aligned to 16 and point to eight cells.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn line(cells: *const AtomicU64) -> [__m256i; 2] {
    let (a, b, c, d);
    // SAFETY: this reads memory that the caller guarantees. Others may write it at the same time through atomics: see
    // `crate::cells::wide`.
    unsafe {
        asm!(
            "vmovdqa {a}, xmmword ptr [{cells}]",
            "vmovdqa {b}, xmmword ptr [{cells} + 16]",
            "vmovdqa {c}, xmmword ptr [{cells} + 32]",
            "vmovdqa {d}, xmmword ptr [{cells} + 48]",
            cells = in(reg) cells,
            a = out(xmm_reg) a, b = out(xmm_reg) b, c = out(xmm_reg) c, d = out(xmm_reg) d,
            options(readonly, nostack, preserves_flags)
        );
    }
    [_mm256_set_m128i(b, a), _mm256_set_m128i(d, c)]
}

/// Loads eight words into two vectors.
///
/// # Safety
/// `words` must point to eight words.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn words(words: *const u64) -> [__m256i; 2] {
    // SAFETY: the caller's promise.
    unsafe { [_mm256_loadu_si256(words.cast()), _mm256_loadu_si256(words.add(4).cast())] }
}

/// # Safety
/// `words` must have room for eight words.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store(words: *mut u64, [first, second]: [__m256i; 2]) {
    // SAFETY: the caller's promise.
    unsafe {
        _mm256_storeu_si256(words.cast(), first);
        _mm256_storeu_si256(words.add(4).cast(), second);
    }
}

/// Returns the sums of words, and subtracts from `wraps` how many of them wrapped around.
#[inline]
#[target_feature(enable = "avx2")]
fn checked_sum(words: __m256i, others: __m256i, wraps: &mut __m256i) -> __m256i {
    // Comparisons are signed. With inverted top bits they are as unsigned ones, and an addition keeps them inverted.
    let top = _mm256_set1_epi64x(i64::MIN);
    let words = _mm256_xor_si256(words, top);
    let sum = _mm256_add_epi64(words, others);
    *wraps = _mm256_add_epi64(*wraps, _mm256_cmpgt_epi64(words, sum));
    _mm256_xor_si256(sum, top)
}

/// Returns the four words of a vector.
#[inline]
#[target_feature(enable = "avx2")]
fn lanes(vector: __m256i) -> [u64; 4] {
    let mut lanes = [0; 4];
    // SAFETY: there is room for four words.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), vector) };
    lanes
}

/// # Safety
/// `cells` and `more` must be aligned to 16.
#[target_feature(enable = "avx2")]
unsafe fn load_with_avx2<const MORE: bool, const BASE: bool>(
    cells: &[AtomicU64],
    more: &[AtomicU64],
    out: &mut [u64],
    base: &[u64],
) -> Sums {
    let mut length = cells.len().min(out.len());
    if MORE {
        length = length.min(more.len());
    }
    if BASE {
        length = length.min(base.len());
    }
    let zero = _mm256_setzero_si256();
    let (mut sums, mut unions, mut wrapped) = ([zero; 2], [zero; 2], [zero; 2]);
    let whole = length / LINE * LINE;
    for at in (0..whole).step_by(LINE) {
        // SAFETY: all slices that are read have at least eight more elements.
        let counts = unsafe {
            let mut counts = line(cells.as_ptr().add(at));
            if MORE {
                let more = line(more.as_ptr().add(at));
                for half in 0..2 {
                    counts[half] = checked_sum(counts[half], more[half], &mut wrapped[half]);
                }
            }
            // These loads come before the counts are stored: if the two lie a multiple of 4096 bytes apart, the
            // processor would mistake them for loads of the values just stored, and wait.
            let base = if BASE { words(base.as_ptr().add(at)) } else { [zero; 2] };
            store(out.as_mut_ptr().add(at), counts);
            [_mm256_sub_epi64(counts[0], base[0]), _mm256_sub_epi64(counts[1], base[1])]
        };
        for half in 0..2 {
            sums[half] = _mm256_add_epi64(sums[half], counts[half]);
            unions[half] = _mm256_or_si256(unions[half], counts[half]);
        }
    }
    let mut total = Sums {
        sum: lanes(_mm256_add_epi64(sums[0], sums[1])).into_iter().fold(0, u64::wrapping_add),
        union: lanes(_mm256_or_si256(unions[0], unions[1])).into_iter().fold(0, |union, lane| union | lane),
        wraps: lanes(_mm256_add_epi64(wrapped[0], wrapped[1])).into_iter().fold(0, u64::wrapping_sub),
    };
    for at in whole..length {
        let mut count = Counter::load(&cells[at]);
        if MORE {
            let (sum, wraps) = count.overflowing_add(Counter::load(&more[at]));
            count = sum;
            total.wraps += wraps as u64;
        }
        out[at] = count;
        if BASE {
            count = count.wrapping_sub(base[at]);
        }
        total.sum = total.sum.wrapping_add(count);
        total.union |= count;
    }
    total
}

/// # Safety
/// `cells` must be aligned to 16.
#[target_feature(enable = "avx2")]
unsafe fn add_with_avx2(cells: &[AtomicU64], out: &mut [u64]) -> u64 {
    let length = cells.len().min(out.len());
    let whole = length / LINE * LINE;
    let mut wrapped = [_mm256_setzero_si256(); 2];
    for at in (0..whole).step_by(LINE) {
        // SAFETY: both slices have at least eight more elements.
        unsafe {
            let (mut counts, cells) = (words(out.as_ptr().add(at)), line(cells.as_ptr().add(at)));
            for half in 0..2 {
                counts[half] = checked_sum(counts[half], cells[half], &mut wrapped[half]);
            }
            store(out.as_mut_ptr().add(at), counts);
        }
    }
    let wraps = lanes(_mm256_add_epi64(wrapped[0], wrapped[1])).into_iter().fold(0, u64::wrapping_sub);
    wraps + crate::cells::loads::add_one_by_one(&cells[whole..length], &mut out[whole..length])
}
