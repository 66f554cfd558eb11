//! Batches: computes the indices of several values at a time, with the widest instructions of the processor.

use crate::layout::layout::Layout;

/// Calls `add` with storage indices and counts for all values: `(index, value, count)`, where `value` is one of the
/// values at `index`. The index is [`Layout::length`] or more for values out of range.
///
/// Eight adjacent values in the same bucket may come as one call, so that equal values in a row do not wait for each
/// other's additions.
#[inline]
pub(crate) fn for_each_index(layout: &Layout, values: &[u64], add: impl FnMut(u64, u64, u64)) {
    let path = [BatchPath::Avx512, BatchPath::Bmi2].into_iter().find(|path| path.is_available());
    path.unwrap_or(BatchPath::Plain).for_each_index(layout, values, add);
}

/// The ways to process a batch. They are public for benchmarks: the best one is selected at run time.
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BatchPath {
    Plain,
    Bmi2,
    Avx512,
}

impl BatchPath {
    /// Returns whether the processor supports this path.
    pub fn is_available(self) -> bool {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        return match self {
            BatchPath::Plain => true,
            BatchPath::Bmi2 => {
                std::is_x86_feature_detected!("bmi2") && std::is_x86_feature_detected!("lzcnt")
            }
            BatchPath::Avx512 => {
                std::is_x86_feature_detected!("avx512f")
                    && std::is_x86_feature_detected!("avx512cd")
                    && BatchPath::Bmi2.is_available()
            }
        };
        #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
        return self == BatchPath::Plain;
    }

    /// Does the same as [`for_each_index`], by this path if it is available.
    #[inline]
    pub(crate) fn for_each_index(self, layout: &Layout, values: &[u64], add: impl FnMut(u64, u64, u64)) {
        #[cfg(all(target_arch = "x86_64", feature = "std"))]
        if self.is_available() {
            match self {
                // SAFETY: the processor has the features that the function is compiled for.
                BatchPath::Avx512 => return unsafe { avx512::for_each_index(layout, values, add) },
                // SAFETY: as above.
                BatchPath::Bmi2 => return unsafe { with_bmi2(layout, values, add) },
                BatchPath::Plain => {}
            }
        }
        one_by_one(layout, values, add);
    }
}

/// This makes shifts by a register and counts of leading zeros one instruction each.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[target_feature(enable = "bmi1,bmi2,lzcnt")]
fn with_bmi2(layout: &Layout, values: &[u64], add: impl FnMut(u64, u64, u64)) {
    one_by_one(layout, values, add);
}

#[inline(always)]
fn one_by_one(layout: &Layout, values: &[u64], mut add: impl FnMut(u64, u64, u64)) {
    // The compiler keeps a copy in registers, but would have to assume that the header changes with every cell.
    let layout = *layout;
    let (groups, rest) = values.as_chunks::<8>();
    for group in groups {
        if group.iter().fold(0, |differences, value| differences | (value ^ group[0])) == 0 {
            add(layout.recording_index(group[0]), group[0], 8);
        } else {
            for &value in group {
                add(layout.recording_index(value), value, 1);
            }
        }
    }
    for &value in rest {
        add(layout.recording_index(value), value, 1);
    }
}

#[cfg(all(target_arch = "x86_64", feature = "std"))]
mod avx512 {
    use core::arch::x86_64::*;

    use crate::layout::layout::Layout;

    /// Processes eight values at a time: each step of [`Layout::storage_index`] is one instruction for all of them.
    #[target_feature(enable = "avx512f,avx512cd,bmi1,bmi2,lzcnt")]
    pub(crate) fn for_each_index(layout: &Layout, values: &[u64], mut add: impl FnMut(u64, u64, u64)) {
        let block_size = _mm512_set1_epi64(layout.block_size() as i64);
        let scale = _mm_cvtsi64_si128(layout.scale() as i64);
        let top = _mm512_set1_epi64(63 - layout.scale() as i64);
        let first = _mm512_set1_epi64(layout.first_index() as i64);
        let (groups, rest) = values.as_chunks::<8>();
        for group in groups {
            // SAFETY: eight values of 64 bits.
            let value = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
            let exponent = _mm512_sub_epi64(top, _mm512_lzcnt_epi64(_mm512_or_si512(value, block_size)));
            let start = _mm512_sll_epi64(exponent, scale);
            let index = _mm512_sub_epi64(_mm512_add_epi64(start, _mm512_srlv_epi64(value, exponent)), first);
            let leader = _mm512_broadcastq_epi64(_mm512_castsi512_si128(index));
            let mut indices = [0u64; 8];
            // SAFETY: there is room for eight indices of 64 bits.
            unsafe { _mm512_storeu_si512(indices.as_mut_ptr().cast(), index) };
            if _mm512_cmpeq_epi64_mask(index, leader) == 0xff {
                add(indices[0], group[0], 8);
                continue;
            }
            for (&index, &value) in indices.iter().zip(group) {
                add(index, value, 1);
            }
        }
        for &value in rest {
            add(layout.recording_index(value), value, 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const PATHS: [(&str, BatchPath); 3] =
        [("plain", BatchPath::Plain), ("bmi2", BatchPath::Bmi2), ("avx512", BatchPath::Avx512)];

    /// The value passed with an index belongs there, which matters for values out of range.
    fn check(layout: &Layout, values: &[u64]) -> Result<(), TestCaseError> {
        let expected: Vec<_> = values.iter().map(|&value| [layout.storage_index(value); 2]).collect();
        let available = PATHS.into_iter().filter(|(_, path)| path.is_available());
        for (name, path) in available.map(|(name, path)| (name, Some(path))).chain([("dispatched", None)]) {
            let mut found = Vec::new();
            let add = |index, value, count| {
                found.extend(std::iter::repeat_n([index, layout.storage_index(value)], count as usize));
            };
            match path {
                Some(path) => path.for_each_index(layout, values, add),
                None => for_each_index(layout, values, add),
            }
            prop_assert_eq!(&found, &expected, "{}", name);
        }
        Ok(())
    }

    #[test]
    fn report_untested_paths() {
        for (name, path) in PATHS {
            if !path.is_available() {
                std::eprintln!("SKIPPED: the batch path {name} needs a processor that has it");
            }
        }
        check(&Layout::new(0.001, 0, u64::MAX), &[]).unwrap();
    }

    proptest! {
        #[test]
        fn every_path_finds_the_same(
            scale in 0..=crate::layout::layout::MAX_SCALE,
            ends in (any::<u64>(), any::<u64>(), 0u32..64, 0u32..64),
            values in prop::collection::vec((any::<u64>(), 0u32..64, 1usize..20), 0..40),
            skip in 0usize..8,
        ) {
            let (a, b) = (ends.0 >> ends.2, ends.1 >> ends.3);
            prop_assume!(a != b);
            let layout = Layout::with_scale(scale, a.min(b), a.max(b)).unwrap();
            // Runs of equal values, of any length and alignment.
            let values: Vec<u64> =
                values.iter().flat_map(|&(value, shift, run)| std::iter::repeat_n(value >> shift, run)).collect();
            check(&layout, &values[skip.min(values.len())..])?;
        }
    }
}
