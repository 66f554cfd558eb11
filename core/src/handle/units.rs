//! Records into layouts with a unit: recording code takes values in units, and this module shifts them.

use core::ptr::NonNull;

use crate::cells::header::{Headed, Header};
use crate::cells::tallies::Tallies;
use crate::handle::dispatch::*;
use crate::histograms::record::Record;

/// The number of values shifted at a time.
const RUN: usize = 64;

/// A histogram of any kind whose layout has a unit, to record into.
pub(crate) struct InUnits(NonNull<Header>);

impl InUnits {
    /// # Safety
    /// `header` must be that of a histogram that outlives this value.
    pub(crate) unsafe fn new(header: NonNull<Header>) -> InUnits {
        InUnits(header)
    }

    fn unit(&self) -> u32 {
        self.layout().unit()
    }

    /// Counts one value. (None of these is inlined, because histograms without a unit must not make room for it.)
    #[cold]
    #[inline(never)]
    pub(crate) fn record(&self, value: u64) {
        let value = value >> self.unit();
        as_what_it_is!(self.0, histogram => histogram.record(value));
    }

    /// Counts every value of a slice.
    #[cold]
    #[inline(never)]
    pub(crate) fn record_batch(&self, values: &[u64]) {
        let mut shifted = [0; RUN];
        for values in values.chunks(RUN) {
            let shifted = &mut shifted[..values.len()];
            shifted.iter_mut().zip(values).for_each(|(shifted, value)| *shifted = value >> self.unit());
            as_what_it_is!(self.0, histogram => histogram.record_batch(shifted));
        }
    }
}

impl Headed for InUnits {
    fn header(&self) -> &Header {
        // SAFETY: it is alive, by the promise to `new`.
        unsafe { self.0.as_ref() }
    }
}

/// The provided methods of this trait use the layout, which knows the unit.
impl Record for InUnits {
    #[cold]
    #[inline(never)]
    fn record_n(&self, value: u64, count: u64) {
        let value = value >> self.unit();
        as_what_it_is!(self.0, histogram => histogram.record_n(value, count));
    }

    fn tallies(&self) -> (&Tallies, u32) {
        as_what_it_is!(self.0, histogram => histogram.tallies())
    }
}
