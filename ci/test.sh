#!/usr/bin/env bash
# All tests. Each part ends with its runner's own summary; the first that fails ends the run, and says so.
set -euo pipefail
cd "$(dirname "$0")/.."

started=$SECONDS
part() {
    printf '\n==== %s\n' "$1"
    shift
    local began=$SECONDS
    if ! "$@"; then
        printf '==== FAILED after %d s: %s\n' $((SECONDS - began)) "$*"
        exit 1
    fi
    printf '==== %d s\n' $((SECONDS - began))
}

part "Rust" cargo test --quiet
part "The library, staged" ci/stage.sh
part "C and C++, against the staged library" make --no-print-directory -C c-tests test
part "C++ alone: picollo.hpp" ci/cpp.sh
part "The code of a record, as shipped" env PICOLLO_STAGED=1 ci/assembly.sh
part "Instructions of the hot paths" env PICOLLO_STAGED=1 ci/instructions.sh
part "Python" python-demo/run-tests.sh -q -ra
part ".NET" ci/dotnet.sh
part "Other implementations of HdrHistogram" ci/interop.sh
part "The README" python3 ci/readme.py
part "Counters on a simulated PMU" ci/simulated-pmu.sh
part "Counters on an emulated arm64 machine" ci/aarch64-pmu.sh
printf '\nall parts passed in %d s\n' $((SECONDS - started))
