#!/bin/sh
# Runs programs that are linked with -z lazy, and fails if the library exports a function that none of them calls: the
# loader reports each function at its first call. Usage: called.sh PROGRAM [PROGRAM...]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in "$@"; do
    env -u LD_BIND_NOW LD_DEBUG=bindings LD_DEBUG_OUTPUT="$work/bindings" "$program" >/dev/null
    cat "$work"/bindings.* | sed -n "s/.*file [^ ]*$(basename "$program") .*normal symbol .\(picollo_[a-z_0-9]*\)'.*/\1/p" >>"$work/called"
    rm -f "$work"/bindings.*
done
python3 "$(dirname "$0")/../ffi/describe/description.py" | LC_ALL=C sort >"$work/exports"
LC_ALL=C sort -u "$work/called" | LC_ALL=C comm -13 - "$work/exports" >"$work/missing"
if [ -s "$work/missing" ]; then
    echo "FAILED: exported, but not called by any of these programs:"
    sed 's/^/    /' "$work/missing"
    exit 1
fi
echo "each of $(wc -l <"$work/exports") exported functions is called"
