#!/usr/bin/env bash
# Do the protocols between threads hold under every interleaving and memory order? Loom tries them all, up to a limit of
# preemptions: those of the core, and the kernel's protocol for reading a counter's page in user space.
#
#   ci/loom.sh [MODEL]     all models, or those with this prefix; LOOM_MAX_PREEMPTIONS overrides their limits (2 to 4)
#   ci/loom.sh bugs        can the models fail? Removes one thing at a time (ci/loom/bugs.sh), and a model must notice;
#                          about 20 minutes
set -euo pipefail
cd "$(dirname "$0")/.."
export RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/loom"
if [ "${1:-}" = bugs ]; then exec ci/loom/bugs.sh; fi

log=$CARGO_TARGET_DIR/models.log
mkdir -p "$CARGO_TARGET_DIR"
cargo test --quiet --no-fail-fast --package picollo-core --package picollo-perf --package picollo-why --lib -- \
    "models::${1:-}" "user_read::page::model::${1:-}" "waiting::model::${1:-}" --nocapture 2>&1 | tee "$log"
# A filter without matches would pass, too.
place=0
for package in core perf why; do
    [ $# -eq 0 ] || break
    place=$((place + 1))
    ran=$(sed -n 's/^test result: ok. \([0-9]*\) passed.*/\1/p' "$log" | sed -n "${place}p")
    [ "${ran:-0}" -gt 0 ] || { echo "FAILED: no model of picollo-$package ran"; exit 1; }
done
