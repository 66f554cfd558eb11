//! Says once, for all modules and tests, what the target lacks.
//!
//! | name | |
//! |---|---|
//! | `picollo_critical_64` | words of 64 bits go through critical sections |
//! | `picollo_critical_32` | so do the changes of all other words: there is no compare-and-swap |
//! | `picollo_one_step` | cells are plain memory of x86-64, which assembly may add to |
//! | `picollo_wide_loads` | and load many at a time |
//! | `picollo_initial_exec` | the C library has initial-exec thread-local storage for libraries that are loaded late, and assembly may read it |
//! | `picollo_rseq` | the C library may register threads for restartable sequences |
//!
//! For tests, any target can be taken for one that lacks something: `--cfg picollo_no_atomic64`, `--cfg picollo_no_cas`,
//! `--cfg picollo_plain_loads`. They are looked for in the compiler's answer for the target, which has what `RUSTFLAGS` and a
//! wrapper of the compiler add.

use std::env;

/// A configuration of the target, as cargo passes it on.
fn target(name: &str) -> Option<String> {
    env::var(format!("CARGO_CFG_{}", name.to_uppercase())).ok()
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let asked_for = ["picollo_no_atomic64", "picollo_no_cas", "picollo_plain_loads"];
    let names = [
        "picollo_critical_64",
        "picollo_critical_32",
        "picollo_one_step",
        "picollo_wide_loads",
        "picollo_initial_exec",
        "picollo_rseq",
    ];
    for name in asked_for.iter().chain(&names) {
        println!("cargo::rustc-check-cfg=cfg({name})");
    }
    let [no_atomic_64, no_cas, plain_loads] = asked_for.map(|name| target(name).is_some());
    let widths = target("target_has_atomic").unwrap_or_default();
    let has = |width: &str| widths.split(',').any(|has| has == width);
    // Loom's models use loom's atomics.
    let is_model = target("loom").is_some();
    let critical_32 = !is_model && (no_cas || !has("32"));
    let critical_64 = !is_model && (critical_32 || no_atomic_64 || !has("64"));
    let is = |name: &str, value: &str| target(name).is_some_and(|has| has == value);
    let is_x86_64 = is("target_arch", "x86_64");
    let is_memory_plain = !is_model && target("miri").is_none();
    let one_step = is_x86_64 && !critical_64 && is_memory_plain;
    let wide_loads = one_step && !plain_loads;
    // Glibc keeps a small reserve for such libraries, and registers threads.
    let is_glibc = is("target_os", "linux") && is("target_env", "gnu") && is("target_pointer_width", "64");
    let initial_exec = is_glibc && (is_x86_64 || is("target_arch", "aarch64")) && is_memory_plain;
    let rseq = one_step && is_glibc && env::var_os("CARGO_FEATURE_STD").is_some();
    for (name, is_so) in
        names.iter().zip([critical_64, critical_32, one_step, wide_loads, initial_exec, rseq])
    {
        if is_so {
            println!("cargo::rustc-cfg={name}");
        }
    }
}
