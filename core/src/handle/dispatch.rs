//! Maps kinds to types: the only place that distinguishes histograms whose kind is known at run time.
//!
//! | what | how often | how |
//! |---|---|---|
//! | [`record_inlined`], for Rust | hot, inlined into the caller | compares the kind with that of a 64-bit single writer, then with that of 64-bit thread-local histograms; the rest is a call |
//! | [`record_exported`], for C | hot, inlined into the exported function | one comparison with the kind of a 64-bit single writer, which falls through; lower kinds are narrower and one jump away, higher kinds are wide and another jump away |
//! | [`record_wide`], [`record_narrow`] | hot, called | the first kind falls through: 64-bit thread-local, 32-bit single writer. Each of the other dense kinds that add to one cell takes one more comparison, and a jump to a separate function |
//! | [`record_other`] | called | all others, whose recording is longer, or whose values are shifted to units first |
//! | [`as_what_it_is`], [`as_what_records`], [`with_type_of`] | rare, or once for a whole slice | a match over every kind |
//!
//! All of the index except one shift is computed before the kind is checked, and passed on. So the value stays in the
//! register that it came in, without a copy. A taken jump costs a record about as much as four instructions, and so
//! does code that crosses more cache lines than it must. So the kinds made for speed have at most one jump, and
//! functions start on a line.
//!
//! A kind that is not named above `record_other` still works: `record_other` records into it. [`Body`] defines what a
//! mode must have, and `is_offered` defines which modes have which storage. The table in [`with_type_of`] must agree
//! with `is_offered`, or the build fails.

use core::ptr::NonNull;

pub(crate) use crate::cells::cell::{Interlocked, Unguarded};
use crate::cells::header::Header;
#[cfg(any(feature = "std", test))]
use crate::cells::kind::{Mode, Storage};
pub(crate) use crate::handle::units::InUnits;
pub(crate) use crate::histograms::body::Body;
pub(crate) use crate::histograms::dense::Histogram;
#[cfg(feature = "alloc")]
pub(crate) use crate::histograms::per_cpu::PerCpu;
#[cfg(feature = "std")]
pub(crate) use crate::histograms::sharded::Sharded;
#[cfg(feature = "alloc")]
pub(crate) use crate::histograms::sparse::Sparse;

use crate::layout::layout::Halfway;
pub(crate) use crate::platform::atomics::{AtomicU32, AtomicU64};
use crate::platform::lines::start_on_a_line;

pub(crate) type Single<C> = Histogram<[C], Unguarded>;
pub(crate) type Atomic<C> = Histogram<[C], Interlocked>;

/// Runs an expression with the type of a kind, or another expression for a kind that this build does not have. Users of
/// this macro import all of this file, so `pub(crate) use` imports the types in the rows here.
macro_rules! with_type_of {
    ($kind:expr, $type:ident => $body:expr, _ => $unknown:expr) => {
        with_type_of!($kind, $type => $body, _ => $unknown, [
            #[cfg(feature = "std")]
            Sharded<AtomicU64>,
            #[cfg(feature = "std")]
            Sharded<AtomicU32>,
            #[cfg(feature = "alloc")]
            PerCpu,
            #[cfg(feature = "alloc")]
            Sparse<AtomicU64, Unguarded>,
            #[cfg(feature = "alloc")]
            Sparse<AtomicU32, Unguarded>,
            #[cfg(feature = "alloc")]
            Sparse<AtomicU64, Interlocked>,
            #[cfg(feature = "alloc")]
            Sparse<AtomicU32, Interlocked>,
            Single<AtomicU64>,
            Single<AtomicU32>,
            Atomic<AtomicU64>,
            Atomic<AtomicU32>,
        ])
    };
    ($kind:expr, $type:ident => $body:expr, _ => $unknown:expr, [$($(#[$where:meta])? $known:ty,)*]) => {
        match $kind {
            $(
                $(#[$where])?
                <$known as Body>::KIND => {
                    type $type = $known;
                    $body
                }
            )*
            _ => $unknown,
        }
    };
}

/// Runs an expression on the histogram behind a header, which must be alive, as its actual type.
macro_rules! as_what_it_is {
    ($header:expr, $histogram:ident => $body:expr) => {{
        let header: *const Header = $header.as_ptr();
        // SAFETY: it is alive, and its kind was written with it.
        with_type_of!(unsafe { (*header).kind.with_unit(0) }, Type => {
            // SAFETY: it is of this kind.
            let $histogram = unsafe { &*Type::from_header(header) };
            $body
        }, _ => {
            // SAFETY: constructors make no other kinds, and `attach` rejects them.
            unsafe { core::hint::unreachable_unchecked() }
        })
    }};
}

/// Does the same as [`as_what_it_is`] for recording: a histogram with a unit, not in the table, becomes [`InUnits`].
macro_rules! as_what_records {
    ($header:expr, $histogram:ident => $body:expr) => {{
        let header: *const Header = $header.as_ptr();
        // SAFETY: it is alive, and its kind was written with it.
        with_type_of!(unsafe { (*header).kind }, Type => {
            // SAFETY: it is of this kind.
            let $histogram = unsafe { &*Type::from_header(header) };
            $body
        }, _ => {
            // SAFETY: it is alive as long as the reference that it comes from.
            let $histogram = &unsafe { InUnits::new($header) };
            $body
        })
    }};
}
pub(crate) use {as_what_it_is, as_what_records, with_type_of};

/// Returns whether a full build has this mode with this storage and width. Exhaustive: a new mode needs an entry.
#[cfg(any(feature = "std", test))]
pub(crate) const fn is_offered(mode: Mode, storage: Storage, counter_bits: u32) -> bool {
    match (mode, storage) {
        (Mode::Interlocked | Mode::SingleWriter, Storage::Dense | Storage::Sparse) => true,
        (Mode::ThreadLocal, Storage::Dense) => true,
        (Mode::PerCpu, Storage::Dense) => counter_bits == 64,
        (Mode::ThreadLocal | Mode::PerCpu, Storage::Sparse) => false,
    }
}

/// Checks that the table has exactly what is offered: otherwise the build fails.
#[cfg(feature = "std")]
const _: () = {
    use crate::cells::kind::Kind;

    const fn is_in_table(kind: Kind) -> bool {
        with_type_of!(kind, Type => size_of::<&Type>() != 0, _ => false)
    }

    let mut at = 0;
    while at < Mode::ALL.len() * Storage::ALL.len() {
        let (mode, storage) = (Mode::ALL[at / Storage::ALL.len()], Storage::ALL[at % Storage::ALL.len()]);
        let narrow = is_in_table(Kind::new(mode, storage, 32)) == is_offered(mode, storage, 32);
        let wide = is_in_table(Kind::new(mode, storage, 64)) == is_offered(mode, storage, 64);
        assert!(
            narrow && wide,
            "`is_offered` and the table of `with_type_of` differ: a mode has no row, or one too many"
        );
        at += 1;
    }
};

/// Counts one value, for Rust.
///
/// # Safety
/// `header` must be that of a histogram that is alive.
#[inline(always)]
pub(crate) unsafe fn record_inlined(header: NonNull<Header>, value: u64) {
    let start: *const Header = header.as_ptr();
    // SAFETY: it is alive, as the caller promises, and its kind was written with it. Here and in the functions below,
    // the header is followed by the data of its kind.
    unsafe {
        let halfway = (*start).layout.halfway(value);
        let kind = (*start).kind;
        // One comparison identifies this kind, whatever other kinds there are.
        if kind == Single::<AtomicU64>::KIND {
            return (*Single::<AtomicU64>::from_header(start)).count_at(halfway.logical_index(value), value);
        }
        core::hint::cold_path();
        #[cfg(feature = "std")]
        if kind == Sharded::<AtomicU64>::KIND {
            return (*Sharded::<AtomicU64>::from_header(start)).count_at(halfway.logical_index(value), value);
        }
        if kind < Single::<AtomicU64>::KIND {
            return record_narrow(header, value, halfway.block, halfway.exponent);
        }
        record_wide(header, value, halfway.block, halfway.exponent);
    }
}

/// Counts one value, for the exported function. A dense 64-bit single writer falls through. One comparison separates
/// narrower kinds from other wide ones, and the first kind of either is one jump away, so that neither slows the other.
///
/// # Safety
/// `header` must be that of a histogram that is alive.
#[inline(always)]
pub unsafe fn record_exported(header: NonNull<Header>, value: u64) {
    let start: *const Header = header.as_ptr();
    // SAFETY: as for `record_inlined`.
    unsafe {
        let halfway = (*start).layout.halfway(value).in_place();
        let kind = (*start).kind;
        if kind < Single::<AtomicU64>::KIND {
            core::hint::cold_path();
            return record_narrow(header, value, halfway.block, halfway.exponent);
        }
        if kind > Single::<AtomicU64>::KIND {
            core::hint::cold_path();
            return record_wide(header, value, halfway.block, halfway.exponent);
        }
        (*Single::<AtomicU64>::from_header(start)).count_at(halfway.logical_index(value), value);
    }
}

/// Defines functions that count one value into a histogram of one kind, given half of its logical index. Each has a
/// separate section, to start on a cache line: code in a common function would share its registers, exits and lines.
macro_rules! functions_of_kinds {
    ($($(#[$where:meta])? $name:ident, $section:literal, $type:ty;)*) => {
        $(
            $(#[$where])?
            start_on_a_line!($section);

            $(#[$where])?
            #[inline(never)]
            #[cfg_attr(target_os = "linux", unsafe(link_section = $section))]
            unsafe extern "C" fn $name(header: NonNull<Header>, value: u64, block: u64, exponent: u64) {
                let index = Halfway { block, exponent }.logical_index(value);
                // SAFETY: as for `record_inlined`, and it is of this kind, as the caller promises.
                unsafe { (*<$type>::from_header(header.as_ptr())).count_at(index, value) };
            }
        )*
    };
}

functions_of_kinds! {
    record_interlocked_64, ".text.picollo_record_interlocked_64", Atomic<AtomicU64>;
    record_interlocked_32, ".text.picollo_record_interlocked_32", Atomic<AtomicU32>;
    #[cfg(feature = "std")]
    record_thread_local_32, ".text.picollo_record_thread_local_32", Sharded<AtomicU32>;
    #[cfg(feature = "alloc")]
    record_per_cpu, ".text.picollo_record_per_cpu", PerCpu;
}

start_on_a_line!(".text.picollo_record_wide", ".text.picollo_record_narrow");

/// Counts one value, given half of its logical index, in a histogram with 64-bit cells. Thread-local kinds fall
/// through; each of the others takes a comparison and a jump.
///
/// # Safety
/// As for [`record_inlined`].
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".text.picollo_record_wide"))]
unsafe extern "C" fn record_wide(header: NonNull<Header>, value: u64, block: u64, exponent: u64) {
    let start: *const Header = header.as_ptr();
    // SAFETY: as for `record_inlined`.
    unsafe {
        let kind = (*start).kind;
        #[cfg(feature = "std")]
        if kind == Sharded::<AtomicU64>::KIND {
            return (*Sharded::<AtomicU64>::from_header(start))
                .count_at(Halfway { block, exponent }.logical_index(value), value);
        }
        core::hint::cold_path();
        // This comes before interlocked kinds, because a comparison is negligible beside their locked addition.
        #[cfg(feature = "alloc")]
        if kind == PerCpu::KIND {
            return record_per_cpu(header, value, block, exponent);
        }
        if kind == Atomic::<AtomicU64>::KIND {
            return record_interlocked_64(header, value, block, exponent);
        }
        record_other(header, value);
    }
}

/// Does the same as [`record_wide`] for 32-bit cells: those of a single writer fall through.
///
/// # Safety
/// As for [`record_inlined`].
#[inline(never)]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".text.picollo_record_narrow"))]
unsafe extern "C" fn record_narrow(header: NonNull<Header>, value: u64, block: u64, exponent: u64) {
    let start: *const Header = header.as_ptr();
    // SAFETY: as for `record_inlined`.
    unsafe {
        let kind = (*start).kind;
        if kind == Single::<AtomicU32>::KIND {
            return (*Single::<AtomicU32>::from_header(start))
                .count_at(Halfway { block, exponent }.logical_index(value), value);
        }
        core::hint::cold_path();
        #[cfg(feature = "std")]
        if kind == Sharded::<AtomicU32>::KIND {
            return record_thread_local_32(header, value, block, exponent);
        }
        if kind == Atomic::<AtomicU32>::KIND {
            return record_interlocked_32(header, value, block, exponent);
        }
        record_other(header, value);
    }
}

/// Records into the kinds whose recording is longer, away from the others, which it would cost registers and a jump
/// table. The ABI of C makes the call a jump.
///
/// # Safety
/// As for [`record_inlined`].
#[inline(never)]
unsafe extern "C" fn record_other(header: NonNull<Header>, value: u64) {
    as_what_records!(header, histogram => histogram.record(value));
}

/// Cleans up a histogram before its memory is freed.
///
/// # Safety
/// `header` must be that of a histogram on the heap that nobody uses any more.
#[cfg(feature = "alloc")]
pub(crate) unsafe fn dispose(header: NonNull<Header>) {
    // SAFETY: it is of the kind in its header; the rest is the caller's promise.
    unsafe { with_type_of!(header.as_ref().kind.with_unit(0), Type => Type::dispose(header), _ => ()) };
}
