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

passed=0 failed=0
# Adds up the summary lines of a test program.
tests() {
    local output code=0
    output=$("$@" 2>&1) || code=$?
    printf '%s\n' "$output"
    local sum
    sum=$(printf '%s\n' "$output" | awk '/^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3 } END { print p + 0, f + 0 }')
    passed=$((passed + ${sum% *}))
    failed=$((failed + ${sum#* }))
    # The program died before it could count.
    if [ "$code" -ne 0 ] && [ "${sum#* }" -eq 0 ]; then failed=$((failed + 1)); fi
}
# A demo must count everything that it requests: this machine lacks nothing.
demo() {
    local output
    if output=$(env LD_PRELOAD="$preload" PICOLLO_RDPMC=force SIMULATED_PMU="width=48 clock=1 user_time=1" "$@" 2>&1) &&
        ! grep -qiE 'not counted|unavailable|error' <<<"$output" && grep -qi 'cycles' <<<"$output"; then
        passed=$((passed + 1))
        echo "ok: $*"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n%s\n' "$*" "$output"
    fi
}

if [ "${1:-}" = clr ]; then
    # CoreCLR's own fault handlers would write dumps.
    clr=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/dotnet/runtime-8.0.4/dotnet
    if [ -x "$clr" ] && [ -e target/dotnet/core/Tests.exe.dll ]; then
        tests env LD_LIBRARY_PATH="$build:$LD_LIBRARY_PATH" SIMULATED_PMU_LIBRARY="$preload" LD_PRELOAD="$preload" \
            PICOLLO_RDPMC=force DOTNET_DbgEnableMiniDump=0 DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 \
            "$clr" exec target/dotnet/core/Tests.exe.dll SimulatedPmuTests
    else
        echo "FAILED: CoreCLR on the simulated PMU needs ci/dotnet.sh to have run"
        failed=1
    fi
    echo "$passed passed, $failed failed"
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
    exit
fi

tests make --no-print-directory -s -C c-tests/simulated_pmu test
tests env LD_PRELOAD="$preload" PICOLLO_RDPMC=force python3 c-tests/simulated_pmu/from_python.py
demo "$build/known_work"
demo python3 python-demo/known_work.py --rounds 200
demo python3 python-demo/sorted_or_not.py

# Figures of two commands and of a benchmark with planted events: instructions are twice the cycles. System calls read
# them, as they return both for one moment: a busy machine may interrupt a reading in user space between them. (All
# symbols are bound at once, because the simulation's handlers run on the small stack that Rust gives them.)
figures() {
    local output
    if output=$(env LD_BIND_NOW=1 LD_PRELOAD="$preload" SIMULATED_PMU="width=48 clock=1" "$@" 2>&1) && grep -q '^figures are right$' <<<"$output"; then
        passed=$((passed + 1))
        echo "ok: figures, ${!#}"
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n%s\n' "$*" "$output"
    fi
}
figures env PICOLLO_RDPMC=off python3 c-tests/simulated_pmu/figures.py benchmark
if [ -x target/debug/picollo ]; then
    figures env PICOLLO_RDPMC=off python3 c-tests/simulated_pmu/figures.py compare
else
    echo "SKIPPED figures of two commands: the command is not built (cargo build -p picollo-cli)"
fi
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
