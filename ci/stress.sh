#!/bin/sh
# Is every record counted exactly once, under load? The stress test in its long form: 10^8 records for each mode and width
# (about a minute). PICOLLO_STRESS_RECORDS asks for another number.
set -eu
cd "$(dirname "$0")/.."
PICOLLO_STRESS_RECORDS="${PICOLLO_STRESS_RECORDS:-100000000}" \
    cargo test --quiet --release --package picollo-core --test stress -- --nocapture
