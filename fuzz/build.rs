//! Compiles the driver of the C interface; the target `abi` passes its bytes to it.

fn main() {
    let directory = "../c-tests/sequences";
    let entries = std::fs::read_dir(directory).expect("the driver is there");
    let files = entries.map(|entry| entry.expect("it can be read").path());
    println!("cargo::rerun-if-changed={directory}");
    println!("cargo::rerun-if-changed=../include");
    cc::Build::new()
        .files(files.filter(|file| file.extension().is_some_and(|extension| extension == "c")))
        .include("../include")
        .define("PICOLLO_FUZZER", None)
        .std("gnu11")
        .compile("picollo_sequences");
}
