use super::json::intervals;
use super::*;
use picollo_native::exemplars::Cause;
use serde_json::{Value, json};

/// Numbers that look random, the same each time (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, most: u64) -> u64 {
        self.next() % most
    }

    /// Of any magnitude.
    fn any(&mut self) -> u64 {
        let shift = self.below(64);
        self.next() >> shift
    }

    fn maybe(&mut self, value: u64) -> Value {
        if self.below(3) == 0 { Value::Null } else { value.into() }
    }

    fn hints(&mut self) -> Value {
        let mut share = || match self.below(3) {
            0 => Value::Null,
            // Few digits, of which the reader of JSON is exact, and not 0, which is written without a point.
            _ => ((1 + self.below(1023)) as f64 / 1024.0).into(),
        };
        let [steal, cpu, memory, io] = [share(), share(), share(), share()];
        let pages = self.any();
        json!({
            "steal": steal, "waited_for_cpu": cpu, "waited_for_memory": memory, "waited_for_io": io, "swapped_in": self.maybe(pages),
        })
    }

    fn reason(&mut self) -> Value {
        [json!(null), json!("not allowed."), json!("no \"PMU\" in <a> &\tmachine: \u{e4}")]
            [self.below(3) as usize]
            .clone()
    }

    fn parts(&mut self) -> Value {
        let mut found = serde_json::Map::new();
        for cause in Cause::ALL.iter().take(10) {
            if self.below(3) == 0 {
                found.insert(cause.name().into(), (self.any() | 1).into());
            }
        }
        found.into()
    }

    fn exemplar(&mut self, value: u64) -> Value {
        let (accounts, ring) = (self.below(2), self.below(2));
        let mut together = |is_there: u64, bits: u32| {
            let value = self.any() >> (64 - bits);
            if is_there == 1 { Value::from(value) } else { Value::Null }
        };
        let [window, cpu] = [(); 2].map(|()| together(accounts, 64));
        let [off, preempted] = [(); 2].map(|()| together(ring, 64));
        let [voluntary, involuntary, minor, major] = [(); 4].map(|()| together(accounts, 32));
        let (run_delay, fault, throttled, cpu_number) =
            (self.any(), self.any(), self.any() >> 32, self.below(64));
        // Written with four digits behind the point.
        let digits = |number: f64| serde_json::from_str::<Value>(&format!("{number:.4}")).unwrap();
        let (executed, passed) = (self.any() >> 11, self.any() >> 20 | 1 << 30);
        let [instructions, cycles, ipc] = match self.below(2) {
            0 => [Value::Null, Value::Null, Value::Null],
            _ => [executed.into(), passed.into(), digits(executed as f64 / passed as f64)],
        };
        let usual_ipc =
            if self.below(2) == 0 { Value::Null } else { digits((self.below(90_000) + 1) as f64 / 1e4) };
        json!({
            "value": value, "wall_nanos": self.any(), "unix_nanos": self.any(), "thread": self.any() as i32,
            "cpu": self.maybe(cpu_number), "label": self.any() as u32, "words": [self.any(), self.any()],
            "trace_id": format!("{:016x}{:016x}", self.any(), self.any()), "span_id": format!("{:016x}", self.any()),
            "cause": Cause::ALL[self.below(12) as usize].name(),
            "window_nanos": window, "cpu_nanos": cpu, "run_delay_nanos": self.maybe(run_delay), "off_nanos": off,
            "preempted_nanos": preempted, "fault_nanos": self.maybe(fault), "throttled": self.maybe(throttled),
            "voluntary": voluntary, "involuntary": involuntary, "minor_faults": minor, "major_faults": major,
            "instructions": instructions, "cycles": cycles, "ipc": ipc, "usual_ipc": usual_ipc,
            "excess": self.parts(), "parts": self.parts(),
        })
    }

    /// An interval as it would be written.
    fn interval(&mut self) -> Value {
        let count = |random: &mut Random| random.any() >> 11;
        let known = if self.below(4) == 0 { 0 } else { count(self) };
        let (mut sum, mut shares) = (0u64, Vec::new());
        for (at, cause) in Cause::ALL.into_iter().enumerate() {
            let (is_part, observations) =
                (at < 10 && known > 0, if self.below(3) == 0 { 0 } else { count(self) });
            let excess = self.any() >> 4;
            sum += if is_part { excess } else { 0 };
            let of_part =
                |is_there: bool, value: u64| if is_there { Value::from(value) } else { Value::Null };
            let has_typical = is_part && observations > 0;
            shares.push(json!({
                "cause": cause.name(), "excess_nanos": of_part(is_part, excess), "observations": observations,
                "typical_nanos": of_part(has_typical, self.any()), "typical_faults": of_part(has_typical, self.any()),
            }));
        }
        let mut missing = serde_json::Map::new();
        for name in picollo_native::exemplars::MISSING_NAMES {
            if self.below(2) == 0 {
                missing.insert(name.into(), (count(self) >> 4 | 1).into());
            }
        }
        let without_evidence: u64 = missing.values().filter_map(Value::as_u64).sum();
        let (slow, without_controls, too_short) = (count(self), count(self), count(self));
        let counted_only = slow.saturating_sub(known + without_controls + too_short + without_evidence);
        let mut values: Vec<u64> = (0..self.below(5)).map(|_| self.any()).collect();
        values.sort_by_key(|&value| std::cmp::Reverse(value));
        let exemplars: Vec<Value> = values.iter().map(|&value| self.exemplar(value)).collect();
        let (threshold, units) =
            (self.any() | 1, [1_000_000_000, 1_000_000_000_000, 2_399_998_123, 1][self.below(4) as usize]);
        json!({
            "begin_unix_nanos": self.any(), "end_unix_nanos": self.any(), "threshold": self.maybe(threshold),
            "observations": count(self), "slow": slow, "known": known, "controls": count(self),
            "counted_only": counted_only, "without_controls": without_controls, "too_short": too_short, "without_evidence": without_evidence,
            "counted": count(self), "excess_nanos": sum, "machine": self.hints(), "units_per_second": self.maybe(units), "has_run_delay": self.below(2) == 0,
            "missing": missing, "uncounted": self.reason(), "causes": shares, "exemplars": exemplars,
        })
    }
}

fn written(interval: &Interval) -> String {
    let mut text = String::new();
    interval.write_json(&mut text).unwrap();
    text
}

#[test]
fn what_is_read_is_written_again() {
    let mut random = Random(7);
    for _ in 0..500 {
        let texts = [random.interval().to_string(), random.interval().to_string()];
        let found = intervals(&texts.join("\n")).unwrap();
        let values = |texts: &[String]| {
            texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect::<Vec<Value>>()
        };
        assert_eq!(values(&found.iter().map(written).collect::<Vec<_>>()), values(&texts));
        for interval in &found {
            // Whatever there is, it is written in every form.
            let [mut html, mut text, mut markdown] = [const { String::new() }; 3];
            interval.write_html(&mut html).unwrap();
            interval.write_text(&mut text).unwrap();
            interval.write_markdown(&mut markdown).unwrap();
            assert!(
                html.starts_with("<section")
                    && html.len() < 60_000
                    && !text.is_empty()
                    && !markdown.is_empty()
            );
        }
    }
}

/// One with everything in it.
fn whole() -> Value {
    let mut random = Random(3);
    loop {
        let found = random.interval();
        let one = &found["exemplars"][0];
        if found["known"] != 0 && !one["window_nanos"].is_null() && !one["off_nanos"].is_null() {
            return found;
        }
    }
}

fn fault(text: &str) -> String {
    intervals(text).expect_err(text)
}

/// What is said where the value at a pointer is this.
fn with(pointer: &str, value: Value) -> String {
    let mut changed = whole();
    *changed.pointer_mut(pointer).expect(pointer) = value;
    fault(&changed.to_string())
}

#[test]
fn what_is_no_interval_is_refused_by_name() {
    let whole_number = "must be a whole number from 0 up to 2^64 - 1, and is";
    for (pointer, value, expected) in [
        ("/threshold", json!(-1), format!("interval 1.threshold {whole_number} -1")),
        ("/begin_unix_nanos", json!(1.5), format!("interval 1.begin_unix_nanos {whole_number} 1.5")),
        ("/end_unix_nanos", json!(1e300), format!("interval 1.end_unix_nanos {whole_number} 1e+300")),
        (
            "/slow",
            json!(u64::MAX),
            "interval 1.slow must be a whole number from 0 up to 2^53, and is 18446744073709551615".into(),
        ),
        (
            "/known",
            json!("7"),
            "interval 1.known must be a whole number from 0 up to 2^53, and is \"7\"".into(),
        ),
        (
            "/has_run_delay",
            json!([]),
            "interval 1.has_run_delay must be true or false, and is an array".into(),
        ),
        ("/causes", json!({}), "interval 1.causes must be an array, and is an object".into()),
        ("/causes/3", Value::Null, "interval 1.causes[3] must be an object, and is null".into()),
        (
            "/causes/2/cause",
            json!("witchcraft"),
            "interval 1.causes[2].cause is \"witchcraft\", which is no cause that is known".into(),
        ),
        (
            "/causes/2/cause",
            json!("own waiting"),
            "interval 1.causes[2].cause is own waiting a second time".into(),
        ),
        (
            "/causes/0/observations",
            json!(true),
            "interval 1.causes[0].observations must be a whole number from 0 up to 2^53, and is true".into(),
        ),
        ("/machine/steal", json!(1.5), "interval 1.machine.steal must be a number from 0 to 1, and is 1.5".into()),
        ("/machine/swapped_in", json!(-1), format!("interval 1.machine.swapped_in {whole_number} -1")),
        ("/exemplars/0/usual_ipc", json!(0), "interval 1.exemplars[0].usual_ipc must be a number above 0, and is 0".into()),
        ("/exemplars/0/cycles", json!("x"), format!("interval 1.exemplars[0].cycles {whole_number} \"x\"")),
        (
            "/missing",
            json!({"rain": 1}),
            "interval 1.missing has \"rain\", which is no reason that is known".into(),
        ),
        (
            "/missing",
            json!({"forked": -1}),
            "interval 1.missing.forked must be a whole number from 0 up to 2^53, and is -1".into(),
        ),
        ("/missing", json!({"forked": 1u64 << 53, "too_many": 1}), "interval 1.missing has more than 2^53 in all".into()),
        ("/units_per_second", json!(1u64 << 60), "interval 1.units_per_second must be a whole number from 0 up to 10^15, and is 1152921504606846976".into()),
        ("/exemplars/0/value", Value::Null, format!("interval 1.exemplars[0].value {whole_number} null")),
        ("/exemplars/0/words", json!([1]), "interval 1.exemplars[0].words must be two whole numbers".into()),
        (
            "/exemplars/0/thread",
            json!(1u64 << 31),
            "interval 1.exemplars[0].thread must be a whole number of 32 bits, and is 2147483648".into(),
        ),
        (
            "/exemplars/0/label",
            json!(1u64 << 32),
            "interval 1.exemplars[0].label must be a whole number from 0 up to 2^32 - 1, and is 4294967296"
                .into(),
        ),
        (
            "/exemplars/0/trace_id",
            json!("é".repeat(16)),
            "interval 1.exemplars[0].trace_id must be 32 hexadecimal digits, and is \"éééééééééééééééé\""
                .into(),
        ),
        (
            "/exemplars/0/span_id",
            json!("<script>"),
            "interval 1.exemplars[0].span_id must be 16 hexadecimal digits, and is \"<script>\"".into(),
        ),
        (
            "/exemplars/0/excess",
            json!({"several": 1}),
            "interval 1.exemplars[0].excess has several, which is not a part of the time".into(),
        ),
        (
            "/exemplars/0/parts",
            json!({"x": 1}),
            "interval 1.exemplars[0].parts has \"x\", which is no cause that is known".into(),
        ),
        (
            "/exemplars/0/parts",
            json!({"run queue": -3}),
            format!("interval 1.exemplars[0].parts.run queue {whole_number} -3"),
        ),
        (
            "/exemplars/0/voluntary",
            json!(1u64 << 32),
            "interval 1.exemplars[0].voluntary must be below 2^32, and is 4294967296".into(),
        ),
        (
            "/exemplars/0/cpu_nanos",
            Value::Null,
            "interval 1.exemplars[0].cpu_nanos is null, or not, unlike what is known with it".into(),
        ),
        (
            "/exemplars/0/preempted_nanos",
            Value::Null,
            "interval 1.exemplars[0].preempted_nanos is null, or not, unlike what is known with it".into(),
        ),
    ] {
        assert_eq!(with(pointer, value), expected);
    }
}

#[test]
fn what_is_missing_is_named_unless_it_came_later() {
    let later = [
        "too_short",
        "counted",
        "uncounted",
        "machine",
        "instructions",
        "cycles",
        "ipc",
        "usual_ipc",
        "units_per_second",
        "has_run_delay",
        "missing",
        "parts",
        "typical_faults",
    ];
    let unread = ["counted_only", "excess_nanos"];
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    for (pointer, path) in [("", ""), ("/causes/1", ".causes[1]"), ("/exemplars/0", ".exemplars[0]")] {
        for name in names(whole().pointer(pointer).unwrap()) {
            let mut changed = whole();
            changed.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(&name);
            let found = intervals(&changed.to_string());
            if later.contains(&&*name) || unread.contains(&&*name) {
                assert!(found.is_ok(), "{name}: {found:?}");
            } else {
                assert_eq!(found.unwrap_err(), format!("interval 1{path}.{name} is missing"));
            }
        }
    }
    // And what comes later than this version is left alone.
    let mut changed = whole();
    for pointer in ["", "/causes/1", "/exemplars/0"] {
        changed.pointer_mut(pointer).unwrap()["too_new"] = json!({"a": [1, null]});
    }
    let again: Value = serde_json::from_str(&written(&intervals(&changed.to_string()).unwrap()[0])).unwrap();
    assert_eq!(again, whole());
}

#[test]
fn what_is_no_json_is_refused() {
    for (text, expected) in [
        ("", "has no interval"),
        (" \n ", "has no interval"),
        ("[]", "interval 1 must be an object, and is an array"),
        ("{", "EOF while parsing an object at line 1 column 1"),
        ("{\"threshold\":NaN}", "expected value at line 1 column 14"),
        ("null", "interval 1 must be an object, and is null"),
    ] {
        assert_eq!(fault(text), expected);
    }
    let deep = "[".repeat(1_000_000);
    assert_eq!(fault(&deep), "recursion limit exceeded at line 1 column 128");
    let many = format!("[{}{{}}]", "{},".repeat(999_999));
    let text = whole().to_string();
    let many = text.replace(&whole()["exemplars"].to_string(), &many);
    assert_eq!(fault(&many), "interval 1.exemplars has 1000000: an interval has at most 65601");
    assert_eq!(fault(&format!("{text}\n{text}\n{{}}")), "interval 3.causes is missing");
}

#[test]
fn files_are_named_with_their_faults() {
    let directory = std::env::temp_dir().join(format!("picollo-exemplars-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("a.json");
    let read_of = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        read(&path).map_err(|failure| failure.to_string())
    };
    let name = path.display();
    assert_eq!(read_of(b"{\"a\":\"\xff\"}").unwrap_err(), format!("{name}: is not UTF-8, from byte 7 on"));
    assert_eq!(read_of(b"").unwrap_err(), format!("{name}: has no interval"));
    let hostile = whole().to_string().replacen("own waiting", "\\u001b[31m", 1);
    assert!(!read_of(hostile.as_bytes()).unwrap_err().contains('\u{1b}'));
    assert_eq!(read_of(whole().to_string().as_bytes()).unwrap().len(), 1);
    let file = File::create(&path).unwrap();
    file.set_len(MOST_BYTES + 1).unwrap();
    let failure = read(&path).unwrap_err().to_string();
    assert_eq!(failure, format!("{name}: more than 64 MiB: give the intervals that matter"));
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(read(&path).unwrap_err().to_string(), format!("{name}: No such file or directory"));
}
