use serde_json::{Value, json};

use super::super::text::tests::interval;
use super::*;

fn written(interval: &Interval) -> Value {
    let mut text = String::new();
    interval.write_json(&mut text).unwrap();
    assert!(!text.contains('\n'));
    serde_json::from_str(&text).unwrap()
}

/// An interval with all fields, at the limits of what fits.
fn whole() -> Value {
    let mut whole = interval();
    (whole.begin_unix_nanos, whole.end_unix_nanos) = (1, u64::MAX);
    whole.uncounted =
        Some(ExplainedError::new(Status::NotCounted, format_args!("no \"PMU\" in <a> &\tmachine: ä")));
    whole.hints =
        Hints { steal: Some(0.0), cpu: None, memory: Some(1.0), io: Some(0.125), swapped_in: Some(u64::MAX) };
    (whole.known, whole.counted, whole.missing[7]) = (1 << 53, 1 << 53, 1 << 52);
    let (exemplar, diagnosis) = &mut whole.exemplars[0];
    exemplar.evidence = Evidence {
        known: KNOWN_ACCOUNTS | KNOWN_RING | KNOWN_COUNTERS,
        window_nanos: u64::MAX,
        off_nanos: 1,
        voluntary: u32::MAX,
        instructions: u64::MAX,
        cycles: 3,
        ..Evidence::default()
    };
    (exemplar.thread, exemplar.cpu, exemplar.label, exemplar.value) = (-1, 63, u32::MAX, u64::MAX);
    (diagnosis.usual_ipc, diagnosis.excess.0[9]) = (1.5, u64::MAX);
    written(&whole)
}

fn read(value: &Value) -> Result<Interval, String> {
    serde_json::from_str(&value.to_string()).map_err(|error| error.to_string())
}

#[test]
fn json_round_trips() {
    for given in [written(&interval()), whole()] {
        let found = read(&given).unwrap();
        assert_eq!(written(&found), given);
        let [mut html, mut text] = [const { String::new() }; 2];
        found.write_html(&mut html).unwrap();
        found.write_text(&mut text).unwrap();
        found.write_markdown(&mut text).unwrap();
        assert!(html.starts_with("<section") && html.len() < 60_000);
    }
}

#[test]
fn json_is_exact() {
    let json = written(&interval());
    for (pointer, expected) in [
        ("/threshold", json!(8_000_000)),
        ("/observations", json!(12_345)),
        ("/known", json!(4)),
        ("/controls", json!(20)),
        ("/counted_only", json!(2)),
        ("/without_controls", json!(1)),
        ("/without_evidence", json!(1)),
        ("/missing", json!({"other_thread": 1})),
        ("/excess_nanos", json!(64_000_000)),
        ("/units_per_second", json!(1_000_000_000)),
        ("/uncounted", Value::Null),
        (
            "/machine",
            json!({"steal": 0.12, "waited_for_cpu": null, "waited_for_memory": 0.009, "waited_for_io": 0.5, "swapped_in": null}),
        ),
        (
            "/causes/1",
            json!({"cause": "run queue", "excess_nanos": 34_000_000, "observations": 1, "typical_nanos": 30_000_000, "typical_faults": 0}),
        ),
        (
            "/causes/10",
            json!({"cause": "several", "excess_nanos": null, "observations": 1, "typical_nanos": null, "typical_faults": null}),
        ),
        ("/exemplars/0/excess", json!({"run queue": 30_000_000})),
        ("/exemplars/0/parts", json!({"run queue": 30_000_000, "on CPU, cause not known": 1_000_000})),
        ("/exemplars/0/cpu", Value::Null),
        ("/exemplars/0/off_nanos", Value::Null),
        ("/exemplars/4/trace_id", json!("4b".repeat(16))),
        ("/exemplars/4/span_id", json!("07".repeat(8))),
        ("/exemplars/4/words", json!([5, 6])),
        ("/exemplars/4/missing", Value::Null),
        ("/exemplars/5/missing", json!("other_thread")),
    ] {
        assert_eq!(json.pointer(pointer), Some(&expected), "{pointer}");
    }
    assert!(whole()["exemplars"][0]["ipc"].as_f64() > Some(6e18));
}

/// The sum counts, as other versions may have other reasons or none.
#[test]
fn observations_without_a_named_reason_lack_evidence() {
    let empty = Interval { slow: 1, known: 0, shares: interval().shares, ..Interval::default() };
    for (missing, expected) in [
        (None, json!({"not_told": 1})),
        (Some(json!({})), json!({"not_told": 1})),
        (Some(json!({"not_told": 7})), json!({"not_told": 1})),
        (Some(json!({"forked": 1})), json!({"forked": 1})),
    ] {
        let mut given = written(&empty);
        given["without_evidence"] = json!(1);
        given.as_object_mut().unwrap().remove("missing");
        given.as_object_mut().unwrap().extend(missing.map(|missing| ("missing".into(), missing)));
        let found = read(&given).unwrap();
        let again = written(&found);
        assert_eq!((&again["counted_only"], &again["without_evidence"]), (&json!(0), &json!(1)));
        assert_eq!(again["missing"], expected);
        let mut text = String::new();
        found.write_text(&mut text).unwrap();
        assert!(!text.contains("only counted"), "{text}");
    }
}

#[test]
fn invalid_intervals_are_refused() {
    for (pointer, value, expected) in [
        ("", json!([]), "invalid length 0"),
        ("/begin_unix_nanos", json!(1.5), "invalid type: floating point `1.5`, expected u64"),
        ("/slow", json!(-1), "invalid value: integer `-1`, expected u64"),
        ("/slow", json!((1u64 << 53) + 1), "a count of observations is above 2^53"),
        ("/known", json!("7"), "invalid type: string \"7\", expected u64"),
        ("/causes/0/observations", json!(u64::MAX), "a count of observations is above 2^53"),
        ("/without_evidence", json!(u64::MAX), "a count of observations is above 2^53"),
        (
            "/missing",
            json!({"forked": u64::MAX, "too_many": u64::MAX}),
            "a count of observations is above 2^53",
        ),
        ("/missing", json!({"rain": 1}), "unknown variant `rain`"),
        ("/units_per_second", json!(1u64 << 60), "units_per_second is above 10^15"),
        ("/machine/steal", json!(1.5), "a share of the machine is not from 0 to 1"),
        ("/causes/2/cause", json!("witchcraft\u{1b}"), "\"witchcraft\\u{1b}\" is no cause that is known"),
        ("/causes/10/excess_nanos", json!(7), "a cause that is no part of the time has an excess"),
        ("/causes/2/cause", json!("own waiting"), "causes are not all of them, in their order"),
        ("/exemplars/0/words", json!([1]), "invalid length 1"),
        ("/exemplars/0/thread", json!(1u64 << 31), "expected i32"),
        ("/exemplars/0/voluntary", json!(1u64 << 32), "expected u32"),
        ("/exemplars/0/trace_id", json!("é".repeat(16)), "not 32 hexadecimal digits"),
        ("/exemplars/0/span_id", json!("+1+1+1+1+1+1+1+1"), "not 16 hexadecimal digits"),
        ("/exemplars/0/excess", json!({"several": 1}), "several is no part of the time"),
        ("/exemplars/0/cpu_nanos", Value::Null, "what becomes known together is known in part"),
        ("/exemplars/0/preempted_nanos", Value::Null, "what becomes known together is known in part"),
    ] {
        let mut changed = whole();
        *changed.pointer_mut(pointer).expect(pointer) = value;
        let fault = read(&changed).expect_err(pointer);
        assert!(fault.contains(expected), "{pointer}: {fault}");
    }
}

/// Fields of other versions.
#[test]
fn unknown_fields_are_ignored() {
    let mut changed = whole();
    for pointer in ["", "/causes/1", "/exemplars/0", "/machine"] {
        changed.pointer_mut(pointer).unwrap()["too_new"] = json!({"a": [1, null]});
    }
    assert_eq!(written(&read(&changed).unwrap()), whole());
    for name in
        ["too_short", "counted", "uncounted", "machine", "has_run_delay", "missing", "units_per_second"]
    {
        let mut changed = whole();
        changed.as_object_mut().unwrap().remove(name);
        assert!(read(&changed).is_ok(), "{name}");
    }
    let mut without = whole();
    without.as_object_mut().unwrap().remove("slow");
    assert!(read(&without).unwrap_err().contains("missing field `slow`"));
}
