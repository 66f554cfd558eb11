//! Reading: snapshots compared with `memcpy`, percentiles and means compared with the peers.

use std::sync::atomic::AtomicU64;

use std::hint::black_box;

use picollo_benches::{contender, medians, print_table, rounds, values};
use picollo_core::layouts::ValueSelection;
use picollo_core::snapshots::{SUMMARY_PERCENTILES, SUMMARY_RANKS};
use picollo_core::{Histogram, Layout, Mode, Options, Percentile, SharedHistogram, Since, Snapshot};
use picollo_text::{Format, write_summary};

use crate::peers::{self, Hdr};
use crate::{ERROR, MAIN_RANGE};

pub fn run() {
    compare("values up to 7716549600", MAIN_RANGE);
    compare("values up to 2^63-1", i64::MAX as u64);
}

fn compare(range: &str, max: u64) {
    // The values are skewed, so that all blocks have counts.
    let values = values::skewed(1 << 20, max);
    let layout = Layout::new(ERROR, 0, max);
    let histogram = Histogram::<[AtomicU64]>::boxed(layout, true).unwrap();
    histogram.record_batch(&values);
    let narrow = SharedHistogram::create(&Options {
        counter_bits: 32,
        relative_error: ERROR,
        max_trackable: max,
        ..Options::default()
    })
    .unwrap();
    narrow.record_batch(&values);
    let sharded = SharedHistogram::create(&Options {
        mode: Mode::ThreadLocal,
        relative_error: ERROR,
        max_trackable: max,
        ..Options::default()
    })
    .unwrap();
    sharded.record_batch(&values);
    let source: Vec<u64> = histogram_counts(&histogram);
    let mut copy = source.clone();
    let mut filled = Snapshot::boxed(layout).unwrap();
    filled.update(&*histogram, Since::Reset).unwrap();
    let filled = &*filled;
    let mut snapshots: [_; 4] = std::array::from_fn(|_| Snapshot::boxed(layout).unwrap());
    let [since_reset, deltas, of_narrow, of_sharded] = &mut snapshots;
    let mut percentiles = [Percentile::default(); SUMMARY_PERCENTILES];
    let mut text = String::with_capacity(1 << 14);

    let mut hdr = hdrhistogram::Histogram::<u64>::new_with_bounds(1, max, 3).unwrap();
    values.iter().for_each(|&value| hdr.record(value).unwrap());
    let config = sketches_ddsketch::Config::new(ERROR, 1 << 16, 1.0);
    let mut sketch = sketches_ddsketch::DDSketch::new(config);
    values.iter().for_each(|&value| sketch.add(value as f64));

    let hdr_c = Hdr::new(max, false);
    let mut out = [0i64; SUMMARY_PERCENTILES];
    let mut bare_out = out;
    let (ranks, length) = (SUMMARY_RANKS.as_ptr(), SUMMARY_RANKS.len());
    let handle = hdr_c.as_ref().map_or(std::ptr::null_mut(), |hdr| hdr.handle);

    let mut contenders = vec![
        contender("memcpy of the cells", || {
            black_box(&mut copy[..]).copy_from_slice(black_box(&source));
        }),
        contender("picollo, snapshot since reset", || since_reset.update(&*histogram, Since::Reset).unwrap()),
        contender("picollo, snapshot of deltas", || {
            deltas.update(&*histogram, Since::PreviousUpdate).unwrap()
        }),
        contender("picollo, snapshot since reset, 32-bit", || {
            narrow.update(of_narrow, Since::Reset).unwrap()
        }),
        contender("picollo, snapshot since reset, one shard", || {
            sharded.update(of_sharded, Since::Reset).unwrap();
        }),
        contender("picollo, 16 percentiles", || {
            filled.percentiles(&SUMMARY_RANKS, ValueSelection::Midpoint, &mut percentiles).unwrap();
            black_box(&percentiles);
        }),
        contender("picollo, mean and deviation", || {
            black_box(filled.moments());
        }),
        contender("picollo, summary", || {
            black_box(filled.summary(ValueSelection::Midpoint));
        }),
        contender("picollo, summary as text", || {
            text.clear();
            let summary = filled.summary(ValueSelection::Midpoint);
            write_summary(&summary, &mut text, "Summary", Format::Markdown).unwrap();
            black_box(&text);
        }),
        contender("hdrhistogram crate, 16 percentiles", || {
            for rank in SUMMARY_RANKS {
                black_box(hdr.value_at_percentile(rank));
            }
        }),
        contender("hdrhistogram crate, mean and deviation", || {
            black_box((hdr.mean(), hdr.stdev()));
        }),
        contender("hdrhistogram crate, clone", || {
            black_box(hdr.clone());
        }),
        contender("sketches-ddsketch, 16 percentiles", || {
            for rank in SUMMARY_RANKS {
                black_box(sketch.quantile(rank / 100.0).unwrap());
            }
        }),
    ];
    if peers::IN_C {
        // SAFETY: here and below, the histogram is alive, and there is room for as many results as ranks.
        values.iter().for_each(|&value| unsafe {
            peers::hdr_record_value(handle, value as i64);
        });
        contenders.push(contender("HdrHistogram_c, 16 percentiles, one by one", move || {
            for rank in SUMMARY_RANKS {
                // SAFETY: as above.
                black_box(unsafe { peers::hdr_value_at_percentile(handle, rank) });
            }
        }));
        // SAFETY: as above.
        contenders.push(contender("HdrHistogram_c, 16 percentiles, one pass", || unsafe {
            peers::hdr_one_pass(handle, ranks, out.as_mut_ptr(), length);
        }));
        // SAFETY: as above.
        contenders.push(contender("HdrHistogram_c, 16 percentiles, its counts alone", || unsafe {
            peers::hdr_bare_pass(handle, ranks, bare_out.as_mut_ptr(), length);
        }));
        contenders.push(contender("HdrHistogram_c, mean and deviation", move || {
            // SAFETY: as above.
            black_box(unsafe { (peers::hdr_mean(handle), peers::hdr_stddev(handle)) });
        }));
    }
    let medians = medians(&mut contenders, 1, rounds(101));
    print_table(&format!("Reading {} counters, {range}", layout.length()), "ns", &medians);
    drop(contenders);
    if peers::IN_C {
        // Both must give the same results.
        let upper: Vec<u64> = percentiles.iter().map(|percentile| percentile.bucket.upper).collect();
        let theirs: Vec<u64> = out.iter().map(|&value| value as u64).collect();
        if upper != theirs {
            println!("percentiles differ: {upper:?}\nand HdrHistogram_c: {theirs:?}");
        }
    }
}

fn histogram_counts(histogram: &Histogram) -> Vec<u64> {
    let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    snapshot.update(histogram, Since::Reset).unwrap();
    snapshot.buckets().map(|bucket| bucket.count).collect()
}
