#!/bin/sh
# Runs the tests of the Python package: python-demo/run-tests.sh [arguments of pytest]
#
# What the tests need is installed once, outside of the tree, below ${XDG_CACHE_HOME:-~/.cache}/picollo. Environment:
#   PYTHON           the interpreter (default: python3)
#   PICOLLO_LIBRARY  the library to test (default: the repository's build)
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

pip_install() {
    "$@" install --quiet --disable-pip-version-check --only-binary :all: -r "$requirements"
}

# Each way leaves either $1/bin/python or $1/packages.
set_up_in() {
    if "$python" -m venv "$1" 2>/dev/null; then
        pip_install "$1/bin/python" -m pip
        return
    fi
    rm -rf "$1"
    if "$python" -m virtualenv --version >/dev/null 2>&1; then
        "$python" -m virtualenv --quiet "$1"
        pip_install "$1/bin/python" -m pip
        return
    fi
    if "$python" -m pip --version >/dev/null 2>&1; then
        mkdir -p "$1"
        "$python" -m pip install --quiet --disable-pip-version-check --only-binary :all: \
            --target "$1/packages" -r "$requirements"
        return
    fi
    return 1
}

if [ ! -e "$venv/complete" ]; then
    echo "Setting up the Python tests in $venv" >&2
    mkdir -p "$(dirname "$venv")"
    rm -rf "$venv"
    if ! set_up_in "$venv"; then
        if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
            echo "Installing python3-venv, as this system has neither venv nor pip" >&2
            apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-venv >&2
        fi
        if ! set_up_in "$venv"; then
            echo "Neither venv, virtualenv nor pip works with $python: install python3-venv and try again." >&2
            exit 1
        fi
    fi
    touch "$venv/complete"
fi

if [ -x "$venv/bin/python" ]; then
    python=$venv/bin/python
else
    PYTHONPATH=$venv/packages${PYTHONPATH:+:$PYTHONPATH}
    export PYTHONPATH
fi
# No caches in the tree.
export PYTHONDONTWRITEBYTECODE=1
cd "$here"
exec "$python" -m pytest -p no:cacheprovider "$@"
