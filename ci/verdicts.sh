#!/usr/bin/env bash
# How often are equal things reported as different, and is a difference of five percent detected? Real measurements in
# Rust, C, C++ and Python.
#
#   ci/verdicts.sh                       a sample, a minute at most; fails by chance less than once in 10,000 runs
#   ci/verdicts.sh --cells 'python equal'  only cells whose names contain all of these words; --list prints the names
#   ci/verdicts.sh --busy                with one of the cores kept busy
#   VERDICT_RUNS=200 ci/verdicts.sh      everything: about an hour
#   VERDICT_PREBUILT=1                   the programs are already in target/verdicts
#
# Equal functions of 0 to 1000 ns, net of an empty call, run against themselves. Planted ones are a twentieth longer.
# `picollo compare` compares programs. Ends with a Markdown table of results and limits. PSI shows the load of the
# machine: the share of the time in which something waited for a processor.
set -euo pipefail
cd "$(dirname "$0")/.."

out=target/verdicts
mkdir -p "$out"
case " $* " in
*" --list "*) ;;
*)
    if [ -z "${VERDICT_PREBUILT:-}" ]; then
        if [ -z "${PICOLLO_STAGED:-}" ]; then ci/stage.sh; fi
        cargo build --release --quiet -p picollo-bench --example verdicts
        cp target/release/examples/verdicts "$out/equal-rust"
        cp target/stage/lib/libpicollo.so "$out/libpicollo.so.$(ci/tools/abi-version.sh)"
        flags=$(PKG_CONFIG_PATH=target/stage/lib/pkgconfig pkg-config --cflags --libs picollo)
        # shellcheck disable=SC2086
        gcc -std=c11 -O2 -Wall -Wextra -Werror ci/verdicts/equal.c -o "$out/equal-c" $flags '-Wl,-rpath,$ORIGIN'
        # shellcheck disable=SC2086
        g++ -std=c++17 -O2 -Wall -Wextra -Werror ci/verdicts/equal.cpp -o "$out/equal-c++" $flags '-Wl,-rpath,$ORIGIN'
    fi
    ;;
esac
if [ -z "${PICOLLO_COMMAND:-}" ]; then
    cargo build --quiet --locked -p picollo-cli
    export PICOLLO_COMMAND=${CARGO_TARGET_DIR:-$PWD/target}/debug/picollo
fi
exec python3 ci/verdicts/matrix.py "$@"
