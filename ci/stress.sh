#!/bin/sh
# Is every record counted exactly once, under load? The long form of the stress test: 10^8 records for each mode and width
# (about a minute), then the tests of shards and allocation under AddressSanitizer, if a nightly toolchain is there.
set -eu
cd "$(dirname "$0")/.."
PICOLLO_STRESS_RECORDS="${PICOLLO_STRESS_RECORDS:-100000000}" \
    cargo test --quiet --release --package picollo-core --test stress -- --nocapture
if cargo +nightly --version >/dev/null 2>&1; then
    RUSTFLAGS="-Zsanitizer=address -Cunsafe-allow-abi-mismatch=sanitizer" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/asan" \
        cargo +nightly test --quiet --package picollo-core --target x86_64-unknown-linux-gnu \
        --test shards --test allocator --test stress --test memory
else
    echo "SKIPPED: AddressSanitizer needs a nightly toolchain"
fi
