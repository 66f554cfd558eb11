#!/bin/sh
# Runs the tests of the Python package: python/run-tests.sh [arguments of pytest]
#
# Installs the tests' requirements once, outside the tree, in ${XDG_CACHE_HOME:-~/.cache}/picollo. Environment:
#   PYTHON           the interpreter (default: python3)
#   PICOLLO_LIBRARY  the library to test (default: the repository's build)
#   PICOLLO_EXTENSION  the extension module to test, or "off" (default: the repository's, built first if possible).
#                      test_extension.py also runs the affected tests the other way.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
python=${PYTHON:-python3}
requirements=$here/requirements-test.txt

# A directory for each interpreter and each set of pinned versions.
key=$("$python" - "$requirements" <<'END'
import hashlib, sys, sysconfig
with open(sys.argv[1], "rb") as file:
    digest = hashlib.sha256(file.read() + sys.version.encode() + sys.prefix.encode()).hexdigest()[:12]
print(f"{sys.implementation.cache_tag}-{sysconfig.get_platform()}-{digest}")
END
)
venv=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/venv/$key

has() {
    "$python" -c "import $1" 2>/dev/null
}

if [ ! -e "$venv/complete" ] && command -v flock >/dev/null; then
    # Another run may be installing it.
    mkdir -p "$(dirname "$venv")"
    exec 9>"$venv.lock"
    flock 9
fi
if [ ! -e "$venv/complete" ]; then
    echo "Setting up the Python tests in $venv" >&2
    rm -rf "$venv"
    mkdir -p "$venv"
    if has 'ensurepip, venv'; then
        "$python" -m venv "$venv"
        pip=$venv/bin/python
        target=
    elif has virtualenv; then
        "$python" -m virtualenv --quiet "$venv"
        pip=$venv/bin/python
        target=
    elif has pip; then
        pip=$python
        target=$venv/packages
    else
        echo "$python has neither venv nor virtualenv nor pip; on a Debian machine this installs it:" >&2
        echo "PICOLLO_MAY_CHANGE_THIS_MACHINE=1 ci/setup.sh tests" >&2
        exit 1
    fi
    "$pip" -m pip install --quiet --disable-pip-version-check --only-binary :all: ${target:+--target "$target"} \
        -r "$requirements"
    touch "$venv/complete"
fi
exec 9>&-

if [ -x "$venv/bin/python" ]; then
    python=$venv/bin/python
else
    PYTHONPATH=$venv/packages${PYTHONPATH:+:$PYTHONPATH}
    export PYTHONPATH
fi
[ -n "${PICOLLO_EXTENSION:-}" ] || PYTHON=$python "$here/build-extension.sh"
# No caches in the tree.
export PYTHONDONTWRITEBYTECODE=1
cd "$here"
exec "$python" -m pytest -p no:cacheprovider "$@"
