use std::cell::Cell;

use super::*;
use crate::event::pfm::Nobody;
use crate::os::kernel::Attr;
use crate::os::sys::Errno;
use proptest::prelude::*;

/// A system of nothing but `/proc/cpuinfo`.
struct Cpuinfo(&'static str);

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

const SKYLAKE: Cpuinfo =
    Cpuinfo("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nflags\t: avx512f\n");
const SAPPHIRE: Cpuinfo =
    Cpuinfo("vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\nflags\t: amx_tile\n");

/// A library that knows one event, `MEM.L1_MISS`, of the PMU that it is told.
struct Fake {
    pmu: &'static str,
    is_core: bool,
    forced: &'static str,
    attr: Attr,
    cpu: i32,
    asked: Cell<u32>,
}

impl Fake {
    fn of(pmu: &'static str) -> Fake {
        let attr = Attr { kind: 4, config: 0x8d1, config1: 7, ..Attr::default() };
        Fake { pmu, is_core: true, forced: "", attr, cpu: -1, asked: Cell::new(0) }
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
            return Err(if name.starts_with("MEM") {
                Refusal::Wrong(copied("no such mask"))
            } else {
                Refusal::Unknown
            });
        };
        let mut attr = self.attr;
        let (mut user, mut kernel) = (false, false);
        for part in rest.split(':').skip(1) {
            match part {
                "u" | "U" => user = true,
                "k" => kernel = true,
                "I" | "H" => attr.config |= 1 << 23,
                "mg" | "mh" => {}
                _ => return Err(Refusal::Wrong(copied("no such attribute"))),
            }
        }
        if !user && !kernel {
            (user, kernel) = (ring == USER_RING, ring == KERNEL_RING);
        }
        attr.flags |= if user { 0 } else { flag::EXCLUDE_USER };
        attr.flags |= if kernel { 0 } else { flag::EXCLUDE_KERNEL };
        let full = format!("{}::MEM:L1_MISS:u={}", self.pmu, u8::from(user));
        Ok(Encoded { attr, cpu: self.cpu, pmu: copied(self.pmu), is_core: self.is_core, full: copied(&full) })
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

fn parse<L: Library>(sys: &Cpuinfo, library: &L, spec: &str) -> Result<Event> {
    Event::parse_among(sys, library, spec)
}

fn said<L: Library>(sys: &Cpuinfo, library: &L, spec: &str) -> (Status, String) {
    let error = parse(sys, library, spec).expect_err(spec);
    (error.status(), error.message().to_owned())
}

#[test]
fn a_name_of_the_processor() {
    let library = Fake::of("skx");
    let event = parse(&SKYLAKE, &library, "MEM.L1_MISS").unwrap();
    assert_eq!((event.r#type, event.config, event.config1, event.modifiers), (4, 0x8d1, 7, 0));
    assert_eq!(event.name(), "skx::MEM.L1_MISS");
    // The name means the event again.
    assert_eq!(parse(&SKYLAKE, &library, event.name()).unwrap(), event);
    for (spec, modifiers) in [
        ("MEM.L1_MISS:u", EVENT_USER),
        ("MEM.L1_MISS:U", EVENT_USER),
        ("MEM.L1_MISS:k", EVENT_KERNEL),
        ("MEM.L1_MISS:u:k", EVENT_USER | EVENT_KERNEL),
        ("MEM.L1_MISS:ukpp", EVENT_USER | EVENT_KERNEL | (2 * EVENT_PRECISE)),
        ("MEM.L1_MISS:u:pp", EVENT_USER | (2 * EVENT_PRECISE)),
        ("MEM.L1_MISS:mg", EVENT_GUEST),
        ("MEM.L1_MISS:mh:mg", EVENT_HOST | EVENT_GUEST),
        ("skx::MEM.L1_MISS:k", EVENT_KERNEL),
    ] {
        let event = parse(&SKYLAKE, &library, spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
        assert_eq!((event.modifiers, event.config), (modifiers, 0x8d1), "{spec}");
        assert_eq!(event.name(), format!("skx::{}", spec.trim_start_matches("skx::")));
        assert_eq!(parse(&SKYLAKE, &library, event.name()).unwrap(), event, "{spec}");
    }
    // Host and idle, as everywhere here, though the library takes them for something of its own.
    assert_eq!(parse(&SKYLAKE, &library, "MEM.L1_MISS:H").unwrap().modifiers, EVENT_HOST);
    let idle = parse(&SKYLAKE, &library, "MEM.L1_MISS:I").unwrap();
    assert_eq!((idle.modifiers, idle.config), (crate::event::modifiers::EVENT_EXCLUDE_IDLE, 0x8d1));
}

#[test]
fn names_that_others_know_do_not_reach_it() {
    let library = Fake::of("skx");
    for spec in ["cycles", "cycles:u", "r1c2", "mem:0x1000/8:w", "L1-dcache-load-misses", "Raw:0x1"] {
        assert!(parse(&SKYLAKE, &library, spec).is_ok(), "{spec}");
    }
    for spec in ["", "cpu/event=1/", "mem:zz", "hardware:zz", "x".repeat(257).as_str()] {
        assert!(parse(&SKYLAKE, &library, spec).is_err(), "{spec}");
    }
    assert_eq!(library.asked.get(), 0);
    // A generic event with what is no modifier stays one, though the library was asked.
    assert!(said(&SKYLAKE, &library, "cycles:zz").1.contains("no modifier"));
}

#[test]
fn another_processors_names_are_refused() {
    let (status, why) = said(&SAPPHIRE, &Fake::of("icx"), "MEM.L1_MISS");
    assert_eq!(status, Status::NoSuchEvent);
    for part in [
        "\"MEM.L1_MISS\"",
        "encodes it for icx",
        "icx is Intel family 6 model 106",
        "this is Intel family 6 model 143",
        "LIBPFM_FORCE_PMU=icx",
    ] {
        assert!(why.contains(part), "{part}: {why}");
    }
    // Nor may the model be right and a feature prove it wrong.
    let liar = Cpuinfo("vendor_id : GenuineIntel\ncpu family : 6\nmodel : 106\nflags : avx512f amx_tile\n");
    let (status, why) = said(&liar, &Fake::of("icx"), "MEM.L1_MISS");
    assert!(status == Status::NoSuchEvent && why.contains("has amx_tile, which none of them has"), "{why}");
    for unknown in [Cpuinfo(""), Cpuinfo("vendor_id : Martian\n")] {
        let (status, why) = said(&unknown, &Fake::of("skx"), "MEM.L1_MISS");
        assert!(status == Status::NoSuchEvent && why.contains("/proc/cpuinfo does not say"), "{why}");
    }
    let (_, why) = said(&SKYLAKE, &Fake::of("future"), "MEM.L1_MISS");
    assert!(why.contains("which processors future belongs to is not known"), "{why}");
    // Its names are not suggested either.
    assert!(!said(&SAPPHIRE, &Fake::of("icx"), "MEN.L1_MISS").1.contains("Did you mean"));
}

#[test]
fn the_user_may_say_otherwise() {
    let forced = Fake { forced: "icx", ..Fake::of("icx") };
    assert_eq!(parse(&SAPPHIRE, &forced, "MEM.L1_MISS").unwrap().name(), "icx::MEM.L1_MISS");
    assert_eq!(parse(&Cpuinfo(""), &forced, "MEM.L1_MISS").unwrap().config, 0x8d1);
    let other = Fake { forced: "skx", ..Fake::of("icx") };
    assert_eq!(said(&SAPPHIRE, &other, "MEM.L1_MISS").0, Status::NoSuchEvent);
}

#[test]
fn what_sessions_decide_is_no_part_of_an_event() {
    let with = |change: fn(&mut Fake)| {
        let mut library = Fake::of("skx");
        change(&mut library);
        said(&SKYLAKE, &library, "MEM.L1_MISS")
    };
    for (status, why) in [
        with(|library| library.attr.sample_period = 1),
        with(|library| library.attr.flags |= flag::PINNED),
        with(|library| library.attr.flags |= flag::EXCLUSIVE),
        with(|library| library.cpu = 0),
    ] {
        assert!(status == Status::InvalidArgument && why.contains("sessions decide"), "{why}");
    }
    let uncore = Fake { is_core: false, ..Fake::of("skx_unc_imc0") };
    let (status, why) = said(&SKYLAKE, &uncore, "MEM.L1_MISS");
    assert!(status == Status::NoSuchEvent && why.contains("no PMU of a core"), "{why}");
}

#[test]
fn names_that_are_nearly_right() {
    let library = Fake::of("skx");
    let (status, why) = said(&SKYLAKE, &library, "MEM.L1_MIS");
    assert_eq!(status, Status::InvalidArgument);
    assert!(why.contains("no such mask. Did you mean MEM.L1_MISS?"), "{why}");
    let (_, why) = said(&SKYLAKE, &library, "MEM");
    assert!(why.contains("Did you mean MEM.L1_MISS or MEM.L1_HIT?"), "{why}");
    let (status, why) = said(&SKYLAKE, &library, "OTHR:u");
    assert!(status == Status::NoSuchEvent && why.contains("Did you mean OTHER?"), "{why}");
    assert!(said(&SKYLAKE, &library, "cylces").1.contains("\"cylces\". Did you mean cycles?"));
}

/// What it says of itself, when it is there and when it is not.
#[test]
fn a_library_that_is_absent_or_broken() {
    struct Broken;
    impl Library for Broken {
        fn encode(&self, _: &str, _: i32) -> core::result::Result<Encoded, Refusal> {
            Err(Refusal::Broken(copied("file too short")))
        }
        fn list(&self, _: &mut dyn FnMut(&ListedEvent<'_>)) -> core::result::Result<(), Refusal> {
            Err(Refusal::Broken(copied("file too short")))
        }
        fn is_forced(&self, _: &str) -> bool {
            true
        }
    }
    struct Starved;
    impl Library for Starved {
        fn encode(&self, _: &str, _: i32) -> core::result::Result<Encoded, Refusal> {
            Err(Refusal::NoMemory)
        }
        fn list(&self, _: &mut dyn FnMut(&ListedEvent<'_>)) -> core::result::Result<(), Refusal> {
            Err(Refusal::NoMemory)
        }
        fn is_forced(&self, _: &str) -> bool {
            true
        }
    }
    assert_eq!(said(&SKYLAKE, &Starved, "MEM.L1_MISS").0, Status::OutOfMemory);
    let (status, why) = said(&SKYLAKE, &Nobody, "MEM.L1_MISS");
    assert!(
        status == Status::NoSuchEvent && why.contains("libpfm4") && why.contains("not installed"),
        "{why}"
    );
    let (_, why) = said(&SKYLAKE, &Nobody, "MEMORY:L1_MISS");
    assert!(why.contains("no such tracepoint") && why.ends_with("is not installed here"), "{why}");
    assert!(!said(&SKYLAKE, &Nobody, "sched:no_such_thing").1.contains("libpfm4"));
    let (status, why) = said(&SKYLAKE, &Broken, "MEM.L1_MISS");
    assert!(status == Status::NoSuchEvent && why.contains("cannot be used: file too short"), "{why}");
    fn listed<L: Library>(sys: &Cpuinfo, library: &L) -> (Vec<String>, core::result::Result<(), String>) {
        let mut names = Vec::new();
        let result = list(sys, library, &mut |event| names.push(format!("{}::{}", event.pmu, event.name)));
        (names, result.map_err(|error| error.message().to_owned()))
    }
    assert!(listed(&SKYLAKE, &Nobody).1.unwrap_err().contains("not installed"));
    assert!(listed(&SKYLAKE, &Broken).1.unwrap_err().contains("file too short"));
    let (names, result) = listed(&SKYLAKE, &Fake::of("skx"));
    assert_eq!((names.len(), names[0].as_str(), result), (3, "skx::MEM.L1_MISS", Ok(())));
    let (names, result) = listed(&SAPPHIRE, &Fake::of("skx"));
    assert!(names.is_empty() && result.unwrap_err().contains("this is Intel family 6 model 143"));
}

/// A library may answer anything: an event or an error comes of it.
#[test]
fn hostile_answers() {
    for pmu in ["", "a b", "a::b", "sk\u{1b}[0m", "skx/", &"p".repeat(63)] {
        let library = Fake { forced: Box::leak(pmu.into()), ..Fake::of(Box::leak(pmu.to_owned().into())) };
        let (status, why) = said(&SKYLAKE, &library, "MEM.L1_MISS");
        assert!(status == Status::NoSuchEvent && why.contains("it calls a PMU"), "{pmu}: {why}");
        assert!(list(&SKYLAKE, &library, &mut |_| panic!("listed")).is_err());
    }
    // A name that would be cut might mean another event.
    struct Any;
    impl Library for Any {
        fn encode(&self, _: &str, _: i32) -> core::result::Result<Encoded, Refusal> {
            Fake::of("skx").encode("MEM.L1_MISS", USER_RING)
        }
        fn list(&self, _: &mut dyn FnMut(&ListedEvent<'_>)) -> core::result::Result<(), Refusal> {
            Ok(())
        }
        fn is_forced(&self, _: &str) -> bool {
            false
        }
    }
    assert!(parse(&SKYLAKE, &Any, &"N".repeat(122)).unwrap().name().len() == 127);
    assert_eq!(said(&SKYLAKE, &Any, &"N".repeat(123)).0, Status::InvalidArgument);
}

proptest! {
    #[test]
    fn whatever_is_asked(spec in "(skx::)?(MEM[.:]?)?(L1_MISS)?[:=.ukhpPHGIc0-9mä,]{0,12}") {
        let library = Fake::of("skx");
        if let Ok(event) = parse(&SKYLAKE, &library, &spec) {
            prop_assert_eq!(parse(&SKYLAKE, &library, event.name()).unwrap(), event, "{}", spec);
        }
    }
}
