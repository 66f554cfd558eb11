//! Loading many cells at a time.

use crate::platform::atomics::{AtomicU32, AtomicU64};

/// Loads cells, each as a relaxed load does.
#[inline]
pub(crate) fn load_64(cells: &[AtomicU64], out: &mut [u64]) {
    #[cfg(picollo_wide_loads)]
    let (cells, out) = crate::cells::wide::load_64(cells, out);
    for (out, cell) in out.iter_mut().zip(cells) {
        *out = crate::cells::cell::Counter::load(cell);
    }
}

/// Loads cells of 32 bits, each as a relaxed load does.
#[inline]
pub(crate) fn load_32(cells: &[AtomicU32], out: &mut [u64]) {
    #[cfg(picollo_wide_loads)]
    let (cells, out) = crate::cells::wide::load_32(cells, out);
    for (out, cell) in out.iter_mut().zip(cells) {
        *out = crate::cells::cell::Counter::load(cell);
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
    }
}
