//! What a histogram can be asked to be.

use picollo_core::{Mode, Options, SharedHistogram, Storage};
use picollo_native::{Error, Status};

use crate::failure::{Failure, Outcome};
use crate::options;

/// Right with any number of threads, and in signal handlers: an atomic addition. The default. It has no recorder but
/// picollo_atomic_recorder.
pub const PICOLLO_MODE_INTERLOCKED: u32 = 0;
/// One thread records at a time, any number of threads read: a plain addition, in a third to a fifth of the
/// time. Two threads that record at once lose counts, and nothing says so.
pub const PICOLLO_MODE_SINGLE_WRITER: u32 = 1;
/// Many threads at high rates: a plain addition into the thread's own shard.
pub const PICOLLO_MODE_THREAD_LOCAL: u32 = 2;
/// Many threads at high rates, however many they are, and signal handlers: a plain addition into the shard of the CPU that
/// the thread runs on, by a restartable sequence. That takes Linux on x86-64 and glibc 2.35 or later; elsewhere, and in threads that
/// are not registered for it, it is an atomic addition, just as exact. A shard for each CPU that was recorded on, none for threads.
/// Dense, with counters of 64 bits, on the heap; it has no recorder: PICOLLO_ERR_UNSUPPORTED.
pub const PICOLLO_MODE_PER_CPU: u32 = 4;

const _: () = assert!(
    PICOLLO_MODE_INTERLOCKED == Mode::Interlocked as u32
        && PICOLLO_MODE_SINGLE_WRITER == Mode::SingleWriter as u32
        && PICOLLO_MODE_THREAD_LOCAL == Mode::ThreadLocal as u32
        && PICOLLO_MODE_PER_CPU == Mode::PerCpu as u32
);

/// Leave out the room for a reset: a third of the memory; picollo_histogram_reset is PICOLLO_ERR_UNSUPPORTED.
pub const PICOLLO_HISTOGRAM_NO_LIVE_RESET: u32 = 1 << 0;

/// Count up to the largest value that the array of an HdrHistogram with this max_trackable has room for: the end of a block, and two
/// blocks at least. 8,191 for 5,000 and 3 digits. picollo_layout_of_options tells it.
pub const PICOLLO_HISTOGRAM_WHOLE_ARRAY: u32 = 1 << 1;

/// For significant_digits: the buckets of an HdrHistogram with 0 significant digits, which are powers of two. (0 there is the default of
/// relative_error.)
pub const PICOLLO_ZERO_DIGITS: u32 = 255;

const _: () = assert!(PICOLLO_ZERO_DIGITS == Options::ZERO_DIGITS);

/// What a histogram is made from.
///
/// A range whose values lie far above zero, or a larger error, takes less memory: 28,672 counters for all 64-bit values
/// at 0.001, 104 for 10,000 to 30,000 at 0.01.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_histogram_options {
    pub struct_size: u32,
    /// PICOLLO_MODE_...: who may record, and how. 0: PICOLLO_MODE_INTERLOCKED, any number of threads.
    pub mode: u32,
    /// PICOLLO_STORAGE_...: when memory is allocated.
    pub storage: u32,
    /// Width of a counter: 32 or 64; 0 means 64. A 32-bit counter that wraps is told of as a lost count.
    pub counter_bits: u32,
    /// Largest distance between a value and the midpoint of its bucket, in proportion. 0, negative or NaN: 0.001;
    /// clamped to 1e-6 ..= 0.1. The block size is the smallest power of two that is at least 0.5 / relative_error.
    pub relative_error: f64,
    /// 1 ..= 5, or PICOLLO_ZERO_DIGITS: the buckets of an HdrHistogram with that many significant digits, whatever relative_error says.
    /// 0: unused.
    pub significant_digits: u32,
    /// PICOLLO_HISTOGRAM_NO_LIVE_RESET | PICOLLO_HISTOGRAM_WHOLE_ARRAY, or 0.
    pub flags: u32,
    /// Smallest value to count; smaller ones are underflow. Below max_trackable.
    pub min_trackable: u64,
    /// Largest value to count; larger ones are overflow. 0: UINT64_MAX. Both ends include the whole bucket they are in.
    pub max_trackable: u64,
    /// Sparse storage: limit on its memory, 0 for none. What does not fit is counted as lost.
    pub max_bytes: u64,
    /// HdrHistogram's lowest discernible value: values are counted in units of the largest power of two in it, so that those below a
    /// block of units take fewer counters. 0 or 1: none. At most max_trackable, and below 2^62 / block size. Recording takes longer with a
    /// unit: recorders have length 0, and call the library.
    pub unit: u64,
}

// SAFETY: plain numbers in naturally aligned order (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_histogram_options {
    const FIRST_SIZE: usize = 56;
}

/// What the caller asks for, as the core understands it.
///
/// # Safety
/// As for [`options::read`].
pub unsafe fn read_options(options: *const picollo_histogram_options) -> Outcome<Options> {
    let Some(asked) = options::read(options)? else { return Ok(Options::default()) };
    understood(&asked)
}

fn understood(asked: &picollo_histogram_options) -> Outcome<Options> {
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

/// What a field may be.
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

/// The options with one field at its default, and what it was.
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

/// Why a histogram with these options would be refused: the field without which it would not be.
///
/// # Safety
/// As for [`options::read`].
pub unsafe fn explain(options: *const picollo_histogram_options) -> Result<(), Error> {
    let asked = match options::read(options) {
        Ok(None) => return Ok(()),
        Ok(Some(asked)) => asked,
        Err(failure) => {
            let why = format_args!(
                "struct_size: not that of picollo_histogram_options; begin with PICOLLO_HISTOGRAM_OPTIONS_INIT"
            );
            return Err(Error::new(status_of(failure), why));
        }
    };
    let estimate = |asked: &picollo_histogram_options| -> Outcome {
        SharedHistogram::estimate(&understood(asked)?)?;
        Ok(())
    };
    let Err(failure) = estimate(&asked) else { return Ok(()) };
    let status = status_of(failure);
    for (field, (name, allowed)) in FIELDS.into_iter().enumerate() {
        let (changed, was) = without(&asked, field);
        if was != 0 && estimate(&changed).is_ok() {
            return Err(Error::new(status, format_args!("{name} is {was}, and has to be {allowed}")));
        }
    }
    Err(Error::new(status, format_args!("several of the options are out of range, or not offered together")))
}

fn status_of(failure: Failure) -> Status {
    if failure == Failure::UNSUPPORTED { Status::Unsupported } else { Status::InvalidArgument }
}
