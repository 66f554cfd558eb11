use proptest::prelude::*;

use super::*;
use crate::event::modifiers::*;
use picollo_native::Status;
use picollo_native::seam::kernel::kind;

fn parse(spec: &str) -> Event {
    Event::parse(spec).unwrap_or_else(|error| panic!("{spec}: {error}"))
}

fn status(spec: &str) -> Status {
    Event::parse(spec).expect_err(spec).status()
}

#[test]
fn names_and_raw_codes() {
    assert_eq!(parse("cycles").name(), "Hardware:CpuCycles");
    assert_eq!(parse(" L1-dcache-load-misses ").name(), "Cache:L1DReadMiss");
    assert_eq!(parse("L1D-read-miss"), parse("L1-dcache-load-misses"));
    assert_eq!(parse("page-faults").name(), "Software:PageFaults");
    let raw = parse("r01c2");
    assert_eq!((raw.r#type, raw.config, raw.name()), (kind::RAW, 0x1c2, "Raw:0x1c2"));
    assert_eq!(parse("Raw:0x1c2"), raw);
    assert_eq!(parse("rFFFFFFFFFFFFFFFF").config, u64::MAX);
    assert_eq!(parse("cycles").scale, 1.0);
    assert_eq!(parse("cycles").unit(), "");
}

#[test]
fn modifiers() {
    assert_eq!(parse("cycles:u").modifiers, EVENT_USER);
    assert_eq!(parse("Hardware:CpuCycles:uk").modifiers, EVENT_USER | EVENT_KERNEL);
    assert_eq!(parse("cycles:upp").modifiers, EVENT_USER | (2 * EVENT_PRECISE));
    assert_eq!(parse("r1c2:P").modifiers, EVENT_PRECISE_MASK);
    assert_eq!(parse("cycles:hHGI").name(), "Hardware:CpuCycles:hHGI");
    assert_eq!(status("cycles:pppp"), Status::InvalidArgument);
    assert_eq!(status("cycles:"), Status::InvalidArgument);
}

#[test]
fn breakpoints() {
    let event = parse("mem:0x1000/8:w");
    assert_eq!((event.r#type, event.config, event.config1, event.config2), (kind::BREAKPOINT, 0, 0x1000, 8));
    assert_eq!((event.bp_type, event.name()), (2, "Breakpoint:0x1000/8:w"));
    assert_eq!(parse("mem:4096").bp_type, 3);
    assert_eq!(parse("mem:4096").config2, 4);
    assert_eq!(parse("mem:0x1000:r").bp_type, 1);
    assert_eq!(parse("mem:0x1000:x").config2, size_of::<usize>() as u64);
    assert_eq!(parse("mem:0x1000/1:wr:u").modifiers, EVENT_USER);
    assert_eq!(parse("MEM:0X1000:u").bp_type, 3);
    let places = "mem: mem:x mem:+1 mem:0x mem:0x1ffffffffffffffff mem:0x1000/3:w mem:0x1000/:w";
    for wrong in places.split(' ').chain(["mem:0x1000/8:q", "mem:0x1000:rx", "mem:0x1000:w:u:k"]) {
        assert_eq!(status(wrong), Status::InvalidArgument, "{wrong}");
    }
}

#[test]
fn malformed_and_unknown_names() {
    for empty in ["", "   ", "\t", "cyc\0les", &"r1".repeat(200)] {
        assert_eq!(status(empty), Status::InvalidArgument, "{empty}");
    }
    for unknown in
        ["no-such-event", "r", "rxyz", "r11112222333344445", "hardware:page-faults", "häuser", "raw:"]
    {
        assert!(matches!(status(unknown), Status::NoSuchEvent | Status::InvalidArgument), "{unknown}");
    }
    let error = Event::parse("no-such-event").unwrap_err();
    assert!(
        error.message().contains("\"no-such-event\"") && error.message().contains("branch-misses"),
        "{error}"
    );
    let long = "x".repeat(256);
    assert!(Event::parse(&long).unwrap_err().message().len() <= 495);
}

#[test]
fn foreign_events_are_checked() {
    let mut event = Event::new(kind::HARDWARE, 0);
    assert!(event.is_well_formed());
    event.modifiers = 1 << 31;
    assert!(!event.is_well_formed());
    let mut event = Event::new(kind::BREAKPOINT, 0);
    assert!(!event.is_well_formed());
    event.bp_type = 2;
    assert!(event.is_well_formed());
    assert!(format!("{event:?}").contains("bp_type: 2"));
}

proptest! {
    #[test]
    fn never_panics_near_the_grammar(
        spec in "(mem|breakpoint|cpu|msr|sched|hardware|r|L1D|cycles)?[:/]?(0x)?[0-9a-f]{0,20}[:/,=?*.-]{0,3}[a-zA-Z0-9ä]{0,10}[:/]?[rwxukhpP]{0,6}/?"
    ) {
        let _ = Event::parse(&spec);
    }

    #[test]
    fn display_names_parse_back(kind in prop::sample::select(vec![0u32, 1, 3, 4]), config: u64, small in 0u64..12, modifiers in 0u32..256) {
        let config = match kind {
            kind::RAW => config,
            kind::CACHE => (small % 7) | ((config % 3) << 8) | ((config >> 8 & 1) << 16),
            kind::HARDWARE => small % 10,
            _ => small,
        };
        let mut event = Event::new(kind, config);
        event.modifiers = modifiers;
        event.set_name(format_args!("{}", names::display(kind, config)));
        let parsed = Event::parse(event.name()).unwrap();
        prop_assert_eq!(parsed.name(), event.name());
        prop_assert_eq!(parsed, event);
    }

    #[test]
    fn breakpoint_names_parse_back(address: u64, length in 0u32..4, access in 1u32..5, modifiers in 0u32..256) {
        let mut event = Event::new(kind::BREAKPOINT, 0);
        (event.config1, event.config2, event.bp_type, event.modifiers) = (address, 1 << length, access, modifiers);
        let letters = ["r", "w", "rw", "x"][access as usize - 1];
        event.set_name(format_args!("Breakpoint:{address:#x}/{}:{letters}", 1 << length));
        let parsed = Event::parse(event.name()).unwrap();
        prop_assert_eq!(parsed.name(), event.name());
        prop_assert_eq!(parsed, event);
    }
}
