//! What the tests of all crates share: system calls, and a harness for programs that fork.
#![allow(dead_code, unused_imports, unused_macros)] // each test program uses its own part

#[cfg(target_os = "linux")]
pub mod system;
#[cfg(target_os = "linux")]
pub use system::{page_faults, pin_to};

/// Reports, past the test harness, which would swallow it, that a test or the rest of it cannot run here.
pub fn skipped(why: &str) {
    aloud(&format!("SKIPPED: {why}\n"));
}

/// Writes straight to the standard error.
pub fn aloud(text: &str) {
    // SAFETY: writes a live buffer.
    unsafe { libc::write(2, text.as_ptr().cast(), text.len()) };
}

/// Whether tests may change things outside themselves, such as kernel settings: only if the environment allows it.
pub fn may_change_this_machine() -> bool {
    std::env::var_os("PICOLLO_MAY_CHANGE_THIS_MACHINE").is_some_and(|value| value == "1")
}

/// Two CPUs that this thread may run on.
#[cfg(target_os = "linux")]
pub fn two_cpus() -> Option<(usize, usize)> {
    match system::allowed_cpus()[..] {
        [first, second, ..] => Some((first, second)),
        _ => None,
    }
}

/// Tests with their names.
macro_rules! named {
    ($($test:ident),* $(,)?) => { &[$((stringify!($test), $test as fn())),*] };
}
pub(crate) use named;

/// Runs tests in this thread, one after the other, and prints what the usual harness would. If there are names before
/// the options, only those tests run. The value of `place` lives as long as a test.
pub fn run<T>(tests: &[(&str, fn())], place: fn() -> T) -> ! {
    let wanted: Vec<String> =
        std::env::args().skip(1).take_while(|argument| !argument.starts_with('-')).collect();
    let (mut passed, mut failed) = (0, 0);
    for (name, test) in tests {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part)) {
            continue;
        }
        let _place = place();
        let outcome = std::panic::catch_unwind(test);
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        passed += i32::from(outcome.is_ok());
        failed += i32::from(outcome.is_err());
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("\ntest result: {verdict}. {passed} passed; {failed} failed");
    std::process::exit(i32::from(failed != 0));
}
