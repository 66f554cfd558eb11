//! Files that are not what they claim to be.

use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use picollo_core::Mode;
use picollo_segment::*;

use crate::common::named;
use crate::setting::*;

pub const TESTS: &[(&str, fn())] = named![
    cut_off_anywhere,
    any_field_flipped,
    one_broken_entry_leaves_the_others,
    another_file_in_its_place,
    other_kinds_of_files_are_refused,
    files_that_change_under_a_viewer,
    a_half_built_entry_is_freed,
];

/// A copy of a segment with two histograms and a counter in it.
fn copy(name: &str) -> PathBuf {
    let options = SegmentOptions { interlocked: true, ..called("original") };
    let segment = Segment::create(&options).unwrap();
    for (name, mode) in [("a", Mode::Interlocked), ("b", Mode::PerCpu)] {
        segment.histogram(&metric(name), &in_mode(mode)).unwrap().record_n(1000, 7);
    }
    segment.counter(&metric("c")).unwrap().add(9);
    let path = directory().join(name);
    std::fs::copy(segment.path(), &path).unwrap();
    std::fs::remove_file(segment.path()).unwrap();
    path
}

/// Reads everything, successfully or with an error that names the file and the reason. Returns whether it succeeded.
fn read_all(path: &Path) -> bool {
    let all = || {
        let mut viewer = Viewer::open(path)?;
        viewer.info()?;
        for index in 0..viewer.length() {
            match viewer.entry(index)?.kind {
                SegmentKind::Histogram => drop(viewer.snapshot(index)?),
                SegmentKind::Counter => drop(viewer.counter(index)?),
            }
        }
        viewer.refresh()
    };
    match all() {
        Ok(()) => true,
        Err(error) => {
            let name = path.to_str().unwrap();
            let why = error
                .message()
                .strip_prefix(name)
                .unwrap_or_else(|| panic!("does not name the file: {error}"));
            assert!(why.starts_with(": ") && why.len() > 8 && !why.contains('\n'), "{error}");
            false
        }
    }
}

fn cut_off_anywhere() {
    let path = copy("cut");
    assert!(read_all(&path));
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    let mut length = file.metadata().unwrap().len();
    while length >= 64 {
        length -= 64;
        file.set_len(length).unwrap();
        assert!(!read_all(&path), "{length}");
        assert!(Segment::attach(&path).is_err(), "{length}");
    }
    // The same for a longer file.
    let path = copy("longer");
    std::fs::File::options().append(true).open(&path).unwrap().write_all(b"x").unwrap();
    assert!(!read_all(&path));
}

fn any_field_flipped() {
    let path = copy("flipped");
    let mut file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let directory_end = 4096 + 4096 * 1024;
    let images = [directory_end, directory_end + 20480];
    let mut places: Vec<u64> = (0..336).chain(4096..4096 + 3 * 1024).collect();
    places.extend(images[0]..images[0] + 256);
    // The header of a per-CPU histogram ends with the page, where its table begins.
    places.extend(images[1] + 4096 - 320..images[1] + 4096);
    let (mut well, mut refused) = (0, 0);
    for place in places {
        let mut byte = [0];
        file.seek(SeekFrom::Start(place)).unwrap();
        file.read_exact(&mut byte).unwrap();
        for mask in [0x01, 0x80, 0xff, byte[0]] {
            file.write_all_at(&[byte[0] ^ mask], place).unwrap();
            match read_all(&path) {
                true => well += 1,
                false => refused += 1,
            }
        }
        file.write_all_at(&byte, place).unwrap();
    }
    assert!(read_all(&path) && well > 1000 && refused > 300, "{well} {refused}");
}

/// The report names the entry and the reason, and the rest can be read.
fn one_broken_entry_leaves_the_others() {
    let path = copy("one");
    let file = std::fs::File::options().read(true).write(true).open(&path).unwrap();
    let second = 4096 + 1024;
    for (at, bytes, why) in [
        (8, 9u32, "is of a kind that this version does not know"),
        (0, 77, "is in a state that this version does not know"),
        (16, 3, "lies outside of the segment"),
        (48, 9, "is of a mode that this version does not know"),
        (68, 0xffff_ffff, "its texts are longer than an entry"),
    ] {
        let mut before = [0; 4];
        file.read_exact_at(&mut before, second + at).unwrap();
        file.write_all_at(&bytes.to_ne_bytes(), second + at).unwrap();
        let mut viewer = Viewer::open(&path).unwrap();
        viewer.refresh().unwrap();
        assert_eq!(viewer.entries().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(viewer.faults(), [format!("{}: entry 1 {why}", path.display())]);
        assert_eq!((viewer.snapshot(0).unwrap().counts().total, viewer.counter(1).unwrap()), (7, 9));
        file.write_all_at(&before, second + at).unwrap();
    }
    assert!(Viewer::open(&path).unwrap().faults().is_empty());
}

/// A viewer that has it open continues to read the file that it opened.
fn another_file_in_its_place() {
    let (path, other) = (copy("replaced"), copy("other"));
    let mut viewer = Viewer::open(&path).unwrap();
    std::fs::OpenOptions::new().write(true).open(&other).unwrap().write_all_at(b"nonsense", 0).unwrap();
    std::fs::rename(&other, &path).unwrap();
    viewer.refresh().unwrap();
    assert_eq!(viewer.snapshot(0).unwrap().counts().total, 7);
    let error = Viewer::open(&path).unwrap_err();
    assert!(error.message().contains("replaced: is no segment"), "{error}");
    assert!(Segment::attach(&path).unwrap_err().message().contains("replaced: is no segment"));
}

fn other_kinds_of_files_are_refused() {
    let place = copy("real");
    let path = directory().join("other");
    let refused = |why: &str| {
        let error = Viewer::open(&path).unwrap_err();
        assert!(error.message().contains(why) && error.message().contains("other"), "{error}");
        assert!(Segment::attach(&path).is_err());
    };
    refused("No such file");
    symlink(&place, &path).unwrap();
    refused("is a link");
    std::fs::remove_file(&path).unwrap();
    let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
    // SAFETY: the name ends in NUL.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    refused("no regular file");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    refused("no regular file");
    std::fs::remove_dir(&path).unwrap();
    for content in [&b""[..], b"#!/bin/sh\n", &[0; 8192]] {
        std::fs::write(&path, content).unwrap();
        refused("");
    }
    // A file that is no segment is not removed either, whatever its name.
    std::fs::rename(&path, directory().join("x.1.2")).unwrap();
    assert_eq!(prune_segments(Duration::ZERO).unwrap().len(), 0);
    let listed = list_segments();
    assert!(listed.len() == 1 && listed[0].info.is_err(), "{listed:?}");
}

/// Another process writes anything anywhere while a viewer reads.
fn files_that_change_under_a_viewer() {
    let path = copy("changing");
    let original = std::fs::read(&path).unwrap();
    let vandal = start(|| {
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let mut random = Random(7);
        let end_of_directory = 4096 + 4096 * 1024;
        loop {
            let place = match random.next() % 3 {
                0 => random.next() % 336,
                1 => 4096 + random.next() % 3072,
                _ => end_of_directory + random.next() % 1000,
            };
            let word = random.next() >> (random.next() % 64);
            let _ = file.write_all_at(&word.to_ne_bytes(), place);
            // Now and then the file is whole again, or gone.
            match random.next() % 8 {
                0 => drop(file.set_len(random.next() % original.len() as u64)),
                1..=3 => {
                    let _ = file.set_len(original.len() as u64);
                    let _ = file.write_all_at(&original[..8192], 0);
                    let _ = file.write_all_at(&original[end_of_directory as usize..], end_of_directory);
                }
                _ => {}
            }
        }
    });
    let well = (0..3000).filter(|_| read_all(&path)).count();
    kill(vandal);
    println!("{well} of 3000 readings found it whole");
}

fn a_half_built_entry_is_freed() {
    let segment = small("half");
    segment.counter(&metric("a")).unwrap().add(1);
    segment.counter(&metric("b")).unwrap().add(2);
    // As if its maker had died before finishing it.
    let file = std::fs::File::options().write(true).open(segment.path()).unwrap();
    file.write_all_at(&1u32.to_ne_bytes(), 4096 + 1024).unwrap();
    let mut viewer = view(segment);
    assert_eq!(viewer.length(), 1);
    segment.counter(&metric("b")).unwrap().add(3);
    viewer.refresh().unwrap();
    let found: Vec<(&str, u64)> = viewer
        .entries()
        .enumerate()
        .map(|(at, entry)| (entry.name.as_str(), viewer.counter(at).unwrap()))
        .collect();
    assert_eq!(found, [("a", 1), ("b", 3)]);
}
