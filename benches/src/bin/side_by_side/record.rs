//! Recording by one thread: inlined, in batches, and through shared libraries.

use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64};

use picollo_benches::{Report, Section, contender, medians, opaque, rounds, values};
use picollo_core::recorders::{Interlocked, SingleWriter};
use picollo_core::seam::BatchPath;
use picollo_core::{Histogram, Layout, Mode, Options, SharedHistogram, SingleWriterHistogram};

use crate::peers::{self, Hdr, Through};
use crate::{ERROR, MAIN_RANGE, RANGES};

const VALUES: usize = 32_768;

type Make = fn(usize, u64) -> Vec<u64>;

pub fn run(report: &mut Report) {
    let kinds: [(&str, Make); 3] =
        [("skewed", values::skewed), ("uniform", values::uniform), ("equal", values::equal)];
    for max in RANGES {
        for (kind, make) in kinds {
            let section = compare(kind, &make(VALUES, max), max);
            if max == MAIN_RANGE && kind == "skewed" {
                judge(report, &section);
            }
            section.print();
        }
    }
}

const LIMIT: &str = "increment of a precomputed index: the limit";
const INLINED_64: &str = "picollo, single writer, inlined";
const INLINED_32: &str = "picollo, single writer, 32-bit, inlined";
const INTERLOCKED: &str = "picollo, interlocked, inlined";
const BATCH: &str = "picollo, single writer, batch";
const BATCH_AVX512: &str = "picollo, single writer, batch, AVX-512";
const BATCH_BMI2: &str = "picollo, single writer, batch, BMI2";
const HDR: &str = "HdrHistogram_c";
const HDR_ATOMIC: &str = "HdrHistogram_c, atomic";
const EMPTY: &str = ".so: empty function: the floor";
const SO: &str = ".so: picollo, single writer";
const SO_THREAD: &str = ".so: picollo, thread-local";
const SO_HDR: &str = ".so: HdrHistogram_c";

fn judge(report: &mut Report, section: &Section) {
    for (what, of, to, limit) in [
        ("single writer, inlined / limit", INLINED_64, LIMIT, 2.8),
        ("single writer, 32-bit, inlined / limit", INLINED_32, LIMIT, 3.4),
        ("single writer, inlined / HdrHistogram_c", INLINED_64, HDR, 0.30),
        ("single writer, 32-bit, inlined / HdrHistogram_c", INLINED_32, HDR, 0.30),
        ("single-writer .so / empty function", SO, EMPTY, 1.35),
        ("single-writer .so / HdrHistogram_c's .so", SO, SO_HDR, 0.5),
        ("single-writer batch, AVX-512 / limit", BATCH_AVX512, LIMIT, 1.5),
        ("single-writer batch, BMI2 / limit", BATCH_BMI2, LIMIT, 2.2),
        ("thread-local .so / single-writer .so", SO_THREAD, SO, 1.10),
        ("interlocked / HdrHistogram_c, atomic", INTERLOCKED, HDR_ATOMIC, 0.55),
    ] {
        report.target(what, section.ratio(of, to), limit);
    }
}

fn compare(kind: &str, values: &[u64], max: u64) -> Section {
    let layout = Layout::new(ERROR, 0, max);
    assert_eq!(layout.block_size(), 1024);
    let indices: Vec<u32> = values.iter().map(|&value| layout.storage_index(value) as u32).collect();
    let mut counts = vec![0u64; layout.length()];

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
        contender(LIMIT, || {
            for &index in opaque(&indices[..]) {
                counts[index as usize] += 1;
            }
        }),
        contender(INLINED_64, || {
            let wide = &mut **wide.borrow_mut();
            opaque(values).iter().for_each(|&value| wide.record(value));
        }),
        contender(INLINED_32, || {
            let narrow = &mut **narrow.borrow_mut();
            opaque(values).iter().for_each(|&value| narrow.record(value));
        }),
        contender("picollo, single writer, recorder", || {
            opaque(values).iter().for_each(|&value| recorder.record(value));
        }),
        contender("picollo, thread-local", || {
            opaque(values).iter().for_each(|&value| thread_local.record(value));
        }),
        contender(INTERLOCKED, || opaque(values).iter().for_each(|&value| interlocked.record(value))),
        contender(BATCH, || wide.borrow_mut().record_batch(opaque(values))),
        contender("picollo, single writer, batch, 32-bit", || {
            narrow.borrow_mut().record_batch(opaque(values));
        }),
        contender("picollo, batch, thread-local", || thread_local.record_batch(opaque(values))),
        contender("picollo, batch, interlocked", || interlocked.record_batch(opaque(values))),
        contender("hdrhistogram crate, u64", || {
            opaque(values).iter().for_each(|&value| hdr_wide.record(value).unwrap());
        }),
        contender("hdrhistogram crate, u32", || {
            opaque(values).iter().for_each(|&value| hdr_narrow.record(value).unwrap());
        }),
        contender("hdrhistogram crate, sync recorder", || {
            opaque(values).iter().for_each(|&value| hdr_recorder.record(value).unwrap());
        }),
        contender("hdrhistogram crate, Mutex", || {
            opaque(values).iter().for_each(|&value| hdr_locked.lock().unwrap().record(value).unwrap());
        }),
        contender("sketches-ddsketch", || opaque(values).iter().for_each(|&value| sketch.add(value as f64))),
    ];
    for (name, path) in [
        (BATCH_AVX512, BatchPath::Avx512),
        (BATCH_BMI2, BatchPath::Bmi2),
        ("picollo, single writer, batch, plain", BatchPath::Plain),
    ] {
        if path.is_available() {
            let wide = &wide;
            contenders.push(contender(name, move || wide.borrow_mut().record_batch_by(path, opaque(values))));
        }
    }
    if let (Some(hdr), Some(shared_hdr)) = (&hdr, &shared_hdr) {
        // SAFETY: here and below, the histogram is alive, and there are as many values as stated.
        contenders.push(contender(HDR, || unsafe {
            for &value in opaque(values) {
                peers::static_hdr_record_value(hdr.handle, value as i64);
            }
        }));
        // SAFETY: as above.
        contenders.push(contender(HDR_ATOMIC, || unsafe {
            for &value in opaque(values) {
                peers::static_hdr_record_value_atomic(hdr.handle, value as i64);
            }
        }));
        // SAFETY: as above.
        contenders.push(contender(EMPTY, || unsafe {
            peers::through_empty(hdr.handle, values.as_ptr(), values.len());
        }));
        // SAFETY: as above.
        contenders.push(contender(SO_HDR, || unsafe {
            peers::through_hdr(shared_hdr.handle, values.as_ptr(), values.len());
        }));
        // SAFETY: as above.
        contenders.push(contender(".so: HdrHistogram_c, atomic", || unsafe {
            peers::through_hdr_atomic(shared_hdr.handle, values.as_ptr(), values.len());
        }));
    }
    for (name, histogram) in [
        (SO, &through_64),
        (".so: picollo, single writer, 32-bit", &through_32),
        (SO_THREAD, &through_thread),
        (".so: picollo, interlocked", &through_atomic),
    ] {
        if let Some(histogram) = histogram {
            contenders.push(contender(name, || histogram.record(opaque(values))));
        }
    }
    if let Some(histogram) = &through_64 {
        contenders
            .push(contender(".so: picollo, single writer, batch", || histogram.record_batch(opaque(values))));
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

    let mut section =
        Section::new(format!("Recording {kind} values up to {max}, block size 1024"), "ns/value");
    let medians = medians(&mut contenders, values.len(), rounds(101));
    section.extend(&contenders, &medians);
    drop(contenders);
    for mut recorder in [inline_64, inline_32].into_iter().flatten() {
        // SAFETY: it was taken above, and is not used any more.
        unsafe { peers::picollo_recorder_release(&mut recorder) };
    }
    drop(hdr_recorder);
    section
}
