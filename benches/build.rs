//! Builds and links the peers in C and the staged library, from the places that `make bench` sets.

use std::env::var;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(peers_in_c)");
    println!("cargo::rerun-if-changed=c");
    println!("cargo::rerun-if-env-changed=PICOLLO_BENCH_PEERS");
    println!("cargo::rerun-if-env-changed=PICOLLO_BENCH_STAGE");
    let (Ok(peers), Ok(stage)) = (var("PICOLLO_BENCH_PEERS"), var("PICOLLO_BENCH_STAGE")) else { return };
    println!("cargo::rustc-cfg=peers_in_c");
    let mut build = cc::Build::new();
    build.opt_level(3).warnings(false).include(&peers).include(format!("{stage}/include"));
    build.file("c/static_hdr.c").file("c/through.c").compile("bench_peers");
    println!("cargo::rerun-if-changed={stage}/include");
    for (directory, library) in
        [(format!("{stage}/lib"), "picollo"), (peers.clone(), "peer_hdr"), (peers, "peer_empty")]
    {
        println!("cargo::rustc-link-search=native={directory}");
        println!("cargo::rustc-link-lib=dylib={library}");
        println!("cargo::rustc-link-arg-bins=-Wl,-rpath,{directory}");
    }
}
