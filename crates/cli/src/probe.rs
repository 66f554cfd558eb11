//! `picollo probe`: what this machine can count.

use clap::{ArgMatches, Command};
use picollo_perf::PerfInfo;
use serde_json::{Value, json};

use crate::failure::{Failure, print};
use crate::values::{flag, subcommand};

const HELP: &str = "Shows what this machine can count, and what to change

The command opens a counter for CPU cycles, and reads it in user space in a child process. The exit status is 0 if cycles can be counted, \
and 3 otherwise.

  picollo probe
  picollo probe --json";

pub(crate) fn command() -> Command {
    subcommand("probe", HELP).arg(flag("json", "print JSON"))
}

pub(crate) fn run(matches: &ArgMatches) -> Result<u8, Failure> {
    let info = picollo_perf::probe();
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
    let switches = picollo_why::switch_records();
    text += &format!(
        "The kernel records context switches for collectors of exemplars: {}\n",
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
        "context_switches": picollo_why::switch_records().is_ok(),
        "perf_event_paranoid": paranoid(info),
        "explanation": info.explanation().trim(),
    })
}
