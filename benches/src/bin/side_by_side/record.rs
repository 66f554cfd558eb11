//! Recording by one thread: inlined, in batches, and through shared libraries.

use std::cell::RefCell;
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64};

use histogram::{AtomicHistogram, Histogram as H2};
use picollo_benches::{contender, medians, print_table, rounds, values};
use picollo_core::recorders::{Interlocked, SingleWriter};
use picollo_core::seam::BatchPath;
use picollo_core::{Histogram, Layout, Mode, Options, SharedHistogram, SingleWriterHistogram};

use crate::peers::{self, Hdr, Through};
use crate::{ERROR, MAIN_RANGE, RANGES};

const VALUES: usize = 32_768;

type Make = fn(usize, u64) -> Vec<u64>;

pub fn run() {
    let kinds: [(&str, Make); 3] =
        [("skewed", values::skewed), ("uniform", values::uniform), ("equal", values::equal)];
    for max in RANGES {
        for (kind, make) in kinds {
            compare(kind, &make(VALUES, max), max);
        }
    }
    // The processor learns the branches of a few values by heart, and cannot predict those of many.
    for (kind, number) in [("4,096 skewed", 4096), ("a million skewed", 1 << 20)] {
        compare(kind, &values::skewed(number, MAIN_RANGE), MAIN_RANGE);
    }
}

/// The parameters of the crate `histogram` (H2) for buckets as wide as ours, up to the power of two above the range.
pub fn powers(layout: &Layout, max: u64) -> (u8, u8) {
    let grouping = layout.scale() as u8;
    (grouping, (64 - max.leading_zeros() as u8).max(grouping + 1))
}

fn compare(kind: &str, values: &[u64], max: u64) {
    let layout = Layout::new(ERROR, 0, max);
    assert_eq!(layout.block_size(), 1024);
    let indices: Vec<u32> = values.iter().map(|&value| layout.storage_index(value) as u32).collect();
    let mut counts = vec![0u64; layout.length()];
    let (grouping, power) = powers(&layout, max);
    let mut h2 = H2::new(grouping, power).unwrap();
    let h2_atomic = AtomicHistogram::new(grouping, power).unwrap();
    assert!(h2.config().error() >= 200.0 * layout.relative_error(), "buckets as wide as ours");

    // Several contenders record into it, one after another.
    let wide = RefCell::new(Histogram::<[AtomicU64], SingleWriter>::boxed(layout, true).unwrap());
    let narrow = RefCell::new(Histogram::<[AtomicU32], SingleWriter>::boxed(layout, true).unwrap());
    let interlocked = Histogram::<[AtomicU64], Interlocked>::boxed(layout, true).unwrap();
    let options = |mode| Options { mode, relative_error: ERROR, max_trackable: max, ..Options::default() };
    let thread_local = SharedHistogram::create(&options(Mode::ThreadLocal)).unwrap();
    let single = SingleWriterHistogram::create(&options(Mode::SingleWriter)).unwrap();
    let mut recorder = single.recorder().unwrap();

    let mut hdr_wide = hdrhistogram::Histogram::<u64>::new_with_bounds(1, max, 3).unwrap();
    let mut hdr_narrow = hdrhistogram::Histogram::<u32>::new_with_bounds(1, max, 3).unwrap();
    let hdr_locked = Mutex::new(hdr_wide.clone());
    let hdr_sync = hdrhistogram::SyncHistogram::from(hdr_wide.clone());
    let mut hdr_recorder = hdr_sync.recorder();
    let config = sketches_ddsketch::Config::new(ERROR, 1 << 16, 1.0);
    let mut sketch = sketches_ddsketch::DDSketch::new(config);

    let hdr = Hdr::new(max, false);
    let shared_hdr = Hdr::new(max, true);
    let through = |mode, bits| Through::new(mode, bits, max);
    let through_64 = through(Mode::SingleWriter, 64);
    let through_32 = through(Mode::SingleWriter, 32);
    let through_thread = through(Mode::ThreadLocal, 64);
    let through_atomic = through(Mode::Interlocked, 64);
    let inline_64 = through_64.as_ref().map(Through::recorder);
    let inline_32 = through_32.as_ref().map(Through::recorder);

    let mut contenders = vec![
        contender("increment of a precomputed index: the limit", || {
            for &index in black_box(&indices[..]) {
                counts[index as usize] += 1;
            }
        }),
        contender("picollo, single writer, inlined", || {
            let wide = &mut **wide.borrow_mut();
            black_box(values).iter().for_each(|&value| wide.record(value));
        }),
        contender("picollo, single writer, 32-bit, inlined", || {
            let narrow = &mut **narrow.borrow_mut();
            black_box(values).iter().for_each(|&value| narrow.record(value));
        }),
        contender("picollo, single writer, a writer in a loop", || {
            let wide = &mut **wide.borrow_mut();
            let (mut writer, _) = wide.split();
            black_box(values).iter().for_each(|&value| writer.record(value));
        }),
        contender("picollo, single writer, recorder", || {
            black_box(values).iter().for_each(|&value| recorder.record(value));
        }),
        contender("picollo, thread-local", || {
            black_box(values).iter().for_each(|&value| thread_local.record(value));
        }),
        contender("picollo, interlocked, inlined", || {
            black_box(values).iter().for_each(|&value| interlocked.record(value))
        }),
        contender("picollo, single writer, batch", || wide.borrow_mut().record_batch(black_box(values))),
        contender("picollo, single writer, batch, 32-bit", || {
            narrow.borrow_mut().record_batch(black_box(values));
        }),
        contender("picollo, batch, thread-local", || thread_local.record_batch(black_box(values))),
        contender("picollo, batch, interlocked", || interlocked.record_batch(black_box(values))),
        contender("histogram crate", || {
            black_box(values).iter().for_each(|&value| h2.increment(value).unwrap());
        }),
        contender("histogram crate, atomic", || {
            black_box(values).iter().for_each(|&value| h2_atomic.increment(value).unwrap());
        }),
        contender("hdrhistogram crate, u64", || {
            black_box(values).iter().for_each(|&value| hdr_wide.record(value).unwrap());
        }),
        contender("hdrhistogram crate, u32", || {
            black_box(values).iter().for_each(|&value| hdr_narrow.record(value).unwrap());
        }),
        contender("hdrhistogram crate, sync recorder", || {
            black_box(values).iter().for_each(|&value| hdr_recorder.record(value).unwrap());
        }),
        contender("hdrhistogram crate, Mutex", || {
            black_box(values).iter().for_each(|&value| hdr_locked.lock().unwrap().record(value).unwrap());
        }),
        contender("sketches-ddsketch", || {
            black_box(values).iter().for_each(|&value| sketch.add(value as f64))
        }),
    ];
    for (name, path) in [
        ("picollo, single writer, batch, AVX-512", BatchPath::Avx512),
        ("picollo, single writer, batch, BMI2", BatchPath::Bmi2),
        ("picollo, single writer, batch, plain", BatchPath::Plain),
    ] {
        if path.is_available() {
            let wide = &wide;
            contenders
                .push(contender(name, move || wide.borrow_mut().record_batch_by(path, black_box(values))));
        }
    }
    if let (Some(hdr), Some(shared_hdr)) = (&hdr, &shared_hdr) {
        // SAFETY: here and below, the histogram is alive, and there are as many values as stated.
        contenders.push(contender("HdrHistogram_c", || unsafe {
            for &value in black_box(values) {
                peers::hdr_record_value(hdr.handle, value as i64);
            }
        }));
        // SAFETY: as above.
        contenders.push(contender("HdrHistogram_c, atomic", || unsafe {
            for &value in black_box(values) {
                peers::hdr_record_value_atomic(hdr.handle, value as i64);
            }
        }));
        // SAFETY: as above.
        contenders.push(contender(".so: empty function: the floor", || unsafe {
            peers::through_empty(hdr.handle, values.as_ptr(), values.len());
        }));
        // SAFETY: as above.
        contenders.push(contender(".so: HdrHistogram_c", || unsafe {
            peers::through_hdr(shared_hdr.handle, values.as_ptr(), values.len());
        }));
        // SAFETY: as above.
        contenders.push(contender(".so: HdrHistogram_c, atomic", || unsafe {
            peers::through_hdr_atomic(shared_hdr.handle, values.as_ptr(), values.len());
        }));
    }
    for (name, histogram) in [
        (".so: picollo, single writer", &through_64),
        (".so: picollo, single writer, 32-bit", &through_32),
        (".so: picollo, thread-local", &through_thread),
        (".so: picollo, interlocked", &through_atomic),
    ] {
        if let Some(histogram) = histogram {
            contenders.push(contender(name, || histogram.record(black_box(values))));
        }
    }
    if let Some(histogram) = &through_64 {
        contenders.push(contender(".so: picollo, single writer, batch", || {
            histogram.record_batch(black_box(values))
        }));
    }
    for (name, recorder) in [
        ("C: picollo_inline.h, single writer", &inline_64),
        ("C: picollo_inline.h, single writer, 32-bit", &inline_32),
    ] {
        if let Some(recorder) = recorder {
            // SAFETY: the recorder is not released yet.
            contenders.push(contender(name, || unsafe {
                peers::inlined_in_c(recorder, values.as_ptr(), values.len());
            }));
        }
    }

    let medians = medians(&mut contenders, values.len(), rounds(101));
    print_table(&format!("Recording {kind} values up to {max}, block size 1024"), "ns/value", &medians);
    drop(contenders);
    for mut recorder in [inline_64, inline_32].into_iter().flatten() {
        // SAFETY: it was taken above, and is not used any more.
        unsafe { peers::picollo_recorder_release(&mut recorder) };
    }
    drop(hdr_recorder);
}
