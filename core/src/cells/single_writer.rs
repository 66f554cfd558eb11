//! One writer: a plain addition.

use crate::cells::cell::Place;
use crate::cells::cell::{Counter, ManyWriters, WriteMode};

/// One writer, any number of readers: a plain addition. The writer holds the histogram by `&mut`, or its
/// [`crate::Writer`], so the compiler rejects a second one.
///
/// With the default mode, threads share a histogram:
///
/// ```
/// use picollo_core::layouts::AtomicU64;
/// use picollo_core::recorders::Record;
/// use picollo_core::{Histogram, Layout};
/// # const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// # /// As rayon's: what several threads call at once.
/// # fn in_parallel(work: impl Fn(u64) + Sync) {
/// #     std::thread::scope(|scope| {
/// #         let (first, second) = (scope.spawn(|| work(1)), scope.spawn(|| work(2)));
/// #     });
/// # }
/// # fn fill(into: &(impl Record + ?Sized)) {
/// #     into.record_n(1, 1);
/// # }
/// let histogram: Histogram<[AtomicU64; LAYOUT.cells()]> = Histogram::new(LAYOUT);
/// in_parallel(|value| histogram.record(value));
/// std::thread::scope(|scope| {
///     scope.spawn(|| histogram.record(1));
///     scope.spawn(|| histogram.record(2));
/// });
/// fill(&*histogram);
/// ```
///
/// The same does not compile with this mode: not in a closure that several threads call,
///
/// ```compile_fail,E0596
/// # use picollo_core::layouts::AtomicU64;
/// # use picollo_core::recorders::SingleWriter;
/// # use picollo_core::{Histogram, Layout};
/// # const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// # fn in_parallel(work: impl Fn(u64) + Sync) {
/// #     std::thread::scope(|scope| {
/// #         let (first, second) = (scope.spawn(|| work(1)), scope.spawn(|| work(2)));
/// #     });
/// # }
/// let mut histogram: Histogram<[AtomicU64; LAYOUT.cells()], SingleWriter> = Histogram::new(LAYOUT);
/// in_parallel(|value| histogram.record(value));
/// ```
///
/// nor in two threads, whether they have the histogram or its writer,
///
/// ```compile_fail,E0499
/// # use picollo_core::layouts::AtomicU64;
/// # use picollo_core::recorders::SingleWriter;
/// # use picollo_core::{Histogram, Layout};
/// # const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// let mut histogram: Histogram<[AtomicU64; LAYOUT.cells()], SingleWriter> = Histogram::new(LAYOUT);
/// std::thread::scope(|scope| {
///     scope.spawn(|| histogram.record(1));
///     scope.spawn(|| histogram.record(2));
/// });
/// ```
///
/// ```compile_fail,E0499
/// # use picollo_core::layouts::AtomicU64;
/// # use picollo_core::recorders::SingleWriter;
/// # use picollo_core::{Histogram, Layout};
/// # const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// let mut histogram: Histogram<[AtomicU64; LAYOUT.cells()], SingleWriter> = Histogram::new(LAYOUT);
/// let (mut writer, reader) = histogram.split();
/// std::thread::scope(|scope| {
///     scope.spawn(|| writer.record(1));
///     scope.spawn(|| writer.record(2));
/// });
/// ```
///
/// nor from a static,
///
/// ```compile_fail,E0596
/// # use picollo_core::layouts::AtomicU64;
/// # use picollo_core::recorders::SingleWriter;
/// # use picollo_core::{Histogram, Layout};
/// # const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// static HISTOGRAM: Histogram<[AtomicU64; LAYOUT.cells()], SingleWriter> = Histogram::new(LAYOUT);
/// HISTOGRAM.record(1);
/// ```
///
/// nor through the trait [`crate::recorders::Record`].
///
/// ```compile_fail,E0277
/// # use picollo_core::layouts::AtomicU64;
/// # use picollo_core::recorders::{Record, SingleWriter};
/// # use picollo_core::{Histogram, Layout};
/// # const LAYOUT: Layout = Layout::new(0.01, 0, 1_000);
/// # fn fill(into: &(impl Record + ?Sized)) {
/// #     into.record_n(1, 1);
/// # }
/// let histogram: Histogram<[AtomicU64; LAYOUT.cells()], SingleWriter> = Histogram::new(LAYOUT);
/// fill(&*histogram);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SingleWriter;

impl WriteMode for SingleWriter {
    const MODE: crate::cells::kind::Mode = crate::cells::kind::Mode::SingleWriter;

    #[inline(always)]
    fn add<C: Counter>(cell: &C, count: u64) -> u64 {
        cell.add_alone(count)
    }

    #[inline(always)]
    fn add_few<C: Counter>(cell: &C, count: u64) -> u64 {
        cell.add_few_alone(count)
    }

    #[inline(always)]
    fn count<C: Counter>(place: Place<C>) -> u64 {
        C::count_alone(place)
    }
}

/// [`SingleWriter`] if a contract, not the compiler, ensures that there is one writer: behind handles whose kind is
/// known only at run time. Two writers are memory-safe, but lose counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unguarded;

impl WriteMode for Unguarded {
    const MODE: crate::cells::kind::Mode = SingleWriter::MODE;

    #[inline(always)]
    fn add<C: Counter>(cell: &C, count: u64) -> u64 {
        SingleWriter::add(cell, count)
    }

    #[inline(always)]
    fn add_few<C: Counter>(cell: &C, count: u64) -> u64 {
        SingleWriter::add_few(cell, count)
    }

    #[inline(always)]
    fn count<C: Counter>(place: Place<C>) -> u64 {
        SingleWriter::count(place)
    }
}

impl ManyWriters for Unguarded {}
