//! `include/picollo.h` is generated from the documentation and the signatures in `src`; from the header follows its
//! description, `ffi/picollo.abi.json`, and from that what other languages are told (`ci/describe`).
//!
//! The tests fail when a committed file differs from what would be generated. To write all of them anew: `ci/describe.sh`, which
//! is `PICOLLO_WRITE_HEADER=1 cargo test -p picollo-ffi --test header`.

#[path = "header/c.rs"]
mod c;
#[path = "header/description.rs"]
mod description;
#[path = "header/layout.rs"]
mod layout;
#[path = "header/manual.rs"]
mod manual;
#[path = "header/rust.rs"]
mod rust;
#[path = "header/text.rs"]
mod text;
#[path = "header/witness.rs"]
mod witness;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use c::{Item, Kind};
use cbindgen::{Builder, Config, DocumentationLength, DocumentationStyle, ItemType, Language, Style};
use text::{NODISCARD, tidy, with_initialisers};

/// One section of the header per concept: the module whose documentation introduces it and whose items it holds, other
/// files that define its structs, and those structs, by their names in Rust.
const SECTIONS: &[Section] = &[
    Section { module: "version", structs: &[] },
    Section { module: "status", structs: &[("native", "base/error", "Error")] },
    Section { module: "handles", structs: &[] },
    Section { module: "histogram", structs: &[] },
    Section { module: "recorder", structs: &[] },
    Section { module: "array", structs: &[] },
    Section {
        module: "snapshot",
        structs: &[
            ("core", "layout/bucket", "Bucket"),
            ("core", "statistics/summary", "Percentile"),
            ("core", "snapshot/snapshot", "Counts"),
        ],
    },
    Section { module: "mapping", structs: &[] },
    Section { module: "steps", structs: &[("core", "statistics/steps", "Step")] },
    Section { module: "interpolate", structs: &[] },
    Section { module: "merge", structs: &[("core", "snapshot/merge", "Merged")] },
    Section { module: "summary", structs: &[("core", "statistics/summary", "Summary")] },
    Section { module: "text", structs: &[] },
    Section { module: "interchange", structs: &[] },
    Section { module: "log", structs: &[] },
    Section {
        module: "compare",
        structs: &[
            ("core", "statistics/compare/quantile", "QuantileInterval"),
            ("core", "statistics/compare/mod", "Comparison"),
            ("core", "statistics/compare/blocks", "BlockComparison"),
            ("core", "statistics/compare/runs", "RunComparison"),
        ],
    },
    Section { module: "figure", structs: &[("core", "figures/interval", "FigureEstimate")] },
    Section { module: "picture", structs: &[] },
    Section { module: "double_histogram", structs: &[("core", "doubles/snapshot", "DoubleStatistics")] },
    Section {
        module: "double_snapshot",
        structs: &[
            ("core", "doubles/layout", "DoubleBucket"),
            ("core", "doubles/summary", "DoublePercentile"),
            ("core", "doubles/summary", "DoubleSummary"),
        ],
    },
    Section { module: "registry", structs: &[] },
    Section { module: "metric", structs: &[] },
    Section { module: "metric_exemplar", structs: &[] },
    Section { module: "otlp_export", structs: &[] },
    Section { module: "counter", structs: &[] },
    Section { module: "striped_counter", structs: &[] },
    Section { module: "segment", structs: &[] },
    Section { module: "viewer", structs: &[] },
    Section { module: "clock", structs: &[] },
    Section { module: "exemplar", structs: &[] },
    Section { module: "exemplars", structs: &[] },
    Section {
        module: "event",
        structs: &[("native", "event/event", "Event"), ("native", "machine/perf_info", "PerfInfo")],
    },
    Section {
        module: "session",
        structs: &[("native", "session/reading", "Reading"), ("native", "event/info", "EventInfo")],
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
    ("FigureEstimate", "picollo_figure_estimate"),
    ("Bucket", "picollo_bucket"),
    ("Percentile", "picollo_percentile"),
    ("Counts", "picollo_counts"),
    ("Step", "picollo_step"),
    ("Merged", "picollo_merged"),
    ("Summary", "picollo_summary"),
    ("QuantileInterval", "picollo_quantile_interval"),
    ("Comparison", "picollo_comparison"),
    ("BlockComparison", "picollo_block_comparison"),
    ("RunComparison", "picollo_run_comparison"),
    ("DoubleStatistics", "picollo_double_statistics"),
    ("DoubleBucket", "picollo_double_bucket"),
    ("DoublePercentile", "picollo_double_percentile"),
    ("DoubleSummary", "picollo_double_summary"),
    ("BenchmarkResult", "picollo_benchmark_outcome"),
    ("BenchmarkCounter", "picollo_benchmark_counts"),
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
    ("FIGURE_ flags", "PICOLLO_FIGURE_..."),
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
    let text = with_initialisers(text.trim());
    format!("{}\n{}\n", introduction(&module, &format!(" {}", "-".repeat(106))), text.trim())
}

/// The header without what is no declaration.
fn declarations() -> String {
    let lines = generated().replacen(NODISCARD, "", 1).replace("PICOLLO_NODISCARD\n", "");
    assert!(!lines.contains("NODISCARD"));
    lines
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

/// What the header declares.
fn items() -> &'static [Item] {
    static ITEMS: OnceLock<Vec<Item>> = OnceLock::new();
    ITEMS.get_or_init(|| c::parse(&declarations()))
}

/// The definition in Rust of a struct, by its name in C.
fn definition_of(name: &str) -> String {
    let rust = NAMES.iter().find(|(_, c)| *c == name).map(|(rust, _)| *rust);
    let mut structs = SECTIONS.iter().flat_map(|section| section.structs);
    if let Some((package, file, rust)) = structs.find(|(_, _, own)| Some(*own) == rust) {
        return definition(&read(&source(package, file)), rust);
    }
    let modules =
        SECTIONS.iter().flat_map(|section| [section.module.into(), format!("{}_options", section.module)]);
    let mut files =
        modules.map(|module| source("ffi", &module)).filter(|path| path.exists()).map(|path| read(&path));
    let file = files.find(|file| file.contains(&format!("pub struct {name} {{")));
    definition(&file.unwrap_or_else(|| panic!("no section defines {name}")), name)
}

fn sections() -> Vec<&'static str> {
    SECTIONS.iter().map(|section| section.module).collect()
}

#[test]
fn every_function_is_a_page_of_the_manual() {
    let mut functions = 0;
    for item in items() {
        let Kind::Function(result, _) = &item.kind else { continue };
        assert!(item.name.starts_with("picollo_"), "{}", item.name);
        functions += 1;
        for label in manual::LABELS {
            let wanted = match label {
                "Returns" => result.base != "void" || !result.pointers.is_empty(),
                "Requires" | "Ownership" => false,
                _ => true,
            };
            let says = manual::labelled(&item.comment, label).is_some();
            assert!(says || !wanted, "{} does not say {label}", item.name);
        }
    }
    assert!(functions > 50, "{functions}");
}

#[test]
fn options_can_be_initialised_and_statuses_are_not_to_be_passed_over() {
    for item in items() {
        match &item.kind {
            Kind::Struct(fields) if fields[0].name == "struct_size" => {
                let name = format!("{}_INIT", item.name.to_uppercase());
                assert!(
                    items().iter().any(|item| item.name == name && matches!(item.kind, Kind::Initialiser)),
                    "{name}"
                );
            }
            Kind::Function(result, _) => {
                let marked =
                    generated().contains(&format!("PICOLLO_NODISCARD\n{} {}(", result.base, item.name));
                assert_eq!(marked, result.base == "picollo_status", "{}", item.name);
            }
            _ => {}
        }
    }
}

#[test]
fn the_parser_leaves_nothing_out() {
    let header = declarations();
    let names: Vec<&str> = items().iter().map(|item| item.name.as_str()).collect();
    for line in header.lines().filter(|line| !line.starts_with([' ', '/', '}'])) {
        let declares =
            |name: &str| name.starts_with("picollo_") || name.starts_with("PICOLLO_") && name != "PICOLLO_H";
        let words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| declares(word));
        for word in words {
            assert!(names.contains(&word), "{word} is missing from the description: {line}");
        }
    }
    // One declaration a line, but for the parameters of functions, which are indented.
    let begins = |start: &str| header.lines().filter(|line| line.starts_with(start)).count();
    let count = |of: fn(&Kind) -> bool| items().iter().filter(|item| of(&item.kind)).count();
    let is_macro = |kind: &Kind| matches!(kind, Kind::Constant(_) | Kind::Initialiser);
    assert_eq!(count(is_macro), begins("#define PICOLLO_") - 1);
    assert_eq!(count(|kind| matches!(kind, Kind::Struct(_))), begins("} picollo_"));
    let functions = header.lines().filter(|line| !line.starts_with([' ', '/', '#']) && line.contains('('));
    assert_eq!(count(|kind| matches!(kind, Kind::Function(..))), functions.count());
}

/// What is generated here, and where it is committed.
fn files() -> [(&'static str, String); 3] {
    let layouts = rust::layouts(items(), &root().join("ffi/src"), definition_of);
    [
        ("include/picollo.h", generated().to_string()),
        ("ffi/picollo.abi.json", description::describe(items(), &sections())),
        ("ffi/src/layout.rs", layouts),
    ]
}

fn is_to_write() -> bool {
    std::env::var_os("PICOLLO_WRITE_HEADER").is_some_and(|value| value == "1")
}

#[test]
fn the_header_and_its_description_are_fresh() {
    for (file, generated) in files() {
        let path = root().join(file);
        if is_to_write() {
            std::fs::write(&path, generated).unwrap();
            continue;
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = committed.lines().zip(generated.lines()).position(|(old, new)| old != new);
        assert!(
            committed == generated,
            "{file} is stale from line {} on: run ci/describe.sh",
            differs.map_or(committed.lines().count(), |line| line) + 1
        );
    }
    // Only now is the description what the generators of the other languages should read.
    other_languages();
}

/// Writes, or compares, what Python and C# are told, and the list of exports.
fn other_languages() {
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
                format!("SKIPPED: whether the files of other languages are fresh, without Python: {error}\n")
                    .as_bytes(),
            );
        }
    }
}
