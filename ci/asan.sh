#!/usr/bin/env bash
# Does anything touch memory that is not its own, or leak? AddressSanitizer and LeakSanitizer over the tests in Rust and in C,
# both sides instrumented.
#
# By default the tests of the core that allocate, decode and record from threads, and all C and C++ tests; ASAN_ALL=1 adds all
# other Rust tests. PROPTEST_CASES sets the cases of each property (default: 32), PICOLLO_STRESS_RECORDS the records of the
# stress tests for each mode (default: 300,000).
# Arguments go to the Rust tests.
set -euo pipefail
cd "$(dirname "$0")/.."
sanitizer=address runtime=asan
. ci/sanitizer.sh
started=$SECONDS
build_library
export PICOLLO_STRESS_RECORDS="${PICOLLO_STRESS_RECORDS:-300000}" PROPTEST_CASES="${PROPTEST_CASES:-32}"
# Freed memory stays poisoned for a while; 64 MB of it are enough here.
export ASAN_OPTIONS="detect_leaks=1:detect_stack_use_after_return=1:quarantine_size_mb=64:allocator_may_return_null=1"

build_program planted c-tests/planted.c "$built/libpicollo.a"
"$programs/planted" none >/dev/null
plant overflow "heap-buffer-overflow"
plant use-after-free "heap-use-after-free"
plant leak "LeakSanitizer: detected memory leaks"

# Panics at the boundary become a status, and leak nothing on their way.
build_program panic c-tests/panic.c "$built/libpicollo.a"
if ! "$programs/panic" >"$programs/panic.log" 2>&1; then
    cat "$programs/panic.log"
    exit 1
fi
echo "panics planted at the boundary became a status"

# allocation and starved have a malloc of their own, which the sanitizer would take for its.
mapfile -t tests < <(c_tests allocation starved)
run_c_tests "${tests[@]}" | tee "$programs/summary"
c_summary=$(tail -n 1 "$programs/summary")

chosen=(--package picollo-core --lib --test shards --test allocator --test stress --test doubles_stress --test sparse --test memory)
[ "${ASAN_ALL:-0}" = 1 ] && chosen=(--package picollo-core --package picollo-native --package picollo-ffi)
echo "SKIPPED ten_thousand_of_them_take_under_a_hundred_megabytes: the sanitizer's shadows take memory too"
cargo test --quiet --target "$host" "${chosen[@]}" "$@" -- --skip ten_thousand_of_them | tee "$programs/rust"
rust=$(rust_passed "$programs/rust")
echo "AddressSanitizer: C $c_summary; Rust $rust passed; $planted planted faults found; no error, no leak; $((SECONDS - started)) s"
