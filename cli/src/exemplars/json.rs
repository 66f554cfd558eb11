//! Intervals from their JSON. It may come from anywhere: what cannot be an interval's is refused, with the way to the field.

use picollo_native::exemplars::Interval;
use serde_json::Deserializer;

/// Every interval in a text: one object after the other.
pub(crate) fn intervals(text: &str) -> Result<Vec<Interval>, String> {
    let mut found = Vec::new();
    // Depth is limited: 128 levels.
    let mut rest = Deserializer::from_str(text);
    while rest.end().is_err() {
        let one = serde_path_to_error::deserialize(&mut rest);
        let number = found.len() + 1;
        found.push(one.map_err(|fault| format!("interval {number}, {}: {}", fault.path(), fault.inner()))?);
    }
    if found.is_empty() { Err("has no interval".into()) } else { Ok(found) }
}
