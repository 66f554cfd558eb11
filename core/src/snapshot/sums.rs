//! Sums of many counts at a time.

use crate::cells::loads::Sums;

/// Counts are processed in runs of this many, which stay in the first-level cache between two steps.
pub(crate) const RUN: usize = 512;

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
                    // SAFETY: the processor has the features that the function is compiled for.
                    return unsafe { with_avx2($($argument),*) };
                }
            }
            $plain($($argument),*)
        }
    };
}

with_avx2! {
    /// Returns the sum of the differences of up to [`RUN`] counts.
    fn total = plain_total(raw: &[u64], base: &[u64]) -> u128
}

with_avx2! {
    /// Returns the sum of up to [`RUN`] counts.
    fn total_since_zero = plain_total_since_zero(raw: &[u64]) -> u128
}

/// Returns counts in runs, each with its first index and its base.
pub(crate) fn runs<'a>(
    raw: &'a mut [u64],
    base: Option<&'a [u64]>,
) -> impl Iterator<Item = (usize, &'a mut [u64], Option<&'a [u64]>)> {
    raw.chunks_mut(RUN).enumerate().map(move |(run, raw)| {
        let start = run * RUN;
        let end = start + raw.len();
        (start, raw, base.map(|base| &base[start..end]))
    })
}

/// Returns the sum of up to [`RUN`] counts above a base, or above zero without a base.
#[inline]
pub(crate) fn total_of_run(raw: &[u64], base: Option<&[u64]>) -> u128 {
    match base {
        Some(base) => total(raw, base),
        None => total_since_zero(raw),
    }
}

/// Copies counts run by run, as [`crate::snapshot::source::Source::copy_counts`] does, and sums each run while it is in
/// the cache. Returns the sum of the results of `copy`, and the total.
#[inline]
pub(crate) fn copy_runs(
    out: &mut [u64],
    base: Option<&[u64]>,
    mut copy: impl FnMut(usize, &mut [u64]) -> u64,
) -> (u64, u128) {
    runs(out, base).fold((0, 0), |(wraps, total), (start, out, base)| {
        (wraps + copy(start, out), total + total_of_run(out, base))
    })
}

/// Returns the sum of counts that were summed while they were copied. It reads them again only if they are so large
/// that the sum may be incomplete.
pub(crate) fn total_of(sums: Sums, raw: &mut [u64], base: Option<&[u64]>) -> u128 {
    if is_exact(sums.union, raw.len()) {
        return sums.sum.into();
    }
    runs(raw, base).map(|(_, raw, base)| total_of_run(raw, base)).sum()
}

/// Returns whether the sum of `length` counts fits into 64 bits, judged by the bitwise OR of all counts.
#[inline(always)]
fn is_exact(union: u64, length: usize) -> bool {
    union < u64::MAX / length.max(1) as u64
}

with_avx2! {
    /// Returns whether all counts are zero.
    fn are_zero = plain_are_zero(counts: &[u64]) -> bool
}

with_avx2! {
    /// Returns the sum of the differences of counts, modulo 2^64.
    fn wrapping_total = plain_wrapping_total(raw: &[u64], base: &[u64]) -> u64
}

with_avx2! {
    /// Returns sums of up to [`RUN`] differences of counts, weighted by their positions; `None` if one is too large.
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
    if is_exact(union, RUN) {
        return sum as u128;
    }
    raw.iter().zip(base).map(|(raw, base)| raw.wrapping_sub(*base) as u128).sum()
}

#[inline(always)]
fn plain_total_since_zero(raw: &[u64]) -> u128 {
    let (sum, union) = raw.iter().fold((0u64, 0), |(sum, union), raw| (sum.wrapping_add(*raw), union | raw));
    if is_exact(union, RUN) {
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

/// For counts `c` at positions `0, 1, 2, …`: the sums of `c`, of `c * position` and of `c * position^2`.
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
        // All factors have 32 bits, as ensured below: vectors have such a multiplication. No sum can then overflow for
        // 512 positions: 2^32 * 2^18 * 2^9 is below 2^64.
        let (count, position) = (count & 0xffff_ffff, at as u32);
        sums.count = sums.count.wrapping_add(count);
        sums.first = sums.first.wrapping_add(count.wrapping_mul(position as u64));
        sums.second = sums.second.wrapping_add(count.wrapping_mul(position.wrapping_mul(position) as u64));
    }
    if union <= 0xffff_ffff { Some(sums) } else { None }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
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
