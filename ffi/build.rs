//! Names the shared library after its ABI.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_elf = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    // cargo-c, which turns this feature on, sets the name itself.
    let by_cargo_c = std::env::var_os("CARGO_FEATURE_CAPI").is_some();
    if is_elf && !by_cargo_c {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpicollo.so.0");
    }
}
