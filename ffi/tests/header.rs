//! `include/picollo.h` is generated from the documentation and the signatures in `src`. The header's description,
//! `ffi/picollo.abi.json`, is generated from the header, and the files of other languages from the description (`ci/describe`).
//!
//! The tests fail if a committed file differs from the generated one. `ci/describe.sh` writes all of them again; it runs
//! `PICOLLO_WRITE_HEADER=1 cargo test -p picollo-ffi --test header`.

#[path = "header/text.rs"]
mod text;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use cbindgen::{Builder, Config, DocumentationLength, DocumentationStyle, ItemType, Language, Style};
use text::{NODISCARD, tidy, with_initialisers};

/// One section of the header per concept: the module whose documentation introduces it and whose items it holds, other
/// files that define its structs, and those structs, by their names in Rust.
const SECTIONS: &[Section] = &[
    Section { module: "version", structs: &[] },
    Section { module: "status", structs: &[("native", "base/error", "Error", "picollo_error")] },
    Section { module: "handles", structs: &[] },
    Section { module: "histogram", structs: &[] },
    Section { module: "recorder", structs: &[] },
    Section {
        module: "snapshot",
        structs: &[
            ("core", "layout/bucket", "Bucket", "picollo_bucket"),
            ("core", "statistics/summary", "Percentile", "picollo_percentile"),
            ("core", "snapshot/snapshot", "Counts", "picollo_counts"),
        ],
    },
    Section { module: "mapping", structs: &[] },
    Section { module: "steps", structs: &[("core", "statistics/steps", "Step", "picollo_step")] },
    Section { module: "interpolate", structs: &[] },
    Section { module: "merge", structs: &[("core", "snapshot/merge", "Merged", "picollo_merged")] },
    Section { module: "summary", structs: &[("core", "statistics/summary", "Summary", "picollo_summary")] },
    Section { module: "text", structs: &[] },
    Section { module: "interchange", structs: &[] },
    Section { module: "log", structs: &[] },
    Section {
        module: "compare",
        structs: &[
            ("core", "statistics/compare/quantile", "QuantileInterval", "picollo_quantile_interval"),
            ("core", "statistics/compare/mod", "Comparison", "picollo_comparison"),
            ("core", "statistics/compare/blocks", "BlockComparison", "picollo_block_comparison"),
            ("core", "statistics/compare/runs", "RunComparison", "picollo_run_comparison"),
        ],
    },
    Section {
        module: "figure",
        structs: &[("core", "figures/interval", "FigureEstimate", "picollo_figure_estimate")],
    },
    Section { module: "picture", structs: &[] },
    Section {
        module: "double_histogram",
        structs: &[("core", "doubles/snapshot", "DoubleStatistics", "picollo_double_statistics")],
    },
    Section {
        module: "double_snapshot",
        structs: &[
            ("core", "doubles/layout", "DoubleBucket", "picollo_double_bucket"),
            ("core", "doubles/summary", "DoublePercentile", "picollo_double_percentile"),
            ("core", "doubles/summary", "DoubleSummary", "picollo_double_summary"),
        ],
    },
    Section { module: "registry", structs: &[] },
    Section { module: "metric", structs: &[] },
    Section { module: "metric_exemplar", structs: &[] },
    Section { module: "counter", structs: &[] },
    Section { module: "segment", structs: &[] },
    Section { module: "clock", structs: &[] },
    Section { module: "exemplar", structs: &[] },
    Section { module: "exemplars", structs: &[] },
    Section {
        module: "event",
        structs: &[
            ("native", "event/event", "Event", "picollo_event"),
            ("native", "machine/perf_info", "PerfInfo", "picollo_perf_info"),
        ],
    },
    Section {
        module: "session",
        structs: &[
            ("native", "session/reading", "Reading", "picollo_reading"),
            ("native", "event/info", "EventInfo", "picollo_event_info"),
        ],
    },
    Section {
        module: "benchmark",
        structs: &[
            ("native", "benchmark/result", "BenchmarkResult", "picollo_benchmark_outcome"),
            ("native", "benchmark/result", "BenchmarkNoise", "picollo_benchmark_disturbance"),
            ("native", "benchmark/result", "BenchmarkCounter", "picollo_benchmark_counts"),
        ],
    },
    Section { module: "work", structs: &[] },
];

/// Names in the documentation of other packages, and their names in C.
const WORDS: &[(&str, &str)] = &[
    ("A [`ValueSelection`] code", "PICOLLO_VALUE_..."),
    ("At [`SUMMARY_RANKS`]", "At the ranks of PICOLLO_SUMMARY_PERCENTILES, ascending"),
    ("[SUMMARY_PERCENTILES]", "[PICOLLO_SUMMARY_PERCENTILES]"),
    (
        "; make one with [`Event::parse`] or fill in the fields",
        ". picollo_event_parse makes one, or fill in the fields",
    ),
    (" Same layout as `picollo_error` in C.", ""),
    (" Same layout as `picollo_event` in C.", ""),
    (" Same layout as `picollo_perf_info` in C.", ""),
    (" Same layout as `picollo_reading` in C.", ""),
    (" Same layout as `picollo_event_info` in C.", ""),
    ("[`EVENT_USER`] and its siblings", "PICOLLO_EVENT_..."),
    ("[`READING_FAST`] and its siblings", "PICOLLO_READING_..."),
    ("[`EVENT_INFO_USER_ONLY`] and its siblings", "PICOLLO_EVENT_INFO_..."),
    ("0, or the code of `NotCounted`", "PICOLLO_OK, PICOLLO_ERR_NOT_COUNTED"),
    ("is `NotCounted`", "is PICOLLO_ERR_NOT_COUNTED"),
    ("The number of its [`Status`]", "What the call returned"),
    ("[`COMPARISON_TOO_FEW`] and its siblings", "PICOLLO_COMPARISON_..."),
    ("[`BENCHMARK_BUDGET_SPENT`] and its siblings", "PICOLLO_BENCHMARK_..."),
    ("A [`Verdict`] code", "PICOLLO_VERDICT_..."),
    ("see [`Snapshot::quantile_interval`]", "see picollo_snapshot_quantile_interval"),
    ("See [`Snapshot::compare`]", "See picollo_compare"),
    ("FIGURE_ flags", "PICOLLO_FIGURE_..."),
    ("`u64::MAX`", "UINT64_MAX"),
    ("`u32::MAX`", "UINT32_MAX"),
    ("`i32::MIN`", "INT32_MIN"),
    ("`", ""),
];

/// Constants of other packages: the file, what their names begin with there, or the enum or the macro whose lines they are, and what they
/// begin with in C.
const CONSTANTS: &[(&str, (&str, &str), &str, &str)] = &[
    ("status", ("native", "base/error"), "statuses!", "ERR_"),
    ("snapshot", ("core", "layout/bucket"), "enum ValueSelection", "VALUE_"),
    ("histogram", ("core", "cells/kind"), "enum Storage", "STORAGE_"),
    ("interchange", ("core", "interchange/mod"), "enum Encoding", "ENCODING_"),
    ("compare", ("core", "statistics/compare/mod"), "enum Verdict", "VERDICT_"),
    ("compare", ("core", "statistics/compare/mod"), "COMPARISON_", "COMPARISON_"),
    ("figure", ("core", "figures/interval"), "FIGURE_", "FIGURE_"),
    ("picture", ("core", "text/picture/mod"), "enum Theme", "THEME_"),
    ("picture", ("core", "text/picture/mod"), "enum Picture", "PICTURE_"),
    ("clock", ("native", "clock/mod"), "enum Clock", "CLOCK_"),
    ("clock", ("native", "clock/mod"), "enum Unit", "UNIT_"),
    ("exemplar", ("native", "exemplars/cause"), "causes!", "CAUSE_"),
    ("exemplar", ("native", "exemplars/exemplar"), "KNOWN_", "KNOWN_"),
    ("exemplar", ("native", "exemplars/exemplar"), "missing!", "MISSING_"),
    ("exemplar", ("native", "exemplars/collector"), "EXEMPLARS_", "EXEMPLARS_"),
    ("event", ("native", "event/modifiers"), "EVENT_", "EVENT_"),
    ("session", ("native", "session/options"), "SESSION_", "SESSION_"),
    ("session", ("native", "event/event"), "MAX_EVENTS", "SESSION_MAX_EVENTS"),
    ("session", ("native", "session/options"), "enum ReadMode", "READ_"),
    ("session", ("native", "session/reading"), "READING_", "READING_"),
    ("session", ("native", "event/info"), "EVENT_INFO_", "EVENT_INFO_"),
    ("benchmark", ("native", "benchmark/result"), "enum Side", "BENCHMARK_"),
    ("benchmark", ("native", "benchmark/options"), "BENCHMARK_", "BENCHMARK_"),
    ("benchmark", ("native", "benchmark/result"), "BENCHMARK_", "BENCHMARK_"),
];

struct Section {
    module: &'static str,
    structs: &'static [(&'static str, &'static str, &'static str, &'static str)],
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn source(package: &str, module: &str) -> PathBuf {
    root().join(package).join("src").join(module).with_extension("rs")
}

/// The `//!` lines a file begins with, as a C comment.
fn introduction(file: &str, bar: &str) -> String {
    let lines = file.lines().take_while(|line| line.starts_with("//!"));
    let mut comment = format!("/*{bar}\n");
    for line in lines {
        let line = line.trim_start_matches("//!");
        writeln!(comment, " *{}", if line.is_empty() { "" } else { line }).unwrap();
    }
    comment + " */\n"
}

fn config() -> Config {
    let mut config = Config {
        language: Language::C,
        cpp_compat: false,
        no_includes: true,
        usize_is_size_t: true,
        style: Style::Both,
        documentation_style: DocumentationStyle::Doxy,
        documentation_length: DocumentationLength::Full,
        line_length: 110,
        tab_width: 4,
        ..Config::default()
    };
    config.export.item_types = vec![
        ItemType::Constants,
        ItemType::Structs,
        ItemType::OpaqueItems,
        ItemType::Typedefs,
        ItemType::Functions,
    ];
    let structs = SECTIONS.iter().flat_map(|section| section.structs);
    config.export.rename = structs.map(|(_, _, rust, c)| (rust.to_string(), c.to_string())).collect();
    config
}

/// The definition of a struct with its documentation, cut out of a file that cbindgen cannot read as a whole.
fn definition(file: &str, name: &str) -> String {
    let lines: Vec<&str> = file.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(&format!("pub struct {name} {{")));
    let at = at.unwrap_or_else(|| panic!("no struct {name}"));
    let belongs = |line: &&str| line.starts_with("///") || line.starts_with("#[");
    let first = at - lines[..at].iter().rev().take_while(|line| belongs(line)).count();
    let length = lines[first..].iter().position(|line| *line == "}").expect("an end");
    lines[first..=first + length].join("\n") + "\n"
}

/// Replaces links of Rust in a line of documentation by C's names, for the last part of the path.
fn without_links(line: &str) -> String {
    let mut text = String::new();
    let mut parts = line.split("[`");
    text += parts.next().unwrap_or_default();
    for part in parts {
        let (link, rest) = part.split_once("`]").expect("the end of a link");
        let name = link.rsplit("::").next().unwrap();
        let is_constant = name.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        text += if is_constant { "PICOLLO_" } else { "" };
        text += name;
        text +=
            rest.strip_prefix('(').map_or(rest, |path| path.split_once(')').expect("the end of a path").1);
    }
    text
}

/// Constants whose names in a file begin in this way, or the variants of this enum, as constants of C with their documentation.
fn constants(file: &str, what: &str, prefix: &str) -> String {
    let is_enum = !what.ends_with('_') && what != "MAX_EVENTS";
    let begin = format!("{what} {{\n");
    let body = match is_enum {
        true => {
            file.split_once(&begin).unwrap_or_else(|| panic!("no enum {what}")).1.split_once("\n}").unwrap().0
        }
        false => file,
    };
    let (mut code, mut comment) = (String::new(), String::new());
    for line in body.lines().map(str::trim) {
        if line.starts_with("#[") {
            continue;
        }
        if line.starts_with("///") {
            writeln!(comment, "{}", without_links(line)).unwrap();
            continue;
        }
        let found = match is_enum {
            true => line.split_once(" = ").map(|(name, value)| {
                let upper = |(at, c): (usize, char)| match c.is_uppercase() && at > 0 {
                    true => format!("_{c}"),
                    false => c.to_uppercase().to_string(),
                };
                let value = value.split([',', ':']).next().unwrap();
                let of = if value.starts_with('-') { "picollo_status" } else { "u32" };
                (name.char_indices().map(upper).collect::<String>(), of, value)
            }),
            false => line.strip_prefix("pub const ").and_then(|line| line.strip_prefix(what)).map(|line| {
                let (name, rest) = line.split_once(": ").unwrap();
                let (of, value) = rest.strip_suffix(';').unwrap().split_once(" = ").unwrap();
                (name.to_string(), of, value)
            }),
        };
        if let Some((name, of, value)) = found {
            writeln!(code, "{comment}pub const PICOLLO_{prefix}{name}: {of} = {value};").unwrap();
        }
        comment.clear();
    }
    code
}

fn section(section: &Section) -> String {
    let module = read(&source("ffi", section.module));
    let own = CONSTANTS.iter().filter(|(of, ..)| *of == section.module);
    let taken = own.map(|&(_, (package, file), what, prefix)| {
        let code = constants(&read(&source(package, file)), what, prefix);
        assert!(!code.is_empty(), "{file}: no {what}");
        code
    });
    let taken: String = taken.collect();
    // Codes that are not errors come before the errors.
    let (mut code, last) =
        if section.module == "status" { ("".to_string(), taken) } else { (taken, "".to_string()) };
    let structs = section.structs.iter();
    code.extend(structs.map(|(package, file, name, _)| definition(&read(&source(package, file)), name)));
    // Options come first, if they have a separate file.
    let options = source("ffi", &format!("{}_options", section.module));
    let files = [options.exists().then(|| read(&options)), Some(module.clone())];
    for line in files.iter().flatten().flat_map(|file| file.lines()).filter(|line| !line.starts_with("//!")) {
        writeln!(code, "{line}").unwrap();
    }
    code += &last;
    // The expansion of the macro for functions (guard.rs).
    code = code
        .replace("exported! { explained(error)\n", "")
        .replace("exported! {\n", "")
        .replace("\n}\n}\n", "\n}\n");
    code = code.replace("\nfn picollo_", "\n#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn picollo_");
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(section.module).with_extension("rs");
    std::fs::write(&path, &code).unwrap();
    let mut config = config();
    config.export.include = section.structs.iter().map(|(_, _, name, _)| name.to_string()).collect();
    // Also those that no function of this section uses.
    let own =
        code.lines().filter_map(|line| line.strip_prefix("pub struct picollo_")?.split([' ', '(']).next());
    config.export.include.extend(own.map(|name| format!("picollo_{name}")));
    let bindings = Builder::new().with_config(config).with_src(&path).generate();
    let bindings = bindings.unwrap_or_else(|error| panic!("{}: {error}", section.module));
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = tidy(&String::from_utf8(text).unwrap());
    let text = with_initialisers(text.trim());
    format!("{}\n{}\n", introduction(&module, &format!(" {}", "-".repeat(106))), text.trim())
}

/// The header as generated. Made once, because the tests run at the same time and files are written on the way.
fn generated() -> &'static str {
    static HEADER: OnceLock<String> = OnceLock::new();
    HEADER.get_or_init(generate)
}

fn generate() -> String {
    let opening = introduction(&read(&source("ffi", "lib")), "");
    let sections: Vec<String> = SECTIONS.iter().map(section).collect();
    let mut header = format!(
        "/* Generated from ffi/src by ci/describe.sh; change it there. */\n\
         {opening}\
         #ifndef PICOLLO_H\n#define PICOLLO_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n{NODISCARD}\n\
         #ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n\
         {}\
         #ifdef __cplusplus\n}}\n#endif\n\n#endif /* PICOLLO_H */\n",
        sections.join("\n"),
    );
    for (rust, c) in WORDS {
        header = header.replace(rust, c);
    }
    header
}

#[test]
fn the_header_speaks_c() {
    for (at, line) in generated().lines().enumerate() {
        for rust in ["::", "[`", "`]", "u64", "usize", "&mut", "Some(", "None"] {
            let c = line.replace("uint64", "");
            assert!(!c.contains(rust), "line {}: {line}", at + 1);
        }
    }
}

fn is_to_write() -> bool {
    std::env::var_os("PICOLLO_WRITE_HEADER").is_some_and(|value| value == "1")
}

#[test]
fn the_header_and_its_description_are_fresh() {
    let path = root().join("include/picollo.h");
    if is_to_write() {
        std::fs::write(&path, generated()).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = committed.lines().zip(generated().lines()).position(|(old, new)| old != new);
    assert!(
        committed == generated(),
        "{} is stale from line {} on: run ci/describe.sh",
        path.display(),
        differs.map_or(committed.lines().count(), |line| line) + 1
    );
    // The generators read the header, so it must be fresh.
    all_that_follows();
}

/// Writes, or compares, the files made from the header: its description, and the declarations for Rust, Python and C#.
fn all_that_follows() {
    let mut generate = Command::new("python3");
    generate.arg(root().join("ci/describe/generate.py"));
    if !is_to_write() {
        generate.arg("--check");
    }
    match generate.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
        }
        Err(error) if is_to_write() => panic!("ci/describe/generate.py needs Python: {error}"),
        // Not through println!, which tests that pass keep to themselves.
        Err(error) => {
            let _ = std::io::Write::write_all(
                &mut std::io::stderr(),
                format!("SKIPPED: whether what is made from the header is fresh, without Python: {error}\n")
                    .as_bytes(),
            );
        }
    }
}
