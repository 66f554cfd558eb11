//! Benchmarks: which of two pieces of code is faster.
//!
//! A and B run alternately, in blocks of four samples: A B B A or B A A B, chosen at random. Slow changes of the
//! machine affect both alike, and the differences within blocks decide. The benchmark returns what to run next, and
//! how often. It warms up. Then it finds the number of calls that makes a sample long enough for the clock. A and B
//! share one number, so the cost of calling cancels, unless they differ fourfold. It measures empty samples and
//! subtracts their time. It ends when the answer can no longer change, or the budget is spent:
//!
//!     picollo_benchmark *benchmark;
//!     picollo_benchmark_outcome result;
//!     picollo_benchmark_disturbance noise;
//!     uint32_t which;
//!     uint64_t n;
//!     picollo_benchmark_create(NULL, NULL, 0, &benchmark, NULL);
//!     while (picollo_benchmark_next(benchmark, &which, &n, NULL) == PICOLLO_OK) {
//!         if (which == PICOLLO_BENCHMARK_A) while (n--) a();
//!         else if (which == PICOLLO_BENCHMARK_B) while (n--) b();
//!         if (picollo_benchmark_done(benchmark, NULL) != PICOLLO_OK) break;
//!     }
//!     picollo_benchmark_result(benchmark, &result, &noise);
//!     if (result.blocks.flags & PICOLLO_COMPARISON_NOISY)
//!         printf("others took %.1f s of CPU time\n", noise.others_seconds);
//!
//! For PICOLLO_BENCHMARK_EMPTY run the code around the calls of a and b. Here this is a loop that takes no time. In a
//! language with slower loops it is a loop of calls that do nothing. Use the results of a and b, or the compiler may
//! remove the calls (PICOLLO_BENCHMARK_NOTHING_A). The address of a loop changes its time by a third and more. So run
//! a and b from one function that is not inlined and calls through a pointer. Or run each from a function that is
//! aligned to 64 bytes. The remaining two cycles per call are the resolution; smaller differences are not reported.
//! Times are in picoseconds per call.
//!
//! Blocks that the host or other programs disturbed are left out. If more than half are disturbed, all count. If the
//! interval is then inconclusive, the comparison has PICOLLO_COMPARISON_NOISY and no verdict: a larger budget may help.
//! docs/is-it-faster.md has the rule. PICOLLO_BENCHMARK_KEEP_DISTURBED counts all blocks.
//!
//! Without a PMU, `picollo compare --why` counts the instructions of two programs exactly. Under Valgrind, times of
//! benchmarks are meaningless (PICOLLO_BENCHMARK_SIMULATED).

use core::ffi::c_char;

use picollo_bench::{Benchmark, BenchmarkCounter, BenchmarkOptions, Side};
pub use picollo_bench::{
    BenchmarkNoise as picollo_benchmark_disturbance, BenchmarkResult as picollo_benchmark_outcome,
};
use picollo_native::{ExplainedError, Status};
use picollo_text::Format;

use crate::argument::{either, exclusive, input, output, output_if_any, slice, text};
use crate::event::picollo_event;
use crate::failure::{Failure, Outcome};
use crate::guard::{exported, guard_explained, guard_void_uncancelled};
use crate::histogram::{into_handle, picollo_histogram};
use crate::memory;
use crate::options;
use crate::status::{PICOLLO_END, PICOLLO_OK, picollo_error, picollo_status};
use crate::text::write_collected;

/// A benchmark of two pieces of code.
pub struct picollo_benchmark(());

/// Subtract nothing, for samples that are so long that their surroundings do not matter, such as whole processes.
pub const PICOLLO_BENCHMARK_NO_OVERHEAD: u32 = 1 << 0;
/// Count disturbed blocks like all others. Use it if other programs belong to the measurement, such as a server that
/// A and B call.
pub const PICOLLO_BENCHMARK_KEEP_DISTURBED: u32 = 1 << 1;

/// Options of a benchmark.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_benchmark_options {
    /// sizeof(picollo_benchmark_options).
    pub struct_size: u32,
    /// PICOLLO_BENCHMARK_NO_OVERHEAD and PICOLLO_BENCHMARK_KEEP_DISTURBED, or 0.
    pub flags: u32,
    /// Smallest number of blocks, unless the budget is spent. 0: 20.
    pub min_blocks: u32,
    /// Largest number of blocks. 0: 100,000.
    pub max_blocks: u32,
    /// Calls per sample. 0: as many as fit into sample_seconds.
    pub repetitions: u64,
    /// Time limit in seconds; a started sample is finished. 0: 5. At least one block, of four samples, is always
    /// measured. If a call takes longer than the whole budget, its samples have one call each.
    pub budget_seconds: f64,
    /// Seconds to warm up, for both together. 0: a tenth of the budget.
    pub warm_up_seconds: f64,
    /// Seconds per sample, at most an eighth of the budget. 0: 0.0002, or a hundredth of the budget if that is less.
    pub sample_seconds: f64,
    /// 0: it ends when the answer can no longer change. Positive: it ends when half the width of the difference's
    /// interval is at most this share of A, or a tenth of the resolution. Negative: it ends only with the budget.
    pub precision: f64,
    /// Confidence of the interval, between 0 and 1. 0: 0.95.
    pub confidence: f64,
    /// Differences up to this share of A do not matter. 0: 0.01; negative: no such threshold.
    pub relative_threshold: f64,
    /// Smallest difference in seconds per call that can be resolved. 0: half a nanosecond (two cycles, which the
    /// address of a loop may change), or a hundredth of an empty call if that is more; 0 with
    /// PICOLLO_BENCHMARK_NO_OVERHEAD. Negative: 0.
    pub resolution_seconds: f64,
}

/// How often an event occurred per call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_benchmark_counts {
    /// Count of A without that of empty samples; NaN if nothing was counted.
    pub a: f64,
    /// Count of B without that of empty samples; NaN if nothing was counted.
    pub b: f64,
    /// 0, or why there is no count: the number of the status.
    pub status: i32,
    /// 0.
    pub reserved: u32,
}

impl From<BenchmarkCounter> for picollo_benchmark_counts {
    fn from(counter: BenchmarkCounter) -> Self {
        let BenchmarkCounter { a, b, status } = counter;
        picollo_benchmark_counts { a, b, status: status.map_or(PICOLLO_OK, Status::code), reserved: 0 }
    }
}

// SAFETY: plain numbers in naturally aligned order (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_benchmark_options {
    const FIRST_SIZE: usize = 72;
}

/// # Safety
/// As for [`options::read`].
unsafe fn read_options(
    options: *const picollo_benchmark_options,
) -> Result<BenchmarkOptions, ExplainedError> {
    // SAFETY: passed on.
    let Some(asked) = (unsafe { options::read(options) })? else { return Ok(BenchmarkOptions::default()) };
    if asked.flags & !(PICOLLO_BENCHMARK_NO_OVERHEAD | PICOLLO_BENCHMARK_KEEP_DISTURBED) != 0 {
        return Err(ExplainedError::new(Status::Unsupported, format_args!("unknown benchmark flags")));
    }
    Ok(BenchmarkOptions {
        no_overhead: asked.flags & PICOLLO_BENCHMARK_NO_OVERHEAD != 0,
        keep_disturbed: asked.flags & PICOLLO_BENCHMARK_KEEP_DISTURBED != 0,
        min_blocks: asked.min_blocks,
        max_blocks: asked.max_blocks,
        repetitions: asked.repetitions,
        budget_seconds: asked.budget_seconds,
        warm_up_seconds: asked.warm_up_seconds,
        sample_seconds: asked.sample_seconds,
        precision: asked.precision,
        confidence: asked.confidence,
        relative_threshold: asked.relative_threshold,
        resolution_seconds: asked.resolution_seconds,
    })
}

/// The benchmark behind a handle, to read from.
///
/// # Safety
/// If not NULL, `benchmark` must be a handle that is not freed, nor used elsewhere, during the call.
pub(crate) unsafe fn read<'a>(benchmark: *const picollo_benchmark) -> Outcome<&'a Benchmark> {
    // SAFETY: a handle leads to a benchmark; the rest is passed on.
    unsafe { input(benchmark.cast()) }
}

/// The benchmark behind a handle, to change.
///
/// # Safety
/// As for [`read`].
unsafe fn change<'a>(benchmark: *mut picollo_benchmark) -> Outcome<&'a mut Benchmark> {
    // SAFETY: a handle leads to a benchmark; the rest is passed on.
    unsafe { exclusive(benchmark.cast()) }
}

exported! { explained(error)
/// Makes a benchmark, which may also count events on the calling thread. Unavailable events stay as entries without
/// counts.
///
/// Requires: events leads to length events.
/// Returns: with events as picollo_session_create.
/// Threads: any thread, which becomes the opening thread.
/// Cost: allocates two histograms and some lists, reads two small files of the system; with events also as
///   picollo_session_create.
fn picollo_benchmark_create(
    options: *const picollo_benchmark_options,
    events: *const picollo_event,
    length: usize,
    out: *mut *mut picollo_benchmark,
    error: *mut picollo_error,
) -> picollo_status {
    let (events, out) = (slice(events, length)?, output(out)?);
    let benchmark = Benchmark::create(&read_options(options)?, events)?;
    out.deliver(memory::create(benchmark)?.as_ptr().cast())
}
}

/// Frees a benchmark.
///
/// Cost: with events a few system calls.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_free(benchmark: *mut picollo_benchmark) {
    // SAFETY: from `picollo_benchmark_create`, and given up by the caller.
    guard_void_uncancelled(|| unsafe { memory::destroy(benchmark.cast::<Benchmark>()) });
}

/// Reports what to run now, and begins a sample: the clock is read last. A sample that was begun but not ended is
/// discarded.
///
/// Returns: PICOLLO_END at the end; with events as picollo_session_read.
/// Threads: opening thread only with events, else one at a time.
/// Cost: reads the clock; with events also as picollo_session_read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_next(
    benchmark: *mut picollo_benchmark,
    out_which: *mut u32,
    out_repetitions: *mut u64,
    error: *mut picollo_error,
) -> picollo_status {
    let mut is_end = false;
    let status = guard_explained(error, || {
        let (benchmark, out_which, out_repetitions) =
            (change(benchmark)?, output(out_which)?, output(out_repetitions)?);
        if let Some(step) = benchmark.next()? {
            out_which.set(step.side as u32);
            out_repetitions.set(step.repetitions);
        } else {
            is_end = true;
        }
        Ok(())
    });
    // Not an error, so there is nothing to explain.
    if is_end && status == PICOLLO_OK { PICOLLO_END } else { status }
}

/// Ends the sample that was begun: the clock is read first.
///
/// Returns: PICOLLO_ERR_INVALID_ARGUMENT if no sample was begun; with events as picollo_session_read.
/// Threads: as picollo_benchmark_next.
/// Cost: reads the clock; now and then sorts the blocks.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_done(
    benchmark: *mut picollo_benchmark,
    error: *mut picollo_error,
) -> picollo_status {
    guard_explained(error, || change(benchmark)?.done())
}

/// Ends the sample that was begun with a time that the caller measured.
///
/// Requires: picoseconds is the time of the whole sample.
/// Otherwise: as picollo_benchmark_done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_done_after(
    benchmark: *mut picollo_benchmark,
    picoseconds: u64,
    error: *mut picollo_error,
) -> picollo_status {
    guard_explained(error, || change(benchmark)?.done_after(picoseconds))
}

exported! {
/// Reports the results so far, and what else the machine did. Unknown numbers are NaN. On systems other than Linux
/// out_noise is unknown, and no block is disturbed.
///
/// Requires: out_noise may be NULL.
/// Returns: PICOLLO_ERR_EMPTY before the first block is done; PICOLLO_ERR_OUT_OF_MEMORY.
/// Threads: one at a time.
/// Cost: sorts the blocks, unless the benchmark has ended.
fn picollo_benchmark_result(
    benchmark: *const picollo_benchmark,
    out: *mut picollo_benchmark_outcome,
    out_noise: *mut picollo_benchmark_disturbance,
) -> picollo_status {
    let (benchmark, out, out_noise) = (read(benchmark)?, output(out)?, output_if_any(out_noise)?);
    let noise = benchmark.noise()?;
    out.set(benchmark.result()?);
    out_noise.set(noise);
    Ok(())
}

/// Reports how often an event occurred per call, by the event's index. The count has a status.
///
/// Threads: one at a time.
fn picollo_benchmark_counter(
    benchmark: *const picollo_benchmark,
    index: usize,
    out: *mut picollo_benchmark_counts,
) -> picollo_status {
    let (benchmark, out) = (read(benchmark)?, output(out)?);
    out.deliver(benchmark.counter(index)?.into())
}

/// Returns the histogram of A's or B's samples in picoseconds per call, for reading. It is in single-writer mode, and
/// the benchmark is the writer.
///
/// Requires: which is PICOLLO_BENCHMARK_A or PICOLLO_BENCHMARK_B; nobody else records into the histogram.
/// Ownership: *out outlives the benchmark.
/// Threads: one at a time.
fn picollo_benchmark_histogram_ref(
    benchmark: *const picollo_benchmark,
    which: u32,
    out: *mut *mut picollo_histogram,
) -> picollo_status {
    let (benchmark, out) = (read(benchmark)?, output(out)?);
    let side = if either(which, Side::A as u32, Side::B as u32)? { Side::B } else { Side::A };
    let histogram = benchmark.histogram(side).ok_or(Failure::INVALID_ARGUMENT)?;
    // SAFETY: nobody records into it, as the caller promises.
    out.deliver(into_handle(unsafe { histogram.into_unguarded() }))
}

/// Writes the results: the changes in the times of samples, the verdict by blocks, and the counters.
///
/// Requires: format is PICOLLO_TEXT_MARKDOWN or _HUMAN. Empty names read "Before" and "After".
/// Returns: PICOLLO_ERR_UNSUPPORTED for the other formats of PICOLLO_TEXT_...; PICOLLO_ERR_EMPTY before the first
///   block is done.
/// Threads: one at a time.
/// Cost: allocates snapshots temporarily.
fn picollo_benchmark_format(
    benchmark: *const picollo_benchmark,
    title: *const c_char,
    name_a: *const c_char,
    name_b: *const c_char,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    let (benchmark, title) = (read(benchmark)?, text(title)?);
    let (name_a, name_b) = (text(name_a)?, text(name_b)?);
    let format = Format::try_from(format)?;
    if !matches!(format, Format::Markdown | Format::Human) {
        return Err(Failure::UNSUPPORTED);
    }
    benchmark.result()?;
    write_collected(buffer, capacity, out_length, |out| {
        match benchmark.write(out, title, name_a, name_b, format) {
            Ok(Ok(())) => Ok(()),
            // The text allocates memory.
            Ok(Err(_)) => Err(picollo_core::Error::BufferTooSmall),
            Err(_) => Err(picollo_core::Error::OutOfMemory),
        }
    })
}
}
