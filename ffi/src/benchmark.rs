//! Benchmarks: which of two pieces of code is faster.
//!
//! A and B are run in turns, in blocks of four samples (A B B A, then B A A B), so that what changes slowly falls on both
//! alike, and the differences within blocks are judged. A benchmark is asked what to run next, and how often, and is told
//! when that is done. It warms up, finds the number of calls that make a sample long enough for the clock (one number for
//! both, so that what calling costs cancels, unless they differ fourfold), measures empty samples and subtracts what they
//! take, and ends when the budget is spent, or before where that is enough: the first blocks, a pilot, tell how many it
//! takes for an interval that is narrow enough, and those after it are judged:
//!
//!     picollo_benchmark *benchmark;
//!     picollo_benchmark_outcome result;
//!     uint32_t which;
//!     uint64_t n;
//!     picollo_benchmark_create(NULL, NULL, 0, &benchmark, NULL);
//!     while (picollo_benchmark_next(benchmark, &which, &n, NULL) == PICOLLO_OK) {
//!         if (which == PICOLLO_BENCHMARK_A) while (n--) a();
//!         else if (which == PICOLLO_BENCHMARK_B) while (n--) b();
//!         if (picollo_benchmark_done(benchmark, NULL) != PICOLLO_OK) break;
//!     }
//!     picollo_benchmark_result(benchmark, &result);
//!
//! For PICOLLO_BENCHMARK_EMPTY run what surrounds the calls of a and b: here it is a loop that no time is spent in, but in
//! a language with dearer loops it is a loop of calls that do nothing. The results of a and b have to be used, or the
//! compiler may leave them out: a call that then takes less than can be told is said to (PICOLLO_BENCHMARK_NOTHING_A).
//!
//! Where in memory a loop lies changes what it takes, by a third of it and more. So run a and b by one function that is
//! not inlined and calls through a pointer, or each by a function of its own, aligned to 64 bytes. What is left of that,
//! two cycles a call, is no property of the code: the resolution, below which no difference is told.
//!
//! Times are in picoseconds a call.
//!
//! Where there is no PMU, and times are too noisy, `picollo stat --counts=valgrind --benchmarks PROGRAM` counts the instructions
//! of a call of A and of B, exactly. Run by Valgrind, benchmarks take few samples, and say in their result that times are not to be believed
//! (PICOLLO_BENCHMARK_SIMULATED).

use core::ffi::c_char;

use picollo_core::text::Format;
use picollo_native::{
    BENCHMARK_BUDGET_SPENT, BENCHMARK_KEEP_DISTURBED, BENCHMARK_NO_OVERHEAD, BENCHMARK_NOTHING_A,
    BENCHMARK_NOTHING_B, BENCHMARK_SIMULATED, Benchmark, BenchmarkOptions, Side,
};
pub use picollo_native::{
    BenchmarkCounter as picollo_benchmark_counts, BenchmarkResult as picollo_benchmark_outcome,
};

use crate::argument::{exclusive, input, output, slice, text};
use crate::event::{picollo_error, picollo_event};
use crate::failure::{Failure, Outcome};
use crate::guard::{guard, guard_explained, guard_uncancelled, guard_void_uncancelled};
use crate::handles::{picollo_benchmark, picollo_histogram};
use crate::histogram::into_handle;
use crate::memory;
use crate::options;
use crate::status::{PICOLLO_END, PICOLLO_OK, picollo_status};
use crate::text::write_collected;

/// Run A.
pub const PICOLLO_BENCHMARK_A: u32 = 0;
/// Run B.
pub const PICOLLO_BENCHMARK_B: u32 = 1;
/// Run as many calls of nothing.
pub const PICOLLO_BENCHMARK_EMPTY: u32 = 2;

/// Subtract nothing, and ask for no empty samples: of samples so long that what surrounds them does not matter, as whole
/// processes are.
pub const PICOLLO_BENCHMARK_NO_OVERHEAD: u32 = 1 << 0;
/// Blocks that were disturbed from outside count like all others: where other programs belong to what is measured, as a
/// server does that A and B ask.
pub const PICOLLO_BENCHMARK_KEEP_DISTURBED: u32 = 1 << 1;

/// In the flags of a result: the budget was spent before as many blocks were measured as there should be at least.
pub const PICOLLO_BENCHMARK_BUDGET_SPENT: u32 = 1 << 0;
/// In the flags of a result: a call of A takes less than can be told. It does nothing, or the compiler left it out.
pub const PICOLLO_BENCHMARK_NOTHING_A: u32 = 1 << 1;
/// In the flags of a result: a call of B takes less than can be told. It does nothing, or the compiler left it out.
pub const PICOLLO_BENCHMARK_NOTHING_B: u32 = 1 << 2;
/// In the flags of a result: Valgrind executed it. Its times say nothing, and there is no verdict.
pub const PICOLLO_BENCHMARK_SIMULATED: u32 = 1 << 3;

const _: () = assert!(
    PICOLLO_BENCHMARK_A == Side::A as u32
        && PICOLLO_BENCHMARK_B == Side::B as u32
        && PICOLLO_BENCHMARK_EMPTY == Side::Empty as u32
        && PICOLLO_BENCHMARK_NO_OVERHEAD == BENCHMARK_NO_OVERHEAD
        && PICOLLO_BENCHMARK_KEEP_DISTURBED == BENCHMARK_KEEP_DISTURBED
        && PICOLLO_BENCHMARK_BUDGET_SPENT == BENCHMARK_BUDGET_SPENT
        && PICOLLO_BENCHMARK_NOTHING_A == BENCHMARK_NOTHING_A
        && PICOLLO_BENCHMARK_NOTHING_B == BENCHMARK_NOTHING_B
        && PICOLLO_BENCHMARK_SIMULATED == BENCHMARK_SIMULATED
);

/// How to measure. Begin with PICOLLO_BENCHMARK_OPTIONS_INIT, and change what should
/// not be the default.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_benchmark_options {
    /// sizeof(picollo_benchmark_options).
    pub struct_size: u32,
    /// PICOLLO_BENCHMARK_NO_OVERHEAD and PICOLLO_BENCHMARK_KEEP_DISTURBED, or 0.
    pub flags: u32,
    /// Blocks before it may end for being precise enough: in the pilot, and judged. 0: 20.
    pub min_blocks: u32,
    /// Blocks at most, with those of the pilot. 0: 100,000.
    pub max_blocks: u32,
    /// Calls in a sample. 0: as many as sample_seconds take.
    pub repetitions: u64,
    /// Seconds at most; a sample that was begun is finished. 0: 5. One block, of four samples, is measured in any case: of
    /// one call each where a call takes longer than all of it.
    pub budget_seconds: f64,
    /// Seconds to warm up for, both together. 0: a tenth of the budget.
    pub warm_up_seconds: f64,
    /// Seconds that a sample should take. 0: 0.0002, or a hundredth of the budget where that is less. An eighth of it at most.
    pub sample_seconds: f64,
    /// It ends with as many blocks as make half the width of the interval of the difference about this share of A, or a
    /// tenth of the resolution. 0: 0.002; negative: only with the budget.
    pub precision: f64,
    /// Of the interval, between 0 and 1. 0: 0.95.
    pub confidence: f64,
    /// Differences up to this share of A do not matter. 0: 0.01; negative: no such threshold.
    pub relative_threshold: f64,
    /// Seconds a call that cannot be told apart. 0: half a nanosecond, two cycles, which where in memory a loop lies may
    /// change, or a hundredth of what a call of nothing takes where that is more; with PICOLLO_BENCHMARK_NO_OVERHEAD
    /// nothing. Negative: nothing.
    pub resolution_seconds: f64,
}

// SAFETY: plain numbers in naturally aligned order (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_benchmark_options {
    const FIRST_SIZE: usize = 72;
}

/// # Safety
/// As for [`options::read`].
unsafe fn read_options(options: *const picollo_benchmark_options) -> Outcome<BenchmarkOptions> {
    // SAFETY: passed on.
    let Some(asked) = (unsafe { options::read(options) })? else { return Ok(BenchmarkOptions::default()) };
    Ok(BenchmarkOptions {
        flags: asked.flags,
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

/// Makes a benchmark, which may count events beside the time, on the calling thread. Events that are not available stay
/// as entries without counts.
///
/// Requires: options are NULL for the defaults; events leads to length events, and may be NULL for none; error may be NULL.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (out, and with a length above 0 events); PICOLLO_ERR_INVALID_ARGUMENT,
///   PICOLLO_ERR_UNSUPPORTED (options); PICOLLO_ERR_OUT_OF_MEMORY; with events as picollo_session_create.
/// Ownership: *out is the caller's, for picollo_benchmark_free.
/// Threads: any thread, which becomes the opening thread.
/// Cost: allocates two histograms and some lists, opens and reads two small files of the system; with events also as picollo_session_create.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_create(
    options: *const picollo_benchmark_options,
    events: *const picollo_event,
    length: usize,
    out: *mut *mut picollo_benchmark,
    error: *mut picollo_error,
) -> picollo_status {
    guard_uncancelled(error, || {
        // SAFETY: the caller's promises, passed on.
        let (events, out) = unsafe { (slice(events, length)?, output(out)?) };
        // SAFETY: as above.
        let options = unsafe { read_options(options)? };
        let benchmark = Benchmark::create(&options, events)?;
        out.set(memory::create(benchmark)?.as_ptr().cast());
        Ok(())
    })
}

/// Frees a benchmark. NULL is allowed and does nothing.
///
/// Threads: any thread, once.
/// Cost: frees its memory; with events some system calls.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_free(benchmark: *mut picollo_benchmark) {
    // SAFETY: from `picollo_benchmark_create`, and given up by the caller.
    guard_void_uncancelled(|| unsafe { memory::destroy(benchmark.cast::<Benchmark>()) });
}

/// Tells what to run now, and begins a sample: the clock is read last. A sample that was begun and not done is forgotten.
///
/// Requires: error may be NULL.
/// Returns: PICOLLO_OK; PICOLLO_END at the end; PICOLLO_ERR_NULL_POINTER (benchmark, out_which, out_repetitions); with
///   events as picollo_session_read.
/// Threads: opening thread only with events, else one at a time.
/// Cost: reads the clock; with events also as picollo_session_read.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_next(
    benchmark: *mut picollo_benchmark,
    out_which: *mut u32,
    out_repetitions: *mut u64,
    error: *mut picollo_error,
) -> picollo_status {
    let mut is_end = false;
    let status = guard_explained(error, || {
        // SAFETY: the caller's promises, passed on.
        let (benchmark, out_which, out_repetitions) =
            unsafe { (change(benchmark)?, output(out_which)?, output(out_repetitions)?) };
        if let Some(step) = benchmark.next()? {
            out_which.set(step.side as u32);
            out_repetitions.set(step.repetitions);
        } else {
            is_end = true;
        }
        Ok(())
    });
    // No error, of which there would be something to explain.
    if is_end && status == PICOLLO_OK { PICOLLO_END } else { status }
}

/// Ends the sample that was begun: the clock is read first.
///
/// Requires: error may be NULL.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (benchmark); PICOLLO_ERR_INVALID_ARGUMENT when none was begun;
///   PICOLLO_ERR_OUT_OF_MEMORY; with events as picollo_session_read.
/// Threads: as picollo_benchmark_next.
/// Cost: reads the clock; now and then sorts the blocks.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_done(
    benchmark: *mut picollo_benchmark,
    error: *mut picollo_error,
) -> picollo_status {
    // SAFETY: the caller's promise, passed on.
    guard_explained(error, || unsafe { change(benchmark)? }.done())
}

/// Ends the sample that was begun, whose time the caller knows better.
///
/// Requires: picoseconds is what the whole sample took; error may be NULL.
/// Returns: as picollo_benchmark_done.
/// Threads: as picollo_benchmark_next.
/// Cost: as picollo_benchmark_done.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_done_after(
    benchmark: *mut picollo_benchmark,
    picoseconds: u64,
    error: *mut picollo_error,
) -> picollo_status {
    // SAFETY: the caller's promise, passed on.
    guard_explained(error, || unsafe { change(benchmark)? }.done_after(picoseconds))
}

/// Tells how far it is: the part of the budget that is spent, 0 to 1. It may end long before that is 1.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (benchmark, out).
/// Threads: one at a time.
/// Cost: reads the clock.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_progress(
    benchmark: *const picollo_benchmark,
    out: *mut f64,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (benchmark, out) = unsafe { (read(benchmark)?, output(out)?) };
        out.set(benchmark.progress());
        Ok(())
    })
}

/// Tells how it went, so far.
///
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (benchmark, out); PICOLLO_ERR_EMPTY before the first block is done;
///   PICOLLO_ERR_OUT_OF_MEMORY.
/// Threads: one at a time.
/// Cost: in the middle of a benchmark, sorts the blocks.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_result(
    benchmark: *const picollo_benchmark,
    out: *mut picollo_benchmark_outcome,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (benchmark, out) = unsafe { (read(benchmark)?, output(out)?) };
        out.set(benchmark.result()?);
        Ok(())
    })
}

/// Tells how much of an event a call took, by the event's position.
///
/// Returns: PICOLLO_OK, with the count's own status in *out; PICOLLO_ERR_NULL_POINTER (benchmark, out);
///   PICOLLO_ERR_INVALID_ARGUMENT for a position that there is none at.
/// Threads: one at a time.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_counter(
    benchmark: *const picollo_benchmark,
    index: usize,
    out: *mut picollo_benchmark_counts,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (benchmark, out) = unsafe { (read(benchmark)?, output(out)?) };
        out.set(benchmark.counter(index)?);
        Ok(())
    })
}

/// Gives the histogram of A's or B's samples, for reading: picoseconds a call. It is in single-writer mode, and the
/// benchmark is the writer.
///
/// Requires: which is PICOLLO_BENCHMARK_A or PICOLLO_BENCHMARK_B; nobody else records into the histogram.
/// Returns: PICOLLO_OK; PICOLLO_ERR_NULL_POINTER (benchmark, out); PICOLLO_ERR_INVALID_ARGUMENT (which).
/// Ownership: *out is a reference of its own, for picollo_histogram_free; it outlives the benchmark.
/// Threads: one at a time.
/// Cost: none to speak of.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_histogram_ref(
    benchmark: *const picollo_benchmark,
    which: u32,
    out: *mut *mut picollo_histogram,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (benchmark, out) = unsafe { (read(benchmark)?, output(out)?) };
        let side = match which {
            PICOLLO_BENCHMARK_A => Side::A,
            PICOLLO_BENCHMARK_B => Side::B,
            _ => return Err(Failure::INVALID_ARGUMENT),
        };
        let histogram = benchmark.histogram(side).ok_or(Failure::INVALID_ARGUMENT)?;
        // SAFETY: nobody records into it, as the caller promises.
        out.set(into_handle(unsafe { histogram.into_unguarded() }));
        Ok(())
    })
}

/// Writes how it went: what changed in the times of single samples, the verdict by blocks, and the counters.
///
/// Requires: format is PICOLLO_TEXT_MARKDOWN, _HUMAN or _FULL; buffer has capacity bytes. Empty names read "Before" and "After".
/// Returns: PICOLLO_OK; PICOLLO_ERR_BUFFER_TOO_SMALL; PICOLLO_ERR_NULL_POINTER (benchmark, out_length, and buffer with a
///   capacity above 0); PICOLLO_ERR_INVALID_ARGUMENT for a title or name that is not UTF-8, and for an unknown format;
///   PICOLLO_ERR_UNSUPPORTED for the other formats of PICOLLO_TEXT_..., which this version does not write;
///   PICOLLO_ERR_EMPTY before the first block is done; PICOLLO_ERR_OUT_OF_MEMORY.
/// Threads: one at a time.
/// Cost: allocates snapshots for the time of the call.
/// Since: 0.1
#[unsafe(no_mangle)]
pub unsafe extern "C" fn picollo_benchmark_format(
    benchmark: *const picollo_benchmark,
    title: *const c_char,
    name_a: *const c_char,
    name_b: *const c_char,
    format: u32,
    buffer: *mut c_char,
    capacity: usize,
    out_length: *mut usize,
) -> picollo_status {
    guard(|| {
        // SAFETY: the caller's promises, passed on.
        let (benchmark, title) = unsafe { (read(benchmark)?, text(title)?) };
        // SAFETY: as above.
        let (name_a, name_b) = unsafe { (text(name_a)?, text(name_b)?) };
        let format = Format::try_from(format)?;
        if !matches!(format, Format::Markdown | Format::Human | Format::Full) {
            return Err(Failure::UNSUPPORTED);
        }
        benchmark.result()?;
        // SAFETY: as above.
        unsafe {
            write_collected(buffer, capacity, out_length, |out| {
                match benchmark.write(out, title, name_a, name_b, format) {
                    Ok(Ok(())) => Ok(()),
                    // The text takes memory for itself.
                    Ok(Err(_)) => Err(picollo_core::Error::BufferTooSmall),
                    Err(_) => Err(picollo_core::Error::OutOfMemory),
                }
            })
        }
    })
}
