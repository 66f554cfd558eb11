#!/usr/bin/env bash
# Does the core work on other kinds of machines? Its whole test suite runs
#
# - as if without 64-bit atomics, and as if without compare-and-swap, with std's critical sections (parts "lacking");
# - compiled for 32 bits, on this machine (part "i686");
# - compiled for a big-endian machine, in an emulator (part "s390x").
#
#   ci/targets/portable.sh [lacking|i686|s390x]...       default: lacking; ends with a line "N passed, N failed"
#
# The compilers for other machines come from Debian and are kept in the cache directory.
set -euo pipefail
cd "$(dirname "$0")/../.."
target="${CARGO_TARGET_DIR:-$PWD/target}"
. ci/tools/checks.sh

# tests NAME COMMAND...: adds up what the test programs pass and fail.
tests() {
    local log=$target/portable-$1.log code=0
    mkdir -p "$target"
    "${@:2}" >"$log" 2>&1 || code=$?
    add_up "$1" "$log" $code
}

# Only the workspace's crates see what is lacking, through a compiler wrapper; their dependencies are unchanged.
lacking() {
    local lacks wrapper
    mkdir -p "$target/portable"
    for lacks in picollo_no_atomic64 picollo_no_cas; do
        wrapper=$target/portable/$lacks
        printf '#!/bin/sh\nexec "$@" --cfg %s\n' $lacks >"$wrapper"
        chmod +x "$wrapper"
        export RUSTC_WORKSPACE_WRAPPER=$wrapper RUSTDOCFLAGS="--cfg $lacks"
        # A wrapper without effect would pass everything: without critical sections the core does not compile.
        if cargo check --quiet --package picollo-core --no-default-features 2>"$target/portable-planted.log" ||
            ! grep -q 'lacks atomics' "$target/portable-planted.log"; then
            fail "$lacks switches nothing off"
        fi
        PROPTEST_CASES="${PROPTEST_CASES:-64}" tests $lacks cargo test --quiet --no-fail-fast --package=picollo-{core,codec,stats,text,export} --features picollo-core/critical-section
        cargo check --quiet --package picollo-core --no-default-features --features critical-section
    done
    unset RUSTC_WORKSPACE_WRAPPER RUSTDOCFLAGS
}

# other SET TARGET C_COMPILER RUNNER
other() {
    local root compiler upper build_std
    root=$(ci/tools/debian.sh "$1")
    compiler=$(ci/tools/cross.sh "$2" std)
    upper=$(tr a-z- A-Z_ <<<"$2")
    eval "$compiler"
    export PATH=$PATH:$root/run CARGO_TARGET_DIR="$target/cross" "CARGO_TARGET_${upper}_LINKER=$3" \
        "CARGO_TARGET_${upper}_RUSTFLAGS=-C target-feature=+crt-static"
    # Fewer cases of property tests if each instruction costs ten.
    if [ $# -gt 3 ]; then export "CARGO_TARGET_${upper}_RUNNER=$4" PROPTEST_CASES=32; fi
    tests "$1" cargo test --quiet --locked "${build_std[@]}" --package=picollo-{core,codec,stats,text,export} --lib --tests \
        --no-default-features --features picollo-core/std,picollo-codec/std,picollo-codec/compression,picollo-text/alloc \
        --target "$2"
    unset CARGO_TARGET_DIR RUSTC RUSTC_BOOTSTRAP PROPTEST_CASES
}

if [ $# -eq 0 ]; then set -- lacking; fi
for part in "$@"; do
    case $part in
    lacking) lacking ;;
    i686) other i386 i686-unknown-linux-gnu i686-linux-gnu-gcc-12 ;;
    s390x) other s390x s390x-unknown-linux-gnu s390x-linux-gnu-gcc-12 qemu-s390x ;;
    *) echo "unknown part: $part" >&2; exit 2 ;;
    esac
done
finish
