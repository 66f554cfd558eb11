//! Instructions counted by valgrind: `picollo compare --counts=valgrind`, against programs whose difference is planted.
#![cfg(target_os = "linux")]
#![allow(missing_docs)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
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
        let path = std::env::temp_dir().join(format!("picollo-counted-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Programs(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.path(name)
    }

    /// A C program.
    fn compile(&self, name: &str, code: &str) -> String {
        let source = self.write(&format!("{name}.c"), code);
        let file = self.path(name);
        fs::create_dir_all(PathBuf::from(&file).parent().unwrap()).unwrap();
        let status = Command::new("cc").args(["-O1", &source, "-o", &file]).status().unwrap();
        assert!(status.success());
        file
    }

    /// One that executes so many instructions more than others do.
    fn with_more(&self, name: &str, more: u32) -> String {
        let code =
            format!("int main(void) {{ __asm__ volatile(\".rept {more}\\nnop\\n.endr\"); return 0; }}");
        self.compile(name, &code)
    }
}

fn picollo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_picollo")).args(arguments).output().unwrap()
}

fn compare(a: &str, b: &str, more: &[&str]) -> Value {
    let output = picollo(&[&["compare", "--counts=valgrind", "--json", a, b], more].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// By how much B's instructions are more than A's, each time; nothing where it is not each time as many.
fn difference(found: &Value) -> Option<i64> {
    let found = &found["metrics"]["instructions"];
    let [least, most] = ["difference_least", "difference_most"].map(|key| found[key].as_i64().unwrap());
    (found["exact"] == true && least == most).then_some(least)
}

#[test]
fn planted_differences_are_found_exactly() {
    let programs = Programs::new("planted");
    let none = programs.with_more("none", 0);
    for more in [0, 1, 100, 1_000_000] {
        let other = programs.with_more(&format!("with-{more}-more"), more);
        let arguments =
            ["compare", "--counts=valgrind", "--runs=2", "--json", "--fail-if-slower", &none, &other];
        let output = picollo(&arguments);
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(difference(&found), Some(i64::from(more)), "{found}");
        let verdict = if more == 0 { "equal" } else { "more" };
        assert_eq!(found["metrics"]["instructions"]["verdict"], verdict);
        assert_eq!((&found["simulated"], &found["processes"][0][0]), (&Value::Bool(true), &Value::from(1)));
        // One is enough for somebody who asks for a failure.
        assert_eq!(output.status.code(), Some(if more == 0 { 0 } else { 3 }));
    }
    let more = programs.path("with-100-more");
    let found = compare(&more, &none, &["--fail-if-slower"]);
    assert_eq!(
        (difference(&found), &found["metrics"]["instructions"]["verdict"]),
        (Some(-100), &Value::from("less"))
    );
}

/// Prints its name, so that its length would cost something.
const SAYS_ITS_NAME: &str = "#include <stdio.h>\n#include <string.h>\nint main(int c, char **v) { printf(\"%s\\n\", v[0]); return strlen(v[0]) == 0; }";

#[test]
fn names_and_places_and_users_do_not_count() {
    let programs = Programs::new("names");
    let short = programs.compile("a", SAYS_ITS_NAME);
    let long = programs.path("a-name-that-is-much-longer-than-the-other-one-is");
    let far = programs.path("somewhere/else/below/other/directories/a");
    fs::create_dir_all(programs.path("somewhere/else/below/other/directories")).unwrap();
    for other in [&long, &far] {
        fs::copy(&short, other).unwrap();
        assert_eq!(difference(&compare(&short, other, &[])), Some(0));
    }
    // Names that are their own do count: that is what the one name is for.
    assert_ne!(difference(&compare(&short, &long, &["--own-names"])), Some(0));
    let count = |output: Output| {
        let found: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
        assert!(difference(&found).is_some());
        found["metrics"]["instructions"]["a"][0].as_u64().unwrap()
    };
    // SAFETY: a system call that only returns a number.
    let is_root = unsafe { libc::geteuid() } == 0;
    let command = programs.path("picollo");
    fs::copy(env!("CARGO_BIN_EXE_picollo"), &command).unwrap();
    let arguments = ["compare", "--counts=valgrind", "--runs=2", "--json", &short, &long];
    let mine = count(Command::new(&command).args(arguments).output().unwrap());
    let mut other = Command::new(&command);
    other.args(arguments).env_clear().current_dir("/").env("PATH", std::env::var_os("PATH").unwrap());
    other.env("HOME", "/a/home/that/is/quite/long").env("USER", "somebody-else").env("LANG", "de_DE.UTF-8");
    if is_root {
        other.uid(65534).gid(65534);
    }
    assert_eq!(count(other.output().unwrap()), mine);
}

#[test]
fn python_programs_are_counted() {
    let programs = Programs::new("python");
    let few = programs.write("few.py", "print(hash('x'), {str(n): n for n in range(100)}.popitem())\n");
    let more = "print(hash('x'), {str(n): n for n in range(101)}.popitem())\n";
    let more = programs.write("mor.py", more);
    // The interpreter itself, where `python3` only looks for one.
    let place = Command::new("python3").args(["-c", "import sys; print(sys.executable)"]).output().unwrap();
    let python = String::from_utf8(place.stdout).unwrap();
    let [few, more] = [few, more].map(|file| format!("{} -S {file}", python.trim()));
    let found = difference(&compare(&few, &more, &["--runs=2"])).unwrap();
    // One turn of a loop.
    assert!((50..20_000).contains(&found), "{found}");
    // What is not the same twice is run more often, and no equality.
    let random = "bash -c 'i=$((RANDOM % 1000)); while [ $i -gt 0 ]; do i=$((i-1)); done'";
    let output = picollo(&["compare", "--counts=valgrind", "--runs=2", random, random]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("7 runs of each") && !text.contains("equal"), "{text}");
}

/// Spends `before` turns, has a child that spends `child`, and which becomes the program, if there is one.
const FORKS: &str = "#include <stdlib.h>\n#include <unistd.h>\n#include <sys/wait.h>\n
static void spend(const char *turns) { for (volatile long i = 0, n = atol(turns); i < n; i++) ; }
int main(int c, char **v) {
    spend(v[1]);
    if (fork() == 0) { spend(v[2]); if (c > 3) execlp(v[3], v[3], NULL); _exit(0); }
    wait(NULL);
    return 0;
}";

#[test]
fn children_are_counted_and_nothing_twice() {
    let programs = Programs::new("forks");
    let forks = programs.compile("forks", FORKS);
    let turns = |rest: &str| format!("{forks} {rest}");
    // Six instructions a turn, whoever spends it. (A count of all that a child has inherited would have twelve before the fork.)
    let base = "1000000 1000000";
    for more in ["2000000 1000000", "1000000 2000000"] {
        let found = compare(&turns(base), &turns(more), &["--runs=2"]);
        assert_eq!(found["processes"], serde_json::json!([[2, 2], [2, 2]]));
        let once = compare(&turns("1000000 0000000"), &turns("1000000 1000000"), &["--runs=2"]);
        let (both, once) = (difference(&found).unwrap(), difference(&once).unwrap());
        assert!((3_000_000..8_000_000).contains(&once) && (both - once).abs() < 1000, "{both} {once}");
    }
    // What came before the program that a process became, and what that one did before it forked in turn.
    let [few, many] = ["1000000", "2000000"].map(|turns| {
        let script = format!("{forks} {turns} 0 & wait; exec {forks} {turns} 0 /bin/true");
        format!("sh -c '{script}'")
    });
    let found = compare(&few, &many, &["--runs=2"]);
    assert_eq!(found["processes"][0][0], 4);
    let twice = difference(&found).unwrap();
    let loops =
        |turns: u32| format!("sh -c 'i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done; exec /bin/true'");
    assert!((6_000_000..16_000_000).contains(&twice), "{twice}");
    assert!(difference(&compare(&loops(10), &loops(99), &["--runs=2"])).unwrap() > 10_000);
    assert!(difference(&compare(&loops(100), &loops(101), &["--runs=2"])).unwrap() > 100);
}

#[test]
fn failures_are_said_and_input_is_read() {
    let programs = Programs::new("failures");
    let failed = |arguments: &[&str]| {
        let output = picollo(&[&["compare", "--counts=valgrind", "--runs=2"], arguments].concat());
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(failed(&["true", "false"]).contains("false: failed with status 1"));
    assert!(failed(&["true", "sh -c 'kill -9 $$'"]).contains("was ended by signal 9"));
    assert!(failed(&["true", "/no/such/program"]).contains("/no/such/program: No such file"));
    assert!(failed(&["true", ""]).contains("a command is empty"));
    assert!(failed(&["--input=/no/such/file", "true", "true"]).contains("/no/such/file: No such file"));
    // Only there where nothing of it is set.
    let says_simulated = "test -z \"$RUSTUP_HOME$USER\" && exit 0; exit 5";
    let output = picollo(&["compare", "--counts=valgrind", "--runs=2", "--shell", says_simulated, "true"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("simulates the processor") && text.contains("Simulated"), "{text}");
    // A program that fails is counted where that is meant.
    let found = compare("false", "false", &["--ignore-failure"]);
    assert_eq!(difference(&found), Some(0));
    let lines = programs.write("lines", &"x\n".repeat(5000));
    let [none, all] = [vec![], vec![format!("--input={lines}")]].map(|more| {
        let more: Vec<&str> = more.iter().map(String::as_str).collect();
        let found = compare("cat", "cat", &more);
        assert_eq!(difference(&found), Some(0));
        found["metrics"]["instructions"]["a"][0].as_u64().unwrap()
    });
    assert!(all > none, "{none} {all}");
    // A process that goes on when the program has ended has not been counted.
    let stays = failed(&["sh -c 'sleep 3 &'", "true"]);
    assert!(stays.contains("were killed, or run on"), "{stays}");
}

#[test]
fn caches_are_simulated_and_without_valgrind_there_is_a_remedy() {
    let found = compare("true", "true", &["--caches", "--runs=2"]);
    let metrics = found["metrics"].as_object().unwrap();
    assert_eq!(metrics.len(), 9);
    assert!(metrics.values().all(|metric| metric["verdict"] == "equal"), "{found}");
    assert!(metrics["data_reads"]["a"][0].as_u64() > metrics["l1d_misses"]["a"][0].as_u64());
    let output = Command::new(env!("CARGO_BIN_EXE_picollo"))
        .args(["compare", "--counts=valgrind", "true", "true"])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("apt install valgrind"), "{said}");
}
