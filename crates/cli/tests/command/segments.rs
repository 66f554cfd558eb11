//! `picollo list` and `picollo show` with a segment of this process.

use std::fs::File;
use std::os::unix::fs::{FileExt, PermissionsExt};

use crate::common::{Place, Service, command, json, picollo, text};
use picollo_core::Options;
use picollo_core::counters::Metric;
use picollo_segment::{Segment, SegmentOptions};

#[test]
fn list_shows_who_publishes() {
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
    let list = json(&picollo(&place.0, &["list", "--json"]));
    assert_eq!((&list[0]["name"], &list[0]["pid"]), (&"checkout".into(), &std::process::id().into()));
    assert_eq!((&list[0]["entries"], &list[0]["live"]), (&3.into(), &true.into()));

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
    let shown = json(&picollo(&place.0, &["show", "checkout", "--match", "route=/pay", "--json"]));
    let entries = shown["entries"].as_array().unwrap();
    assert_eq!((entries.len(), &entries[0]["labels"]["route"]), (1, &"/pay".into()));
    assert_eq!(entries[0]["summary"]["total_count"], 1234, "{shown}");
    let p99 = entries[0]["p99"].as_u64().unwrap();
    assert!(p99.abs_diff(3_290_000) <= 32_900, "{p99}");
}

#[test]
fn errors_have_one_line() {
    let place = Place::new("told");
    for command in ["list", "show"] {
        assert_eq!(
            text(&picollo(&place.0, &[command])),
            ("no program publishes here\n".into(), String::new())
        );
    }
    // An obstacle is reported as an error, not as an empty list.
    let file = format!("/dev/shm/picollo-cli-file-{}", std::process::id());
    std::fs::write(&file, "").unwrap();
    let output = picollo(file.as_ref(), &["list"]);
    std::fs::remove_file(&file).unwrap();
    assert!(output.status.code() == Some(1) && text(&output).1.contains("Not a directory"), "{output:?}");
    let segment = place.segment("x");
    segment.histogram(&Metric { name: "a", ..Metric::default() }, &Options::default()).unwrap();
    let broken = place.0.join("broken.1.2");
    std::fs::write(&broken, [0; 5000]).unwrap();
    let output = picollo(&place.0, &["list"]);
    let (listed, errors) = text(&output);
    assert!(output.status.code() == Some(1) && listed.lines().count() == 2, "{listed}");
    assert!(errors.contains("broken.1.2: is no segment") && errors.lines().count() == 1, "{errors}");
    // Other segments are still shown.
    let (shown, errors) = text(&picollo(&place.0, &["show"]));
    assert!(shown.contains("x/a") && errors.contains("broken.1.2: is no segment"), "{shown}{errors}");
    for (arguments, why) in [
        (&["show", "nobody"][..], "no segment of nobody"),
        (&["show", broken.to_str().unwrap()], "is no segment"),
        (&["show", "/dev/null"], "no regular file"),
        (&["show", "x", "--match", "zzz"], "has zzz in its name"),
        (&["list", "--directory", "/dev/shm/not-there"], "No such file"),
        (&["top"], "picollo show --every 1s"),
    ] {
        let output = picollo(&place.0, arguments);
        let (shown, errors) = text(&output);
        assert_eq!((output.status.code(), shown.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(errors.contains(why) && errors.lines().count() == 1, "{errors}");
    }
}

/// A damaged entry only affects itself: commands continue with the others, and report it.
#[test]
fn one_entry_that_cannot_be_read_ends_nothing() {
    let place = Place::new("damaged");
    let options = SegmentOptions {
        name: "shop",
        directory: place.0.to_str().unwrap(),
        max_bytes: 6 << 20,
        interlocked: true,
        ..SegmentOptions::default()
    };
    let segment = Segment::create(&options).unwrap();
    let make = |name| segment.histogram(&Metric { name, ..Metric::default() }, &Options::default()).unwrap();
    let (_bad, good, _worse) = (make("bad"), make("good"), make("worse"));
    good.record_n(5, 33);
    // Offsets in docs/segment-format.md: the header of the first histogram, and the state of the third entry.
    let file = File::options().write(true).open(segment.path()).unwrap();
    for at in [4096 + 4096 * 1024, 4096 + 2 * 1024] {
        file.write_all_at(&[0xff; 64], at).unwrap();
    }
    let (log, page) = (&*place.path("a.hlog"), &*place.path("a.html"));
    for (arguments, status, expected) in [
        (&["show", "shop"][..], 1, "good      33 "),
        (&["show", "shop", "--every", "10ms", "--count", "3"], 0, " good "),
        (&["record", "shop", "-o", log, "--interval", "10ms", "--for", "50ms"], 0, ""),
        (&["report", "shop", "-o", page], 0, ""),
        (&["serve", "--once"], 0, "good_count{segment=\"shop\"} 33\n"),
    ] {
        let output = picollo(&place.0, arguments);
        let (shown, errors) = text(&output);
        assert!(shown.contains(expected) && output.status.code() == Some(status), "{shown}{errors}");
        // Errors are reported once, no matter how often it was tried.
        assert!(errors.lines().count() == 2 && errors.contains("shop."), "{arguments:?}: {errors}");
    }
    assert!(std::fs::read_to_string(page).unwrap().contains("<h2>good</h2>"));
    let (shown, _) = text(&picollo(&place.0, &["serve", "--once"]));
    assert!(shown.contains("picollo_left_out{reason=\"unreadable\"} 2.0\n"), "{shown}");
}

/// Two variables may name the same directory, one of them through a link: its segments count once.
#[test]
fn a_directory_of_two_names_is_one() {
    let place = Place::new("linked");
    let (directory, link) = (place.0.join("a/picollo"), place.0.join("link"));
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(place.0.join("a"), &link).unwrap();
    let inner = Place(directory);
    let _segment = inner.segment("shop");
    let mut command = command(&["list", "--json"]);
    command.env_remove("PICOLLO_DIR");
    command.env("RUNTIME_DIRECTORY", place.0.join("a")).env("XDG_RUNTIME_DIR", link);
    let list = json(&command.output().unwrap());
    assert_eq!(list.as_array().unwrap().iter().filter(|one| one["name"] == "shop").count(), 1, "{list}");
}

/// If a directory of this user is rejected, the commands must not report that nobody publishes.
#[test]
fn a_skipped_directory_is_reported() {
    let place = Place::new("closed");
    let directory = place.0.join("picollo");
    std::fs::create_dir_all(&directory).unwrap();
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o777)).unwrap();
    for arguments in [&["list"][..], &["show"], &["prune"]] {
        let mut command = command(arguments);
        let output = command.env_remove("PICOLLO_DIR").env("XDG_RUNTIME_DIR", &place.0).output().unwrap();
        let (shown, errors) = text(&output);
        assert!(errors.contains("others may write to the directory"), "{arguments:?}: {shown}{errors}");
        assert!(
            output.status.code() == Some(1) && !shown.contains("no program publishes"),
            "{shown}{errors}"
        );
    }
}

#[test]
fn segments_of_other_users() {
    let place = Place::new("others");
    let segment = place.segment("elsewhere");
    // The directory is not in this command's environment, but in that of a running service of this user.
    let service = Service::start(&place, "served", "");
    let nowhere = std::path::Path::new("/dev/shm/picollo-nowhere");
    let list = json(&picollo(nowhere, &["list", "--all", "--json"]));
    // Each is listed once, even if several processes see it.
    for name in ["served", "elsewhere"] {
        let of_name = list.as_array().unwrap().iter().filter(|one| one["name"] == name);
        assert_eq!(of_name.count(), 1, "{list}");
    }
    let (listed, _) = text(&picollo(nowhere, &["list", "--all"]));
    let line = listed.lines().find(|line| line.starts_with("elsewhere")).unwrap();
    assert!(line.contains(place.0.to_str().unwrap()) && listed.starts_with("NAME"), "{listed}");
    // Commands for one of them find it there, and nowhere else.
    let (page, log) = (&*place.path("page.html"), &*place.path("log.hlog"));
    segment
        .histogram(&Metric { name: "a", ..Metric::default() }, &Options::default())
        .unwrap()
        .record_n(5, 33);
    for arguments in [
        &["show", "elsewhere", "--json"][..],
        &["show", "elsewhere", "--every", "10ms", "--count", "1"],
        &["record", "elsewhere", "--for", "10ms", "--force", "-o", log],
        &["report", "elsewhere", "-o", page],
    ] {
        for of in [&["--all"][..], &["--directory", place.0.to_str().unwrap()]] {
            let output = picollo(nowhere, &[arguments, of].concat());
            let (shown, errors) = text(&output);
            assert!(output.status.success() && errors.is_empty(), "{arguments:?} {of:?}: {shown} {errors}");
        }
        let output = picollo(nowhere, arguments);
        assert!(text(&output).1.contains("no segment of elsewhere"), "{arguments:?}");
    }
    drop((segment, service));
}

#[test]
fn segments_of_a_container() {
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
    let service = Service::start_contained(&place, "contained", "histogram request ns 3290000 77 x");
    assert!(!place.0.exists(), "its directory is seen from here");
    let pid = service.0.id();
    let found = {
        let list = json(&picollo(&place.0, &["list", "--all", "--json"]));
        let found = list.as_array().unwrap().iter().find(|one| one["name"] == "contained").cloned();
        found.unwrap_or_else(|| panic!("{list}"))
    };
    assert_eq!((&found["pid"], &found["live"]), (&pid.into(), &true.into()), "{found}");
    assert!(found.to_string().contains(&format!("/proc/{pid}/root{}", place.0.display())), "{found}");
    let shown = json(&picollo(&place.0, &["show", "contained", "--all", "--json"]));
    assert_eq!(shown["entries"][0]["summary"]["total_count"], 77);
    // Without --all, only this user's segments outside containers are listed.
    let (listed, _) = text(&picollo(&place.0, &["list"]));
    assert!(!listed.contains("contained"), "{listed}");
}
