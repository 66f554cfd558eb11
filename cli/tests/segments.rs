//! `picollo list` and `picollo show`, of a segment of this process.
#![cfg(target_os = "linux")]
#![allow(missing_docs)]

mod common;

use common::{Place, picollo, text};
use picollo_core::{Metric, Options};

#[test]
fn who_publishes_and_what() {
    let place = Place::new("what");
    let segment = place.segment("checkout");
    for (route, value) in [("/pay", 3_290_000), ("/list", 45_600)] {
        let labels = [("route", route)];
        let metric = Metric { name: "request", unit: "ns", labels: &labels, ..Metric::default() };
        segment.histogram(&metric, &Options::default()).unwrap().record_n(value, 1234);
    }
    segment.counter(&Metric { name: "requests", ..Metric::default() }).unwrap().add(2468);

    let (listed, errors) = text(&picollo(&place.0, &["list"]));
    let fields: Vec<&str> = listed.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!((fields[0], *fields.last().unwrap(), errors.as_str()), ("checkout", "live", ""), "{listed}");
    let json: serde_json::Value =
        serde_json::from_slice(&picollo(&place.0, &["list", "--json"]).stdout).unwrap();
    assert_eq!((&json[0]["name"], &json[0]["pid"]), (&"checkout".into(), &std::process::id().into()));
    assert_eq!((&json[0]["entries"], &json[0]["live"]), (&3.into(), &true.into()));

    let pid = std::process::id().to_string();
    for target in ["checkout", &pid, segment.path().to_str().unwrap()] {
        let (shown, errors) = text(&picollo(&place.0, &["show", target]));
        assert_eq!(errors, "");
        let line = |name: &str| {
            shown.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{shown}"))
        };
        // The middle of the bucket, within 1 %.
        assert!(
            line("request{route=/pay}").contains("1,234") && line("request{route=/pay}").contains(" ms"),
            "{shown}"
        );
        assert!(
            line("request{route=/list}").contains(" µs") && line("requests").contains("2,468"),
            "{shown}"
        );
    }
    let (raw, _) = text(&picollo(&place.0, &["show", "checkout", "--match", "route=/pay", "--raw"]));
    let digits = raw.lines().last().unwrap_or_default().split_whitespace().nth(2).unwrap_or_default();
    assert!(digits.parse::<u64>().is_ok_and(|value| value.abs_diff(3_290_000) <= 32_900), "{raw}");
    let shown = picollo(&place.0, &["show", "checkout", "--match", "route=/pay", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let entries = json["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &entries[0]["labels"]["route"]), (1, &"/pay".into()));
    assert_eq!(entries[0]["summary"]["total_count"], 1234, "{json}");
    let p99 = entries[0]["p99"].as_u64().unwrap();
    assert!(p99.abs_diff(3_290_000) <= 32_900, "{p99}");
}

#[test]
fn what_cannot_be_shown_is_told_in_one_line() {
    let place = Place::new("told");
    let (listed, _) = text(&picollo(&place.0, &["list"]));
    assert_eq!(listed, "nobody publishes here\n");
    let segment = place.segment("x");
    segment.histogram(&Metric { name: "a", ..Metric::default() }, &Options::default()).unwrap();
    let broken = place.0.join("broken.1.2");
    std::fs::write(&broken, [0; 5000]).unwrap();
    let output = picollo(&place.0, &["list"]);
    let (listed, errors) = text(&output);
    assert!(output.status.code() == Some(1) && listed.lines().count() == 2, "{listed}");
    assert!(errors.contains("broken.1.2: is no segment") && errors.lines().count() == 1, "{errors}");
    for (arguments, why) in [
        (&["show", "nobody"][..], "no segment of nobody"),
        (&["show", broken.to_str().unwrap()], "is no segment"),
        (&["show", "/dev/null"], "no regular file"),
        (&["show", "x", "--match", "zzz"], "has zzz in its name"),
        (&["list", "--directory", "/dev/shm/not-there"], "No such file"),
    ] {
        let output = picollo(&place.0, arguments);
        let (shown, errors) = text(&output);
        assert_eq!((output.status.code(), shown.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(errors.contains(why) && errors.lines().count() == 1, "{errors}");
    }
}

#[test]
fn what_others_publish() {
    let place = Place::new("others");
    let segment = place.segment("elsewhere");
    // Not in this command's environment, but in that of a process that runs: a service of this user.
    let service = common::Service::start(&place, "served", "");
    let nowhere = std::path::Path::new("/dev/shm/picollo-nowhere");
    // SAFETY: a query without arguments.
    let user = unsafe { libc::geteuid() }.to_string();
    for arguments in [&["list", "--all", "--json"][..], &["list", "--user", &user, "--json"]] {
        let (listed, errors) = text(&picollo(nowhere, arguments));
        let json: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let names: Vec<&str> =
            json.as_array().unwrap().iter().filter_map(|one| one["name"].as_str()).collect();
        // Each once, however many processes see it.
        for name in ["served", "elsewhere"] {
            assert_eq!(names.iter().filter(|found| **found == name).count(), 1, "{listed} {errors}");
        }
    }
    let (listed, _) = text(&picollo(nowhere, &["list", "--all"]));
    let line = listed.lines().find(|line| line.starts_with("elsewhere")).unwrap();
    assert!(line.contains(place.0.to_str().unwrap()) && listed.starts_with("NAME"), "{listed}");
    // Whatever looks at one of them finds it there, and nowhere else.
    let page = place.0.join("page.html");
    let log = place.0.join("log.hlog");
    let (page, log) = (page.to_str().unwrap(), log.to_str().unwrap());
    segment
        .histogram(&Metric { name: "a", ..Metric::default() }, &Options::default())
        .unwrap()
        .record_n(5, 33);
    for arguments in [
        &["show", "elsewhere", "--json"][..],
        &["show", "elsewhere", "--for", "10ms"],
        &["watch", "elsewhere", "--count", "1", "--interval", "10ms"],
        &["record", "elsewhere", "--for", "10ms", "--force", "-o", log],
        &["report", "elsewhere", "-o", page],
    ] {
        for of in [&["--all"][..], &["--user", &user], &["--directory", place.0.to_str().unwrap()]] {
            let output = picollo(nowhere, &[arguments, of].concat());
            let (shown, errors) = text(&output);
            assert!(output.status.success() && errors.is_empty(), "{arguments:?} {of:?}: {shown} {errors}");
        }
        let output = picollo(nowhere, arguments);
        assert!(text(&output).1.contains("no segment of elsewhere"), "{arguments:?}");
    }
    let (_, errors) = text(&picollo(nowhere, &["list", "--user", "no-such-user"]));
    assert_eq!(errors, "picollo list: there is no user \"no-such-user\"; a number will do as well\n");
    drop((segment, service));
}

#[test]
fn what_a_container_publishes() {
    // SAFETY: a query without arguments.
    let is_root = unsafe { libc::geteuid() } == 0;
    let try_it = || {
        std::process::Command::new("unshare")
            .args(["--mount", "mount", "-t", "tmpfs", "none", "/mnt"])
            .status()
    };
    if !is_root || !try_it().is_ok_and(|status| status.success()) {
        println!("SKIPPED: mount namespaces are for root, and need `unshare`");
        return;
    }
    let place = Place::new("contained");
    let service = common::Service::start_contained(&place, "contained", "histogram request ns 3290000 77 x");
    assert!(!place.0.exists(), "its directory is seen from here");
    let pid = service.0.id();
    let entry = || {
        let (listed, errors) = text(&picollo(&place.0, &["list", "--all", "--json"]));
        let json: serde_json::Value = serde_json::from_str(&listed).unwrap();
        let found = json.as_array().unwrap().iter().find(|one| one["name"] == "contained").cloned();
        found.unwrap_or_else(|| panic!("{listed} {errors}"))
    };
    let found = entry();
    assert_eq!((&found["pid"], &found["live"]), (&pid.into(), &true.into()), "{found}");
    assert!(found.to_string().contains(&format!("/proc/{pid}/root{}", place.0.display())), "{found}");
    let (shown, _) =
        text(&picollo(&place.0, &["top", "contained", "--all", "--interval", "100ms", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(
        (&json["entries"][0]["name"], &json["entries"][0]["total_count"]),
        (&"request".into(), &77.into())
    );
    let (shown, errors) = text(&picollo(&place.0, &["show", "contained", "--all", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&shown).unwrap_or_else(|_| panic!("{shown} {errors}"));
    assert_eq!(json["entries"][0]["summary"]["total_count"], 77);
    // This user's own, without --all, are those here.
    let (listed, _) = text(&picollo(&place.0, &["list"]));
    assert!(!listed.contains("contained"), "{listed}");
}

#[test]
fn a_service() {
    common::serve();
}
