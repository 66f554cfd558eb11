//! Counters in a segment, of one word and of many.

use core::ptr::NonNull;

use picollo_core::{Metric, MetricCounter, SharedStripedCounter};

use super::description::SegmentKind;
use super::entries::{New, REMEDY};
use super::format::{self, mode};
use super::given::names;
use super::writer::Segment;
use crate::base::error::{Error, Result, Status};

impl Segment {
    /// The counter of this name and these labels: the one that there is, or a new one at zero. Errors as for
    /// [`Segment::histogram`].
    pub fn counter(&self, metric: &Metric<'_>) -> Result<MetricCounter> {
        // SAFETY: what `init_at` makes is attached to, in a mapping that stays.
        unsafe { Ok(MetricCounter::attach(self.counter_at(metric, mode::ONE_WORD, MetricCounter::init_at)?)) }
    }

    /// The striped counter of this name and these labels: the one that there is, or a new one at zero. It has sixteen words, of which the CPU
    /// chooses one, so that neither threads nor forked workers wait for each other, and reading adds them up. 1 KB. Errors as for
    /// [`Segment::histogram`]: `Incompatible` also where there is a counter of one word.
    pub fn striped_counter(&self, metric: &Metric<'_>) -> Result<SharedStripedCounter> {
        let init = SharedStripedCounter::init_at;
        // SAFETY: as above.
        unsafe { Ok(SharedStripedCounter::attach(self.counter_at(metric, mode::STRIPED, init)?)) }
    }

    /// Where the counter of these names and this mode is. A new one is made by `init`, in memory that is aligned to a page and has the bytes
    /// of this mode.
    fn counter_at(
        &self,
        metric: &Metric<'_>,
        mode: u32,
        init: unsafe fn(NonNull<u8>),
    ) -> Result<NonNull<u8>> {
        let names = names(metric)?;
        let make = &|memory: NonNull<u8>| {
            // SAFETY: reserved for this, of this size, and aligned to a page.
            unsafe { init(memory) };
            Ok(())
        };
        let size = format::COUNTER_SIZES[mode as usize];
        let found = self.entry(&names, metric, &New { kind: SegmentKind::Counter, mode, size, make })?;
        let (found, _) = found.ok_or_else(|| self.full("directory", REMEDY))?;
        if found.mode != mode {
            let name = metric.name;
            let (there, asked) =
                if mode == mode::STRIPED { ("one word", "striped") } else { ("many words", "plain") };
            return Err(Error::new(
                Status::Incompatible,
                format_args!(
                    "{name}: there is a counter of {there} of that name; a {asked} one needs another name or label"
                ),
            ));
        }
        Ok(self.0.object(found.offset))
    }
}
