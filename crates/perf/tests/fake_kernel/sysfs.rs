//! Events of PMUs as the kernel describes them on different machines: small copies of real trees, and broken ones.

use crate::fake::Fake;
use picollo_native::*;
use picollo_perf::seam::SessionOn;
use picollo_perf::*;

const DEVICES: &str = "/sys/bus/event_source/devices";

/// A machine's tree, as `path: content` lines.
fn machine(tree: &str) -> Fake {
    let fake = Fake::new();
    for line in tree.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (path, content) = line.split_once(": ").unwrap();
        fake.file(&format!("{DEVICES}/{path}"), &format!("{content}\n"));
    }
    fake
}

fn check(fake: &Fake, spec: &str, kind: u32, config: u64, config1: u64) {
    let event = Event::parse_with(&fake, spec).unwrap_or_else(|error| panic!("{spec}: {error}"));
    assert_eq!((event.r#type, event.config, event.config1), (kind, config, config1), "{spec}");
    // The name parses to the same event.
    assert_eq!(Event::parse_with(&fake, event.name()).unwrap(), event, "{spec}");
}

fn status(fake: &Fake, spec: &str) -> Status {
    match Event::parse_with(&fake, spec) {
        Ok(event) => panic!("{spec}: {event:?}"),
        Err(error) => error.status(),
    }
}

#[test]
fn intel() {
    let fake = machine(
        "cpu/type: 4
        cpu/format/event: config:0-7
        cpu/format/umask: config:8-15
        cpu/format/edge: config:18
        cpu/format/inv: config:23
        cpu/format/cmask: config:24-31
        cpu/format/any: config:21
        cpu/format/offcore_rsp: config1:0-63
        cpu/format/ldlat: config1:0-15
        cpu/format/frontend: config1:0-23
        cpu/events/cpu-cycles: event=0x3c
        cpu/events/mem-loads: event=0xcd,umask=0x1,ldlat=3
        cpu/events/topdown-fetch-bubbles: event=0x9c,umask=0x1
        uncore_imc_0/type: 24
        uncore_imc_0/format/event: config:0-7
        uncore_imc_0/events/cas_count_read: event=0x04,umask=0x03
        uncore_imc_0/format/umask: config:8-15
        uncore_imc_0/events/cas_count_read.scale: 6.103515625e-5
        uncore_imc_0/events/cas_count_read.unit: MiB",
    );
    check(&fake, "cpu/event=0x3c,umask=0x1/", 4, 0x13c, 0);
    check(&fake, "cpu/cpu-cycles/", 4, 0x3c, 0);
    check(&fake, "cpu/mem-loads/", 4, 0x1cd, 3);
    check(&fake, "cpu/mem-loads,ldlat=30/", 4, 0x1cd, 30);
    check(&fake, "cpu/event=0xb7,umask=0x1,offcore_rsp=0xffffffffffffffff/", 4, 0x1b7, u64::MAX);
    check(&fake, "cpu/event=0xa3,umask=0x4,cmask=4,edge,inv/", 4, 0x0484_04a3, 0);
    check(&fake, "cpu/config=0x1234,config1=7/", 4, 0x1234, 7);
    check(&fake, "cpu/config1=0xffffffffffffffff/", 4, 0, u64::MAX);
    check(&fake, "cpu/event/", 4, 1, 0);
    check(&fake, "cpu//", 4, 0, 0);
    check(&fake, "cpu/event=0x3c,umask=0x1/uk", 4, 0x13c, 0);
    let event = Event::parse_with(&&fake, "cpu/event=0x3c/uk").unwrap();
    assert_eq!((event.modifiers, event.name()), (EVENT_USER | EVENT_KERNEL, "cpu/event=0x3c/:uk"));
    let event = Event::parse_with(&&fake, "uncore_imc_0/cas_count_read/").unwrap();
    assert_eq!((event.r#type, event.config, event.unit()), (24, 0x304, "MiB"));
    assert_eq!(event.scale, 6.103515625e-5);
    assert_eq!(status(&fake, "cpu/event=0x13c/"), Status::InvalidArgument);
    assert_eq!(status(&fake, "cpu_core/event=0x3c/"), Status::NoSuchEvent);
}

#[test]
fn intel_hybrid() {
    let fake = machine(
        "cpu_core/type: 4
        cpu_core/cpus: 0-15
        cpu_core/format/event: config:0-7
        cpu_core/format/umask: config:8-15
        cpu_core/events/slots: event=0x00,umask=0x4
        cpu_atom/type: 10
        cpu_atom/cpus: 16-23
        cpu_atom/format/event: config:0-7
        cpu_atom/format/umask: config:8-15
        cpu_atom/events/topdown-bad-spec: event=0x73,umask=0x0",
    );
    check(&fake, "cpu_core/event=0x3c/", 4, 0x3c, 0);
    check(&fake, "cpu_core/slots/", 4, 0x400, 0);
    check(&fake, "cpu_atom/event=0x3c,umask=0x1/", 10, 0x13c, 0);
    check(&fake, "cpu_atom/topdown-bad-spec/", 10, 0x73, 0);
    assert_eq!(status(&fake, "cpu_atom/slots/"), Status::NoSuchEvent);
}

#[test]
fn amd() {
    let fake = machine(
        "cpu/type: 4
        cpu/format/event: config:0-7,32-35
        cpu/format/umask: config:8-15
        cpu/format/edge: config:18
        cpu/format/cmask: config:24-31
        ibs_op/type: 11
        ibs_op/format/cnt_ctl: config:19
        ibs_op/format/swfilt: config2:0
        amd_l3/type: 14
        amd_l3/format/event: config:0-7
        amd_l3/format/umask: config:8-15
        amd_l3/format/threadmask: config:56-63",
    );
    // The event number is in two places.
    check(&fake, "cpu/event=0x76/", 4, 0x76, 0);
    check(&fake, "cpu/event=0x1c2,umask=0x3/", 4, 0x1_0000_03c2, 0);
    check(&fake, "cpu/event=0xfff/", 4, 0xf_0000_00ff, 0);
    assert_eq!(status(&fake, "cpu/event=0x1000/"), Status::InvalidArgument);
    check(&fake, "amd_l3/event=0x4,umask=0xff,threadmask=0x80/", 14, 0x8000_0000_0000_ff04, 0);
    check(&fake, "ibs_op/cnt_ctl/", 11, 1 << 19, 0);
}

#[test]
fn arm64() {
    let fake = machine(
        "armv8_pmuv3_0/type: 8
        armv8_pmuv3_0/format/event: config:0-15
        armv8_pmuv3_0/format/long: config1:0
        armv8_pmuv3_0/format/rdpmc: config1:1
        armv8_pmuv3_0/events/inst_retired: event=0x0008
        armv8_pmuv3_0/events/cpu_cycles: event=0x0011
        armv8_pmuv3_0/cpus: 0-3
        arm_cmn_0/type: 15
        arm_cmn_0/format/eventid: config:27-35
        arm_cmn_0/format/type: config:0-15",
    );
    check(&fake, "armv8_pmuv3_0/inst_retired/", 8, 8, 0);
    check(&fake, "armv8_pmuv3_0/cpu_cycles,long,rdpmc/", 8, 0x11, 3);
    check(&fake, "arm_cmn_0/eventid=3,type=5/", 15, 3 << 27 | 5, 0);
}

#[test]
fn malformed() {
    let fake = machine(
        "cpu/type: 4
        cpu/format/event: config:0-7
        cpu/format/backwards: config:7-0
        cpu/format/far: config:60-64
        cpu/format/twice: config:0-3,2-5
        cpu/format/elsewhere: config7:0-3
        cpu/format/words: all of it
        cpu/format/empty: :
        cpu/events/circular: circular
        cpu/events/nested: alias
        cpu/events/alias: event=1
        cpu/events/wrong: event=yes
        cpu/events/asks: event=0x1,core=?
        negative/type: -1
        large/type: 99999999999
        text/type: software
        cpu/events/scaled: event=2
        cpu/events/scaled.scale: not a number
        cpu/events/scaled.unit: a unit whose name is much longer than any that there is",
    );
    let bits = "cpu/backwards=1/ cpu/far=1/ cpu/twice=1/ cpu/elsewhere=1/ cpu/words=1/ cpu/empty=1/";
    let terms = "cpu/wrong/ cpu/asks/ cpu/event=zz/ cpu/event=?/ cpu/event=0x100/ cpu/event=1/zz cpu/..=1/";
    for spec in bits.split(' ').chain(terms.split(' ')) {
        assert_eq!(status(&fake, spec), Status::InvalidArgument, "{spec}");
    }
    for spec in
        "cpu/circular/ cpu/nested/ negative/event=1/ large/event=1/ text/event=1/ cpu/nothing/ cpu/nothing=1/"
            .split(' ')
    {
        assert_eq!(status(&fake, spec), Status::NoSuchEvent, "{spec}");
    }
    let event = Event::parse_with(&&fake, "cpu/scaled/").unwrap();
    assert_eq!((event.config, event.scale), (2, 1.0));
    assert!(event.unit().len() < 16);
}

/// The errors for a known event with an unknown modifier. It does not matter whether tracepoints may be looked up.
#[test]
fn unknown_modifiers_are_named() {
    let denied: fn(&Fake) = |fake| fake.state().denied = Some("/sys/kernel/".into());
    let absent: fn(&Fake) = |_| {};
    // A name, and a part of its error.
    let table = "cycles:y \"cycles:y\"|cycles:y 'y' is not a modifier|cycles:y u user|cycles:y I not while idle|Cycles:Y 'Y'|\
        cycles:uy 'y'|cycles:us\u{e9} 's'|cycles:\u{e9} '\u{e9}'|cycles:user 's'|cycles:U 'U'|cycles: missing|cycles: u user|\
        cycles:pppp ppp|cycles:Pp ppp|cycles:u:k one colon|Hardware:CpuCycles:y 'y'|Software:TaskClock:q 'q'|\
        L1-dcache-load-misses:x 'x'|page-faults:0 '0'|r01c2:y 'y'|cpu/event=1/y 'y' is not a modifier|\
        cpu/event=1/:y 'y' is not a modifier|mem:0x1000/8:w:y 'y' is not a modifier|sched:sched_switch:y 'y' is not a modifier";
    // A type is not a tracepoint's system either.
    let unknown = "Hardware:CpuCylces unknown event \"Hardware:CpuCylces\"|cache:L9 unknown event|cylces unknown event \"cylces\"";
    for (setting, name) in [(denied, "denied"), (absent, "absent")] {
        let fake = machine("cpu/type: 4\ncpu/format/event: config:0-7");
        setting(&fake);
        for (table, status) in [(table, Status::InvalidArgument), (unknown, Status::NoSuchEvent)] {
            for (spec, part) in table.split('|').map(|row| row.split_once(' ').unwrap()) {
                let error = Event::parse_with(&&fake, spec).expect_err(spec);
                assert_eq!(error.status(), status, "{name}: {error}");
                assert!(error.message().contains(part), "{name}: {spec}: {error}");
                assert!(!error.message().contains("tracing"), "{name}: {spec}: {error}");
            }
        }
        // A name that only a tracepoint can have is still looked up.
        let error = Event::parse_with(&&fake, "cylces:y").unwrap_err();
        assert!(error.message().contains("/sys/kernel/tracing"), "{error}");
    }
    // A tracepoint that does exist wins over a typo.
    let fake = machine("cpu/type: 4");
    fake.file("/sys/kernel/tracing/events/cycles/y/id", "77\n");
    assert_eq!(Event::parse_with(&&fake, "cycles:y").unwrap().config, 77);
    assert_eq!(Event::parse_with(&&fake, "cycles:u").unwrap().config, 0);
}

/// Suggestions among the names from the kernel's drivers.
#[test]
fn names_that_are_nearly_right() {
    let fake = machine(
        "cpu/type: 4
        cpu/format/event: config:0-7
        cpu/format/umask: config:8-15
        cpu/events/mem-loads: event=0xcd
        cpu/events/slots: event=0x00,umask=0x4
        uncore_imc_0/type: 24",
    );
    for (directory, names) in [
        (DEVICES.to_owned(), &["cpu", "uncore_imc_0"][..]),
        (format!("{DEVICES}/cpu/events"), &["mem-loads", "slots", "slots.unit"]),
        (format!("{DEVICES}/cpu/format"), &["event", "umask"]),
        (format!("{DEVICES}/uncore_imc_0/events"), &["cas_count_read", "cas_count_read.scale"]),
        ("/sys/kernel/tracing/events/sched".to_owned(), &["enable", "sched_switch", "sched_wakeup"]),
    ] {
        names.iter().for_each(|name| fake.entry(&directory, name));
    }
    for (typed, meant) in [
        ("cpu/mem-laods/", "Did you mean mem-loads?"),
        ("cpu/event=1,unmask=2/", "Did you mean umask?"),
        ("mem-lods", "Did you mean cpu/mem-loads/?"),
        ("slotz:u", "Did you mean cpu/slots/?"),
        ("cas-count-raed", "Did you mean uncore_imc_0/cas_count_read/?"),
        ("sched:sched_swich", "Did you mean sched:sched_switch?"),
        ("cylces:u", "Did you mean cycles?"),
    ] {
        let error = Event::parse_with(&&fake, typed).unwrap_err();
        assert_eq!(error.status(), Status::NoSuchEvent, "{typed}: {error}");
        assert!(error.message().contains(meant), "{typed}: {error}");
    }
    for typed in ["cpu/zzzzz/", "zzzzz", "sched:zzzzz", "enabel:enabel"] {
        let error = Event::parse_with(&&fake, typed).unwrap_err();
        assert!(!error.message().contains("Did you mean"), "{typed}: {error}");
    }
}

/// An event encoded for another processor, by request or on another machine: it is counted, and its info shows that.
#[test]
fn events_of_another_processor_are_errors() {
    let mut event = Event::new(4, 0x8d1);
    event.name =
        core::array::from_fn(|at| b"skx::MEM_LOAD_RETIRED.L1_MISS".get(at).map_or(0, |&byte| byte as _));
    for (flags, remark) in [
        ("amx_tile", "libpfm4 takes this processor for skx, but it has amx_tile, which no skx has"),
        ("avx512f", ""),
    ] {
        let fake = Fake::new();
        fake.file("/proc/cpuinfo", &format!("flags : {flags}\n"));
        let session = SessionOn::with_sys(&fake, &SessionOptions::default(), &[event]).unwrap();
        let info = session.event_info(0).unwrap();
        assert_eq!(info.status, 0);
        assert!(info.message().starts_with(remark), "{info:?}");
        assert_eq!(info.message().contains("libpfm4"), !remark.is_empty(), "{info:?}");
    }
    // A user's own name gets no remark.
    let fake = Fake::new();
    fake.file("/proc/cpuinfo", "flags : amx_tile\n");
    event.name = core::array::from_fn(|at| b"my::event".get(at).map_or(0, |&byte| byte as _));
    let session = SessionOn::with_sys(&fake, &SessionOptions::default(), &[event]).unwrap();
    assert!(!session.event_info(0).unwrap().message().contains("libpfm4"));
}
