use picollo_stats::{CompareOptions, compare_block_ratios};

use super::*;
use crate::compare::metric;

fn compared(key: &str, values: &[(f64, f64)]) -> Compared {
    let metric = metric::all(&[]).into_iter().find(|metric| metric.key == key).unwrap();
    let (a, b): (Vec<f64>, Vec<f64>) = values.iter().copied().unzip();
    let options = CompareOptions { resolution: metric.resolution, ..CompareOptions::default() };
    let found = compare_block_ratios(&a, &b, &mut vec![0.0; a.len()], &options).unwrap();
    Compared { metric, found: Some(found) }
}

#[test]
fn rows_agree() {
    // An increase from 0 to 1.9 ms must not show as "0.0 %".
    let cells = row(&compared("system", &[(0.0, 1.9e-3); 40]));
    assert_eq!((cells[1].as_str(), cells[2].as_str(), cells[4].as_str()), ("0 s", "1.90 ms", "more"));
    assert!(cells[3].starts_with("+1.90 ms ["), "{cells:?}");
    // With ticks, medians of 0 and of 1.9 ms agree with a median difference of 0.
    let (none, tick) = (0.0, 1.9e-3);
    let mut ticks = [(none, none), (none, tick), (tick, tick)].repeat(7);
    ticks.extend([(none, tick), (tick, none)].repeat(3));
    ticks.extend([(tick, tick); 2]);
    let found = compared("system", &ticks).found.unwrap();
    assert!((found.median_b - found.median_a - found.difference).abs() < 1e-12, "{found:?}");
    // Five times faster, and sometimes even more: a time cannot fall by more than 100 %.
    let faster: Vec<(f64, f64)> = (0..10).map(|at| (1e-3 * f64::from(1 + at % 3), 2e-4)).collect();
    let cells = row(&compared("user", &faster));
    assert!(cells[3].starts_with('−') && !cells[3].contains("−10") && cells[4] == "less", "{cells:?}");
    let zeros: Vec<(f64, f64)> = (0..40).map(|at| (4e-3 * f64::from(at % 5), 0.0)).collect();
    let cells = row(&compared("system", &zeros));
    assert!(cells[3].contains("[−100.0 %, "), "{cells:?}");
    let few: Vec<(f64, f64)> =
        (0..40).map(|at| f64::from(at % 3) * 1e-6).map(|more| (1e-3 + more, 1.012e-3 + more)).collect();
    assert_eq!(row(&compared("wall", &few))[4], BELOW_RESOLUTION);
}
