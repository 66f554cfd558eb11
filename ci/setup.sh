#!/usr/bin/env bash
# Installs the tools that the build and the tests need and a fresh Debian machine with Rust, gcc, make and Python 3 lacks.
set -euo pipefail

missing=()
need() { command -v "$1" >/dev/null 2>&1 || missing+=("$2"); }
need cargo "rust (see rustup.rs)"
need gcc gcc
need g++ g++
need make make
need pkg-config pkg-config
need python3 python3
need valgrind valgrind
python3 -c 'import ensurepip, venv' 2>/dev/null || missing+=(python3-venv)

[ ${#missing[@]} -eq 0 ] && exit 0
echo "missing: ${missing[*]}"
if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null 2>&1; then
    echo "install these and try again" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
apt-get -o Acquire::Retries=3 update -qq
apt-get -o Acquire::Retries=3 install -y -qq --no-install-recommends "${missing[@]}"
