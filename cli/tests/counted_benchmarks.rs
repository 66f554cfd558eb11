//! Benchmarks counted by valgrind: `picollo stat --counts=valgrind --benchmarks`, of programs whose calls are known to the instruction.
//!
//! The programs are this file's own test `program`, started again with a variable that says what it is to be.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(missing_docs)]

use std::arch::asm;
use std::process::{Command, Output};
use std::sync::mpsc;

use picollo_core::text::Format;
use picollo_native::{
    BENCHMARK_NO_OVERHEAD, BENCHMARK_SIMULATED, Benchmark, BenchmarkOptions, Event, SESSION_SKIP_UNAVAILABLE,
    Session, SessionOptions, Side, Step, benchmark,
};
use serde_json::Value;

const PROGRAM: &str = "PICOLLO_TEST_PROGRAM";

/// So many instructions, and those of a call.
macro_rules! calls {
    ($($name:ident $number:literal;)*) => {$(
        #[inline(never)]
        fn $name() {
            // SAFETY: instructions that do nothing.
            unsafe { asm!(concat!(".rept ", $number, "\nnop\n.endr"), options(nomem, nostack, preserves_flags)) }
        }
    )*};
}
calls! { few 10_000; more 10_100; one_more 10_001; }

fn options() -> BenchmarkOptions {
    BenchmarkOptions { budget_seconds: 0.1, ..BenchmarkOptions::default() }
}

/// Runs and names one.
fn run(options: &BenchmarkOptions, title: &str, a: impl FnMut(), b: impl FnMut()) {
    let done = benchmark(options, &[], a, b).unwrap();
    let result = done.result().unwrap();
    // Nobody is to believe times or a verdict of them.
    assert_eq!((result.flags, result.blocks.verdict), (BENCHMARK_SIMULATED, 0));
    for format in [Format::Markdown, Format::Human] {
        let mut text = String::new();
        done.write(&mut text, title, "before", "after", format).unwrap().unwrap();
        assert!(
            text.contains("times say nothing") && !text.contains("faster") && !text.contains("P50"),
            "{text}"
        );
    }
}

fn child(work: impl Fn()) {
    // SAFETY: the child runs plain code, and leaves without what else there is.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            work();
            libc::_exit(0);
        }
        libc::waitpid(child, std::ptr::null_mut(), 0);
    }
}

fn step(benchmark: &mut Benchmark, a: fn(), b: fn()) -> bool {
    let Some(Step { side, repetitions }) = benchmark.next().unwrap() else { return false };
    match side {
        Side::A => (0..repetitions).for_each(|_| a()),
        Side::B => (0..repetitions).for_each(|_| b()),
        Side::Empty => {}
    }
    true
}

#[test]
#[ignore = "what the other tests start"]
fn program() {
    let Ok(program) = std::env::var(PROGRAM) else { return };
    match program.as_str() {
        "planted" => {
            run(&options(), "more", few, more);
            run(&options(), "less", more, few);
            run(&options(), "equal", few, few);
            run(&options(), "one", few, one_more);
            let without = BenchmarkOptions { flags: BENCHMARK_NO_OVERHEAD, ..options() };
            run(&without, "without overhead", few, more);
            run(&BenchmarkOptions { repetitions: 5, ..options() }, "five", few, more);
        }
        "none" => {}
        "ends early" => {
            let mut benchmark = Benchmark::create(&options(), &[]).unwrap();
            // Some 940 samples come before the first block that counts.
            for _ in 0..650 {
                assert!(step(&mut benchmark, few, more));
                benchmark.done().unwrap();
            }
            assert!(benchmark.next().unwrap().is_some());
            std::process::exit(0);
        }
        "forks" => {
            let many = || (0..100).for_each(|_| few());
            run(&options(), "forks", || child(few), || child(many));
        }
        "becomes" => {
            run(&options(), "first", few, more);
            use std::os::unix::process::CommandExt;
            let mut again = Command::new(std::env::current_exe().unwrap());
            let error = again.args(ARGUMENTS).env(PROGRAM, "equal").exec();
            panic!("{error}");
        }
        "equal" => run(&options(), "equal", few, few),
        "varies" => {
            let turn = std::cell::Cell::new(0u32);
            let varies = || {
                turn.set(turn.get().wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
                (0..turn.get() >> 30).for_each(|_| few());
            };
            run(&options(), "varies", varies, varies);
        }
        "nested" => {
            let inner = || drop(benchmark(&options(), &[], few, few).unwrap());
            run(&options(), "outer", inner, inner);
        }
        "threads" => {
            let (begin, wait) = mpsc::channel::<()>();
            let (back, done) = mpsc::channel::<()>();
            // One that is in the middle of a sample while another runs.
            let other = std::thread::spawn(move || {
                let mut benchmark = Benchmark::create(&options(), &[]).unwrap();
                while step(&mut benchmark, few, more) {
                    let is_counted = benchmark.blocks().0.len() == 4;
                    if is_counted && back.send(()).is_ok() {
                        let _ = wait.recv();
                    }
                    benchmark.done().unwrap();
                }
            });
            done.recv().unwrap();
            run(&options(), "in the middle of another", few, few);
            drop((begin, done));
            other.join().unwrap();
            run(&options(), "afterwards", few, more);
        }
        "elsewhere" => {
            // Each sample begins on one thread and ends on another.
            let mut benchmark = Benchmark::create(&options(), &[]).unwrap();
            while step(&mut benchmark, few, more) {
                std::thread::scope(|scope| scope.spawn(|| benchmark.done().unwrap()).join().unwrap());
            }
            drop(benchmark);
            run(&options(), "afterwards", few, more);
        }
        "forgotten" => {
            let mut benchmark = Benchmark::create(&options(), &[]).unwrap();
            while step(&mut benchmark, few, more) {
                // Twice what is asked for, once in vain.
                step(&mut benchmark, few, more);
                benchmark.done().unwrap();
            }
        }
        "session" => {
            let event = Event::parse("instructions").unwrap();
            let error = Session::create(&SessionOptions::default(), &[event]).err().unwrap();
            println!("{error}");
            let options = SessionOptions { flags: SESSION_SKIP_UNAVAILABLE, ..SessionOptions::default() };
            match Session::create(&options, &[event]) {
                Ok(session) => println!("{}", session.event_info(0).unwrap().message()),
                Err(error) => println!("{error}"),
            }
        }
        other => panic!("{other}"),
    }
}

const ARGUMENTS: [&str; 5] = ["--ignored", "--exact", "--nocapture", "--test-threads=1", "program"];

/// Without valgrind there is nothing to test.
fn has_valgrind() -> bool {
    let has = Command::new("valgrind").arg("--version").output().is_ok();
    if !has {
        eprintln!("SKIPPED: valgrind is not installed");
    }
    has
}

fn stat(program: &str, more: &[&str]) -> Output {
    let this = std::env::current_exe().unwrap();
    Command::new(env!("CARGO_BIN_EXE_picollo"))
        .args(["stat", "--counts=valgrind", "--benchmarks"])
        .arg(format!("--env={PROGRAM}={program}"))
        .args(more)
        .arg(this)
        .args(ARGUMENTS)
        .output()
        .unwrap()
}

fn found(program: &str, more: &[&str]) -> Value {
    let output = stat(program, &[&["--json"], more].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn text(program: &str, more: &[&str]) -> String {
    let output = stat(program, more);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn benchmarks(found: &Value) -> &Vec<Value> {
    assert_eq!((&found["simulated"], &found["counts"]), (&Value::Bool(true), &Value::from("valgrind")));
    found["benchmarks"].as_array().unwrap()
}

/// By how many instructions a call of B has more, where it is the same in each block; and the verdict.
fn difference(of: &Value) -> Option<(f64, &str)> {
    let of = &of["metrics"]["instructions"];
    let ends = ["difference_least", "difference_most"].map(|key| of[key].as_f64());
    let [Some(least), Some(most)] = ends else { return None };
    (of["exact"] == true && least == most).then(|| (least, of["verdict"].as_str().unwrap()))
}

/// What a call of a side takes, its own and without what calling takes.
fn side(of: &Value, side: &str) -> f64 {
    let range = &of["metrics"]["instructions"][side];
    assert_eq!(range[0], range[1], "{of}");
    range[0].as_f64().unwrap()
}

#[test]
fn planted_differences_are_found_exactly() {
    if !has_valgrind() {
        return;
    }
    let found = found("planted", &["--fail-if-slower"]);
    let expected = [
        ("more", 100.0, "more"),
        ("less", -100.0, "less"),
        ("equal", 0.0, "equal"),
        ("one", 1.0, "more"),
        ("without overhead", 100.0, "more"),
        // A sample has as many calls each time, so that what the program does to choose between A and B is in it: an instruction or two.
        ("five", 99.8, "more"),
    ];
    assert_eq!(benchmarks(&found).len(), expected.len());
    for (of, (title, by, verdict)) in benchmarks(&found).iter().zip(expected) {
        assert_eq!((&of["title"], &of["names"][1]), (&Value::from(title), &Value::from("after")));
        assert_eq!((difference(of), &of["block_count"]), (Some((by, verdict)), &Value::from(7)), "{of}");
        // What a call itself takes: no more than a return and what leads to it.
        let planted = if title == "less" { 10_100.0 } else { 10_000.0 };
        assert!((planted..planted + 12.0).contains(&side(of, "a")), "{of}");
        let calls = if title == "five" { vec![5] } else { vec![1, 101] };
        assert_eq!((&of["calls"], &of["has_ended"]), (&Value::from(calls), &Value::Bool(true)));
    }
    // As a gate: of any, and by more than is allowed.
    let status = |more: &[&str]| stat("planted", more).status.code();
    assert_eq!(status(&[]), Some(0));
    assert_eq!(status(&["--fail-if-slower", "--threshold=0.0099"]), Some(3));
    assert_eq!(status(&["--fail-if-slower", "--threshold=0.0101"]), Some(0));
    // Another run has the same counts.
    let again = crate::found("planted", &["--runs=2", "--blocks=2", "--calls=10"]);
    for (of, first) in benchmarks(&again).iter().zip(benchmarks(&found)) {
        assert_eq!((difference(of), side(of, "a")), (difference(first), side(first, "a")));
        assert_eq!(of["block_count"], 4);
    }
    let text = text("planted", &["--blocks=2"]);
    assert!(text.contains("simulates the processor") && text.contains("Simulated, a call"), "{text}");
    assert!(text.contains("after executes 100 instructions a call more than before (+1.0%)."), "{text}");
    assert!(text.contains("before and after execute equally many instructions a call, 10,00"), "{text}");
}

#[test]
fn what_is_not_counted_is_said() {
    if !has_valgrind() {
        return;
    }
    let none = stat("none", &[]);
    let said = String::from_utf8(none.stderr).unwrap();
    assert_eq!((none.status.code(), none.stdout.len()), (Some(1), 0));
    assert!(said.contains("no benchmark began in it"), "{said}");
    // Whole blocks of one that did not end are as good as others.
    let early = found("ends early", &[]);
    let [of] = &benchmarks(&early)[..] else { panic!("{early}") };
    assert_eq!((difference(of), &of["has_ended"]), (Some((100.0, "more")), &Value::Bool(false)));
    assert!((1..7).contains(&of["block_count"].as_u64().unwrap()), "{of}");
    assert!(text("ends early", &[]).contains("It did not come to its end"));
    // What is random is never equal, and nothing is said of few blocks.
    for (more, why) in [(&[][..], "their ranges overlap"), (&["--blocks=3"], "too few to judge by ranges")] {
        let text = text("varies", more);
        assert!(text.contains("no evidence") && text.contains(why), "{text}");
    }
}

#[test]
fn what_others_do_is_in_no_sample() {
    if !has_valgrind() {
        return;
    }
    // What a child spends is the child's.
    let forks = found("forks", &["--calls=2"]);
    assert_eq!(benchmarks(&forks).len(), 1, "{forks}");
    let of = &benchmarks(&forks)[0];
    assert!(difference(of).unwrap().0.abs() < 100.0 && side(of, "a") < 10_000.0, "{of}");
    // A program that becomes another one has the same number of process.
    let becomes = found("becomes", &[]);
    let verdicts: Vec<_> = benchmarks(&becomes).iter().map(|of| difference(of).unwrap()).collect();
    assert_eq!(verdicts, [(100.0, "more"), (0.0, "equal")]);
    // One that runs in a sample of another is part of it, and has no files of its own.
    let nested = found("nested", &["--calls=1", "--blocks=2"]);
    assert_eq!(benchmarks(&nested).len(), 1, "{nested}");
    assert!(benchmarks(&nested)[0]["metrics"]["instructions"]["a"][0].as_f64() > Some(1e6));
}

#[test]
fn samples_that_cannot_be_counted_are_none() {
    if !has_valgrind() {
        return;
    }
    for program in ["threads", "elsewhere"] {
        let text = text(program, &[]);
        assert!(text.contains("samples were not counted"), "{text}");
        let found = found(program, &[]);
        let last = benchmarks(&found).last().unwrap();
        assert_eq!((&last["title"], difference(last)), (&Value::from("afterwards"), Some((100.0, "more"))));
        for of in benchmarks(&found) {
            // Not counted, or right: never wrong.
            let expected = if of["title"] == "in the middle of another" { 0.0 } else { 100.0 };
            assert!(difference(of).is_none_or(|(by, _)| by == expected), "{of}");
        }
    }
    let forgotten = found("forgotten", &[]);
    assert_eq!(difference(&benchmarks(&forgotten)[0]), Some((100.0, "more")));
}

#[test]
fn a_process_has_a_thousand_blocks() {
    if !has_valgrind() {
        return;
    }
    let found = found("planted", &["--blocks=999", "--calls=1"]);
    let blocks: Vec<_> = benchmarks(&found).iter().map(|of| of["block_count"].as_u64().unwrap()).collect();
    assert_eq!(blocks, [999, 1, 0, 0, 0, 0]);
    assert_eq!(difference(&benchmarks(&found)[0]), Some((100.0, "more")));
    assert!(found["notes"][0].as_str().unwrap().contains("1,000 blocks at most"), "{}", found["notes"]);
}

#[test]
fn sessions_say_what_counts_there() {
    if !has_valgrind() {
        return;
    }
    let output = Command::new("valgrind")
        .arg("-q")
        .arg(std::env::current_exe().unwrap())
        .args(ARGUMENTS)
        .env(PROGRAM, "session")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said.matches("picollo stat --counts=valgrind").count(), 2, "{said}");
    assert!(said.contains("Valgrind executes this program") && said.contains("--benchmarks"), "{said}");
}
