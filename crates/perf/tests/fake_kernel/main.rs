//! Sessions, events and explanations on a kernel in memory, which refuses and answers oddly on request.
#![allow(clippy::result_large_err)] // errors carry their text by value

mod answers;
mod diagnosis;
mod fake;
mod hybrid;
mod model;
mod opening;
mod pinning;
mod sysfs;
mod user_reads;
