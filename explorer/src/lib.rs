//! The mapping of `picollo_core::Layout` for a web page. One layout at a time, set by [`set`]; numbers go as they are, 64-bit ones
//! as `BigInt`.
#![no_std]
#![deny(missing_docs)]

use core::cell::Cell;

use picollo_core::{Bucket, Layout};

struct Current(Cell<Layout>);

// SAFETY: a module without shared memory has one thread.
unsafe impl Sync for Current {}

static CURRENT: Current = Current(Cell::new(Layout::new(0.001, 0, u64::MAX)));

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}

fn layout() -> Layout {
    CURRENT.0.get()
}

fn bucket(storage_index: u64) -> Bucket {
    layout().bucket_at(storage_index)
}

/// Takes a layout by its relative error. Returns 0 where there is none: then the one before stays.
#[unsafe(no_mangle)]
pub extern "C" fn set(relative_error: f64, min: u64, max: u64) -> u32 {
    let Ok(layout) = Layout::try_new(relative_error, min, max) else { return 0 };
    CURRENT.0.set(layout);
    1
}

/// The number of counters.
#[unsafe(no_mangle)]
pub extern "C" fn length() -> u64 {
    layout().length() as u64
}

/// The logical index of the first counter.
#[unsafe(no_mangle)]
pub extern "C" fn first_index() -> u64 {
    layout().first_index()
}

/// Binary logarithm of the block size.
#[unsafe(no_mangle)]
pub extern "C" fn scale() -> u32 {
    layout().scale()
}

/// The stated error.
#[unsafe(no_mangle)]
pub extern "C" fn relative_error() -> f64 {
    layout().relative_error()
}

/// Where the value is counted: a storage index, not below [`length`] where the value is out of range.
#[unsafe(no_mangle)]
pub extern "C" fn storage_index(value: u64) -> u64 {
    layout().storage_index(value)
}

/// 1 where a value lies below the range.
#[unsafe(no_mangle)]
pub extern "C" fn is_below(value: u64) -> u32 {
    layout().is_below(value).into()
}

/// Smallest value of the bucket at a storage index below [`length`].
#[unsafe(no_mangle)]
pub extern "C" fn lower(storage_index: u64) -> u64 {
    bucket(storage_index).lower
}

/// Largest value of that bucket.
#[unsafe(no_mangle)]
pub extern "C" fn upper(storage_index: u64) -> u64 {
    bucket(storage_index).upper
}

/// What that bucket reports.
#[unsafe(no_mangle)]
pub extern "C" fn midpoint(storage_index: u64) -> u64 {
    bucket(storage_index).equivalent_value(Default::default())
}
