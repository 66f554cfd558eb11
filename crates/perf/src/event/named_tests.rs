use std::cell::Cell;

use super::*;
use crate::event::pfm::NoLibrary;
use picollo_native::seam::kernel::Attr;
use picollo_native::seam::sys::Errno;

/// A system that has only `/proc/cpuinfo`.
pub(in crate::event) struct Cpuinfo(pub String);

impl Files for Cpuinfo {
    fn read_file(&self, path: &str, buffer: &mut [u8]) -> core::result::Result<usize, Errno> {
        if path != "/proc/cpuinfo" {
            return Err(Errno(libc::ENOENT));
        }
        let length = self.0.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.0.as_bytes()[..length]);
        Ok(length)
    }

    fn list(&self, _: &str, _: &mut dyn FnMut(&str)) -> core::result::Result<(), Errno> {
        Err(Errno(libc::ENOENT))
    }
}

fn skylake() -> Cpuinfo {
    Cpuinfo("flags\t: avx512f\n".into())
}

fn sapphire() -> Cpuinfo {
    Cpuinfo("flags\t: amx_tile\n".into())
}

/// A library that knows one event, `MEM.L1_MISS`, of the given PMU.
struct Fake {
    pmu: &'static str,
    is_core: bool,
    forced: &'static str,
    is_present: bool,
    asked: Cell<u32>,
    /// What it answers besides.
    change: fn(&mut Encoded),
}

impl Fake {
    fn of(pmu: &'static str) -> Fake {
        Fake { pmu, is_core: true, forced: "", is_present: true, asked: Cell::new(0), change: |_| () }
    }
}

fn copied<const N: usize>(from: &str) -> [c_char; N] {
    let mut to = [0; N];
    text::set(&mut to, format_args!("{from}"));
    to
}

impl Library for Fake {
    fn encode(&self, name: &str, ring: i32) -> core::result::Result<Encoded, Refusal> {
        self.asked.set(self.asked.get() + 1);
        let name = name.split_once("::").map_or(name, |(_, name)| name);
        let Some(rest) = name.strip_prefix("MEM.L1_MISS") else {
            let is_known = name.starts_with("MEM");
            return Err(if is_known {
                Refusal::wrong("no such mask")
            } else {
                Refusal::unknown(format_args!(""))
            });
        };
        let mut attr = Attr { kind: 4, config: 0x8d1, config1: 7, ..Attr::default() };
        let (mut user, mut kernel) = (false, false);
        for part in rest.split(':').skip(1) {
            match part {
                "u" | "U" => user = true,
                "k" => kernel = true,
                "I" | "H" => attr.config |= 1 << 23,
                "mg" | "mh" => {}
                _ => return Err(Refusal::wrong("no such attribute")),
            }
        }
        if !user && !kernel {
            (user, kernel) = (ring == USER_RING, ring == KERNEL_RING);
        }
        attr.flags |= if user { 0 } else { flag::EXCLUDE_USER };
        attr.flags |= if kernel { 0 } else { flag::EXCLUDE_KERNEL };
        let full = format!("{}::MEM:L1_MISS:u={}", self.pmu, u8::from(user));
        let mut encoded = Encoded {
            attr,
            cpu: -1,
            pmu: copied(self.pmu),
            is_core: self.is_core,
            is_present: self.is_present,
            full: copied(&full),
        };
        (self.change)(&mut encoded);
        Ok(encoded)
    }

    fn list(&self, each: &mut dyn FnMut(&ListedEvent<'_>)) -> core::result::Result<(), Refusal> {
        for name in ["MEM.L1_MISS", "MEM.L1_HIT", "OTHER"] {
            each(&ListedEvent { pmu: self.pmu, name, about: "about" });
        }
        Ok(())
    }

    fn is_forced(&self, pmu: &str) -> bool {
        self.forced == pmu
    }
}

fn parse(sys: &Cpuinfo, library: &dyn Library, spec: &str) -> Result<Event> {
    Event::parse_among(sys, library, spec)
}

fn refusal(sys: &Cpuinfo, library: &dyn Library, spec: &str) -> (Status, String) {
    let error = parse(sys, library, spec).expect_err(spec);
    (error.status(), error.message().to_owned())
}

#[test]
fn the_library_is_asked_last() {
    let library = Fake::of("skx");
    for spec in ["cycles", "cycles:u", "r1c2", "mem:0x1000/8:w", "L1-dcache-load-misses", "Raw:0x1"] {
        assert!(parse(&skylake(), &library, spec).is_ok(), "{spec}");
    }
    for spec in ["", "cpu/event=1/", "mem:zz", "hardware:zz", "x".repeat(257).as_str()] {
        assert!(parse(&skylake(), &library, spec).is_err(), "{spec}");
    }
    assert_eq!(library.asked.get(), 0);
    // For a generic event with an unknown modifier, the error is about the modifier, though the library was asked.
    assert!(refusal(&skylake(), &library, "cycles:zz").1.contains("not a modifier"));
}

#[test]
fn another_processors_names_are_refused() {
    let (status, why) = refusal(&sapphire(), &Fake::of("icx"), "MEM.L1_MISS");
    assert_eq!(status, Status::NoSuchEvent);
    let expected = "\"MEM.L1_MISS\" cannot be counted: libpfm4 takes this processor for icx, but it has amx_tile, which no icx has; \
        use a newer libpfm4 or raw codes. LIBPFM_FORCE_PMU=icx in the environment counts it all the same";
    assert_eq!(why, expected);
    let (status, why) = refusal(&skylake(), &Fake { is_present: false, ..Fake::of("future") }, "MEM.L1_MISS");
    assert!(
        status == Status::NoSuchEvent && why.contains("libpfm4 reports that this processor is not a future"),
        "{why}"
    );
    assert!(parse(&skylake(), &Fake::of("future"), "MEM.L1_MISS").is_ok());
    // Nor are its names suggested.
    assert!(!refusal(&sapphire(), &Fake::of("icx"), "MEN.L1_MISS").1.contains("Did you mean"));
}

#[test]
fn a_forced_pmu_is_accepted() {
    let forced = Fake { forced: "icx", ..Fake::of("icx") };
    assert_eq!(parse(&sapphire(), &forced, "MEM.L1_MISS").unwrap().name(), "icx::MEM.L1_MISS");
    let absent = Fake { is_present: false, ..forced };
    assert_eq!(parse(&skylake(), &absent, "MEM.L1_MISS").unwrap().config, 0x8d1);
    let other = Fake { forced: "skx", ..Fake::of("icx") };
    assert_eq!(refusal(&sapphire(), &other, "MEM.L1_MISS").0, Status::NoSuchEvent);
}

#[test]
fn what_sessions_decide_is_no_part_of_an_event() {
    let changes: [fn(&mut Encoded); 4] = [
        |encoded| encoded.attr.sample_period = 1,
        |encoded| encoded.attr.flags |= flag::PINNED,
        |encoded| encoded.attr.flags |= flag::EXCLUSIVE,
        |encoded| encoded.cpu = 0,
    ];
    for change in changes {
        let (status, why) = refusal(&skylake(), &Fake { change, ..Fake::of("skx") }, "MEM.L1_MISS");
        assert!(status == Status::InvalidArgument && why.contains("sessions decide"), "{why}");
    }
}

#[test]
fn other_pmus_than_the_cores_are_the_kernels() {
    let uncore = Fake { is_core: false, ..Fake::of("skx_unc_imc0") };
    let (status, why) = refusal(&skylake(), &uncore, "MEM.L1_MISS");
    assert!(status == Status::NoSuchEvent && why.contains("no PMU of a core"), "{why}");
}

/// What errors and lists report about the library.
#[test]
fn a_library_that_is_absent_or_broken() {
    struct Failing(fn() -> Refusal);
    impl Library for Failing {
        fn encode(&self, _: &str, _: i32) -> core::result::Result<Encoded, Refusal> {
            Err((self.0)())
        }
        fn list(&self, _: &mut dyn FnMut(&ListedEvent<'_>)) -> core::result::Result<(), Refusal> {
            Err((self.0)())
        }
    }
    let starved = Failing(|| Refusal::Refused(Status::OutOfMemory.into()));
    let broken = Failing(|| crate::event::pfm::broken(format_args!("file too short")));
    assert_eq!(refusal(&skylake(), &starved, "MEM.L1_MISS").0, Status::OutOfMemory);
    let (status, why) = refusal(&skylake(), &NoLibrary, "MEM.L1_MISS");
    assert!(
        status == Status::NoSuchEvent && why.contains("libpfm4") && why.contains("not installed"),
        "{why}"
    );
    let (_, why) = refusal(&skylake(), &NoLibrary, "MEMORY:L1_MISS");
    assert!(why.contains("no such tracepoint") && why.ends_with("is not installed here"), "{why}");
    assert!(!refusal(&skylake(), &NoLibrary, "sched:no_such_thing").1.contains("libpfm4"));
    let (status, why) = refusal(&skylake(), &broken, "MEM.L1_MISS");
    assert!(status == Status::NoSuchEvent && why.contains("cannot be used: file too short"), "{why}");
    fn listed(sys: &Cpuinfo, library: &dyn Library) -> (Vec<String>, core::result::Result<(), String>) {
        let mut names = Vec::new();
        let result = list(sys, library, &mut |event| names.push(format!("{}::{}", event.pmu, event.name)));
        (names, result.map_err(|error| error.message().to_owned()))
    }
    assert!(listed(&skylake(), &NoLibrary).1.unwrap_err().contains("not installed"));
    assert!(listed(&skylake(), &broken).1.unwrap_err().contains("file too short"));
    let (names, result) = listed(&skylake(), &Fake::of("skx"));
    assert_eq!((names.len(), names[0].as_str(), result), (3, "skx::MEM.L1_MISS", Ok(())));
    let (names, result) = listed(&sapphire(), &Fake::of("skx"));
    assert!(names.is_empty() && result.unwrap_err().contains("which no skx has"));
}

/// A library may answer anything: the result is an event or an error.
#[test]
fn hostile_answers() {
    for pmu in ["", "a b", "a::b", "sk\u{1b}[0m", "skx/", &"p".repeat(63)] {
        let library = Fake { forced: Box::leak(pmu.into()), ..Fake::of(Box::leak(pmu.to_owned().into())) };
        let (status, why) = refusal(&skylake(), &library, "MEM.L1_MISS");
        assert!(status == Status::NoSuchEvent && why.contains("it calls a PMU"), "{pmu}: {why}");
        assert!(list(&skylake(), &library, &mut |_| panic!("listed")).is_err());
    }
    // If cut, a name might mean another event.
    struct Any;
    impl Library for Any {
        fn encode(&self, _: &str, _: i32) -> core::result::Result<Encoded, Refusal> {
            Fake::of("skx").encode("MEM.L1_MISS", USER_RING)
        }
        fn list(&self, _: &mut dyn FnMut(&ListedEvent<'_>)) -> core::result::Result<(), Refusal> {
            Ok(())
        }
    }
    assert!(parse(&skylake(), &Any, &"N".repeat(122)).unwrap().name().len() == 127);
    assert_eq!(refusal(&skylake(), &Any, &"N".repeat(123)).0, Status::InvalidArgument);
}
