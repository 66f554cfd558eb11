//! `include/picollo*.h` are generated from the documentation and the signatures in `src`: one header for each folder. Their
//! description, `ffi/picollo.abi.json`, is generated from the headers, and the files of other languages from the description
//! (`ffi/describe`).
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

/// Names in the documentation of other packages, and their names in C.
const WORDS: &[(&str, &str)] = &[
    ("A [`ValueSelection`] code", "PICOLLO_VALUE_..."),
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
    ("A [`Verdict`] code", "PICOLLO_VERDICT_..."),
    ("see [`quantile_interval`]", "see picollo_snapshot_quantile_interval"),
    ("See [`compare_snapshots`]", "See picollo_compare"),
    ("FIGURE_ flags", "PICOLLO_FIGURE_..."),
    ("`u64::MAX`", "UINT64_MAX"),
    ("`u32::MAX`", "UINT32_MAX"),
    ("`i32::MIN`", "INT32_MIN"),
    ("`", ""),
];

/// Constants of other packages: the module of their section, the first of several constants with a common prefix, or the enum or the
/// macro whose lines they are, and what their names begin with there and in C.
const CONSTANTS: &[(&str, &str, &str, &str)] = &[
    ("status", "statuses!", "", "ERR_"),
    ("snapshot", "enum ValueSelection", "", "VALUE_"),
    ("histogram", "enum Storage", "", "STORAGE_"),
    ("interchange", "enum Encoding", "", "ENCODING_"),
    ("comparison", "enum Verdict", "", "VERDICT_"),
    ("comparison", "COMPARISON_TOO_FEW", "COMPARISON_", "COMPARISON_"),
    ("figure", "FIGURE_FEW_SCOPES", "FIGURE_", "FIGURE_"),
    ("picture", "enum Theme", "", "THEME_"),
    ("picture", "enum Picture", "", "PICTURE_"),
    ("clock", "enum Clock", "", "CLOCK_"),
    ("clock", "enum TimeUnit", "", "UNIT_"),
    ("exemplar", "causes!", "", "CAUSE_"),
    ("exemplar", "KNOWN_ACCOUNTS", "KNOWN_", "KNOWN_"),
    ("exemplar", "missing!", "", "MISSING_"),
    ("exemplar", "EXEMPLARS_NO_RING", "EXEMPLARS_", "EXEMPLARS_"),
    ("event", "EVENT_USER", "EVENT_", "EVENT_"),
    ("session", "SESSION_PINNED", "SESSION_", "SESSION_"),
    ("session", "MAX_EVENTS", "MAX_EVENTS", "SESSION_MAX_EVENTS"),
    ("session", "enum ReadMode", "", "READ_"),
    ("session", "READING_FAST", "READING_", "READING_"),
    ("session", "EVENT_INFO_USER_ONLY", "EVENT_INFO_", "EVENT_INFO_"),
    ("benchmark", "enum Side", "", "BENCHMARK_"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A folder of `ffi/src`: its header, and the files of the header's sections.
struct Header {
    name: String,
    /// Its documentation is the head of the header.
    head: PathBuf,
    sections: Vec<PathBuf>,
}

/// The headers, `picollo.h` first. Each folder of `ffi/src` is a header, and `mod.rs` has its sections in their order. If it has none,
/// it is the only section itself.
fn headers() -> Vec<Header> {
    let sources = root().join("ffi/src");
    let folders = std::fs::read_dir(&sources).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    folders.sort_by_key(|folder| (!folder.ends_with("picollo"), folder.clone()));
    let header = |folder: &PathBuf| {
        let topic = folder.file_name().unwrap().to_str().unwrap();
        let head = folder.join("mod.rs");
        let text = read(&head);
        let modules = text.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'));
        // Options belong to the section that they are named after.
        let modules = modules.filter(|module| !module.ends_with("_options"));
        let mut sections: Vec<PathBuf> =
            modules.map(|module| folder.join(module).with_extension("rs")).collect();
        if sections.is_empty() {
            sections.push(head.clone());
        }
        let name = if topic == "picollo" { "picollo.h".to_string() } else { format!("picollo_{topic}.h") };
        Header { name, head, sections }
    };
    folders.iter().map(header).collect()
}

/// The module that a file holds.
fn module_of(path: &Path) -> &str {
    let path = if path.ends_with("mod.rs") { path.parent().unwrap() } else { path };
    path.file_stem().unwrap().to_str().unwrap()
}

/// All sources of the other packages that may define what C sees.
fn others() -> &'static [String] {
    static OTHERS: OnceLock<Vec<String>> = OnceLock::new();
    OTHERS.get_or_init(|| {
        let crates = std::fs::read_dir(root().join("crates")).into_iter().flatten();
        let crates = crates.map(|package| package.unwrap().path());
        let mut folders: Vec<PathBuf> =
            [root().join("core"), root().join("native")].into_iter().chain(crates).collect();
        folders.iter_mut().for_each(|package| package.push("src"));
        let mut texts = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).into_iter().flatten() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    texts.push(read(&path));
                }
            }
        }
        texts
    })
}

/// The only source of another package that has these lines.
fn only(lines: &str) -> &'static str {
    let mut found = others().iter().filter(|text| text.contains(lines));
    let text = found.next().unwrap_or_else(|| panic!("no package has {lines:?}"));
    assert!(found.next().is_none(), "more than one package has {lines:?}");
    text
}

/// The structs that a module takes from other packages: their names there and in C.
fn taken(module: &str) -> Vec<(String, String)> {
    let uses = module.split("\npub use ").skip(1).map(|rest| rest.split_once(';').unwrap().0);
    let names = uses.flat_map(|list| list.split(['{', ',', '}']));
    let pairs = names.filter_map(|name| name.trim().rsplit("::").next().unwrap().split_once(" as "));
    pairs
        .filter(|(_, c)| c.starts_with("picollo_"))
        .map(|(rust, c)| (rust.to_string(), c.to_string()))
        .collect()
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
    config.export.rename =
        headers().iter().flat_map(|header| &header.sections).flat_map(|path| taken(&read(path))).collect();
    config
}

/// The definition of a struct of another package with its documentation, cut out of a file that cbindgen cannot read as a whole.
fn definition(name: &str) -> String {
    // Other packages may have the name for something else, but only this one is made for C.
    let lines: Vec<&str> = only(&format!("#[repr(C)]\npub struct {name} {{\n")).lines().collect();
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

/// Constants whose names begin with `rust`, or the variants of an enum, as constants of C with their documentation.
fn constants(what: &str, rust: &str, prefix: &str) -> String {
    let is_enum = rust.is_empty();
    let begin = format!("{what} {{\n");
    let file = match what.split_once(' ') {
        // Enums of other packages may have the same name, but only this one is made for C.
        Some(_) => only(&format!("#[repr(u32)]\npub {begin}")),
        None if is_enum => only(&format!("\n{begin}")),
        None => only(&format!("\npub const {what}: ")),
    };
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
            false => line.strip_prefix("pub const ").and_then(|line| line.strip_prefix(rust)).map(|line| {
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

/// A line of code. If it is a constant with the number of another package's constant or variant, it gets that number, which cbindgen cannot
/// know.
fn with_number(line: &str) -> String {
    let Some((begin, value)) = line.strip_suffix(';').and_then(|line| line.split_once(" = ")) else {
        return line.into();
    };
    let name = value.rsplit("::").next().unwrap();
    let is_constant = name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.starts_with("PICOLLO_");
    if !begin.starts_with("pub const PICOLLO_") || !is_constant {
        return line.into();
    }
    let number = match value.strip_suffix(" as u32").and_then(|path| path.split_once("::")) {
        Some((of, variant)) => {
            let file = only(&format!("#[repr(u32)]\npub enum {of} {{\n"));
            let (_, body) = file.split_once(&format!("pub enum {of} {{\n")).unwrap();
            let (_, rest) =
                body.split_once(&format!("    {variant} = ")).unwrap_or_else(|| panic!("no {value}"));
            rest.split_once(',').unwrap().0
        }
        None => {
            let declared = format!("pub const {name}: ");
            let (_, rest) = only(&declared).split_once(&declared).unwrap();
            rest.split_once(';').unwrap().0.split_once(" = ").unwrap().1
        }
    };
    // A shift would be a flag.
    match number.split_once(" << ").map(|(number, shift)| (number.parse::<u64>(), shift.parse::<u32>())) {
        Some((Ok(number), Ok(shift))) => format!("{begin} = {};", number << shift),
        _ => format!("{begin} = {number};"),
    }
}

/// The usual ranks of percentiles: an array of another package, as an initializer of C.
fn default_ranks() -> String {
    let begin = "\npub const SUMMARY_RANKS: [f64; ";
    let (_, declared) = only(begin).split_once(begin).unwrap();
    let (length, rest) = declared.split_once("] =").unwrap();
    let (list, _) = rest.trim_start().strip_prefix('[').unwrap().split_once("];").unwrap();
    let numbers =
        list.split(',').map(|number| number.trim().trim_end_matches(".0")).filter(|text| !text.is_empty());
    let numbers: Vec<&str> = numbers.collect();
    assert_eq!(numbers.len().to_string(), length);
    format!(
        "/** The usual ranks of percentiles, ascending: an initializer for an array of double. */\n\
         #define PICOLLO_DEFAULT_RANKS {{{}}}\n\
         /** Number of PICOLLO_DEFAULT_RANKS. */\n\
         #define PICOLLO_DEFAULT_RANKS_LENGTH {length}\n\n",
        numbers.join(", ")
    )
}

/// The declarations of a section, with the introduction of its module if the header has several.
fn section(path: &Path) -> String {
    let (section, module) = (module_of(path), read(path));
    let own = CONSTANTS.iter().filter(|(of, ..)| *of == section);
    let constants = own.map(|&(_, what, rust, prefix)| {
        let code = constants(what, rust, prefix);
        assert!(!code.is_empty(), "no {what}");
        code
    });
    let constants: String = constants.collect();
    // Codes that are not errors come before the errors.
    let (mut code, last) =
        if section == "status" { ("".to_string(), constants) } else { (constants, "".to_string()) };
    let structs = taken(&module);
    code.extend(structs.iter().map(|(name, _)| definition(name)));
    // Options come first, if they have a separate file.
    let options = path.with_file_name(format!("{section}_options.rs"));
    let files = [options.exists().then(|| read(&options)), Some(module.clone())];
    for line in files.iter().flatten().flat_map(|file| file.lines()).filter(|line| !line.starts_with("//!")) {
        writeln!(code, "{}", with_number(line)).unwrap();
    }
    code += &last;
    // The expansion of the macro for functions (guard.rs).
    code = code
        .replace("exported! { explained(error)\n", "")
        .replace("exported! {\n", "")
        .replace("\n}\n}\n", "\n}\n");
    code = code.replace("\nfn picollo_", "\n#[unsafe(no_mangle)]\npub unsafe extern \"C\" fn picollo_");
    let copy = Path::new(env!("CARGO_TARGET_TMPDIR")).join(section).with_extension("rs");
    std::fs::write(&copy, &code).unwrap();
    let mut config = config();
    config.export.include = structs.into_iter().map(|(name, _)| name).collect();
    // Also those that no function of this section uses.
    let own =
        code.lines().filter_map(|line| line.strip_prefix("pub struct picollo_")?.split([' ', '(']).next());
    config.export.include.extend(own.map(|name| format!("picollo_{name}")));
    let bindings = Builder::new().with_config(config).with_src(&copy).generate();
    let bindings = bindings.unwrap_or_else(|error| panic!("{section}: {error}"));
    let mut text = Vec::new();
    bindings.write(&mut text);
    let text = tidy(&String::from_utf8(text).unwrap());
    let text = with_initialisers(text.trim());
    let text = if section == "summary" { default_ranks() + &text } else { text };
    if path.ends_with("mod.rs") {
        return format!("{}\n", text.trim());
    }
    let introduction = introduction(&module, &format!(" {}", "-".repeat(106)));
    // A section may have only an introduction.
    if text.trim().is_empty() { introduction } else { format!("{introduction}\n{}\n", text.trim()) }
}

/// The headers as generated, with their names. Made once, because the tests run at the same time and files are written on the way.
fn generated() -> &'static [(String, String)] {
    static HEADERS: OnceLock<Vec<(String, String)>> = OnceLock::new();
    HEADERS.get_or_init(generate)
}

/// The words of the code, without comments.
fn words(code: &str) -> impl Iterator<Item = &str> {
    let lines = code.lines().filter(|line| !line.trim_start().starts_with(['/', '*']));
    lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'))
}

fn generate() -> Vec<(String, String)> {
    let headers = headers();
    let bodies: Vec<String> = headers
        .iter()
        .map(|header| header.sections.iter().map(|path| section(path)).collect::<Vec<_>>().join("\n"))
        .collect();
    let declares = |body: &str, word: &str| {
        body.contains(&format!("\n}} {word};")) || body.contains(&format!("typedef struct {word} {word};"))
    };
    let mut files: Vec<(String, String)> = Vec::new();
    for (header, body) in headers.iter().zip(&bodies) {
        let includes = headers.iter().zip(&bodies).filter(|(other, others)| {
            let uses = || words(body).any(|word| word.starts_with("picollo_") && declares(others, word));
            other.name != header.name && (other.name == "picollo.h" || uses())
        });
        let includes: String = match header.name.as_str() {
            "picollo.h" => format!("#include <stddef.h>\n#include <stdint.h>\n\n{NODISCARD}"),
            _ => includes.map(|(other, _)| format!("#include \"{}\"\n", other.name)).collect(),
        };
        files.push((
            header.name.clone(),
            framed(&header.name, &introduction(&read(&header.head), ""), &includes, body),
        ));
    }
    let all: String = files.iter().map(|(name, _)| format!("#include \"{name}\"\n")).collect();
    let about = "/*\n * Picollo: all headers.\n */\n";
    files.push((
        "picollo_all.h".to_string(),
        framed("picollo_all.h", about, &(all + "#include \"picollo_inline.h\"\n"), ""),
    ));
    for (_, text) in &mut files {
        for (rust, c) in WORDS {
            *text = text.replace(rust, c);
        }
    }
    files
}

/// A header with its guard.
fn framed(name: &str, head: &str, includes: &str, body: &str) -> String {
    let guard = name.to_uppercase().replace('.', "_");
    let body = match body {
        "" => String::new(),
        _ => format!(
            "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{body}\n#ifdef __cplusplus\n}}\n#endif\n\n"
        ),
    };
    format!(
        "/* Generated from ffi/src by ci/describe.sh; change it there. */\n{head}\
         #ifndef {guard}\n#define {guard}\n\n{includes}\n{body}#endif /* {guard} */\n"
    )
}

#[test]
fn the_headers_speak_c() {
    for (name, header) in generated() {
        for (at, line) in header.lines().enumerate() {
            for rust in ["::", "[`", "`]", "u64", "usize", "&mut", "Some(", "None"] {
                let c = line.replace("uint64", "");
                assert!(!c.contains(rust), "{name}, line {}: {line}", at + 1);
            }
        }
    }
}

fn is_to_write() -> bool {
    std::env::var_os("PICOLLO_WRITE_HEADER").is_some_and(|value| value == "1")
}

#[test]
fn the_headers_and_their_description_are_fresh() {
    for (name, generated) in generated() {
        let path = root().join("include").join(name);
        if is_to_write() {
            std::fs::write(&path, generated).unwrap();
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let differs = committed.lines().zip(generated.lines()).position(|(old, new)| old != new);
        assert!(
            committed == *generated,
            "{} is stale from line {} on: run ci/describe.sh",
            path.display(),
            differs.map_or(committed.lines().count(), |line| line) + 1
        );
    }
    // The generators read the headers, so they must be fresh.
    all_that_follows();
}

/// Writes, or compares, the files made from the header: its description, and the declarations for Rust, Python and C#.
fn all_that_follows() {
    let mut generate = Command::new("python3");
    generate.arg(root().join("ffi/describe/generate.py"));
    if !is_to_write() {
        generate.arg("--check");
    }
    match generate.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{said}");
        }
        Err(error) if is_to_write() => panic!("ffi/describe/generate.py needs Python: {error}"),
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
