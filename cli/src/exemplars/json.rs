//! Intervals from their JSON. It may come from anywhere: what cannot be an interval's is refused, by the name of the field.
//!
//! Fields that are not known are left alone, and those that came later may be missing, so that versions understand each other.

use picollo_native::exemplars::{
    Cause, Context, Evidence, Exemplar, Hints, Interval, KNOWN_ACCOUNTS, KNOWN_COUNTERS, KNOWN_FAULT_TIMES,
    KNOWN_QUOTA, KNOWN_RING, KNOWN_RUN_DELAY, MAX_COUNT, MAX_EXEMPLARS, MAX_UNITS_PER_SECOND, MISSING_NAMES,
    NO_CPU, Parts, Share, Told, Verdict,
};
use picollo_native::{Error, Status};
use serde_json::{Deserializer, Map, Value};

/// What is wrong, and behind the path of a field: ` is missing`, `.value is missing`.
type Outcome<T> = Result<T, String>;

/// Every interval in a text: one object after the other.
pub(crate) fn intervals(text: &str) -> Outcome<Vec<Interval>> {
    let mut found = Vec::new();
    // Depth is limited: 128 levels.
    for value in Deserializer::from_str(text).into_iter::<Value>() {
        let value = value.map_err(|error| error.to_string())?;
        let number = found.len() + 1;
        found.push(interval(&value).map_err(|fault| format!("interval {number}{fault}"))?);
    }
    if found.is_empty() {
        return Err("has no interval".into());
    }
    Ok(found)
}

fn interval(value: &Value) -> Outcome<Interval> {
    let of = object(value)?;
    let has_known =
        |share: &Map<String, Value>| share.get("excess_nanos").is_some_and(|excess| !excess.is_null());
    let mut shares = [None; Cause::ALL.len()];
    for (at, one) in field(of, "causes", array)?.iter().enumerate() {
        let share = |value| -> Outcome<()> {
            let of = object(value)?;
            let cause = field(of, "cause", cause)?;
            let place = &mut shares[cause as usize - 1];
            if place.is_some() {
                return Err(format!(".cause is {} a second time", cause.name()));
            }
            let excess_nanos = if has_known(of) { field(of, "excess_nanos", whole)? } else { 0 };
            *place = Some(Share {
                excess_nanos,
                observations: field(of, "observations", count)?,
                typical_nanos: field(of, "typical_nanos", |value| optional(value, whole))?.unwrap_or(0),
                typical_faults: later(of, "typical_faults", whole)?.unwrap_or(0),
            });
            Ok(())
        };
        let mut share = share;
        share(one).map_err(|fault| format!(".causes[{at}]{fault}"))?;
    }
    let kept = field(of, "exemplars", array)?;
    if kept.len() > MAX_EXEMPLARS {
        return Err(format!(".exemplars has {}: an interval has at most {MAX_EXEMPLARS}", kept.len()));
    }
    let exemplars = kept.iter().enumerate();
    let exemplars =
        exemplars.map(|(at, one)| exemplar(one).map_err(|fault| format!(".exemplars[{at}]{fault}")));
    let told = Told {
        unix_nanos: [field(of, "begin_unix_nanos", whole)?, field(of, "end_unix_nanos", whole)?],
        threshold: field(of, "threshold", |value| optional(value, whole))?.unwrap_or(0),
        units_per_second: later(of, "units_per_second", units)?.unwrap_or(0),
        observations: field(of, "observations", count)?,
        slow: field(of, "slow", count)?,
        known: field(of, "known", count)?,
        controls: field(of, "controls", count)?,
        has_run_delay: later(of, "has_run_delay", boolean)?.unwrap_or(true),
        counted: later(of, "counted", count)?.unwrap_or(0),
        uncounted: later(of, "uncounted", reason)?,
        hints: later(of, "machine", hints)?.unwrap_or_default(),
        without_controls: field(of, "without_controls", count)?,
        too_short: later(of, "too_short", count)?.unwrap_or(0),
        missing: missing(of)?,
        shares: shares.map(Option::unwrap_or_default),
        exemplars: exemplars.collect::<Outcome<_>>()?,
    };
    Interval::told(told).map_err(|error| format!(": {error}"))
}

/// Why something is not known.
fn reason(value: &Value) -> Outcome<Error> {
    let message = value.as_str().ok_or_else(|| unlike(value, "a text"))?;
    Ok(Error::new(Status::NotCounted, format_args!("{message}")))
}

fn hints(value: &Value) -> Outcome<Hints> {
    let of = object(value)?;
    Ok(Hints {
        steal: later(of, "steal", share)?,
        cpu: later(of, "waited_for_cpu", share)?,
        memory: later(of, "waited_for_memory", share)?,
        io: later(of, "waited_for_io", share)?,
        swapped_in: later(of, "swapped_in", whole)?,
    })
}

/// Slow ones without evidence, by reason; those whose reason is not told come first.
fn missing(of: &Map<String, Value>) -> Outcome<[u64; MISSING_NAMES.len()]> {
    let mut found = [0; MISSING_NAMES.len()];
    let all = field(of, "without_evidence", count)?;
    if let Some(reasons) = later(of, "missing", |value| object(value).cloned())? {
        for (name, value) in &reasons {
            let at = MISSING_NAMES.iter().position(|known| known == name);
            let at =
                at.ok_or_else(|| format!(".missing has {}, which is no reason that is known", short(name)))?;
            found[at] = count(value).map_err(|fault| format!(".missing.{name}{fault}"))?;
        }
    }
    found[0] = 0;
    let named: u64 = found.iter().sum();
    if named > MAX_COUNT {
        return Err(".missing has more than 2^53 in all".into());
    }
    found[0] = all.saturating_sub(named);
    Ok(found)
}

fn exemplar(value: &Value) -> Outcome<(Exemplar, Verdict)> {
    let of = object(value)?;
    let words = field(of, "words", |value| match array(value)?.as_slice() {
        [first, second] => Ok([whole(first)?, whole(second)?]),
        _ => Err(" must be two whole numbers".into()),
    })?;
    let context =
        Context { words, trace_id: field(of, "trace_id", bytes)?, span_id: field(of, "span_id", bytes)? };
    let exemplar = Exemplar {
        value: field(of, "value", whole)?,
        wall_nanos: field(of, "wall_nanos", whole)?,
        unix_nanos: field(of, "unix_nanos", whole)?,
        thread: field(of, "thread", integer)?,
        cpu: field(of, "cpu", |value| optional(value, small))?.unwrap_or(NO_CPU),
        label: field(of, "label", small)?,
        context,
        evidence: evidence(of)?,
        ..Exemplar::default()
    };
    let excess = field(of, "excess", parts)?;
    let parts = later(of, "parts", parts)?.unwrap_or_default();
    // What is only needed to judge intervals is not told.
    let nothing = Verdict::of(&Exemplar::default(), None);
    let usual_ipc = later(of, "usual_ipc", positive)?.unwrap_or(0.0);
    Ok((exemplar, Verdict { cause: field(of, "cause", cause)?, parts, excess, usual_ipc, ..nothing }))
}

/// What is null is not known. What becomes known together is known together.
fn evidence(of: &Map<String, Value>) -> Outcome<Evidence> {
    let mut known = 0;
    let mut number = |name: &str, bit: u32, is_first: bool| -> Outcome<u64> {
        let found = field(of, name, |value| optional(value, whole))?;
        if is_first && found.is_some() {
            known |= bit;
        }
        match found.is_some() == (known & bit != 0) {
            true => Ok(found.unwrap_or(0)),
            false => Err(format!(".{name} is null, or not, unlike what is known with it")),
        }
    };
    let mut evidence = Evidence {
        window_nanos: number("window_nanos", KNOWN_ACCOUNTS, true)?,
        cpu_nanos: number("cpu_nanos", KNOWN_ACCOUNTS, false)?,
        run_delay_nanos: number("run_delay_nanos", KNOWN_RUN_DELAY, true)?,
        off_nanos: number("off_nanos", KNOWN_RING, true)?,
        preempted_nanos: number("preempted_nanos", KNOWN_RING, false)?,
        fault_nanos: number("fault_nanos", KNOWN_FAULT_TIMES, true)?,
        ..Evidence::default()
    };
    for (name, bit, is_first, place) in [
        ("throttled", KNOWN_QUOTA, true, &mut evidence.throttled),
        ("voluntary", KNOWN_ACCOUNTS, false, &mut evidence.voluntary),
        ("involuntary", KNOWN_ACCOUNTS, false, &mut evidence.involuntary),
        ("minor_faults", KNOWN_ACCOUNTS, false, &mut evidence.minor_faults),
        ("major_faults", KNOWN_ACCOUNTS, false, &mut evidence.major_faults),
    ] {
        let found = number(name, bit, is_first)?;
        *place = u32::try_from(found).map_err(|_| format!(".{name} must be below 2^32, and is {found}"))?;
    }
    // Came later.
    let executed = |name| later(of, name, whole);
    if let (Some(instructions), Some(cycles)) = (executed("instructions")?, executed("cycles")?) {
        (evidence.instructions, evidence.cycles) = (instructions, cycles);
        known |= KNOWN_COUNTERS;
    }
    evidence.known = known;
    Ok(evidence)
}

/// Nanoseconds by cause.
fn parts(value: &Value) -> Outcome<Parts> {
    let mut found = Parts::default();
    for (name, nanos) in object(value)? {
        let cause =
            named(name).ok_or_else(|| format!(" has {}, which is no cause that is known", short(name)))?;
        let place = found.0.get_mut(cause as usize - 1);
        *place.ok_or_else(|| format!(" has {name}, which is not a part of the time"))? =
            whole(nanos).map_err(|fault| format!(".{name}{fault}"))?;
    }
    Ok(found)
}

fn named(name: &str) -> Option<Cause> {
    Cause::ALL.into_iter().find(|cause| cause.name() == name)
}

fn cause(value: &Value) -> Outcome<Cause> {
    let name = value.as_str().ok_or_else(|| unlike(value, "the name of a cause"))?;
    named(name).ok_or_else(|| format!(" is {}, which is no cause that is known", short(name)))
}

/// A field that has to be there.
fn field<'a, T>(
    of: &'a Map<String, Value>,
    name: &str,
    read: impl FnOnce(&'a Value) -> Outcome<T>,
) -> Outcome<T> {
    let value = of.get(name).ok_or_else(|| format!(".{name} is missing"))?;
    read(value).map_err(|fault| format!(".{name}{fault}"))
}

/// A field that some versions do not write, or write null.
fn later<'a, T>(
    of: &'a Map<String, Value>,
    name: &str,
    read: impl FnOnce(&'a Value) -> Outcome<T>,
) -> Outcome<Option<T>> {
    if of.contains_key(name) { field(of, name, |value| optional(value, read)) } else { Ok(None) }
}

fn optional<'a, T>(value: &'a Value, read: impl FnOnce(&'a Value) -> Outcome<T>) -> Outcome<Option<T>> {
    if value.is_null() { Ok(None) } else { read(value).map(Some) }
}

fn object(value: &Value) -> Outcome<&Map<String, Value>> {
    value.as_object().ok_or_else(|| unlike(value, "an object"))
}

fn array(value: &Value) -> Outcome<&Vec<Value>> {
    value.as_array().ok_or_else(|| unlike(value, "an array"))
}

fn boolean(value: &Value) -> Outcome<bool> {
    value.as_bool().ok_or_else(|| unlike(value, "true or false"))
}

fn whole(value: &Value) -> Outcome<u64> {
    value.as_u64().ok_or_else(|| unlike(value, "a whole number from 0 up to 2^64 - 1"))
}

/// Of a whole.
fn share(value: &Value) -> Outcome<f64> {
    value
        .as_f64()
        .filter(|share| (0.0..=1.0).contains(share))
        .ok_or_else(|| unlike(value, "a number from 0 to 1"))
}

fn positive(value: &Value) -> Outcome<f64> {
    value.as_f64().filter(|&number| number > 0.0).ok_or_else(|| unlike(value, "a number above 0"))
}

/// A number of observations.
fn count(value: &Value) -> Outcome<u64> {
    value
        .as_u64()
        .filter(|&count| count <= MAX_COUNT)
        .ok_or_else(|| unlike(value, "a whole number from 0 up to 2^53"))
}

fn units(value: &Value) -> Outcome<u64> {
    let found = value.as_u64().filter(|&units| units <= MAX_UNITS_PER_SECOND);
    found.ok_or_else(|| unlike(value, "a whole number from 0 up to 10^15"))
}

fn small(value: &Value) -> Outcome<u32> {
    let found = value.as_u64().and_then(|number| u32::try_from(number).ok());
    found.ok_or_else(|| unlike(value, "a whole number from 0 up to 2^32 - 1"))
}

fn integer(value: &Value) -> Outcome<i32> {
    let found = value.as_i64().and_then(|number| i32::try_from(number).ok());
    found.ok_or_else(|| unlike(value, "a whole number of 32 bits"))
}

/// Two hexadecimal digits for each byte.
fn bytes<const N: usize>(value: &Value) -> Outcome<[u8; N]> {
    let digits = value.as_str().map(str::as_bytes).filter(|digits| digits.len() == 2 * N);
    let refused = || unlike(value, &format!("{} hexadecimal digits", 2 * N));
    let mut found = [0; N];
    for (byte, pair) in found.iter_mut().zip(digits.ok_or_else(refused)?.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16).ok_or_else(refused);
        *byte = (digit(0)? << 4 | digit(1)?) as u8;
    }
    Ok(found)
}

/// That a value is not what it must be.
fn unlike(value: &Value, what: &str) -> String {
    let found = match value {
        Value::Null => "null".into(),
        Value::Bool(is_so) => is_so.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => short(text),
        Value::Array(_) => "an array".into(),
        Value::Object(_) => "an object".into(),
    };
    format!(" must be {what}, and is {found}")
}

/// A text that may be long.
fn short(text: &str) -> String {
    const MOST: usize = 40;
    let cut: String = text.chars().take(MOST).collect();
    if cut.len() < text.len() { format!("{cut:?}…") } else { format!("{cut:?}") }
}
