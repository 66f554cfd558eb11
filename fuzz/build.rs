//! Compiles the driver of the C interface, which the target `abi` hands its bytes to.

fn main() {
    let directory = "../c-tests/sequences";
    let names = ["main", "histograms", "snapshots", "text", "sessions", "others"];
    println!("cargo::rerun-if-changed={directory}");
    println!("cargo::rerun-if-changed=../include");
    cc::Build::new()
        .files(names.map(|name| format!("{directory}/{name}.c")))
        .include("../include")
        .define("PICOLLO_FUZZER", None)
        .std("gnu11")
        .compile("picollo_sequences");
}
