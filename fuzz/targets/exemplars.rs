//! Intervals of exemplars as JSON: for any contents, reading returns an interval or a sentence that states what is
//! wrong. An interval is written in every form, and reads back as the same.
//!
//! Input: JSON; or lines, each with a JSON pointer and a value, which replace parts of an interval with one exemplar.
#![no_main]

#[path = "../../crates/cli/src/exemplars/json.rs"]
mod json;

use libfuzzer_sys::fuzz_target;
use picollo_why::Cause;
use serde_json::{Value, json};

fn template() -> Value {
    json!({
        "begin_unix_nanos": 1, "end_unix_nanos": 2, "threshold": 8, "observations": 9, "slow": 3, "known": 2, "controls": 5,
        "without_controls": 0, "too_short": 0, "without_evidence": 1, "units_per_second": 1_000_000_000, "has_run_delay": true, "missing": {"forked": 1},
        "causes": Cause::ALL.map(|cause| json!({"cause": cause.name(), "excess_nanos": 4, "observations": 2, "typical_nanos": 3, "typical_faults": 0})),
        "exemplars": [{
            "value": 9, "wall_nanos": 9, "unix_nanos": 1, "thread": 7, "cpu": 0, "label": 0, "words": [1, 2],
            "trace_id": "00000000000000000000000000000001", "span_id": "0000000000000001", "cause": "run queue", "window_nanos": 9,
            "cpu_nanos": 1, "run_delay_nanos": 8, "off_nanos": 8, "preempted_nanos": 0, "fault_nanos": null, "throttled": null,
            "voluntary": 0, "involuntary": 1, "minor_faults": 0, "major_faults": 0, "excess": {"run queue": 8}, "parts": {"run queue": 8},
        }],
    })
}

fn check(text: &str) {
    let intervals = match json::intervals(text) {
        Ok(intervals) => intervals,
        Err(fault) => return assert!(!fault.is_empty()),
    };
    for interval in intervals {
        let [mut written, mut again, mut html, mut people] = [const { String::new() }; 4];
        interval.write_json(&mut written).unwrap();
        interval.write_text(&mut people).unwrap();
        interval.write_markdown(&mut people).unwrap();
        interval.write_html(&mut html).unwrap();
        assert!(html.len() <= 50_000);
        json::intervals(&written).unwrap()[0].write_json(&mut again).unwrap();
        assert_eq!(written, again);
    }
}

fuzz_target!(|text: &str| {
    let mut changed = template();
    for line in text.lines() {
        if let Some((pointer, value)) = line.split_once(' ')
            && let Some(place) = changed.pointer_mut(pointer)
            && let Ok(value) = serde_json::from_str(value)
        {
            *place = value;
        }
    }
    check(text);
    check(&changed.to_string());
});
