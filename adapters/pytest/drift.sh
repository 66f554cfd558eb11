#!/bin/sh
# Runs drift.py with the interpreter in the environment variable PYTHON (default: python3), on the staged library.
set -eu
cd "$(dirname "$0")/../.."
PYTHONPATH=$PWD/adapters/pytest:$PWD/python/src${PYTHONPATH:+:$PYTHONPATH}
PICOLLO_LIBRARY=${PICOLLO_LIBRARY:-$PWD/target/stage/lib/libpicollo.so}
export PYTHONPATH PICOLLO_LIBRARY PYTHONDONTWRITEBYTECODE=1
exec "${PYTHON:-python3}" adapters/pytest/drift.py "$@"
