//! Compiles a C file. Its symbols are hidden and prefixed, so that neither the shared nor the static library shows them.

fn main() {
    println!("cargo::rerun-if-changed=asm/thread.c");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(picollo_linux)");
    // The system can count here. All code that touches the system depends on this one name.
    let has_std = std::env::var_os("CARGO_FEATURE_STD").is_some();
    if !has_std || std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    println!("cargo::rustc-cfg=picollo_linux");
    cc::Build::new()
        .file("asm/thread.c")
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(false)
        .flag_if_supported("-fvisibility=hidden")
        .compile("picollo_asm");
}
