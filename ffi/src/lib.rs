//! Picollo: histograms and performance counters.
//!
//! A histogram records 64-bit values in some nanoseconds each, in about one where a single thread writes, and answers
//! percentiles with a bounded relative error. A session counts what the processor and the kernel do (cycles, branch misses,
//! page faults, ...), each event into a histogram of its own.
//!
//!     #include <stdio.h>
//!     #include <picollo.h>
//!
//!     int main(void) {
//!         picollo_histogram *histogram;
//!         picollo_summary summary;
//!         char text[4096];
//!         size_t length;
//!         if (picollo_histogram_create(NULL, &histogram) != PICOLLO_OK) return 1;
//!         for (uint64_t value = 1; value <= 100000; value++) picollo_histogram_record(histogram, value);
//!         picollo_histogram_summary(histogram, PICOLLO_VALUE_MIDPOINT, &summary);
//!         picollo_summary_format(&summary, "Values", PICOLLO_TEXT_MARKDOWN, text, sizeof text, &length);
//!         fputs(text, stdout);
//!         picollo_histogram_free(histogram);
//!     }
//!
//! To begin with, a dozen functions are enough. By what one wants to do, and each section begins with more:
//!
//! - Record values: picollo_histogram_create, _record, _record_batch, _free.
//! - Time code: picollo_scope_begin, picollo_scope_end.
//! - Read percentiles: picollo_histogram_summary, picollo_summary_format; all of the counts, an interval at a time:
//!   picollo_snapshot_create, _update, _percentile_values.
//! - Count cycles, misses, faults: picollo_session_open, _read, _record, _histogram_ref; picollo_perf_probe says what can be counted.
//! - Decide whether B is faster than A: picollo_benchmark_create, _next, _done, _format; of what was recorded: picollo_compare.
//! - See it: picollo_snapshot_format_chart in a terminal, picollo_pictures_format_svg, picollo_report_format_html.
//! - Know why some were slow: picollo_exemplars_create, _begin, _end, _collect, _format.
//! - Let others watch while the program runs: picollo_segment_create, _histogram; the command `picollo top` shows it.
//! - Serve Prometheus or OpenTelemetry: picollo_registry_create, _add, _encode.
//! - Keep, send, merge: picollo_snapshot_encode, _decode, _merge; logs: picollo_log_format_interval, picollo_log_reader_create.
//! - Record without a call: picollo_inline.h. Record doubles: picollo_double_histogram_create.
//!
//! What holds for every function, unless it says otherwise:
//!
//! - Names are picollo_<thing>_<verb>. Parameters come in the order: the thing itself, inputs, outputs, error detail.
//! - Errors: calls that can fail return a picollo_status, PICOLLO_OK or a negative number. Recording cannot fail. "Returns" leaves
//!   out PICOLLO_OK, PICOLLO_ERR_NULL_POINTER, PICOLLO_ERR_BUFFER_TOO_SMALL (of calls with a capacity or size),
//!   PICOLLO_ERR_OUT_OF_MEMORY (of those whose cost is to allocate), what is said of options below, and
//!   PICOLLO_ERR_INVALID_ARGUMENT for texts that are not UTF-8, for an unknown code, flag or index, and for a number outside the
//!   range that is given for it.
//! - Outputs are written only on success. Exceptions are out_length, which is also reported when a buffer is too small, and
//!   picollo_error, which is written only on failure.
//! - NULL is checked, and answered by PICOLLO_ERR_NULL_POINTER, or by doing nothing where there is no status. The hot
//!   functions that do not check say so. NULL may be passed for options (all defaults), error, out_id, texts (the empty one), arrays
//!   of length or capacity 0, and where "Requires" says so. Pointers must be aligned for their type.
//! - Ownership: handles are opaque. What comes out of a call is the caller's, who gives it back by _free, which takes NULL too, once.
//!   Where there may be several owners, _retain makes one reference more, for another _free, and returns the same handle, NULL for
//!   NULL. _free is the last call with its reference. What is made from a handle keeps what it needs alive, so things may be freed in
//!   any order. A call that hands out an existing handle ends in _ref: it gives a reference, for _free. Nothing else is the caller's
//!   to free, and the library keeps no pointer to the caller's memory after a call, but for _init_in, _attach and
//!   picollo_log_reader_create.
//! - Threads: where nothing is said, a call is an "any thread" call: several threads may make it at the same time on the same
//!   object. "One at a time" calls, as those on sessions, need the caller's exclusion; "opening thread only" is for the thread that
//!   made the object.
//! - Cost: where nothing is said, there is neither allocation nor system call, nor a pass over the counters. Freeing
//!   frees the memory when it was the last reference. "Otherwise: as" a call means what its page has under the other headings.
//! - Options begin with struct_size, and zero means the default: PICOLLO_..._OPTIONS_INIT sets the one and zeroes the rest.
//!   So options made for an older or a newer version of this header work: a struct_size below that of the first version is
//!   PICOLLO_ERR_INVALID_ARGUMENT, a non-zero field that this version does not know PICOLLO_ERR_UNSUPPORTED. All other
//!   structs never change.
//! - Text, bytes and lists go into the caller's buffer, whole or not at all. The parameters are buffer (of lists: out), capacity in
//!   bytes (of lists: elements) and out_length, in this order. *out_length is the length of all. Where that is more than capacity,
//!   the answer is PICOLLO_ERR_BUFFER_TOO_SMALL, and nothing else is written; so a buffer of NULL with a capacity of 0 asks for the
//!   length. Text is UTF-8 and NUL-terminated. The NUL takes a byte of capacity, and *out_length does not count it. A buffer that is
//!   too small for a text, but has room for a NUL, begins with one.
//! - Ranges are closed: both ends belong to them.
//! - Forks: a child continues with its copies of histograms, snapshots and recorders; its copies of sessions it can only
//!   free. If another thread of the parent was in the middle of its first record, of its end, or of making or freeing a
//!   thread-local histogram at that moment, new threads of the child record through counters that all share, exactly but more slowly,
//!   and the child can make no thread-local histogram: PICOLLO_ERR_UNSUPPORTED. Per-CPU histograms are not affected by forks. (Not
//!   the child of a vfork, nor another that shares its parent's memory, before it calls exec.)
//! - Cancellation: no call acts on pthread_cancel, which would unwind through the library. It stays pending, and acts at
//!   the next such point of the caller's code. (On Linux, with the deferred type, which is the default.)
//! - Signals: picollo_histogram_record and its _n, _batch and recorder forms are async-signal-safe with dense storage:
//!   they take no lock and never wait. Interlocked and per-CPU histograms lose nothing, anywhere. In single-writer and thread-local
//!   mode, and through a recorder, nothing is lost on x86-64, where one instruction adds (in single-writer mode as long as it is the
//!   writing thread that is interrupted). On other processors a handler that interrupts a record into the same histogram can lose a
//!   count silently there: use interlocked histograms. What allocates on first touch is not for handlers: sparse storage, histograms of
//!   doubles, and the first record of a thread in thread-local mode.
//! - Unloading: the shared library stays loaded after dlclose (-z nodelete): threads that recorded by CPU have left the kernel
//!   an address inside it. What the static library is linked into must not be unloaded either, once that was done.
//! - Stack: recording, reading, text, encodings, logs and comparisons take less than 16 KiB of it, in a library that is
//!   built with optimisation.

#![cfg_attr(not(feature = "std"), no_std)]
// Types and functions carry their C names, so that this reads like the header that is generated from it.
#![allow(non_camel_case_types)]
// The header says it under "Requires" and "Ownership".
#![allow(clippy::missing_safety_doc)]
// Exported functions pass these promises of their callers on. Blocks are for what is safe for another reason, which they give.
#![allow(unsafe_op_in_unsafe_fn)]
// An error carries its explanation by value: the paths that build one must not allocate, and none of them is hot.
#![allow(clippy::result_large_err)]

mod argument;
mod benchmark;
mod clock;
mod compare;
mod counted;
mod counter;
#[cfg(feature = "std")]
mod double_histogram;
#[cfg(feature = "std")]
mod double_snapshot;
mod event;
#[cfg_attr(not(feature = "std"), allow(dead_code))]
mod exemplar;
#[cfg(all(feature = "std", target_os = "linux"))]
mod exemplars;
mod failure;
#[cfg(feature = "std")]
mod figure;
mod guard;
#[cfg_attr(not(feature = "std"), allow(dead_code))]
mod handles;
mod histogram;
mod histogram_options;
mod interchange;
mod interpolate;
mod layout;
mod log;
mod mapping;
mod memory;
mod merge;
#[cfg(feature = "std")]
mod metric;
#[cfg(feature = "std")]
mod metric_exemplar;
mod options;
mod picture;
mod recorder;
#[cfg(feature = "std")]
mod registry;
#[cfg(feature = "std")]
mod segment;
mod session;
mod session_options;
mod snapshot;
mod snapshot_block;
mod status;
mod steps;
mod summary;
mod text;
mod version;
#[cfg(not(all(feature = "std", target_os = "linux")))]
mod without;
#[cfg(not(feature = "std"))]
mod without_std;
mod work;
