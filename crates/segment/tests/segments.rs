//! Segments: viewers read what is written there, whoever forks, dies or tampers. This program has one thread and no
//! test harness, because it forks.

#![allow(clippy::result_large_err)] // errors carry their text by value

#[cfg(target_os = "linux")]
#[path = "../../../native/tests/common/harness.rs"]
mod common;
#[cfg(target_os = "linux")]
#[path = "segments/contents.rs"]
mod contents;
#[cfg(target_os = "linux")]
#[path = "segments/format.rs"]
mod format;
#[cfg(target_os = "linux")]
#[path = "segments/hostile.rs"]
mod hostile;
#[cfg(target_os = "linux")]
#[path = "segments/killed.rs"]
mod killed;
#[cfg(target_os = "linux")]
#[path = "segments/life.rs"]
mod life;
#[cfg(target_os = "linux")]
#[path = "segments/setting.rs"]
mod setting;
#[cfg(target_os = "linux")]
#[path = "segments/shards.rs"]
mod shards;
#[cfg(target_os = "linux")]
#[path = "segments/stepped.rs"]
mod stepped;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SKIPPED: segments are there on Linux only");
}

#[cfg(target_os = "linux")]
fn main() {
    match std::env::args().nth(1).as_deref() {
        Some(shards::WORKER) => shards::be_a_worker(),
        Some(shards::COUNTER) => shards::be_a_counter(),
        _ => {}
    }
    let tests: Vec<(&str, fn())> = [
        contents::TESTS,
        shards::TESTS,
        life::TESTS,
        killed::TESTS,
        stepped::TESTS,
        hostile::TESTS,
        format::TESTS,
    ]
    .concat();
    common::run(&tests, setting::Place::new);
}
