//! Segments: a reader returns an answer or an error, whatever the file contains, and however it changes meanwhile.
//!
//! Input: patches of eight bytes to a valid segment: the part, the place in it, and four bytes for it. Every other
//! patch is applied after opening. A patch to a part that does not exist makes the file longer or shorter.
#![no_main]

use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use picollo_core::counters::Metric;
use picollo_core::layouts::ValueSelection;
use picollo_core::{Mode, Options, Since};
use picollo_segment::{Segment, SegmentKind, SegmentOptions, Viewer};

/// The beginnings of the parts worth changing: header, directory, and, on separate pages, counter and histograms.
const DIRECTORY: u64 = 4096;
const OBJECTS: u64 = DIRECTORY + 4096 * 1024;
const PAGE: usize = 4096;

struct Setting {
    path: PathBuf,
    file: std::fs::File,
    original: Vec<u8>,
    /// The pages of it that are not all zeros.
    pages: Vec<usize>,
}

fn setting() -> &'static Setting {
    static SETTING: OnceLock<Setting> = OnceLock::new();
    SETTING.get_or_init(|| {
        let directory = format!("/dev/shm/picollo-fuzz-{}", std::process::id());
        let options = SegmentOptions {
            name: "fuzz",
            directory: &directory,
            max_bytes: 6 << 20,
            interlocked: true,
            ..Default::default()
        };
        let segment = Segment::create(&options).unwrap();
        let metric =
            |name| Metric { name, unit: "ns", labels: &[("a", "b"), ("c", "d")], ..Metric::default() };
        segment.counter(&metric("c")).unwrap().add(9);
        let coarse = Options { relative_error: 0.1, max_trackable: 1 << 20, ..Options::default() };
        segment.histogram(&metric("x"), &coarse).unwrap().record_n(1000, 7);
        let per_cpu = Options { mode: Mode::PerCpu, ..coarse };
        segment.histogram(&Metric { name: "y", ..Metric::default() }, &per_cpu).unwrap().record_n(1, 3);
        // This is an unmapped copy, so that it may become shorter. The mapped segment is removed at the end.
        let path = PathBuf::from(format!("/dev/shm/picollo-fuzz-copy-{}", std::process::id()));
        let original = std::fs::read(segment.path()).unwrap();
        let file = std::fs::File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        // The copy has holes where the original has them, because shortening the file must free its pages.
        file.set_len(original.len() as u64).unwrap();
        let is_something = |&at: &usize| original[at * PAGE..(at + 1) * PAGE].iter().any(|&byte| byte != 0);
        let pages: Vec<usize> = (0..original.len() / PAGE).filter(is_something).collect();
        assert_eq!(original.len() % PAGE, 0);
        write_parts(&file, &original, &pages);
        std::fs::remove_dir_all(&directory).unwrap();
        // SAFETY: the function exists until an orderly exit.
        unsafe { atexit(remove_copy) };
        Setting { path, file, original, pages }
    })
}

unsafe extern "C" {
    fn atexit(function: extern "C" fn()) -> i32;
}

extern "C" fn remove_copy() {
    let _ = std::fs::remove_file(&setting().path);
}

/// Writes everything that is not zero.
fn write_parts(file: &std::fs::File, original: &[u8], pages: &[usize]) {
    for at in pages.iter().map(|page| page * PAGE) {
        file.write_all_at(&original[at..at + PAGE], at as u64).unwrap();
    }
}

fn apply(setting: &Setting, patches: &[[u8; 8]], undo: &mut Vec<u64>) {
    for patch in patches {
        let at = u64::from(u16::from_le_bytes([patch[1], patch[2]]));
        let place = match patch[0] % 6 {
            0 => at % 336,
            1 | 2 => DIRECTORY + at % 3072,
            3 => OBJECTS + at % 128,
            // The interlocked histogram, and the header of the per-CPU one, which ends with its page.
            4 if patch[3] & 1 == 0 => OBJECTS + 4096 + at % 4096,
            4 => OBJECTS + 8192 + 3776 + at % 320,
            _ => {
                let length = setting.original.len() as u64;
                let _ = setting.file.set_len((at * 128).min(length + 1));
                continue;
            }
        };
        let _ = setting.file.write_all_at(&patch[4..], place);
        undo.push(place);
    }
}

fn read(path: &std::path::Path, between: impl FnOnce()) -> Result<(), picollo_native::ExplainedError> {
    let mut viewer = Viewer::open(path)?;
    between();
    for index in 0..viewer.length() {
        match viewer.entry(index)?.kind {
            SegmentKind::Counter => drop(viewer.counter(index)),
            SegmentKind::Histogram => {
                let Ok(mut snapshot) = viewer.snapshot(index) else { continue };
                let counts = snapshot.counts();
                let total: u128 = snapshot.recorded_buckets().map(|bucket| u128::from(bucket.count)).sum();
                assert_eq!(u128::from(counts.total), total.min(u128::from(u64::MAX)));
                let _ = snapshot.summary(ValueSelection::Midpoint);
                let _ = viewer.update(index, &mut snapshot, Since::PreviousUpdate);
            }
        }
    }
    viewer.info()?;
    viewer.refresh()
}

fuzz_target!(|patches: &[u8]| {
    let setting = setting();
    let (patches, _) = patches.as_chunks::<8>();
    let (before, after) = patches.split_at(patches.len().div_ceil(2));
    let mut undo = Vec::new();
    let mut undo_later = Vec::new();
    apply(setting, before, &mut undo);
    if let Err(error) = read(&setting.path, || apply(setting, after, &mut undo_later)) {
        let why = error.message().strip_prefix(setting.path.to_str().unwrap());
        assert!(why.is_some_and(|why| why.starts_with(": ")), "{error} does not name the file");
    }
    setting.file.set_len(setting.original.len() as u64).unwrap();
    // The part that was cut off is now a hole.
    let is_cut = patches.iter().any(|patch| patch[0] % 6 == 5);
    if is_cut {
        write_parts(&setting.file, &setting.original, &setting.pages);
    }
    for place in undo.into_iter().chain(undo_later) {
        let place = place as usize;
        setting.file.write_all_at(&setting.original[place..place + 4], place as u64).unwrap();
    }
});
