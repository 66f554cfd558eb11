#!/usr/bin/env bash
# Does reading counters in user space give the right counts? A preloaded simulated PMU tests it on any x86-64 Linux: the
# full matrix in C, one scenario for each width from Python, the cost of a reading, and the counter demos in C and
# Python. Needs the staged library (ci/stage.sh). Ends with a line "N passed, N failed".
#
#   ci/simulated-pmu.sh         everything: 100,000 readings of each scenario, or SIMULATED_PMU_READS
#   ci/simulated-pmu.sh clr     C#'s tests of it on CoreCLR, which ci/dotnet.sh must have set up
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "SKIPPED: the simulated PMU is for x86-64 Linux"
    exit 0
fi
stage=$PWD/target/stage
build=$PWD/target/c-tests
export LD_LIBRARY_PATH=$stage/lib:${LD_LIBRARY_PATH:-}
export PICOLLO_LIBRARY=$stage/lib/libpicollo.so PYTHONPATH=python/src PYTHONDONTWRITEBYTECODE=1
make --no-print-directory -s -C c-tests/simulated_pmu
make --no-print-directory -s -C c-tests demos
preload=$build/libsimulated_pmu.so

. ci/tools/checks.sh
# A demo must count everything that it requests: this machine lacks nothing.
demo() {
    local output
    output=$(env LD_PRELOAD="$preload" PICOLLO_RDPMC=force SIMULATED_PMU="width=48 clock=1 user_time=1" "$@" 2>&1) || { echo "$output"; return 1; }
    echo "$output"
    ! grep -qiE 'not counted|unavailable|error' <<<"$output" && grep -qi 'cycles' <<<"$output"
}
# Figures of two commands and of a benchmark with planted events: instructions are twice the cycles. System calls read
# them, as they return both for one moment: a busy machine may interrupt a reading in user space between them. (All
# symbols are bound at once, because the simulation's handlers run on the small stack that Rust gives them.)
figures() {
    env LD_BIND_NOW=1 LD_PRELOAD="$preload" SIMULATED_PMU="width=48 clock=1" PICOLLO_RDPMC=off python3 c-tests/simulated_pmu/figures.py "$1" |
        grep '^figures are right$'
}

if [ "${1:-}" = clr ]; then
    # CoreCLR's own fault handlers would write dumps.
    check "C# on CoreCLR, after ci/dotnet.sh" env LD_LIBRARY_PATH="$build:$LD_LIBRARY_PATH" SIMULATED_PMU_LIBRARY="$preload" LD_PRELOAD="$preload" \
        PICOLLO_RDPMC=force DOTNET_DbgEnableMiniDump=0 DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 \
        "${XDG_CACHE_HOME:-$HOME/.cache}/picollo/dotnet/runtime-8.0.4/dotnet" exec target/dotnet/core/Tests.exe.dll SimulatedPmuTests
    finish
    exit
fi
check "the matrix in C" make --no-print-directory -s -C c-tests/simulated_pmu test
check "scenarios from Python" env LD_PRELOAD="$preload" PICOLLO_RDPMC=force python3 c-tests/simulated_pmu/from_python.py
check "the demo in C" demo "$build/known_work"
check "the demo in Python" demo python3 python-demo/known_work.py --rounds 200
check "sorted or not" demo python3 python-demo/sorted_or_not.py
check "figures of a benchmark" figures benchmark
if [ -x target/debug/picollo ]; then
    check "figures of two commands" figures compare
else
    echo "SKIPPED figures of two commands: the command is not built (cargo build -p picollo-cli)"
fi
finish
