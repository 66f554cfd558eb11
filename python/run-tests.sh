#!/bin/sh
# Runs the tests of the Python package: python/run-tests.sh [arguments of pytest]
#
# The tests run against what pip installs: a directory of this run, under target/python, with the package, the staged
# library and the extension module. The tests' requirements are installed once, outside the tree, in
# ${XDG_CACHE_HOME:-~/.cache}/picollo. Environment:
#   PYTHON             the interpreter (default: python3)
#   PICOLLO_LIBRARY    the library to test (default: the installed one)
#   PICOLLO_EXTENSION  the extension module to test, or "off" (default: the installed one). test_extension.py also runs
#                      the affected tests the other way.
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
# In the wheel a compiler's warning, even an error, only means that there is no extension module.
[ -n "${PICOLLO_EXTENSION:-}" ] || PYTHON=$python "$here/build-extension.sh"

library=$here/../target/stage/lib/libpicollo.so
[ -e "$library" ] || "$here/../ci/stage.sh"
mkdir -p "$here/../target/python"
installed=$(mktemp -d "$here/../target/python/installed.XXXXXX")
trap 'rm -rf "$installed"' EXIT
trap 'exit 1' HUP INT TERM
# The sanitizers' runtime is for the tests alone.
env -u LD_PRELOAD PICOLLO_LIBRARY="$library" "$python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps \
    --no-build-isolation --target "$installed" "$here"
PYTHONPATH=$installed${PYTHONPATH:+:$PYTHONPATH}
# No caches in the tree.
export PYTHONPATH PYTHONDONTWRITEBYTECODE=1
cd "$here"
"$python" -m pytest -p no:cacheprovider "$@"
