#!/usr/bin/env bash
# The main job: measures real code with the staged library, from C, C++ and Python.
set -euo pipefail
cd "$(dirname "$0")/.."

make --no-print-directory -s -C c-tests run-demos
python-demo/run-demos.sh
