//! Many cells or counts at a time.

use crate::platform::atomics::{AtomicU32, AtomicU64};

/// Counts are looked at in runs of this many, which stay in the first-level cache between two steps.
pub(crate) const RUN: usize = 512;

/// Loads cells, each as a relaxed load does.
#[inline]
pub(crate) fn load_64(cells: &[AtomicU64], out: &mut [u64]) {
    #[cfg(picollo_wide_loads)]
    let (cells, out) = wide::load_64(cells, out);
    for (out, cell) in out.iter_mut().zip(cells) {
        *out = crate::cells::cell::Counter::load(cell);
    }
}

/// Loads cells of 32 bits, each as a relaxed load does.
#[inline]
pub(crate) fn load_32(cells: &[AtomicU32], out: &mut [u64]) {
    #[cfg(picollo_wide_loads)]
    let (cells, out) = wide::load_32(cells, out);
    for (out, cell) in out.iter_mut().zip(cells) {
        *out = crate::cells::cell::Counter::load(cell);
    }
}

/// Defines a function, and compiles it a second time for processors that have AVX2.
macro_rules! with_avx2 {
    ($(#[$doc:meta])* fn $name:ident = $plain:ident($($argument:ident: $kind:ty),*) -> $result:ty) => {
        $(#[$doc])*
        #[inline]
        pub(crate) fn $name($($argument: $kind),*) -> $result {
            #[cfg(all(target_arch = "x86_64", feature = "std"))]
            {
                #[target_feature(enable = "avx2")]
                fn with_avx2($($argument: $kind),*) -> $result {
                    $plain($($argument),*)
                }
                if std::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has what the function is compiled for.
                    return unsafe { with_avx2($($argument),*) };
                }
            }
            $plain($($argument),*)
        }
    };
}

with_avx2! {
    /// The sum of the differences of up to [`RUN`] counts.
    fn total = plain_total(raw: &[u64], base: &[u64]) -> u128
}

with_avx2! {
    /// The sum of up to [`RUN`] counts.
    fn total_since_zero = plain_total_since_zero(raw: &[u64]) -> u128
}

with_avx2! {
    /// Whether all counts are zero.
    fn are_zero = plain_are_zero(counts: &[u64]) -> bool
}

with_avx2! {
    /// The sum of the differences of counts, modulo 2^64.
    fn wrapping_total = plain_wrapping_total(raw: &[u64], base: &[u64]) -> u64
}

with_avx2! {
    /// Sums of up to [`RUN`] differences of counts, weighted by their positions; `None` where one is too large for that.
    fn power_sums = plain_power_sums(raw: &[u64], base: &[u64]) -> Option<PowerSums>
}

#[inline(always)]
fn plain_total(raw: &[u64], base: &[u64]) -> u128 {
    let (mut sum, mut union) = (0u64, 0u64);
    for (raw, base) in raw.iter().zip(base) {
        let count = raw.wrapping_sub(*base);
        sum = sum.wrapping_add(count);
        union |= count;
    }
    // None of the counts has more bits than all of them together.
    if union < u64::MAX / RUN as u64 {
        return sum as u128;
    }
    raw.iter().zip(base).map(|(raw, base)| raw.wrapping_sub(*base) as u128).sum()
}

#[inline(always)]
fn plain_total_since_zero(raw: &[u64]) -> u128 {
    let (sum, union) = raw.iter().fold((0u64, 0), |(sum, union), raw| (sum.wrapping_add(*raw), union | raw));
    if union < u64::MAX / RUN as u64 {
        return sum as u128;
    }
    raw.iter().map(|raw| *raw as u128).sum()
}

#[inline(always)]
fn plain_are_zero(counts: &[u64]) -> bool {
    counts.chunks(RUN).all(|run| run.iter().fold(0, |union, count| union | count) == 0)
}

#[inline(always)]
fn plain_wrapping_total(raw: &[u64], base: &[u64]) -> u64 {
    raw.iter().zip(base).fold(0, |sum: u64, (raw, base)| sum.wrapping_add(raw.wrapping_sub(*base)))
}

/// Of counts `c` at positions `0, 1, 2, …`: the sums of `c`, of `c * position` and of `c * position^2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PowerSums {
    pub count: u64,
    pub first: u64,
    pub second: u64,
}

#[inline(always)]
fn plain_power_sums(raw: &[u64], base: &[u64]) -> Option<PowerSums> {
    let length = raw.len().min(base.len()).min(RUN);
    let (raw, base) = (&raw[..length], &base[..length]);
    let mut sums = PowerSums { count: 0, first: 0, second: 0 };
    let mut union = 0u64;
    for (at, (raw, base)) in raw.iter().zip(base).enumerate() {
        let count = raw.wrapping_sub(*base);
        union |= count;
        // All factors of 32 bits, as is made sure below: a multiplication that vectors have. No sum can then overflow,
        // for 512 positions: 2^32 * 2^18 * 2^9 is below 2^64.
        let (count, position) = (count & 0xffff_ffff, at as u32);
        sums.count = sums.count.wrapping_add(count);
        sums.first = sums.first.wrapping_add(count.wrapping_mul(position as u64));
        sums.second = sums.second.wrapping_add(count.wrapping_mul(position.wrapping_mul(position) as u64));
    }
    if union <= 0xffff_ffff { Some(sums) } else { None }
}

/// Loads of 16 bytes. Relaxed atomic loads are not made into vectors by the compiler, so these are written in assembly.
///
/// That each cell is read whole is what Intel and AMD document for aligned 16-byte `MOVDQA` loads on processors with AVX:
/// they are atomic, all 16 bytes, so each cell in them is. To the compiler the assembly is what a relaxed load of each
/// cell would be: it reads the cells, untorn, at some moment, and orders nothing else.
#[cfg(picollo_wide_loads)]
mod wide {
    use core::arch::asm;
    use core::arch::x86_64::{
        __m128i, _mm_setzero_si128, _mm_storeu_si128, _mm_unpackhi_epi32, _mm_unpacklo_epi32,
    };

    use crate::platform::atomics::{AtomicU32, AtomicU64};

    /// Whether aligned 16-byte loads are atomic here.
    #[inline]
    fn are_atomic() -> bool {
        #[cfg(feature = "std")]
        return std::is_x86_feature_detected!("avx");
        #[cfg(not(feature = "std"))]
        return cfg!(target_feature = "avx");
    }

    /// 64 bytes of cells.
    ///
    /// # Safety
    /// `cells` must be aligned to 16 and lead to 64 bytes of atomic cells; aligned 16-byte loads must be atomic.
    #[inline(always)]
    unsafe fn line(cells: *const u8) -> [__m128i; 4] {
        let (a, b, c, d);
        // SAFETY: reads memory that the caller vouches for, which others may write at the same time through atomics;
        // see above.
        unsafe {
            asm!(
                "movdqa {a}, xmmword ptr [{cells}]",
                "movdqa {b}, xmmword ptr [{cells} + 16]",
                "movdqa {c}, xmmword ptr [{cells} + 32]",
                "movdqa {d}, xmmword ptr [{cells} + 48]",
                cells = in(reg) cells,
                a = out(xmm_reg) a, b = out(xmm_reg) b, c = out(xmm_reg) c, d = out(xmm_reg) d,
                options(readonly, nostack, preserves_flags)
            );
        }
        [a, b, c, d]
    }

    /// Loads as many cells as make whole lines. Returns what is left.
    #[inline(always)]
    pub(crate) fn load_64<'a>(
        cells: &'a [AtomicU64],
        out: &'a mut [u64],
    ) -> (&'a [AtomicU64], &'a mut [u64]) {
        if !cells.as_ptr().addr().is_multiple_of(16) || !are_atomic() {
            return (cells, out);
        }
        let whole = cells.len().min(out.len()) / 8 * 8;
        let ((lines, rest), (out_lines, out_rest)) = (cells.split_at(whole), out.split_at_mut(whole));
        for (cells, out) in lines.as_chunks::<8>().0.iter().zip(out_lines.as_chunks_mut::<8>().0) {
            // SAFETY: eight aligned cells, and room for eight counts.
            unsafe {
                let out = out.as_mut_ptr().cast::<__m128i>();
                for (at, vector) in line(cells.as_ptr().cast()).into_iter().enumerate() {
                    _mm_storeu_si128(out.add(at), vector);
                }
            }
        }
        (rest, out_rest)
    }

    /// The same for cells of 32 bits.
    #[inline(always)]
    pub(crate) fn load_32<'a>(
        cells: &'a [AtomicU32],
        out: &'a mut [u64],
    ) -> (&'a [AtomicU32], &'a mut [u64]) {
        if !cells.as_ptr().addr().is_multiple_of(16) || !are_atomic() {
            return (cells, out);
        }
        let whole = cells.len().min(out.len()) / 16 * 16;
        let ((lines, rest), (out_lines, out_rest)) = (cells.split_at(whole), out.split_at_mut(whole));
        for (cells, out) in lines.as_chunks::<16>().0.iter().zip(out_lines.as_chunks_mut::<16>().0) {
            // SAFETY: sixteen aligned cells, and room for sixteen counts.
            unsafe {
                let out = out.as_mut_ptr().cast::<__m128i>();
                let zero = _mm_setzero_si128();
                for (at, vector) in line(cells.as_ptr().cast()).into_iter().enumerate() {
                    _mm_storeu_si128(out.add(2 * at), _mm_unpacklo_epi32(vector, zero));
                    _mm_storeu_si128(out.add(2 * at + 1), _mm_unpackhi_epi32(vector, zero));
                }
            }
        }
        (rest, out_rest)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[repr(align(64))]
    struct Aligned<T>(T);

    proptest! {
        #[test]
        fn loads_are_loads(counts in prop::collection::vec(any::<u64>(), 0..70), skip in 0usize..10, room in 0usize..3) {
            let wide = Aligned(core::array::from_fn::<_, 70, _>(|at| AtomicU64::new(counts.get(at).copied().unwrap_or(7))));
            let narrow =
                Aligned(core::array::from_fn::<_, 70, _>(|at| AtomicU32::new(counts.get(at).copied().unwrap_or(7) as u32)));
            let end = counts.len().max(skip);
            let mut out = std::vec![1u64; end - skip + room];
            load_64(&wide.0[skip..end], &mut out);
            let expected: Vec<u64> = wide.0[skip..end].iter().map(crate::cells::cell::Counter::load).collect();
            prop_assert_eq!(&out[..end - skip], &expected[..]);
            prop_assert!(out[end - skip..].iter().all(|&untouched| untouched == 1));
            load_32(&narrow.0[skip..end], &mut out);
            let expected: Vec<u64> = narrow.0[skip..end].iter().map(crate::cells::cell::Counter::load).collect();
            prop_assert_eq!(&out[..end - skip], &expected[..]);
            prop_assert!(out[end - skip..].iter().all(|&untouched| untouched == 1));
        }

        #[test]
        fn sums_are_sums(pairs in prop::collection::vec((any::<u64>(), any::<u64>(), 0u32..64), 0..=RUN)) {
            let base: Vec<u64> = pairs.iter().map(|pair| pair.0).collect();
            let counts: Vec<u64> = pairs.iter().map(|pair| pair.1 >> pair.2.max(if pairs.len() % 2 == 0 { 30 } else { 0 })).collect();
            let raw: Vec<u64> = base.iter().zip(&counts).map(|(base, count)| base.wrapping_add(*count)).collect();
            let sum = |power: u32| -> u128 {
                counts.iter().enumerate().map(|(at, count)| *count as u128 * (at as u128).pow(power)).sum()
            };
            for (total, wrapping_total, power_sums) in [
                (total(&raw, &base), wrapping_total(&raw, &base), power_sums(&raw, &base)),
                (plain_total(&raw, &base), plain_wrapping_total(&raw, &base), plain_power_sums(&raw, &base)),
            ] {
                prop_assert_eq!(total, sum(0));
                prop_assert_eq!(total_since_zero(&counts), sum(0));
                prop_assert_eq!(are_zero(&counts), sum(0) == 0);
                prop_assert_eq!(wrapping_total, sum(0) as u64);
                prop_assert_eq!(power_sums.is_some(), counts.iter().all(|count| *count >> 32 == 0));
                if let Some(sums) = power_sums {
                    prop_assert_eq!([sums.count, sums.first, sums.second].map(u128::from), [0, 1, 2].map(sum));
                }
            }
        }
    }
}
