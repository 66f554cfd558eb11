#!/usr/bin/env bash
# What do the hot paths cost? No result depends on the load of the machine.
#
#   ci/cost.sh [assembly] [instructions] [reading]      default: all three; ends with a line "N passed, N failed"
#   ci/cost.sh instructions --write                     writes what is measured as the new budgets
#
# assembly      is the code of a record in the shipped library right: in range, no call, no lock, no way to a panic?
# instructions  do the hot paths take the instructions in ci/cost/instructions.txt? Callgrind's counts are exact; a
#               difference of more than 3 % fails. For x86-64 with AVX2 and BMI2 (valgrind has no AVX-512), and for the
#               compilers that they name: with others the difference is shown, but cannot fail
# reading       what does a reading of a counter in user space cost? Callgrind counts only the reader, on pages in
#               memory, with a function instead of the counter: at most 40 instructions for one counter without times.
#               (On x86-64 ci/simulated-pmu.sh counts the whole exported call, as shipped, by single-stepping.)
#
# Reads target/stage (or $STAGE), which it builds unless PICOLLO_STAGED is set.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
stage=${STAGE:-$target/stage}
budgets=ci/cost/instructions.txt
passed=0 failed=0
verdict() {
    passed=$((passed + $1)) failed=$((failed + $2))
}
# Adds the summary line of a part; a part without one has failed.
add() {
    local last
    last=$(tail -n 1 "$1")
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then verdict "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}"; else verdict 0 1; fi
}
# The compilers here, without the last part of their versions: others emit other code.
compilers() { echo "$(rustc --version | cut -d' ' -f1,2 | cut -d. -f1,2) and gcc $(gcc -dumpversion)"; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

assembly() {
    if [ "$(uname -m)" != x86_64 ]; then
        echo "SKIPPED assembly: reads x86-64 code"
        return
    fi
    objdump --disassemble --no-show-raw-insn "$stage/lib/libpicollo.so" | python3 ci/cost/assembly.py | tee "$work/assembly" || true
    add "$work/assembly"
}

# count PROGRAM PATH TIMES: all instructions of a run.
count() {
    LD_LIBRARY_PATH=$stage/lib valgrind --tool=callgrind --callgrind-out-file=/dev/null "$1" "$2" "$3" 2>&1 >/dev/null |
        sed -n 's/.*Collected *: *\([0-9]*\).*/\1/p'
}

# measure PROGRAM NAME FEW MANY ITEMS: instructions per item, from the difference of two runs.
measure() {
    local few many
    few=$(count "$1" "$2" "$3")
    many=$(count "$1" "$2" "$4")
    awk -v name="$2" -v n=$((many - few)) -v d=$((($4 - $3) * $5)) 'BEGIN { printf "%s %.2f\n", name, n / d }'
}

# own PROGRAM PATH FUNCTION NAME: a call of a function without its callees, the mean of ten thousand calls: checkpoints
# depend on the clock, and do not count.
own() {
    local out=$work/own.$2
    [ -e "$out" ] || LD_LIBRARY_PATH=$stage/lib valgrind --quiet --tool=callgrind --callgrind-out-file="$out" "$1" "$2" 10 >/dev/null 2>&1
    callgrind_annotate --threshold=100 "$out" | tr -d , |
        awk -v name="$4" -v called="$3" 'index($0, ":" called " ") { sum += $1 } END { printf "%s %.2f\n", name, sum / 10000 }'
}

instructions() {
    if [ "$(uname -m)" != x86_64 ] || ! grep -qw avx2 /proc/cpuinfo || ! grep -qw bmi2 /proc/cpuinfo; then
        echo "SKIPPED instructions: the budgets are for x86-64 with AVX2 and BMI2"
        return
    fi
    cargo build --release --quiet -p picollo-benches --bin instructions --bin metrics
    gcc -O2 benches/c/instructions.c -o "$work/instructions-c" -I"$stage/include" -L"$stage/lib" -lpicollo
    local c=$work/instructions-c rust=$target/release/instructions path
    {
        for path in inlined-64 inlined-32 writer-64 writer-32 batch-bmi2 batch-plain record-segment-viewed; do measure "$rust" $path 2 12 1000; done
        for path in record record-32 record-thread-local record-thread-local-32 record-thread-local-17th record-interlocked \
            record-interlocked-32 record-per-cpu-without-areas record-segment record-inline-c record-batch record-batch-thread-local; do
            measure "$c" $path 2 12 1000
        done
        own "$c" scopes picollo_scope_begin scope-begin
        own "$c" scopes picollo_scope_end scope-end
        own "$c" exemplar-scopes picollo_exemplars_begin exemplar-begin
        own "$c" exemplar-scopes picollo_exemplars_end exemplar-end
        # For each of ten histograms.
        for path in update openmetrics prometheus-text prometheus-protobuf otlp; do measure "${rust%/*}/metrics" expose-$path 2 6 10; done
        for path in snapshot snapshot-delta snapshot-thread-local encode-v2 percentiles summary summary-text; do measure "$c" $path 2 6 1; done
    } >"$work/measured"

    if [ "$write" = 1 ]; then
        {
            echo "# Instructions per value recorded, per call that reads, or per histogram exposed. Written by ci/cost.sh instructions --write,"
            echo "# with $(compilers)."
            cat "$work/measured"
        } >"$budgets"
        cat "$budgets"
        return
    fi
    local judged=1
    if ! grep -qF "# with $(compilers)." "$budgets"; then
        echo "SKIPPED judging instructions: $(sed -n 's/^# with/the budgets hold for/p' "$budgets" | sed 's/[.]$//'), and here is $(compilers)"
        judged=0
    fi
    awk -v judged=$judged '
        NR == FNR { if ($1 !~ /^#/) budget[$1] = $2; next }
        {
            seen[$1] = 1
            if (!($1 in budget)) { printf "FAILED %-28s has no budget: %s\n", $1, $2; failed++; next }
            change = ($2 / budget[$1] - 1) * 100
            bad = change > 3 || change < -3
            word = bad ? (judged ? "FAILED" : "other") : "ok"
            printf "%-6s %-28s budget %12.2f  measured %12.2f  %+6.2f %%\n", word, $1, budget[$1], $2, change
            if (bad && judged) failed++; else passed++
        }
        END {
            for (name in budget) if (!(name in seen)) { printf "FAILED %-28s was not measured\n", name; failed++ }
            if (failed) print "If the change is meant: ci/cost.sh instructions --write"
            printf "%d passed, %d failed\n", passed, failed
        }
    ' "$budgets" "$work/measured" | tee "$work/instructions"
    add "$work/instructions"
}

# cost_of COUNTERS: instructions of one reading by the test program in $program.
cost_of() {
    local out=$work/callgrind.$1
    PICOLLO_COST=$1 valgrind --quiet --tool=callgrind --callgrind-out-file="$out" --collect-atstart=no --toggle-collect=picollo_cost_of_readings \
        "$program" --test-threads=1 --exact user_read::pmc::tests::cost::readings_of_pages_in_memory >/dev/null 2>&1
    # For a thousand readings, without the loop around them.
    callgrind_annotate --threshold=100 "$out" | tr -d , | awk '/pmc::/ { sum += $1 } END { print int(sum / 1000) }'
}

reading() {
    local program one four
    program=$(cargo test --release --quiet -p picollo-perf --lib --no-run --message-format=json 2>/dev/null | python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable"):
        print(message["executable"])' | tail -1)
    one=$(cost_of 1) four=$(cost_of 4)
    echo "a reading without times, the call of the counter's function included:"
    echo "    one counter:   $one instructions"
    echo "    four counters: $four instructions"
    if [ "$one" -gt 0 ] && [ "$one" -le 40 ]; then verdict 1 0; else echo "FAILED one counter: more than 40"; verdict 0 1; fi
    if [ "$four" -gt 0 ] && [ "$four" -le 190 ]; then verdict 1 0; else echo "FAILED four counters: more than 190"; verdict 0 1; fi
}

write=0 parts=()
for argument in "$@"; do
    case $argument in
    --write) write=1 ;;
    assembly | instructions | reading) parts+=("$argument") ;;
    *) echo "no such part: $argument" >&2; exit 2 ;;
    esac
done
[ ${#parts[@]} -gt 0 ] || parts=(assembly instructions reading)
[ -n "${PICOLLO_STAGED:-}" ] || ci/stage.sh "$stage"
for part in "${parts[@]}"; do
    echo "-- $part"
    "$part"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
