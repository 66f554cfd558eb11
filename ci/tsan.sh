#!/usr/bin/env bash
# Are there data races? ThreadSanitizer over the tests with threads, in Rust and in C, both sides instrumented.
#
# PICOLLO_STRESS_RECORDS sets the records of the stress tests for each mode: 300,000 by default, 10,000,000 in the long form.
# Arguments go to the Rust tests.
set -euo pipefail
cd "$(dirname "$0")/.."
sanitizer=thread runtime=tsan cfg="--cfg picollo_plain_loads"
. ci/sanitizer.sh
started=$SECONDS
build_library
export PICOLLO_STRESS_RECORDS="${PICOLLO_STRESS_RECORDS:-300000}"

# std hands over tests, results and what is in an Arc by means that the sanitizer does not see. The library has no Arc.
cat >"$CARGO_TARGET_DIR/suppressions" <<'END'
race:test::event::CompletedTest
race:<alloc::sync::Arc<*as core::ops::drop::Drop>::drop
END
export TSAN_OPTIONS="suppressions=$CARGO_TARGET_DIR/suppressions halt_on_error=1"

build_program planted c-tests/planted.c "$built/libpicollo.a"
"$programs/planted" none >/dev/null
plant race "data race"

# allocation and starved have a malloc of their own, which the sanitizer would take for its; their threads take turns.
mapfile -t tests < <(c_tests allocation starved)
run_c_tests "${tests[@]}" | tee "$programs/summary"
c_summary=$(tail -n 1 "$programs/summary")

echo "SKIPPED ten_thousand_of_them_take_under_a_hundred_megabytes: the sanitizer's shadows take memory too"
cargo test --quiet --package picollo-core --target "$host" \
    --test stress --test shards --test doubles_stress --test sparse "$@" -- --skip ten_thousand_of_them | tee "$programs/rust"
rust=$(rust_passed "$programs/rust")
echo "ThreadSanitizer: C $c_summary; Rust $rust passed; $planted planted fault found; no data race; $((SECONDS - started)) s"
