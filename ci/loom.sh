#!/bin/sh
# Do the protocols between threads hold under every interleaving and memory order? Loom tries them all, within a bound on
# preemptions. LOOM_MAX_PREEMPTIONS overrides the bounds that the models have (2 to 4); takes a minute as they are.
#
#   ci/loom.sh [MODEL]
set -eu
cd "$(dirname "$0")/.."
export RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-target}/loom"
cargo test --quiet --package picollo-core --lib "models::${1:-}" -- --nocapture
