//! Recording by CPU, compared with single writers that each have a histogram. Each thread stays on one CPU, so that
//! both do the same work in the same places. The result is the CPU time of a thread.

use std::hint::black_box;
use std::sync::Barrier;

use picollo_benches::{rounds, values};
use picollo_core::{Mode, Options, SharedHistogram};

use crate::peers::Through;
use crate::threads::{Job, VALUES, compare};
use crate::{ERROR, MAIN_RANGE};

const THREADS: [usize; 3] = [1, 2, 8];
const MOST: usize = 8;

/// Pins the calling thread to one CPU, counted among those that it may run on.
fn stay(number: usize) {
    // SAFETY: zeros are valid sets of CPUs, and the system fills and reads them.
    unsafe {
        let (mut allowed, mut one): (libc::cpu_set_t, libc::cpu_set_t) = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of_val(&allowed), &mut allowed);
        let cpus: Vec<usize> =
            (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &allowed)).collect();
        libc::CPU_SET(cpus[number % cpus.len()], &mut one);
        libc::sched_setaffinity(0, size_of_val(&one), &one);
    }
}

/// The CPU time of the calling thread, in ns.
fn own_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: there is room for a time.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Runs the job on `threads` threads at once. Returns the time per record of a thread, in ns.
fn time(job: &Job, threads: usize) -> f64 {
    let barrier = Barrier::new(threads);
    let times: f64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|thread| {
                let barrier = &barrier;
                scope.spawn(move || {
                    stay(thread);
                    job(thread);
                    barrier.wait();
                    let start = own_time();
                    // This takes more than a time slice, in case threads share a CPU.
                    (0..4).for_each(|_| job(thread));
                    own_time() - start
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    times / (threads * 4 * VALUES) as f64
}

pub fn run() {
    let values = values::skewed(VALUES, MAIN_RANGE);
    let values = &values[..];
    let options =
        |mode| Options { mode, relative_error: ERROR, max_trackable: MAIN_RANGE, ..Options::default() };
    // SAFETY: one thread at a time records into each.
    let single = || unsafe { SharedHistogram::create_unguarded(&options(Mode::SingleWriter)) }.unwrap();
    let singles: Vec<_> = (0..MOST).map(|_| single()).collect();
    let per_cpu = SharedHistogram::create(&options(Mode::PerCpu)).unwrap();
    let thread_local = SharedHistogram::create(&options(Mode::ThreadLocal)).unwrap();
    let through = |mode| Through::new(mode, 64, MAIN_RANGE);
    let through_singles: Vec<_> = (0..MOST).map(|_| through(Mode::SingleWriter)).collect();
    let (through_per_cpu, through_thread) = (through(Mode::PerCpu), through(Mode::ThreadLocal));

    fn each(values: &[u64], histogram: &SharedHistogram) {
        black_box(values).iter().for_each(|&value| histogram.record(value));
    }
    let mut jobs: Vec<(&str, Job)> = vec![
        ("picollo, a single-writer histogram for each", Box::new(|thread| each(values, &singles[thread]))),
        ("picollo, thread-local", Box::new(|_| each(values, &thread_local))),
        ("picollo, per-CPU", Box::new(|_| each(values, &per_cpu))),
        ("picollo, per-CPU, batch", Box::new(|_| per_cpu.record_batch(black_box(values)))),
    ];
    if let (Some(through_per_cpu), Some(through_thread)) = (&through_per_cpu, &through_thread) {
        let singles = &through_singles;
        jobs.push((
            ".so: picollo, a single-writer histogram for each",
            Box::new(move |thread| {
                singles[thread].iter().for_each(|single| single.record(black_box(values)))
            }),
        ));
        jobs.push((".so: picollo, thread-local", Box::new(|_| through_thread.record(black_box(values)))));
        jobs.push((".so: picollo, per-CPU", Box::new(|_| through_per_cpu.record(black_box(values)))));
    }

    let title = format!("Recording by CPU, {{}}, CPU time of a thread, up to {MAIN_RANGE}");
    compare(&title, &jobs, &THREADS, rounds(31), time, || ());
}
