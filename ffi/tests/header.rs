//! `include/picollo.h` is generated from the documentation and the signatures in `src`.
//!
//! The test fails when the committed header differs from what would be generated. To write it anew:
//! `PICOLLO_WRITE_HEADER=1 cargo test -p picollo-ffi --test header`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cbindgen::{Builder, Config, DocumentationLength, DocumentationStyle, ItemType, Language, Style};

/// One section of the header per concept: the module whose documentation introduces it and whose items it holds, other
/// files that define its structs, and those structs, by their names in Rust.
const SECTIONS: &[Section] = &[
    Section { module: "version", structs: &[] },
    Section { module: "status", structs: &[("native", "error", "Error")] },
    Section { module: "handles", structs: &[] },
    Section { module: "histogram", structs: &[] },
    Section { module: "recorder", structs: &[] },
    Section { module: "array", structs: &[] },
    Section {
        module: "snapshot",
        structs: &[
            ("core", "bucket", "Bucket"),
            ("core", "summary", "Percentile"),
            ("core", "snapshot", "Counts"),
        ],
    },
    Section { module: "mapping", structs: &[] },
    Section { module: "steps", structs: &[("core", "iter", "Step")] },
    Section { module: "interpolate", structs: &[] },
    Section { module: "merge", structs: &[("core", "merge", "Merged")] },
    Section { module: "summary", structs: &[("core", "summary", "Summary")] },
    Section { module: "text", structs: &[] },
    Section { module: "interchange", structs: &[] },
    Section { module: "log", structs: &[] },
    Section {
        module: "compare",
        structs: &[
            ("core", "compare/quantile", "QuantileInterval"),
            ("core", "compare", "Comparison"),
            ("core", "compare/blocks", "BlockComparison"),
        ],
    },
    Section { module: "picture", structs: &[] },
    Section { module: "double_histogram", structs: &[("core", "exponential/snapshot", "DoubleStatistics")] },
    Section {
        module: "double_snapshot",
        structs: &[
            ("core", "exponential/layout", "DoubleBucket"),
            ("core", "exponential/summary", "DoublePercentile"),
            ("core", "exponential/summary", "DoubleSummary"),
        ],
    },
    Section { module: "registry", structs: &[] },
    Section { module: "counter", structs: &[] },
    Section { module: "clock", structs: &[] },
    Section {
        module: "event",
        structs: &[("native", "event", "Event"), ("native", "perf_info", "PerfInfo")],
    },
    Section {
        module: "session",
        structs: &[("native", "reading", "Reading"), ("native", "reading", "EventInfo")],
    },
    Section {
        module: "benchmark",
        structs: &[
            ("native", "benchmark/result", "BenchmarkResult"),
            ("native", "benchmark/result", "BenchmarkCounter"),
        ],
    },
    Section { module: "work", structs: &[] },
];

/// Structs of other packages, and their names in C.
const NAMES: &[(&str, &str)] = &[
    ("Bucket", "picollo_bucket"),
    ("Percentile", "picollo_percentile"),
    ("Counts", "picollo_counts"),
    ("Step", "picollo_step"),
    ("Merged", "picollo_merged"),
    ("Summary", "picollo_summary"),
    ("QuantileInterval", "picollo_quantile_interval"),
    ("Comparison", "picollo_comparison"),
    ("BlockComparison", "picollo_block_comparison"),
    ("DoubleStatistics", "picollo_double_statistics"),
    ("DoubleBucket", "picollo_double_bucket"),
    ("DoublePercentile", "picollo_double_percentile"),
    ("DoubleSummary", "picollo_double_summary"),
    ("BenchmarkResult", "picollo_benchmark_result"),
    ("BenchmarkCounter", "picollo_benchmark_counter"),
    ("Error", "picollo_error"),
    ("Event", "picollo_event"),
    ("PerfInfo", "picollo_perf_info"),
    ("Reading", "picollo_reading"),
    ("EventInfo", "picollo_event_info"),
];

/// What the documentation of other packages calls things, and what C does.
const WORDS: &[(&str, &str)] = &[
    ("[`SUMMARY_APPROXIMATE`]", "PICOLLO_SUMMARY_APPROXIMATE"),
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
    ("The number of its [`Status`]", "What the call returned"),
    ("[`COMPARISON_TOO_FEW`] and its siblings", "PICOLLO_COMPARISON_..."),
    ("A [`Verdict`] code", "PICOLLO_VERDICT_..."),
    ("see [`Snapshot::quantile_interval`]", "see picollo_snapshot_quantile_interval"),
    ("See [`Snapshot::compare`]", "See picollo_compare"),
    ("`u64::MAX`", "UINT64_MAX"),
    ("`u32::MAX`", "UINT32_MAX"),
    ("`i32::MIN`", "INT32_MIN"),
    ("`", ""),
];

struct Section {
    module: &'static str,
    structs: &'static [(&'static str, &'static str, &'static str)],
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
    config.export.rename = NAMES.iter().map(|&(rust, c)| (rust.to_string(), c.to_string())).collect();
    config
}

/// The definition of a struct, with its documentation, cut out of a file that as a whole is too much for cbindgen.
fn definition(file: &str, name: &str) -> String {
    let lines: Vec<&str> = file.lines().collect();
    let at = lines.iter().position(|line| line.starts_with(&format!("pub struct {name} {{")));
    let at = at.unwrap_or_else(|| panic!("no struct {name}"));
    let belongs = |line: &&str| line.starts_with("///") || line.starts_with("#[");
    let first = at - lines[..at].iter().rev().take_while(|line| belongs(line)).count();
    let length = lines[first..].iter().position(|line| *line == "}").expect("an end");
    lines[first..=first + length].join("\n") + "\n"
}

fn section(section: &Section) -> String {
    let module = read(&source("ffi", section.module));
    let structs = section.structs.iter();
    let mut code: String =
        structs.map(|(package, file, name)| definition(&read(&source(package, file)), name)).collect();
    // What can be asked for comes first, where it has a file of its own.
    let options = source("ffi", &format!("{}_options", section.module));
    let files = [options.exists().then(|| read(&options)), Some(module.clone())];
    for line in files.iter().flatten().flat_map(|file| file.lines()).filter(|line| !line.starts_with("//!")) {
        writeln!(code, "{line}").unwrap();
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(section.module).with_extension("rs");
    std::fs::write(&path, &code).unwrap();
    let mut config = config();
    config.export.include = section.structs.iter().map(|(_, _, name)| name.to_string()).collect();
    // Also those that no function of this section uses.
    let own = code.lines().filter_map(|line| line.strip_prefix("pub struct picollo_")?.split(' ').next());
    config.export.include.extend(own.map(|name| format!("picollo_{name}")));
    let bindings = Builder::new().with_config(config).with_src(&path).generate();
    let bindings = bindings.unwrap_or_else(|error| panic!("{}: {error}", section.module));
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = tidy(&String::from_utf8(text).unwrap());
    format!("{}\n{}\n", introduction(&module, &format!(" {}", "-".repeat(106))), text.trim())
}

/// What cbindgen writes, made shorter to read.
fn tidy(text: &str) -> String {
    let mut tidied: Vec<String> = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let indent = &line[..line.len() - line.trim_start().len()];
        if line.trim() == "/**" {
            let mut comment = Vec::new();
            while let Some(line) = lines.next_if(|line| line.trim() != "*/") {
                comment.push(line.trim().trim_start_matches('*').trim_end());
            }
            lines.next();
            // Comments on one line where they fit.
            match comment[..] {
                [only] => tidied.push(format!("{indent}/**{only} */")),
                _ => {
                    tidied.push(line.to_string());
                    tidied.extend(comment.iter().map(|line| format!("{indent} *{line}")));
                    tidied.push(format!("{indent} */"));
                }
            }
            continue;
        }
        let line = match line.strip_prefix("#define ").and_then(|define| define.split_once(" -")) {
            Some((name, number)) => format!("#define {name} (-{number})"),
            None if line.contains("typedef") => line.to_string(),
            None => line.replace("struct picollo_", "picollo_"),
        };
        tidied.push(line);
    }
    // Constants stand close together: no blank line between one and the next, unless their comments are long.
    let mut text = String::new();
    for (at, line) in tidied.iter().enumerate() {
        let next = tidied.get(at + 1).map_or("", |line| line.as_str());
        let is_define = |at: usize| tidied.get(at).is_some_and(|line| line.starts_with("#define "));
        let between = at > 0 && is_define(at - 1) && next.ends_with(" */") && is_define(at + 2);
        if line.is_empty() && (next.is_empty() || between) {
            continue;
        }
        text += line;
        text += "\n";
    }
    text
}

/// The header as it should be. Made once: the tests run at the same time, and files are written on the way.
fn generated() -> &'static str {
    static HEADER: OnceLock<String> = OnceLock::new();
    HEADER.get_or_init(generate)
}

fn generate() -> String {
    let opening = introduction(&read(&source("ffi", "lib")), "");
    let sections: Vec<String> = SECTIONS.iter().map(section).collect();
    let mut header = format!(
        "/* Generated from ffi/src by `PICOLLO_WRITE_HEADER=1 cargo test -p picollo-ffi`; change it there. */\n\
         {opening}\
         #ifndef PICOLLO_H\n#define PICOLLO_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n\
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

#[test]
fn every_function_is_a_page_of_the_manual() {
    let header = generated();
    let mut functions = 0;
    let mut comment = String::new();
    for line in header.lines() {
        if line.starts_with("/**") {
            comment.clear();
        }
        if line.starts_with("/**") || line.starts_with(" *") {
            comment += line;
            continue;
        }
        let Some((before, _)) = line.split_once('(').filter(|_| !line.starts_with(['#', ' ', '/'])) else {
            continue;
        };
        let name = before.split([' ', '*']).next_back().unwrap();
        assert!(name.starts_with("picollo_"), "{line}");
        functions += 1;
        let mut labels = vec!["Threads:", "Cost:", "Since:"];
        if !line.starts_with("void ") {
            labels.push("Returns:");
        }
        for label in labels {
            assert!(comment.contains(&format!(" * {label} ")), "{name} does not say {label}");
        }
        comment.clear();
    }
    assert!(functions > 50, "{functions}");
}

#[test]
fn the_header_is_fresh() {
    let path = root().join("include/picollo.h");
    let generated = generated();
    if std::env::var_os("PICOLLO_WRITE_HEADER").is_some_and(|value| value == "1") {
        std::fs::write(&path, generated).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = committed.lines().zip(generated.lines()).position(|(old, new)| old != new);
    assert!(
        committed == generated,
        "include/picollo.h is stale from line {} on: run PICOLLO_WRITE_HEADER=1 cargo test -p picollo-ffi",
        differs.map_or(committed.lines().count(), |line| line) + 1
    );
}
