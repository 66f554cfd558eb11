//! System calls for tests: children, sandboxes, descriptors. The tests within the library use them, too.
#![allow(dead_code)] // each test program uses its own part

use std::collections::BTreeSet;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a closure in a forked child, which ends with its result, or with 101 if it panicked. If the program has several
/// threads, the child may find locks held by threads that no longer exist.
pub fn start(body: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the caller decides what the child may call. It ends by _exit, without its parent's destructors.
    match unsafe { libc::fork() } {
        0 => {
            let code = catch_unwind(AssertUnwindSafe(body)).unwrap_or(101);
            // SAFETY: as above.
            unsafe { libc::_exit(code) };
        }
        child => {
            assert!(child > 0, "fork failed");
            child
        }
    }
}

/// The status of a child that has changed its state.
pub fn wait_for(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: a child of ours, and a live variable.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    status
}

/// How a child ended: its exit status, or minus the signal.
pub fn wait(child: i32) -> i32 {
    let status = wait_for(child);
    if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -libc::WTERMSIG(status) }
}

/// How a closure ends in a child.
pub fn child_exit_code(body: impl FnOnce() -> i32) -> i32 {
    wait(start(body))
}

/// This process's descriptors of counters.
pub fn counters() -> BTreeSet<i32> {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let ours = entries.filter(|entry| {
        std::fs::read_link(entry.path()).is_ok_and(|target| target.to_string_lossy().contains("perf_event"))
    });
    ours.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// A filter's condition on the lower half of an argument: the argument's number, `BPF_JEQ` or `BPF_JSET`, the operand.
pub type Argument = (u32, u32, u32);

/// From now on, this thread's system call with this number and argument ends like this. `false` if filters are refused.
pub fn filter(number: libc::c_long, argument: Option<Argument>, end: u32) -> bool {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let unless = |test: u32, k: u32, jf: u8| {
        let code = (libc::BPF_JMP | test | libc::BPF_K) as u16;
        libc::sock_filter { code, jt: 0, jf, k }
    };
    let load = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    // A filter sees number, architecture, instruction (8 bytes), and the arguments, of 8 bytes each.
    let low = if cfg!(target_endian = "little") { 0 } else { 4 };
    let mut filter = vec![
        statement(load, 0),
        unless(libc::BPF_JEQ, number as u32, if argument.is_some() { 3 } else { 1 }),
    ];
    if let Some((which, test, value)) = argument {
        filter.extend([statement(load, 16 + 8 * which + low), unless(test, value, 1)]);
    }
    filter.push(statement(libc::BPF_RET | libc::BPF_K, end));
    filter.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the program is live; it filters this thread only, and its children.
    unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1u64, 0u64, 0u64, 0u64) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program) == 0
    }
}

/// From now on, that call fails.
pub fn refuse(number: libc::c_long, argument: Option<Argument>, errno: i32) -> bool {
    filter(number, argument, libc::SECCOMP_RET_ERRNO | errno as u32)
}

/// Mounts a file system of this kind there, in a separate mount namespace. Returns whether that is allowed.
pub fn mounts(kind: &CStr, target: &CStr, options: &CStr) -> bool {
    let none = c"none".as_ptr();
    // SAFETY: strings that end in NUL; this affects only this process's view of the file system.
    unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(none, c"/".as_ptr(), none, libc::MS_REC | libc::MS_PRIVATE, std::ptr::null()) == 0
            && libc::mount(none, target.as_ptr(), kind.as_ptr(), 0, options.as_ptr().cast()) == 0
    }
}

/// Touches this many new pages, and returns the kernel's count of this thread's page faults meanwhile.
pub fn page_faults(pages: usize) -> usize {
    let (protection, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: queries, and a new mapping at an address of the kernel's choice, used within its bounds and given back.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let mut count = || {
            assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
            (usage.ru_minflt + usage.ru_majflt) as usize
        };
        let size = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let memory = libc::mmap(std::ptr::null_mut(), pages * size, protection, kind, -1, 0);
        assert_ne!(memory, libc::MAP_FAILED);
        libc::madvise(memory, pages * size, libc::MADV_NOHUGEPAGE);
        let before = count();
        (0..pages).for_each(|page| memory.cast::<u8>().add(page * size).write_volatile(1));
        let faults = count() - before;
        libc::munmap(memory, pages * size);
        faults
    }
}

/// The CPUs that this thread may run on.
pub fn allowed_cpus() -> Vec<usize> {
    // SAFETY: a zeroed set is an empty one, and the calls stay inside it.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        assert_eq!(libc::sched_getaffinity(0, size_of_val(&set), &raw mut set), 0);
        (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
    }
}

/// Moves this thread to a CPU, for good. Returns whether it may run there.
pub fn pin_to(cpu: usize) -> bool {
    // SAFETY: as above.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set) == 0
    }
}

/// The CPU that this thread is on.
pub fn own_cpu() -> usize {
    // SAFETY: a query.
    usize::try_from(unsafe { libc::sched_getcpu() }).unwrap_or(0)
}

/// A small generator of pseudo-random numbers: tests must run the same every time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, limit: u64) -> u64 {
        let next = self.next().wrapping_mul(0x2545_f491_4f6c_dd1d);
        ((u128::from(next) * u128::from(limit)) >> 64) as u64
    }

    /// Above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        ((self.next().wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Log-normal, by Box and Muller.
    pub fn around(&mut self, median: f64, spread: f64) -> f64 {
        let normal = (-2.0 * self.uniform().ln()).sqrt() * (core::f64::consts::TAU * self.uniform()).cos();
        median * (normal * spread).exp()
    }
}
