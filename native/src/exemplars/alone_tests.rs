//! Tests that change what belongs to the whole process: each runs in one of its own.

use std::process::Command;

/// Runs a test again, in a process of its own, where this is not it yet. Whether the caller is to go on. Its name is this one, behind the
/// name of its module.
pub(crate) fn alone(module: &str, test: &str) -> bool {
    const NAME: &str = "PICOLLO_TEST_ALONE";
    let path = format!("{}::{test}", module.split_once("::").unwrap().1);
    if std::env::var(NAME).is_ok_and(|name| name == path) {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([&path, "--exact", "--nocapture", "--test-threads=1"]).env(NAME, &path);
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    for line in text.lines().filter(|line| line.contains("SKIPPED")) {
        eprintln!("{line}");
    }
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}
