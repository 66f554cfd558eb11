#!/usr/bin/env bash
# Do the adapters for Rust crates work: formatted, without warnings, their tests pass, their examples run? They are a workspace of their own
# (adapters/Cargo.toml), with a lock file of its own. Ends with what cargo says of the tests.
set -euo pipefail
cd "$(dirname "$0")/.."
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
# Compiled with optimisation: one of them records 10^8 values.
cargo test "${manifest[@]}" --locked --release --quiet --workspace
