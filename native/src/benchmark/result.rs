//! What a benchmark asks for and tells, wherever it is.

use picollo_core::BlockComparison;

/// What to run in a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Side {
    /// The first.
    A = 0,
    /// The second.
    B = 1,
    /// As many calls of nothing: what is found in every sample and belongs to neither.
    Empty = 2,
}

/// A sample to take: run `side` so many times, then call [`Benchmark::done`](super::Benchmark::done).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// What to run.
    pub side: Side,
    /// How often.
    pub repetitions: u64,
}

/// Set when the budget was spent before as many blocks were measured as there should be at least.
pub const BENCHMARK_BUDGET_SPENT: u32 = 1 << 0;
/// Set when a call of A takes less than can be told: it does nothing, or the compiler left it out.
pub const BENCHMARK_NOTHING_A: u32 = 1 << 1;
/// Set when a call of B takes less than can be told: it does nothing, or the compiler left it out.
pub const BENCHMARK_NOTHING_B: u32 = 1 << 2;

/// Set where Valgrind executed it: its times say nothing, and there is no verdict.
pub const BENCHMARK_SIMULATED: u32 = 1 << 3;

/// How a benchmark went. Times are in picoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct BenchmarkResult {
    /// The difference and the verdict, of picoseconds a call without the overhead. The two medians differ by exactly the difference,
    /// and may be below zero where a call takes next to nothing.
    pub blocks: BlockComparison,
    /// What an empty sample with A's number of calls took: the median, which was subtracted.
    pub overhead_a: f64,
    /// What an empty sample with B's number of calls took: the median, which was subtracted.
    pub overhead_b: f64,
    /// Calls of A in each sample.
    pub repetitions_a: u64,
    /// Calls of B in each sample: as many as of A, unless the two differ fourfold.
    pub repetitions_b: u64,
    /// Samples of each side: two a block.
    pub sample_count: u64,
    /// Since the benchmark was made.
    pub elapsed: u64,
    /// Half the interval of `overhead_a`, at 95 %.
    pub overhead_error_a: f64,
    /// Half the interval of `overhead_b`, at 95 %.
    pub overhead_error_b: f64,
    /// Empty samples.
    pub empty_count: u64,
    /// [`BENCHMARK_BUDGET_SPENT`] and its siblings.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

/// How much of an event a call took.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct BenchmarkCounter {
    /// Of A, without that of empty samples; NaN where nothing was counted.
    pub a: f64,
    /// Of B, without that of empty samples; NaN where nothing was counted.
    pub b: f64,
    /// 0, or why there is no count: the number of the status.
    pub status: i32,
    /// 0.
    pub reserved: u32,
}
