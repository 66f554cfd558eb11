#!/usr/bin/env bash
# Are the tools installed that a fresh Debian machine with Rust, gcc, make and Python 3 lacks? With
# PICOLLO_MAY_CHANGE_THIS_MACHINE=1 missing ones are installed. Without it they are listed, with the command that
# installs them, and this fails.
#
#   ci/setup.sh [SET]...     the sets: build (for the library, its installation and `make demo`; the default), tests
#                            (for `make test`), browser (Chromium)
#
# Downloads of checks, such as compilers for other machines, only go to the cache directory; nothing is installed.
set -euo pipefail

missing=()
# need PACKAGE COMMAND...: the package that has these commands.
need() {
    local command
    for command in "${@:2}"; do
        command -v "$command" >/dev/null 2>&1 || { missing+=("$1"); return; }
    done
}

[ $# -gt 0 ] || set -- build
for set in "$@"; do
    case $set in
    build)
        if ! command -v cargo >/dev/null 2>&1; then
            echo "missing: Rust, which no package here has as new as is needed: see rustup.rs" >&2
            exit 1
        fi
        need gcc gcc
        need pkg-config pkg-config
        ;;
    tests)
        need g++ g++
        need python3 python3
        need valgrind valgrind
        python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)
        # Optional, but without it Python's extension module is not tested.
        if [ "${PICOLLO_MAY_CHANGE_THIS_MACHINE:-}" = 1 ]; then
            python3 -c 'import os, sysconfig; os.stat(sysconfig.get_paths()["include"] + "/Python.h")' 2>/dev/null \
                || missing+=(python3-dev)
            # Also optional, but without it the processor's own event names are tested only with stand-ins.
            python3 -c 'import ctypes; ctypes.CDLL("libpfm.so.4")' 2>/dev/null || missing+=(libpfm4)
        fi
        ;;
    browser)
        command -v chromium-browser >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || need chromium chromium
        [ ${#missing[@]} -eq 0 ] || missing+=(fonts-dejavu-core)
        ;;
    *) echo "no such set: $set" >&2; exit 2 ;;
    esac
done
[ ${#missing[@]} -gt 0 ] || exit 0

echo "missing: ${missing[*]}" >&2
if [ "${PICOLLO_MAY_CHANGE_THIS_MACHINE:-}" != 1 ]; then
    echo "This installs them: PICOLLO_MAY_CHANGE_THIS_MACHINE=1 ci/setup.sh $*" >&2
    exit 1
fi
if ! command -v apt-get >/dev/null 2>&1; then
    echo "There is no apt-get, so this machine is no Debian: install them, and try again." >&2
    exit 1
fi
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || { echo "Only root can install them, and there is no sudo: install them, and try again." >&2; exit 1; }
    as_root=(sudo)
fi
get() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=3 "$@"; }
# The lists of packages may be as old as the machine.
get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1 ||
    { get update -qq && get install -y -qq --no-install-recommends "${missing[@]}"; }
