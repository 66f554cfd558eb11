//! `picollo stat --counts=valgrind`: how many instructions a command executes, exactly.

use clap::ArgMatches;
use serde_json::{Map, Value, json};

use crate::compare::counted::{SIMULATED, written};
use crate::failure::{Failure, print};
use crate::progress::{Progress, bar};
use crate::simulated::judge::{are_same, counted, processes};
use crate::simulated::{Counts, Settings, Simulator, shown};
use crate::table::{Form, printable, table};

pub(super) fn run(matches: &ArgMatches, parts: &[String]) -> Result<u8, Failure> {
    let simulator = Simulator::new(Settings::of(matches))?;
    simulator.warm_up(parts)?;
    let mut runs: Vec<Counts> = Vec::new();
    let mut progress = Progress::new(true);
    for at in 0..simulator.runs() {
        progress.update(|_| format!("{} run {at}", bar(at as f64 / simulator.runs() as f64)));
        runs.push(simulator.count(parts, None)?);
    }
    drop(progress);
    print(&if matches.get_flag("json") { json(parts, &runs) } else { text(parts, &runs) })?;
    Ok(0)
}

fn text(parts: &[String], runs: &[Counts]) -> String {
    let all: Vec<usize> = runs.iter().map(|run| run.processes).collect();
    let number = match processes(runs) {
        Some(1) => "1 process".into(),
        Some(many) => format!("{many} processes"),
        None => format!("{all:?} processes"),
    };
    let mut text = format!("{}\n{} runs, {number}. {SIMULATED}\n\n", printable(&shown(parts)), runs.len());
    let instructions = counted(runs).next().map_or(0, |(_, _, range)| range.most);
    let rows: Vec<Vec<String>> = counted(runs)
        .map(|(_, name, range)| {
            let share = format!("{:.3}", 1000.0 * range.most as f64 / instructions.max(1) as f64);
            vec![name.into(), written(range), if name == "Instructions" { String::new() } else { share }]
        })
        .collect();
    let headings = ["Simulated", "Per run", "Per 1,000 instructions"].map(str::to_owned);
    if rows.len() > 1 {
        text += &table(&headings, &rows, &[0], Form::Text);
    } else {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row[..2].to_vec()).collect();
        text += &table(&headings[..2], &rows, &[0], Form::Text);
    }
    if !are_same(runs) {
        text += "\nCounts are not the same in each run: time, random numbers, threads or process ids make them differ.\n";
    }
    text
}

fn json(parts: &[String], runs: &[Counts]) -> String {
    let mut metrics = Map::new();
    for (key, _, range) in counted(runs) {
        let event =
            crate::simulated::EVENTS.iter().find(|(_, known, _)| *known == key).map_or("", |event| event.0);
        let values: Vec<Option<u64>> = runs.iter().map(|run| run.totals.of(event)).collect();
        metrics.insert(key.into(), json!({ "runs": values, "exact": range.is_exact() }));
    }
    let processes: Vec<usize> = runs.iter().map(|run| run.processes).collect();
    let all: Value = json!({
        "command": parts, "counts": "valgrind", "simulated": true, "run_count": runs.len(), "processes": processes, "metrics": metrics,
    });
    format!("{all:#}\n")
}
