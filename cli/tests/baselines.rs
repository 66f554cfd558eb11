//! `picollo compare --save` and `--against`.

use std::path::Path;
use std::process::{Command, Output};

use picollo_core::{Options, Since, SingleWriterHistogram, Snapshot};
use picollo_native::baseline::{Baseline, Run, environment};

fn picollo(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_picollo"))
        .current_dir(directory)
        .args(["compare", "--min-blocks", "2", "--max-blocks", "2", "--budget", "30"])
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code().unwrap(), text(stdout), text(stderr))
}

/// Runs as they would have been saved here, of a command that took so many picoseconds.
fn remember(directory: &Path, name: &str, benchmark: &str, picos: u64, count: usize) {
    let histogram = SingleWriterHistogram::create(&Options::default()).unwrap();
    histogram.writer().unwrap().record(picos);
    for _ in 0..count {
        let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
        histogram.update(&mut snapshot, Since::Reset).unwrap();
        let run = Run { environment: environment(), histograms: vec![(benchmark.to_owned(), snapshot)] };
        Baseline::new(&directory.join(".picollo"), name).unwrap().save(&run).unwrap();
    }
}

#[test]
fn runs_are_saved_and_judged() {
    let place = std::env::temp_dir().join(format!("picollo-cli-baselines-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir_all(&place).unwrap();

    let (status, out, _) = picollo(&place, &["--against", "main", "true"]);
    assert_eq!((status, out.as_str()), (0, "main: no earlier run of this machine has it\n"));
    let (status, out, error) = picollo(&place, &["--save", "main", "true"]);
    assert!(
        status == 0 && out.starts_with("Saved as .picollo/main/") && out.ends_with("; main has 1 run.\n"),
        "{out}{error}"
    );
    let (status, out, _) = picollo(&place, &["--against", "main", "true"]);
    assert!(status == 0 && out.contains("main: 1 earlier run of 5: too few for a verdict\n"), "{out}");

    // No process takes a microsecond, and this one no hour.
    remember(&place, "short", "true", 1_000_000, 5);
    remember(&place, "long", "true", 3_600_000_000_000_000, 5);
    let (status, out, _) = picollo(&place, &["--against", "short", "--fail-if-slower", "true"]);
    assert!(status == 3 && out.contains("short: slower: +") && out.contains("not interleaved"), "{out}");
    assert_eq!(picollo(&place, &["--against", "short", "true"]).0, 0, "nobody said that it should fail");
    let (status, out, _) = picollo(&place, &["--against", "long", "--fail-if-slower", "true"]);
    assert!(status == 0 && out.contains("long: faster: -100.0%"), "{out}");
    let (_, out, _) = picollo(&place, &["--against", "short", "--save", "short", "true"]);
    assert!(out.ends_with("Not saved, as it is slower: --save without --against does that.\n"), "{out}");
    assert_eq!(std::fs::read_dir(place.join(".picollo/short")).unwrap().count(), 5);
    let (_, out, _) = picollo(&place, &["--against", "short", "--json", "true"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["against"]["comparison"]["verdict"], "slower");
    assert_eq!(json["against"]["comparison"]["runs"], 5);

    // What is slower is measured a second time.
    for (name, looks) in [("long", 1), ("short", 2)] {
        remember(&place, name, "counted", if name == "long" { 3_600_000_000_000_000 } else { 1_000_000 }, 5);
        let _ = std::fs::remove_file(place.join("runs"));
        picollo(&place, &["--shell", "--name", "counted", "--against", name, "echo run >> runs"]);
        // Two to warm up, and two blocks of four.
        let runs = std::fs::read_to_string(place.join("runs")).unwrap().lines().count();
        assert_eq!(runs, 10 * looks, "{name}");
    }

    // Of two commands B is judged, and what fails is decided by A and B in turns: sleeping is slower, whatever is remembered.
    remember(&place, "both", "new", 3_600_000_000_000_000, 5);
    let names = ["--name", "old", "--name", "new", "--against", "both", "--fail-if-slower"];
    let (status, out, _) = picollo(&place, &[&names[..], &["true", "sleep 0.3"]].concat());
    assert!(out.contains("both: faster: -") && out.contains("old"), "{out}");
    assert!(status == 0 || status == 3);

    let (status, _, error) = picollo(&place, &["--save", "../out", "true"]);
    assert!(status == 1 && error.contains("a baseline's name"), "{error}");
    assert_eq!(picollo(&place, &["true"]).0, 2, "one command, and nothing to compare it with");
    std::fs::remove_dir_all(&place).unwrap();
}
