#!/bin/sh
# Generates everything that follows from the functions, structs and constants in ffi/src: the headers in include,
# ffi/picollo.abi.json, ffi/src/layout.rs, and files for C# (ffi/describe/generate.py lists them).
#
#   ci/describe.sh            writes the files
#   ci/describe.sh --check    fails if one is outdated, as `make lint` does
exec python3 "$(dirname "$0")/../ffi/describe/generate.py" "$@"
