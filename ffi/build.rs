//! Names the shared library after its ABI, and keeps it loaded: the kernel looks at the descriptor of a thread's last restartable
//! sequence (`core/src/platform/rseq.rs`) at any later time.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/picollo/version.rs");
    println!("cargo::rerun-if-changed=Cargo.toml");
    let abi = abi_version();
    // cargo-c reads the number there.
    let manifest = include_str!("Cargo.toml");
    assert!(
        manifest.contains(&format!("\nversion = \"{abi}.0.0\"\n")),
        "Cargo.toml: another ABI version than {abi}"
    );
    let is_elf = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    // cargo-c, which turns this feature on, sets the name itself.
    let by_cargo_c = std::env::var_os("CARGO_FEATURE_CAPI").is_some();
    if is_elf {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
    }
    if is_elf && !by_cargo_c {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libpicollo.so.{abi}");
    }
}

/// The number of the interface, which the library's name contains.
fn abi_version() -> &'static str {
    let constant = "pub const PICOLLO_ABI_VERSION: u32 = ";
    let line = include_str!("src/picollo/version.rs").lines().find_map(|line| line.strip_prefix(constant));
    line.and_then(|rest| rest.strip_suffix(';')).expect("the ABI version")
}
