//! `picollo stat`: what a command takes.
#![cfg(target_os = "linux")]
#![allow(missing_docs)]

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;

/// Without sets of the user's.
fn picollo(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_picollo"));
    command.arg("stat").args(arguments).env("XDG_CONFIG_HOME", "/nowhere").output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = picollo(&[&["--json"], arguments].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn error(arguments: &[&str]) -> String {
    let output = picollo(arguments);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    String::from_utf8(output.stderr).unwrap()
}

struct File(PathBuf);

impl File {
    fn new(name: &str, text: &str) -> File {
        let path = std::env::temp_dir().join(format!("picollo-stat-{name}-{}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        File(path)
    }

    fn name(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Figures are of the sums of what the runs took, and all of them hold together.
#[test]
fn figures_are_of_what_was_measured() {
    let found = json(&["--runs=5", "sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"]);
    let (metrics, figures) = (&found["metrics"], &found["figures"]);
    assert_eq!((&found["run_count"], &found["confidence"]), (&Value::from(5), &Value::from(0.95)));
    let runs = |key: &str| -> Vec<f64> {
        metrics[key]["runs"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    for key in ["wall", "cpu", "memory", "page_faults", "waits"] {
        let (values, metric) = (runs(key), &metrics[key]);
        let mean = values.iter().sum::<f64>() / 5.0;
        let number = |name: &str| metric[name].as_f64().unwrap();
        assert!((number("mean") - mean).abs() <= 1e-9 * mean, "{key}: {metric}");
        assert!(number("lower") <= mean && mean <= number("upper"), "{key}: {metric}");
        let spread = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 4.0).sqrt();
        assert!((number("spread") - spread).abs() <= 1e-9 * mean, "{key}: {metric}");
        // Student's interval where no run makes most of the difference: as wide as that, or wider by what is stated.
        let half = (number("upper") - number("lower")) / 2.0;
        assert!(half >= 2.776 * spread / 5f64.sqrt() * 0.999, "{key}: {metric}");
    }
    let (wall, cpu): (f64, f64) = (runs("wall").iter().sum(), runs("cpu").iter().sum());
    let cpus = figures["cpus"]["value"].as_f64().unwrap();
    assert!((cpus - cpu / wall).abs() < 1e-9 && cpus > 0.0, "{cpus}");
    let faults: f64 = runs("page_faults").iter().sum();
    assert!((figures["faults-per-second"]["value"].as_f64().unwrap() / (faults / cpu) - 1.0).abs() < 1e-9);
}

/// What was not counted is never 0, and said once where there is no PMU.
#[test]
fn what_is_not_counted_is_not_known() {
    let has_pmu = picollo_native::probe().pmu_available == 1;
    let found = json(&["--runs=2", "--event=cycles", "--event=page-faults", "true"]);
    let ipc = &found["figures"]["ipc"];
    assert!(ipc["value"].is_null() && ipc["why_not"] == "instructions is not counted here", "{ipc}");
    assert_eq!(found["metrics"]["cycles"].is_null(), !has_pmu);
    assert!(found["metrics"]["page-faults"]["mean"].as_f64().unwrap() > 0.0, "{found}");
    let text = String::from_utf8(picollo(&["--runs=2", "true"]).stdout).unwrap();
    assert_eq!(text.matches("There is no PMU here").count(), usize::from(!has_pmu), "{text}");
    assert_eq!(text.matches("--counts=valgrind").count(), usize::from(!has_pmu), "{text}");
    assert_eq!(text.contains("not known"), has_pmu && text.contains("not counted"), "{text}");
    let all = String::from_utf8(picollo(&["--runs=2", "--all", "true"]).stdout).unwrap();
    assert!(all.contains("tma-retiring") && all.contains("topdown-retiring is not counted here"), "{all}");
}

#[test]
fn figures_of_ones_own() {
    let file = File::new(
        "own",
        "# mine\nmine [ms] = task-clock / 1e6\n  Of mine.\nevent faults-of-mine = page-faults\nper = 2 * faults-of-mine\n",
    );
    let found = json(&["--runs=3", "--figures", file.name(), "true"]);
    let (figures, metrics) = (&found["figures"], &found["metrics"]);
    assert_eq!(figures["mine"]["unit"], "ms");
    let sum = |key: &str| {
        metrics[key]["runs"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).sum::<f64>()
    };
    let mine = figures["mine"]["value"].as_f64().unwrap();
    assert!((mine - sum("cpu") * 1e3).abs() < 1e-6, "{mine}");
    let twice = figures["per"]["value"].as_f64();
    assert!(twice.is_none_or(|twice| twice > 0.0), "{found}");
    // A directory of them.
    let place = std::env::temp_dir().join(format!("picollo-stat-config-{}", std::process::id()));
    std::fs::create_dir_all(place.join("picollo/figures")).unwrap();
    std::fs::write(place.join("picollo/figures/a.txt"), "ipc = 42 + 0 * task-clock\n").unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_picollo"));
    let output =
        command.args(["stat", "--runs=2", "--json", "true"]).env("XDG_CONFIG_HOME", &place).output().unwrap();
    std::fs::remove_dir_all(place).unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["figures"]["ipc"]["value"], 42.0);
    for (text, said) in [("x = (a\n", "x: at byte"), ("a = b\nnonsense\n", "line 2 is no figure")] {
        let file = File::new("wrong", text);
        let error = error(&["--figures", file.name(), "true"]);
        assert!(error.contains(said) && error.contains(file.name()), "{error}");
    }
}

/// A directory of sets that is removed again, and what `picollo stat` says with it.
struct Sets(PathBuf);

impl Sets {
    fn new(name: &str) -> Sets {
        let place = std::env::temp_dir().join(format!("picollo-stat-{name}-{}", std::process::id()));
        std::fs::create_dir_all(place.join("picollo/figures")).unwrap();
        Sets(place)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join("picollo/figures").join(name)
    }

    fn stat(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_picollo"));
        command.args(["stat", "--json", "--runs=2", "--warm-up=0"]).args(arguments);
        command.env("XDG_CONFIG_HOME", &self.0).output().unwrap()
    }
}

impl Drop for Sets {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Whatever lies in the directory: an error that names it, before anything is run, and never a wait.
#[test]
fn hostile_sets_are_named_and_nothing_is_run() {
    use std::os::unix::fs::symlink;
    let sets = Sets::new("hostile");
    let bad = sets.path("bad.txt");
    let ran = sets.0.join("ran");
    let touch = ["touch", ran.to_str().unwrap()];
    let long_name = format!("{} = 1\n", "x".repeat(300_000));
    let many: String = (0..5000).map(|number| format!("f{number} = cycles\n")).collect();
    let deep = format!("a = {}1{}\n", "(".repeat(100_000), ")".repeat(100_000));
    let contents: [(&[u8], &str); 9] = [
        (b"a = cycles\nb = \xff\xfe\n", "line 2 is no text (UTF-8)"),
        (b"\x7fELF\x02\x01\x00\x00", "line 1 is no figure"),
        (b"a = cycles\n\0\0\0\0", "line 2 is no figure"),
        (long_name.as_bytes(), "larger than 256 KiB"),
        (many.as_bytes(), "more than 4096 figures"),
        (deep.as_bytes(), "a: at byte"),
        (b"a = cycles\nb = 1\na = instructions\n", "a is there twice"),
        (b"event a = cycles\nevent a = instructions\n", "event a is there twice"),
        (b"\x1b[2J = 1\n", "line 1 is no figure"),
    ];
    let check = |said: &str| {
        let output = sets.stat(&touch);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{said}: {error}");
        assert!(error.contains("bad.txt: ") && error.contains(said), "{said}: {error}");
        assert!(!ran.exists(), "{said}: it was run");
    };
    for (content, said) in contents {
        std::fs::write(&bad, content).unwrap();
        check(said);
    }
    std::fs::remove_file(&bad).unwrap();
    symlink(&bad, &bad).unwrap();
    check("symbolic links");
    std::fs::remove_file(&bad).unwrap();
    symlink("/no/such/file", &bad).unwrap();
    check("No such file");
    std::fs::remove_file(&bad).unwrap();
    for endless in ["/dev/zero", "/dev/full"] {
        symlink(endless, &bad).unwrap();
        check("is no file");
        std::fs::remove_file(&bad).unwrap();
    }
    assert!(Command::new("mkfifo").arg(&bad).status().unwrap().success());
    check("is no file");
    std::fs::remove_file(&bad).unwrap();
    std::fs::create_dir(&bad).unwrap();
    check("is no file");
    std::fs::remove_dir(&bad).unwrap();
    // Named, an endless one is read no further than a set goes.
    assert!(error(&["--figures=/dev/zero", "true"]).contains("/dev/zero: is larger than 256 KiB"));
    // Other files are left alone.
    std::fs::write(sets.path("notes.md"), "no figure").unwrap();
    assert_eq!(sets.stat(&touch).status.code(), Some(0));
    assert!(ran.exists());
}

/// Thousands of sets, and names that clash: what comes later replaces a figure, and gives no other meaning to what was there.
#[test]
fn many_sets_and_names_that_clash() {
    let sets = Sets::new("many");
    for number in 0..2000 {
        let text = format!("same = {number} + 0 * task-clock\nonly-{number} = {number} + 0 * task-clock\n");
        std::fs::write(sets.path(&format!("{number:05}.txt")), text).unwrap();
    }
    let found: Value = serde_json::from_slice(&sets.stat(&["true"]).stdout).unwrap();
    assert_eq!(found["figures"]["same"]["value"], 1999.0);
    for number in [0, 1000, 1999] {
        assert_eq!(found["figures"][format!("only-{number}")]["value"], f64::from(number));
    }
    // The clocks of others stay what they are, whatever somebody calls a clock.
    let sets = Sets::new("clash");
    std::fs::write(sets.path("a.txt"), "event x = wall-clock\nof-a = x / wall-clock\n").unwrap();
    std::fs::write(
        sets.path("b.txt"),
        "event x = task-clock\nevent wall-clock = task-clock\nof-b = x / wall-clock\nmine = wall-clock\n",
    )
    .unwrap();
    std::fs::write(sets.path("c.txt"), "of-c = x / task-clock\n").unwrap();
    let found: Value = serde_json::from_slice(&sets.stat(&["sleep", "0.05"]).stdout).unwrap();
    let (figures, metrics) = (&found["figures"], &found["metrics"]);
    for name in ["of-a", "of-b", "of-c"] {
        assert_eq!(figures[name]["value"], 1.0, "{name}: {figures}");
    }
    let of = |key: &str| {
        metrics[key]["runs"].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).sum::<f64>()
    };
    let cpus = figures["cpus"]["value"].as_f64().unwrap();
    assert!((cpus - of("cpu") / of("wall")).abs() < 1e-9, "{cpus}");
    assert!((figures["mine"]["value"].as_f64().unwrap() - of("cpu") * 1e9).abs() < 1.0);
}

/// An unreadable set, or directory of them. Root may read all, so then it is somebody else who tries.
#[test]
fn sets_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    let sets = Sets::new("denied");
    let (file, directory) = (sets.path("denied.txt"), sets.0.join("picollo/figures"));
    std::fs::write(&file, "a = cycles\n").unwrap();
    let mode = |path: &PathBuf, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&file, 0o000);
    let is_root = std::fs::read(&file).is_ok();
    let program = sets.0.join("picollo-of-others");
    std::fs::copy(env!("CARGO_BIN_EXE_picollo"), &program).unwrap();
    let stat = || {
        let mut command = Command::new(&program);
        command.args(["stat", "--json", "--runs=2", "true"]).env("XDG_CONFIG_HOME", &sets.0);
        if is_root {
            command.uid(65534).gid(65534);
        }
        command.output().unwrap()
    };
    let output = stat();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && error.contains("denied.txt: Permission denied"), "{error}");
    mode(&directory, 0o000);
    let output = stat();
    mode(&directory, 0o700);
    // Somebody else's home is no reason to measure nothing; but it is said.
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(found["notes"].to_string().contains("figures: Permission denied"), "{found}");
}

#[test]
fn commands_fail_and_read_and_are_of_a_shell() {
    assert!(error(&["--runs=2", "false"]).contains("false: failed with status 1"));
    assert!(error(&["--runs=2", "/no/such/program"]).contains("No such file"));
    assert!(error(&["--shell", "a", "b"]).contains("one argument"));
    assert_eq!(json(&["--runs=2", "--ignore-failure", "false"])["run_count"], 2);
    let input = File::new("input", "1\n");
    // Each run reads it from its start.
    let reads = ["--runs=3", "--input", input.name(), "--shell", "read x && test $x = 1"];
    assert_eq!(json(&reads)["run_count"], 3);
    assert_eq!(picollo(&["--runs=2"]).status.code(), Some(2));
}

#[test]
fn instructions_are_counted_by_valgrind() {
    let found = json(&["--counts=valgrind", "--runs=2", "true"]);
    let runs = found["metrics"]["instructions"]["runs"].as_array().unwrap();
    assert!(runs.len() == 2 && runs[0] == runs[1] && runs[0].as_u64().unwrap() > 10_000, "{found}");
    assert_eq!(
        (&found["simulated"], &found["metrics"]["instructions"]["exact"]),
        (&Value::Bool(true), &Value::Bool(true))
    );
    let text = String::from_utf8(
        picollo(&["--counts=valgrind", "--runs=2", "--caches", "sh", "-c", "true; (true)"]).stdout,
    )
    .unwrap();
    assert!(
        text.contains("2 processes")
            && text.contains("simulates the processor")
            && text.contains("L1D misses"),
        "{text}"
    );
}
