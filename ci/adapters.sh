#!/usr/bin/env bash
# Do the adapters work: no warnings, passing tests, running examples, and usable by path from another project? The
# pytest adapter uses the interpreter of the Python tests. Ends with the output of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
[ -n "${PICOLLO_STAGED:-}" ] || ci/stage.sh
# First, because the rest has a separate target directory.
PICOLLO_LIBRARY=${PICOLLO_LIBRARY:-$PWD/target/stage/lib/libpicollo.so} python/run-tests.sh -q ../adapters/pytest/tests
# Google Benchmark: a page, whose example runs.
stage=$PWD/target/stage root=$(ci/tools/debian.sh libbenchmark-dev)
libraries=$root/usr/lib/$(gcc -print-multiarch)
mkdir -p target/adapters
sed -n '/^```c++$/,/^```$/{//!p}' adapters/google-benchmark/README.md >target/adapters/readme.cpp
g++ -std=c++17 -O1 -Wall -Wextra -Werror target/adapters/readme.cpp -o target/adapters/readme -isystem "$root/usr/include" \
    -I"$stage/include" -L"$stage/lib" -L"$libraries" -Wl,-rpath,"$stage/lib:$libraries" -lpicollo -lbenchmark -lpthread
target/adapters/readme --benchmark_min_time=0.05 --benchmark_format=json 2>/dev/null | python3 -c '
import json, sys
(run,) = json.load(sys.stdin)["benchmarks"]
assert run["recorded"] == run["iterations"] > 0 and 0 < run["p50"] <= run["p99"], run
print("Google Benchmark: the README works, and every iteration is recorded")
'
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target}/adapters
# A project outside this workspace depends on our packages by path.
outside=$(mktemp -d)
trap 'rm -rf "$outside"' EXIT
mkdir "$outside/src" && echo 'fn main() {}' >"$outside/src/main.rs"
printf '[package]\nname = "outside"\nedition = "2024"\n[workspace]\n[dependencies]\n' >"$outside/Cargo.toml"
ci/tools/packages.sh | while read -r name folder; do
    echo "$name = { path = \"$PWD/$folder\" }" >>"$outside/Cargo.toml"
done
cargo metadata --quiet --format-version 1 --manifest-path "$outside/Cargo.toml" >/dev/null
echo "a project outside of the workspace can depend on the packages by path"

# One test records 10^8 values, so all are compiled with optimization, but not as one unit, which would take minutes.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
adapters=(-p picollo-criterion -p picollo-metrics -p picollo-tracing)
cargo clippy --locked "${adapters[@]}" --release --all-targets --quiet -- -D warnings
cargo test --locked --release --quiet "${adapters[@]}"
