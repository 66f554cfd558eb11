#!/bin/sh
# Runs all demos of the Python package of this repository, one after the other: python-demo/run-demos.sh
# They need only Python and the library. PYTHON names the interpreter, and PICOLLO_LIBRARY the library.
set -eu
cd "$(dirname "$0")/.."
for demo in known_work sorted_or_not live_monitor clock_resolution published why_slow; do
    printf '\n======== python3 python-demo/%s.py ========\n\n' "$demo"
    PYTHONPATH=python/src PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "python-demo/$demo.py"
done
