#!/usr/bin/env bash
# Fetches the tools for linking against a C library older than this machine's: zig, whose linker knows the symbols of
# every glibc, cargo-zigbuild, which passes it to cargo, and auditwheel, which checks wheels. Prints their environment:
# its bin/ is for the PATH, its python has setuptools.
set -euo pipefail
cd "$(dirname "$0")"
place=$(../ci/tools/venv.sh portable --require-hashes --only-binary :all: -r portable.txt)
# Wrappers for programs that need a compiler with a one-word name.
for tool in cc ar; do
    [ -x "$place/bin/zig-$tool" ] || install -m 755 <(printf '#!/bin/sh\nexec "%s" -m ziglang %s "$@"\n' "$place/bin/python" "$tool") "$place/bin/zig-$tool"
done
echo "$place"
