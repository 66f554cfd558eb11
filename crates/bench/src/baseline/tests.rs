//! Runs can be saved and read back, judgments use the saved values, and errors are reported.

use picollo_core::Since;
use proptest::prelude::*;

use super::*;

/// A separate directory, which is removed at the end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let path = std::env::temp_dir().join(format!("picollo-baseline-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Place(path)
    }

    fn baseline(&self) -> Baseline {
        Baseline::new(&self.0, "main").unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn histogram(values: &[u64]) -> Box<Snapshot> {
    let histogram = picollo_core::SingleWriterHistogram::create(&picollo_core::Options::default()).unwrap();
    let mut recorder = histogram.recorder().unwrap();
    values.iter().for_each(|&value| recorder.record(value));
    let mut snapshot = Snapshot::boxed(*histogram.layout()).unwrap();
    histogram.update(&mut snapshot, Since::Reset).unwrap();
    snapshot
}

fn described(pairs: &[(&str, &str)]) -> Environment {
    pairs.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

fn run(median: u64) -> Run {
    let environment = described(&[("cpu", "one"), ("cpus", "2"), ("kernel", "6.1")]);
    Run {
        environment,
        histograms: vec![("sort".to_owned(), histogram(&[median - 1, median, median + 1000]))],
    }
}

/// A run as if it had been saved.
fn saved(at: u64) -> SavedRun {
    let Run { environment, histograms } = run(at);
    let medians = histograms
        .into_iter()
        .map(|(name, snapshot)| Median::from_snapshot(name, &snapshot).unwrap())
        .collect();
    SavedRun { path: PathBuf::new(), environment, medians }
}

#[test]
fn runs_come_back_in_order() {
    let place = Place::new("order");
    let baseline = place.baseline();
    assert!(baseline.runs().unwrap().is_empty());
    for at in 0..12 {
        let path = baseline.save(&run(10_000 + at)).unwrap();
        assert!(path.starts_with(baseline.directory()));
    }
    let runs = baseline.runs().unwrap();
    assert_eq!(runs.len(), 12);
    for (at, run) in runs.iter().enumerate() {
        assert_eq!(run.environment[..3], described(&[("unit", "ps"), ("cpu", "one"), ("cpus", "2")])[..]);
        let Median { name, value, width } = &run.medians[0];
        assert_eq!(name, "sort");
        assert!((value - (10_000 + at) as f64).abs() <= 16.0 && *width <= 16.0, "{value} {width}");
    }
    let names: Vec<_> =
        std::fs::read_dir(baseline.directory()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.iter().all(|name| name.extension().unwrap() == "hlog"), "{names:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_name_and_any_text_come_back(names in prop::collection::btree_set("\\PC{1,20}|[ -~]{1,40}|.{1,5}", 1..5), text in ".{0,200}") {
        let place = Place::new("names");
        let histograms: Vec<_> = names.iter().map(|name| (name.clone(), histogram(&[1, 77, u64::MAX >> 3]))).collect();
        let environment = vec![(text.clone(), text)];
        place.baseline().save(&Run { environment, histograms }).unwrap();
        let runs = place.baseline().runs().unwrap();
        let found: Vec<&String> = runs[0].medians.iter().map(|median| &median.name).collect();
        prop_assert_eq!(found, names.iter().collect::<Vec<_>>());
    }

    #[test]
    fn any_file_is_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..300), head in any::<bool>()) {
        let place = Place::new("any");
        let path = place.baseline().save(&run(5000)).unwrap();
        let mut bytes = if head { std::fs::read(&path).unwrap() } else { Vec::new() };
        bytes.extend(text);
        std::fs::write(&path, bytes).unwrap();
        if let Err(error) = place.baseline().runs() {
            prop_assert_eq!(error.status(), Status::Corrupt);
        }
    }
}

#[test]
fn equal_buckets_are_below_the_resolution() {
    let now = run(1).environment;
    let earlier: Vec<SavedRun> = [1_000_000; 6].map(saved).into();
    let options = CompareOptions { relative_threshold: -1.0, ..CompareOptions::default() };
    let found =
        judge(&earlier, "sort", &histogram(&[1_000_100]), &now, &options).unwrap().comparison.unwrap();
    assert_eq!(found.verdict, 0);
    assert!(found.resolution >= 256.0, "the width of a bucket: {found:?}");
    let mut wide = earlier.clone();
    wide[2].medians[0].width = 5e5;
    let found = judge(&wide, "sort", &histogram(&[1_000_100]), &now, &options).unwrap().comparison.unwrap();
    assert_eq!(found.resolution, 5e5, "the widest of all runs");
    let empty = judge(&earlier, "sort", &histogram(&[]), &now, &options);
    assert_eq!(empty.unwrap_err().status(), Status::Empty);
}

#[test]
fn runs_that_cannot_be_saved_or_read_are_errors() {
    for name in ["", ".", "..", ".hidden", "a/b", "a\0b", "a\nb", &"x".repeat(201)] {
        assert_eq!(Baseline::new(Path::new("/nowhere"), name).unwrap_err().status(), Status::InvalidArgument);
    }
    let place = Place::new("refused");
    let baseline = place.baseline();
    assert_eq!(baseline.save(&Run::default()).unwrap_err().status(), Status::InvalidArgument);
    let mut twice = run(1000);
    twice.histograms.push(("sort".to_owned(), histogram(&[1])));
    assert_eq!(baseline.save(&twice).unwrap_err().status(), Status::InvalidArgument);
    for (values, status) in [
        (&[][..], Status::Empty),
        (&[u64::MAX], Status::InvalidArgument),
        (&[1, 1 << 62], Status::InvalidArgument),
    ] {
        let other = Run { histograms: vec![("one".to_owned(), histogram(values))], ..Run::default() };
        assert_eq!(baseline.save(&other).unwrap_err().status(), status);
    }
    let bounded = picollo_core::SingleWriterHistogram::create(&picollo_core::Options {
        max_trackable: 1000,
        ..Default::default()
    })
    .unwrap();
    [5, 5000].iter().for_each(|&value| bounded.recorder().unwrap().record(value));
    let mut snapshot = Snapshot::boxed(*bounded.layout()).unwrap();
    bounded.update(&mut snapshot, Since::Reset).unwrap();
    let partial = Run { histograms: vec![("one".to_owned(), snapshot)], ..Run::default() };
    assert_eq!(baseline.save(&partial).unwrap_err().status(), Status::InvalidArgument);
    assert!(baseline.runs().unwrap().is_empty());
    std::fs::remove_dir_all(&place.0).unwrap();
    // A file occupies the place of the directory.
    std::fs::create_dir_all(&place.0).unwrap();
    std::fs::write(place.0.join("main"), "").unwrap();
    assert_eq!(baseline.save(&run(1000)).unwrap_err().status(), Status::Os);
    assert_eq!(baseline.runs().unwrap_err().status(), Status::Os);
    std::fs::remove_file(place.0.join("main")).unwrap();
    // A file that a dead writer left, and one that is not a run.
    let path = baseline.save(&run(1000)).unwrap();
    std::fs::write(path.with_extension("begun"), "half").unwrap();
    assert_eq!(baseline.runs().unwrap().len(), 1);
    std::fs::write(path.with_file_name("9.hlog"), "1,2,3,HISTFAAAA\n").unwrap();
    let error = baseline.runs().unwrap_err();
    assert_eq!(error.status(), Status::Corrupt);
    assert!(error.to_string().contains("9.hlog, line 1"), "{error}");
}

#[test]
fn the_newest_runs_are_looked_at() {
    let place = Place::new("newest");
    let baseline = place.baseline();
    let path = baseline.save(&run(1000)).unwrap();
    for at in 0..MOST_RUNS + 4 {
        std::fs::copy(&path, path.with_file_name(format!("{at:020}.hlog"))).unwrap();
    }
    baseline.save(&run(77_000)).unwrap();
    let runs = baseline.runs().unwrap();
    assert_eq!(runs.len(), MOST_RUNS);
    assert!(runs[MOST_RUNS - 1].medians[0].value > 76_000.0);
}

/// `python/tests/test_baseline.py` holds Python's reader to the same answers.
#[test]
fn shared_files_are_judged_as_everywhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/baselines");
    let here = [
        ("cpu", "A CPU @ 2.00GHz"),
        ("cpus", "2"),
        ("host", "one"),
        ("kernel", "6.1.0"),
        ("governor", "performance"),
        ("compiler", "CPython 3.11.2"),
    ];
    let cases = std::fs::read_to_string(root.join("cases.txt")).unwrap();
    let mut count = 0;
    for line in cases.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [baseline, benchmark, picos, changes, expected] = columns[..] else { panic!("{line}") };
        let mut now = described(&here);
        for change in changes.split(';').filter(|change| !change.is_empty()) {
            let (key, value) = change.split_once('=').unwrap();
            now.iter_mut().find(|(of, _)| of == key).unwrap().1 = value.to_owned();
        }
        let run = histogram(&[picos.parse().unwrap()]);
        let found = match Baseline::new(&root, baseline).unwrap().runs() {
            Err(error) => {
                assert_eq!(error.status(), Status::Corrupt);
                "refused".to_owned()
            }
            Ok(earlier) => {
                let Against { comparison, notes } =
                    judge(&earlier, &file::name_of(benchmark), &run, &now, &CompareOptions::default())
                        .unwrap();
                let answer = comparison.map_or_else(|| "nothing".to_owned(), |found| found.to_string());
                [vec![answer], notes].concat().join(" | ")
            }
        };
        assert_eq!(found, expected, "{line}");
        count += 1;
    }
    assert!(count > 25, "{count}");
    // Tags of other writers that are not escapes.
    for tag in ["%", "50%", "%zz", "%+1", "a%4"] {
        assert_eq!(file::name_of(tag), tag);
    }
}

#[test]
fn processors() {
    assert_eq!(cpu("processor\t: 0\nmodel\t\t: 143\nmodel name\t: A CPU @ 2.00GHz\n"), "A CPU @ 2.00GHz");
    assert_eq!(
        cpu(
            "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n"
        ),
        "0x41 0x3 0xd0c 1"
    );
    assert_eq!(cpu(""), "");
}

#[test]
fn this_machine() {
    let found = environment();
    let known = |key: &str| found.iter().any(|(of, value)| of == key && !value.is_empty());
    assert!(known("cpus"));
    assert!(!cfg!(target_os = "linux") || (known("kernel") && known("host") && known("load")), "{found:?}");
}
