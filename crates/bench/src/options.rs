//! How long to measure, and how well.

use picollo_native::{ExplainedError, Result, Status};

/// Options of a benchmark. Zero, and false, mean the default everywhere.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BenchmarkOptions {
    /// Subtract nothing, for samples that are so long that their surroundings do not matter, such as whole processes.
    pub no_overhead: bool,
    /// Count disturbed blocks like all others. Use it if other programs belong to the measurement, such as a server that
    /// A and B call.
    pub keep_disturbed: bool,
    /// Blocks before the benchmark may end early; 0: 20.
    pub min_blocks: u32,
    /// Maximum number of blocks; 0: 100,000.
    pub max_blocks: u32,
    /// Calls in a sample; 0: as many as fit in `sample_seconds`.
    pub repetitions: u64,
    /// Maximum duration in seconds; 0: 5. A running sample is finished. At least one block of four samples is always
    /// measured, with one call per sample if a call exceeds the budget.
    pub budget_seconds: f64,
    /// Seconds to warm up for, both together; 0: a tenth of the budget.
    pub warm_up_seconds: f64,
    /// Target duration of a sample in seconds; 0: 0.0002, but at most a hundredth of the budget. Never above an eighth
    /// of it.
    pub sample_seconds: f64,
    /// 0: it ends when the answer can no longer change. Above: when half the width of the interval of the difference is at most this
    /// share of A, or a tenth of the resolution. Negative: only with the budget.
    pub precision: f64,
    /// Confidence of the interval, between 0 and 1; 0: 0.95.
    pub confidence: f64,
    /// Differences up to this share of A do not matter; 0: 0.01; negative: no such threshold.
    pub relative_threshold: f64,
    /// Seconds per call that cannot be distinguished. 0: half a nanosecond, two cycles, which a loop's place in memory
    /// may change, or a hundredth of an empty call if more; none with `no_overhead`. Negative: none.
    pub resolution_seconds: f64,
}

/// The checked options with the defaults filled in.
pub(super) struct Limits {
    pub min_blocks: usize,
    pub max_blocks: usize,
    pub repetitions: u64,
    /// In picoseconds, like all times.
    pub budget: u64,
    pub warm_up: u64,
    pub sample: u64,
    pub precision: f64,
    pub confidence: f64,
    pub relative_threshold: f64,
    /// Per call, if given.
    pub resolution: Option<f64>,
    /// Number before the first block; 0: no empty samples at all.
    pub empty_samples: usize,
    /// Disturbed blocks count, too.
    pub keeps_disturbed: bool,
}

impl Limits {
    pub(super) fn new(options: &BenchmarkOptions) -> Result<Limits> {
        let invalid = |why: &str| ExplainedError::new(Status::InvalidArgument, format_args!("{why}"));
        let seconds = |asked: f64, default: f64| {
            if asked == 0.0 {
                Ok((default * 1e12) as u64)
            } else if 0.0 < asked && asked <= 1e6 {
                Ok(((asked * 1e12) as u64).max(1))
            } else {
                Err(invalid("times are seconds, up to a million"))
            }
        };
        if options.confidence != 0.0 && !(0.0 < options.confidence && options.confidence < 1.0) {
            return Err(invalid("the confidence is between 0 and 1"));
        }
        if options.precision.is_nan() || options.relative_threshold.is_nan() {
            return Err(invalid("precision and threshold are numbers"));
        }
        if options.resolution_seconds.is_nan() || options.resolution_seconds > 1e6 {
            return Err(invalid("the resolution is seconds, up to a million"));
        }
        let has_overhead = !options.no_overhead;
        let resolution = match options.resolution_seconds {
            0.0 if has_overhead => None,
            asked => Some(asked.max(0.0) * 1e12),
        };
        let budget = seconds(options.budget_seconds, 5.0)?;
        let or = |asked: u32, default: usize| if asked == 0 { default } else { asked as usize };
        let max_blocks = or(options.max_blocks, 100_000);
        Ok(Limits {
            min_blocks: or(options.min_blocks, 20).min(max_blocks),
            max_blocks,
            repetitions: options.repetitions,
            budget,
            warm_up: seconds(options.warm_up_seconds, budget as f64 / 1e13)?,
            sample: seconds(options.sample_seconds, 2e-4f64.min(budget as f64 / 1e14))?
                .min(budget / 8)
                .max(1),
            precision: options.precision,
            confidence: options.confidence,
            relative_threshold: options.relative_threshold,
            resolution,
            empty_samples: if has_overhead { 16 } else { 0 },
            keeps_disturbed: options.keep_disturbed,
        })
    }
}
