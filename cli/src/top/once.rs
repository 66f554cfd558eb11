//! One table of an interval, for pipes and programs.

use serde_json::{Map, Value, json};

use super::numbers::rate;
use super::row::{RANK_NAMES, Row};
use super::screen::values_of;
use super::state::State;
use super::watch::Watch;
use crate::table::{Form, count, table};

pub(crate) fn text(watch: &Watch) -> String {
    if watch.rows.is_empty() {
        return "nobody publishes here\n".into();
    }
    let mut headings: Vec<String> = ["HISTOGRAM", "STATE", "COUNT", "RATE"].map(str::to_owned).into();
    headings.extend(RANK_NAMES.map(str::to_owned));
    let line = |at: &usize| {
        let row = &watch.rows[*at].1;
        let state = if row.is_live { "live" } else { "ended" };
        let mut cells =
            vec![row.title.clone(), state.into(), count(row.last.count, true), rate(row.last.per_second)];
        cells.extend(values_of(row));
        cells
    };
    let rows: Vec<Vec<String>> = State::new().shown(&watch.rows).iter().map(line).collect();
    table(&headings, &rows, &[0, 1], Form::Text)
}

/// Values as recorded.
pub(crate) fn json_text(watch: &Watch) -> String {
    let entries: Vec<Value> = watch.rows.iter().map(|(_, row)| json_of(row)).collect();
    format!("{:#}\n", json!({ "interval_seconds": watch.seconds, "entries": entries }))
}

fn json_of(row: &Row) -> Value {
    let labels: Map<String, Value> =
        row.entry.labels.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let mut object = json!({
        "process": row.process,
        "pid": row.pid,
        "live": row.is_live,
        "kind": if row.is_counter() { "counter" } else { "histogram" },
        "name": row.entry.name,
        "labels": labels,
        "unit": row.entry.unit,
        "total_count": row.total,
        "count": row.last.count,
        "per_second": row.last.per_second,
    });
    if !row.is_counter() {
        object["out_of_range"] = row.last.out_of_range.into();
        object["lost"] = row.last.lost.into();
        for (rank, name) in RANK_NAMES.iter().enumerate() {
            object[*name] = row.last.values.map_or(Value::Null, |values| values[rank].into());
        }
    }
    object
}
