#!/bin/sh
# Only picollo_* is exported, and all that is in exports.txt; the shared library is named after its ABI.
#
#   ./symbols.sh LIBRARY
set -eu
library=$1
here=$(dirname "$0")
exported=$(nm -D --defined-only "$library" | awk '{ print $3 }' | LC_ALL=C sort)

if foreign=$(printf '%s\n' "$exported" | grep -v '^picollo_[a-z0-9_]*$'); then
    echo "foreign symbols: $foreign"
    exit 1
fi
if ! printf '%s\n' "$exported" | diff "$here/exports.txt" -; then
    echo "the exported functions differ from exports.txt"
    exit 1
fi
readelf -d "$library" | grep -q 'SONAME.*\[libpicollo\.so\.0\]' || {
    echo "the SONAME is not libpicollo.so.0"
    exit 1
}
echo "$(printf '%s\n' "$exported" | wc -l) functions exported, all of picollo_*"
