#!/usr/bin/env bash
# Do the decoders and the log reader survive any input, within their limits of memory and time?
#
# Each target of fuzz/ runs for FUZZ_SECONDS (default: 10), or, if FUZZ_RUNS is set, for that many executions. A crash,
# a leak, an allocation above the limit, a wrong result or an execution of more than ten seconds fails.
# FUZZ_RUNS=1700000 is the long form: twenty million executions in all. Arguments select targets; default: all of them.
#
#   ci/fuzz.sh --pack [TARGET]...      saves findings in fuzz/corpus: for each target the inputs with unique coverage
#
# They begin with the inputs of fuzz/corpus/TARGET.tar.xz, and with single named ones in fuzz/corpus/TARGET/. cargo-fuzz
# and new inputs are kept in the cache directory.
set -euo pipefail
cd "$(dirname "$0")/.."
# Fuzzers need a feature of stable compilers that this setting enables.
export RUSTC_BOOTSTRAP=1
# Link-time optimization of the shipped library would only take long here.
export CARGO_PROFILE_RELEASE_LTO=off
# Reports of findings need line numbers.
export CARGO_PROFILE_RELEASE_DEBUG=1

cache="${XDG_CACHE_HOME:-$HOME/.cache}/picollo"
PATH=$(ci/tools/cargo-tool.sh fuzz 0.13.2):$PATH
export PATH
target_dir="${CARGO_TARGET_DIR:-$PWD/target}/fuzz"
export CARGO_TARGET_DIR="$target_dir"

pack=0
if [ "${1:-}" = --pack ]; then
    pack=1
    shift
fi
if [ $# -gt 0 ]; then targets=("$@"); else mapfile -t targets < <(cargo fuzz list); fi
cargo fuzz build

if [ -n "${FUZZ_RUNS:-}" ]; then limit="-runs=$FUZZ_RUNS"; else limit="-max_total_time=${FUZZ_SECONDS:-10}"; fi
passed=0 failed=0 executions=0
for target in "${targets[@]}"; do
    found="$cache/fuzz-corpus/$target" log="$target_dir/$target.log" packed="$target_dir/corpus/$target"
    inputs=("$packed")
    rm -rf "$packed"
    mkdir -p "$found" "$packed"
    if [ -e "fuzz/corpus/$target.tar.xz" ]; then tar -xJf "fuzz/corpus/$target.tar.xz" -C "$packed"; fi
    if [ -d "fuzz/corpus/$target" ]; then inputs+=("fuzz/corpus/$target"); fi
    if [ $pack = 1 ]; then
        merged="$target_dir/merged/$target"
        rm -rf "$merged"
        mkdir -p "$merged"
        cargo fuzz run "$target" "$merged" "$packed" "$found" -- -merge=1 -max_len=600 >"$log" 2>&1 || { tail -40 "$log"; exit 1; }
        # The same inputs make the same bytes.
        (cd "$merged" && find . -type f -printf '%P\n' | LC_ALL=C sort) |
            tar --format=ustar --mtime=@0 --owner=0 --group=0 --numeric-owner --mode=644 -C "$merged" -T - -c | xz -9e >"fuzz/corpus/$target.tar.xz"
        echo "$target: $(find "$merged" -type f | wc -l) inputs, $(stat -c %s "fuzz/corpus/$target.tar.xz") bytes"
        continue
    fi
    if cargo fuzz run "$target" "$found" "${inputs[@]}" -- \
        "$limit" -timeout=10 -rss_limit_mb=2048 -malloc_limit_mb=256 -max_len=600 -print_final_stats=1 >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        slowest=$(sed -n 's/^stat::slowest_unit_time_sec: *//p' "$log")
        rss=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
        printf '%-12s %10d executions, slowest %s s, peak %s MB\n' "$target" "$runs" "$slowest" "$rss"
        executions=$((executions + runs))
        passed=$((passed + 1))
    else
        tail -40 "$log"
        printf '%-12s FAILED, see above and %s\n' "$target" "$log"
        failed=$((failed + 1))
    fi
done
[ $pack = 0 ] || exit 0
printf '%d executions\n%d passed, %d failed\n' "$executions" "$passed" "$failed"
[ "$failed" -eq 0 ]
