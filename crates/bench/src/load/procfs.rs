//! The kernel's files, kept open, and the clock of this program.

use std::fs;
use std::os::unix::fs::FileExt;

use super::{CpuSet, File, Source};
use picollo_native::Uncancelled;
use picollo_native::seam::wall::{NANOS_PER_SECOND, clock_nanos};

/// The files that could be opened.
pub(crate) struct Procfs {
    files: [Option<fs::File>; 3],
}

impl Procfs {
    /// Opens the files, with the frequency of the CPU that the calling thread is on.
    pub(crate) fn open() -> Procfs {
        // SAFETY: a query without pointers.
        let cpu = unsafe { libc::sched_getcpu() };
        let mut frequency = [0; 80];
        picollo_native::seam::text::set(
            &mut frequency,
            format_args!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"),
        );
        let paths = ["/proc/stat", "/proc/pressure/cpu", picollo_native::seam::text::get(&frequency)];
        Procfs { files: paths.map(|path| fs::File::open(path).ok()) }
    }
}

impl Source for Procfs {
    fn read(&mut self, file: File, buffer: &mut [u8]) -> Option<usize> {
        let _uncancelled = Uncancelled::new();
        // At the beginning, the kernel writes the file anew.
        self.files[file as usize].as_ref()?.read_at(buffer, 0).ok()
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
        // Every program that could ask has used some CPU time.
        let own = Some(clock_nanos(libc::CLOCK_PROCESS_CPUTIME_ID)).filter(|&nanos| nanos != 0)?;
        Some(own + nanos(usage.ru_utime) + nanos(usage.ru_stime))
    }

    fn allowed(&self) -> CpuSet {
        let mut allowed = CpuSet([0; 128]);
        // SAFETY: the call writes to the set, at most its size.
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
