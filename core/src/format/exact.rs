//! The digits of doubles, one by one, for tests: those of `picollo-text` include this file.

use std::format;
use std::vec::Vec;

/// Returns all digits of a double before and after the point: at most 309 and 1074.
pub(crate) fn exact(value: f64) -> (Vec<u8>, Vec<u8>) {
    let text = format!("{:.1074}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap();
    (whole.bytes().map(|b| b - b'0').collect(), fraction.bytes().map(|b| b - b'0').collect())
}

/// Rounds digits at a place, half up, as taught in school. Returns the digits before it, after one more for the
/// carry.
pub(crate) fn naive_round(whole: &[u8], fraction: &[u8], decimals: i32) -> (Vec<u8>, Vec<u8>) {
    let mut all: Vec<u8> = core::iter::once(0).chain(whole.iter().chain(fraction).copied()).collect();
    let point = whole.len() as i32 + 1;
    let at = point + decimals;
    if at < 0 {
        return (std::vec![0], Vec::new());
    }
    let up = all.get(at as usize).is_some_and(|&digit| digit >= 5);
    all.iter_mut().skip(at as usize).for_each(|digit| *digit = 0);
    if up {
        for digit in all[..at as usize].iter_mut().rev() {
            *digit = (*digit + 1) % 10;
            if *digit != 0 {
                break;
            }
        }
    }
    let fraction = all.split_off(point as usize);
    (all, fraction)
}
