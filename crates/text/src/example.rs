//! The example data of the documentation, and helpers for tests of the text formats.

use std::boxed::Box;
use std::fmt::Debug;
use std::vec::Vec;

use proptest::prelude::*;

use picollo_core::layouts::{AtomicU64, ValueSelection};
use picollo_core::{Histogram, Layout, Snapshot, Summary};

/// Accepts this many bytes.
pub(crate) struct Full(pub usize);

impl core::fmt::Write for Full {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.0 = self.0.checked_sub(text.len()).ok_or(core::fmt::Error)?;
        Ok(())
    }
}

/// What a program can write into a struct: integers of all magnitudes, codes, and doubles of all kinds.
///
/// # Safety
/// The struct must consist of whole words, only integers and doubles.
pub(crate) unsafe fn anything<T: Copy + Debug>() -> impl Strategy<Value = T> {
    let double = prop_oneof![Just(f64::INFINITY), Just(f64::MAX), -1e6..1e6f64, 0.0..1.0f64];
    let word = prop_oneof![
        1 => Just(0u64),
        1 => Just(u64::MAX),
        1 => 0u64..4,
        4 => double.prop_map(f64::to_bits),
        4 => (any::<u64>(), 0u32..64).prop_map(|(value, shift)| value >> shift),
    ];
    // SAFETY: as the caller promises.
    let read = |words: Vec<u64>| unsafe { from_words(words.into_iter()) };
    prop::collection::vec(word, size_of::<T>() / 8).prop_map(read)
}

/// A struct that consists of these words, of which there must be enough.
///
/// # Safety
/// As for [`anything`].
pub(crate) unsafe fn from_words<T: Copy>(words: impl Iterator<Item = u64>) -> T {
    let words: Vec<u64> = words.take(size_of::<T>() / 8).collect();
    assert_eq!(words.len() * 8, size_of::<T>());
    // SAFETY: there are enough words, and any word is valid, as the caller promises.
    unsafe { words.as_ptr().cast::<T>().read() }
}

fn values(seed: u64, length: usize, base: u64, spread: u64, divisor: u64) -> Vec<u64> {
    let mut x = seed;
    let mut next = || {
        x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        base + (x >> 40) % spread + ((x >> 20) % 64).pow(3) / divisor
    };
    (0..length).map(|_| next()).collect()
}

/// The values behind [`first`], in the order of recording.
pub(crate) fn first_values() -> Vec<u64> {
    values(1, 100_000, 1_990, 1_500, 40)
}

/// "Before", or "Example" on its own.
pub(crate) fn first() -> Summary {
    summarise(&first_values())
}

/// The values behind [`second`].
pub(crate) fn second_values() -> Vec<u64> {
    values(2, 150_000, 1_800, 1_700, 36)
}

/// "After".
pub(crate) fn second() -> Summary {
    summarise(&second_values())
}

pub(crate) fn empty() -> Summary {
    summarise(&[])
}

/// A snapshot of values in the layout of the examples.
pub(crate) fn recorded(values: &[u64]) -> Box<Snapshot> {
    let histogram = Histogram::<[AtomicU64]>::boxed(Layout::new(0.01, 2_000, 12_000), false).unwrap();
    histogram.record_batch(values);
    histogram.snapshot().unwrap()
}

fn summarise(values: &[u64]) -> Summary {
    recorded(values).summary(ValueSelection::Midpoint)
}
