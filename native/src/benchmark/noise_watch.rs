//! What else the machine did while something was measured by other means than a benchmark.

use super::noise::Trace;
use super::result::BenchmarkNoise;
use crate::base::error::{Error, Result, Status};
use crate::clock::{Clock, Unit};
use crate::machine::load::Watch;

/// Watches runs of one thing, by the rule for blocks of a benchmark: see [`Benchmark::noise`](super::Benchmark::noise).
///
/// It leaves nothing out: of one thing alone, without another beside it, that would favour runs that are short.
pub struct NoiseWatch {
    clock: Clock,
    made: u64,
    began: u64,
    watch: Watch,
    trace: Trace,
    runs: Vec<(u64, u64)>,
}

impl NoiseWatch {
    /// Of the CPUs that the calling thread may run on. Errors: `OutOfMemory`.
    pub fn create() -> Result<NoiseWatch> {
        Clock::init();
        let (clock, watch) = (Clock::Tsc, Watch::machine()?);
        let (made, trace) = (clock.ticks(), Trace::new(watch.tick())?);
        let mut watch = NoiseWatch { clock, made, began: 0, watch, trace, runs: Vec::new() };
        watch.look();
        Ok(watch)
    }

    /// A run begins.
    pub fn begin(&mut self) {
        if self.trace.is_due(self.now(), 0) {
            self.look();
        }
        self.began = self.now();
    }

    /// The run ends. Errors: `OutOfMemory`.
    pub fn end(&mut self) -> Result<()> {
        self.runs.try_reserve(1).map_err(|_| Error::from(Status::OutOfMemory))?;
        self.runs.push((self.began, self.now()));
        Ok(())
    }

    /// What else the machine did so far. The blocks are the runs.
    pub fn noise(&mut self) -> BenchmarkNoise {
        self.look();
        BenchmarkNoise {
            block_count: self.runs.len() as u64,
            disturbed_count: self.runs.iter().filter(|&&run| self.trace.is_disturbed(run)).count() as u64,
            ..self.trace.all()
        }
    }

    fn now(&self) -> u64 {
        self.clock.convert(self.clock.ticks().saturating_sub(self.made), Unit::Picos)
    }

    fn look(&mut self) {
        let at = self.now();
        let load = self.watch.look(self.trace.is_frequency_due(at));
        self.trace.add(at, load, 0, self.now().saturating_sub(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of this machine, whatever it does.
    #[cfg_attr(miri, ignore)]
    #[test]
    fn runs_of_work() {
        let mut watch = NoiseWatch::create().unwrap();
        for _ in 0..5 {
            watch.begin();
            let began = std::time::Instant::now();
            while began.elapsed().as_millis() < 30 {
                crate::work::add_chain_256(10);
            }
            watch.end().unwrap();
        }
        let noise = watch.noise();
        assert!(
            noise.block_count == 5 && noise.disturbed_count <= 5 && noise.left_out_count == 0,
            "{noise:?}"
        );
        assert!(noise.seconds >= 0.15, "{noise:?}");
        assert!(noise.pressure_seconds.is_nan() || noise.pressure_seconds <= noise.seconds, "{noise:?}");
    }
}
