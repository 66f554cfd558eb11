//! Segments: what is written there is what viewers read, whoever forks, dies or tampers. A program with one thread and no test harness,
//! since it forks.

#![allow(clippy::result_large_err)] // errors carry their text by value

mod common;
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
#[cfg(target_os = "linux")]
#[path = "segments/told.rs"]
mod told;

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
    let tests: Vec<(&str, fn())> =
        [told::TESTS, shards::TESTS, life::TESTS, killed::TESTS, stepped::TESTS, hostile::TESTS].concat();
    let wanted: Vec<String> =
        std::env::args().skip(1).take_while(|argument| !argument.starts_with('-')).collect();
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in tests {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part)) {
            continue;
        }
        let _place = setting::Place::new();
        let outcome = std::panic::catch_unwind(test);
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        passed += i32::from(outcome.is_ok());
        failed += i32::from(outcome.is_err());
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {passed} passed; {failed} failed");
    std::process::exit(i32::from(failed != 0));
}
