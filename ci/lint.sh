#!/usr/bin/env bash
# Is the code formatted and free of warnings, and does every link between Rust pages resolve? Runs rustfmt, clippy on
# the workspace and on crates without features, and rustdoc. Warnings fail with any compiler.
# Ends with "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/tools/checks.sh
check() { if "${@:2}"; then pass "$1"; else fail "$1"; fi; }
check "formatted" cargo fmt --all --check
check "all files have one version" packaging/version.py
check "headers, bindings and their description are those of ffi/src" ci/describe.sh --check
# ci/adapters.sh checks the adapters, which have other dependencies; the fuzz targets need a C++ compiler.
check "clippy, all but the adapters" cargo clippy --workspace --exclude=picollo-{criterion,metrics,tracing,fuzz,fuzz-library} --all-targets --quiet -- -D warnings
check "clippy, without features" cargo clippy --package=picollo-{core,codec,stats,text} --no-default-features --quiet -- -D warnings
check "the C library, without features" cargo check --package=picollo-ffi --no-default-features --profile=embedded --quiet
check "links between pages of the Rust documentation" env RUSTDOCFLAGS="-D rustdoc::broken_intra_doc_links" \
    cargo doc --no-deps --quiet --package=picollo-{core,codec,stats,text,export,native,perf,bench,segment,why} --package=picollo
finish
