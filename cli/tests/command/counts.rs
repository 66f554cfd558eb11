//! Exact counts: `picollo compare --counts` and `--why`, and `picollo stat --counts`, of programs whose difference is planted.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// A directory of programs.
struct Programs(PathBuf);

impl Drop for Programs {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Programs {
    fn new(name: &str) -> Programs {
        let path = std::env::temp_dir().join(format!("picollo counts {name} {}", std::process::id()));
        fs::create_dir_all(path.join("moved")).unwrap();
        Programs(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The command that runs a program.
    fn compile(&self, compiler: &[&str], source: &str, name: &str) -> String {
        let program = self.0.join(name).to_str().unwrap().to_owned();
        let status =
            Command::new(compiler[0]).args(&compiler[1..]).args([source, "-o", &program]).status().unwrap();
        assert!(status.success(), "{compiler:?} {source}");
        format!("'{program}'")
    }
}

fn picollo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_picollo")).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = picollo(arguments);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn difference(a: &str, b: &str, runs: &str) -> Value {
    json(&["compare", "--counts", "--json", runs, a, b])
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn has(name: &Value, part: &str) -> bool {
    name.as_str().unwrap().contains(part)
}

/// Each @word@ stands for a piece that only the variant of that name has, and `@work@` for a name.
const C: &str = "#include <stdio.h>
static inline __attribute__((always_inline)) int tiny(int x) {
  @grows@
  __asm__ volatile(\"\" : \"+r\"(x)); return x * 7;
}
__attribute__((noinline)) int hash(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) { __asm__ volatile(\"\" : \"+r\"(s)); s += tiny(i); }
  @one@
  return s;
}
__attribute__((noinline)) int @name@(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += hash(100);
  return s;
}
int main(void) {
  int s = @name@(50);
  @call@
  return s == 1;
}
";
const CPP: &str = "#include <cstdio>
static inline __attribute__((always_inline)) int tiny(int x) {
  @grows@
  __asm__ volatile(\"\" : \"+r\"(x)); return x * 7;
}
template <class T> __attribute__((noinline)) T hash(T n) {
  T s = 0;
  for (T i = 0; i < n; i++) { __asm__ volatile(\"\" : \"+r\"(s)); s += tiny(i); }
  @one@
  return s;
}
namespace some { struct Thing { __attribute__((noinline)) int @name@(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += hash<int>(100);
  return s;
} }; }
int main() {
  int s = some::Thing().@name@(50);
  @call@
  @generic@
  return s == 1;
}
";
const RUST: &str = "use std::hint::black_box;
#[inline(always)]
fn tiny(x: u64) -> u64 {
    @grows@
    black_box(x) ^ 3
}
#[inline(never)]
fn hash<T: Into<u64> + Copy>(values: &[T]) -> u64 {
    let mut s = 0;
    for value in values { s ^= tiny((*value).into()); }
    @one@
    s
}
#[inline(never)]
fn @name@(n: u64) -> u64 {
    let values: Vec<u64> = (0..100).collect();
    (0..n).fold(0, |s, _| s ^ hash(black_box(&values)))
}
fn main() {
    let mut s = @name@(50);
    @call@
    @generic@
    s = black_box(s);
    std::process::exit((s == 1) as i32);
}
";
const PYTHON: &str = "def hash(n):
    s = 0
    for i in range(n):
        s ^= i
    @one@
    return s
def @name@(n):
    return sum(hash(100) for _ in range(n))
def main():
    s = @name@(50)
    @call@
    return s
main()
";

/// What variants of a source are called, and the pieces that they have.
type Variants<'a> = &'a [(&'a str, &'a str)];

/// A variant of a source, and the line of its difference.
fn variant(source: &str, name: &str, piece: &str) -> (String, u64) {
    let mark = format!("@{name}@");
    let line = source.lines().position(|line| line.contains(&mark)).map_or(0, |at| at as u64 + 1);
    let mut text =
        source.replace("@name@", if name == "name" { piece } else { "work" }).replace(&mark, piece);
    for other in ["grows", "one", "call", "generic"] {
        text = text.replace(&format!("@{other}@"), if source == PYTHON { "global x" } else { "" });
    }
    (text, line)
}

#[test]
fn planted_differences_are_found() {
    let programs = Programs::new("planted");
    let nop = "__asm__ volatile(\"nop\");";
    let c = [("one", nop), ("grows", nop), ("call", "s += hash(100);"), ("name", "otherwise")];
    let cpp = [c[0], c[1], ("call", "s += hash<int>(100);"), c[3], ("generic", "s += (int)hash<long>(100);")];
    let nop = "unsafe { std::arch::asm!(\"nop\", options(nomem, nostack, preserves_flags)) };";
    let rust = [
        ("one", nop),
        ("grows", nop),
        ("call", "s ^= hash(black_box(&[1u64; 100]));"),
        ("name", "otherwise"),
        ("generic", "s ^= hash(black_box(&[1u32; 100]));"),
    ];
    let python = [("one", "s += 1"), ("call", "s += hash(100)"), ("name", "otherwise")];
    let languages: [(&str, &str, &[&str], Variants); 5] = [
        ("a.c", C, &["cc", "-g", "-O2"], &c),
        ("a.cpp", CPP, &["c++", "-g", "-O2"], &cpp),
        ("a.rs", RUST, &["rustc", "-O", "-g"], &rust),
        ("a.rs", RUST, &["rustc", "-O", "-g", "-Clto=fat"], &rust),
        ("a.py", PYTHON, &[], &python),
    ];
    for (at, (file, source, compiler, variants)) in languages.into_iter().enumerate() {
        let make = |name: &str, text: &str| {
            let source = programs.write(file, text);
            match compiler {
                [] => format!("python3 '{}'", programs.write(&format!("{name}.py"), text)),
                _ => programs.compile(compiler, &source, &format!("{at}{name}")),
            }
        };
        let base = make("00000", &variant(source, "", "").0);
        for (number, (name, piece)) in variants.iter().enumerate() {
            let (text, line) = variant(source, name, piece);
            let found = difference(&base, &make(&format!("0000{}", number + 1), &text), "--runs=1");
            let parts = array(&found["parts"]);
            let sum = |values: &[Value]| {
                values.iter().map(|part| part["difference"].as_i64().unwrap()).sum::<i64>()
            };
            let who = format!("{compiler:?} {name}: {found:#}");
            assert_eq!(sum(parts), found["difference"].as_i64().unwrap(), "{who}");
            assert!(
                parts.iter().all(|part| sum(array(&part["lines"])) == part["difference"].as_i64().unwrap()),
                "{who}"
            );
            let part = |name: &str| parts.iter().find(|part| has(&part["function"], name));
            let is_line = |part: &Value, expected: i64| {
                array(&part["lines"]).iter().any(|of| of["b"]["line"] == line && of["difference"] == expected)
            };
            match *name {
                "one" => {
                    let part = part("hash").unwrap_or_else(|| panic!("{who}"));
                    assert!(is_line(part, 50), "{who}");
                }
                "grows" => {
                    let part = part("tiny").unwrap_or_else(|| panic!("{who}"));
                    assert!(is_line(part, 5000) && has(&part["inlined_into"][0], "hash"), "{who}");
                }
                "call" => {
                    let part = part("hash").unwrap_or_else(|| panic!("{who}"));
                    assert_eq!(
                        (&part["only_called"], &part["calls"]),
                        (&Value::Bool(true), &serde_json::json!([50, 51])),
                        "{who}"
                    );
                    assert!(has(&part["caller"], "main"), "{who}");
                    assert!(
                        array(&found["causes"])
                            .iter()
                            .any(|cause| has(&cause["caller"], "main") && has(&cause["callee"], "hash")),
                        "{who}"
                    );
                }
                "generic" => {
                    assert!(
                        array(&found["causes"])
                            .iter()
                            .any(|cause| has(&cause["caller"], "main") && has(&cause["callee"], "hash")),
                        "{who}"
                    );
                }
                // A function with another name is the same function.
                _ => assert!(part("otherwise").is_none() && part("work").is_none(), "{who}"),
            }
        }
        let moved = programs.write(&format!("moved/other-{file}"), &variant(source, "", "").0);
        let moved = match compiler {
            [] => format!("python3 '{moved}'"),
            _ => programs.compile(compiler, &moved, &format!("{at}00009")),
        };
        for same in [&base, &moved] {
            let found = difference(&base, same, "--runs=2");
            assert_eq!(
                (&found["exact"], &found["difference"]),
                (&Value::Bool(true), &Value::from(0)),
                "{compiler:?}: {found:#}"
            );
            assert!(array(&found["parts"]).is_empty(), "{found:#}");
        }
    }
}

/// Spends `before` turns, has a child that spends `child`, and which becomes the program, if there is one.
const FORKS: &str = "#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n#include <pthread.h>
static void spend(const char *turns) { for (volatile long i = 0, n = atol(turns); i < n; i++) ; }
static void *run(void *turns) { spend(turns); return NULL; }
int main(int c, char **v) {
    pthread_t thread;
    spend(v[1]);
    if (fork() == 0) { spend(v[2]); if (c > 4) execlp(v[4], v[4], NULL); _exit(0); }
    wait(NULL);
    pthread_create(&thread, NULL, run, v[3]);
    pthread_join(thread, NULL);
    return 0;
}";

#[test]
fn processes_and_threads_are_counted_and_nothing_twice() {
    let programs = Programs::new("forks");
    let source = programs.write("forks.c", FORKS);
    for (name, options) in [("forks", &["cc", "-O1"][..]), ("static", &["cc", "-O1", "-static"])] {
        let forks = programs.compile(options, &source, name);
        let turns = |rest: &str| format!("{forks} {rest}");
        // Six instructions a turn, whoever spends it. (A count of all that a child has inherited would have twelve before the fork.)
        let [before, child, thread] = ["2000 1000 1000 true", "1000 2000 1000 true", "1000 1000 2000 true"]
            .map(|more| {
                let found = difference(&turns("1000 1000 1000 true"), &turns(more), "--runs=2");
                assert_eq!(found["processes"], serde_json::json!([2, 2]), "{found}");
                // Whether a thread is waited for differs between runs, and is elsewhere.
                let spend = array(&found["parts"]).iter().find(|part| part["function"] == "spend");
                spend.unwrap_or_else(|| panic!("{found}"))["difference"].as_i64().unwrap()
            });
        assert!(
            (3000..8000).contains(&child) && (before, thread) == (child, child),
            "{before} {child} {thread}"
        );
    }
    // What came before the program that a process became, and what that one did before it forked in turn.
    let forks = programs.0.join("forks").to_str().unwrap().to_owned();
    let nested = |turns: u32| {
        format!("sh -c '\"{forks}\" {turns} 0 0 & wait; (true); exec \"{forks}\" {turns} 0 0 /bin/true'")
    };
    let found = difference(&nested(1000), &nested(2000), "--runs=1");
    assert_eq!(found["processes"], serde_json::json!([5, 5]));
    assert!((6_000..16_000).contains(&found["difference"].as_i64().unwrap()), "{found}");
    // A stripped program without the C library's names would be counted twice.
    let stripped = programs.compile(&["cc", "-O1", "-static", "-s"], &source, "stripped");
    let said =
        String::from_utf8(picollo(&["stat", "--counts", &stripped.replace('\'', ""), "1", "1", "1"]).stderr)
            .unwrap();
    assert!(said.contains("would be counted twice"), "{said}");
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let programs = Programs::new("refused");
    let failed = |arguments: &[&str]| {
        let output = picollo(&[&["compare", "--counts", "--runs=1"], arguments].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let setuid = programs.write("setuid", "\x7fELF");
    fs::set_permissions(&setuid, fs::Permissions::from_mode(0o4755)).unwrap();
    assert!(failed(&["true", &format!("'{setuid}'")]).contains("setuid"));
    assert!(failed(&["true", "python3 -c 1"]).contains("one of them is a Python program"));
    assert!(failed(&["python3 -S -c 1", "python3 -S -c 1"]).contains("no lines were counted"));
    assert!(failed(&["true", "false"]).contains("false: failed with status 1"));
    assert!(failed(&["true", "sh -c 'kill -9 $$'"]).contains("was ended by signal 9"));
    assert!(failed(&["true", "/no/such/program"]).contains("/no/such/program: No such file"));
    assert!(failed(&["--input=/no/such/file", "true", "true"]).contains("/no/such/file: No such file"));
    // A process that goes on when the program has ended has not been counted.
    assert!(failed(&["sh -c 'sleep 30 &'", "true"]).contains("were killed, or run on"));
    assert!(
        failed(&["python3 -c 'import sys; sys.settrace(None)'", "python3 -c 1"]).contains("has set a tracer")
    );
    let unknown = programs.write(
        "unknown.c",
        "int main(void) { __asm__ volatile(\".byte 0x62,0xf1,0x7c,0x48,0x58,0xc0\"); return 0; }",
    );
    if cfg!(target_arch = "x86_64") && fs::read_to_string("/proc/cpuinfo").unwrap().contains("avx512f") {
        let program = programs.compile(&["cc"], &unknown, "unknown");
        assert!(failed(&["true", &program]).contains("does not know an instruction"));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_picollo"));
    let output = command.args(["stat", "--counts", "true"]).env("PATH", "/nowhere").output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("apt install valgrind"));
    // A program that fails is counted where that is meant, and what a broken pipe ends is no failure.
    let found = json(&["stat", "--counts", "--json", "--runs=1", "--ignore-failure", "false"]);
    assert!(found["b"][0].as_u64() > Some(1000) && found["processes"][1] == 1, "{found}");
    let found = json(&["stat", "--counts", "--json", "--runs=1", "--shell", "yes | head -1"]);
    assert_eq!(found["processes"][1], 3, "{found}");
}

#[test]
fn reports_are_for_people_programs_and_flame_graphs() {
    let programs = Programs::new("reports");
    let text = variant(C, "", "").0;
    let a = programs.compile(&["cc", "-g", "-O2"], &programs.write("a.c", &text), "a");
    let more = variant(C, "one", "__asm__ volatile(\"nop\");").0;
    let b = programs.compile(&["cc", "-g", "-O2"], &programs.write("a.c", &more), "b");
    let folded = programs.0.join("folded").to_str().unwrap().to_owned();
    // By their times, too, with the cause.
    let output =
        picollo(&["compare", "--why", "--runs=1", "--budget=0.5", &a, &b, &format!("--folded={folded}")]);
    let text = String::from_utf8(output.stdout).unwrap();
    let why = text.split("B executes 50 instructions more than A").nth(1).unwrap_or_else(|| panic!("{text}"));
    assert!(
        text.contains("Wall time")
            && why.contains("hash")
            && why.contains("a.c:9")
            && why.lines().count() <= 16,
        "{text}"
    );
    let sums = |column: usize| {
        let text = fs::read_to_string(&folded).unwrap();
        text.lines()
            .map(|line| line.rsplit(' ').nth(1 - column).unwrap().parse::<i64>().unwrap())
            .sum::<i64>()
    };
    assert_eq!(sums(1) - sums(0), 50);
    let output = picollo(&["compare", "--counts", "--runs=1", "--fail-if-slower", &a, &b]);
    assert_eq!(
        (output.status.code(), output.stdout.iter().filter(|&&byte| byte == b'\n').count() <= 15),
        (Some(3), true)
    );
    assert_eq!(
        picollo(&["compare", "--counts", "--runs=1", "--fail-if-slower", "--threshold=0.1", &a, &b])
            .status
            .code(),
        Some(0)
    );
    let found = json(&["stat", "--counts", "--json", "--folded", &folded, &b.replace('\'', "")]);
    let functions = array(&found["parts"]);
    let sum: u64 = functions.iter().map(|of| of["b"].as_u64().unwrap()).sum();
    assert_eq!((found["b"][0].as_u64(), &found["exact"]), (Some(sum), &Value::Bool(true)));
    let hash = functions.iter().find(|of| of["function"] == "hash").unwrap();
    assert_eq!(hash["calls"][1], 50);
    let tiny = functions.iter().find(|of| of["function"] == "tiny").unwrap();
    assert_eq!(tiny["inlined_into"], serde_json::json!(["hash"]));
    assert!(
        fs::read_to_string(&folded).unwrap().contains("hash;tiny;"),
        "inlined functions are on the stack"
    );
    let text =
        String::from_utf8(picollo(&["stat", "--counts", "--runs=1", &b.replace('\'', "")]).stdout).unwrap();
    assert!(
        text.lines().count() <= 15 && text.contains("hash  (") && text.contains("; called 50 times)"),
        "{text}"
    );
    // Time that instructions do not explain.
    let output = picollo(&["compare", "--why", "--runs=1", "--budget=2", "sleep 0.001", "sleep 0.101"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("That does not explain") && text.contains("waiting 10"), "{text}");
    assert!(text.contains("simulated cache misses"), "{text}");
    // What is random is marked, and is no difference. Who runs it, and by which name, does not count.
    let random = "bash -c 'i=$((RANDOM % 1000)); while [ $i -gt 0 ]; do i=$((i-1)); done'";
    let text = String::from_utf8(picollo(&["compare", "--counts", random, random]).stdout).unwrap();
    assert!(
        text.contains("No evidence")
            && text.contains("varies between runs")
            && text.contains("7 runs of each"),
        "{text}"
    );
    let long = programs.0.join("a-name-that-is-much-longer-than-the-other-one-is");
    fs::copy(programs.0.join("a"), &long).unwrap();
    assert_eq!(difference(&a, &format!("'{}'", long.display()), "--runs=1")["difference"], 0);
    let mut other = Command::new(env!("CARGO_BIN_EXE_picollo"));
    other.args(["compare", "--counts", "--runs=1", "--json", &a, &b]).env_clear().current_dir("/");
    other
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("USER", "somebody-else")
        .env("LANG", "de_DE.UTF-8");
    let found: Value = serde_json::from_slice(&other.output().unwrap().stdout).unwrap();
    assert_eq!(found["a"], difference(&a, &b, "--runs=1")["a"]);
}
