//! `picollo events`: the names of events, and which of them can be counted here.

use std::collections::BTreeSet;
use std::fs;

use clap::{Arg, ArgMatches, Command};
use picollo_perf::{Event, SESSION_SYSCALL_ONLY, Session, SessionOptions, did_you_mean, processor_events};
use serde_json::{Value, json};

use crate::failure::{Failure, print};
use crate::table::{Form, printable, table};
use crate::values::{flag, subcommand};

const HELP: &str = "Lists the names of events, and which of them can be counted here

The list has the kernel's generic events, and those of its drivers (/sys/bus/event_source/devices). The command opens each event once, for \
its own thread. With --all, the list also has the events that cannot be opened, with the kernel's reason. PATTERN is a part of a name, in \
upper or lower case. Letters after a colon (cycles:u) select what is counted. Raw codes (r01c2, cpu/event=0xc2,umask=1/) work as well.

If libpfm4 is installed and supports this processor, the names of its maker also work (MEM_LOAD_RETIRED.L1_MISS). Because there are many, \
only PATTERN, --all and --json list them. Each has its PMU before two colons, and a description.

  picollo events
  picollo events cache --all
  picollo events l1_miss";

pub(crate) fn command() -> Command {
    subcommand("events", HELP).args([
        Arg::new("pattern").value_name("PATTERN").help("a part of a name"),
        flag("all", "also list events that cannot be counted here, and why"),
        flag("json", "print JSON, with all events"),
    ])
}

/// The kernel's numbers of kinds, and of caches, operations and results.
const KINDS: [(u32, u64); 2] = [(0, 10), (1, 12)];
const CACHE_KIND: u32 = 3;

/// An event, and whether it can be counted here.
struct Row {
    name: String,
    /// `None` if libpfm4 lists the event, but it cannot be used.
    event: Option<Event>,
    /// The maker's description, if libpfm4 knows it.
    about: Option<String>,
    /// Why it cannot be counted.
    why_not: Option<String>,
}

/// An untested event: its name, and what it counts.
type Candidate = (String, Option<String>);

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let wanted = matches.get_one::<String>("pattern");
    let pattern = wanted.map_or(String::new(), |text| text.to_lowercase());
    let is_json = matches.get_flag("json");
    let shows_all = matches.get_flag("all") || is_json;
    let has = |name: &str| name.to_lowercase().contains(&pattern);
    let (of_maker, why_none) = maker_events();
    let lists_them = wanted.is_some() || shows_all;
    let unlisted = if lists_them { 0 } else { of_maker.len() };
    let listed = of_maker.into_iter().filter(|_| lists_them).filter(|(name, _)| has(name));
    let mut candidates: Vec<Candidate> =
        events().into_iter().filter(|name| has(name)).map(|name| (name, None)).collect();
    candidates.extend(listed.map(|(name, about)| (name, Some(about))));
    if candidates.is_empty() && !is_json {
        let near = did_you_mean(&pattern);
        let why = why_none.map_or(String::new(), |why| format!(" ({why})"));
        return Err(format!("no event has {pattern} in its name{why}{near}").into());
    }
    let (rows, others) = tried(candidates, shows_all);
    if is_json {
        print(&format!("{:#}\n", Value::Array(rows.iter().map(json_of).collect())))?;
        return Ok(0);
    }
    let mut text = text_of(&rows, shows_all);
    if others > 0 {
        text += &format!("{others} more cannot be counted here; --all shows why\n");
    }
    if unlisted > 0 {
        text += &format!(
            "{unlisted} more are the processor's own: picollo events PATTERN lists those with PATTERN in their name\n"
        );
    }
    if let Some(why) = why_none {
        text += &format!("The list has no names of the processor's maker: {}\n", printable(&why));
    }
    print(&text)?;
    Ok(0)
}

/// The processor maker's event names with descriptions, or the reason for their absence.
fn maker_events() -> (Vec<(String, String)>, Option<String>) {
    let mut found = Vec::new();
    let result = processor_events(&mut |event| {
        found.push((format!("{}::{}", event.pmu, event.name), event.about.to_owned()));
    });
    (found, result.err().map(|error| error.message().to_owned()))
}

/// Opens each event. Those that cannot be counted are listed, too, or only their number is returned.
fn tried(candidates: Vec<Candidate>, lists_all: bool) -> (Vec<Row>, usize) {
    let (mut rows, mut others) = (Vec::new(), 0);
    let options = SessionOptions { flags: SESSION_SYSCALL_ONLY, ..SessionOptions::default() };
    for (name, about) in candidates {
        let event = Event::parse(&name);
        let opened = event.and_then(|event| Session::create(&options, &[event]));
        let why_not = opened.err().map(|error| error.message().to_owned());
        // The processor's own names are always listed, because users look up their descriptions.
        if why_not.is_none() || lists_all || about.is_some() {
            rows.push(Row { name, event: event.ok(), about, why_not });
        } else {
            others += 1;
        }
    }
    (rows, others)
}

/// The kernel's kind for raw codes of the processor. JSON names the PMU of this kind and of higher ones.
const RAW_KIND: u32 = 4;

/// An event as JSON: its name, the request to the kernel, and the PMU if libpfm4 encoded it.
pub(crate) fn event_json(event: &Event) -> Value {
    let pmu = event.name().split_once("::").filter(|_| event.r#type >= RAW_KIND).map(|(pmu, _)| pmu);
    json!({
        "name": event.name(),
        "type": event.r#type,
        "config": format!("{:#x}", event.config),
        "config1": format!("{:#x}", event.config1),
        "config2": format!("{:#x}", event.config2),
        "pmu": pmu,
    })
}

fn json_of(row: &Row) -> Value {
    let mut value = row.event.as_ref().map_or(json!({ "name": row.name }), event_json);
    value["available"] = json!(row.why_not.is_none());
    value["why_not"] = json!(row.why_not);
    value["about"] = json!(row.about);
    value
}

fn text_of(rows: &[Row], says_why: bool) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let has_about = rows.iter().any(|row| row.about.is_some());
    // Reasons are long, so they go last.
    let of = |name: &str, about: &str, counted: String| match has_about {
        true => vec![name.to_owned(), about.to_owned(), counted],
        false => vec![name.to_owned(), counted],
    };
    let cells = |row: &Row| {
        let counted = match &row.why_not {
            None => "yes".to_owned(),
            Some(why) if says_why => format!("no: {why}"),
            Some(_) => "no".to_owned(),
        };
        of(&row.name, row.about.as_deref().unwrap_or_default(), counted)
    };
    let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
    table(&of("EVENT", "WHAT IT COUNTS", "COUNTED HERE".into()), &rows, &[0, 1, 2], Form::Text)
}

/// All events with names, in order, without duplicates.
fn events() -> Vec<String> {
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
            // Files with a dot hold an event's unit and scale.
            if !name.contains('.') {
                named.insert(format!("{device_name}/{name}/"));
            }
        }
    }
    let generic = events.iter().map(|event| event.name().to_owned());
    generic.chain(named.into_iter().filter(|name| Event::parse(name).is_ok())).collect()
}
