#!/usr/bin/env bash
# Does Debian's Prometheus understand our metrics? It scrapes services in Python (through the C interface) and Rust,
# and `picollo serve` for three processes that publish as one service. There are bounds and native histograms. This takes about twenty seconds,
# with four scrapes a second, and one process restarts in the middle. Then it must return the known quantiles, counts,
# resets and exemplars. Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
stage=${STAGE:-$PWD/target/stage} work=$PWD/target/prometheus
[ -n "${PICOLLO_STAGED:-}" ] || ci/stage.sh "$stage"
root=$(ci/tools/debian.sh prometheus)
rm -rf "$work"
mkdir -p "$work"
cargo build --quiet -p picollo-export --example service
cargo build --quiet -p picollo-cli
# In memory, like segments.
segments=$(mktemp -d /dev/shm/picollo-prometheus-XXXXXX)
trap 'rm -rf "$segments"' EXIT
export PYTHONPATH=$PWD/python/src PYTHONDONTWRITEBYTECODE=1 PICOLLO_LIBRARY=$stage/lib/libpicollo.so
python3 ci/prometheus/check.py "$root/usr/bin/prometheus" "$root/usr/bin/promtool" "$work" \
    "py=python3 ci/prometheus/service.py" "rust=target/debug/examples/service" \
    "published=python3 ci/prometheus/published.py target/debug/picollo $segments/classic shop" \
    "native=python3 ci/prometheus/published.py target/debug/picollo $segments/native depot --native"
