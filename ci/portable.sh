#!/bin/sh
# Does the core work on targets without 64-bit atomics, and without compare-and-swap?
# The whole test suite runs as if on one, with the critical sections of std.
set -eu
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"
for lacking in picollo_no_atomic64 picollo_no_cas; do
    export RUSTFLAGS="--cfg $lacking" CARGO_TARGET_DIR="$target/$lacking"
    cargo test --quiet --package picollo-core --features critical-section
    cargo check --quiet --package picollo-core --no-default-features --features critical-section
done
