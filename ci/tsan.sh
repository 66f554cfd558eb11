#!/usr/bin/env bash
# Are there data races? ThreadSanitizer over the tests with threads, in Rust and in C, both sides instrumented.
#
# By default the tests of the core with threads, and all C and C++ tests; TSAN_ALL=1 runs all Rust tests. (Python's threads call what
# those of the C tests call, and the runtime cannot be loaded into an interpreter: it has to be linked into the program.)
# PICOLLO_STRESS_RECORDS sets the records of the stress tests for each mode: 300,000 by default, 10,000,000 in the long form.
# PROPTEST_CASES sets the cases of each property (default: 32).
# Arguments go to the Rust tests.
set -euo pipefail
cd "$(dirname "$0")/.."
sanitizer=thread runtime=tsan cfg="--cfg picollo_plain_loads"
. ci/sanitizer.sh
started=$SECONDS
build_library
export PICOLLO_STRESS_RECORDS="${PICOLLO_STRESS_RECORDS:-300000}" PROPTEST_CASES="${PROPTEST_CASES:-32}"

# std hands over tests, results and what is in an Arc by means that the sanitizer does not see. The library has no Arc.
cat >"$CARGO_TARGET_DIR/suppressions" <<'END'
race:test::event::CompletedTest
race:<alloc::sync::Arc<*as core::ops::drop::Drop>::drop
END
export TSAN_OPTIONS="suppressions=$CARGO_TARGET_DIR/suppressions halt_on_error=1"

build_program planted c-tests/planted.c "$built/libpicollo.a"
"$programs/planted" none >/dev/null
plant race "data race"

# allocation, starved and recording have a malloc of their own, which the sanitizer would take for its; their threads take turns.
mapfile -t tests < <(c_tests allocation starved recording)
run_c_tests "${tests[@]}" | tee "$programs/summary"
c_summary=$(tail -n 1 "$programs/summary")

echo "SKIPPED ten_thousand_of_them_take_under_a_hundred_megabytes: the sanitizer's shadows take memory too"
chosen=(--package picollo-core --test stress --test shards --test doubles_stress --test sparse)
[ "${TSAN_ALL:-0}" = 1 ] && chosen=(--package picollo-core --package picollo-native --package picollo-ffi)
cargo test --quiet --target "$host" "${chosen[@]}" "$@" -- --skip ten_thousand_of_them | tee "$programs/rust"
rust=$(rust_passed "$programs/rust")
echo "ThreadSanitizer: C $c_summary; Rust $rust passed; $planted planted fault found; no data race; $((SECONDS - started)) s"
