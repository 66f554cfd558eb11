//! Files as callgrind writes them, put together.

use super::*;

/// A file, named so by a program.
fn file(pid: u32, part: u32, name: &str, instructions: u64) -> String {
    format!(
        "# callgrind format\nversion: 1\npid: {pid}\ncmd:  ./x\npart: {part}\n\n\ndesc: I1 cache: \n\ndesc: Trigger: Client Request: {name}\n\n\
         positions: line\nevents: Ir\nsummary: {instructions}\n\n\nfn=(1) desc: Trigger: Client Request: picollo 1 1 9 0 begin\n0 10\n\ntotals: {instructions}\n"
    )
}

/// Of files of one process: the name behind its number, and instructions.
fn run(files: &[(&str, u64)]) -> Run {
    let (mut run, mut of) = (Run::default(), BTreeMap::new());
    for (part, (name, instructions)) in files.iter().enumerate() {
        run.add(&mut of, &file(7, part as u32, &format!("picollo 1 55 {name}"), *instructions)).unwrap();
    }
    run.benchmarks = of.into_values().collect();
    run
}

/// A block of samples of 1 and of 11 calls, in both orders.
fn block(number: u32, a: u64, b: u64) -> Vec<(String, u64)> {
    let sample = |side: &str, calls: u64, cost: u64| {
        (
            format!("1 0 sample {number} {side} {calls}"),
            1000 + calls * (cost + if side == "empty" { 0 } else { 3 }),
        )
    };
    let once = [("empty", 3), ("a", a), ("b", b)];
    let samples = once.iter().flat_map(|&(side, cost)| [sample(side, 1, cost), sample(side, 11, cost)]);
    samples.clone().chain(samples).collect()
}

fn borrowed(files: &[(String, u64)]) -> Vec<(&str, u64)> {
    files.iter().map(|(name, number)| (name.as_str(), *number)).collect()
}

#[test]
fn what_surrounds_calls_goes_out() {
    let files = [block(1, 100, 107), block(2, 100, 108)].concat();
    let found = run(&borrowed(&files));
    let of = found.benchmarks[0].per_call("Ir").unwrap();
    assert_eq!((&of.sides, &of.empty), (&[vec![103.0, 103.0], vec![110.0, 111.0]], &vec![3.0, 3.0]));
    assert_eq!(
        (of.net(0), of.gross(0)),
        (Range { least: 100.0, most: 100.0 }, Range { least: 103.0, most: 103.0 })
    );
    assert_eq!(of.difference(), Range { least: 7.0, most: 8.0 });
    assert_eq!((found.benchmarks[0].calls(), found.benchmarks[0].events().count()), (vec![1, 11], 1));
    assert_eq!(found.benchmarks[0].per_call("Dr"), None, "not counted is no zero");
}

#[test]
fn blocks_that_lack_a_sample_are_left_out() {
    let whole = block(2, 100, 107);
    for missing in 0..12 {
        let mut files = block(1, 100, 500);
        files.remove(missing);
        let found = run(&borrowed(&[files, whole.clone()].concat()));
        let of = found.benchmarks[0].per_call("Ir").unwrap();
        assert_eq!((of.sides[1].len(), of.difference()), (1, Range { least: 7.0, most: 7.0 }), "{missing}");
    }
    assert_eq!(run(&borrowed(&block(1, 1, 2)[1..])).benchmarks[0].per_call("Ir"), None);
    assert_eq!(run(&[("1 0 begin", 0)]).benchmarks[0].per_call("Ir"), None);
}

#[test]
fn a_given_number_of_calls() {
    let sample = |side: &str, instructions| (format!("1 0 sample 1 {side} 5"), instructions);
    let files = [
        sample("empty", 12),
        sample("empty", 12),
        sample("a", 62),
        sample("b", 112),
        sample("b", 113),
        sample("a", 62),
        sample("empty", 12),
        sample("empty", 12),
        sample("a", 62),
        sample("b", 112),
        sample("b", 113),
        sample("a", 62),
    ];
    let of = run(&borrowed(&files)).benchmarks[0].per_call("Ir").unwrap();
    assert_eq!((&of.sides, of.empty.len()), (&[vec![10.0], vec![20.1]], 0));
    assert_eq!(of.difference(), Range { least: 10.1, most: 10.1 });
}

#[test]
fn benchmarks_are_told_apart_and_named() {
    let found = run(&[
        ("1 0 begin", 0),
        ("1 0 names a b\tone\t", 0),
        ("2 3 begin", 0),
        ("1 0 names sort\tone\ttwo", 0),
        ("1 0 end", 0),
        ("2 2 over", 0),
    ]);
    let [first, second] = &found.benchmarks[..] else { panic!("{found:?}") };
    assert_eq!((first.title.as_str(), &first.names), ("sort", &["one".to_owned(), "two".to_owned()]));
    assert_eq!((first.has_ended, second.has_ended, second.is_over, found.lost), (true, false, true, 3));
    // The same number in another process is another benchmark, and the last name is the one of the last part.
    let (mut run, mut of) = (Run::default(), BTreeMap::new());
    for (pid, part, name) in [(7, 9, "names last\t\t"), (7, 2, "names first\t\t"), (8, 1, "begin")] {
        run.add(&mut of, &file(pid, part, &format!("picollo 1 55 1 0 {name}"), 0)).unwrap();
    }
    let titles: Vec<&str> = of.values().map(|of| of.title.as_str()).collect();
    assert_eq!(titles, ["last", ""]);
}

#[test]
fn other_files_are_no_benchmarks() {
    for name in ["another program's", "picolloo 1 55 1 0 begin"] {
        let (mut run, mut of) = (Run::default(), BTreeMap::new());
        run.add(&mut of, &file(7, 1, name, 5)).unwrap();
        assert!(of.is_empty() && run.unknown == 0, "{name}");
    }
    for name in ["2 55 1 0 begin", "1 x 1 0 begin", "1 55 1 0 something", "1 55 1 0 sample x a 1", "1"] {
        let (mut run, mut of) = (Run::default(), BTreeMap::new());
        run.add(&mut of, &file(7, 1, &format!("picollo {name}"), 5)).unwrap();
        assert_eq!(run.unknown, 1, "{name}");
    }
    // Cut off, as by a full disk.
    let (mut run, mut of) = (Run::default(), BTreeMap::new());
    let whole = file(7, 1, "picollo 1 55 1 0 sample 1 a 1", 5);
    run.add(&mut of, whole.split("totals:").next().unwrap()).unwrap();
    assert!(of.values().all(|counted| counted.samples.is_empty()));
}

#[test]
fn runs_are_joined() {
    let mut first = run(&borrowed(&block(1, 100, 107))).benchmarks.remove(0);
    let second = run(&borrowed(&[block(1, 100, 109), block(2, 100, 107)].concat())).benchmarks.remove(0);
    first.join(second);
    assert_eq!(first.per_call("Ir").unwrap().sides[1], [110.0, 112.0, 110.0]);
    // One of which samples were longer.
    let longer: Vec<(String, u64)> = block(1, 100, 107)
        .iter()
        .map(|(name, instructions)| match name.strip_suffix("11") {
            Some(name) => (format!("{name}101"), 1000 + (instructions - 1000) / 11 * 101),
            None => (name.clone(), *instructions),
        })
        .collect();
    first.join(run(&borrowed(&longer)).benchmarks.remove(0));
    assert_eq!(first.per_call("Ir").unwrap().sides[1], [110.0, 112.0, 110.0, 110.0]);
    assert_eq!(first.calls(), [1, 11, 101]);
}
