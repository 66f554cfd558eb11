//! The histograms of a benchmark.

use picollo_core::recorders::Recorder;
use picollo_core::{Options, Since, SingleWriterHistogram, Snapshot};

use crate::measurement::Taken;

/// The unit of an observation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Per {
    /// One iteration.
    Iteration,
    /// The mean of a batch of iterations, counted once for each of its iterations. Tails are those of batches.
    Batch,
}

impl Per {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Per::Iteration => "iteration",
            Per::Batch => "batch mean",
        }
    }
}

pub(crate) struct Measured {
    pub(crate) name: String,
    pub(crate) per: Per,
    times: Recorder<SingleWriterHistogram>,
    counts: Vec<Recorder<SingleWriterHistogram>>,
}

/// A histogram with room for any value, at an error of a thousandth.
fn histogram() -> Recorder<SingleWriterHistogram> {
    let histogram =
        SingleWriterHistogram::create(&Options::default()).and_then(|histogram| histogram.recorder());
    histogram.expect("the defaults are right, and there is memory")
}

fn snapshot(recorder: &Recorder<SingleWriterHistogram>) -> Box<Snapshot> {
    let histogram = recorder.histogram();
    let mut snapshot = Snapshot::boxed(*histogram.layout()).expect("there is memory");
    histogram.update(&mut snapshot, Since::Reset).expect("nobody resets it");
    snapshot
}

impl Measured {
    pub(crate) fn new(name: &str, per: Per, events: usize) -> Measured {
        let counts = std::iter::repeat_with(histogram).take(events).collect();
        Measured { name: name.to_owned(), per, times: histogram(), counts }
    }

    pub(crate) fn note(&mut self, taken: &Taken, iterations: u64) {
        if iterations == 0 {
            return;
        }
        let mean = |value: u64| (value + iterations / 2) / iterations;
        self.times.record_n(mean(taken.picos), iterations);
        for (recorder, count) in self.counts.iter_mut().zip(&taken.counts) {
            if let Some(count) = count {
                recorder.record_n(mean(*count), iterations);
            }
        }
    }

    pub(crate) fn snapshot(&self) -> Box<Snapshot> {
        snapshot(&self.times)
    }

    /// `None` if it was never counted.
    pub(crate) fn counted(&self, event: usize) -> Option<Box<Snapshot>> {
        Some(snapshot(self.counts.get(event)?)).filter(|snapshot| snapshot.counts().total > 0)
    }
}
