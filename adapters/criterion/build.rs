//! Determines the compiler, which a run stores.

use std::process::Command;

fn main() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output();
    let version = output.ok().and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    println!("cargo::rustc-env=PICOLLO_COMPILER={}", version.trim());
    println!("cargo::rerun-if-changed=build.rs");
}
