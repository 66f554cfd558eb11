//! The peers in C, and the shared library as a C program calls it.

use std::ffi::{c_int, c_void};

/// Whether the peers were built.
pub const IN_C: bool = cfg!(peers_in_c);

/// Declares functions of the libraries; if those were not built, functions that must not be called.
macro_rules! functions {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $kind:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        #[cfg(peers_in_c)]
        unsafe extern "C" { $($(#[$doc])* pub fn $name($($argument: $kind),*) $(-> $result)?;)* }
        $(
            #[cfg(not(peers_in_c))]
            $(#[$doc])*
            pub unsafe fn $name($(_: $kind),*) $(-> $result)? { unreachable!("not built") }
        )*
    };
}

functions! {
    fn hdr_init(low: i64, high: i64, digits: c_int, out: *mut *mut c_void) -> c_int;
    fn hdr_close(histogram: *mut c_void);
    fn hdr_get_memory_size(histogram: *mut c_void) -> usize;
    fn hdr_record_value(histogram: *mut c_void, value: i64) -> bool;
    fn hdr_record_value_atomic(histogram: *mut c_void, value: i64) -> bool;
    fn hdr_value_at_percentile(histogram: *const c_void, rank: f64) -> i64;
    fn hdr_one_pass(histogram: *const c_void, ranks: *const f64, out: *mut i64, length: usize);
    fn hdr_bare_pass(histogram: *const c_void, ranks: *const f64, out: *mut i64, length: usize);
    fn hdr_mean(histogram: *const c_void) -> f64;
    fn hdr_stddev(histogram: *const c_void) -> f64;
    fn so_hdr_init(low: i64, high: i64, digits: c_int, out: *mut *mut c_void) -> c_int;
    fn so_hdr_close(histogram: *mut c_void);
    fn through_empty(histogram: *mut c_void, values: *const u64, length: usize);
    fn through_picollo(histogram: *mut c_void, values: *const u64, length: usize);
    fn through_hdr(histogram: *mut c_void, values: *const u64, length: usize);
    fn through_hdr_atomic(histogram: *mut c_void, values: *const u64, length: usize);
    fn inlined_in_c(recorder: *const CRecorder, values: *const u64, length: usize);
    fn picollo_histogram_create(options: *const COptions, out: *mut *mut c_void) -> i32;
    fn picollo_histogram_free(histogram: *mut c_void);
    fn picollo_histogram_record_batch(histogram: *mut c_void, values: *const u64, length: usize);
    fn picollo_histogram_recorder(histogram: *mut c_void, version: u32, out: *mut CRecorder) -> i32;
    fn picollo_recorder_release(recorder: *mut CRecorder);
}

/// The C struct `picollo_histogram_options`.
#[repr(C)]
#[derive(Default)]
pub struct COptions {
    struct_size: u32,
    mode: u32,
    storage: u32,
    counter_bits: u32,
    relative_error: f64,
    significant_digits: u32,
    flags: u32,
    min_trackable: u64,
    max_trackable: u64,
    max_bytes: u64,
}

/// The C struct `picollo_recorder`; only C reads its fields.
#[repr(C)]
pub struct CRecorder([u64; 7]);

/// A histogram of HdrHistogram_c, from the static copy or from the shared library.
pub struct Hdr {
    pub handle: *mut c_void,
    shared: bool,
}

// SAFETY: with several threads, the benchmarks record only through the atomic functions.
unsafe impl Sync for Hdr {}

impl Hdr {
    /// Three significant digits. `None` if the peer was not built.
    pub fn new(max: u64, shared: bool) -> Option<Hdr> {
        if !IN_C {
            return None;
        }
        let mut handle = std::ptr::null_mut();
        let init = if shared { so_hdr_init } else { hdr_init };
        // SAFETY: there is room for a pointer.
        let status = unsafe { init(1, max.max(2) as i64, 3, &mut handle) };
        assert_eq!(status, 0, "hdr_init");
        Some(Hdr { handle, shared })
    }
}

impl Drop for Hdr {
    fn drop(&mut self) {
        let close = if self.shared { so_hdr_close } else { hdr_close };
        // SAFETY: the same copy made it, and it is closed once.
        unsafe { close(self.handle) };
    }
}

/// A histogram behind the C interface of the shared library.
pub struct Through(pub *mut c_void);

// SAFETY: the modes used from several threads allow it.
unsafe impl Sync for Through {}

impl Through {
    /// `None` if the shared library was not built.
    pub fn new(mode: picollo_core::Mode, counter_bits: u32, max: u64) -> Option<Through> {
        if !IN_C {
            return None;
        }
        let options = COptions {
            struct_size: size_of::<COptions>() as u32,
            mode: mode as u32,
            counter_bits,
            relative_error: crate::ERROR,
            max_trackable: max,
            ..COptions::default()
        };
        let mut handle = std::ptr::null_mut();
        // SAFETY: the options contain their size, and there is room for a pointer.
        let status = unsafe { picollo_histogram_create(&options, &mut handle) };
        assert_eq!(status, 0, "picollo_histogram_create");
        Some(Through(handle))
    }

    /// Its recorder, which the caller must release.
    pub fn recorder(&self) -> CRecorder {
        let mut recorder = CRecorder([0; 7]);
        // SAFETY: the histogram is alive, and there is room for a recorder.
        let status = unsafe { picollo_histogram_recorder(self.0, 1, &mut recorder) };
        assert_eq!(status, 0, "picollo_histogram_recorder");
        recorder
    }

    /// Records all values, with one call each.
    pub fn record(&self, values: &[u64]) {
        // SAFETY: the histogram is alive.
        unsafe { through_picollo(self.0, values.as_ptr(), values.len()) };
    }

    /// Records all values with one call.
    pub fn record_batch(&self, values: &[u64]) {
        // SAFETY: the histogram is alive.
        unsafe { picollo_histogram_record_batch(self.0, values.as_ptr(), values.len()) };
    }
}

impl Drop for Through {
    fn drop(&mut self) {
        // SAFETY: `new` made it, and it is freed once.
        unsafe { picollo_histogram_free(self.0) };
    }
}
