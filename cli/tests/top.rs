//! `picollo top` without a terminal; `ci/observe.sh` drives it in one.
#![cfg(target_os = "linux")]
#![allow(missing_docs)]

mod common;

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{Place, Service, picollo, text};

const NS: &str = "histogram request ns 1000 100 x";

#[test]
fn a_service() {
    common::serve();
}

#[test]
fn one_interval_of_a_service_that_runs() {
    let place = Place::new("top");
    let mut service = Service::start(&place, "busy", &format!("{NS};counter jobs - 0 7 x"));
    let mut input = service.0.stdin.take().unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let stop = &stop;
        scope.spawn(move || {
            while !stop.load(Ordering::Acquire) {
                writeln!(input, "0 3290000 10").unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
        let pid = service.0.id().to_string();
        let path = std::fs::read_dir(&place.0).unwrap().next().unwrap().unwrap().path();
        for target in [&[][..], &["busy"], &[&pid], &[path.to_str().unwrap()]] {
            let arguments = [&["top", "--interval", "500ms", "--json"][..], target].concat();
            let (shown, errors) = text(&picollo(&place.0, &arguments));
            let json: serde_json::Value = serde_json::from_str(&shown).unwrap();
            let entries = json["entries"].as_array().unwrap();
            assert_eq!((entries.len(), errors.as_str()), (2, ""), "{shown}");
            assert!(json["interval_seconds"].as_f64().unwrap() >= 0.5, "{shown}");
            let request = &entries[0];
            assert_eq!(
                (&request["name"], &request["live"], &request["unit"]),
                (&"request".into(), &true.into(), &"ns".into())
            );
            // Of the interval alone: what was recorded before it is a thousand nanoseconds, a hundred times.
            for rank in ["p50", "p99", "max"] {
                assert!(request[rank].as_u64().unwrap().abs_diff(3_290_000) <= 32_900, "{shown}");
            }
            let (count, total) =
                (request["count"].as_u64().unwrap(), request["total_count"].as_u64().unwrap());
            assert!(count >= 10 && count % 10 == 0 && total >= count + 100, "{shown}");
            assert_eq!((&entries[1]["kind"], &entries[1]["count"]), (&"counter".into(), &0.into()));
        }
        let (shown, _) = text(&picollo(&place.0, &["top", "--interval", "100ms"]));
        assert!(
            shown.starts_with("HISTOGRAM") && shown.contains("busy/request") && shown.contains(" 3.29 ms"),
            "{shown}"
        );
        stop.store(true, Ordering::Release);
    });
}

#[test]
fn what_is_not_there_is_told() {
    let place = Place::new("top-told");
    let nothing = picollo(&place.0, &["top", "--interval", "50ms"]);
    assert_eq!(text(&nothing), ("nobody publishes here\n".into(), String::new()));
    for target in ["nobody", "/dev/shm/not-there", "1"] {
        let output = picollo(&place.0, &["top", target]);
        let (shown, errors) = text(&output);
        assert_eq!(
            (output.status.code(), shown.as_str(), errors.lines().count()),
            (Some(1), "", 1),
            "{errors}"
        );
        assert!(errors.starts_with("picollo top: ") && errors.contains(target), "{errors}");
    }
    // One that is no segment hides none of the others.
    let service = Service::start(&place, "good", NS);
    std::fs::write(place.0.join("broken.1.2"), [0; 5000]).unwrap();
    let output = picollo(&place.0, &["top", "--interval", "50ms"]);
    let (shown, errors) = text(&output);
    assert!(output.status.code() == Some(1) && shown.contains("good/request"), "{shown}");
    assert!(errors.contains("broken.1.2: is no segment") && errors.lines().count() == 1, "{errors}");
    let (shown, errors) = text(&picollo(&place.0, &["serve", "--once"]));
    assert!(shown.contains("picollo_left_out{reason=\"unreadable\"} 1.0\n"), "{shown}");
    assert!(shown.contains("request_seconds_count{") && errors.contains("broken.1.2"), "{shown} {errors}");
    // Those that crashed are there, with what they had, and not served.
    std::fs::remove_file(place.0.join("broken.1.2")).unwrap();
    drop(service);
    let (shown, _) = text(&picollo(&place.0, &["top", "--interval", "50ms"]));
    assert!(shown.contains("good/request  ended"), "{shown}");
    let (shown, _) = text(&picollo(&place.0, &["serve", "--once"]));
    assert!(!shown.contains("request_seconds") && shown.contains("picollo_segments 0.0\n"), "{shown}");
}
