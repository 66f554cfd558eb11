//! Benchmarks in a build without `std`, which has no allocator and no clock. Everything returns `Unsupported`.

#[allow(dead_code, reason = "the options are the same; nobody checks them here")]
#[path = "../benchmark/options.rs"]
mod options;
#[path = "../benchmark/result.rs"]
mod result;

use core::fmt;

use picollo_core::SingleWriterHistogram;

pub use options::{BENCHMARK_KEEP_DISTURBED, BENCHMARK_NO_OVERHEAD, BenchmarkOptions};
pub use result::{
    BENCHMARK_BUDGET_SPENT, BENCHMARK_NOTHING_A, BENCHMARK_NOTHING_B, BENCHMARK_SIMULATED, BenchmarkCounter,
    BenchmarkNoise, BenchmarkResult, Side, Step,
};

use crate::base::error::{Error, Result, failure};
use crate::event::event::Event;

fn refusal() -> Error {
    failure!(Unsupported, "this build has no clock to measure with; comparing works here")
}

/// A benchmark of two pieces of code. It needs `std`, so none can be created here.
pub struct Benchmark {
    _none: (),
}

impl Benchmark {
    crate::base::refused::refused! {
        pub fn create(_: &BenchmarkOptions, _: &[Event]) -> Result<Benchmark>;
        #[allow(clippy::should_implement_trait, reason = "it can fail")]
        pub fn next(&mut self) -> Result<Option<Step>>;
        pub fn done(&mut self) -> Result<()>;
        pub fn done_after(&mut self, _: u64) -> Result<()>;
        pub fn result(&self) -> Result<BenchmarkResult>;
        pub fn noise(&self) -> Result<BenchmarkNoise>;
        pub fn counter(&self, _: usize) -> Result<BenchmarkCounter>;
        pub fn write(
            &self,
            _: &mut (impl fmt::Write + ?Sized),
            _: &str,
            _: &str,
            _: &str,
            _: picollo_core::text::Format,
        ) -> Result<fmt::Result>;
        pub fn write_markdown(
            &self,
            _: &mut (impl fmt::Write + ?Sized),
            _: &str,
            _: &str,
            _: &str,
        ) -> Result<fmt::Result>;
    }

    /// Always 1: finished.
    pub fn progress(&self) -> f64 {
        1.0
    }

    /// Always `None`.
    pub fn histogram(&self, _: Side) -> Option<SingleWriterHistogram> {
        None
    }
}
