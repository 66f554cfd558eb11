#!/bin/sh
# Are there data races? ThreadSanitizer over the Rust tests with threads. Needs a nightly toolchain.
set -eu
cd "$(dirname "$0")/.."
export RUSTFLAGS="--cfg picollo_tsan --cfg picollo_plain_loads -Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/tsan"
export PICOLLO_STRESS_RECORDS="${PICOLLO_STRESS_RECORDS:-300000}"
# std hands over tests, results and what is in an Arc by fences, which the sanitizer does not see. The library has no Arc.
mkdir -p "$CARGO_TARGET_DIR"
cat >"$CARGO_TARGET_DIR/suppressions" <<'END'
race:test::event::CompletedTest
race:<alloc::sync::Arc<*as core::ops::drop::Drop>::drop
END
export TSAN_OPTIONS="suppressions=$PWD/$CARGO_TARGET_DIR/suppressions halt_on_error=1"
cargo +nightly test --quiet --package picollo-core --target x86_64-unknown-linux-gnu \
    --test stress --test shards "$@"
