//! The options of sessions.

use picollo_perf::SessionOptions;

use crate::failure::{Failure, Outcome};
use crate::options;

/// Options of a session. By default it counts the calling thread on any CPU, in user space, from the start.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct picollo_session_options {
    pub struct_size: u32,
    /// PICOLLO_SESSION_....
    pub flags: u32,
    /// Relative error of the histograms, as in picollo_histogram_options; 0: 0.001.
    pub relative_error: f64,
    /// 0: the calling thread; -1 with PICOLLO_SESSION_ON_CPU: everything on that CPU; otherwise the id of a thread,
    /// as gettid returns it.
    pub thread: i32,
    /// The CPU with PICOLLO_SESSION_ON_CPU; otherwise ignored: any CPU.
    pub cpu: i32,
    /// Width of the histograms' counters: 32 or 64; 0: 64.
    pub counter_bits: u32,
    pub reserved: u32,
}

// SAFETY: plain numbers in naturally aligned order (asserted in layout.rs), the size first.
unsafe impl options::Options for picollo_session_options {
    const FIRST_SIZE: usize = 32;
}

/// Converts the caller's options to those of sessions.
///
/// # Safety
/// As for [`options::read`].
pub unsafe fn read_options(options: *const picollo_session_options) -> Outcome<SessionOptions> {
    let Some(asked) = options::read(options)? else { return Ok(SessionOptions::default()) };
    if asked.reserved != 0 {
        return Err(Failure::UNSUPPORTED);
    }
    Ok(SessionOptions {
        flags: asked.flags,
        thread: asked.thread,
        cpu: asked.cpu,
        counter_bits: asked.counter_bits,
        relative_error: asked.relative_error,
    })
}
