//! The kinds of histograms: numbers that headers hold, and the types that they stand for.

use crate::cells::kind::Mode;
use crate::cells::kind::Storage;
use crate::cells::kind::kind;
use crate::histograms::dense::Histogram;

// The macros name these where they are used.
pub(crate) use crate::cells::single_writer::Unguarded;
pub(crate) use crate::cells::write_mode::Interlocked;
pub(crate) use crate::histograms::scalable::Scalable;
#[cfg(feature = "std")]
pub(crate) use crate::histograms::sharded::Sharded;
#[cfg(feature = "alloc")]
pub(crate) use crate::histograms::sparse::Sparse;
pub(crate) use crate::platform::atomics::{AtomicU32, AtomicU64};

pub(crate) const SINGLE_64: u32 = kind(Mode::SingleWriter, Storage::Dense, 64);
pub(crate) const SINGLE_32: u32 = kind(Mode::SingleWriter, Storage::Dense, 32);
pub(crate) const INTERLOCKED_64: u32 = kind(Mode::Interlocked, Storage::Dense, 64);
pub(crate) const INTERLOCKED_32: u32 = kind(Mode::Interlocked, Storage::Dense, 32);
#[cfg(feature = "std")]
pub(crate) const THREAD_LOCAL_64: u32 = kind(Mode::ThreadLocal, Storage::Dense, 64);
#[cfg(feature = "std")]
pub(crate) const THREAD_LOCAL_32: u32 = kind(Mode::ThreadLocal, Storage::Dense, 32);
pub(crate) const SCALABLE_64: u32 = kind(Mode::Scalable, Storage::Dense, 64);
pub(crate) const SCALABLE_32: u32 = kind(Mode::Scalable, Storage::Dense, 32);
#[cfg(feature = "alloc")]
pub(crate) const SPARSE_SINGLE_64: u32 = kind(Mode::SingleWriter, Storage::Sparse, 64);
#[cfg(feature = "alloc")]
pub(crate) const SPARSE_SINGLE_32: u32 = kind(Mode::SingleWriter, Storage::Sparse, 32);
#[cfg(feature = "alloc")]
pub(crate) const SPARSE_INTERLOCKED_64: u32 = kind(Mode::Interlocked, Storage::Sparse, 64);
#[cfg(feature = "alloc")]
pub(crate) const SPARSE_INTERLOCKED_32: u32 = kind(Mode::Interlocked, Storage::Sparse, 32);

/// Whether a kind is one that one thread writes.
pub(crate) const fn is_single_writer(kind: u32) -> bool {
    kind & 0xff == SINGLE_64 & 0xff
}

/// What the kinds are.
pub(crate) type Single<C> = Histogram<[C], Unguarded>;
pub(crate) type Atomic<C> = Histogram<[C], Interlocked>;

/// Looks a kind up in a table, and runs an expression with the type that it stands for, or another for what is not there.
macro_rules! look_up {
    ($kind:expr, $type:ident => $body:expr, $other:pat => $unknown:expr, { $($(#[$where:meta])? $known:ident: $meant:ty,)* }) => {
        match $kind {
            $(
                $(#[$where])?
                $known => {
                    type $type = $meant;
                    $body
                }
            )*
            $other => $unknown,
        }
    };
}

/// Runs an expression with the type that a kind stands for, or another for a kind that cannot live in the caller's
/// memory.
macro_rules! with_dense_type_of {
    ($kind:expr, $type:ident => $body:expr, _ => $unknown:expr) => {
        look_up!($kind, $type => $body, _ => $unknown, {
            SINGLE_64: Single<AtomicU64>,
            SINGLE_32: Single<AtomicU32>,
            INTERLOCKED_64: Atomic<AtomicU64>,
            INTERLOCKED_32: Atomic<AtomicU32>,
        })
    };
}

/// Runs an expression with the type that a kind stands for, or another for an unknown kind.
macro_rules! with_type_of {
    ($kind:expr, $type:ident => $body:expr, _ => $unknown:expr) => {
        look_up!($kind, $type => $body, kind => with_dense_type_of!(kind, $type => $body, _ => $unknown), {
            #[cfg(feature = "std")]
            THREAD_LOCAL_64: Sharded<AtomicU64>,
            #[cfg(feature = "std")]
            THREAD_LOCAL_32: Sharded<AtomicU32>,
            #[cfg(feature = "alloc")]
            SPARSE_SINGLE_64: Sparse<AtomicU64, Unguarded>,
            #[cfg(feature = "alloc")]
            SPARSE_SINGLE_32: Sparse<AtomicU32, Unguarded>,
            #[cfg(feature = "alloc")]
            SPARSE_INTERLOCKED_64: Sparse<AtomicU64, Interlocked>,
            #[cfg(feature = "alloc")]
            SPARSE_INTERLOCKED_32: Sparse<AtomicU32, Interlocked>,
            SCALABLE_64: Scalable<AtomicU64>,
            SCALABLE_32: Scalable<AtomicU32>,
        })
    };
}
