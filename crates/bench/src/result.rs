//! Inputs and results of a benchmark, on every platform.

use core::fmt;

use picollo_stats::BlockComparison;

use picollo_native::Status;

/// What to run in a sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum Side {
    /// Run A.
    A = 0,
    /// Run B.
    B = 1,
    /// Run as many empty calls: the part of every sample that belongs to neither A nor B.
    Empty = 2,
}

/// A sample to take: run `side` so many times, then call [`Benchmark::done`](super::Benchmark::done).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// What to run.
    pub side: Side,
    /// Number of calls.
    pub repetitions: u64,
}

/// The results of a benchmark. Times are in picoseconds.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
#[repr(C)]
pub struct BenchmarkResult {
    /// The difference and the verdict, in picoseconds per call without the overhead. The two medians differ by
    /// exactly the difference. They may be below zero if a call takes almost no time.
    pub blocks: BlockComparison,
    /// Median time of an empty sample with A's number of calls, which was subtracted.
    pub overhead_a: f64,
    /// Median time of an empty sample with B's number of calls, which was subtracted.
    pub overhead_b: f64,
    /// Calls of A in each sample.
    pub repetitions_a: u64,
    /// Calls of B in each sample: the same number, unless the two differ fourfold.
    pub repetitions_b: u64,
    /// Samples of each side: two per block.
    pub sample_count: u64,
    /// Since the benchmark was made.
    pub elapsed: u64,
    /// Half the interval of `overhead_a`, at 95 %.
    pub overhead_error_a: f64,
    /// Half the interval of `overhead_b`, at 95 %.
    pub overhead_error_b: f64,
    /// Number of empty samples.
    pub empty_count: u64,
    /// [`BENCHMARK_BUDGET_SPENT`] and its siblings.
    pub flags: u32,
    /// 0.
    pub reserved: u32,
}

/// Set when the budget was spent before the smallest number of blocks was measured.
pub const BENCHMARK_BUDGET_SPENT: u32 = 1 << 0;
/// Set when the time of a call of A is below the resolution: it does nothing, or the compiler removed it.
pub const BENCHMARK_NOTHING_A: u32 = 1 << 1;
/// Set when the time of a call of B is below the resolution: it does nothing, or the compiler removed it.
pub const BENCHMARK_NOTHING_B: u32 = 1 << 2;
/// Set when it ran under Valgrind: its times are meaningless, and there is no verdict.
pub const BENCHMARK_SIMULATED: u32 = 1 << 3;

/// What else the machine did. Unknown numbers are NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
#[repr(C)]
pub struct BenchmarkNoise {
    /// Measured blocks.
    pub block_count: u64,
    /// Measured blocks that were disturbed from outside.
    pub disturbed_count: u64,
    /// Measured blocks that were left out of the verdict. 0 if all count, because more than half were disturbed or
    /// all were to be kept.
    pub left_out_count: u64,
    /// Seconds that were watched: since the benchmark was made, with the warm-up.
    pub seconds: f64,
    /// Seconds that the host took from the CPUs that the program may run on.
    pub steal_seconds: f64,
    /// Seconds of CPU time that other programs took on these CPUs.
    pub others_seconds: f64,
    /// Seconds in which something, this program or another, had to wait for a CPU.
    pub pressure_seconds: f64,
    /// Lowest observed frequency of the CPU on which the benchmark was made, in hertz.
    pub frequency_low: f64,
    /// Highest observed frequency of that CPU, in hertz.
    pub frequency_high: f64,
    /// CPUs that the program may run on; 0: unknown.
    pub cpu_count: u32,
    /// 0.
    pub reserved: u32,
}

impl Default for BenchmarkNoise {
    /// Nothing is known.
    fn default() -> Self {
        BenchmarkNoise {
            block_count: 0,
            disturbed_count: 0,
            left_out_count: 0,
            seconds: f64::NAN,
            steal_seconds: f64::NAN,
            others_seconds: f64::NAN,
            pressure_seconds: f64::NAN,
            frequency_low: f64::NAN,
            frequency_high: f64::NAN,
            cpu_count: 0,
            reserved: 0,
        }
    }
}

/// Times below this share of the whole are not reported.
const LEAST_SHARE: f64 = 0.01;

impl BenchmarkNoise {
    /// The causes of the disturbance in words: `: other programs took 1.3 s of CPU time, of 5.0 s`.
    pub fn causes(&self) -> impl fmt::Display + '_ {
        fmt::from_fn(|f| {
            let parts = [
                (self.others_seconds, "other programs took ", " s of CPU time"),
                (self.pressure_seconds, "something waited for a CPU for ", " s"),
                (self.steal_seconds, "the host took ", " s"),
            ];
            let digits = |amount: f64| if amount < 1.0 { 2 } else { 1 };
            let shown = parts.iter().filter(|(amount, ..)| *amount >= LEAST_SHARE * self.seconds);
            for (at, &(amount, before, after)) in shown.enumerate() {
                let comma = if at == 0 { ": " } else { ", " };
                write!(f, "{comma}{before}{amount:.*}{after}", digits(amount))?;
            }
            write!(f, ", of {:.*} s", digits(self.seconds), self.seconds)
        })
    }
}

impl fmt::Display for BenchmarkNoise {
    /// Writes a sentence about left-out blocks and what disturbed them, or nothing if no block was disturbed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BenchmarkNoise { block_count, disturbed_count, left_out_count, .. } = *self;
        if disturbed_count == 0 {
            return Ok(());
        }
        let of = if left_out_count == 0 { disturbed_count } else { left_out_count };
        let was = if of == 1 { "was" } else { "were" };
        let how = if left_out_count == 0 { "disturbed" } else { "left out" };
        let plural = if block_count == 1 { "" } else { "s" };
        write!(f, "{of} of {block_count} block{plural} {was} {how}{}.", self.causes())
    }
}

/// How often an event occurred per call.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BenchmarkCounter {
    /// Count of A without that of empty samples; NaN if nothing was counted.
    pub a: f64,
    /// Count of B without that of empty samples; NaN if nothing was counted.
    pub b: f64,
    /// Why there is no count, if it is missing.
    pub status: Option<Status>,
}
