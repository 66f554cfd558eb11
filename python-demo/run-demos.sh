#!/bin/sh
# Runs all demos of the Python package, one after the other: python-demo/run-demos.sh
# They need only Python and the library. Environment: as for run-tests.sh.
set -eu
cd "$(dirname "$0")"
for demo in known_work sorted_or_not live_monitor clock_resolution published why_slow; do
    printf '\n======== python3 -m demos.%s ========\n\n' "$demo"
    PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" -m "demos.$demo"
done
