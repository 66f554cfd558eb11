//! A histogram of doubles behind one reference-counted pointer, for language bindings and registries.

use core::ops::Deref;

use super::{DoubleHistogram, DoubleOptions};
use crate::error::Result;
use crate::platform::counted::{Counted, stands_for_a_pointer};

/// A counted reference to a [`DoubleHistogram`]: a clone adds one, a drop removes one, and the last drop frees it.
///
/// It is one pointer in size, and C sees the same pointer. Any thread may hold, clone and drop one. Unlike a standard
/// `Arc`, its constructor reports when there is no memory.
#[derive(Clone, Debug)]
#[repr(transparent)]
pub struct SharedDoubleHistogram(Counted<DoubleHistogram>);

impl SharedDoubleHistogram {
    /// Makes a new histogram on the heap. Errors as for [`DoubleHistogram::new`].
    pub fn create(options: &DoubleOptions) -> Result<SharedDoubleHistogram> {
        Counted::create(DoubleHistogram::new(options)?).map(SharedDoubleHistogram)
    }

    stands_for_a_pointer!(SharedDoubleHistogram);
}

impl Deref for SharedDoubleHistogram {
    type Target = DoubleHistogram;

    #[inline(always)]
    fn deref(&self) -> &DoubleHistogram {
        &self.0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::doubles::DoubleSnapshot;

    #[test]
    fn the_last_reference_frees() {
        let first = SharedDoubleHistogram::create(&DoubleOptions::default()).unwrap();
        first.record(1.5);
        let second = first.clone();
        drop(first);
        let raw = second.into_raw();
        // SAFETY: the pointer comes from the line above, and is used once.
        let third = unsafe { SharedDoubleHistogram::from_raw(raw) };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let own = third.clone();
                scope.spawn(move || (0..1000).for_each(|_| own.record(2.5)));
            }
        });
        let mut snapshot = DoubleSnapshot::new();
        third.collect(&mut snapshot).unwrap();
        assert_eq!(snapshot.count(), 4001);
        assert_eq!(third.0.number(), 1);
    }

    #[test]
    fn what_cannot_be_is_reported() {
        let options = DoubleOptions { max_bytes: 1, ..DoubleOptions::default() };
        assert!(SharedDoubleHistogram::create(&options).is_err());
    }
}
