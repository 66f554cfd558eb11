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
//! - Let others watch while the program runs: picollo_segment_create, _histogram; the command `picollo top` is the viewer.
//! - Serve Prometheus or OpenTelemetry: picollo_registry_create, _add, _encode; picollo_otlp_export_create.
//! - Keep, send, merge: picollo_snapshot_encode, _decode, _merge; logs: picollo_log_format_interval, picollo_log_reader_create.
//! - Record without a call: picollo_inline.h. Record doubles: picollo_double_histogram_create. Keep many: picollo_histogram_array_create.
//!
//! What holds for every function, unless it says otherwise:
//!
//! - Names are picollo_<thing>_<verb>. Parameters come in the order: the thing itself, inputs, outputs, error detail.
//! - Errors: calls that can fail return a picollo_status, PICOLLO_OK or a negative number. Recording cannot fail.
//! - Outputs are written only on success. Exceptions are out_length, which is also told when a buffer is too small, and
//!   picollo_error, which is written only on failure.
//! - NULL is checked, and answered by PICOLLO_ERR_NULL_POINTER, or by doing nothing where there is no status. The hot
//!   functions that do not check say so. Pointers must be aligned for their type.
//! - Ownership: handles are opaque and counted. What _create returns is given back by _free, which takes NULL too, and
//!   where there may be several owners, _retain makes one reference more.
//!   What is made from a handle keeps what it needs alive, so things may be freed in any order. Of calls that hand out a
//!   handle that is there already, those that end in _ref give a reference of the caller's own, which _free gives back, and
//!   those that end in _borrow lend one, which is not counted and must not be freed. Nothing else is ever the caller's to
//!   free, and the library keeps no pointer to the caller's memory after a call, but for _init_in,
//!   _attach and picollo_log_reader_create.
//! - Threads: "any thread" calls may be made at the same time from several threads on the same object; "one at a time"
//!   calls need the caller's own exclusion; "opening thread only" is for the thread that made the object.
//! - Options begin with struct_size, and zero means the default: PICOLLO_..._OPTIONS_INIT sets the one and zeroes the rest.
//!   So options made for an older or a newer version of this header work: a struct_size below that of the first version is
//!   PICOLLO_ERR_INVALID_ARGUMENT, a non-zero field that this version does not know PICOLLO_ERR_UNSUPPORTED. All other
//!   structs never change.
//! - Text, bytes and lists go into the caller's buffer, whole or not at all. The parameters are buffer (of lists: out),
//!   capacity in bytes (of lists: elements) and out_length, in this order. *out_length is what there is. Where that is more
//!   than capacity, the answer is PICOLLO_ERR_BUFFER_TOO_SMALL, *out_length is written nevertheless, and nothing else is; so
//!   a buffer of NULL with a capacity of 0 asks for the length.
//! - Text is UTF-8 and NUL-terminated. The NUL takes a byte of capacity, and *out_length does not count it. A buffer that is
//!   too small for a text, but has room for a NUL, begins with one.
//! - Ranges are closed: both ends belong to them.
//! - Forks: a child goes on with its copies of histograms, snapshots and recorders; its copies of sessions it can only
//!   free. Should another thread of the parent have been in the middle of its first record, of its end, or of making or
//!   freeing a thread-local histogram at that moment, new threads of the child record through counters that all share:
//!   exactly, but more slowly. The child can then make no thread-local histogram: PICOLLO_ERR_UNSUPPORTED.
//!   Per-CPU histograms know nothing of forks: a child records as its parent did. (Not the child of a vfork, nor another that
//!   shares its parent's memory, before it calls exec.)
//! - Cancellation: no call acts on pthread_cancel, which would unwind through the library. It stays pending, and acts at
//!   the next such point of the caller's own. (On Linux, with the deferred type, which is the default.)
//! - Signals: picollo_histogram_record and its _n, _batch and recorder forms are async-signal-safe with dense storage:
//!   they take no lock and never wait. Whether a handler that interrupts a record into the same histogram loses
//!   something is another question. Interlocked and per-CPU histograms lose nothing, anywhere; scalable ones are no less
//!   accurate.
//!   In single-writer and thread-local mode, and through a recorder, nothing is lost on x86-64, where one instruction
//!   adds: by the functions of this library and by picollo_inline.h, in cells of 32 and 64 bits, and in single-writer
//!   mode as long as it is the writing thread that is interrupted. On other processors a record is a load, an addition
//!   and a store there, and what a handler records in between can be lost, untold: use interlocked histograms. What
//!   allocates on first touch is not for handlers: sparse storage, histograms of doubles, and the first record of a
//!   thread in thread-local mode (for each histogram) and scalable mode. (Per-CPU histograms ask the kernel for their shards,
//!   which handlers may.)
//! - Unloading: the shared library stays loaded after dlclose (-z nodelete): threads that recorded by CPU have left the kernel
//!   an address inside it. What the static library is linked into must not be unloaded either, once that was done.
//! - Stack: recording, reading, text, encodings, logs and comparisons take less than 16 KiB of it, in a library that is
//!   built with optimisation.

#![cfg_attr(not(feature = "std"), no_std)]
// Types and functions carry their C names, so that this reads like the header that is generated from it.
#![allow(non_camel_case_types)]
// The header says it under "Requires" and "Ownership".
#![allow(clippy::missing_safety_doc)]
// An error carries its explanation by value: the paths that build one must not allocate, and none of them is hot.
#![allow(clippy::result_large_err)]

mod argument;
#[cfg(feature = "std")]
mod array;
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
#[cfg(feature = "std")]
mod otlp_export;
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
#[cfg(feature = "std")]
mod striped_counter;
mod summary;
mod text;
mod version;
#[cfg(feature = "std")]
mod viewer;
#[cfg(not(all(feature = "std", target_os = "linux")))]
mod without_accounts;
#[cfg(not(feature = "std"))]
mod without_memory;
#[cfg(not(feature = "std"))]
mod without_std;
mod work;
