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
        Programs(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The command that runs a program.
    fn compile(&self, compiler: &[&str], source: &str, name: &str) -> String {
        let program = self.0.join(name.replace('/', "")).to_str().unwrap().to_owned();
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

/// Each @word@ stands for a piece that only the variant of that name has, `@work@` for a name, and @1@ to @6@ for what C++ has besides.
const C: &str = "#include <stdio.h>
static inline __attribute__((always_inline)) int tiny(int x) {
  @grows@
  __asm__ volatile(\"\" : \"+r\"(x)); return x * 7;
}
@1@ __attribute__((noinline)) @2@ hash(@2@ n) {
  @2@ s = 0;
  for (@2@ i = 0; i < n; i++) { __asm__ volatile(\"\" : \"+r\"(s)); s += tiny(i); }
  __asm__ volatile(\"nop\"); // a
  @equal@
  __asm__ volatile(\"nop\"); // c
  @one@
  return s;
}
@3@ __attribute__((noinline)) int @name@(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += hash@4@(100);
  return s;
} @5@
int main(void) {
  int s = @6@@name@(50);
  @call@
  @generic@
  return s == 1;
}
";
const IN_C: [&str; 6] = ["", "int", "", "", "", ""];
const IN_CPP: [&str; 6] =
    ["template <class T>", "T", "namespace some { struct Thing {", "<int>", "}; }", "some::Thing()."];

fn with(words: [&str; 6]) -> String {
    (1..).zip(words).fold(C.to_owned(), |text, (at, word)| text.replace(&format!("@{at}@"), word))
}

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
    unsafe { std::arch::asm!(\"nop\", options(nomem, nostack, preserves_flags)) }; // a
    @equal@
    unsafe { std::arch::asm!(\"nop\", options(nomem, nostack, preserves_flags)) }; // c
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
    s += 2
    @equal@
    s += 3
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
    for other in ["grows", "one", "equal", "call", "generic"] {
        text = text.replace(&format!("@{other}@"), if source == PYTHON { "global x" } else { "" });
    }
    (text, line)
}

#[test]
fn planted_differences_are_found() {
    let programs = Programs::new("planted");
    let (in_c, in_cpp) = (with(IN_C), with(IN_CPP));
    let nop = "__asm__ volatile(\"nop\");";
    let equal = &format!("{nop} // b\n");
    let same = [("one", nop), ("grows", nop), ("equal", equal), ("name", "otherwise")];
    let c = [&same[..], &[("call", "s += hash(100);")]].concat();
    let more = [("call", "s += hash<int>(100);"), ("generic", "s += (int)hash<long>(100);")];
    let cpp = [&same[..], &more].concat();
    let nop = "unsafe { std::arch::asm!(\"nop\", options(nomem, nostack, preserves_flags)) };";
    let equal = &format!("{nop} // b\n");
    let [more, generic] = ["u64", "u32"].map(|of| format!("s ^= hash(black_box(&[1{of}; 100]));"));
    let same = [("one", nop), ("grows", nop), ("equal", equal), ("name", "otherwise")];
    let rust = [&same[..], &[("call", &more), ("generic", &generic)]].concat();
    let python =
        [("one", "s += 1"), ("equal", "s += 1\n"), ("name", "otherwise"), ("call", "s += hash(100)")];
    let languages: [(&str, &str, &[&str], Variants); 5] = [
        ("a.c", &in_c, &["cc", "-g", "-O2"], &c),
        ("a.cpp", &in_cpp, &["c++", "-g", "-O2"], &cpp),
        ("a.rs", RUST, &["rustc", "-O", "-g"], &rust),
        ("a.rs", RUST, &["rustc", "-O", "-g", "-Clto=fat"], &rust),
        ("a.py", PYTHON, &[], &python),
    ];
    for (at, (file, source, compiler, variants)) in languages.into_iter().enumerate() {
        let make = |directory: &str, text: &str| {
            let source = programs.write(&format!("{directory}/{file}"), text);
            match compiler {
                [] => format!("python3 '{source}'"),
                _ => programs.compile(compiler, &source, &format!("{at}{directory}")),
            }
        };
        let base = make("00000", &variant(source, "", "").0);
        for (number, (name, piece)) in variants.iter().enumerate() {
            let (text, line) = variant(source, name, piece);
            let found = difference(&base, &make(&format!("0000{}", number + 1), &text), "--runs=1");
            let (parts, sum) = (array(&found["parts"]), |of: &[Value]| {
                of.iter().map(|part| part["difference"].as_i64().unwrap()).sum::<i64>()
            });
            let part = |name: &str| parts.iter().find(|part| has(&part["function"], name));
            let adds = |name: &str, expected: i64| {
                let is_line = |of: &&Value| of["b"]["line"] == line && of["difference"] == expected;
                part(name).filter(|part| array(&part["lines"]).iter().any(|of| is_line(&of)))
            };
            let calls = |cause: &Value| has(&cause["caller"], "main") && has(&cause["callee"], "hash");
            let has_cause = array(&found["causes"]).iter().any(calls);
            let is_right = match *name {
                "one" | "equal" => adds("hash", 50).is_some(),
                "grows" => adds("tiny", 5000).is_some_and(|part| has(&part["inlined_into"][0], "hash")),
                "call" => part("hash").is_some_and(|part| {
                    let is_called =
                        part["only_called"] == true && part["calls"] == serde_json::json!([50, 51]);
                    is_called && has(&part["caller"], "main") && has_cause
                }),
                "generic" => has_cause,
                // A function with another name is the same function.
                _ => part("otherwise").is_none() && part("work").is_none(),
            };
            let adds_up = |part: &Value| sum(array(&part["lines"])) == part["difference"].as_i64().unwrap();
            let all_add_up = parts.iter().all(adds_up) && sum(parts) == found["difference"].as_i64().unwrap();
            assert!(is_right && all_add_up, "{compiler:?} {name}: {found:#}");
        }
        for same in [&base, &make("00009/moved", &variant(source, "", "").0)] {
            let found = difference(&base, same, "--runs=2");
            let is_same = found["exact"] == true && found["difference"] == 0;
            assert!(is_same && array(&found["parts"]).is_empty(), "{compiler:?}: {found:#}");
        }
    }
}

/// Spends `before` turns, has a child that spends `child`, and which becomes the program, if there is one, or is killed. One more word: another
/// child, without the C library.
const FORKS: &str = "#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n#include <pthread.h>
#include <signal.h>\n#include <sys/syscall.h>
static void spend(const char *turns) { for (volatile long i = 0, n = atol(turns); i < n; i++) ; }
static void *run(void *turns) { spend(turns); return NULL; }
int main(int c, char **v) {
    pthread_t thread;
    int status, child;
    spend(v[1]);
    if ((child = fork()) == 0) { spend(v[2]); if (c > 4) { execlp(v[4], v[4], NULL); raise(SIGSTOP); } _exit(0); }
    if (waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status)) kill(child, SIGKILL);
    pthread_create(&thread, NULL, run, v[3]);
    pthread_join(thread, NULL);
    if (c > 5 && syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) == 0) _exit(0);
    wait(NULL);
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
    // The counts before `exec` count, and so do those of the new program before it forks.
    let forks = programs.0.join("forks").to_str().unwrap().to_owned();
    let nested = |turns: u32| {
        format!("sh -c '\"{forks}\" {turns} 0 0 & wait; (true); exec \"{forks}\" {turns} 0 0 /bin/true'")
    };
    let found = difference(&nested(1000), &nested(2000), "--runs=1");
    assert_eq!(found["processes"], serde_json::json!([5, 5]));
    assert!((6_000..16_000).contains(&found["difference"].as_i64().unwrap()), "{found}");
    // A stripped program without the C library's names would be counted twice.
    let stripped = programs.compile(&["cc", "-O1", "-static", "-s"], &source, "stripped");
    for (program, words, why) in [
        (&stripped, &["1", "1", "1"][..], "would count twice"),
        // Nor does a fork, or a thread, hide another fork that the C library does not know of.
        (&format!("'{forks}'"), &["1", "1", "1", "true", "more"], "would count twice"),
        (&format!("'{forks}'"), &["1", "1", "1", "/no/such/program"], "were killed"),
    ] {
        let output = picollo(&[&["stat", "--counts", &program.replace('\'', "")], words].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn uncountable_programs_are_refused() {
    let programs = Programs::new("refused");
    let failed = |arguments: &[&str]| {
        let output = picollo(&[&["compare", "--counts", "--runs=1"], arguments].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let setuid = programs.write("setuid", "");
    fs::copy("/bin/true", &setuid).unwrap();
    fs::set_permissions(&setuid, fs::Permissions::from_mode(0o4755)).unwrap();
    assert!(failed(&["true", &format!("'{setuid}'")]).contains("it is a setuid program"));
    assert!(
        failed(&["true", &format!("sh -c '\"$0\"; true' '{setuid}'")]).contains("it starts a setuid program")
    );
    assert!(failed(&["true", "python3 -c 1"]).contains("one command is a Python program"));
    assert!(failed(&["python3 -S -c 1", "python3 -S -c 1"]).contains("no lines were counted"));
    assert!(failed(&["true", "false"]).contains("false: failed with status 1"));
    assert!(failed(&["true", "sh -c 'kill -9 $$'"]).contains("was killed by signal 9"));
    assert!(failed(&["true", "/no/such/program"]).contains("/no/such/program: No such file"));
    assert!(failed(&["--input=/no/such/file", "true", "true"]).contains("/no/such/file: No such file"));
    // A process that goes on when the program has ended has not been counted.
    assert!(failed(&["sh -c 'sleep 30 &'", "true"]).contains("were killed, still run"));
    for (code, why) in [
        ("import sys; sys.settrace(None)", "sets a tracer"),
        ("import sys; old = sys.gettrace(); sys.settrace(None); sys.settrace(old)", "sets a tracer"),
        ("import os, sys; os.system(sys.executable + \" -Ic 1\")", "starts a Python that is not counted"),
        (
            "import subprocess as s, sys; s.run([sys.executable, \"-c\", \"1\"], env={})",
            "starts a Python that is",
        ),
        (
            "import os\nif os.fork(): os.wait()\nelse:\n try: os.execv(\"/\", [\"/\"])\n finally: os.kill(os.getpid(), 9)",
            "was killed or still runs",
        ),
    ] {
        let said = failed(&[&format!("python3 -c '{code}'"), "python3 -c 1"]);
        assert!(said.contains(why), "{code}: {said}");
    }
    // Nor is one that another program starts, in any way, counted as nothing.
    let start = programs.write(
        "start.c",
        "#include <unistd.h>\nint main(int c, char **v) { (void)c; char *none[] = {0}; return execve(v[1], v + 1, none); }",
    );
    let start = programs.compile(&["cc"], &start, "start").replace('\'', "");
    let python = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let python = String::from_utf8(python.stdout).unwrap().trim_end().to_owned();
    let makefile = programs.write("Makefile", &format!("all:\n\t@'{python}' -E -c 1\n"));
    for (words, is_counted) in [
        (&["sh", "-c", "python3 -B -I -c 1"][..], false),
        (&["sh", "-c", "python3 -c 1; exec python3 -S -c 1"], false),
        (&["sh", "-c", "(python3 -c 1; python3 -E -c 1)"], false),
        (&["env", "-i", &python, "-c", "1"], false),
        (&["make", "-sf", &makefile], false),
        (&[&start, &python, "-c", "1"], false),
        (&["sh", "-c", "python3 -c 1; python3 --version; exec python3 -W ignore -c 1"], true),
        (&["sh", "-c", "trap 'python3 -c 1' USR1; kill -USR1 $$; python3 -c 1 & wait"], true),
    ] {
        let code = format!("import subprocess\nsubprocess.run({words:?})\ndef f(): pass\nf()");
        let program = programs.write("start.py", &code);
        let output = picollo(&["stat", "--counts", "--runs=1", "python3", &program]);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let is_refused = said.contains("it starts a Python that is not counted (");
        assert_eq!((output.status.success(), is_refused), (is_counted, !is_counted), "{words:?}: {said}");
    }
    for arguments in
        [&["compare", "--env=A", "true", "true"][..], &["stat", "--json", "--show-output", "true"]]
    {
        assert_eq!(picollo(arguments).status.code(), Some(2), "{arguments:?}");
    }
    let unknown = programs.write(
        "unknown.c",
        "int main(void) { __asm__ volatile(\".byte 0x62,0xf1,0x7c,0x48,0x58,0xc0\"); return 0; }",
    );
    if cfg!(target_arch = "x86_64") && fs::read_to_string("/proc/cpuinfo").unwrap().contains("avx512f") {
        let program = programs.compile(&["cc"], &unknown, "unknown");
        assert!(failed(&["true", &program]).contains("does not know one of its instructions"));
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

/// Loops in one line, a generator that is resumed, and a spawned process.
const SPAWNS: &str = "import multiprocessing
def numbers(n):
    yield 1
    yield n
def spend(n):
    s = 0
    for i in range(n): s += i
    while n: n -= 1
    return [s for s in range(sum(numbers(i)))]
if __name__ == '__main__':
    process = multiprocessing.get_context('spawn').Process(target=spend, args=(@n@,))
    process.start()
    process.join()
";

#[test]
fn python_is_counted_alike_by_all_versions() {
    let programs = Programs::new("python");
    let [a, b] =
        [100, 200].map(|n| programs.write(&format!("{n}.py"), &SPAWNS.replace("@n@", &n.to_string())));
    for python in ["python3", "python3.12", "python3.13", "python3.14"] {
        if !Command::new(python).arg("--version").output().is_ok_and(|output| output.status.success()) {
            continue;
        }
        let found = difference(&format!("{python} '{a}'"), &format!("{python} '{b}'"), "--runs=1");
        let who = format!("{python}: {found:#}");
        assert_eq!(found["processes"], serde_json::json!([2, 2]), "{who}");
        let part = array(&found["parts"]).iter().find(|part| has(&part["function"], ".spend"));
        let lines = array(&part.unwrap_or_else(|| panic!("{who}"))["lines"]);
        for line in [7, 8] {
            assert!(
                lines.iter().any(|of| of["b"]["line"] == line && of["difference"] == 100),
                "{line} {who}"
            );
        }
        assert!(!array(&found["causes"]).iter().any(|cause| has(&cause["callee"], "numbers")), "{who}");
    }
}

#[test]
fn signals_leave_nothing_behind() {
    let programs = Programs::new("signals");
    // The first run is without Valgrind, and the second one goes on for ever.
    programs.write("endless", "test -e flag && echo $$ > running && sleep 100; touch flag");
    let arguments =
        ["--preserve-status", "2", env!("CARGO_BIN_EXE_picollo"), "stat", "--counts", "sh", "endless"];
    let mut command = Command::new("timeout");
    let status = command.args(arguments).env("TMPDIR", ".").current_dir(&programs.0).status().unwrap();
    let names: Vec<_> = fs::read_dir(&programs.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!((status.code(), names.len()), (Some(128 + 15), 3), "{names:?}");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let pid = fs::read_to_string(programs.0.join("running")).unwrap();
    assert!(!fs::exists(format!("/proc/{}", pid.trim())).unwrap());
}

#[test]
fn reports_are_for_people_programs_and_flame_graphs() {
    let programs = Programs::new("reports");
    let piece = "__asm__ volatile(\"nop\");";
    let [a_source, b_source] = [("a", ""), ("b", piece)]
        .map(|(name, piece)| programs.write(&format!("{name}/a.c"), &variant(&with(IN_C), "one", piece).0));
    let compiler = ["cc", "-g", "-O2"];
    let [a, b] = [("a-program", &a_source), ("b-program", &b_source)]
        .map(|(name, source)| programs.compile(&compiler, source, name));
    let bare = b.replace('\'', "");
    let folded = programs.0.join("folded").to_str().unwrap().to_owned();
    let text = |arguments: &[&str]| String::from_utf8(picollo(arguments).stdout).unwrap();
    let counted =
        |options: &[&str]| picollo(&[&["compare", "--counts", "--runs=1", &a, &b], options].concat());
    // By their times, too, with the cause.
    let found =
        text(&["compare", "--why", "--runs=1", "--budget=0.5", &a, &b, &format!("--folded={folded}")]);
    let why =
        found.split("B executes 50 instructions more than A").nth(1).unwrap_or_else(|| panic!("{found}"));
    assert!(found.contains("Wall time") && why.contains("hash") && why.contains("a.c:12"), "{found}");
    assert!(why.lines().count() <= 16, "{found}");
    let stacks = fs::read_to_string(&folded).unwrap();
    let sum = |column: usize| {
        let number = |line: &str| line.rsplit(' ').nth(column).unwrap().parse::<i64>().unwrap();
        stacks.lines().map(number).sum::<i64>()
    };
    assert_eq!(sum(0) - sum(1), 50);
    let long = format!("--name={}", "é\u{1b}".repeat(99));
    let output = counted(&["--fail-if-slower", &long, &long]);
    let found = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), found.lines().count() <= 15), (Some(3), true));
    assert!(found.lines().all(|line| line.chars().count() <= 165), "{found}");
    assert_eq!(counted(&["--fail-if-slower", "--threshold=0.1"]).status.code(), Some(0));
    assert_eq!(counted(&[]).status.code(), Some(0), "nobody said that it should fail");
    let found = json(&["stat", "--counts", "--json", "--folded", &folded, &bare]);
    let part = |name: &str| array(&found["parts"]).iter().find(|of| of["function"] == name).unwrap();
    let sum: u64 = array(&found["parts"]).iter().map(|of| of["b"].as_u64().unwrap()).sum();
    assert_eq!((found["b"][0].as_u64(), &found["exact"]), (Some(sum), &Value::Bool(true)));
    assert_eq!((&part("hash")["calls"][1], &part("tiny")["inlined_into"][0]), (&50.into(), &"hash".into()));
    assert!(
        fs::read_to_string(&folded).unwrap().contains("hash;tiny;"),
        "inlined functions are on the stack"
    );
    let found = text(&["stat", "--counts", "--runs=1", &bare]);
    assert!(found.contains("hash  (") && found.contains("; called 50 times)"), "{found}");
    assert!(found.lines().count() <= 15, "{found}");
    // Time that instructions do not explain.
    let found = text(&[
        "compare",
        "--why",
        "--keep-disturbed",
        "--runs=1",
        "--budget=3",
        "sleep 0.001",
        "sleep 0.101",
    ]);
    let waiting = found.split("waiting ").nth(1).and_then(|it| it.split(" ms").next()?.parse::<f64>().ok());
    assert!(found.contains("That does not explain") && waiting.is_some_and(|it| it > 90.0), "{found}");
    assert!(found.contains("simulated cache misses"), "{found}");
    // Two runs of each say little if several processes differ.
    let found =
        json(&["compare", "--counts", "--json", "sh -c '/bin/true; :'", "sh -c '/bin/true; : : : : :'"]);
    assert_eq!([&found["a"], &found["b"]].map(|of| array(of).len()), [7, 7], "{found}");
    // Random differences are marked, and are no difference. The user and the name of the program do not count.
    let random = "bash -c 'i=$((RANDOM % 1000)); while [ $i -gt 0 ]; do i=$((i-1)); done'";
    let found = text(&["compare", "--counts", random, random]);
    let said = ["No evidence", "varies between runs", "7 runs of each"];
    assert!(said.iter().all(|said| found.contains(said)), "{found}");
    let found = json(&["stat", "--counts", "--json", "--runs=3", "--shell", random]);
    assert_eq!(array(&found["b"]).len(), 3, "as many as are asked for: {found}");
    // Without symbols all of a program is one part, whatever its name looks like.
    let [old, new] = [(&a_source, "my.solver"), (&b_source, "other")]
        .map(|(source, name)| programs.compile(&["cc", "-O2", "-s"], source, name));
    let found = difference(&old, &new, "--runs=1");
    assert_eq!((&found["difference"], array(&found["parts"]).len()), (&50.into(), 1), "{found}");
    // A program that the other command rewrites in place.
    let copy = |name: &str| {
        let path = programs.0.join(name).to_str().unwrap().to_owned();
        fs::copy(&bare, &path).unwrap();
        format!("'{path}'")
    };
    let rewritten = copy("rewritten");
    let found = difference(&rewritten, &format!("sh -c \"cat {old} > {rewritten}\""), "--runs=2");
    assert_eq!(array(&found["a"]).len(), 2, "{found}");
    let long = copy("a-name-that-is-much-longer-than-the-other-one-is");
    assert_eq!(difference(&b, &long, "--runs=1")["difference"], 0);
    let mut other = Command::new(env!("CARGO_BIN_EXE_picollo"));
    other.args(["compare", "--counts", "--runs=1", "--json", &a, &b]).env_clear().current_dir("/");
    other
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("USER", "somebody-else")
        .env("LANG", "de_DE.UTF-8");
    let found: Value = serde_json::from_slice(&other.output().unwrap().stdout).unwrap();
    assert_eq!(found["a"], difference(&a, &b, "--runs=1")["a"]);
}
