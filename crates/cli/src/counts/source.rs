//! Counts by function of the source: an inlined function has its own lines, wherever the compiler put them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::time::SystemTime;

use addr2line::{Loader, demangle_auto};

use super::callgrind::{Profile, Symbol};
use crate::table::printable;

/// A file, a line in it, and its text, which is empty if the file may not be the one that was compiled.
pub(super) type Line = (String, u64, Rc<str>);

/// One function of the source.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Function {
    pub(super) lines: BTreeMap<Line, u64>,
    pub(super) inlined_into: BTreeSet<String>,
}

impl Function {
    pub(super) fn cost(&self) -> u64 {
        self.lines.values().sum()
    }
}

/// One run of a program.
#[derive(Clone, Default, PartialEq, Debug)]
pub(super) struct Source {
    pub(super) functions: BTreeMap<String, Function>,
    /// By caller and callee: the number of calls, and what was executed below.
    pub(super) calls: BTreeMap<(String, String), (u64, u64)>,
    /// From the object to the line, joined by semicolons, as flame graphs have them.
    pub(super) stacks: BTreeMap<String, u64>,
    pub(super) processes: usize,
}

impl Source {
    pub(super) fn total(&self) -> u64 {
        self.functions.values().map(Function::cost).sum()
    }

    /// Whether it has several processes or threads, whose order is left to chance.
    pub(super) fn is_parallel(&self) -> bool {
        let starts = ["pthread_create", "threading.Thread.start"];
        self.processes > 1 || self.calls.keys().any(|(_, to)| starts.iter().any(|start| to.contains(start)))
    }

    /// The counts of a run of this program that began at that time.
    pub(super) fn from_profile(
        profile: &Profile,
        program: &str,
        began: SystemTime,
        processes: usize,
    ) -> Source {
        let mut source = Source { processes, ..Source::default() };
        let (mut symbols, mut texts) = (HashMap::new(), Texts::default());
        for (place, &cost) in &profile.cells {
            let object = called(&place.object, program);
            let symbol = label(object, &place.symbol);
            // A file that was rewritten since then may be another program. The run is over, so nothing rewrites a file that is mapped now.
            let known = symbols.entry(&place.object).or_insert_with(|| {
                let built = changed(&place.object).filter(|&built| built < began)?;
                Some((Loader::new(Path::new(&*place.object)).ok(), built))
            });
            let loader = known.as_ref().and_then(|(loader, _)| loader.as_ref());
            let frames = loader.map_or(Vec::new(), |loader| frames(loader, place.address));
            // Lines of the compiler's library move between functions that they are inlined into from build to build: the innermost
            // function of the project has them.
            let own =
                frames.iter().position(|frame| !is_foreign(&frame.file)).or(frames.len().checked_sub(1));
            let (file, line) =
                own.map_or((&*place.file, place.line), |at| (frames[at].file.as_str(), frames[at].line));
            let name = match own {
                Some(at) if at + 1 < frames.len() => frames[at].function.clone(),
                _ => symbol.clone(),
            };
            let mut stack = vec![object.to_owned(), symbol.clone()];
            let inlined = own.map_or(0..0, |at| at..frames.len().saturating_sub(1));
            stack.extend(frames[inlined].iter().rev().map(|frame| frame.function.clone()));
            stack.extend((line > 0).then(|| format!("{}:{line}", short(file))));
            let stack: Vec<String> = stack.iter().map(|name| printable(name).replace(';', ":")).collect();
            *source.stacks.entry(stack.join(";")).or_default() += cost;
            let text = texts.line(file, line, known.as_ref().map(|&(_, built)| built));
            let function = source.functions.entry(name.clone()).or_default();
            *function.lines.entry((file.to_owned(), line, text)).or_default() += cost;
            if name != symbol {
                function.inlined_into.insert(symbol);
            }
        }
        let name = |symbol: &Symbol| label(called(&symbol.0, program), &symbol.1);
        for ((caller, callee), &(calls, below)) in &profile.calls {
            let arc = source.calls.entry((name(caller), name(callee))).or_default();
            *arc = (arc.0 + calls, arc.1.saturating_add(below));
        }
        source
    }

    /// The same, with new names for some functions.
    pub(super) fn with_names(&self, names: &BTreeMap<String, String>) -> Source {
        let name = |name: &String| names.get(name).unwrap_or(name).clone();
        let function = |of: &Function| Function {
            lines: of.lines.clone(),
            inlined_into: of.inlined_into.iter().map(name).collect(),
        };
        let functions = self.functions.iter().map(|(old, of)| (name(old), function(of))).collect();
        let calls = self.calls.iter().map(|((from, to), of)| ((name(from), name(to)), *of)).collect();
        Source { functions, calls, stacks: BTreeMap::new(), processes: self.processes }
    }

    /// How often each function was called.
    pub(super) fn called(&self) -> BTreeMap<&str, u64> {
        let mut called = BTreeMap::new();
        for ((_, callee), (calls, _)) in &self.calls {
            *called.entry(callee.as_str()).or_default() += calls;
        }
        called
    }
}

/// Lines of files.
#[derive(Default)]
struct Texts(HashMap<String, Vec<Rc<str>>>);

impl Texts {
    /// A line of a file that has not changed since then.
    fn line(&mut self, file: &str, line: u64, since: Option<SystemTime>) -> Rc<str> {
        let lines = self.0.entry(file.to_owned()).or_insert_with(|| {
            let text = changed(file).filter(|&last| Some(last) <= since).and_then(|_| fs::read(file).ok());
            String::from_utf8_lossy(&text.unwrap_or_default())
                .lines()
                .map(|line| line.trim().into())
                .collect()
        });
        lines.get((line as usize).wrapping_sub(1)).cloned().unwrap_or_default()
    }
}

/// When a file was last written.
fn changed(file: &str) -> Option<SystemTime> {
    fs::metadata(file).and_then(|about| about.modified()).ok()
}

struct Frame {
    function: String,
    file: String,
    line: u64,
}

/// The functions that an address belongs to, from the innermost inlined one on. Nothing without debug information.
fn frames(loader: &Loader, address: u64) -> Vec<Frame> {
    let mut found = Vec::new();
    let Ok(mut frames) = loader.find_frames(address) else { return found };
    while let Ok(Some(frame)) = frames.next() {
        let function = frame.function.as_ref().and_then(|name| Some(plain(&name.raw_name().ok()?)));
        let location = frame.location.and_then(|at| Some((at.file?.to_owned(), u64::from(at.line?))));
        if let (Some(function), Some((file, line))) = (function, location) {
            found.push(Frame { function, file, line });
        }
    }
    found
}

/// The last part of a path.
fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// What an object is called. The program itself has one name, whatever its file is called.
fn called<'a>(object: &'a str, program: &str) -> &'a str {
    if object == program { "program" } else { base(object) }
}

/// The last two parts of a path.
pub(super) fn short(path: &str) -> String {
    let parts: Vec<&str> = path.rsplit('/').filter(|part| !part.is_empty() && *part != ".").take(2).collect();
    parts.into_iter().rev().collect::<Vec<_>>().join("/")
}

/// Whether this is part of a compiler's or the system's library.
fn is_foreign(file: &str) -> bool {
    ["/rustc/", "/rust/deps/", "/usr/include/", "/usr/lib/"].iter().any(|start| file.starts_with(start))
        || file.contains("/rustlib/")
}

/// What a function is called: functions of libraries with the library.
fn label(object: &str, symbol: &str) -> String {
    let name = plain(symbol);
    let is_nameless = name.is_empty() || name.starts_with("0x") || name.starts_with("???");
    let version = object.rsplit_once(".so").map(|(_, version)| version);
    match object {
        "" | "???" if is_nameless => "[code without a file]".into(),
        _ if is_nameless => format!("[{object}, no symbols]"),
        _ if version.is_some_and(|of| of.chars().all(|c| c == '.' || c.is_ascii_digit())) => {
            format!("[{object}] {name}")
        }
        _ => name,
    }
}

/// A symbol as the source has it, without what compilers add to it, which differs from build to build.
fn plain(symbol: &str) -> String {
    const ADDED: [&str; 8] = ["constprop", "part", "isra", "cold", "lto_priv", "llvm", "localalias", "clone"];
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Versions of symbols come behind an @.
    let mut name = symbol.split("@@").next().unwrap_or(symbol);
    // Recursion, as Callgrind marks it.
    name = name.rsplit_once('\'').filter(|(_, level)| is_number(level)).map_or(name, |(name, _)| name);
    while let Some((rest, end)) = name.rsplit_once('.') {
        if rest.is_empty() || !(is_number(end) || ADDED.contains(&end)) {
            break;
        }
        name = rest;
    }
    // Names of C may look like mangled types.
    let is_mangled = name.starts_with("_Z") || name.starts_with("_R");
    if is_mangled { demangle_auto(name.into(), None).into_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_each_build() {
        for (symbol, name) in [
            ("f", "f"),
            ("f'2", "f"),
            ("f.constprop.0", "f"),
            ("f.part.0.isra.1", "f"),
            ("f.llvm.123456789", "f"),
            ("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"),
            ("_RINvCs9ltgdHTiPiY_1a1fhE", "a::f::<u8>"),
            ("_Z1fi.constprop.0", "f(int)"),
            ("_ZN1a1f17h0123456789abcdefE.llvm.123456789", "a::f"),
            ("shop.part()", "shop.part()"),
            ("operator[](int)", "operator[](int)"),
            (".text", ".text"),
            ("<[u8]>::len", "<[u8]>::len"),
            ("a::helper", "a::helper"),
            ("qsort@@GLIBC_2.2.5", "qsort"),
            ("", ""),
        ] {
            assert_eq!(plain(symbol), name);
        }
        for (object, symbol, name) in [
            ("libc.so.6", "malloc", "[libc.so.6] malloc"),
            ("plugin.so", "f", "[plugin.so] f"),
            ("my.solver", "f", "f"),
            ("program", "0x0000000000001040", "[program, no symbols]"),
            ("???", "???", "[code without a file]"),
        ] {
            assert_eq!(label(object, symbol), name);
        }
        assert_eq!(short("/a/b/./c.rs"), "b/c.rs");
    }
}
