//! Histograms with a bounded relative error, and everything that reads them: pure computation, without an operating
//! system, an allocator or a platform `libm`.

#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod bucket;
mod error;
mod layout;
mod summary;

pub use bucket::{Bucket, ValueSelection};
pub use error::{Error, Result};
pub use layout::{Layout, MAX_SCALE};
pub use summary::{Percentile, SUMMARY_APPROXIMATE, SUMMARY_PERCENTILES, SUMMARY_RANKS, Summary};
