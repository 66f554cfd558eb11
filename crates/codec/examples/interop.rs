//! What the crate `hdrhistogram` makes of our files, for `ci/interop.sh`: `interop DIRECTORY`. See `ci/interop/interop.py`.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, SystemTime};
use std::{env, error, fs};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{
    IntervalLogIterator, IntervalLogWriterBuilder, LogEntry, Tag,
};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer, V2Serializer};
use serde_json::{Value, json};

type Result<T> = std::result::Result<T, Box<dyn error::Error>>;

fn counts_of(histogram: &Histogram<u64>) -> Vec<[u64; 2]> {
    let recorded = histogram.iter_recorded();
    recorded
        .map(|step| [histogram.lowest_equivalent(step.value_iterated_to()), step.count_at_value()])
        .collect()
}

fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str> {
    Ok(value[name].as_str().ok_or(format!("no {name}"))?)
}

fn seconds(value: &Value, name: &str) -> Result<Duration> {
    Ok(Duration::from_secs_f64(value[name].as_f64().ok_or(format!("no {name}"))?))
}

fn decode(encoded: &str) -> Result<Histogram<u64>> {
    Ok(Deserializer::new().deserialize(&mut &STANDARD.decode(encoded)?[..])?)
}

fn record(case: &Value) -> Result<Histogram<u64>> {
    let digits = case["digits"].as_u64().ok_or("no digits")? as u8;
    let mut histogram =
        Histogram::new_with_bounds(text(case, "lowest")?.parse()?, text(case, "highest")?.parse()?, digits)?;
    for pair in case["values"].as_array().ok_or("no values")? {
        let [value, count] = [0, 1].map(|at| pair[at].as_str().unwrap_or("").parse::<u64>());
        histogram.record_n(value?, count?)?;
    }
    Ok(histogram)
}

/// The figures of a histogram.
fn figures_of(histogram: &Histogram<u64>, case: &Value) -> Result<Value> {
    let mut equivalent = Vec::new();
    for pair in case["values"].as_array().ok_or("no values")? {
        let value = pair[0].as_str().unwrap_or("").parse()?;
        equivalent.push([histogram.lowest_equivalent(value), histogram.highest_equivalent(value)]);
    }
    let ranks = case["ranks"].as_array().ok_or("no ranks")?;
    let percentiles = ranks.iter().map(|rank| histogram.value_at_percentile(rank.as_f64().unwrap_or(0.0)));
    let step = text(case, "step")?.parse()?;
    let steps = |value: u64, added: u64| [value, added];
    let linear = histogram.iter_linear(step);
    let logarithmic = histogram.iter_log(step, 2.0);
    let quantiles = histogram.iter_quantiles(case["ticks"].as_u64().ok_or("no ticks")? as u32);
    Ok(json!({
        "min": histogram.min(),
        "max": histogram.max(),
        "equivalent": equivalent,
        "percentiles": percentiles.collect::<Vec<_>>(),
        "linear": linear.map(|s| steps(s.value_iterated_to(), s.count_since_last_iteration())).collect::<Vec<_>>(),
        "logarithmic": logarithmic.map(|s| steps(s.value_iterated_to(), s.count_since_last_iteration())).collect::<Vec<_>>(),
        "quantiles": quantiles.map(|s| steps(s.value_iterated_to(), s.count_since_last_iteration())).collect::<Vec<_>>(),
    }))
}

fn main() -> Result<()> {
    let directory = env::args().nth(1).ok_or("usage: interop DIRECTORY")?;
    let directory = Path::new(&directory);
    let cases: Vec<Value> = fs::read_to_string(directory.join("rust-cases.jsonl"))?
        .lines()
        .map(serde_json::from_str)
        .collect::<serde_json::Result<_>>()?;

    let (mut results, mut log) = (String::new(), Vec::new());
    let mut deflate = V2DeflateSerializer::new();
    let mut writer = IntervalLogWriterBuilder::new()
        .add_comment("[of the crate hdrhistogram]")
        .with_start_time(SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000))
        .begin_log_with(&mut log, &mut deflate)?;
    for case in &cases {
        let histogram = record(case)?;
        let (mut raw, mut compressed) = (Vec::new(), Vec::new());
        V2Serializer::new().serialize(&histogram, &mut raw)?;
        V2DeflateSerializer::new().serialize(&histogram, &mut compressed)?;
        let read = ["raw", "compressed"].map(|form| Ok(counts_of(&decode(text(case, form)?)?)));
        let [read_raw, read_compressed]: [Result<_>; 2] = read;
        let line = json!({
            "id": case["id"],
            "read": { "raw": read_raw?, "compressed": read_compressed? },
            "wrote": { "raw": STANDARD.encode(&raw), "compressed": STANDARD.encode(&compressed) },
            "figures": figures_of(&histogram, case)?,
        });
        writeln!(results, "{line}")?;
        let (start, end) = (seconds(case, "start")?, seconds(case, "end")?);
        let tag = Some(text(case, "tag")?).filter(|tag| !tag.is_empty()).and_then(Tag::new);
        writer.write_histogram(&histogram, start, end - start, tag).map_err(|error| format!("{error:?}"))?;
    }
    fs::write(directory.join("rust.jsonl"), results)?;
    fs::write(directory.join("rust.hlog"), log)?;

    let mut read = String::new();
    let ours = fs::read(directory.join("rust-ours.hlog"))?;
    for entry in IntervalLogIterator::new(&ours) {
        let LogEntry::Interval(interval) = entry.map_err(|error| format!("{error:?}"))? else { continue };
        let start = interval.start_timestamp();
        let line = json!({
            "tag": interval.tag().map(|tag| tag.as_str()),
            "start": start.as_secs_f64(),
            "end": (start + interval.duration()).as_secs_f64(),
            "counts": counts_of(&decode(interval.encoded_histogram())?),
        });
        writeln!(read, "{line}")?;
    }
    fs::write(directory.join("rust-read.jsonl"), read)?;
    Ok(())
}
