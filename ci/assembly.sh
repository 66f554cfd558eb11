#!/usr/bin/env bash
# Is the code of a record in the shipped library what it should be: in range, no call, no lock, no way to a panic?
# Reads the disassembly of target/stage (or $STAGE), which it builds unless PICOLLO_STAGED is set.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(uname -m)" != x86_64 ]; then
    echo "SKIPPED: reads x86-64 code"
    echo "0 passed, 0 failed"
    exit 0
fi
stage=${STAGE:-${CARGO_TARGET_DIR:-target}/stage}
[ -n "${PICOLLO_STAGED:-}" ] || ci/stage.sh "$stage"
objdump --disassemble --no-show-raw-insn "$stage/lib/libpicollo.so" | python3 ci/assembly.py
