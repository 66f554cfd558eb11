#!/bin/sh
# Generates everything that follows from the functions, structs and constants in ffi/src: the headers in include,
# ffi/picollo.abi.json, ffi/src/layout.rs, and files for C# (ffi/describe/generate.py lists them).
#
#   ci/describe.sh            writes the files
#   ci/describe.sh --check    fails if one is outdated, as the tests do
set -eu
cd "$(dirname "$0")/.."
tests() { cargo test --quiet -p picollo-ffi --test header -- "$@"; }
if [ "${1:-}" = --check ]; then
    tests
    exit
fi
PICOLLO_WRITE_HEADER=1 tests --exact the_headers_and_their_description_are_fresh
