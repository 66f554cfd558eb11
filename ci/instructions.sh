#!/usr/bin/env bash
# Do the hot paths still take as many instructions as committed? Counted by callgrind, so exact and the same on a busy
# machine; a change of more than 3 % either way fails. For x86-64 processors with AVX2 and BMI2: valgrind has no AVX-512.
#
#   ci/instructions.sh            compare with ci/instructions.txt
#   ci/instructions.sh --write    write what is measured as the new budgets
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(uname -m)" != x86_64 ] || ! grep -qw avx2 /proc/cpuinfo || ! grep -qw bmi2 /proc/cpuinfo; then
    echo "SKIPPED: the budgets are for x86-64 with AVX2 and BMI2"
    echo "0 passed, 0 failed"
    exit 0
fi
budgets=ci/instructions.txt
target=${CARGO_TARGET_DIR:-target}
stage=${STAGE:-$target/stage}
[ -n "${PICOLLO_STAGED:-}" ] || ci/stage.sh "$stage"
cargo build --release --quiet -p picollo-benches --bin instructions
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gcc -O2 benches/c/instructions.c -o "$work/instructions-c" -I"$stage/include" -L"$stage/lib" -lpicollo
export LD_LIBRARY_PATH=$stage/lib

# count PROGRAM PATH TIMES: all instructions of a run.
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" "$3" 2>&1 >/dev/null |
        sed -n 's/.*Collected *: *\([0-9]*\).*/\1/p'
}

# measure PROGRAM NAME FEW MANY ITEMS: instructions per item, from the difference of two runs.
measure() {
    local few many
    few=$(count "$1" "$2" "$3")
    many=$(count "$1" "$2" "$4")
    awk -v name="$2" -v n=$((many - few)) -v d=$((($4 - $3) * $5)) 'BEGIN { printf "%s %.2f\n", name, n / d }'
}

c=$work/instructions-c
rust=$target/release/instructions
{
    for path in inlined-64 inlined-32 batch-bmi2 batch-plain; do measure "$rust" $path 2 12 1000; done
    for path in record record-32 record-thread-local record-interlocked record-inline-c record-batch \
        record-batch-thread-local; do
        measure "$c" $path 2 12 1000
    done
    for path in snapshot snapshot-delta percentiles summary summary-text; do measure "$c" $path 2 6 1; done
} >"$work/measured"

if [ "${1:-}" = --write ]; then
    {
        echo "# Instructions per value recorded, or per call that reads. Written by ci/instructions.sh --write."
        cat "$work/measured"
    } >"$budgets"
    cat "$budgets"
    exit 0
fi

awk '
    NR == FNR { if ($1 != "#") budget[$1] = $2; next }
    {
        seen[$1] = 1
        if (!($1 in budget)) { printf "FAILED %-22s has no budget: %s\n", $1, $2; failed++; next }
        change = ($2 / budget[$1] - 1) * 100
        bad = change > 3 || change < -3
        printf "%-6s %-22s budget %12.2f  measured %12.2f  %+6.2f %%\n", bad ? "FAILED" : "ok", $1, budget[$1], $2, change
        if (bad) failed++; else passed++
    }
    END {
        for (name in budget) if (!(name in seen)) { printf "FAILED %-22s was not measured\n", name; failed++ }
        if (failed) print "If the change is meant: ci/instructions.sh --write"
        printf "%d passed, %d failed\n", passed, failed
        exit failed > 0 || passed == 0
    }
' "$budgets" "$work/measured"
