#!/bin/sh
# Builds the optional extension module for the package in this tree: python/build-extension.sh [DIRECTORY]
#
# The default is target/python of the repository, where the package looks for it. Any CPython from 3.9 on can use it,
# whichever built it. Without a compiler or Python's headers it reports that and builds nothing; the package works
# without. Environment:
#   PYTHON   the interpreter whose headers are used (default: python3)
#   CC, CFLAGS   the compiler, and additional compiler flags
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/../target/python}
python=${PYTHON:-python3}
compiler=${CC:-cc}
source=$here/src/picollo/_speed.c
module=$out/_speed.abi3.so

skip() {
    echo "SKIPPED building the extension module: $1" >&2
    # An older one may not fit.
    rm -f "$module"
    exit 0
}

[ ! "$module" -nt "$source" ] || exit 0
command -v "$compiler" >/dev/null 2>&1 || skip "there is no C compiler ($compiler)"
headers=$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')
[ -e "$headers/Python.h" ] || skip "there is no $headers/Python.h (Debian: python3-dev)"
[ "$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("Py_GIL_DISABLED") or 0)')" = 0 ] || skip "$python has no GIL"

mkdir -p "$out"
# shellcheck disable=SC2086 # flags are words
"$compiler" -std=c11 -O2 -Wall -Wextra -Werror -fPIC -fvisibility=hidden ${CFLAGS:-} -I"$headers" -c "$source" -o "$module.$$.o"
"$compiler" -shared "$module.$$.o" -o "$module.$$"
rm "$module.$$.o"
# Atomically, as another run may be building it too.
mv "$module.$$" "$module"
