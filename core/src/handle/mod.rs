//! One counted pointer to a histogram of any kind, chosen at run time.

pub(crate) mod atomic_recorder;
pub(crate) mod dispatch;
pub(crate) mod options;
pub(crate) mod plan;
pub(crate) mod prefix;
pub(crate) mod recorder;
pub(crate) mod shared;
pub(crate) mod single_writer;
pub(crate) mod units;
