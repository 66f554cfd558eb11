#!/usr/bin/env bash
# How often are equal things reported as different, and is a difference of five percent detected? Real measurements in
# Rust, C and Python.
#
#   ci/verdicts.sh                       a sample, about a minute; fails by chance less than once in 10,000 runs
#   VERDICT_RUNS=200 ci/verdicts.sh      everything: about an hour
#
# Equal functions of 0 to 1000 ns, net of an empty call, run against themselves. Planted ones are a twentieth longer.
# `picollo compare` compares programs. Ends with a Markdown table of results and limits. PSI shows the load of the
# machine: the share of the time in which something waited for a processor.
set -euo pipefail
cd "$(dirname "$0")/.."

out=target/verdicts
mkdir -p "$out"
if [ -z "${PICOLLO_STAGED:-}" ]; then ci/stage.sh; fi
cargo build --release --quiet -p picollo-bench --example verdicts
cp target/release/examples/verdicts "$out/equal-rust"
cp target/stage/lib/libpicollo.so "$out/libpicollo.so.$(ci/tools/abi-version.sh)"
flags=$(PKG_CONFIG_PATH=target/stage/lib/pkgconfig pkg-config --cflags --libs picollo)
# shellcheck disable=SC2086
gcc -std=c11 -O2 -Wall -Wextra -Werror ci/verdicts/equal.c -o "$out/equal-c" $flags '-Wl,-rpath,$ORIGIN'
cargo build --quiet --locked -p picollo-cli
PICOLLO_COMMAND=$PWD/target/debug/picollo exec python3 ci/verdicts/matrix.py
