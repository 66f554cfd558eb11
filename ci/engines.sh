#!/usr/bin/env bash
# Do the examples for Dask and Spark work on the real engines? Each runs on a cluster of two worker processes on this
# machine and compares its result with a count in one process or partition.
#
#   ci/engines.sh
#
# The engines are kept in ${XDG_CACHE_HOME:-~/.cache}/picollo, about 900 MB. So is Java, if the machine has no version
# 17.
set -euo pipefail
cd "$(dirname "$0")/.."
stage=$(realpath -m "${STAGE:-target/stage}") python=${PYTHON:-python3}
[ -n "${PICOLLO_STAGED:-}" ] || ci/stage.sh "$stage"

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
    echo "SKIPPED the engines: their pinned versions need Python 3.11, and $python is older"
    exit 0
fi
# PySpark is only available as a source package, with nothing to compile.
venv=$(PYTHON=$python ci/tools/venv.sh engines --only-binary :all: --no-binary pyspark -r adapters/engines/requirements.txt)

java_version() { "$1" -version 2>&1 | sed -nE '1s/.*"([0-9]+).*/\1/p'; }
examples="dask spark"
found=$(command -v "${JAVA_HOME:+$JAVA_HOME/bin/}java" || true)
if [ -z "$found" ] || [ "$(java_version "$found")" -lt 17 ]; then
    # Debian's package, only unpacked.
    if root=$(ci/tools/debian.sh default-jre-headless) && found=$(compgen -G "$root/usr/lib/jvm/java-*-openjdk-*/bin/java" | head -1) &&
        [ "$(java_version "$found")" -ge 17 ]; then
        JAVA_HOME=$(dirname "$(dirname "$found")")
        export JAVA_HOME
    else
        echo "SKIPPED Spark: there is no Java 17 (Debian has it as default-jre-headless)"
        examples=dask
    fi
fi

# Workers start with this environment, whoever starts them.
export PYTHONPATH=$PWD/adapters/engines:$PWD/python/src PYTHONDONTWRITEBYTECODE=1 SPARK_LOCAL_IP=127.0.0.1
export PICOLLO_LIBRARY=$stage/lib/libpicollo.so PYSPARK_PYTHON=$venv/bin/python
# Spark's workers leave the output of executors here.
rm -rf "$venv"/lib/python3*/site-packages/pyspark/work
passed=0
for example in $examples; do
    "$venv/bin/python" "adapters/engines/${example}_example.py"
    passed=$((passed + 1))
done
echo "$passed passed, 0 failed"
