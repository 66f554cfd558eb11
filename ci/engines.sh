#!/usr/bin/env bash
# Is the histogram of a column the same on a cluster as in one process? Dask and Spark, each with two worker processes on this machine,
# of which one is killed in the middle; by group; out of logs.
#
#   ci/engines.sh [arguments of pytest]
#
# Environment, for the long form (its values are in docs/engines.md):
#   PICOLLO_ENGINES_VALUES      in all partitions (default: 1000000)
#   PICOLLO_ENGINES_PARTITIONS  of them (default: 20)
#   PICOLLO_ENGINES_FILES       logs in a directory (default: 300)
#   PYTHON                      the interpreter (default: python3)
#
# The engines are kept below ${XDG_CACHE_HOME:-~/.cache}/picollo, some 900 MB, and so is Java, where the machine has none of 17 or newer.
set -euo pipefail
cd "$(dirname "$0")/.."
stage=$(realpath -m "${STAGE:-target/stage}") python=${PYTHON:-python3}
[ -n "${PICOLLO_STAGED:-}" ] || ci/stage.sh "$stage"

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "SKIPPED the engines: their pinned versions need Python 3.11, and $python is older"
    exit 0
fi
requirements=adapters/engines/requirements-test.txt
key=$("$python" -c 'import sys, sysconfig; print(sys.implementation.cache_tag, sysconfig.get_platform(), sep="-")')
venv=${XDG_CACHE_HOME:-$HOME/.cache}/picollo/engines/$key-$(sha256sum "$requirements" | cut -c 1-12)
if [ ! -e "$venv/complete" ]; then
    echo "Setting up Dask and Spark in $venv" >&2
    rm -rf "$venv"
    "$python" -m venv "$venv" || { echo "no venv: PICOLLO_MAY_CHANGE_THIS_MACHINE=1 ci/setup.sh tests installs it" >&2; exit 1; }
    # PySpark comes as a source package alone, which has nothing to compile.
    "$venv/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: --no-binary pyspark -r "$requirements"
    touch "$venv/complete"
fi

java_version() { "$1" -version 2>&1 | sed -nE '1s/.*"([0-9]+).*/\1/p'; }
leave_out=()
found=$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}java" || true)
if [ -z "$found" ] || [ "$(java_version "$found")" -lt 17 ]; then
    # Debian's, only unpacked.
    if root=$(ci/tools/debian.sh default-jre-headless) && found=$(compgen -G "$root/usr/lib/jvm/java-*-openjdk-*/bin/java" | head -1) &&
        [ "$(java_version "$found")" -ge 17 ]; then
        JAVA_HOME=$(dirname "$(dirname "$found")")
        export JAVA_HOME
    else
        echo "SKIPPED Spark: there is no Java 17 (Debian has it as default-jre-headless)"
        leave_out=(--ignore tests/test_spark.py)
    fi
fi

# Workers start with this environment, wherever they are started from.
export PYTHONPATH=$PWD/adapters/engines:$PWD/adapters/engines/tests:$PWD/python-demo PYTHONDONTWRITEBYTECODE=1
export PICOLLO_LIBRARY=$stage/lib/libpicollo.so PYSPARK_PYTHON=$venv/bin/python
# Where Spark's workers leave what executors print.
rm -rf "$venv"/lib/python3*/site-packages/pyspark/work
cd adapters/engines
[ "${1:-}" = --measure ] && exec "$venv/bin/python" measure.py "${@:2}"
exec "$venv/bin/python" -m pytest -q -p no:cacheprovider "${leave_out[@]}" "$@"
