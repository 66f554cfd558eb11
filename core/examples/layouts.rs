//! Layouts and where values go in them, for whoever maps values in another language and wants to be held against this library.
//! Each line: relative error, smallest and largest value; counters, first index, scale, stated error; value, storage index, and
//! the bucket's lower end, upper end and midpoint (dashes where the value is out of range).

use picollo_core::Layout;
use picollo_core::layouts::ValueSelection;

fn main() {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) ^ (state << 32)
    };
    for error in [0.0, 1e-9, 1e-6, 1e-5, 0.0003, 0.001, 0.01, 0.05, 0.1, 1.0] {
        for range in 0..12 {
            let (a, b) = (random() >> (random() % 64), random() >> (random() % 64));
            let (min, max) = match range {
                0 => (0, u64::MAX),
                1 => (0, 255),
                _ if a == b => (0, 1),
                _ => (a.min(b), a.max(b)),
            };
            let layout = Layout::new(error, min, max);
            let edges = [0, 1, min, max, layout.lowest_recordable(), layout.highest_recordable(), u64::MAX];
            let values: Vec<u64> = edges
                .into_iter()
                .flat_map(|value| [value.wrapping_sub(1), value, value.wrapping_add(1)])
                .chain((0..12).map(|_| min.wrapping_add(random() % (max - min))))
                .collect();
            for value in values {
                let (length, first, scale) = (layout.length(), layout.first_index(), layout.scale());
                print!("{error:e} {min} {max} {length} {first} {scale} {} {value} ", layout.relative_error());
                match layout.bucket_of(value) {
                    Some(bucket) => println!(
                        "{} {} {} {}",
                        bucket.storage_index,
                        bucket.lower,
                        bucket.upper,
                        bucket.equivalent_value(ValueSelection::Midpoint)
                    ),
                    None => println!("- {} - -", if layout.is_below(value) { "below" } else { "above" }),
                }
            }
        }
    }
}
