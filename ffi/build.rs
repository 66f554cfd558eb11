//! Names the shared library after its ABI, and keeps it loaded: the kernel looks at the descriptor of a thread's last restartable
//! sequence (`core/src/platform/rseq.rs`) at any later time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_elf = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    // cargo-c, which turns this feature on, sets the name itself.
    let by_cargo_c = std::env::var_os("CARGO_FEATURE_CAPI").is_some();
    if is_elf {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    if is_elf && !by_cargo_c {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpicollo.so.0");
    }
}
