#!/usr/bin/env bash
# What does a reading in user space cost, in instructions? Callgrind counts the reader alone, on pages in memory and with a
# function in place of the counter: at most 40 for one counter without times. On x86-64 the simulated PMU then counts the whole
# exported call, as it is shipped, by stepping through it.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}

program=$(cargo test --release --quiet -p picollo-native --lib --no-run --message-format=json 2>/dev/null | python3 -c '
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message.get("executable"):
        print(message["executable"])' | tail -1)

cost() {
    local out=$target/callgrind.$1
    PICOLLO_COST=$1 valgrind --quiet --tool=callgrind --callgrind-out-file="$out" --collect-atstart=no --toggle-collect=picollo_cost_of_readings \
        "$program" --test-threads=1 --exact pmc::tests::cost::readings_of_pages_in_memory >/dev/null 2>&1
    # Of a thousand readings, without the loop that makes them.
    callgrind_annotate --threshold=100 "$out" | tr -d , | awk '/pmc::/ { sum += $1 } END { print int(sum / 1000) }'
}
one=$(cost 1)
four=$(cost 4)
echo "a reading without times, the call of the counter's function included:"
echo "    one counter:   $one instructions"
echo "    four counters: $four instructions"
failed=0
[ "$one" -gt 0 ] && [ "$one" -le 40 ] || { echo "one counter: more than 40"; failed=$((failed + 1)); }
[ "$four" -gt 0 ] && [ "$four" -le 190 ] || { echo "four counters: more than 190"; failed=$((failed + 1)); }
echo "$((2 - failed)) passed, $failed failed"
[ "$failed" -eq 0 ]
