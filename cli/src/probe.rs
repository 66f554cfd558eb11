//! `picollo probe` and `picollo events`: what this machine can count.

use std::collections::BTreeSet;
use std::fs;

use clap::{Arg, ArgAction, ArgMatches, Command};
use picollo_native::{Event, PerfInfo, SESSION_SYSCALL_ONLY, Session, SessionOptions};
use serde_json::{Value, json};

use crate::failure::{Failure, print};
use crate::table::{Form, table};

const ABOUT: &str = "What this machine can count, and what to change";
const LONG_ABOUT: &str = "What this machine can count, and what to change

Opens a counter for CPU cycles, and lets a child read it in user space. The exit status is 0 where cycles can be counted, 3 where not.

  picollo probe
  picollo probe --json";

pub(crate) fn command() -> Command {
    let json = Arg::new("json").long("json").action(ArgAction::SetTrue);
    Command::new("probe").about(ABOUT).long_about(LONG_ABOUT).arg(json.help("for programs"))
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let info = picollo_native::probe();
    let status = if info.pmu_available == 1 { 0 } else { 3 };
    let text = if matches.get_flag("json") { format!("{:#}\n", json_of(&info)) } else { text_of(&info) };
    print(&text)?;
    Ok(status)
}

fn paranoid(info: &PerfInfo) -> Option<i32> {
    Some(info.paranoid).filter(|&level| level != i32::MIN)
}

fn text_of(info: &PerfInfo) -> String {
    let yes = |is: u32| if is == 1 { "yes" } else { "no" };
    let known = |number: u32| if number == 0 { "not known".into() } else { number.to_string() };
    let mut text = format!("CPU cycles can be counted: {}\n", yes(info.pmu_available));
    if info.pmu_available == 1 {
        text += &format!("Counters can be read in user space: {}\n", yes(info.user_read_available));
        text += &format!(
            "Counters: {} for one event each, {} for any\n",
            known(info.fixed_counters),
            known(info.programmable_counters)
        );
    }
    text += &format!("Hypervisor: {}\n", yes(info.hypervisor));
    match paranoid(info) {
        Some(level) => text += &format!("kernel.perf_event_paranoid: {level}\n"),
        None => text += "kernel.perf_event_paranoid: cannot be read\n",
    }
    let switches = picollo_native::exemplars::switch_records();
    text += &format!(
        "Context switches are written down for collectors of exemplars: {}\n",
        yes(switches.is_ok().into())
    );
    let refusal = switches.as_ref().err().map_or("", |refused| refused.message());
    for explanation in
        [info.explanation(), refusal].map(str::trim).into_iter().filter(|text| !text.is_empty())
    {
        text += &format!("\n{explanation}\n");
    }
    text
}

fn json_of(info: &PerfInfo) -> Value {
    json!({
        "pmu_available": info.pmu_available == 1,
        "user_read_available": info.user_read_available == 1,
        "fixed_counters": info.fixed_counters,
        "programmable_counters": info.programmable_counters,
        "hypervisor": info.hypervisor == 1,
        "context_switches": picollo_native::exemplars::switch_records().is_ok(),
        "perf_event_paranoid": paranoid(info),
        "explanation": info.explanation().trim(),
    })
}

const EVENTS_ABOUT: &str = "The names of events, and which of them can be counted here";
const EVENTS_LONG_ABOUT: &str = "The names of events, and which of them can be counted here

Lists the kernel's generic events, and those that its drivers name (/sys/bus/event_source/devices). Each is opened once, for this thread; with \
--all also those that cannot be, with what the kernel says. PATTERN is looked for in names, where case does not matter. Letters behind a \
colon (cycles:u) choose what is counted, and raw codes (r01c2, cpu/event=0xc2,umask=1/) work as well.

  picollo events
  picollo events cache --all";

pub(crate) fn events_command() -> Command {
    Command::new("events").about(EVENTS_ABOUT).long_about(EVENTS_LONG_ABOUT).args([
        Arg::new("pattern").value_name("PATTERN").help("part of a name"),
        Arg::new("all")
            .long("all")
            .action(ArgAction::SetTrue)
            .help("also those that cannot be counted here, and why"),
        Arg::new("json").long("json").action(ArgAction::SetTrue).help("for programs; all of them"),
    ])
}

/// The kernel's numbers of kinds, and of caches, operations and results.
const KINDS: [(u32, u64); 2] = [(0, 10), (1, 12)];
const CACHE_KIND: u32 = 3;

pub(crate) fn events_run(matches: &ArgMatches) -> Result<u8, Failure> {
    let pattern = matches.get_one::<String>("pattern").map_or(String::new(), |text| text.to_lowercase());
    let (mut rows, mut others) = (Vec::new(), 0);
    let is_json = matches.get_flag("json");
    let shows_all = matches.get_flag("all") || is_json;
    for event in events() {
        let name = event.name().to_owned();
        if !name.to_lowercase().contains(&pattern) {
            continue;
        }
        let options = SessionOptions { flags: SESSION_SYSCALL_ONLY, ..SessionOptions::default() };
        match Session::create(&options, std::slice::from_ref(&event)) {
            Ok(_) => rows.push((name, None)),
            Err(error) if shows_all => rows.push((name, Some(error.message().to_owned()))),
            Err(_) => others += 1,
        }
    }
    if is_json {
        let row = |(name, why): &(String, Option<String>)| json!({"name": name, "available": why.is_none(), "why_not": why});
        print(&format!("{:#}\n", Value::Array(rows.iter().map(row).collect())))?;
        return Ok(0);
    }
    if rows.is_empty() && others == 0 {
        return Err(format!("no event has {pattern} in its name").into());
    }
    let headings = ["EVENT".to_owned(), "COUNTED HERE".to_owned()];
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(name, why)| vec![name, why.map_or("yes".to_owned(), |why| format!("no: {why}"))])
        .collect();
    let mut text = if rows.is_empty() { String::new() } else { table(&headings, &rows, &[0, 1], Form::Text) };
    if others > 0 {
        text += &format!("{others} more cannot be counted here: --all says why\n");
    }
    print(&text)?;
    Ok(0)
}

/// All that have a name, in order, each once.
fn events() -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for (kind, length) in KINDS {
        events.extend((0..length).map(|config| Event::new(kind, config)));
    }
    for cache in 0..7 {
        for operation in 0..3 {
            events.extend((0..2).map(|result| Event::new(CACHE_KIND, cache | operation << 8 | result << 16)));
        }
    }
    let mut named = BTreeSet::new();
    let devices = fs::read_dir("/sys/bus/event_source/devices");
    for device in devices.into_iter().flatten().flatten() {
        let Ok(device_name) = device.file_name().into_string() else { continue };
        for event in fs::read_dir(device.path().join("events")).into_iter().flatten().flatten() {
            let Ok(name) = event.file_name().into_string() else { continue };
            // Beside an event lie its unit and scale.
            if !name.contains('.') {
                named.insert(format!("{device_name}/{name}/"));
            }
        }
    }
    events.extend(named.iter().filter_map(|name| Event::parse(name).ok()));
    events
}
