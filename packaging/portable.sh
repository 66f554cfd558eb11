#!/usr/bin/env bash
# Fetches the tools for linking against a C library older than this machine's, once: zig, whose linker knows the symbols
# of every glibc, cargo-zigbuild, which passes it to cargo, and auditwheel, which checks wheels. Prints their
# environment: its bin/ is for the PATH, its python has setuptools.
set -euo pipefail
wanted=$(dirname "$0")/portable.txt
python=${PYTHON:-python3}
place=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/portable/$("$python" -c 'import sys; print(sys.implementation.cache_tag)')-$(sha256sum "$wanted" | cut -c1-12)
mkdir -p "$(dirname "$place")"
exec 9>"$place.lock"
flock 9
if [ ! -e "$place/complete" ]; then
    rm -rf "$place"
    "$python" -m venv "$place" >&2 || { echo "no venv: PICOLLO_MAY_CHANGE_THIS_MACHINE=1 ci/setup.sh tests installs it" >&2; exit 1; }
    "$place/bin/pip" install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$wanted" >&2
    # Wrappers for programs that need a compiler with a one-word name.
    for tool in cc ar; do
        printf '#!/bin/sh\nexec "%s" -m ziglang %s "$@"\n' "$place/bin/python" "$tool" >"$place/bin/zig-$tool"
        chmod +x "$place/bin/zig-$tool"
    done
    touch "$place/complete"
fi
echo "$place"
