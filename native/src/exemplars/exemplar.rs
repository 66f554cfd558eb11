//! One observation that is kept, with what leads to its request.

use super::evidence::Evidence;

/// What leads from an observation to its request. Zeroes: nothing does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The trace, as in W3C's `traceparent`.
    pub trace_id: [u8; 16],
    /// The span in it.
    pub span_id: [u8; 8],
    /// What the caller likes.
    pub words: [u64; 2],
}

/// A CPU that is not known.
pub const NO_CPU: u32 = u32::MAX;

/// An observation with its context and evidence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exemplar {
    /// What makes it one of its collector's: never reused, not 0.
    pub number: u64,
    /// As recorded.
    pub value: u64,
    /// How long it took; 0 where its value is no time.
    pub wall_nanos: u64,
    /// When it began, in nanoseconds since 1970.
    pub unix_nanos: u64,
    /// The kernel's id of the thread that it ended on.
    pub thread: i32,
    /// Where it ended, or [`NO_CPU`].
    pub cpu: u32,
    /// Of which kind it is.
    pub label: u32,
    /// What leads to its request.
    pub context: Context,
    /// What is known of where its time went.
    pub evidence: Evidence,
}
