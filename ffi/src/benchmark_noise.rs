//! Whether the machine was quiet enough to believe a benchmark.
//!
//! What others do to the machine meanwhile is watched between blocks: steal, CPU time and pressure, where the system tells.
//! A block is disturbed where, in a tenth of a second or more around it, more than a twentieth of the time was taken: by the
//! host, or by other programs while something had to wait for a CPU. Disturbed blocks are left out, both sides of them. Where
//! more than half are, there is no verdict, and the comparison has PICOLLO_COMPARISON_NOISY:
//!
//!     picollo_benchmark_disturbance noise;
//!     picollo_benchmark_noise(benchmark, &noise);
//!     if (result.blocks.flags & PICOLLO_COMPARISON_NOISY)
//!         printf("others took %.1f s of CPU time\n", noise.others_seconds);
//!
//! How often the program itself was interrupted is not looked at: the slower side has more of that. Where other programs
//! belong to what is measured, PICOLLO_BENCHMARK_KEEP_DISTURBED counts all blocks.

pub use picollo_native::BenchmarkNoise as picollo_benchmark_disturbance;

use crate::argument::output;
use crate::benchmark::read;
use crate::guard::guard;
use crate::handles::picollo_benchmark;
use crate::status::picollo_status;

/// Tells what else the machine did so far, and how many blocks were left out for it. What is not known is NaN; where the
/// system says nothing (elsewhere than on Linux) all of it, and no block is disturbed.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (benchmark, out); PICOLLO_ERR_EMPTY before the first block is done;
///   PICOLLO_ERR_OUT_OF_MEMORY.
/// Threads: one at a time.
/// Cost: goes through the blocks; in the middle of a benchmark, sorts them.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_noise(
    benchmark: *const picollo_benchmark,
    out: *mut picollo_benchmark_disturbance,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (benchmark, out) = unsafe { (read(benchmark)?, output(out)?) };
        out.set(benchmark.noise()?);
        Ok(())
    })
}
