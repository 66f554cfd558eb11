//! Thread-local histograms that come and go, checked against separate counts. Threads keep entries of dead histograms
//! in their storage, which new histograms take again. See `threads::entries` in the sources.
#![cfg(feature = "std")]

use std::sync::mpsc::{Sender, channel};
use std::thread;

use picollo_core::seam::record_exported;
use picollo_core::{Mode, Options, SharedHistogram};

use crate::common::{Random, Sums};

/// A long-lived thread that runs the jobs that it receives, one at a time.
struct Worker(Sender<Box<dyn FnOnce() + Send>>);

impl Worker {
    fn new() -> Worker {
        let (sender, jobs) = channel::<Box<dyn FnOnce() + Send>>();
        thread::spawn(move || jobs.into_iter().for_each(|job| job()));
        Worker(sender)
    }

    fn run(&self, job: impl FnOnce() + Send + 'static) {
        let (done, is_done) = channel();
        let job = move || {
            job();
            done.send(()).unwrap();
        };
        self.0.send(Box::new(job)).unwrap();
        is_done.recv().unwrap();
    }
}

/// A histogram and its expected counts.
struct Judged {
    histogram: SharedHistogram,
    sums: Sums,
}

impl Judged {
    fn new(random: &mut Random) -> Judged {
        let min_trackable = [0, 0, 1, 700, 1 << 20][random.below(5) as usize];
        let max_trackable = min_trackable + [1, 100, 100_000, 1 << 40][random.below(4) as usize];
        let options = Options {
            mode: Mode::ThreadLocal,
            counter_bits: [32, 64][random.below(2) as usize],
            relative_error: [0.1, 0.01][random.below(2) as usize],
            min_trackable,
            max_trackable,
            ..Options::default()
        };
        let histogram = SharedHistogram::create(&options).unwrap();
        let sums = Sums::new(histogram.layout());
        Judged { histogram, sums }
    }

    fn record(&mut self, random: &mut Random, worker: &Worker) {
        let layout = *self.histogram.layout();
        let (min, max) = (layout.min_trackable(), layout.max_trackable());
        let values: Vec<u64> = (0..1 + random.below(4))
            .map(|_| match random.below(4) {
                0 => random.below(min + 1),
                1 => max + random.below(1 << 30),
                _ => min + random.below(max - min + 1),
            })
            .collect();
        values.iter().for_each(|&value| self.sums.record(&layout, value, 1));
        let (histogram, how) = (self.histogram.clone(), random.below(8));
        worker.run(move || match how {
            0 => histogram.record_batch(&values),
            1 => values.iter().for_each(|&value| histogram.record_n(value, 1)),
            // SAFETY: this thread holds a reference.
            2 | 3 => values.iter().for_each(|&value| unsafe { record_exported(histogram.as_raw(), value) }),
            _ => values.iter().for_each(|&value| histogram.record(value)),
        });
    }

    fn judge(&self) {
        let mut found = Sums::new(self.histogram.layout());
        found.add(&self.histogram.snapshot().unwrap());
        assert_eq!(found, self.sums);
    }
}

/// Some histograms have entries, more have none. Entries pass from one to the next, in threads that know the last owner
/// and in others that do not.
#[test]
fn what_takes_an_entry_again_counts_its_own_values() {
    let mut random = Random(1);
    let workers = [(); 3].map(|()| Worker::new());
    let mut living: Vec<Judged> = Vec::new();
    for step in 0..if cfg!(miri) { 300 } else { 30_000 } {
        // The number alternates between few, and more than there are entries.
        let most = if step / 1000 % 2 == 0 { 3 } else { 24 };
        match random.below(10) {
            0 if living.len() < most => living.push(Judged::new(&mut random)),
            0 | 1 if !living.is_empty() => {
                let at = random.below(living.len() as u64) as usize;
                living.swap_remove(at).judge();
            }
            _ if !living.is_empty() => {
                let at = random.below(living.len() as u64) as usize;
                let worker = &workers[random.below(workers.len() as u64) as usize];
                living[at].record(&mut random, worker);
            }
            _ => living.push(Judged::new(&mut random)),
        }
    }
    living.iter().for_each(Judged::judge);
}

/// There are more histograms than entries. Each has its own counts, and keeps them while others go.
#[test]
fn those_without_an_entry_count_as_well() {
    let mut random = Random(2);
    let worker = Worker::new();
    let mut living: Vec<Judged> = (0..40).map(|_| Judged::new(&mut random)).collect();
    while !living.is_empty() {
        living.iter_mut().for_each(|judged| judged.record(&mut random, &worker));
        let at = random.below(living.len() as u64) as usize;
        living.swap_remove(at).judge();
    }
}
