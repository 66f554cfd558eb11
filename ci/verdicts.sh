#!/usr/bin/env bash
# How often are equal things told apart, and is a difference of five per cent found? Measured for real, in Rust, C, C++ and Python.
#
#   ci/verdicts.sh                       a sample of everything, a minute at most; fails by chance less than once in 10,000 times
#   ci/verdicts.sh --cells 'python equal'  only the cells whose names have all of these words; --list prints the names
#   ci/verdicts.sh --busy                one of the cores is kept busy meanwhile
#   VERDICT_RUNS=200 ci/verdicts.sh      all of it: about an hour
#   VERDICT_PREBUILT=1                   the programs are in target/verdicts already
#
# Equal functions of 0 to 1000 ns, net of an empty call, run against themselves; planted ones are a twentieth longer; programs are
# compared by `picollo compare`. Ends with a table in Markdown of what was found and what is to be. How busy the machine was, PSI tells: the
# share of the time in which something waited for a processor.
set -euo pipefail
cd "$(dirname "$0")/.."

out=target/verdicts
mkdir -p "$out"
case " $* " in
*" --list "*) ;;
*)
    if [ -z "${VERDICT_PREBUILT:-}" ]; then
        if [ -z "${PICOLLO_STAGED:-}" ]; then ci/stage.sh; fi
        cargo build --release --quiet -p picollo-native --example verdicts
        cp target/release/examples/verdicts "$out/equal-rust"
        cp target/stage/lib/libpicollo.so.0 "$out/libpicollo.so.0"
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
