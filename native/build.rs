//! Compiles the C files with inline assembly. Their symbols are hidden and prefixed, so that neither the shared nor the
//! static library shows them.

fn main() {
    let files = ["asm/pmc.c", "asm/thread.c", "asm/tsc.c", "asm/work.c"];
    for file in files {
        println!("cargo::rerun-if-changed={file}");
    }
    cc::Build::new()
        .files(files)
        .opt_level(2)
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(false)
        .flag_if_supported("-fvisibility=hidden")
        .compile("picollo_asm");
}
