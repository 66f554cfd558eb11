#!/usr/bin/env bash
# Do the adapters work: formatted, without warnings, their tests pass, their examples run? Those for Rust crates are a workspace of their own
# (adapters/Cargo.toml), with a lock file of its own; that for pytest has the interpreter of the Python tests. Ends with what their tests say.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${PICOLLO_STAGED:-}" ] || ci/stage.sh
# First, as what follows has a target directory of its own.
PICOLLO_LIBRARY=${PICOLLO_LIBRARY:-$PWD/target/stage/lib/libpicollo.so} python-demo/run-tests.sh -q ../adapters/pytest/tests
# Google Benchmark: no more than a page, whose example runs.
stage=$PWD/target/stage root=$(ci/tools/debian.sh libbenchmark-dev)
libraries=$root/usr/lib/$(gcc -print-multiarch)
mkdir -p target/adapters
build() {
    g++ -std=c++17 -O1 -Wall -Wextra -Werror "$1" -o "$2" -isystem "$root/usr/include" \
        -I"$stage/include" -L"$stage/lib" -L"$libraries" -Wl,-rpath,"$stage/lib:$libraries" -lpicollo -lbenchmark -lpthread
}
sed -n '/^```c++$/,/^```$/{//!p}' adapters/google-benchmark/README.md >target/adapters/readme.cpp
build target/adapters/readme.cpp target/adapters/readme
target/adapters/readme --benchmark_min_time=0.05 --benchmark_format=json 2>/dev/null |
    python3 -c 'import json, sys; (run,) = json.load(sys.stdin)["benchmarks"]; assert run["p99"] > 0, run; print("Google Benchmark: the README works")'
build adapters/google-benchmark/example.cpp target/adapters/google-benchmark
target/adapters/google-benchmark --benchmark_min_time=0.05 --benchmark_format=json 2>/dev/null | python3 -c '
import json, sys
runs = json.load(sys.stdin)["benchmarks"]
assert len(runs) == 2, runs
for run in runs:
    assert run["recorded"] == run["iterations"] > 0 and 0 < run["p50"] <= run["p99"] <= run["max"], run
print("Google Benchmark: every iteration recorded")
'
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/adapters
manifest=(--manifest-path adapters/Cargo.toml)
deny=(-- -D warnings)
if ! other=$(ci/tools/compiler.sh rustc); then
    echo "SKIPPED failing on warnings: $other, which may warn of something else"
    deny=()
fi
cargo fmt "${manifest[@]}" --all --check
cargo clippy "${manifest[@]}" --locked --workspace --release --all-targets --quiet "${deny[@]}"
cargo run "${manifest[@]}" --locked --release --quiet -p picollo-metrics --example against_exporter
cargo run "${manifest[@]}" --locked --release --quiet -p picollo-tracing --example spans
cargo run "${manifest[@]}" --locked --release --quiet -p picollo-tracing --example against_timing
# Criterion keeps what it measured in that target directory.
cargo run "${manifest[@]}" --locked --release --quiet -p picollo-criterion --example sorting
# Compiled with optimisation: one of them records 10^8 values.
cargo test "${manifest[@]}" --locked --release --quiet --workspace
