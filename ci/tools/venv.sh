#!/usr/bin/env bash
# A Python environment with packages from PyPI, made once for each list of them. Prints its folder.
#
#   ci/tools/venv.sh NAME ARGUMENT_OF_PIP_INSTALL...
#
# PYTHON is the interpreter (default: python3).
set -euo pipefail
python=${PYTHON:-python3} name=$1
shift
# The content of files with requirements counts, not their place.
key=$(for argument in "$@"; do if [ -f "$argument" ]; then cat "$argument"; else echo "$argument"; fi; done | sha256sum | cut -c1-12)
place=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/venvs/$name-$("$python" -c 'import sys; print(sys.implementation.cache_tag)')-$key
mkdir -p "${place%/*}"
exec 9>"$place.lock"
flock 9
if [ ! -e "$place/complete" ]; then
    rm -rf "$place"
    "$python" -m venv "$place" >&2 || { echo "no venv: PICOLLO_MAY_CHANGE_THIS_MACHINE=1 ci/setup.sh tests installs it" >&2; exit 1; }
    "$place/bin/pip" install --quiet --disable-pip-version-check "$@" >&2
    touch "$place/complete"
fi
echo "$place"
