//! Reads intervals from JSON of any origin. Invalid input is rejected with the path of the field.

use picollo_why::Interval;
use serde_json::Deserializer;

/// All intervals in a text: one object after the other.
pub(crate) fn intervals(text: &str) -> Result<Vec<Interval>, String> {
    let mut found = Vec::new();
    // The depth is limited to 128 levels.
    let mut rest = Deserializer::from_str(text);
    while rest.end().is_err() {
        let one = serde_path_to_error::deserialize(&mut rest);
        let number = found.len() + 1;
        found.push(one.map_err(|fault| format!("interval {number}, {}: {}", fault.path(), fault.inner()))?);
    }
    if found.is_empty() { Err("has no interval".into()) } else { Ok(found) }
}
