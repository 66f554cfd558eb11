//! Segments: viewers read what is written there, whoever forks, dies or tampers. This program has one thread and no
//! test harness, because it forks.

#![allow(clippy::result_large_err)] // errors carry their text by value

#[path = "../../../native/tests/common/harness.rs"]
mod common;
#[path = "segments/contents.rs"]
mod contents;
#[path = "segments/format.rs"]
mod format;
#[path = "segments/hostile.rs"]
mod hostile;
#[path = "segments/killed.rs"]
mod killed;
#[path = "segments/life.rs"]
mod life;
#[path = "segments/setting.rs"]
mod setting;
#[path = "segments/shards.rs"]
mod shards;
#[path = "segments/stepped.rs"]
mod stepped;

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
