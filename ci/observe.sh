#!/usr/bin/env bash
# Do viewers see what runs? Starts three services, in C, in Python with four forked workers and in C#, and drives
# `picollo top` in a terminal of 80 × 24, with tmux.
#
#   ci/observe.sh              the checks
#   ci/observe.sh --picture    updates docs/images/picollo-top.svg and -one.svg instead, with simulated services
#
# The library is that of target/stage, or of the directory in STAGE. The C# service is that of an earlier ci/dotnet.sh.
set -euo pipefail
cd "$(dirname "$0")/.."
stage=$(realpath -m "${STAGE:-target/stage}") work=$PWD/target/observe
[ -n "${PICOLLO_STAGED:-}" ] || ci/stage.sh "$stage"
mkdir -p "$work"
if ! command -v tmux >/dev/null; then
    root=$(ci/tools/debian.sh tmux)
    export PATH=$root/usr/bin:$PATH LD_LIBRARY_PATH=$root/usr/lib/$(gcc -print-multiarch)
fi
cargo build --quiet --release -p picollo-cli
export PYTHONPATH=$PWD/python/src PYTHONDONTWRITEBYTECODE=1 PICOLLO_LIBRARY=$stage/lib/libpicollo.so
command=$PWD/target/release/picollo
if [ "${1:-}" = --picture ]; then
    python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q rich==14.1.0
    exec "$work/venv/bin/python" ci/observe/picture.py "$command"
fi
# In memory, like segments.
PICOLLO_DIR=$(mktemp -d /dev/shm/picollo-observe-XXXXXX)
export PICOLLO_DIR
trap 'rm -rf "$PICOLLO_DIR"' EXIT
gcc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 c-tests/demos/published.c -o "$work/shop" -I"$stage/include" -L"$stage/lib" \
    -Wl,-rpath,"$stage/lib" -lpicollo
services=("shop=$work/shop 600" "web=python3 $PWD/python-demo/published.py --seconds 600")
dotnet=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/dotnet/runtime-8.0.4/dotnet samples=${SAMPLES:-target/dotnet/core/Samples.exe.dll}
if [ -x "$dotnet" ] && [ -e "$samples" ]; then
    LD_LIBRARY_PATH=$stage/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    export LD_LIBRARY_PATH
    services+=("billing=$dotnet exec $samples 600")
else
    echo "SKIPPED: the service in C#, which ci/dotnet.sh compiles"
fi
python3 ci/observe/check.py "$command" "$work" "${services[@]}"
