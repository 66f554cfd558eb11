//! Criterion measures with this crate, and the histograms contain what it measured.

use std::hint::black_box;
use std::time::Duration;

use criterion::Criterion;
use criterion::measurement::Measurement;
use picollo_bench::baseline::Baseline;
use picollo_core::layouts::ValueSelection;
use picollo_criterion::{Per, Picollo, Taken};
use picollo_native::{Status, work};

fn criterion(picollo: &Picollo, directory: &std::path::Path) -> Criterion<Picollo> {
    Criterion::default()
        .with_measurement(picollo.clone())
        .output_directory(directory)
        .warm_up_time(Duration::from_millis(10))
        .measurement_time(Duration::from_millis(30))
        .sample_size(10)
        .nresamples(1001)
        .without_plots()
}

fn place(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("picollo-criterion-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

fn median(picollo: &Picollo, name: &str) -> u64 {
    picollo.times(name).unwrap().1.percentile(50.0, ValueSelection::Midpoint).unwrap().value
}

#[test]
fn batches_and_iterations() {
    let place = place("both");
    let picollo = Picollo::new(&["task-clock", "page-faults"]).unwrap();
    let mut calls = [0u64; 2];
    let mut criterion = criterion(&picollo, &place);
    criterion.bench_function("batches", |bencher| {
        picollo.iter(bencher, "batches", || {
            calls[0] += 1;
            work::add_chain_256(black_box(4))
        });
    });
    criterion.bench_function("each", |bencher| {
        picollo.iter_each(bencher, "each", || {
            calls[1] += 1;
            work::add_chain_256(black_box(40))
        });
    });
    // Plain criterion works too, without histograms.
    criterion.bench_function("plain", |bencher| bencher.iter(|| work::add_chain_256(black_box(4))));
    criterion.bench_function("setup", |bencher| {
        bencher.iter_batched(|| 4, work::add_chain_256, criterion::BatchSize::SmallInput);
    });

    for (at, name, per) in [(0, "batches", Per::Batch), (1, "each", Per::Iteration)] {
        let (of, times) = picollo.times(name).unwrap();
        assert_eq!((of, times.counts().total), (per, calls[at]), "each call counts");
        // This is a chain of 256 additions, which would take 25 ns at 10 GHz.
        let chains = [4, 40][at];
        assert!(median(&picollo, name) >= chains * 20_000, "{name}: {}", median(&picollo, name));
    }
    assert!(picollo.times("plain").is_none());
    // Task clock and page faults are counted if the kernel counts anything for us.
    if let Some((per, counted)) = picollo.counts("each", "task-clock") {
        assert_eq!((per, counted.counts().total), (Per::Iteration, calls[1]));
    } else {
        println!("SKIPPED counting: the kernel counts nothing here");
    }
    let table = picollo.table();
    assert!(
        table.contains("| batches | batch mean | ns |") && table.contains("| each | iteration | ns |"),
        "{table}"
    );
    assert!(place.join("each/new/estimates.json").exists(), "criterion keeps what was measured");
    std::fs::remove_dir_all(&place).unwrap();
}

#[test]
fn values_add_up() {
    let picollo = Picollo::new(&["task-clock", "page-faults"]).unwrap();
    let one = Taken { picos: 3000, counts: vec![Some(1), None] };
    assert_eq!(picollo.add(&picollo.zero(), &one), one);
    assert_eq!(picollo.add(&one, &one), Taken { picos: 6000, counts: vec![Some(2), None] });
    assert_eq!(picollo.to_f64(&one), 3.0);
    let taken = picollo.end(picollo.start());
    assert!(taken.picos < 10_000_000_000_000 && taken.counts.len() == 2);
    // The mean is rounded, and an empty batch is ignored.
    picollo.note("a", Per::Batch, &Taken { picos: 1999, counts: vec![Some(5), None] }, 1000);
    picollo.note("a", Per::Batch, &Taken { picos: 7, counts: vec![] }, 0);
    assert_eq!((median(&picollo, "a"), picollo.times("a").unwrap().1.counts().total), (2, 1000));
    assert!(picollo.counts("a", "page-faults").is_none() && picollo.counts("a", "cycles").is_none());
}

#[test]
fn events_without_values_are_refused() {
    let picollo = Picollo::new(&["page-faults"]).unwrap();
    assert_eq!(picollo.clone().show("cycles").err().unwrap().status(), Status::InvalidArgument);
    assert!(Picollo::new(&["no-such-event"]).is_err());
    if let Ok(shown) = picollo.show("page-faults") {
        let taken = Taken { picos: 1, counts: vec![Some(77)] };
        assert_eq!(shown.to_f64(&taken), 77.0);
    }
}

#[test]
fn runs_are_saved_and_judged() {
    let place = place("memory");
    let baseline = Baseline::new(&place, "main").unwrap();
    let of = |picos: u64, name: &str| {
        let picollo = Picollo::new(&[]).unwrap();
        picollo.note(name, Per::Iteration, &Taken { picos, counts: vec![] }, 1);
        picollo
    };
    for at in 0..5 {
        of(1_000_000 + 1000 * at, "a b").save(&baseline, &[]).unwrap().unwrap();
    }
    let mut said = Vec::new();
    let slower = of(1_200_000, "a b").against(&baseline, &mut |line| said.push(line.to_owned())).unwrap();
    assert_eq!(slower, ["a b"]);
    assert!(said[0].starts_with("a b: slower: +19.") && said.len() == 2, "{said:?}");
    assert!(
        said[1].starts_with("after 5 runs, up to 33% of the runs of unchanged code may be called slower"),
        "{said:?}"
    );
    assert!(of(1_002_000, "a b").against(&baseline, &mut |_| ()).unwrap().is_empty());
    assert!(of(1_200_000, "other").against(&baseline, &mut |_| ()).unwrap().is_empty());
    assert_eq!(of(1_200_000, "a b").save(&baseline, &slower).unwrap(), None);
    let runs = baseline.runs().unwrap();
    assert_eq!(runs.len(), 5);
    assert!(runs[0].environment.iter().any(|(key, value)| key == "compiler" && value.starts_with("rustc")));
    std::fs::remove_dir_all(&place).unwrap();
}
