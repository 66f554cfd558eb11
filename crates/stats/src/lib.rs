//! Proven differences between snapshots, and figures from counters, with confidence intervals.
//!
//! ```
//! use picollo_core::{Options, SharedHistogram};
//! use picollo_stats::{CompareOptions, Verdict, compare_snapshots};
//!
//! let [before, after] = [1_000, 2_000].map(|time| {
//!     let latency = SharedHistogram::create(&Options::default()).unwrap();
//!     (0..100).for_each(|more| latency.record(time + more));
//!     latency.snapshot().unwrap()
//! });
//! let compared = compare_snapshots(&before, &after, &CompareOptions::default())?;
//! assert_eq!(compared.verdict(), Verdict::Slower);
//! println!("{compared}");
//! # Ok::<(), picollo_core::Error>(())
//! ```

#![no_std]

#[cfg(test)]
extern crate std;

mod compare;
mod figures;

pub use compare::{
    BlockComparison, BlockOverhead, COMPARISON_AUTOCORRELATED, COMPARISON_BELOW_RESOLUTION,
    COMPARISON_LAYOUTS_DIFFER, COMPARISON_MARGIN_IS_RESOLUTION, COMPARISON_NOISY, COMPARISON_OUT_OF_RANGE,
    COMPARISON_TOO_FEW, COMPARISON_WITHIN_MARGIN, CompareOptions, Comparison, FEWEST_RUNS, QuantileInterval,
    RunComparison, Verdict, cohens_d, compare_block_ratios, compare_blocks, compare_blocks_above,
    compare_runs, compare_snapshots, power_behind, quantile_interval, verdict_text,
};
pub use figures::{
    FIGURE_EVENTS, FIGURE_FEW_SCOPES, FIGURE_PARTIAL, FIGURES, Figure, FigureCounts, FigureEstimate, Unknown,
    estimate_figure, estimate_figure_difference, event_of_figure,
};

/// The example of the package.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Package;
