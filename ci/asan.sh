#!/usr/bin/env bash
# Does anything touch memory that is not its own, or leak? AddressSanitizer and LeakSanitizer over the tests in Rust and in C,
# both sides instrumented, and over those in Python, with an instrumented library.
#
# By default the tests of the core that allocate, decode and record from threads, all C and C++ tests, and Python's of what owns
# memory; ASAN_ALL=1 adds all other Rust and Python tests. PROPTEST_CASES sets the cases of each property (default: 32),
# PICOLLO_STRESS_RECORDS the records of the stress tests for each mode (default: 300,000).
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

# allocation, starved and recording have a malloc of their own, which the sanitizer would take for its.
mapfile -t tests < <(c_tests allocation starved recording)
run_c_tests "${tests[@]}" | tee "$programs/summary"
c_summary=$(tail -n 1 "$programs/summary")

chosen=(--package picollo-core --lib --test shards --test allocator --test stress --test doubles_stress --test sparse --test memory)
[ "${ASAN_ALL:-0}" = 1 ] && chosen=(--package picollo-core --package picollo-native --package picollo-ffi)
echo "SKIPPED ten_thousand_of_them_take_under_a_hundred_megabytes: the sanitizer's shadows take memory too"
cargo test --quiet --target "$host" "${chosen[@]}" "$@" -- --skip ten_thousand_of_them | tee "$programs/rust"
rust=$(rust_passed "$programs/rust")

# The interpreter is not instrumented: the runtime is loaded before it, with the C++ library, whose exceptions it looks after. (The
# part left out is one that only programs may have.)
preload=$programs/runtime.so
cp "$archive" "$programs/runtime.a"
ar d "$programs/runtime.a" asan_preinit.cpp.o
g++ -shared -o "$preload" -Wl,--whole-archive "$programs/runtime.a" -Wl,--no-whole-archive -Wl,--no-as-needed -lstdc++ -lpthread -lm -ldl -lrt

# The interpreter leaks on its own account. What counts is what the library allocated: one of its functions is in the report then.
ours=' in <\?picollo'
run_python() {
    rm -f "$programs"/report.*
    env -u RUSTFLAGS -u CARGO_TARGET_DIR LD_PRELOAD="$preload" PYTHONMALLOC=malloc PICOLLO_LIBRARY="$programs/libpicollo.so.0" \
        ASAN_OPTIONS="$ASAN_OPTIONS:log_path=$programs/report" LSAN_OPTIONS=exitcode=0 "$@"
}
reported() { grep -q "$1" "$programs"/report.* 2>/dev/null; }
plant_in_python() {
    run_python python3 ci/asan/planted.py "$1" || true
    if ! reported "$2"; then
        echo "FAILED: a fault planted in Python ($1) was not found"
        exit 1
    fi
    planted=$((planted + 1))
}
plant_in_python use-after-free "heap-use-after-free"
plant_in_python leak "$ours"

python_tests=(tests/test_lifetime.py tests/test_errors.py tests/test_histogram_array.py tests/test_doubles.py tests/test_counter.py)
[ "${ASAN_ALL:-0}" = 1 ] && python_tests=(tests)
# What these measure is the process's memory, which the sanitizer takes most of.
left_out=(
    tests/test_benchmark.py::test_memory_and_counters
    tests/test_log.py::test_memory_does_not_depend_on_the_length
    tests/test_partitions.py::test_memory_is_bounded
)
printf 'SKIPPED %s: the sanitizer takes memory too\n' "${left_out[@]}"
if ! run_python python-demo/run-tests.sh -q -ra "${python_tests[@]}" "${left_out[@]/#/--deselect=}" >"$programs/python" 2>&1; then
    cat "$programs/python"
    exit 1
fi
if reported "$ours" || reported "ERROR: AddressSanitizer"; then
    cat "$programs"/report.*
    echo "FAILED: Python's tests passed, but the sanitizer had something to say"
    exit 1
fi
python=$(tail -n 1 "$programs/python")
echo "AddressSanitizer: C $c_summary; Rust $rust passed; Python $python; $planted planted faults found; no error, no leak; $((SECONDS - started)) s"
