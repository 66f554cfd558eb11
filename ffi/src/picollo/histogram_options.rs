//! The options of histograms.

use picollo_core::layouts::Storage;
use picollo_core::{Mode, Options, SharedHistogram};
use picollo_native::{ExplainedError, Status};

use crate::failure::{Failure, Outcome};
use crate::options;

/// The default: any number of threads record, also in signal handlers, each by an atomic addition. To record
/// without a call, use a picollo_atomic_recorder.
#[allow(dead_code)] // for C
pub const PICOLLO_MODE_INTERLOCKED: u32 = Mode::Interlocked as u32;
/// One thread records at a time, and any number of threads read. A record is a plain addition. Inlined, it takes
/// half to a sixth of the time of the default mode. Two threads that record at the same time lose counts without notice.
#[allow(dead_code)] // for C
pub const PICOLLO_MODE_SINGLE_WRITER: u32 = Mode::SingleWriter as u32;
/// Many threads at high rates: a plain addition into the thread's own counters, its shard. A reader adds up all shards.
#[allow(dead_code)] // for C
pub const PICOLLO_MODE_THREAD_LOCAL: u32 = Mode::ThreadLocal as u32;
/// Many threads at high rates, however many there are, and signal handlers. A record is a plain addition into the shard
/// of the current CPU, in a restartable sequence: if the kernel interrupts it, the record becomes an atomic addition.
/// This needs Linux on x86-64 and glibc 2.35 or later. Otherwise, and in threads that are not registered for it, a
/// record is an atomic addition, which is just as exact. Each CPU that was recorded on has a shard; threads have none.
/// Such histograms are dense, have 64-bit counters, and live on the heap or in a segment. They have no recorder
/// (PICOLLO_ERR_UNSUPPORTED).
#[allow(dead_code)] // for C
pub const PICOLLO_MODE_PER_CPU: u32 = Mode::PerCpu as u32;

/// Omits the room for resets. The histogram takes a third of the memory, and picollo_histogram_reset returns
/// PICOLLO_ERR_UNSUPPORTED.
pub const PICOLLO_HISTOGRAM_NO_LIVE_RESET: u32 = 1 << 0;

/// Raises max_trackable to the largest value that an HdrHistogram with these options can count: its array ends at a
/// power of two. For 5,000 and 3 digits this is 8,191. picollo_layout_of_options reports it.
pub const PICOLLO_HISTOGRAM_WHOLE_ARRAY: u32 = 1 << 1;

/// For significant_digits: the buckets of an HdrHistogram with 0 significant digits, which are powers of two. (0 in
/// that field means that relative_error decides.)
#[allow(dead_code)] // for C
pub const PICOLLO_ZERO_DIGITS: u32 = Options::ZERO_DIGITS;

/// Options of a histogram.
///
/// A narrower range far above zero, or a larger error, takes less memory: 28,672 counters for all 64-bit values at
/// 0.001, but 104 for 10,000 to 30,000 at 0.01.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_histogram_options {
    pub struct_size: u32,
    /// PICOLLO_MODE_...: who may record, and how. 0: PICOLLO_MODE_INTERLOCKED.
    pub mode: u32,
    /// PICOLLO_STORAGE_...: when memory is allocated.
    pub storage: u32,
    /// Width of a counter: 32 or 64; 0: 64. If a 32-bit counter wraps around, the counts are reported as lost.
    pub counter_bits: u32,
    /// Largest relative distance between a value and the midpoint of its bucket, clamped to 1e-6 ..= 0.1. 0, negative
    /// or NaN: 0.001. Each power of two has a block of equal buckets. Their number, the block size, is the smallest
    /// power of two that is at least 0.5 / relative_error.
    pub relative_error: f64,
    /// 1 ..= 5, or PICOLLO_ZERO_DIGITS: the buckets of an HdrHistogram with so many significant digits;
    /// relative_error is ignored. 0: relative_error decides.
    pub significant_digits: u32,
    /// PICOLLO_HISTOGRAM_NO_LIVE_RESET | PICOLLO_HISTOGRAM_WHOLE_ARRAY, or 0.
    pub flags: u32,
    /// Smallest value to count; smaller values are underflow. It must be below max_trackable.
    pub min_trackable: u64,
    /// Largest value to count; larger values are overflow. 0: UINT64_MAX. At both ends the whole bucket belongs to
    /// the range.
    pub max_trackable: u64,
    /// Sparse storage: limit of its memory; 0: no limit. Values that do not fit are counted as lost.
    pub max_bytes: u64,
    /// HdrHistogram's lowest discernible value. Values are counted in units of the largest power of two that is at
    /// most this, so small values need fewer counters. 0 or 1: no unit. At most max_trackable, and below 2^62 / block
    /// size. With a unit a record takes longer, because inlined recorders then call the library (their length is 0).
    pub unit: u64,
}

// SAFETY: plain numbers in naturally aligned order (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_histogram_options {
    const FIRST_SIZE: usize = 56;
}

/// Converts the caller's options to those of the core.
///
/// # Safety
/// As for [`options::read`].
pub unsafe fn read_options(options: *const picollo_histogram_options) -> Outcome<Options> {
    let Some(asked) = options::read(options)? else { return Ok(Options::default()) };
    to_options(&asked)
}

fn to_options(asked: &picollo_histogram_options) -> Outcome<Options> {
    if asked.flags & !(PICOLLO_HISTOGRAM_NO_LIVE_RESET | PICOLLO_HISTOGRAM_WHOLE_ARRAY) != 0 {
        return Err(Failure::UNSUPPORTED);
    }
    Ok(Options {
        mode: Mode::try_from(asked.mode)?,
        storage: Storage::try_from(asked.storage)?,
        counter_bits: asked.counter_bits,
        relative_error: asked.relative_error,
        significant_digits: asked.significant_digits,
        no_live_reset: asked.flags & PICOLLO_HISTOGRAM_NO_LIVE_RESET != 0,
        min_trackable: asked.min_trackable,
        max_trackable: asked.max_trackable,
        whole_array: asked.flags & PICOLLO_HISTOGRAM_WHOLE_ARRAY != 0,
        max_bytes: asked.max_bytes,
        unit: asked.unit,
    })
}

/// The allowed values of each field.
const FIELDS: [(&str, &str); 9] = [
    ("mode", "one of PICOLLO_MODE_..., offered with this storage and in this build"),
    ("storage", "PICOLLO_STORAGE_DENSE, or PICOLLO_STORAGE_SPARSE with a mode that offers it"),
    ("counter_bits", "0, 32 or 64"),
    ("significant_digits", "0, 1 to 5, or PICOLLO_ZERO_DIGITS"),
    ("flags", "PICOLLO_HISTOGRAM_NO_LIVE_RESET, PICOLLO_HISTOGRAM_WHOLE_ARRAY, both or 0"),
    ("min_trackable", "less than max_trackable"),
    ("max_trackable", "0, or more than min_trackable"),
    ("max_bytes", "0, or what an empty histogram takes and more; for sparse storage"),
    ("unit", "at most max_trackable, and less than 2^62 / block size"),
];

/// Returns the options with one field at its default, and the field's previous value.
fn without(asked: &picollo_histogram_options, field: usize) -> (picollo_histogram_options, u64) {
    let mut changed = *asked;
    let was = match field {
        0 => u64::from(core::mem::take(&mut changed.mode)),
        1 => u64::from(core::mem::take(&mut changed.storage)),
        2 => u64::from(core::mem::take(&mut changed.counter_bits)),
        3 => u64::from(core::mem::take(&mut changed.significant_digits)),
        4 => u64::from(core::mem::take(&mut changed.flags)),
        5 => core::mem::take(&mut changed.min_trackable),
        6 => core::mem::take(&mut changed.max_trackable),
        7 => core::mem::take(&mut changed.max_bytes),
        _ => core::mem::take(&mut changed.unit),
    };
    (changed, was)
}

/// Reports why a histogram with these options would be refused: names the field whose default would be accepted.
///
/// # Safety As for [`options::read`].
pub unsafe fn explain(options: *const picollo_histogram_options) -> Result<(), ExplainedError> {
    let asked = match options::read(options) {
        Ok(None) => return Ok(()),
        Ok(Some(asked)) => asked,
        Err(failure) => {
            let why = format_args!(
                "struct_size: not that of picollo_histogram_options; begin with PICOLLO_HISTOGRAM_OPTIONS_INIT"
            );
            return Err(ExplainedError::new(status_of(failure), why));
        }
    };
    let estimate = |asked: &picollo_histogram_options| -> Outcome {
        SharedHistogram::estimate(&to_options(asked)?)?;
        Ok(())
    };
    let Err(failure) = estimate(&asked) else { return Ok(()) };
    let status = status_of(failure);
    for (field, (name, allowed)) in FIELDS.into_iter().enumerate() {
        let (changed, was) = without(&asked, field);
        if was != 0 && estimate(&changed).is_ok() {
            return Err(ExplainedError::new(
                status,
                format_args!("{name} is {was}, and has to be {allowed}"),
            ));
        }
    }
    Err(ExplainedError::new(
        status,
        format_args!("several of the options are out of range, or not offered together"),
    ))
}

fn status_of(failure: Failure) -> Status {
    if failure == Failure::UNSUPPORTED { Status::Unsupported } else { Status::InvalidArgument }
}
