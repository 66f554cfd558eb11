#!/usr/bin/env bash
# Fetches and builds the peers, runs all benchmarks against the staged library, and plots the results.
# PICOLLO_BENCH_QUICK=1 runs a tenth of the rounds.
set -euo pipefail
cd "$(dirname "$0")/.."

out=${CARGO_TARGET_DIR:-target}/bench
mkdir -p "$out"
if peers=$(benches/fetch-peers.sh); then
    export PICOLLO_BENCH_PEERS=$peers
    PICOLLO_BENCH_STAGE=$(realpath "${STAGE:-${CARGO_TARGET_DIR:-target}/stage}")
    export PICOLLO_BENCH_STAGE
else
    echo "SKIPPED: HdrHistogram_c could not be fetched or built"
fi
cargo build --release --quiet -p picollo-benches --bin side_by_side
"${CARGO_TARGET_DIR:-target}/release/side_by_side" | tee "$out/results.md"

if "$(ci/tools/venv.sh bench matplotlib)/bin/python" benches/plot.py "$out/results.md" "$out/results.svg"; then
    printf '\n%s\n' "$out/results.md" "$out/results.svg"
else
    echo "SKIPPED: no plot, matplotlib is not to be had"
fi
