//! The header `Accept` of a request: any content gets an answer, and types of others do not change it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use picollo_export::{Exposition, negotiate};

fuzz_target!(|accept: &[u8]| {
    let answer = negotiate(accept);
    assert_ne!(answer.format, Exposition::Otlp, "which nobody scrapes");
    let plain = answer.content_type.strip_suffix("; escaping=underscores").unwrap_or(answer.content_type);
    assert_eq!(plain.replace("0.0.1", "1.0.0"), answer.format.content_type().replace("0.0.1", "1.0.0"));
    // Unknown types in front have no effect, if no quote is open.
    let longer = [b"text/html, image/png;q=0.9 ,", accept].concat();
    assert_eq!(negotiate(&longer), answer);
    // The answer to a content type from an answer is the same.
    assert_eq!(negotiate(answer.content_type.as_bytes()), answer);
});
