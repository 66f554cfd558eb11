//! `picollo compare --save` and `--against`.

use std::path::Path;

use crate::common::{Place, command, outcome};

use picollo_bench::baseline::{Baseline, Run, environment};
use picollo_core::{Options, Since, SingleWriterHistogram, Snapshot};

fn picollo(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    // Other tests may keep this machine busy.
    let output = command(&["compare", "--keep-disturbed", "--budget", "30"])
        .current_dir(directory)
        // Too few for a verdict on two commands, unless a test asks for more.
        .args(if arguments.contains(&"--max-blocks") {
            &[][..]
        } else {
            &["--min-blocks", "2", "--max-blocks", "2"]
        })
        .args(arguments)
        .output()
        .unwrap();
    let (status, out, errors) = outcome(&output);
    // These tests ignore what the command reports about disturbances.
    let is_of_noise = |line: &&str| !line.contains(" disturbed: ");
    (status, out.split_inclusive('\n').filter(is_of_noise).collect(), errors)
}

/// Saves runs of a command that took this many picoseconds, as if measured on this machine.
fn remember(directory: &Path, name: &str, benchmark: &str, picos: u64, count: usize) {
    let histogram = SingleWriterHistogram::create(&Options::default()).unwrap();
    histogram.recorder().unwrap().record(picos);
    for _ in 0..count {
        let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
        histogram.update(&mut snapshot, Since::Reset).unwrap();
        let run = Run { environment: environment(), histograms: vec![(benchmark.to_owned(), snapshot)] };
        Baseline::new(&directory.join(".picollo"), name).unwrap().save(&run).unwrap();
    }
}

/// A check without a baseline fails, and then nothing is run or saved.
#[test]
fn a_missing_baseline_fails() {
    let guard = Place::new("missing");
    let place = &guard.0;
    std::fs::create_dir_all(place).unwrap();
    let checked = |more: &[&str]| {
        let arguments =
            ["--shell", "--name", "it", "--against", "main", "--save", "main", "--fail-if-slower"];
        picollo(place, &[&arguments[..], more, &["echo run >> runs"]].concat())
    };
    let missing = |why: &str| {
        let (status, out, error) = checked(&[]);
        let start = "picollo compare: --fail-if-slower has no run to compare with: main: no earlier run of this machine has it, ";
        assert_eq!((status, out.as_str()), (1, ""), "{error}");
        assert!(error.starts_with(&format!("{start}{why}. Use --allow-missing")), "{error}");
        assert!(!place.join("runs").exists());
    };
    missing("the baseline has no run yet");
    remember(place, "main", "other", 1_000_000, 1);
    missing("the baseline has other benchmarks, in 1 run: 'other'");
    let unlike = place.join(".picollo/main/0-0.hlog");
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../bench/tests/baselines/pytest");
    let saved = std::fs::read_dir(shared).unwrap().next().unwrap().unwrap().path();
    let saved = std::fs::read_to_string(saved).unwrap().replace("Tag=test_it.py::test_sort,", "Tag=it,");
    std::fs::write(&unlike, saved).unwrap();
    missing("1 earlier run was left out, because the machine had another processor");
    std::fs::remove_file(unlike).unwrap();
    // The first run, which is declared as such; and a second one, with too few runs for a verdict.
    for (more, runs) in [(&["--allow-missing"][..], 2), (&[], 3)] {
        let (status, out, error) = checked(more);
        assert!(status == 0 && out.contains(&format!("main has {runs} runs")), "{out}{error}");
    }
    // Without --fail-if-slower, a missing baseline is only reported.
    let (status, out, _) = picollo(place, &["--against", "none", "true"]);
    assert!(status == 0 && out.contains("none: the baseline has no run yet\n"), "{out}");
    assert_eq!(picollo(place, &["--allow-missing", "true", "true"]).0, 2);
}

#[test]
fn runs_are_saved_and_judged() {
    let guard = Place::new("baselines");
    let place = &guard.0;
    std::fs::create_dir_all(place).unwrap();

    let (status, out, _) = picollo(place, &["--against", "main", "true"]);
    assert_eq!(
        (status, out.as_str()),
        (
            0,
            "main: no earlier run of this machine has true (--name changes the name)\nmain: the baseline has no run yet\n"
        )
    );
    let (status, out, error) = picollo(place, &["--save", "main", "true"]);
    assert!(
        status == 0 && out.starts_with("Saved as .picollo/main/") && out.ends_with("; main has 1 run.\n"),
        "{out}{error}"
    );
    let (status, out, _) = picollo(place, &["--against", "main", "true"]);
    assert!(status == 0 && out.contains("main: 1 earlier run of 5: too few for a verdict\n"), "{out}");

    // No process takes a microsecond, and this one does not take an hour.
    remember(place, "short", "true", 1_000_000, 5);
    remember(place, "long", "true", 3_600_000_000_000_000, 5);
    let (status, out, _) = picollo(place, &["--against", "short", "--fail-if-slower", "true"]);
    assert!(status == 3 && out.contains("short: slower: +") && out.contains("did not alternate"), "{out}");
    assert_eq!(picollo(place, &["--against", "short", "true"]).0, 0, "nobody said that it should fail");
    let (status, out, _) = picollo(place, &["--against", "long", "--fail-if-slower", "true"]);
    assert!(status == 0 && out.contains("long: faster: -100.0%"), "{out}");
    let (_, out, _) = picollo(place, &["--against", "short", "--save", "short", "true"]);
    assert!(out.ends_with("Not saved, because it is slower; use --save without --against.\n"), "{out}");
    assert_eq!(std::fs::read_dir(place.join(".picollo/short")).unwrap().count(), 5);
    let (_, out, _) = picollo(place, &["--against", "short", "--json", "true"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["against"]["comparison"]["verdict"], "slower");
    assert_eq!(json["against"]["comparison"]["runs"], 5);

    // A slower result is measured again.
    for (name, looks) in [("long", 1), ("short", 2)] {
        remember(place, name, "counted", if name == "long" { 3_600_000_000_000_000 } else { 1_000_000 }, 5);
        let _ = std::fs::remove_file(place.join("runs"));
        picollo(place, &["--shell", "--name", "counted", "--against", name, "echo run >> runs"]);
        // Two to warm up, and two blocks of four.
        let runs = std::fs::read_to_string(place.join("runs")).unwrap().lines().count();
        assert_eq!(runs, 10 * looks, "{name}");
    }

    // With two commands, B is judged by earlier runs. Alternating A and B, with a second look at both, decides failure.
    let old_and_new = |name: &str, more: &[&str], commands: [&str; 2]| {
        remember(place, name, "new", if name == "all" { 3_600_000_000_000_000 } else { 1_000_000 }, 5);
        let _ = std::fs::remove_file(place.join("runs"));
        let names = ["--shell", "--name", "old", "--name", "new", "--fail-if-slower"];
        let (status, out, _) = picollo(place, &[&names[..], more, &commands].concat());
        let runs = std::fs::read_to_string(place.join("runs")).unwrap().lines().count();
        (status, out, runs)
    };
    let (count, slow) = ("echo >> runs", "echo >> runs; sleep 0.3");
    // Slower than A when alternating, but faster than all earlier runs.
    let eight = ["--min-blocks", "8", "--max-blocks", "8", "--against", "all"];
    let (status, out, runs) = old_and_new("all", &eight, [count, slow]);
    assert!(out.contains("all: faster: -"), "{out}");
    // Two to warm up, and eight blocks of four. A first look never fails.
    let looks = if out.contains("all: slower in the first measurement") { 2 } else { 1 };
    assert_eq!(runs, 34 * looks, "{out}");
    assert_eq!(status == 3, out.contains("slower than old ("), "{out}");
    assert!(status == 0 || looks == 2, "{out}");
    // Slower than earlier runs, but not than A: it is measured again, does not fail, and is saved as evidence.
    let (status, out, runs) =
        old_and_new("none", &["--against", "none", "--save", "none"], ["echo >> runs; sleep 0.1", count]);
    assert!(out.contains("none: slower: +") && out.contains("none has 6 runs"), "{out}");
    assert_eq!((status, runs), (0, 20), "{out}");
    // Neither is slower: one look suffices.
    let (status, _, runs) = old_and_new("all", &["--against", "all"], [slow, count]);
    assert_eq!((status, runs), (0, 10));

    let (status, _, error) = picollo(place, &["--save", "../out", "true"]);
    assert!(status == 1 && error.contains("the name of a baseline"), "{error}");
    assert_eq!(picollo(place, &["true"]).0, 2, "one command, and nothing to compare it with");
}
