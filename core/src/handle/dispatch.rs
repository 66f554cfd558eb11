//! Which type a kind is: the one place where histograms whose kind is known at run time are told apart.
//!
//! | what | how often | how |
//! |---|---|---|
//! | [`record_inlined`], for Rust | hot, inlined into the caller | the kind is compared with that of a single writer of 64 bits, then with that of thread-local ones; the rest is a call |
//! | [`record_exported`], for C | hot, inlined into the exported function | one comparison with the kind of a single writer of 64 bits, which falls through; those below are narrower and one jump away, those above wide and another |
//! | [`record_wide`], [`record_narrow`] | hot, called | the first kind falls through: thread-local of 64 bits, a single writer of 32. Each of the other dense kinds that add to one cell is one more comparison, and a jump to a function of its own |
//! | [`record_other`] | called | all others, whose recording is longer, or whose values are shifted to units first |
//! | [`as_what_it_is`], [`as_what_records`], [`with_type_of`] | rare, or worth it for a whole slice | a match over every kind there is |
//!
//! All of the index but one shift is computed before the kind is asked for, and handed on: the value stays in the register that it came
//! in, and no copy of it is made. A taken jump costs a record about as much as four
//! instructions, and so does code that lies across more cache lines than it must: hence one jump at the most for the kinds that are made
//! for speed, and functions that start on a line.
//!
//! A kind that is not named above `record_other` works nevertheless: it is recorded into by `record_other`. What a mode must
//! have is [`Body`]; which modes have which storage is said in `is_offered`, and the table in [`with_type_of`] must agree with
//! it, or the build fails.

use core::ptr::NonNull;

use crate::cells::header::Header;
#[cfg(any(feature = "std", test))]
use crate::cells::kind::{Mode, Storage};
pub(crate) use crate::cells::single_writer::Unguarded;
pub(crate) use crate::cells::write_mode::Interlocked;
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

/// Runs an expression with the type that a kind stands for, or another for a kind that this build does not have. Whoever uses
/// it imports all of this file, so the types in the rows are imported here by `pub(crate) use`.
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

/// Runs an expression on the histogram behind a header, which must be alive, as what it is.
macro_rules! as_what_it_is {
    ($header:expr, $histogram:ident => $body:expr) => {{
        let header: *const Header = $header.as_ptr();
        // SAFETY: alive, and its kind was written with it.
        with_type_of!(unsafe { (*header).kind.with_unit(0) }, Type => {
            // SAFETY: of this kind.
            let $histogram = unsafe { &*Type::from_header(header) };
            $body
        }, _ => {
            // SAFETY: constructors make no other kinds, and `attach` refuses them.
            unsafe { core::hint::unreachable_unchecked() }
        })
    }};
}

/// As [`as_what_it_is`], to hand values to it: one with a unit, which is no kind of the table, as [`InUnits`].
macro_rules! as_what_records {
    ($header:expr, $histogram:ident => $body:expr) => {{
        let header: *const Header = $header.as_ptr();
        // SAFETY: alive, and its kind was written with it.
        with_type_of!(unsafe { (*header).kind }, Type => {
            // SAFETY: of this kind.
            let $histogram = unsafe { &*Type::from_header(header) };
            $body
        }, _ => {
            // SAFETY: alive as long as the reference that it is made of.
            let $histogram = &unsafe { InUnits::new($header) };
            $body
        })
    }};
}
pub(crate) use {as_what_it_is, as_what_records, with_type_of};

/// Which modes have which storage and width, in a build with everything. Exhaustive: a new mode does not compile until it is said here.
#[cfg(any(feature = "std", test))]
pub(crate) const fn is_offered(mode: Mode, storage: Storage, counter_bits: u32) -> bool {
    match (mode, storage) {
        (Mode::Interlocked | Mode::SingleWriter, Storage::Dense | Storage::Sparse) => true,
        (Mode::ThreadLocal, Storage::Dense) => true,
        (Mode::PerCpu, Storage::Dense) => counter_bits == 64,
        (Mode::ThreadLocal | Mode::PerCpu, Storage::Sparse) => false,
    }
}

/// Whether the table has what is offered, no more and no less: otherwise the build fails.
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

/// Counts one value: for Rust.
///
/// # Safety
/// `header` must be that of a histogram that is alive.
#[inline(always)]
pub(crate) unsafe fn record_inlined(header: NonNull<Header>, value: u64) {
    let start: *const Header = header.as_ptr();
    // SAFETY: alive, as the caller promises, and its kind was written with it. Here and in the functions below: the header is
    // followed by what its kind says.
    unsafe {
        let halfway = (*start).layout.halfway(value);
        let kind = (*start).kind;
        // Told apart by one comparison, whatever other kinds there are.
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

/// Counts one value: for the exported function. A dense single writer of 64 bits falls through; one comparison tells those that are
/// narrower from the other wide ones, and the first of either is one jump away.
///
/// # Safety
/// As for [`record_inlined`].
#[inline(always)]
pub(crate) unsafe fn record_exported(header: NonNull<Header>, value: u64) {
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

/// Defines functions that count one value into a histogram of one kind, its logical index given halfway: each in a section of its own, to
/// start on a cache line, since what shares a function with others also shares its registers, its ends and its lines.
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
                // SAFETY: as for `record_inlined`, and of this kind, as the caller promises.
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

/// Counts one value, whose logical index is given halfway, into what has cells of 64 bits: thread-local ones fall through, each of the others
/// is a comparison and a jump.
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
        // Before interlocked ones, to whose locked addition a comparison is nothing.
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

/// As [`record_wide`], for cells of 32 bits: those of a single writer fall through.
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

/// The kinds whose recording is longer: out of the way of the others, where it would cost registers and a jump table. The
/// ABI of C makes the call a jump.
///
/// # Safety
/// As for [`record_inlined`].
#[inline(never)]
unsafe extern "C" fn record_other(header: NonNull<Header>, value: u64) {
    as_what_records!(header, histogram => histogram.record(value));
}

/// What is to be done with a histogram before its memory is freed.
///
/// # Safety
/// `header` must be that of a histogram on the heap that nobody uses any more.
#[cfg(feature = "alloc")]
pub(crate) unsafe fn dispose(header: NonNull<Header>) {
    // SAFETY: of the kind that it says; the rest is the caller's promise.
    unsafe { with_type_of!(header.as_ref().kind.with_unit(0), Type => Type::dispose(header), _ => ()) };
}
