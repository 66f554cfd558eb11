//! The kernel's files, kept open, and the clock of this program.

use super::{CpuSet, File, Source};
use crate::os::wall::{NANOS_PER_SECOND, clock_nanos};

/// Closed with this. -1 where it could not be opened.
struct Kept(i32);

impl Kept {
    fn open(path: &core::ffi::CStr) -> Kept {
        // SAFETY: the path is NUL-terminated.
        Kept(unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) })
    }

    fn read(&self, buffer: &mut [u8]) -> Option<usize> {
        if self.0 < 0 {
            return None;
        }
        // By number: the C library's function is a cancellation point. The offset is 0, in however many words; from there the
        // kernel writes the file anew.
        let zero: libc::c_long = 0;
        // SAFETY: the buffer is live and as long as said.
        let length = unsafe {
            libc::syscall(
                libc::SYS_pread64,
                libc::c_long::from(self.0),
                buffer.as_mut_ptr(),
                buffer.len(),
                zero,
                zero,
                zero,
            )
        };
        usize::try_from(length).ok()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        if self.0 >= 0 {
            // SAFETY: opened by this, and not used after it.
            unsafe { libc::close(self.0) };
        }
    }
}

/// The files.
pub(crate) struct Procfs {
    files: [Kept; 3],
}

impl Procfs {
    /// With the frequency of the CPU that the calling thread is on.
    pub(crate) fn open() -> Procfs {
        // SAFETY: a query without pointers.
        let cpu = unsafe { libc::sched_getcpu() };
        let mut path = [0 as core::ffi::c_char; 80];
        crate::base::text::set(
            &mut path,
            format_args!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"),
        );
        // SAFETY: text that was set ends in a NUL.
        let frequency = Kept::open(unsafe { core::ffi::CStr::from_ptr(path.as_ptr()) });
        Procfs { files: [Kept::open(c"/proc/stat"), Kept::open(c"/proc/pressure/cpu"), frequency] }
    }
}

impl Source for Procfs {
    fn read(&mut self, file: File, buffer: &mut [u8]) -> Option<usize> {
        self.files[file as usize].read(buffer)
    }

    fn own(&mut self) -> Option<u64> {
        let mut usage = core::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the pointer is to memory of the right type, which is all that the call writes.
        if unsafe { libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) } != 0 {
            return None;
        }
        // SAFETY: zero is a valid rusage, and the call filled it in besides.
        let usage = unsafe { usage.assume_init() };
        let nanos = |time: libc::timeval| time.tv_sec as u64 * NANOS_PER_SECOND + time.tv_usec as u64 * 1000;
        // No program that could ask has run for no time at all.
        let own = Some(clock_nanos(libc::CLOCK_PROCESS_CPUTIME_ID)).filter(|&nanos| nanos != 0)?;
        Some(own + nanos(usage.ru_utime) + nanos(usage.ru_stime))
    }

    fn allowed(&self) -> CpuSet {
        let mut allowed = CpuSet([0; 128]);
        // SAFETY: writes to the set, no more than its size.
        let result =
            unsafe { libc::sched_getaffinity(0, size_of_val(&allowed.0), allowed.0.as_mut_ptr().cast()) };
        if result == 0 { allowed } else { CpuSet::ALL }
    }

    fn tick(&self) -> u64 {
        // SAFETY: a query without pointers.
        let hertz = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
        NANOS_PER_SECOND / u64::try_from(hertz).ok().filter(|&hertz| hertz != 0).unwrap_or(100)
    }
}
