//! Rules: what holds for every function of all headers, unless it says otherwise.
//!
//! - Names are picollo_<thing>_<verb>. The order of parameters is: the thing itself, inputs, outputs, error.
//! - Threads: any number of threads may make a call at the same time, on the same object. "One at a time" means that
//!   the caller must exclude other calls; this holds for all calls on sessions. "Opening thread only" means the
//!   thread that made the object.
//! - Cost: the call is cheap. It allocates nothing, makes no system call and makes no pass over the counters. Freeing
//!   the last reference frees the memory. "Otherwise: as" another call means that call's text under all other labels.
//! - Errors: a call that can fail returns a picollo_status: PICOLLO_OK or a negative number. Recording cannot fail.
//!   "Returns" does not repeat PICOLLO_OK; PICOLLO_ERR_NULL_POINTER; PICOLLO_ERR_BUFFER_TOO_SMALL (calls with a
//!   capacity or size); PICOLLO_ERR_OUT_OF_MEMORY (calls that allocate); the errors of options, see below; and
//!   PICOLLO_ERR_INVALID_ARGUMENT for text that is not UTF-8, an unknown code, flag or index, and a number outside
//!   its documented range.
//! - Outputs are written only on success, except out_length if a buffer is too small. error is written only on
//!   failure.
//! - NULL is an error (PICOLLO_ERR_NULL_POINTER). A call without a status then does nothing. Hot functions do not
//!   check, and say so. NULL is allowed for options (all defaults), error, out_id, texts (empty), and arrays of
//!   length or capacity 0. "Requires" lists further cases. Pointers must be aligned for their type.
//! - Arrays: parameters that share one length have that many elements each and do not overlap.
//! - Codes: since is PICOLLO_SINCE_..., value_selection PICOLLO_VALUE_..., placement PICOLLO_PLACEMENT_..., clock
//!   PICOLLO_CLOCK_..., unit PICOLLO_UNIT_... if it is a number, format PICOLLO_TEXT_..., encoding
//!   PICOLLO_ENCODING_..., and non_empty_only PICOLLO_BUCKETS_....
//! - Ownership: handles are opaque. The caller owns every handle that a call returns and frees it once with _free (a
//!   server: with _stop), which ignores NULL. _retain adds a reference, which needs another _free, and returns the
//!   same handle; for NULL it returns NULL. An object keeps alive what it was made from, so objects may be freed in
//!   any order. A call that ends in _ref returns a reference to an existing object, for _free. The caller frees
//!   nothing else. After a call the library keeps no pointer to the caller's memory, except after _init_in, _attach
//!   and picollo_log_reader_create.
//! - Options begin with struct_size, and zero means the default. PICOLLO_..._OPTIONS_INIT sets the size and zeroes
//!   the rest. Options of older and newer headers work. A struct_size below that of the first version is
//!   PICOLLO_ERR_INVALID_ARGUMENT. A non-zero field or flag that this version does not know is
//!   PICOLLO_ERR_UNSUPPORTED. All other structs never change.
//! - Text, bytes and lists go into the caller's buffer completely or not at all. The parameters are buffer (lists:
//!   out), capacity in bytes (lists: elements) and out_length. *out_length is the whole length. If it exceeds
//!   capacity, the call returns PICOLLO_ERR_BUFFER_TOO_SMALL and writes nothing else, so a NULL buffer with capacity
//!   0 asks for the length. Text is UTF-8 and ends in a NUL, which needs a byte of capacity and is not part of
//!   *out_length. A text buffer that is too small but not empty then holds "".
//! - Ranges are closed: both ends belong to them.
//! - Signals: picollo_histogram_record, _record_n, _record_batch and recorders are async-signal-safe with dense
//!   storage, except for the first record of a thread in thread-local mode, which allocates. They take no lock and
//!   never wait. In a handler the default mode loses nothing; docs/abi.md covers the other modes.
//! - Forks: a child continues with its copies of histograms, snapshots and recorders. It can only free its copies of
//!   sessions. If the parent has several threads, see docs/abi.md.
//! - Cancellation: no call acts on pthread_cancel. The request stays pending until the caller's next cancellation
//!   point.
//! - Stack: recording, reading, text, encodings, logs and comparisons use less than 16 KiB, if the library was built
//!   with optimization.
//! - Unloading: the shared library stays loaded after dlclose. See docs/abi.md for the static library.
//! - Since: every function exists since version 0.1.
